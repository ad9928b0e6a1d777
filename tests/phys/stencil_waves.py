"""Waves and decays of the stencil solver against exact solutions: errors of each order of the
differences on two meshes, and of the time step.

    stencil_waves.py alfven    the damped Alfvén wave along a field, one period
    stencil_waves.py sound     a sound wave in adiabatic gas, one period
    stencil_waves.py beltrami  decay of a field that is its own curl
    stencil_waves.py vortices  decay of Taylor's vortices in two dimensions, with viscosity
    stencil_waves.py time      order 3 in the time step

The errors expected are those of an independent program in numpy (differences of the same orders,
Runge-Kutta of Williamson 1980); they are met to 1 %. Examples of faults caught: a weight of a
difference with one digit wrong, viscosity of one component left out, a substep that reads the
register of another.
"""
# test: alfven tier=check timeout=120
# test: sound tier=check timeout=120
# test: beltrami tier=check timeout=120
# test: vortices tier=check timeout=120
# test: time tier=check timeout=120
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import uniform  # noqa: E402

NU, ETA, A = 0.02, 0.01, 1e-6
WEIGHTS = {2: [1 / 2], 4: [2 / 3, -1 / 12], 6: [3 / 4, -3 / 20, 1 / 60],
           8: [4 / 5, -1 / 5, 4 / 105, -1 / 280]}
ALFVEN = {2: (1.548e-1, 3.968e-2), 4: (1.358e-2, 8.909e-4), 6: (1.436e-3, 2.661e-5),
          8: (1.699e-4, 4.715e-6)}
SOUND = {2: (4.357e-1, 1.132e-1), 4: (5.235e-2, 3.458e-3), 6: (6.606e-3, 1.130e-4),
         8: (8.627e-4, 5.822e-6)}
BELTRAMI = {2: (1.364e-2, 3.437e-3), 4: (1.074e-3, 6.987e-5), 6: (1.021e-4, 1.703e-6),
            8: (1.070e-5, 3.522e-8)}


def derivative(f, order):
    h = 2 * math.pi / len(f)
    return sum(c * (np.roll(f, -k - 1) - np.roll(f, k + 1))
               for k, c in enumerate(WEIGHTS[order])) / h


def wave_error(order, n, steps, dt):
    """Error of velocity and field of the Alfvén wave over its amplitude."""
    r = uniform.simulate(uniform.namelist(
        steps, nx=n, ny=1, nz=1, order=order, nu=NU, eta=ETA, bext=(1.0, 0.0, 0.0), dt_fixed=dt,
        init_u='alfven', init_a='alfven', amp_u=A, amp_a=A, diag_every=0), 'a%d_%d_%d'
        % (order, n, steps))
    f = uniform.last(r)
    x, t = 2 * math.pi / n * np.arange(n), steps * dt
    s = -(NU + ETA) / 2 - 1j * math.sqrt(1 - (NU - ETA) ** 2 / 4)
    u = A * np.real(np.exp(1j * x + s * t))
    b = A * np.real((s + NU) / 1j * np.exp(1j * x + s * t))
    du, db = f['uy'][0, 0] - u, -derivative(f['az'][0, 0], order) - b
    return math.sqrt(np.mean(du ** 2 + db ** 2)) / A


def alfven(v):
    for order, errors in ALFVEN.items():
        for n, expected in zip((8, 16), errors):
            found = wave_error(order, n, 240, 2 * math.pi / 240)
            v.check('Alfven, order %d, %d cells: %.3e' % (order, n, found),
                    abs(found / expected - 1), 0.01)


def time(v):
    found = [wave_error(8, 32, n, 2 * math.pi / n) for n in (32, 40)]
    for e, expected in zip(found, (1.806e-3, 9.248e-4)):
        v.check('Alfven in few steps: %.3e' % e, abs(e / expected - 1), 0.01)
    order = math.log(found[0] / found[1]) / math.log(40 / 32)
    v.check('order in time: %.3f' % order, abs(order - 3), 0.02)


def sound(v):
    for order, errors in SOUND.items():
        for n, expected in zip((8, 16), errors):
            r = uniform.simulate(uniform.namelist(
                240, nx=n, ny=1, nz=1, order=order, magnetic=False, entropy=True,
                dt_fixed=2 * math.pi / 240, init_u='sound', init_lnrho='sound', amp_u=A,
                amp_lnrho=A, diag_every=0), 's%d_%d' % (order, n))
            x = 2 * math.pi / n * np.arange(n)
            d = uniform.last(r)['lnrho'][0, 0] - A * np.cos(x)
            found = math.sqrt(np.mean(d ** 2)) / A
            v.check('sound, order %d, %d cells: %.3e' % (order, n, found),
                    abs(found / expected - 1), 0.01)


def beltrami(v):
    for order, errors in BELTRAMI.items():
        for n, expected in zip((16, 32), errors):
            r = uniform.simulate(uniform.namelist(
                40, nx=1, ny=1, nz=n, order=order, hydro=False, eta=0.1, dt_fixed=1 / 40,
                init_a='beltrami', kx_init=2, diag_every=0), 'b%d_%d' % (order, n))
            f = uniform.last(r)
            z = 2 * math.pi / n * np.arange(n)
            found = max(np.max(np.abs(f[a][:, 0, 0] - math.exp(-0.4) * g))
                        for a, g in (('ax', np.cos(2 * z)), ('ay', -np.sin(2 * z))))
            v.check('Beltrami, order %d, %d cells: %.3e' % (order, n, found),
                    abs(found / expected - 1), 0.02)
            v.check('  the third component', np.max(np.abs(f['az'])), 0)


def vortices(v):
    """Velocities decay as exp(-2 nu k^2 t) where the gas is incompressible: to Mach^2 and the time
    of sound waves."""
    nu, t, cs = 0.05, 2.0, 40.0
    r = uniform.simulate(uniform.namelist(
        800, nx=16, ny=16, nz=1, magnetic=False, cs0=cs, nu=nu, dt_fixed=t / 800,
        init_u='taylor-green', diag_every=100), 'v')
    f = uniform.last(r)
    x = 2 * math.pi / 16 * np.arange(16)
    shape = np.cos(x)[:, None] * np.sin(x)[None, :]
    left = math.exp(-2 * nu * t)
    v.check("Taylor's vortices", np.max(np.abs(f['ux'][0] - left * shape)), 0.004)
    s = uniform.series('v')
    v.check('kinetic energy', np.max(np.abs(s['ekin'] / (0.25 * np.exp(-4 * nu * s['t'])) - 1)),
            0.01)
    v.check('mass', np.max(np.abs(s['rhom'] - 1)), 1e-5)


def main():
    _, words = ptah.options(__doc__, '')
    v = ptah.Verdict()
    for word in words or ('alfven', 'sound', 'beltrami', 'vortices', 'time'):
        {'alfven': alfven, 'sound': sound, 'beltrami': beltrami, 'vortices': vortices,
         'time': time}[word](v)
    v.end()


main()
