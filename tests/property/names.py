"""Names of RAMSES 2025-26 and of LagRamses: each does what it says.

    names.py frozen       gas, dark matter or stars that are frozen keep every bit, on any ranks
    names.py times        outputs have the times of tout and aout exactly
    names.py conserved    files of conserved variables resume as those of primitive ones
    names.py resumed      scalars are remapped, birth times become those of a run that has proper
                          times from the start
    names.py gravity      old and new names of analytic fields are one; a constant acceleration adds
                          M g t to the momentum of a box with gravity of its own
    names.py stars        with randomize_sf=.false. the mass of new stars is that of the law
    names.py refused      refused names have few reasons; groups are refused by name

Examples of faults caught: a frozen gas that is kicked, a coarse step that misses an output, a total
energy read as a pressure, remapped scalars that go by name.
"""
# test: frozen tier=check ranks=2
# test: times tier=check ranks=2
# test: conserved tier=check ranks=2
# test: resumed tier=check ranks=2
# test: gravity tier=check
# test: stars tier=check ranks=2
# test: refused tier=quick
import os
import re
import shutil
import sys

import numpy as np

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, 'golden')]
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from parameter_runs import (BOTH, COSMO, COSMO_STARS, ENERGIES, GAS, MHD,  # noqa: E402
                            SCALAR, STARS, particles, text_of, vary)

CELLS = ('density', 'velocity_x', 'velocity_y', 'velocity_z', 'pressure')


class Fields(dict):
    def __repr__(self):
        return self.get('state', 'no state')


def fields(path):
    """{name of a field: its digest}"""
    return Fields({line.split()[1]: line.split()[0] for line in ptah.digest(path).splitlines()
            if len(line.split()) == 2})


def run(groups, folder, ranks=1, *settings):
    return ptah.simulate(text_of(groups), folder, ranks, 1, list(settings)).outputs


# ---- frozen parts

def frozen(v):
    still = vary(BOTH, 'refine', run={'nsubcycle': [1]}, amr={'levelmax': 3},
                 output={'foutput': 2})
    for what, names in (('static_gas', CELLS), ('static_dm', ('particle.position_x',
                                                             'particle.velocity_y'))):
        outs = []
        for ranks in (1, 2):
            particles(500)('%s%d' % (what, ranks))
            outs.append(run(still, '%s%d' % (what, ranks), ranks, 'run/%s=.true.' % what,
                            'run/check_ghosts=.true.'))
        first, last = fields(outs[0][0]), fields(outs[0][-1])
        others = set(CELLS) | {'particle.position_x'}
        v.same(what + ': what is frozen keeps every bit', [first[n] for n in names],
               [last[n] for n in names])
        v.same(what + ': the rest moves', [n for n in others - set(names) if first[n] == last[n]],
               [])
        v.same(what + ': two ranks', fields(outs[1][-1]), last)
    outs = run(STARS, 'stars', 1, 'run/static_stars=.true.', 'output/foutput=1')
    s = [read_ramses.load(p) for p in outs[-2:]]
    old = {i: x for i, x in zip(s[0].part['identity'], s[0].part['position_x'])}
    now = {i: x for i, x in zip(s[1].part['identity'], s[1].part['position_x'])}
    v.same('static_stars: stars stay', len(old) > 0 and all(now[i] == x for i, x in old.items()),
           True)


# ---- times of outputs

def times(v):
    listed = vary(GAS, 'run/nstepmax', 'output', output={'tout': [0.01, 0.03, 0.031]})
    got = [run(listed, 't%d' % n, n, 'output/exact_output_time=.true.') for n in (1, 2)]
    v.same('tout', [read_ramses.read_info(p)['time'] for p in got[0]], [0.0, 0.01, 0.03, 0.031])
    v.same('tout: two ranks', fields(got[1][-1]), fields(got[0][-1]))
    ptah.unpack_ics('cosmo', 'ic_32')
    listed = vary(COSMO, 'run/nstepmax', 'output', output={'aout': [0.0203, 0.0207]})
    for name in ('exact_output_time', 'match_aout'):
        got = run(listed, 'cosmo', 1, 'output/%s=.true.' % name)
        v.same(name + ': aout', [read_ramses.read_info(p)['aexp'] for p in got[1:]],
               [0.0203, 0.0207])
        for p in got:
            shutil.rmtree(p)


# ---- conserved variables

def copies(path, folder, exact):
    os.makedirs(folder)
    to = os.path.join(folder, os.path.basename(path))
    shutil.copytree(path, to)
    for name in os.listdir(to):
        if not exact and re.match('exact|checksums', name):
            os.remove(os.path.join(to, name))
    return os.path.abspath(to)


def conserved(v):
    for kind, groups in (('gas', vary(SCALAR, run={'nstepmax': 4}, output={'foutput': 2})),
                         ('mhd', vary(MHD, run={'nstepmax': 4}, output={'foutput': 2})),
                         ('energies', vary(ENERGIES, run={'nstepmax': 4}, output={'foutput': 2},
                                           hydro={'gamma_rad': [1.5, 1.6]}))):
        folders = [kind + x for x in '01']
        outs = [run(groups, f, 1, 'output/write_conservative=.%s.' % x)
                for f, x in zip(folders, ('false', 'true'))]
        names = read_ramses.read_descriptor(
            os.path.join(outs[1][1], 'hydro_file_descriptor.txt'))
        v.same(kind + ': names', 'momentum_x' in str(names) and 'total_energy' in str(names), True)
        v.same(kind + ': states', fields(outs[1][-1]), fields(outs[0][-1]))
        for exact in (True, False):
            ends = []
            for f, o in zip(folders, outs):
                there = '%s-%s' % (f, 'exact' if exact else 'foreign')
                start = copies(o[1], there, exact)
                ends.append(ptah.simulate(text_of(groups), there, 2, 1,
                                          options=['-r', start]).outputs[-1])
            a, b = [read_ramses.load(p) for p in ends]
            worst = max(np.abs(a.cell[n] - b.cell[n]).max() / np.abs(a.cell[n]).max()
                        for n in a.cell if np.abs(a.cell[n]).max() > 0)
            v.check('%s: resumed, %s' % (kind, 'exact' if exact else 'without the last bits'),
                    worst, 0 if exact else 1e-13)


# ---- restarts

def resumed(v):
    first = run(SCALAR, 'scalars')[-1]
    again = ptah.simulate(text_of(vary(SCALAR, run={'nstepmax': 2})), 'scalars', 2, 1,
                          ['run/remap_pscalar=7,6'], ['-r', os.path.basename(first)]).outputs[-1]
    a, b = read_ramses.load(first), read_ramses.load(again)
    v.same('remap_pscalar: the scalars have changed places',
           (a.cell['scalar_00'].max() > 0.5, a.cell['scalar_01'].max(),
            b.cell['scalar_00'].max(), b.cell['scalar_01'].max() > 0.5), (True, 0, 0, True))
    wrong = ptah.simulate(text_of(vary(SCALAR, run={'nstepmax': 2})), 'scalars', 2, 1,
                          ['run/remap_pscalar=7,9'], ['-r', os.path.basename(first)],
                          must_work=False)
    v.same('remap_pscalar: a variable that the run lacks',
           (wrong.status, 'the last variable' in wrong.err), (2, True))
    first = run(ENERGIES, 'energies')[0]
    wrong = ptah.simulate(text_of(ENERGIES), 'energies', 2, 1,
                          ['run/remap_pscalar=6,5'], ['-r', os.path.basename(first)],
                          must_work=False)
    v.same('remap_pscalar: non-thermal energies',
           (wrong.status, 'keep their numbers' in wrong.err), (2, True))
    ptah.unpack_ics('births', 'ic_32')
    proper = run(COSMO_STARS, 'births', 1, 'run/use_proper_time=.true.')[-1]
    want = read_ramses.load(proper).part
    os.rename('births', 'proper')
    ptah.unpack_ics('births', 'ic_32')
    first = run(COSMO_STARS, 'births')[-1]
    last = ptah.simulate(text_of(vary(COSMO_STARS, run={'nstepmax': 4})), 'births', 2, 1,
                         ['run/use_proper_time=.true.', 'run/convert_birth_times=.true.',
                          'output/foutput=1'], ['-r', os.path.basename(first)]).outputs[0]
    got = read_ramses.load(last).part
    births = dict(zip(got['identity'], got['birth_time']))
    stars = [i for i, t in zip(want['identity'], want['birth_time']) if t != 0]
    there = dict(zip(want['identity'], want['birth_time']))
    v.check('convert_birth_times: %d stars' % len(stars),
            max((abs(births[i] / there[i] - 1) for i in stars), default=1), 1e-12)


# ---- gravity

def gravity(v):
    base = vary(BOTH, 'refine', run={'pic': False, 'nsubcycle': [1], 'nstepmax': 3},
                amr={'levelmin': 4, 'levelmax': 4}, output={'foutput': 3})
    for old, new in ((dict(gravity_type=2, gravity_params=[0.1, 0.2, 0.5, 0.5, 0.5]),
                      dict(self_gravity=False, gravity_force_ana_type=2,
                           gravity_force_ana_params=[0.1, 0.2, 0.5, 0.5, 0.5])),
                     (dict(gravity_type=-2, gravity_params=[0.2, 0.5, 0.5, 0.5]),
                      dict(gravity_rho_ana_type=2,
                           gravity_rho_ana_params=[0.2, 0.5, 0.5, 0.5]))):
        ends = [run(vary(base, poisson=p), f)[-1]
                for p, f in ((old, 'old%d' % old['gravity_type']),
                             (new, 'new%d' % old['gravity_type']))]
        v.same('gravity_type=%d by its new names' % old['gravity_type'], fields(ends[1]),
               fields(ends[0]))
    g, sums = 0.3, []
    for force in (0, 1):
        out = run(vary(base, poisson={'gravity_force_ana_type': force,
                                      'gravity_force_ana_params': [0, g, 0]}), 'force%d' % force)
        s = read_ramses.load(out[-1])
        mass = s.cell['density'] * s.volume
        sums.append(((mass * s.cell['velocity_y']).sum(), mass.sum(), s.info['time']))
    # at an output the kick by the newest force is due, and the two runs end at slightly other times
    due = sums[1][1] * g * sums[1][2]
    v.check('momentum of a constant acceleration', abs(sums[1][0] - sums[0][0] - due) / due, 1e-2)


# ---- stars

def stars(v):
    law = vary(STARS, 'refine', 'feedback', run={'nstepmax': 1, 'nsubcycle': [1]},
               refine={'mass_sph': 1e-6}, output={'foutput': 1},
               sf={'randomize_sf': False, 'm_star': 1e-3})
    outs = [run(vary(law, sf={'poissmeanmult': m}), 'mean%g-%d' % (m, n), n)
            for m, n in ((1.0, 1), (2.0, 1), (2.0, 2))]
    v.same('two ranks', fields(outs[2][-1]), fields(outs[1][-1]))
    born = []
    for o in outs[:2]:
        p = read_ramses.load(o[-1]).part
        born.append(p['mass'].sum() if 'mass' in p else 0.0)
    v.same('PoissMeanMult makes stars', 0 < born[0] < born[1], True)
    v.check('twice the factor, twice the stars', abs(born[1] / born[0] / 2 - 1), 1e-3)


# ---- refusals

def refused(v):
    listing = ptah.Run([ptah.program('simulate'), '-p'], '.').out
    said = set(re.findall(r'not supported: ([^:\n]*)', listing))
    with open(os.path.join(ptah.ROOT, 'lib/param/reasons.def')) as f:
        reasons = set(re.findall(r'#define NO_\w+ "([^"]*)"', f.read()))
    v.same('reasons beyond those of lib/param/reasons.def', said - reasons, set())
    v.check('reasons', len(reasons), 10)
    for group in ('CR', 'NONIDEALMHD', 'QUINT', 'FLD'):
        r = ptah.simulate('&RUN_PARAMS\nhydro=.true.\n/\n&%s_PARAMS\n/\n' % group, '.',
                          options=['-n'], must_work=False)
        v.same('&%s_PARAMS' % group, (r.status, r.err.count('\n'), group in r.err,
                                      any(x in r.err for x in reasons)), (2, 1, True, True))
    r = ptah.simulate('&RUN_PARAMS\nhydro=.true.\n/\n&DISE_PARAMS\n/\n', '.', options=['-n'],
                      must_work=False)
    v.same('no suggestion of a name with little in common', 'SINK' in r.err, False)
    for words, says in (('run/hydro=.true. run/static_gas=.true. run/sink=.true.', 'accrete'),
                        ('poisson/gravity_type=1 poisson/gravity_force_ana_type=1 '
                         'run/poisson=.true.', 'old name'),
                        ('poisson/self_gravity=.false. poisson/gravity_rho_ana_type=2 '
                         'run/poisson=.true.', 'excludes'),
                        ('run/remap_pscalar=3', 'no scalar'),
                        ('run/convert_birth_times=.true.', 'use_proper_time')):
        r = ptah.simulate(text_of(GAS), '.', 1, 1, words.split(), ['-n'], must_work=False)
        v.same(words, (r.status, says in r.err), (2, True))


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {f.__name__: f for f in (frozen, times, conserved, resumed, gravity, stars, refused)}[
        sys.argv[1]](verdict)
    verdict.end()
