"""Growth of waves on the initial particle lattice, compared with the exact linear theory of point
masses on a lattice (Marcos et al. 2006, by Ewald's sum), in an Einstein-de Sitter universe from a =
0.02 to 0.08.

The lattice is offset by a quarter of a cell from the mesh points, where the first harmonic of the
force error within a cell vanishes, as does its mean once particles have moved by a cell.

With a base mesh of four cells a particle spacing, the amplitude of waves up to 0.64 of the
particles' Nyquist frequency is within 2 %. One or two cells are not enough: on one the waves grow
too slowly, on two too fast, since the lattice's own wave number is the Nyquist frequency of that
mesh, where the gradient is zero. fft_green='particles' corrects the remaining error on four cells,
the damping of waves by deposit and force.

Example of a fault caught: particles of coarser files at wrong places, a factor in the Green
function of the base level.
"""
# test: tier=check timeout=120
import itertools
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX, H0 = 64.0, 50.0  # comoving Mpc, km/s/Mpc
A_START, A_END = 0.02, 0.08
N = 16                # particles along each side
WAVES = np.array([[2, 1, 1], [3, -2, 1], [1, 4, 3]])
AMPLITUDE = 1e-3      # amplitude of each wave, in boxes

NAMELIST = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
dlna_max=0.05
use_fftw=.true.
/
&OUTPUT_PARAMS
noutput=1
aout={end}
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics'
/
&AMR_PARAMS
levelmin={level}
levelmax={level}
/
&POISSON_PARAMS
fft_green='{green}'
/
"""


def displacement():
    """(displacements [3, z, y, x] in boxes, phases [wave, z, y, x])"""
    q = (np.arange(N) + 0.5) / N
    z, y, x = np.meshgrid(q, q, q, indexing='ij')
    phase = [2 * np.pi * (k[0] * x + k[1] * y + k[2] * z) + i for i, k in enumerate(WAVES)]
    unit = WAVES / np.linalg.norm(WAVES, axis=1)[:, None]
    psi = [sum(AMPLITUDE * u[d] * np.sin(p) for u, p in zip(unit, phase)) for d in range(3)]
    return np.array(psi), np.array(phase)


def write_grafic(path, field):
    head = struct.pack('<3i8f', N, N, N, BOX / N, 0, 0, 0, A_START, 1.0, 0.0, H0)
    with open(path, 'wb') as f:
        f.write(struct.pack('<i', 44) + head + struct.pack('<i', 44))
        for plane in field.astype('<f4'):
            f.write(struct.pack('<i', 4 * N * N) + plane.tobytes() + struct.pack('<i', 4 * N * N))


def make_ics(folder, psi, shift):
    os.makedirs(folder)
    write_grafic(folder + '/ic_deltab', 0 * psi[0])
    for d, axis in enumerate('xyz'):
        write_grafic(folder + '/ic_posc' + axis, (psi[d] + shift) * BOX * H0 / 100)
        write_grafic(folder + '/ic_velc' + axis, H0 / np.sqrt(A_START) * psi[d] * BOX)


def measured(level, psi, phase, green='discrete'):
    """(amplitudes of the waves relative to the start, a)"""
    folder = 'level%d-%s' % (level, green)
    shift = 0.25 / 2 ** level
    make_ics(folder + '/ics', psi, shift)
    r = ptah.simulate(NAMELIST.format(level=level, end=A_END, green=green), folder)
    s = read_ramses.load(ptah.output(r, 2))
    order = np.argsort(s.part['identity'])
    moved = []
    for d, axis in enumerate('xyz'):
        q = (np.arange(N) + 0.5) / N
        q = np.meshgrid(q, q, q, indexing='ij')[2 - d].ravel()
        moved.append((s.part['position_' + axis][order] - q - shift + 0.5) % 1 - 0.5)
    unit = WAVES / np.linalg.norm(WAVES, axis=1)[:, None]
    along = unit @ np.array(moved)
    grown = 2 * (along * np.sin(phase.reshape(len(WAVES), -1))).mean(axis=1) / AMPLITUDE
    return grown, s.info['aexp']


def dynamical(k):
    """Acceleration by displacements exp(i k x) of point masses at integer positions, in units of 4
    pi G rho times the displacement: [3, 3], trace 1."""
    sharp, n = 2.0, np.array(list(itertools.product(range(-4, 5), repeat=3)), float)
    r = n[np.abs(n).sum(axis=1) > 0]
    d = np.linalg.norm(r, axis=1)
    try:
        from scipy.special import erfc
    except ImportError:
        ptah.skip('scipy is not installed')
    cut = 2 * sharp / np.sqrt(np.pi) * np.exp(-(sharp * d) ** 2)
    first = -erfc(sharp * d) / d ** 2 - cut / d             # from derivatives of erfc(sharp d) / d
    second = 2 * erfc(sharp * d) / d ** 3 + 2 * cut * (1 / d ** 2 + sharp ** 2)
    u = r / d[:, None]
    pairs = u[:, :, None] * u[:, None, :]
    hessian = second[:, None, None] * pairs + (first / d)[:, None, None] * (np.eye(3) - pairs)

    def far(waves):
        w2 = (waves ** 2).sum(axis=1)
        weight = np.divide(np.exp(-w2 / (4 * sharp ** 2)), w2, out=np.zeros_like(w2), where=w2 > 0)
        return 4 * np.pi * np.einsum('a,ai,aj->ij', weight, waves, waves)

    near = (hessian * (1 - np.cos(r @ k))[:, None, None]).sum(axis=0)
    return (near + far(2 * np.pi * n + k) - far(2 * np.pi * n)) / (4 * np.pi)


def exact(a):
    """Linear theory for the amplitudes of measured(): point masses that start with the velocity of
    the growing mode."""
    out = []
    for wave in WAVES:
        strength, axis = np.linalg.eigh(dynamical(2 * np.pi * wave / N))
        share = (axis.T @ (wave / np.linalg.norm(wave))) ** 2
        root = np.sqrt(1 + 24 * strength + 0j)  # exponents of a
        up, down = (-1 + root) / 4, (-1 - root) / 4
        part = (1 - down) / (up - down)
        ratio = a / A_START
        out.append((share * (part * ratio ** up + (1 - part) * ratio ** down)).sum().real)
    return np.array(out)


def main():
    v = ptah.Verdict()
    psi, phase = displacement()
    v.check('the trace of the matrix', abs(np.trace(dynamical(np.array([1, .5, .2]))) - 1), 1e-9)
    error = {}
    for cells, green in (1, 'discrete'), (2, 'discrete'), (4, 'discrete'), (4, 'particles'):
        grown, a = measured(int(np.log2(N * cells)), psi, phase, green)
        error[cells, green] = grown / exact(a) - 1
        print('     %d cells a particle, %s, a = %.4f: growth over linear theory %s, of a '
              'lattice %s'
              % (cells, green, a, grown * A_START / a, exact(a) * A_START / a))
    error, made_up = {k: e for (k, green), e in error.items() if green == 'discrete'}, \
        error[4, 'particles']
    v.check('four cells a particle', np.abs(error[4]).max(), 0.02)
    v.check('the same, losses made up for', np.abs(made_up).max(), 0.006)
    v.same('one is too slow, two too fast', (error[1][2] < -0.1, error[2][2] > 0.1), (True, True))
    v.end()


if __name__ == '__main__':
    main()
