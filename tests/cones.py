"""Reads slices of light cones in RAMSES's format, for tests."""
import glob

import numpy as np


def records(path):
    """The records of a Fortran file."""
    with open(path, 'rb') as f:
        data = f.read()
    at, found = 0, []
    while at < len(data):
        n = int.from_bytes(data[at:at + 4], 'little')
        found.append(data[at + 4:at + 4 + n])
        at += n + 8
    return found


def particles(folder):
    """Rows x, vx, y, vy, z, vz, redshift of all slices in folders of this name or pattern."""
    rows = []
    for path in sorted(glob.glob(folder + '/*.out?????')):
        block = records(path)[3:]
        for k in range(0, len(block), 7):
            rows.append(np.stack([np.frombuffer(b, '<f4') for b in block[k:k + 7]], 1))
    return np.concatenate(rows)
