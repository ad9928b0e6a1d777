#!/usr/bin/env python3
"""lib/tree compared with scipy's cKDTree on a million points in a periodic box: the number of
neighbours of each point and the sum of their numbers, and the groups of connected pairs. Catches a
pair that is lost or found twice in situations that the few points of the unit test do not reach.
"""
# test: tier=check timeout=240
import os
import subprocess
import sys

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, 'build', 'tests', 'unit', 'tree_test')
RADIX, GRID = 2, 3


def soneira_peebles(rng, n, top=0.3, ratio=1.9, depth=13):
    """Spheres in spheres (Soneira & Peebles 1978)."""
    points = rng.random((max(n >> depth, 1) + 1, 3))
    radius = top
    for _ in range(depth):
        u = rng.normal(size=(2 * len(points), 3))
        u *= (rng.random(len(u)) ** (1 / 3) / np.linalg.norm(u, axis=1))[:, None]
        points = np.repeat(points, 2, axis=0) + radius * u
        radius /= ratio
    return points[:n] % 1


def sets(rng, n):
    yield 'random', rng.random((n, 3)), 0.5 / n ** (1 / 3)
    yield 'clustered', soneira_peebles(rng, n), 0.05 / n ** (1 / 3)
    places = rng.random((n // 8, 3))
    yield 'coincident', places[rng.integers(0, len(places), n)], 0.6 / n ** (1 / 3)


def wanted(x, radius):
    pairs = cKDTree(x, boxsize=1).query_pairs(radius, output_type='ndarray')
    n = len(x)
    number = np.bincount(pairs.ravel(), minlength=n)
    total = (np.bincount(pairs[:, 0], weights=pairs[:, 1], minlength=n) +
             np.bincount(pairs[:, 1], weights=pairs[:, 0], minlength=n)).astype(np.int64)
    graph = coo_matrix((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    group = connected_components(graph, directed=False)[1]
    least = np.full(group.max() + 1, n)
    np.minimum.at(least, group, np.arange(n))
    return least[group], number, total


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 20261122
    rng = np.random.default_rng(seed)
    bad = 0
    for name, x, radius in sets(rng, 1000000):
        x = np.where(x < 1, x, 0)
        x.astype('f8').tofile('points')
        want = wanted(x, radius)
        print('%s: %d points, %d links, %d groups' % (
            name, len(x), want[1].sum() // 2, len(np.unique(want[0]))), flush=True)
        for method in RADIX, GRID:
            with open('points', 'rb') as f:
                subprocess.run([TOOL, str(method), repr(radius), 'answer'], stdin=f, check=True)
            got = np.fromfile('answer', np.int64).reshape(-1, 3).T
            for what, a, b in zip(['labels', 'neighbours', 'sums'], want, got):
                if not np.array_equal(a, b):
                    print('FAILED: method %d, %s: %d %s differ (seed %d)' % (
                        method, name, np.sum(a != b), what, seed))
                    bad += 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
