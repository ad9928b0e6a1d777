"""Magnetic helicity in ideal magnetohydrodynamics: the mean of A·B of a periodic box without a mean
field is conserved, while flow and field exchange energy.

    helicity.py [long]   an ABC field (Dombre et al. 1986) in a flow of a fifth of its Alfven speed,
                         for 0.7 of the time in which Alfven waves cross the box: the change of
                         helicity by pk, of 16 and 32 cells a side (long: and 64), and on a mesh
                         with a finer region

Found: -0.0426, -0.00519, -0.00064 with hlld, -0.119, -0.0152 with llf: third order; the energy of
the field changes by -0.03, 0.012, 0.018. -0.0383 with an eighth of the box refined once.

Example of a fault caught: a diffusion that is not of the scheme, forces at edges of the boundary of
levels that differ from those of the finer level.
"""
# test: tier=check timeout=180
# test: long tier=long timeout=1200
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import magnetic  # noqa: E402

SHARES = (1, .8, .6)
BALL = {'m_refine': '20*1e-9', 'r_refine': '20*0.4', 'exp_refine': '20*10',
        **{d + '_refine': '20*0.5' for d in 'xyz'}}


def potential(d, x):
    return (SHARES[d] * np.sin(2 * np.pi * x[(d + 2) % 3]) +
            SHARES[(d + 2) % 3] * np.cos(2 * np.pi * x[(d + 1) % 3])) / (2 * np.pi)


def state(x):
    one = np.ones(x.shape[1:])
    return (one, *(.3 * np.sin(2 * np.pi * x[(d + 1) % 3] + d) for d in range(3)), one)


def totals(path, mesh):
    """Means of A·B and of the energy of the field."""
    r = ptah.Run([ptah.program('pk'), '-q', '--species', 'helicity,B', '--mesh', str(mesh), path],
                 '.')
    rows = [line.split('\t') for line in r.out.splitlines() if not line.startswith('#')]
    return [sum(float(row[2]) * float(row[5]) for row in rows if row[0] == name)
            for name in ('helicity', 'B')]


def drift(levels, solver, refine=None):
    n = 2 ** levels[1]
    gas = {'riemann': "'%s'" % solver, 'riemann2d': "'%s'" % solver}
    text = magnetic.namelist(3, levels, gas, .5, refine)
    r = magnetic.evolve('%s%d_%d' % (solver, *levels), text, 3, levels[1], state, potential)
    first, last = totals(r.start, 2 * n), totals(r.outputs[-1], 2 * n)
    print('%s, levels %d to %d: helicity %.6f to %.6f, energy %.6f to %.6f' %
          (solver, *levels, first[0], last[0], first[1], last[1]))
    exact = (sum(s ** 2 for s in SHARES)) / (2 * np.pi)
    return last[0] / first[0] - 1, first[0] / exact


def main():
    v = ptah.Verdict()
    tops = (4, 5, 6) if sys.argv[1:] == ['long'] else (4, 5)
    for solver, limit in ('hlld', .05), ('llf', .14):
        lost = []
        for l in tops:
            change, share = drift((l, l), solver)
            # a field with the values of cells, each with two windows of a cell
            v.check('%s, %d cells: helicity at the start' % (solver, 2 ** l),
                    abs(share / np.sinc(.5 ** l) ** 4 - 1), 2e-3)
            v.same('%s, %d cells: it is lost, not made' % (solver, 2 ** l), change < 0, True)
            lost.append(abs(change))
        v.check('%s: helicity lost by 16 cells' % solver, lost[0], limit)
        for k in range(1, len(lost)):
            v.check('%s: by twice as many, of this' % solver, lost[k] / lost[k - 1], .14)
    change = drift((4, 5), 'hlld', BALL)[0]
    v.check('with a finer region', abs(change), .042)
    v.end()


if __name__ == '__main__':
    main()
