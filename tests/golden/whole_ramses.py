"""Reads the whole content of a RAMSES binary checkpoint, of any number of dimensions and variables,
bit by bit, including ghosts and octs beyond the boundary. The reader shares no code with the
programs, nor with read_ramses.py, which reads leaf cells.

    s = load('output_00002')
    s.ndim, s.ncpu, s.nboundary, s.n (nx, ny, nz), s.levelmax, s.ngridmax, s.ordering, s.gamma
    s.file[r].octs[l, b]       of rank r (from 0): octs of level l in list b (ranks, then
                               boundaries), a dict of arrays index, x (integer coordinates of the
                               level, the box at 0.., beyond it -1 or 2^(l-1)), father, nbor, son,
                               cpu_map, flag
    s.file[r].value[kind][l, b]  [cell][variable][oct], kind: hydro, grav; as bits (uint64)
    s.file[r].coarse           son, flag1, cpu_map of the coarse cells
    cells(s, kind)             {level: (places, bits [oct][cell][variable])} of own octs of all
                               ranks, sorted by place
    particles(s)               {name: values}, sorted by id
    links(s)                   list of what is wrong with the links between octs
"""
import glob
import os
import re

import numpy as np

from read_ramses import PART_TYPES, Records, read_descriptor


class File:
    def __init__(self):
        self.octs, self.value, self.coarse = {}, {}, None


class Whole:
    def __init__(self):
        self.file, self.part, self.skip = [], None, None


def amr_head(s, f):
    ncpu, ndim = (int(f.read()[0]) for _ in range(2))
    n = [int(x) for x in f.read()]
    levelmax, ngridmax, nboundary, current = (int(f.read()[0]) for _ in range(4))
    boxlen = float(f.read('<f8')[0])
    f.skip(11)
    lists = [f.read().reshape(levelmax, ncpu) for _ in range(3)]
    f.skip()
    bound = [np.zeros((levelmax, 0), int)] * 3
    if nboundary:
        bound = [f.read().reshape(levelmax, nboundary) for _ in range(3)]
    f.skip()
    ordering = f.read('S128')[0].decode().strip()
    f.skip({'ksection': 10, 'bisection': 5}.get(ordering, 1))
    head = dict(ncpu=ncpu, ndim=ndim, n=n, levelmax=levelmax, nboundary=nboundary,
                ordering=ordering, boxlen=boxlen)
    s.__dict__.update(head, ngridmax=ngridmax)
    return [np.concatenate(p, axis=1) for p in zip(lists, bound)], current


def read_amr(s, path):
    f, out = Records(path), File()
    (out.first, out.last, count), out.current = amr_head(s, f)
    out.ngridmax = s.ngridmax
    out.coarse = [f.read() for _ in range(3)]
    nd, nc = s.ndim, 2 ** s.ndim
    for l in range(1, s.levelmax + 1):
        for b in range(s.ncpu + s.nboundary):
            if not count[l - 1, b]:
                continue
            o = {'index': f.read()}
            o['next'], o['prev'] = f.read(), f.read()
            o['x'] = np.stack([f.read('<f8') for _ in range(nd)], 1)
            o['father'] = f.read()
            o['nbor'] = np.stack([f.read() for _ in range(2 * nd)], 1)
            for name in ('son', 'cpu_map', 'flag'):
                o[name] = np.stack([f.read() for _ in range(nc)], 1)
            out.octs[l, b] = o
    assert f.ended(), path
    if s.skip is None:
        first = np.concatenate([out.octs[1, b]['x'] for b in range(s.ncpu) if (1, b) in out.octs])
        s.skip = np.floor(first.min(axis=0))
    for (l, b), o in out.octs.items():
        at = (o['x'] - s.skip) * 2.0 ** (l - 1) - 0.5
        o['x'] = np.rint(at).astype(int)
        assert np.abs(at - o['x']).max() == 0, '%s: centres of level %d' % (path, l)
    return out


def read_values(s, path, kind):
    f, out = Records(path), {}
    ncpu, nvar = int(f.read()[0]), int(f.read()[0])
    if kind != 'grav':
        assert int(f.read()[0]) == s.ndim
    levelmax, nboundary = int(f.read()[0]), int(f.read()[0])
    assert (ncpu, levelmax, nboundary) == (s.ncpu, s.levelmax, s.nboundary), path
    if kind != 'grav':
        s.gamma = float(f.read('<f8')[0])
    for l in range(1, s.levelmax + 1):
        for b in range(s.ncpu + s.nboundary):
            level, n = int(f.read()[0]), int(f.read()[0])
            assert level == l, path
            if n:
                bits = np.stack([f.read('<u8') for _ in range(2 ** s.ndim * nvar)])
                out[l, b] = bits.reshape(2 ** s.ndim, nvar, n)
    assert f.ended(), path
    return out


def read_particles(s, folder, number):
    path = os.path.join(folder, 'part_file_descriptor.txt')
    if not os.path.exists(path):
        return None
    columns = {}
    for r in range(s.ncpu):
        f = Records(os.path.join(folder, 'part_%s.out%05d' % (number, r + 1)))
        f.skip(2)
        n = int(f.read()[0])
        f.skip(5)
        for name, letter in read_descriptor(path):
            raw = f.read('u1')
            size = len(raw) // n if n else 0
            kind = np.dtype(PART_TYPES[letter])
            if n and kind.itemsize != size:
                kind = np.dtype('<i%d' % size)
            columns.setdefault(name, []).append(raw.view(kind))
    return {name: np.concatenate(c) for name, c in columns.items()}


def load(folder):
    s = Whole()
    number = re.search(r'info_(\d{5})\.txt', ' '.join(os.listdir(folder))).group(1)
    for path in sorted(glob.glob(os.path.join(folder, 'amr_*.out*'))):
        s.file.append(read_amr(s, path))
        for kind in ('hydro', 'grav'):
            other = path.replace('amr_' + number, kind + '_' + number)
            if os.path.exists(other):
                s.file[-1].value[kind] = read_values(s, other, kind)
    assert len(s.file) == s.ncpu
    s.part = read_particles(s, folder, number)
    s.names = {}
    path = os.path.join(folder, 'hydro_file_descriptor.txt')
    if os.path.exists(path):
        s.names['hydro'] = [name for name, _ in read_descriptor(path)]
    return s


def place(x, l):
    """A number for each position: coordinates with one oct beyond the box on each side."""
    side = 2 ** (l - 1) + 2
    out = np.zeros(len(x), np.int64)
    for d in range(x.shape[1]):
        out = out * side + x[:, d] + 1
    return out


def gather(s, kind, lists):
    """{level: (positions, list, bits)} of octs in the lists of all files, sorted by position.

    lists: function from a rank to the numbers of its lists that are wanted"""
    out = {}
    for l in range(1, s.levelmax + 1):
        rows = []
        for r, f in enumerate(s.file):
            for b in lists(r):
                if (l, b) in f.octs:
                    at = place(f.octs[l, b]['x'], l)
                    if kind:
                        bits = f.value[kind][l, b].transpose(2, 0, 1)
                    else:
                        bits = f.octs[l, b]['son'] != 0
                    rows.append((at, np.full(len(at), b), bits))
        if rows:
            at, b, bits = (np.concatenate(c) for c in zip(*rows))
            order = np.argsort(at, kind='stable')
            out[l] = (at[order], b[order], bits[order])
    return out


def cells(s, kind):
    """{level: (positions, bits)} of own octs. kind: hydro, grav, or None for refined cells."""
    return {l: (at, bits) for l, (at, _, bits) in gather(s, kind, lambda r: [r]).items()}


def beyond(s, kind):
    """{level: (positions, region from 0, bits)} of octs beyond the boundary, each once."""
    out = {}
    for l, (at, b, bits) in gather(s, kind, lambda r: range(s.ncpu, s.ncpu + s.nboundary)).items():
        at, once = np.unique(at, return_index=True)
        out[l] = (at, b[once] - s.ncpu, bits[once])
    return out


def particles(s):
    order = np.argsort(s.part['identity'], kind='stable')
    return {name: c[order] for name, c in s.part.items()}


def links(s):
    wrong = []

    def check(good, what):
        if not np.all(good):
            wrong.append('%s: %d' % (what, np.size(good) - np.count_nonzero(good)))

    nd, nc = s.ndim, 2 ** s.ndim
    ncoarse = s.n[0] * s.n[1] * s.n[2]
    bits = np.array([[c >> d & 1 for d in range(nd)] for c in range(nc)])
    for r, f in enumerate(s.file):
        n = f.current + 1
        x, level, region = np.zeros((n, nd), int), np.zeros(n, int), np.full(n, -1)
        seen = np.zeros(n, int)
        for (l, b), o in f.octs.items():
            x[o['index']], level[o['index']] = o['x'], l
            region[o['index']] = b - s.ncpu if b >= s.ncpu else -1
            np.add.at(seen, o['index'], 1)
            check(f.first[l - 1, b] == o['index'][0] and f.last[l - 1, b] == o['index'][-1],
                  'file %d: ends of lists' % r)
            check(o['next'] == np.append(o['index'][1:], 0), 'file %d: next' % r)
        check(seen[1:] == 1, 'file %d: octs in lists' % r)
        where = {(level[i], *x[i]): i for i in range(1, f.current + 1)}

        def cell_of(k, l):
            """Coordinates of cells k of level l from their index; of level 0: coarse cells."""
            if l == 0:
                i = k - 1
                at = np.stack([i % s.n[0], i // s.n[0] % s.n[1], i // (s.n[0] * s.n[1])], 1)[:, :nd]
                return at - s.skip.astype(int), np.full(len(k), True)
            cell, octs = (k - ncoarse - 1) // f.ngridmax, (k - ncoarse - 1) % f.ngridmax + 1
            good = (k > ncoarse) & (octs <= f.current)
            octs = np.where(good, octs, 0)
            return 2 * x[octs] + bits[np.where(good, cell, 0)], good & (level[octs] == l)

        for (l, b), o in f.octs.items():
            here = 'file %d, level %d, list %d: ' % (r, l, b)
            at, good = cell_of(o['father'], l - 1)
            check(good & (at == o['x']).all(axis=1), here + 'father')
            for j in range(2 * nd):
                want = o['x'].copy()
                want[:, j // 2] += 1 if j % 2 else -1
                side = np.array([2 ** (l - 1) * (1 if s.n[d] == 1 else 10 ** 6) for d in range(nd)])
                low = np.array([-2 if l > 1 else -1] * nd)
                at, good = cell_of(np.maximum(o['nbor'][:, j], 1), l - 1)
                away = o['nbor'][:, j] == 0
                periodic = np.array([n == 1 for n in s.n[:nd]])
                want = np.where(periodic, want % side, want)
                if l == 1:
                    wrap = np.array(s.n[:nd])
                    want = np.where(periodic, 0, (want - low) % wrap + low)
                check(away | (good & (at == want).all(axis=1)), here + 'nbor %d' % j)
                if b == r:
                    check(~away, here + 'nbor %d is missing' % j)
            for c in range(nc):
                son = o['son'][:, c]
                has = son > 0
                check((level[son[has]] == l + 1) &
                      (x[son[has]] == 2 * o['x'][has] + bits[c]).all(axis=1), here + 'son')
                there = np.array([(l + 1, *p) in where for p in 2 * o['x'] + bits[c]], bool)
                check(there == has, here + 'son is there')
            if b >= s.ncpu:
                check(o['cpu_map'] == 0, here + 'cpu_map')
                away = (o['x'] < 0) | (o['x'] >= 2 ** (l - 1))
                check(away.any(axis=1), here + 'beyond')
            else:
                check((o['cpu_map'] >= 1) & (o['cpu_map'] <= s.ncpu), here + 'cpu_map')
    return wrong
