"""One supernova in a uniform medium becomes Sedov's blast wave (Sedov 1959; gamma = 1.4).

    supernova.py thermal|debris

A star forms in one cell; then the run resumes without star formation, and the star explodes.
Limits: energy given to the gas, 1e-9; radius of the shock, 2 %; symmetry of the blast. Example of a
fault caught: a supernova of another energy, ejecta that do not move outwards, a blast away from
the star.
"""
# test: thermal tier=check timeout=400 ranks=2
# test: debris tier=check timeout=300 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from sedov import ALPHA, GAMMA, energies, positions  # noqa: E402

LEVELMAX = 6
# The shock of heat in one cell is ahead of the solution by 1.97, 1.89, 1.83, 1.68 % after 300, 400,
# 500, 800 steps, at 10.6, 12.2, 13.5, 16.9 cells: convergence is slow. Another slope limiter or
# half the time step changes this by 0.02 %.
STEPS = {'thermal': 500, 'debris': 300}
FEEDBACK = {'thermal': '', 'debris': 'f_w=1.0\n'}
# mean radius of the mass within the shock over the shock radius, integral of the solution
MEAN = 0.935237
SPECIFIC = 1e51 / (10 * 1.9891e33)  # erg/g
VELOCITY = 1e7  # unit of velocity, cm/s

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=1
nstepmax=1
/
&AMR_PARAMS
levelmin=5
levelmax={levelmax}
nexpand=1
boxlen=1.0
/
&INIT_PARAMS
nregion={n}
{types}
x_center=0.5,{centres}
y_center=0.5,{centres}
z_center=0.5,{centres}
length_x=10.0,{sides}
length_y=10.0,{sides}
length_z=10.0,{sides}
exp_region={n}*10.0
d_region={densities}
p_region={n}*{pressure}
/
&OUTPUT_PARAMS
foutput=1
tout=1e9
/
&HYDRO_PARAMS
gamma={gamma}
courant_factor=0.8
slope_type=2
riemann='hllc'
/
&UNITS_PARAMS
units_density={units[0]}
units_time={units[1]}
units_length={units[2]}
/
&REFINE_PARAMS
err_grad_d=0.01
err_grad_p=0.1
interpol_var=0
interpol_type=1
mass_sph={star}
/
{cooling}&SF_PARAMS
n_star={n_star}
eps_star={eps_star}
m_star=1.0
sf_log_properties=.true.
/
&FEEDBACK_PARAMS
eta_sn=0.2
t_sne={t_sne}
{feedback}/
"""


def nested(levelmax, density, **values):
    """Namelist of a star in gas at rest: the star forms in the cell above the middle of the box,
    the innermost of nested boxes.

    density: densities of the boxes, from outside. values: pressure, gamma, units (of density, time,
    length), n_star, eps_star, t_sne; lines of feedback; cooling: a group, or ''."""
    cell, n = 0.5 ** levelmax, len(density)
    cells = [2 ** k for k in reversed(range(n - 1))]
    return NAMELIST.format(levelmax=levelmax, n=n, star=1e-4 * cell ** 3,
                           types='\n'.join("region_type(%d)='square'" % (k + 1)
                                           for k in range(n)),
                           centres=','.join(str(0.5 + k * cell / 2) for k in cells),
                           sides=','.join(str(k * cell) for k in cells),
                           densities=','.join(map(str, density)), **values)


def shock_radius(s, r):
    """Radius of the shock from the mean radius of the swept-up mass, which does not depend on the
    width of the shell."""
    moment = ((s.cell['density'] - 1) * r * s.volume).sum()
    return (moment / (MEAN * 4 / 3 * np.pi - np.pi)) ** 0.25


def main():
    v = ptah.Verdict()
    feedback = sys.argv[1]
    cell = 0.5 ** LEVELMAX
    text = nested(LEVELMAX, (1.0, 1.05, 1.1), pressure=1e-10, gamma=1.4,
                  units=('2.1849d-24', '3.0856776d13', '3.0856776d20'), n_star=1.07,
                  eps_star='1.2e-4', t_sne=0.0, feedback=FEEDBACK[feedback], cooling='')
    start = ptah.simulate(text, '.', ranks=2)
    run = ptah.simulate(text, '.', ranks=2, options=['-r', start.outputs[-1], '--change-model'],
                        settings=['sf_params/eps_star=1e-12', 'refine_params/err_grad_d=0.1',
                                  'run_params/nstepmax=%d' % STEPS[feedback],
                                  'output_params/foutput=%d' % STEPS[feedback]])
    first, s = read_ramses.load(start.outputs[-1]), read_ramses.load(run.outputs[-1])
    e = np.loadtxt('stars.txt', ndmin=2)
    births, blasts = e[e[:, 0] == 0], e[e[:, 0] == 1]
    v.same('one star, one supernova', (len(births), len(blasts)), (1, 1))
    time = s.info['time'] - blasts[0, 13]
    number = -blasts[0, 1] if feedback == 'debris' else blasts[0, 3] / (1e-4 * cell ** 3)
    energy = 0.2 * number * 1e-4 * cell ** 3 * SPECIFIC / VELOCITY ** 2
    print('     %d steps, %.1f s, octs a level %s, time %g, energy %g'
          % (s.info['nstep_coarse'], run.seconds, s.octs, time, energy))
    before, after = sum(energies(first)), sum(energies(s))
    v.check('energy', abs((after - before) / energy - 1), 1e-9)
    x = positions(s) - cell / 2
    r = np.sqrt((x ** 2).sum(0))
    expected = (energy * time ** 2 / ALPHA) ** 0.2
    got = shock_radius(s, r)
    v.check('radius of the shock %.4f, less %.4f' % (got, expected), abs(got / expected - 1), 0.02)
    v.check('it is far from the cell, and in the box', max(10 * cell / got, got / 0.45), 1)
    excess = (s.cell['density'] - 1) * s.volume
    for axis in range(3):
        beside = abs((excess * np.sign(x[axis])).sum()) / np.abs(excess).sum()
        v.check('more on one side along ' + 'xyz'[axis], beside, 1e-3)
    v.end()


if __name__ == '__main__':
    main()
