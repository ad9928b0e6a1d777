"""Checkpoints of uniform meshes for the tests, written by build/tests/toy/grid_make from arrays."""
import os
import subprocess

import numpy as np

import ptah

FLOW = ('lnrho', 'ux', 'uy', 'uz')
POTENTIAL = ('ax', 'ay', 'az')


def places(n, length):
    """x, y, z of the centres of the cells, [nz][ny][nx]."""
    x = [(np.arange(n[d]) + 0.5) * length[d] / n[d] for d in range(3)]
    z, y, x = np.meshgrid(x[2], x[1], x[0], indexing='ij')
    return x, y, z


def smooth(n, length, names, seed=1):
    """Fields of a few long waves with random amplitudes and phases."""
    rng = np.random.default_rng(seed)
    at = places(n, length)
    fields = {}
    for name in names:
        f = np.zeros(tuple(reversed(n)))
        for _ in range(6):
            wave = rng.integers(-2, 3, 3)
            phase = sum(2 * np.pi * wave[d] * at[d] / length[d] for d in range(3))
            f += rng.normal() * np.cos(phase + rng.uniform(0, 6)) * 0.2
        fields[name] = f
    return fields


def write(folder, number, n, length, fields, keys=(), order=6):
    """Writes folder/output_NNNNN; returns its path."""
    maker = os.path.join(ptah.ROOT, 'build', 'tests', 'toy', 'grid_make')
    if not os.access(maker, os.X_OK):
        ptah.skip('build/tests/toy/grid_make is not built')
    raw = os.path.join(folder, 'raw')
    os.makedirs(folder, exist_ok=True)
    np.stack([np.ascontiguousarray(f, '<f8') for f in fields.values()]).tofile(raw)
    subprocess.run([maker, folder, str(number), *map(str, n), *map(repr, map(float, length)),
                    str(order), raw, *fields, *keys], check=True)
    os.remove(raw)
    return os.path.join(folder, 'output_%05d' % number)


def curl(a, h, order=6):
    """Curl by the centred differences of the solver."""
    weights = {2: [1 / 2], 4: [2 / 3, -1 / 12], 6: [3 / 4, -3 / 20, 1 / 60],
               8: [4 / 5, -1 / 5, 4 / 105, -1 / 280]}[order]

    def d(f, axis):
        s = 0
        for k, w in enumerate(weights, 1):
            s = s + w * (np.roll(f, -k, 2 - axis) - np.roll(f, k, 2 - axis))
        return s / h[axis]
    return [d(a[2], 1) - d(a[1], 2), d(a[0], 2) - d(a[2], 0), d(a[1], 0) - d(a[0], 1)]
