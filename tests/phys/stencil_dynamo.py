"""Magnetic fields of the stencil solver in given flows, and energies of flows.

    stencil_dynamo.py roberts      the kinematic dynamo of Roberts (1972): from noise, the field
                                   grows at 0.1004 for eta = 0.1, and decays at 0.0230 for eta = 0.2
    stencil_dynamo.py eigenvector  it grows at 0.1009 from the first step if it begins with the
                                   eigenvector of |kx|, |ky| <= 6, read from a file
    stencil_dynamo.py helicity     without resistivity magnetic helicity drifts with the third power
                                   of the time step; with it, it changes by -2 eta <j.B>
    stencil_dynamo.py taylor-green kinetic energy is 1/8 of the squared amplitude at the start, and
                                   is lost at the rate nu <omega^2>
    stencil_dynamo.py forced       turbulence by a helical force has kinetic helicity of the sign of
                                   sigma, a steady level, and a growing field; by that of
                                   &TURB_PARAMS a level that its rms gives

Growth rates are those of an eigenvalue problem in Fourier space. Examples of faults caught: a curl
with a wrong sign, a potential that is advanced with the flow of another substep, a mixed derivative
with half its weights.
"""
# test: roberts tier=check timeout=180
# test: eigenvector tier=check timeout=120
# test: helicity tier=check timeout=120
# test: taylor-green tier=check timeout=120
# test: forced tier=check timeout=240
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import uniform  # noqa: E402


def growth(eta, t, threads=2):
    """Rate of the field at late times, from noise."""
    dt, name = 0.05, 'roberts%g' % eta
    steps = round(t / dt)
    uniform.simulate(uniform.namelist(
        steps, nx=16, ny=16, nz=16, hydro=False, eta=eta, dt_fixed=dt, init_u='roberts',
        init_a='random', amp_a=1e-3, diag_every=20), name, threads=threads)
    s = uniform.series(name)
    late = s['t'] > 0.7 * t
    return np.polyfit(s['t'][late], np.log(s['brms'][late]), 1)[0]


def roberts(v):
    for eta, expected, t in ((0.1, 0.1004, 80), (0.2, -0.02296, 80)):
        found = growth(eta, t)
        v.check('growth at eta = %g: %.5f' % (eta, found), abs(found - expected),
                0.03 * abs(expected))


def roberts_eigenvector(eta, n, modes=6):
    """Growth rate, and the potential on n^3 cells, of the fastest growing field with one wave
    along z, by its Fourier modes |kx|, |ky| <= modes."""
    m = np.arange(-modes, modes + 1)
    k = np.array([(a, b, 1) for a in m for b in m], float)
    number = {(int(a), int(b)): i for i, (a, b, _) in enumerate(k)}
    flow = {(s, t): np.array([-t / 4j, s / 4j, math.sqrt(2) / 4]) for s in (1, -1)
            for t in (1, -1)}
    op = np.zeros((len(k), 3, len(k), 3), complex)
    for (a, b), i in number.items():
        op[i, :, i, :] -= eta * (k[i] @ k[i]) * np.eye(3)
        for (s, t), u in flow.items():
            j = number.get((a - s, b - t))
            for c in range(3 if j is not None else 0):
                op[i, :, j, c] += 1j * np.cross(k[i], np.cross(u, np.eye(3)[c]))
    rate, vector = np.linalg.eig(op.reshape(3 * len(k), -1))
    best = np.argmax(rate.real)
    field = vector[:, best].reshape(-1, 3)
    a_hat = 1j * np.cross(k, field) / np.sum(k * k, axis=1)[:, None]
    x = 2 * math.pi / n * np.arange(n)
    ex, ey, ez = (np.exp(1j * np.outer(k[:, d], x)) for d in range(3))
    return rate[best].real, np.real(np.einsum('kc,kz,ky,kx->czyx', a_hat, ez, ey, ex,
                                              optimize=True))


def eigenvector(v):
    import h5py
    n, eta = 16, 0.1
    rate, a = roberts_eigenvector(eta, n)
    v.check('eigenvalue of few modes %.5f' % rate, abs(rate - 0.09886), 1e-4)
    with h5py.File('start.h5', 'w') as f:
        for name, values in zip(('ax', 'ay', 'az'), a):
            f[name] = values
    for order, expected in ((2, 0.10303), (4, 0.10200), (6, 0.10087), (8, 0.10041)):
        name = 'eigen%d' % order
        uniform.simulate(uniform.namelist(
            60, nx=n, ny=n, nz=n, order=order, hydro=False, eta=eta, dt_fixed=0.05,
            init_u='roberts', init_file='../start.h5', diag_every=1), name)
        s = uniform.series(name)
        found = math.log(s['brms'][60] / s['brms'][20]) / 2
        v.check('growth, order %d: %.5f' % (order, found), abs(found - expected), 2e-4)


def helicity_after(dt, eta, n=12):
    name = 'helicity%g_%g' % (dt, eta)
    uniform.simulate(uniform.namelist(
        round(2 / dt), nx=n, ny=n, nz=n, hydro=False, eta=eta, dt_fixed=dt, init_u='roberts',
        init_a='abc', abc_init=(1.0, 0.5, 0.3), diag_every=1), name)
    return uniform.series(name)


def helicity(v):
    drift = []
    for dt in (0.1, 0.05):
        s = helicity_after(dt, 0.0)
        drift.append(abs(s['abm'][-1] / s['abm'][0] - 1))
    v.check('drift of helicity: %.2e, %.2e' % tuple(drift), abs(drift[0] / drift[1] / 8 - 1), 0.15)
    s = helicity_after(0.05, 0.1, 24)
    rate = -2 * 0.1 * s['jbm']
    lost = np.sum((rate[1:] + rate[:-1]) / 2 * np.diff(s['t']))
    v.check('loss of helicity: %.5f' % lost, abs((s['abm'][-1] - s['abm'][0]) / lost - 1), 1e-3)


def taylor_green(v):
    nu, u = 0.1, 0.5
    uniform.simulate(uniform.namelist(
        160, nx=16, ny=16, nz=16, magnetic=False, cs0=10.0, nu=nu, dt_fixed=0.0125,
        init_u='taylor-green', amp_u=u, diag_every=4), 'tg')
    s = uniform.series('tg')
    v.check('kinetic energy at the start', abs(s['ekin'][0] / (u * u / 8) - 1), 1e-9)
    v.check('kinetic helicity', np.max(np.abs(s['oum'])), 1e-12)
    rate = -nu * s['orms'] ** 2
    lost = np.sum((rate[1:] + rate[:-1]) / 2 * np.diff(s['t']))
    v.check('loss of kinetic energy: %.5f' % lost,
            abs((s['ekin'][-1] - s['ekin'][0]) / lost - 1), 0.01)
    v.check('mass', np.max(np.abs(s['rhom'] - 1)), 1e-6)


def forced(v):
    n = 16
    for sigma in (1.0, -1.0):
        name = 'forced%g' % sigma
        uniform.simulate(uniform.namelist(
            1000, nx=n, ny=n, nz=n, nu=0.01, eta=0.004, init_a='gaussian', amp_a=1e-5,
            forcing='helical', f0=0.05, kf=1.5, sigma=sigma, diag_every=10), name, threads=2)
        s = uniform.series(name)
        half = len(s['t']) // 2
        v.check('sigma = %g: helicity %.3f' % (sigma, np.mean(s['oum'][half:])),
                -sigma * np.mean(s['oum'][half:]), -0.01)
        level = s['urms'][half:]
        v.check('  level of velocity %.3f' % np.mean(level), np.std(level) / np.mean(level), 0.3)
        v.check('  the field grows', 1.3 * np.min(s['brms']) - s['brms'][-1], 0)
    uniform.simulate(uniform.namelist(
        400, nx=n, ny=n, nz=n, magnetic=False, nu=0.02, forcing='turb', diag_every=5,
        turb={'turb_rms': 0.05, 'turb_T': 0.5, 'turb_Ndt': 20, 'comp_frac': 0.0}), 'turb',
        threads=2)
    s = uniform.series('turb')
    v.check('turb: velocity %.3f' % s['urms'][-1], abs(math.log(s['urms'][-1] / 0.2)), 0.7)
    v.check('turb: momentum, density', np.max(np.abs(s['rhom'] - 1)), 1e-3)


def main():
    _, words = ptah.options(__doc__, '')
    tests = {'roberts': roberts, 'eigenvector': eigenvector, 'helicity': helicity,
             'taylor-green': taylor_green, 'forced': forced}
    v = ptah.Verdict()
    for word in words or tests:
        tests[word](v)
    v.end()


main()
