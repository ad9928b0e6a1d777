#!/usr/bin/env python3
"""Particles of one mass are refined alike whether their masses or their numbers tell which cells
are dense: with mass_cut_refine beyond all masses a run deposits numbers, without it masses, and
numbers only where a cell is too close to the threshold. Digests are equal, on one rank and on two,
for particles at random, with gas, and on a lattice that has exactly as many in each cell as the
threshold. On two ranks masses decide only where a level has 2048 octs for each.

Examples of faults caught: a cell at the threshold that masses decide; gas that counts twice; a rank
that needs numbers alone; numbers without those of the other rank.
"""
# test: tier=check timeout=240 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

NUMBERS = ['refine_params/mass_cut_refine=1e30']


def lattice(side):
    """Centres of the cells of a mesh, from −1/2 to 1/2."""
    x = (np.arange(side) + 0.5) / side - 0.5
    return np.stack(np.meshgrid(x, x, x, indexing='ij'), -1).reshape(-1, 3)


def make(folder, x):
    """A folder with initial conditions: particles at rest, of one mass."""
    os.makedirs(os.path.join(folder, 'ics'))
    mass = np.full((len(x), 1), 1 / len(x))
    np.savetxt(os.path.join(folder, 'ics', 'ic_part'), np.hstack([x, 0 * x, mass]), fmt='%.17g')


def run(v, name, text, folder, base=3):
    want = None
    for ranks, settings in ((1, NUMBERS), (1, []), (2, [])):
        where = os.path.join(folder, 'run%d%d' % (ranks, len(settings)))
        r = ptah.simulate(text, where, ranks, settings=settings)
        got = ''.join(ptah.digest(path) for path in r.outputs)
        if want is None:
            want, octs = got, read_ramses.load(r.outputs[-1]).octs
            v.same(name + ': there are refined cells', max(l for l in octs if octs[l]) > base, True)
            continue
        v.same('%s: lines of the digest that differ, %d ranks' % (name, ranks),
               ptah.changed(got, want), [])


def main():
    v = ptah.Verdict()
    rng = np.random.default_rng(8)
    x = rng.uniform(-0.5, 0.5, (1500, 3))
    x[:700] *= 0.3
    make('random', x)
    make('random0', x)
    make('lattice', lattice(8))
    run(v, 'random', ptah.ascii_box((3, 5), 4, 4, 'm_refine=6.0,2.5', '', '../ics'), 'random')
    run(v, 'none is enough', ptah.ascii_box((3, 4), 2, 2, 'm_refine=0.0', '', '../ics'), 'random0')
    run(v, 'lattice', ptah.ascii_box((3, 4), 2, 2, 'm_refine=1.0', '', '../ics'), 'lattice')
    make('gas', x)
    run(v, 'gas', ptah.ascii_box((3, 5), 4, 4, 'm_refine=6.0,2.5\nmass_sph=1e-3', ics='../ics'),
        'gas')
    y = rng.uniform(-0.5, 0.5, (8000, 3))
    make('many', y)
    run(v, 'many octs', ptah.ascii_box((5, 6), 2, 2, 'm_refine=1.5', '', '../ics'), 'many', 5)
    # 64 particles, each alone in the middle of a cell: only the second rank is in doubt
    z = lattice(32)
    far = np.abs(y - 0.2).max(1) > 0.2
    make('few', np.vstack([y[far], z[np.abs(z - 0.1875).max(1) < 0.0625]]))
    run(v, 'one in doubt', ptah.ascii_box((5, 6), 2, 1, 'm_refine=1.0', '', '../ics'), 'few', 5)
    v.end()


if __name__ == '__main__':
    main()
