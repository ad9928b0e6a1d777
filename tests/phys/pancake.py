"""Zel'dovich's pancake: a plane wave that collapses at a = 0.5 in an Einstein-de Sitter universe,
followed to a = 0.35.

Until the caustic the solution is exact: x = q - (a / a_c) sin(k q) / k. Gas, which is cold, and
dark matter follow one flow. Limits: particles within 0.03 of a base cell (rms), gas density within
3 % (L1), no transverse motion. Example of a fault caught: a factor in the Poisson source, a
growth factor, the unit of velocities, a missing half kick.
"""
# test: tier=check timeout=300
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from sod import coordinate  # noqa: E402

BOX, H0 = 64.0, 50.0               # comoving Mpc, km/s/Mpc
A_START, A_CAUSTIC, A_END = 0.05, 0.5, 0.35
K = 2 * np.pi                      # wave number of the box
OMEGA_B = 0.1

NAMELIST = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,1,2,2
/
&OUTPUT_PARAMS
noutput=1
aout={end}
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics'
omega_b={omega_b}
/
&AMR_PARAMS
levelmin={level}
levelmax={level}
nexpand=1
/
&POISSON_PARAMS
epsilon=1d-6
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
pressure_fix=.true.
beta_fix=0.5
/
"""


def place(q, a):
    """Comoving position, in boxes, of the mass from q; the middle of the box collapses."""
    return q - a / A_CAUSTIC * np.sin(K * (q - 0.5)) / K


def origin(x, a):
    """Initial position q of the mass at x."""
    q = x.copy()
    for _ in range(100):
        q -= (place(q, a) - x) / (1 - a / A_CAUSTIC * np.cos(K * (q - 0.5)))
    return q


def velocity(q, a):
    """Proper peculiar velocity [km/s]: a dx/dt with da/dt = H0 / sqrt(a)."""
    return -H0 * np.sqrt(a) / A_CAUSTIC * np.sin(K * (q - 0.5)) / K * BOX


def mean_density(low, high, a):
    """Mean density, in units of the mean of the box, between two positions."""
    return (origin(high, a) - origin(low, a)) / (high - low)


def write_grafic(path, along_x):
    """A field that depends on x only."""
    n = len(along_x)
    marker = struct.pack('<i', 4 * n * n)
    plane = marker + np.tile(along_x.astype('<f4'), n).tobytes() + marker
    head = struct.pack('<3i8f', n, n, n, BOX / n, 0, 0, 0, A_START, 1.0, 0.0, H0)
    with open(path, 'wb') as f:
        f.write(struct.pack('<i', 44) + head + struct.pack('<i', 44) + plane * n)


def make_ics(folder, n):
    os.makedirs(folder)
    edge = np.arange(n + 1) / n
    centre = (np.arange(n) + 0.5) / n
    fields = {'deltab': mean_density(edge[:-1], edge[1:], A_START) - 1,
              'velbx': velocity(origin(centre, A_START), A_START),
              'velcx': velocity(centre, A_START),
              'poscx': (place(centre, A_START) - centre) * BOX * H0 / 100}
    for kind in ('velb', 'velc', 'posc'):
        fields[kind + 'y'] = fields[kind + 'z'] = np.zeros(n)
    for name, along_x in fields.items():
        write_grafic('%s/ic_%s' % (folder, name), along_x)


def run(v, level):
    """(rms error of positions in boxes, relative L1 error of gas) with 2^level cells along each
    side."""
    n = 2 ** level
    folder = 'cells%d' % n
    make_ics(folder + '/ics', n)
    r = ptah.simulate(NAMELIST.format(level=level, end=A_END, omega_b=OMEGA_B), folder)
    s = read_ramses.load(ptah.output(r, 2))
    a, p = s.info['aexp'], s.part
    # Without ic_particle_ids the id does not identify the sheet of a particle; the order along x
    # does, since sheets do not cross.
    x = np.sort(p['position_x']).reshape(n, -1)
    exact = place((np.arange(n) + 0.5) / n, a)
    position = np.sqrt(((x - exact[:, None]) ** 2).mean())
    half = 0.5 ** (level + 1)
    centre = coordinate(s, 0)
    rho = mean_density(centre - half, centre + half, a) * OMEGA_B
    density = np.abs(s.cell['density'] - rho).mean() / OMEGA_B
    print('     %d cells: a = %.4f, %d steps, %.1f s; positions %.2e of the amplitude, density %.2e'
          % (n, a, s.info['nstep_coarse'], r.seconds, position / (a / A_CAUSTIC / K), density))
    for name in ('velocity_y', 'velocity_z'):
        v.check(name, np.abs(p[name]).max() / np.abs(p['velocity_x']).max(), 1e-6)
    return position / (a / A_CAUSTIC / K), density


def main():
    v = ptah.Verdict()
    coarse, fine = run(v, 5), run(v, 6)
    v.check('positions with 64 cells, rms over amplitude', fine[0], 0.01)
    v.check('gas density with 64 cells, L1', fine[1], 0.02)
    v.end()


if __name__ == '__main__':
    main()
