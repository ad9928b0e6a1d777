"""Monte-Carlo tracers follow gas into sinks and into jets: as many tracers of sinks as the gas that
these have taken asks for, each at its sink, also after mergers; the same on any ranks and after a
restart.

    sink_tracers.py ramses    sinks of &SINK_PARAMS, two of which merge
    sink_tracers.py horizon   black holes that form, accrete and merge
    sink_tracers.py jets      a hole whose jets carry a quarter of the gas of its cell, each step:
                              as many tracers in the cells around as their gas asks for

Example of a fault caught: tracers that miss a sink on another rank, or stay with one that has
merged, the share of one of two overlapping clouds, a probability of the mass after accretion,
jets that carry gas and no tracers.
"""
# test: ramses tier=check timeout=120 ranks=3
# test: horizon tier=check timeout=120 ranks=3
# test: jets tier=check timeout=120
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
import holes  # noqa: E402
import read_ramses  # noqa: E402
import sinks  # noqa: E402

MASS = 2e-5
SETTINGS = ['run_params/tracer=T', 'tracer_params/mc_tracer=T',
            'tracer_params/tracer_mass=%g' % MASS, 'tracer_params/tracer_feed_fmt=inplace']


def ramses(name, ranks, check=False, options=()):
    law = "accretion_scheme='threshold'\nd_sink=0.9\nc_acc=0.2"
    return sinks.run(name, ranks, law=law, check=check, options=options, settings=SETTINGS,
                     ordering='ksection' if ranks == 2 else 'hilbert').outputs


def horizon(name, ranks, check=False, options=()):
    return holes.box(name, ranks, check=check, options=options, settings=SETTINGS).outputs


def table(path):
    """Ids and positions of sinks, and the mass of gas that they took."""
    if 'radiated' in holes.holes(path)[0]:
        rows = holes.holes(path)
        return ([int(r['id']) for r in rows], np.array([[r[c] for c in 'xyz'] for r in rows]),
                sum(r['msink'] + r['radiated'] for r in rows))
    t = sinks.table(path)
    return ([int(i) for i in t['id']], np.array([t[c] for c in 'xyz']).T, sum(t['dmfsink']))


def laws(v, first, last):
    s = read_ramses.load(last)
    p = s.part
    count = (read_ramses.load(first).part['family'] <= 0).sum()
    mine = p['family'] == -3
    v.same('number of tracers', (mine | (p['family'] == 0)).sum(), count)
    ids, x, taken = table(last)
    v.same('their sinks exist', set(p['partp'][mine].tolist()) <= set(ids), True)
    there = np.array([p['position_' + c][mine] for c in 'xyz']).T
    at = x[[ids.index(i) for i in p['partp'][mine]]]
    v.check('they are at their sinks (the text has 11 digits)', np.abs(there - at).max(), 1e-9)
    want = taken / MASS
    v.check('%d tracers of sinks, by mass %.1f: in sqrt' % (mine.sum(), want),
            abs(mine.sum() - want) / np.sqrt(want), 3)
    v.check('enough of them', 100 / max(mine.sum(), 1), 1)
    return s


def gas(v, s):
    """Tracers of gas against its mass, in bins."""
    bins = {'bins': 8, 'range': [[0, 1]] * 3}
    p = s.part
    free = p['family'] == 0
    x = np.array([p['position_' + c][free] for c in 'xyz']).T / s.info['boxlen']
    c = s.centres()
    want = np.histogramdd(c.T, weights=s.cell['density'] * s.volume / MASS, **bins)[0]
    got = np.histogramdd(x, **bins)[0]
    v.check('chi^2 per bin', ((got - want) ** 2 / want).mean(), 1 + 5 * np.sqrt(2 / want.size))


def jets(v):
    mass = 1 / (400 * 4096)
    os.makedirs('jets')
    with open(os.path.join('jets', 'ic_sink'), 'w') as f:
        f.write('1e-3 0.01 0.02 -0.03 0 0 0 0 0 0 0 0\n')
    law = ('bondi=.true.\nsink_AGN=.true.\nrandom_jet=.true.\nX_floor=1e9\nmloadAGN=1e6\n'
           'rAGN=0.1\nT2maxAGN=1e9')
    text = holes.ALONE.replace('X_floor=0.\n', '') % (4, '.false.', law)
    first, last = ptah.simulate(text, 'jets', settings=[
        *SETTINGS, 'amr_params/levelmax=4', 'tracer_params/tracer_mass=%g' % mass]).outputs
    s = read_ramses.load(last)
    p = s.part
    side = {'bins': 16, 'range': [[0, 1]] * 3}
    free = p['family'] == 0
    x = np.array([p['position_' + c][free] for c in 'xyz']).T
    c = s.centres().T
    want = np.histogramdd(c, weights=s.cell['density'] * s.volume / mass, **side)[0]
    got = np.histogramdd(x, **side)[0]
    near = np.zeros_like(want, bool)
    near[6:11, 6:11, 5:10] = True
    moved = np.abs(want / 400 - 1) > 0.02
    v.check('the gas has been moved', 10 / max(moved.sum(), 1), 1)
    v.check('chi^2 per cell around the hole', ((got - want) ** 2 / want)[near].mean(),
            1 + 5 * np.sqrt(2 / near.sum()))
    home = (8, 8, 7)
    v.check('its own cell: %d, by mass %.1f: in sqrt' % (got[home], want[home]),
            abs(got[home] - want[home]) / np.sqrt(want[home]), 3)
    gain = want - 400
    gain[home] = 0
    slope = ((got - 400) * gain).sum() / (gain ** 2).sum()
    error = np.sqrt((np.abs(gain) ** 3).sum()) / (gain ** 2).sum()
    v.check('cells in the jets gain %.3f of what their gas gains, error %.3f: in errors' % (
        slope, error), abs(slope - 1) / error, 3)
    centred = np.abs(x * 16 - np.floor(x * 16) - 0.5).max()
    v.check('tracers at the centres of cells', centred, 0)


def main():
    v = ptah.Verdict()
    if sys.argv[1] == 'jets':
        jets(v)
        v.end()
        return
    run = {'ramses': ramses, 'horizon': horizon}[sys.argv[1]]
    first, middle, last = run('one', 1)
    s = laws(v, first, last)
    gas(v, s)
    known = ptah.digest(last)
    v.same('3 ranks', ptah.digest(run('three', 3, check=True)[-1]), known)
    found = run('resumed', 2, options=['-r', '../three/output_00002'])[-1]
    v.same('resumed', ptah.digest(found), known)
    v.end()


if __name__ == '__main__':
    main()
