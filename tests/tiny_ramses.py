"""Writes RAMSES binary checkpoints of any tree, valid or not, and finds records in existing ones,
to damage them.

    write('output_00001', octs, levelmin=2)     octs: {level: [(x, y, z, split)]}, integer
                                                coordinates, split: bit mask of cells; amr files
                                                only; owner=..., ncpu=..., walls=... for a
                                                k-section tree of several ranks
    gas('output_00001', octs)                   the hydro file to it, for one rank: the same gas
                                                at rest everywhere
    r = Records(path); r[k]                     (byte of the payload, its length) of record k ≥ 1
    alter_particles(path, to, change)           a copy with other particles
"""
import glob
import os
import shutil
import struct

import numpy as np


class Records(list):
    """Positions of the records of a Fortran file; record k is r[k]."""

    def __init__(self, path):
        super().__init__([None])
        with open(path, 'rb') as f:
            data = f.read()
        at = 0
        while at < len(data):
            n, = struct.unpack_from('<i', data, at)
            self.append((at + 4, n))
            at += n + 8


def put(path, byte, fmt, value):
    with open(path, 'r+b') as f:
        f.seek(byte)
        f.write(struct.pack('<' + fmt, value))


def get(path, byte, fmt):
    with open(path, 'rb') as f:
        f.seek(byte)
        return struct.unpack('<' + fmt, f.read(struct.calcsize('<' + fmt)))[0]


def record(f, values, dtype='<i4'):
    body = values if isinstance(values, bytes) else np.asarray(values, dtype).tobytes()
    mark = struct.pack('<i', len(body))
    f.write(mark + body + mark)


def amr_file(path, octs, rank, ncpu, owner, domains, ordering, nlevel):
    # own octs, and the oct of level 1, which every rank has
    here = {(l, r): [o for o in octs.get(l, []) if owner(l, o) == r and (l == 1 or r == rank)]
            for l in range(1, nlevel + 1) for r in range(1, ncpu + 1)}
    numbl = np.zeros((nlevel, ncpu), '<i4')
    for l, r in here:
        numbl[l - 1, r - 1] = len(here[l, r])
    numbtot = np.zeros((nlevel, 10), '<i4')
    for l in range(1, nlevel + 1):
        numbtot[l - 1, 0] = len(octs.get(l, []))
    n = int(numbl.sum())
    with open(path, 'wb') as f:
        for x in (ncpu, 3, [1, 1, 1], nlevel, 1000, 0, n):
            record(f, x)
        record(f, 1.0, '<f8')
        record(f, [1, 1, 1])
        for x in ([1.0], [1.0], 0.5, np.zeros(nlevel), np.zeros(nlevel)):
            record(f, x, '<f8')
        record(f, [3, 3])
        for x in ([0] * 3, [0, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0]):
            record(f, x, '<f8')
        for x in (numbl, numbl, numbl, numbtot, [0] * 5):
            record(f, x)
        record(f, ordering.ljust(128).encode())
        for x, kind in domains:
            record(f, x, kind)
        for _ in range(3):
            record(f, [1])
        for l, r in here:
            block(f, l, here[l, r])


def block(f, l, octs):
    if not octs:
        return
    n = len(octs)
    for _ in range(3):
        record(f, range(1, n + 1))
    for d in range(3):
        record(f, [(o[d] + 0.5) * 0.5 ** (l - 1) for o in octs], '<f8')
    for _ in range(7):
        record(f, [0] * n)
    for c in range(8):
        record(f, [o[3] >> c & 1 for o in octs])
    for _ in range(8):
        record(f, [1] * n)
    for c in range(8):
        record(f, [o[3] >> c & 1 for o in octs])


def write(folder, octs, levelmin=1, ncpu=1, owner=lambda level, oct_: 1, ordering='hilbert',
          domains=None, nlevel=5):
    os.makedirs(folder)
    with open(os.path.join(folder, 'info_00001.txt'), 'w') as f:
        f.write('ncpu        =%11d\nndim        =          3\nlevelmin    =%11d\n'
                'levelmax    =%11d\n' % (ncpu, levelmin, nlevel))
        f.write('nstep_coarse=          3\n\nboxlen      =  0.100000000000000E+01\n'
                'time        =  0.500000000000000E+00\n')
        f.write('unit_l      =  1.0\nunit_d      =  1.0\nunit_t      =  1.0\n')
    if domains is None:
        domains = [(np.linspace(0, 8.0 ** (nlevel + 1), ncpu + 1), '<f8')]
    for rank in range(1, ncpu + 1):
        amr_file(os.path.join(folder, 'amr_00001.out%05d' % rank), octs, rank, ncpu, owner, domains,
                 ordering, nlevel)


def gas(folder, octs, nlevel=5):
    with open(os.path.join(folder, 'hydro_00001.out00001'), 'wb') as f:
        for x in (1, 5, 3, nlevel, 0):
            record(f, x)
        record(f, 1.4, '<f8')
        for l in range(1, nlevel + 1):
            n = len(octs.get(l, []))
            record(f, l)
            record(f, n)
            for x in 8 * (1.0, 0.0, 0.0, 0.0, 1.0) if n else ():
                record(f, n * [x], '<f8')


def grow(split):
    """A tree from {level: set of (x, y, z) of split cells}: the octs of all levels."""
    octs, here, level = {}, {(0, 0, 0)}, 1
    while here:
        cells = split.get(level, set())
        octs[level] = [o + (sum(1 << c for c in range(8)
                                if tuple(2 * o[d] + (c >> d & 1) for d in range(3)) in cells),)
                       for o in sorted(here)]
        here = set(cells)
        level += 1
    return octs


def all_cells(level):
    n = range(2 ** level)
    return {(x, y, z) for x in n for y in n for z in n}


def alter_particles(path, to, change):
    """Copies a checkpoint of one rank with particle columns, {name: array}, altered by `change`;
    checksums and exact values, which would reveal the change, are not copied."""
    skip = shutil.ignore_patterns('exact*', 'checksums*', 'header_*')
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(path, to, ignore=skip)
    with open(os.path.join(to, 'part_file_descriptor.txt')) as f:
        rows = [[w.strip() for w in line.split(',')] for line in f if line[0] != '#']
    part, = glob.glob(os.path.join(to, 'part_*.out00001'))
    places = Records(part)
    with open(part, 'r+b') as f:
        column = {}
        for k, (_, name, letter) in enumerate(rows):
            at, n = places[9 + k]
            f.seek(at)
            kind = {'d': '<f8', 'q': '<i8', 'i': '<i4', 'b': 'i1'}[letter]
            column[name] = at, np.frombuffer(f.read(n), kind).copy()
        change({name: x for name, (_, x) in column.items()})
        for at, x in column.values():
            f.seek(at)
            f.write(x.tobytes())
