"""One supernova in a uniform medium that cools: the momentum of its shell is that of Kim & Ostriker
(2015), 2.8e5 n^-0.17 solar masses km/s, within 15 %.

    terminal.py momentum|thermal DENSITY...     H/cm^3

A star forms in one cell; then the run resumes with cooling at solar metallicity and without star
formation, and the star explodes with 1e51 erg. The finest cells are a twentieth of the radius where
the shell forms, 22.6 n^-0.42 pc, or finer. The momentum is that away from the star, at six times
t_sf = 4.4e4 n^-0.55 years, when the shell forms. A one-line fault it catches: metals that do not
cool, a supernova of another energy, momentum that is lost between levels.
"""
# test: momentum 1 10 tier=long timeout=2400 ranks=2
# test: thermal 1 tier=long timeout=1500 ranks=2
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from sedov import positions  # noqa: E402

LEVELMAX = 7
PARSEC, YEAR, SUN = 3.0856776e18, 31557600.0, 1.9891e33
TIMES = [1, 3, 6]  # in t_sf
HYDROGEN = 1.6605390e-24 / 0.76
AMBIENT = 8000.0  # K, T/mu

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
nregion=4
region_type(1)='square'
region_type(2)='square'
region_type(3)='square'
region_type(4)='square'
x_center=0.5,{centres}
y_center=0.5,{centres}
z_center=0.5,{centres}
length_x=10.0,{sides}
length_y=10.0,{sides}
length_z=10.0,{sides}
exp_region=4*10.0
d_region=1.0,1.03,1.06,1.1
p_region=4*{pressure}
/
&OUTPUT_PARAMS
foutput=1
tout=1e9
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=2
riemann='hllc'
/
&UNITS_PARAMS
units_density={density}
units_time={time}
units_length={length}
/
&REFINE_PARAMS
err_grad_d=0.01
err_grad_p=0.1
interpol_var=0
interpol_type=1
mass_sph={star}
/
&COOLING_PARAMS
cooling=.false.
haardt_madau=.true.
z_ave=1.0
/
&SF_PARAMS
n_star={n_star}
eps_star={eps_star}
m_star=1.0
sf_log_properties=.true.
/
&FEEDBACK_PARAMS
eta_sn=0.2
t_sne=1e9
{feedback}/
"""


def explode(folder, recipe, n):
    """The checkpoints at TIMES after the explosion, and units of mass and velocity."""
    cell = 0.5 ** LEVELMAX
    length, time = 128 * n ** -0.42 * PARSEC, 4.4e4 * n ** -0.55 * YEAR
    density, velocity = n * HYDROGEN, length / time
    pressure = AMBIENT * 1.3806e-16 / 1.6605e-24 / velocity ** 2
    star = 1e-4 * cell ** 3
    dt = 0.8 * cell / 3 / math.sqrt(5 / 3 * pressure)
    text = NAMELIST.format(levelmax=LEVELMAX, pressure=pressure, density=density, time=time,
                           length=length, star=star, n_star=1.098 * n,
                           eps_star=50 * 1e-4 / (2.1 * dt),
                           centres=','.join(str(0.5 + k * cell / 2) for k in (4, 2, 1)),
                           sides=','.join(str(k * cell) for k in (4, 2, 1)),
                           feedback='momentum_feedback=1\nf_ek=1.0\n' if recipe == 'momentum'
                           else '')
    start = ptah.simulate(text, folder, threads=2)
    s = read_ramses.load(start.outputs[-1])
    ejecta = 0.2 * s.part['mass'].sum() * density * length ** 3 / SUN
    now = s.info['time']
    os.remove(os.path.join(folder, 'stars.txt'))  # it has the births of one step more
    run = ptah.simulate(text, folder, threads=2,
                        options=['-r', os.path.abspath(start.outputs[-1]), '--change-model'],
                        settings=['sf_params/eps_star=1e-12', 'feedback_params/t_sne=0',
                                  'refine_params/err_grad_d=0.1', 'run_params/nstepmax=100000',
                                  'output_params/foutput=100000', 'cooling_params/cooling=.true.',
                                  'feedback_params/f_esn=%.17g' % (10 / ejecta),
                                  'output_params/noutput=%d' % len(TIMES),
                                  'output_params/tout=' + ','.join('%.9g' % (now + t)
                                                                   for t in TIMES)])
    steps = read_ramses.load(run.outputs[-1]).info['nstep_coarse']
    print('     n=%g: %d steps, %.0f s' % (n, steps, run.seconds), flush=True)
    return run.outputs, density * length ** 3 / SUN, velocity / 1e5


def main():
    v = ptah.Verdict()
    recipe = sys.argv[1]
    for n in map(float, sys.argv[2:]):
        folder = 'n%g' % n
        outputs, mass, velocity = explode(folder, recipe, n)
        log = np.loadtxt(os.path.join(folder, 'stars.txt'), ndmin=2)
        v.same('n=%g: one supernova' % n, (len(log), log[0, 0]), (1, 1))
        for t, path in zip(TIMES, outputs[-len(TIMES):]):
            s = read_ramses.load(path)
            x = positions(s) - 0.5 ** LEVELMAX / 2
            r = np.sqrt((x ** 2).sum(0)) + 1e-9
            out = sum(x[d] * s.cell['velocity_' + 'xyz'[d]] for d in range(3)) / r
            p = (out * s.cell['density'] * s.volume).sum() * mass * velocity
            shell = s.cell['density'] > 1.3
            radius = (r * s.volume)[shell].sum() / s.volume[shell].sum() * 128 * n ** -0.42
            print('     n=%g: %g t_sf (%g): momentum %.3g, shell at %.1f pc; %d leaf cells'
                  % (n, t, s.info['time'] - log[0, 13], p, radius, len(s.level)))
        want = 2.8e5 * n ** -0.17
        v.check('n=%g: momentum of the shell %.3g, less %.3g' % (n, p, want), abs(p / want - 1),
                0.15)
    v.end()


if __name__ == '__main__':
    main()
