"""Frames of movies as RAMSES writes them, for tests."""
import glob
import hashlib
import os

import numpy as np


def read(path):
    """(time, widths), and the pixels, lowest row first, of a map."""
    with open(path, 'rb') as f:
        text = f.read()
    head = np.frombuffer(text, '<f8', 4, 4)
    nw, nh = np.frombuffer(text, '<i4', 2, 44)
    assert len(text) == 4 * nw * nh + 64, path
    return head, np.frombuffer(text, '<f4', nw * nh, 60).reshape(nh, nw)


def maps(folder):
    """Maps below a folder: {movieC/VAR_NNNNN.map: path}."""
    paths = glob.glob(os.path.join(folder, 'movie*', '*.map'))
    return {os.path.relpath(p, folder): p for p in sorted(paths)}


def digest(folder):
    """{movieC/NAME_NNNNN: checksum}, of maps and texts."""
    out = {}
    for path in glob.glob(os.path.join(folder, 'movie*', '*')):
        name = os.path.relpath(path, folder)
        with open(path, 'rb') as f:
            out[name] = hashlib.sha1(f.read()).hexdigest()
    return out
