#!/usr/bin/env python3
"""GRAFIC files of a rotating sphere in a uniform magnetic field, for collapse.nml.

    sphere.py DIRECTORY [CELLS]

In units of collapse.nml: a sphere of mass 1 and radius 0.25 in the middle of a box of side 1, which
turns as a solid body about an axis tilted by 30 degrees against the field, in a medium of a hundredth
of its density and the same pressure.
"""
import os
import struct
import sys

import numpy as np

RADIUS, SPIN, TILT, FIELD, SPEED = 0.25, 4.0, np.pi / 6, 2.0, 0.75  # SPEED: of sound in the sphere


def write(path, values):
    n = len(values)
    head = struct.pack('3i8f', n, n, n, 1 / n, 0, 0, 0, 1, 1, 0, 1)
    with open(path, 'wb') as f:
        for record in [head, *(plane.astype('f4').tobytes() for plane in values)]:
            f.write(struct.pack('i', len(record)) + record + struct.pack('i', len(record)))


def main():
    folder, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 32
    os.makedirs(folder, exist_ok=True)
    z, y, x = np.meshgrid(*3 * [(np.arange(n) + 0.5) / n - 0.5], indexing='ij')
    r = np.sqrt(x ** 2 + y ** 2 + z ** 2)
    inside = np.clip((RADIUS - r) * n + 0.5, 0, 1)  # the share of a cell at the surface
    density = 1 / (4 / 3 * np.pi * RADIUS ** 3) * (0.01 + 0.99 * inside)
    pressure = density.max() * SPEED ** 2 + 0 * r
    axis = SPIN * inside * np.array([np.sin(TILT), 0, np.cos(TILT)])[:, None, None, None]
    velocity = np.cross(axis, np.array([x, y, z]), axis=0)
    write(os.path.join(folder, 'ic_d'), density)
    write(os.path.join(folder, 'ic_p'), pressure)
    for name, values in zip('uvw', velocity):
        write(os.path.join(folder, 'ic_' + name), values)
    for name in 'xyz':
        for side in 'left', 'right':
            write(os.path.join(folder, 'ic_b%s%s' % (name, side)), FIELD * (name == 'z') + 0 * r)


if __name__ == '__main__':
    main()
