"""Massive neutrinos as a linear response: a plane wave of small amplitude in an Einstein-de Sitter
universe, a tenth of it neutrinos.

With R = 0 the neutrinos do not cluster, and matter grows as a^p, p = (-1 +- sqrt(1 + 24 f_cb))/4
(Bond, Efstathiou & Silk 1980); the wave starts with the velocity of p = 1, so both powers are
present. With R = 1 neutrinos follow the matter, and the result is that without neutrinos. Example
of a fault caught: the full density of matter in the Poisson source, the response of another
wave number or scale factor.
"""
# test: tier=check timeout=200
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import pancake  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

OMEGA_NU, A_END = 0.1, 0.3
WAVES = 2  # waves in the box: a wave number that differs from its square
LEVEL = 5


def table(path, k_step):
    """Table with R = 0 at waves longer than k_step [h/Mpc], 1 at shorter ones."""
    k, a = np.array([1e-3, k_step, k_step * 1.0001, 10]), np.array([0.01, 0.1, 1.0])
    with open(path, 'w') as f:
        f.write('# R(k, a)\n%d %d\n' % (len(k), len(a)))
        for row in (k, a):
            f.write(' '.join('%.8e' % x for x in row) + '\n')
        f.write('# the matrix\n')
        for x in k:
            f.write(' '.join(['%d' % (x > k_step)] * len(a)) + '\n')


def amplitude(folder, extra):
    r = ptah.simulate(pancake.NAMELIST.format(level=LEVEL, end=A_END,
                                              omega_b=0.0).replace('hydro=.true.', 'hydro=.false.'),
                      folder, settings=extra)
    s = read_ramses.load(ptah.output(r, 2))
    n = 2 ** LEVEL
    x, q = np.sort(s.part['position_x']).reshape(n, -1).mean(axis=1), (np.arange(n) + 0.5) / n
    return -2 * np.mean((x - q) * np.sin(pancake.K * (q - 0.5))), s.info['aexp']


def growth(a, f_cb):
    """Growth of the wave's amplitude from A_START, where it is 1 and grows as a."""
    root = np.sqrt(1 + 24 * f_cb)
    up, down = (-1 + root) / 4, (-1 - root) / 4
    b = (1 - down) / (up - down)
    x = a / pancake.A_START
    return b * x ** up + (1 - b) * x ** down


def main():
    v = ptah.Verdict()
    pancake.A_CAUSTIC = 50.0
    pancake.K = 2 * np.pi * WAVES
    with_nu = ['run_params/use_neutrino=.true.', 'neutrino_params/omega_nu=%g' % OMEGA_NU,
               "neutrino_params/neutrino_table='../table'"]
    start = pancake.A_START / pancake.A_CAUSTIC / pancake.K
    wave = 2 * np.pi * WAVES / (pancake.BOX * pancake.H0 / 100)
    results = {}
    for name, k_step, extra in (('none', 1, ['run_params/use_fftw=.true.']),
                                ('still', 1.5 * wave, with_nu),
                                ('follow', 0.75 * wave, with_nu)):
        table('table', k_step)
        pancake.make_ics(name + '/ics', 2 ** LEVEL)
        results[name] = amplitude(name, extra)
    for name, f_cb in (('none', 1), ('still', 1 - OMEGA_NU)):
        got, a = results[name]
        print('     %s: grew %.4f times to a = %.4f, %.4f expected' %
              (name, got / start, a, growth(a, f_cb)))
        # with 16 cells per wave
        v.check('growth, ' + name, abs(got / start / growth(a, f_cb) - 1), 0.025)
    slower = results['still'][0] / results['none'][0]
    v.check('slower by', abs(slower / (growth(a, 1 - OMEGA_NU) / growth(a, 1)) - 1), 0.002)
    v.check('R = 1 is no neutrinos', abs(results['follow'][0] / results['none'][0] - 1), 1e-9)
    with open('table') as f:
        text = f.read()
    with open('table', 'w') as f:
        f.write(text.replace('\n0 0 0\n', '\n0 nan\n0\n', 1))
    r = ptah.simulate('run.nml', 'still', settings=with_nu, options=['-q', '-n'], must_work=False)
    v.same('a table with NaN', (r.status, r.err),
           (2, "simulate: ../table: line 6: 'nan' is not a response\n"))
    v.end()


if __name__ == '__main__':
    main()
