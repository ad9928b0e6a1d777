"""One supernova in a uniform medium that cools: the momentum of its shell is that of Kim & Ostriker
(2015), 2.8e5 n^-0.17 solar masses km/s, within 15 %.

    terminal.py momentum|thermal DENSITY...     H/cm^3

A star forms in one cell; then the run resumes with cooling at solar metallicity and without star
formation, and the star explodes with 1e51 erg. The finest cells are a twentieth of the radius where
the shell forms, 22.6 n^-0.42 pc, or finer. The radial momentum is measured at six times t_sf =
4.4e4 n^-0.55 years, when the shell forms. Example of a fault caught: metals that do not cool, a
supernova of another energy, momentum that is lost between levels.
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
from supernova import nested  # noqa: E402

LEVELMAX = 7
PARSEC, YEAR, SUN = 3.0856776e18, 31557600.0, 1.9891e33
TIMES = [1, 3, 6]  # in t_sf
HYDROGEN = 1.6605390e-24 / 0.76
AMBIENT = 8000.0  # K, T/mu

COOLING = """&COOLING_PARAMS
cooling=.false.
haardt_madau=.true.
z_ave=1.0
/
"""
FEEDBACK = {'momentum': 'momentum_feedback=1\nf_ek=1.0\n', 'thermal': ''}


def explode(folder, recipe, n):
    """(checkpoints at TIMES after the explosion, units of mass and velocity)"""
    cell = 0.5 ** LEVELMAX
    length, time = 128 * n ** -0.42 * PARSEC, 4.4e4 * n ** -0.55 * YEAR
    density, velocity = n * HYDROGEN, length / time
    pressure = AMBIENT * 1.3806e-16 / 1.6605e-24 / velocity ** 2
    dt = 0.8 * cell / 3 / math.sqrt(5 / 3 * pressure)
    text = nested(LEVELMAX, (1.0, 1.03, 1.06, 1.1), pressure=pressure, gamma=1.6666667,
                  units=(density, time, length), n_star=1.098 * n,
                  eps_star=50 * 1e-4 / (2.1 * dt), t_sne='1e9', feedback=FEEDBACK[recipe],
                  cooling=COOLING)
    start = ptah.simulate(text, folder, threads=2)
    s = read_ramses.load(start.outputs[-1])
    ejecta = 0.2 * s.part['mass'].sum() * density * length ** 3 / SUN
    now = s.info['time']
    os.remove(os.path.join(folder, 'stars.txt'))  # the file has the births of one step more
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
