"""Gas with a magnetic field beside all that adds or takes gas: events leave the field alone, and
results do not depend on the number of ranks.

    mhd_events.py born          star formation in a strong field, in a step of one level: not a bit
                                of the field changes, nor the temperature of what is left
    mhd_events.py stars|sinks|new|holes
                                supernovae; sinks of RAMSES with feedback; sinks that form from
                                clumps; black holes of Horizon-AGN: the same digest on 1 and 3 ranks
                                and after a restart; div B and the copies of faces are sound
    mhd_events.py zoom          a cosmological zoom with cooling, stars and clumps in a field B_ave:
                                the same

Examples of faults caught: a star that takes its share of the energy of the field, an explosion in
a cell whose temperature has that energy in it, a restart that forgets the registers of the field.
"""
# test: born tier=quick timeout=60
# test: stars tier=check timeout=200 ranks=3
# test: sinks tier=long timeout=300 ranks=3
# test: new tier=check timeout=200 ranks=3
# test: holes tier=long timeout=400 ranks=3
# test: zoom tier=check timeout=300 ranks=3
import importlib.util
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import ptah  # noqa: E402
import read_ramses  # noqa: E402


def neighbour(name):
    """A script of this folder; others have scripts of the same name."""
    spec = importlib.util.spec_from_file_location('property_' + name,
                                                  os.path.join(HERE, name + '.py'))
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def field(regions, *b):
    return ['run_params/mhd=.true.', 'hydro_params/riemann=hlld', 'hydro_params/riemann2d=hlld',
            *('init_params/%s_region=%s' % (d, ','.join([str(x)] * regions))
              for d, x in zip('abc', b))]


WEAK = 0.2, 0.1, -0.15


def layout(n):
    return ['run_params/ordering=' + ('ksection' if n == 3 else 'hilbert'),
            'run_params/check_ghosts=' + ('.true.' if n == 3 else '.false.')]


def stars(name, n, settings, **more):
    return neighbour('stars').galaxy('thermal', name, n, settings=[
        *field(2, *WEAK), *layout(n), *settings], **more)


def sinks(name, n, settings, **more):
    return neighbour('sinks').run(name, n, settings=[*field(2, *WEAK), *layout(n), *settings],
                                  **more)


def new(name, n, settings, **more):
    return neighbour('new_sinks').run(name, n=n, settings=[*field(9, *WEAK), *layout(n), *settings],
                                      **more)


def holes(name, n, settings, **more):
    return neighbour('holes').box(name, n, settings=[*field(4, *WEAK), *layout(n), *settings],
                                  **more)


def zoom(name, n, settings, **more):
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_zoom.nml')) as f:
        text = f.read()
    for a, b in (('noutput=2', 'foutput=1\nnoutput=2'),
                 ("riemann='hllc'", "riemann='hlld'\nriemann2d='hlld'"),
                 ('hydro=.true.', 'hydro=.true.\nmhd=.true.'), ('levelmax=9', 'levelmax=8')):
        assert a in text
        text = text.replace(a, b)
    text += '&COOLING_PARAMS\ncooling=.true.\nself_shielding=.true.\n/\n' \
        '&SF_PARAMS\nn_star=1e-9\ndel_star=1.2\neps_star=1\nm_star=1e-3\n/\n' \
        '&FEEDBACK_PARAMS\neta_sn=0.2\nt_sne=1.0\n/\n' \
        '&CLUMPFIND_PARAMS\ndensity_threshold=20\n/\n'
    os.makedirs(name)
    ptah.unpack_ics(name, *ptah.ics_of(text))
    return ptah.simulate(text, name, n, 1, ['run_params/nstepmax=4', 'init_params/b_ave=0.01',
                                            'run_params/clumpfind=.true.', *layout(n), *settings],
                         **more)


# steps of the whole run, and what the log or a file says of the events
CASES = {'stars': (stars, 8, None), 'sinks': (sinks, 8, None), 'new': (new, 5, 'sinks have formed'),
         'holes': (holes, 8, 'black holes have formed'), 'zoom': (zoom, 4, None)}


def same(which):
    v = ptah.Verdict()
    run, steps, says = CASES[which]
    whole = run('whole', 1, [])
    last = whole.outputs[-1]
    want = ptah.digest(last)
    s = read_ramses.load(last)
    v.same('events', says in whole.err if says else 'family' not in s.part or
           (s.part['family'] == 2).any() or which == 'sinks', True)
    v.same('levels', len(np.unique(s.level)) > 1, True)
    found = json.loads(ptah.Run([ptah.program('inspect'), '-cc', '-j', last], '.').out)
    v.same('findings', found['damages'], 0)
    v.check('copies of faces', found['face_copies'], 0)
    v.check('div B', found['div_B'], 1e-13)
    three = run('three', 3, [])
    v.same('three ranks: lines that differ', ptah.changed(ptah.digest(three.outputs[-1]), want), [])
    half = run('half', 1, ['run_params/nstepmax=%d' % (steps // 2)])
    rest = run('rest', 2, [], options=['-r', os.path.abspath(half.outputs[-1])])
    v.same('restart: lines that differ', ptah.changed(ptah.digest(rest.outputs[-1]), want), [])
    v.end()


def born():
    v = ptah.Verdict()
    scripts, found = neighbour('stars'), []
    for name, law in ('with', 'n_star=10'), ('without', 'n_star=1e30'):
        r = scripts.galaxy('thermal', name, 1, settings=[
            *field(2, 2.0, 1.0, -1.5), 'run_params/nstepmax=1', 'output_params/foutput=1',
            'amr_params/levelmin=4', 'refine_params/err_grad_d=1e9', 'feedback_params/eta_sn=0',
            'sf_params/' + law])
        found.append(read_ramses.load(r.outputs[-1]))
    a, b = (s.cell for s in found)
    changed = a['density'] != b['density']
    v.same('stars', (changed.sum() > 20, (found[0].part['family'] == 2).sum() > 20), (True, True))
    v.check('field', max(np.abs(a[k] - b[k]).max() for k in a if k.startswith('B_')), 0)
    t = [c['pressure'] / c['density'] for c in (a, b)]
    v.check('temperature', np.abs(t[0] / t[1] - 1).max(), 1e-13)
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'born':
        born()
    else:
        same(sys.argv[1])
