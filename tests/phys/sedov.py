"""Sedov's blast wave in 3-D on an adaptive mesh, against the similarity solution (Sedov 1959; E =
1, rho = 1, gamma = 1.4).

    sedov.py LEVELMAX

Limits: energy conserved to 1e-13; kinetic energy 0.218729 of the total within 0.01 with 256 cells a
side (Quokka's test_hydro3d_blast), 0.02 with 128; radius of the shock within one cell of (E t^2 /
(alpha rho))^(1/5); the density jump within 0.45 and 0.6 of its value for so thin a shell; left and
right equal. Example of a fault caught: a flux correction with the wrong weight, an energy that is
not refined with its momentum.
"""
# test: 7 tier=check timeout=300 ranks=2
# test: 8 tier=long timeout=3600 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import blast  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

GAMMA, ALPHA = 1.4, 0.851060  # E t^2 / (rho r^5) for gamma = 1.4 in spherical symmetry
KINETIC_SHARE = 0.218729
JUMP = (GAMMA + 1) / (GAMMA - 1)
# end time, limits: kinetic fraction, missing part of the jump
ENDS = {7: (0.03, 0.02, 0.45), 8: (0.05, 0.01, 0.4)}


def energies(s):
    c, volume = s.cell, s.volume
    kinetic = 0.5 * c['density'] * sum(c['velocity_' + x] ** 2 for x in 'xyz') * volume
    return (c['pressure'] / (GAMMA - 1) * volume).sum(), kinetic.sum()


def positions(s):
    start = read_ramses.starts(s.level)
    x = np.zeros((3, len(start)))
    for axis in range(3):
        for b in range(read_ramses.CURVE_LEVELS):
            x[axis] += (start >> (3 * b + axis) & 1) * 2.0 ** b
    return x * 0.5 ** read_ramses.CURVE_LEVELS + 0.5 ** (s.level.astype(float) + 1) - 0.5


def shock_radius(s, r, levelmax):
    """Radius at which the shell-averaged density is highest."""
    edges = np.arange(0, 0.5, 0.5 ** levelmax)
    weight = np.histogram(r, edges, weights=s.volume)[0]
    mass = np.histogram(r, edges, weights=s.volume * s.cell['density'])[0]
    mean = mass / np.maximum(weight, 1e-30)
    return 0.5 * (edges[mean.argmax()] + edges[mean.argmax() + 1])


def main():
    v = ptah.Verdict()
    levelmax = int(sys.argv[1])
    end, share_limit, jump_limit = ENDS[levelmax]
    run = ptah.simulate(blast.NAMELIST.format(levelmax=levelmax, end=end), '.', ranks=2)
    first, s = (read_ramses.load(ptah.output(run, n)) for n in (1, 2))
    print('     %d steps, %.1f s, octs a level %s' % (s.info['nstep_coarse'], run.seconds, s.octs))
    before, (internal, kinetic) = sum(energies(first)), energies(s)
    share = kinetic / (internal + kinetic)
    v.check('energy', abs((internal + kinetic) / before - 1), 1e-13)
    v.check('kinetic share of the energy %.4f, less %.6f' % (share, KINETIC_SHARE),
            abs(share - KINETIC_SHARE), share_limit)
    x = positions(s)
    r = np.sqrt((x ** 2).sum(0))
    expected = (s.info['time'] ** 2 / ALPHA) ** 0.2
    error = abs(shock_radius(s, r, levelmax) - expected) * 2 ** levelmax
    v.check('radius of the shock, less %.4f' % expected, error, 1.0, ' finest cells')
    v.check('density jump missed', 1 - s.cell['density'].max() / JUMP, jump_limit)
    halves = [s.cell['density'][(x[0] > 0) == a].sum() for a in (False, True)]
    v.check('left and right', abs(halves[0] / halves[1] - 1), 1e-10)
    v.end()


if __name__ == '__main__':
    main()
