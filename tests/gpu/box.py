"""Initial conditions of a cosmological box (GRAFIC2), for comparable measurements.

    box.py N SIZE AEXP FOLDER    N^3 particles in SIZE Mpc/h at expansion factor AEXP

Needs numpy. A Gaussian field with the spectrum of cold dark matter (Bardeen et al. 1986), the
velocities of growing waves. The seed is fixed: all users get identical boxes. A box started late
(AEXP 0.2) refines within ten steps.
"""
import os
import sys

import numpy as np

H, OMEGA_M, SIGMA_8 = 0.7, 0.3, 0.9  # flat


def transfer(k):
    """Transfer function of Bardeen et al. (1986), equation G3; k in h/Mpc."""
    q = k / (OMEGA_M * H)
    return np.log(1 + 2.34 * q) / (2.34 * q) * (
        1 + 3.89 * q + (16.1 * q)**2 + (5.46 * q)**3 + (6.71 * q)**4)**-0.25


def amplitude():
    """Amplitude of k T^2, for SIGMA_8 today."""
    k = np.logspace(-4, 2, 4000)
    x = 8 * k
    window = 3 * (np.sin(x) - x * np.cos(x)) / x**3
    rows = k * transfer(k)**2 * window**2 * k**3 / (2 * np.pi**2)
    return SIGMA_8**2 / np.sum(0.5 * (rows[1:] + rows[:-1]) * np.diff(np.log(k)))


def expansion(a):
    """H(a) / H_0."""
    return np.sqrt(OMEGA_M / a**3 + 1 - OMEGA_M)


def growth(a):
    x = np.linspace(1e-4, a, 4001)
    rows = (x * expansion(x))**-3
    return expansion(a) * np.sum(0.5 * (rows[1:] + rows[:-1])) * (x[1] - x[0])


def waves(n, size):
    kx = 2 * np.pi / size * np.fft.fftfreq(n, 1 / n)
    kz = kx[:n // 2 + 1].copy()
    kz[-1] = abs(kz[-1])
    return kx[:, None, None], kx[None, :, None], kz[None, None, :]


def write(path, field, head):
    with open(path, 'wb') as f:
        for record in [head, *(np.ascontiguousarray(plane.T) for plane in
                               np.moveaxis(field.astype('<f4'), 2, 0))]:
            mark = np.int32(record.nbytes).tobytes()
            f.write(mark + record.tobytes() + mark)


def box(n, size, a, folder):
    k = waves(n, size)
    k2 = sum(x**2 for x in k)
    k2[0, 0, 0] = 1
    wave = np.sqrt(k2)
    spectrum = amplitude() * wave * transfer(wave)**2 * (growth(a) / growth(1))**2
    white = np.random.default_rng(1).standard_normal((n, n, n))
    delta = np.fft.rfftn(white) * np.sqrt(spectrum * n**3 / size**3)
    delta[0, 0, 0] = 0
    head = np.zeros(1, dtype=[('n', '<i4', 3), ('x', '<f4', 8)])
    head['n'] = n
    head['x'] = [size / H / n, 0, 0, 0, a, OMEGA_M, 1 - OMEGA_M, 100 * H]
    os.makedirs(folder, exist_ok=True)

    def put(name, waves):
        write(os.path.join(folder, name), np.fft.irfftn(waves, (n, n, n), axes=(0, 1, 2)), head)
    put('ic_deltab', delta)
    rate = (OMEGA_M / a**3 / expansion(a)**2)**0.55
    for axis, x in zip('xyz', k):
        for kind in 'cb':  # velocities in proper km/s
            put('ic_vel%s%s' % (kind, axis), 1j * x / k2 * delta * (100 * a * expansion(a) * rate))


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit(__doc__.strip())
    box(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
