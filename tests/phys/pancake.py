"""Zel'dovich's pancake: a plane wave that collapses at a = 0.5 in an Einstein-de Sitter universe, followed to a = 0.35.

Until the caustic the solution is exact: x = q - (a / a_c) sin(k q) / k. Gas and dark matter follow the same flow, the gas being
cold. Limits: particles within 0.03 of a base cell (rms), gas density within 3 % (L1), nothing sideways.
A one-line fault it catches: a factor in the Poisson source, a growth factor, the unit of velocities, a missing half kick.
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

N, BOX, H0 = 32, 64.0, 50.0        # cells, comoving Mpc, km/s/Mpc
A_START, A_CAUSTIC, A_END = 0.05, 0.5, 0.35
K = 2 * np.pi                      # of the box

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
aout=%g
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics'
omega_b=0.1
/
&AMR_PARAMS
levelmin=5
levelmax=6
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
&REFINE_PARAMS
m_refine=2*8.
interpol_var=1
interpol_type=0
/
""" % A_END


def place(q, a):
    """Comoving position, in boxes, of the mass that starts at q; the wave collapses in the middle of the box."""
    return q - a / A_CAUSTIC * np.sin(K * (q - 0.5)) / K


def origin(x, a):
    """The q of the mass at x."""
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
    """A field that depends on x alone."""
    marker = struct.pack('<i', 4 * N * N)
    plane = marker + np.tile(along_x.astype('<f4'), N).tobytes() + marker
    head = struct.pack('<3i8f', N, N, N, BOX / N, 0, 0, 0, A_START, 1.0, 0.0, H0)
    with open(path, 'wb') as f:
        f.write(struct.pack('<i', 44) + head + struct.pack('<i', 44) + plane * N)


def make_ics():
    os.makedirs('ics')
    edge = np.arange(N + 1) / N
    centre = (np.arange(N) + 0.5) / N
    write_grafic('ics/ic_deltab', mean_density(edge[:-1], edge[1:], A_START) - 1)
    write_grafic('ics/ic_velbx', velocity(origin(centre, A_START), A_START))
    write_grafic('ics/ic_velcx', velocity(centre, A_START))
    write_grafic('ics/ic_poscx', (place(centre, A_START) - centre) * BOX * H0 / 100)
    for kind in ('velb', 'velc', 'posc'):
        for x in 'yz':
            write_grafic('ics/ic_%s%s' % (kind, x), np.zeros(N))


def main():
    v = ptah.Verdict()
    make_ics()
    r = ptah.simulate(NAMELIST, '.')
    s = read_ramses.load(ptah.output(r, 2))
    a, p = s.info['aexp'], s.part
    print('     a = %.4f, %d steps, %.1f s, octs a level %s' % (a, s.info['nstep_coarse'], r.seconds, s.octs))
    # Without ic_particle_ids a particle's place in the sheet is not told by its id: the sheets are told apart by order.
    x = np.sort(p['position_x']).reshape(N, -1)
    exact = place((np.arange(N) + 0.5) / N, a)
    v.check('positions, rms', np.sqrt(((x - exact[:, None]) ** 2).mean()) * N, 0.03, ' base cells')
    for name in ('velocity_y', 'velocity_z'):
        v.check(name, np.abs(p[name]).max() / np.abs(p['velocity_x']).max(), 1e-6)
    dx = 0.5 ** s.level.astype(float)
    centre = coordinate(s, 0)
    rho = mean_density(centre - dx / 2, centre + dx / 2, a) * 0.1
    v.check('gas density, L1', (np.abs(s.cell['density'] - rho) * s.volume).sum() / (rho * s.volume).sum(), 0.03)
    v.end()


if __name__ == '__main__':
    main()
