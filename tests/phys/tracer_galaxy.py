"""Monte-Carlo tracers in a galaxy: a disc of gas and stars in a halo, on three levels, that cools
and forms stars, some of which explode. As many tracers as initial cells; their number in each
phase of the gas and in stars is that of the mass within 2/sqrt(N), N: this number, as a mean of
three seeds.

Phases: bins of density, temperature, radius and height, each of them on its own, the levels, and
the stars that have formed.

Example of a fault caught: tracers of a split or merged cell that stay behind, a probability of the
mass after a birth, an entry into a level that is counted twice, a tracer that a star has not taken.
"""
# test: tier=long timeout=900
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import galaxies  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

STEPS, SEEDS = 160, 3

NAMELIST = """
&RUN_PARAMS
pic=.true.
poisson=.true.
hydro=.true.
tracer=.true.
nsubcycle=10*2
nstepmax=%(steps)d
/
&AMR_PARAMS
levelmin=5
levelmax=7
boxlen=20.0
/
&INIT_PARAMS
condinit_kind='merger'
filetype='ascii'
initfile(1)='ics'
/
&MERGER_PARAMS
Mgas_disk1=2.0
Mgas_disk2=0.0
typ_radius1=2.0
cut_radius1=7.0
typ_height1=0.6
cut_height1=1.8
Vcirc_dat_file1='Vcirc1.dat'
/
&OUTPUT_PARAMS
foutput=%(steps)d
/
&HYDRO_PARAMS
gamma=1.6666667
riemann='hllc'
pressure_fix=.true.
/
&COOLING_PARAMS
cooling=.true.
haardt_madau=.true.
self_shielding=.true.
z_ave=1.0
/
&SF_PARAMS
n_star=1.0
eps_star=0.1
T2_star=100.0
g_star=1.6666667
/
&FEEDBACK_PARAMS
eta_sn=0.1
/
&REFINE_PARAMS
mass_sph=1e-3
m_refine=10*8.
interpol_type=1
/
&TRACER_PARAMS
MC_tracer=.true.
tracer_feed_fmt='inplace'
tracer_mass=%(mass).17g
/
"""


def gas_of(s):
    return s.cell['density'] * s.volume


def keys(s, x):
    """A number for each of the finest cells at positions x, in units of the box."""
    side = 2 ** (int(s.level.max()) + 1)
    i = np.rint(x * side).astype(np.int64)
    return (i[0] * 4 * side + i[1]) * 4 * side + i[2]


def hosts(s):
    """Numbers of the leaf cells that gas tracers are in, −1: in the centre of none."""
    gas = s.part['family'] == 0
    x = np.stack([s.part['position_' + d][gas] for d in 'xyz']) / s.info['boxlen']
    leaf, mine = keys(s, s.centres()), keys(s, x)
    order = np.argsort(leaf)
    at = order[np.minimum(np.searchsorted(leaf[order], mine), len(leaf) - 1)]
    return np.where(leaf[at] == mine, at, -1)


def bins(s, weight):
    """(name, numbers of the bins of cells) of each division, in bins of about equal mass of gas."""
    x = (s.centres() - 0.5) * s.info['boxlen']
    values = {'density': s.cell['density'], 'temperature': s.cell['pressure'] / s.cell['density'],
              'radius': np.hypot(x[0], x[1]), 'height': np.abs(x[2])}
    for name, value in values.items():
        order = np.argsort(value, kind='stable')
        share = np.cumsum(weight[order]) / weight.sum()
        number = np.empty(len(value), int)
        number[order] = np.minimum((share * 8).astype(int), 7)
        yield name, number
    yield 'level', s.level - s.level.min()


def deviations(v, s, mass):
    """{phase: sqrt(N) (n/N - 1) in its bins}."""
    at, gas = hosts(s), gas_of(s)
    v.same('gas tracers outside the centres of leaf cells', (at < 0).sum(), 0)
    n = np.bincount(at, minlength=len(gas))
    star, tracers = s.part['family'] == 2, (s.part['family'] == -2).sum()
    born = s.part['mass'][star].sum() / mass
    off = {'stars': np.array([(tracers - born) / np.sqrt(born)])}
    for kind, number in bins(s, gas):
        want = np.bincount(number, weights=gas) / mass
        off[kind] = (np.bincount(number, weights=n) - want) / np.sqrt(want)
    print('%d tracers in %d stars, by mass %.1f; levels of cells %s' % (
        tracers, star.sum(), born, np.bincount(s.level)))
    v.check('enough of them', 300 / max(tracers, 1), 1)
    v.check('stars that have exploded', 10 / max((star & (s.part['tag'] == 1)).sum(), 1), 1)
    return off


def main():
    v = ptah.Verdict()
    galaxies.merger('.')
    start = ptah.simulate(NAMELIST % {'steps': 0, 'mass': 1.0}, '.', options=['-q', '-o', 'start'],
                          settings=['run_params/tracer=F', 'output_params/foutput=1'])
    s = read_ramses.load(start.outputs[0])
    mass = gas_of(s).sum() / len(s.level)
    off = []
    for seed in range(SEEDS):
        out = ptah.simulate(NAMELIST % {'steps': STEPS, 'mass': mass}, '.',
                            options=['-q', '-o', 'run_%d' % seed],
                            settings=['tracer_params/tracer_seed=%d' % seed])
        off.append(deviations(v, read_ramses.load(out.outputs[-1]), mass))
    for kind in off[0]:
        mean = np.mean([one[kind] for one in off], 0)
        v.check('%s, %d bins: mean of sqrt(N) (n/N - 1) over seeds, maximum' % (kind, len(mean)),
                np.abs(mean).max(), 2)
    every = np.concatenate([x for one in off for x in one.values()])
    v.check('mean square of all', (every ** 2).mean(), 1.2)
    v.end()


if __name__ == '__main__':
    main()
