"""Writes RAMSES binary outputs of random trees and random bits: one to three dimensions, any
variables, any number of ranks, with boundaries or without. The writer shares no code with the
programs. RAMSES could not have computed these outputs, but each field is in its place.

    write(folder, rng, ndim=2, names=['density', ...], ...) -> Made

Own octs have the true values; ghosts and octs beyond the boundary have other values, which a reader
must not use.
"""
import os
import struct

import numpy as np

PART = ['position_%s', 'velocity_%s']
TYPES = {'d': '<f8', 'i': '<i4', 'q': '<i8', 'h': '<i2', 'b': 'i1'}


def record(f, values, dtype='<i4'):
    body = values if isinstance(values, bytes) else np.ascontiguousarray(values, dtype).tobytes()
    mark = struct.pack('<i', len(body))
    f.write(mark + body + mark)


def random_bits(rng, *shape):
    """Random doubles, including NaN, infinities and the smallest numbers."""
    bits = rng.integers(0, 2 ** 64, shape, dtype=np.uint64)
    usual = rng.random(shape) < 0.7  # most values are of ordinary size
    tame = (rng.random(shape) * np.exp(rng.normal(size=shape) * 5) *
            rng.choice([-1, 1], shape)).view(np.uint64)
    return np.where(usual, tame, bits)


def graded(l, cells, ndim, walls):
    """Cells of level l that may be refined: all neighbours, also across corners, exist."""
    side = 2 ** l
    there = {tuple(c) for c in cells}
    good = np.ones(len(cells), bool)
    for k in range(3 ** ndim):
        step = np.array([k // 3 ** d % 3 - 1 for d in range(ndim)])
        near = cells + step
        near = np.clip(near, 0, side - 1) if walls else near % side
        good &= np.array([tuple(c) in there for c in near], bool)
    return good


def grow(rng, ndim, levelmin, levelmax, walls):
    """{level: coordinates [n][ndim]}, {level: refined cells [n][2^ndim]}: levels to levelmin are
    complete, all levels graded."""
    octs, split, here = {}, {}, np.zeros((1, ndim), int)
    cells = np.array([[c >> d & 1 for d in range(ndim)] for c in range(2 ** ndim)])
    for l in range(1, levelmax + 1):
        octs[l] = here
        if l < levelmin:
            split[l] = np.ones((len(here), len(cells)), bool)
        else:
            at = (2 * here[:, None, :] + cells[None]).reshape(-1, ndim)
            wanted = rng.random(len(here))[:, None] < 0.5
            wanted = wanted & (rng.random((len(here), len(cells))) < 0.8)
            split[l] = wanted & graded(l, at, ndim, walls).reshape(wanted.shape) & (l < levelmax)
        here = (2 * here[:, None, :] + cells[None])[split[l]]
    return octs, split


class Made:
    pass


def write(folder, rng, ndim=3, levelmin=3, levelmax=6, ncpu=2, names=(), ngrav=0, walls=False,
          npart=0, columns=(), namelist='', number=7, tame=False, gas=None, boxlen=1.0):
    """tame: values between 0 and 1 instead of random bits; gas(l, x): the gas of the own octs x
    [n][ndim] of level l, [cells][variables][n]."""
    os.makedirs(folder)
    m = Made()
    if tame:
        m.draw = lambda *shape: rng.random(shape).view(np.uint64)
    else:
        m.draw = lambda *shape: random_bits(rng, *shape)
    m.gas, m.boxlen = gas, boxlen
    m.octs, m.split = grow(rng, ndim, levelmin, levelmax, walls)
    owner = {l: rng.integers(0, ncpu, len(x)) for l, x in m.octs.items()}
    nb, n = (2 * ndim if walls else 0), [3 if walls and d < ndim else 1 for d in range(3)]
    skip = np.array([1 if walls else 0] * ndim)
    cells = 2 ** ndim
    for rank in range(ncpu):
        amr_and_values(folder, rng, m, rank, ndim, levelmax, ncpu, owner, nb, n, skip, cells, names,
                       ngrav, number)
    texts(folder, rng, ndim, levelmin, levelmax, ncpu, names, namelist, number, boxlen)
    if npart:
        particles(folder, rng, ndim, ncpu, npart, columns, number)
    return m


def beyond(l, b, octs):
    """Octs of boundary region b (face) next to the octs of the box."""
    d, high = b // 2, b % 2
    out = octs[octs[:, d] == (2 ** (l - 1) - 1 if high else 0)].copy()
    out[:, d] += 1 if high else -1
    return out


def amr_and_values(folder, rng, m, rank, ndim, levelmax, ncpu, owner, nb, n, skip, cells, names,
                   ngrav, number):
    lists = {}
    for l, x in m.octs.items():
        for r in range(ncpu):
            mine = owner[l] == r
            if r != rank:
                mine &= (rng.random(len(x)) < 0.4) | (l == 1)
            lists[l, r] = (x[mine], m.split[l][mine])
        for b in range(nb):
            out = beyond(l, b, x)
            lists[l, ncpu + b] = (out, np.zeros((len(out), cells), bool))
    count = np.array([[len(lists[l, b][0]) for b in range(ncpu + nb)] for l in m.octs], '<i4')
    total = np.zeros((levelmax, 10), '<i4')
    total[:, 0] = [len(m.octs[l]) for l in m.octs]
    ncoarse = n[0] * n[1] * n[2]
    tail = '_%05d.out%05d' % (number, rank + 1)
    with open(os.path.join(folder, 'amr' + tail), 'wb') as f:
        for x in (ncpu, ndim, n, levelmax, 50000, nb, int(count.sum())):
            record(f, x)
        record(f, m.boxlen, '<f8')
        record(f, [1, 1, 1])
        for x in ([1.0], [1.0], 0.5, rng.random(levelmax), rng.random(levelmax)):
            record(f, x, '<f8')
        record(f, [30, 12])
        for x in ([0] * 3, [1, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0]):
            record(f, x, '<f8')
        for part in (count[:, :ncpu], count[:, :ncpu], count[:, :ncpu], total):
            record(f, part)
        for _ in range(3 if nb else 0):
            record(f, count[:, ncpu:])
        record(f, [0] * 5)
        record(f, b'hilbert'.ljust(128))
        record(f, np.linspace(0, 2.0 ** (ndim * (levelmax + 1)), ncpu + 1), '<f8')
        for _ in range(3):
            record(f, [1] * ncoarse)
        for (l, b), (x, split) in lists.items():
            if len(x):
                amr_block(f, rng, l, x, split, skip, ndim)
    for kind, nvar in (('hydro', len(names)), ('grav', ngrav)):
        if nvar:
            given = m.gas if kind == 'hydro' and m.gas else None
            values(os.path.join(folder, kind + tail), m.draw, kind, nvar, lists, ncpu, nb, ndim,
                   levelmax, cells, lambda l, b, x: given(l, x) if given and b == rank else None)


def amr_block(f, rng, l, x, split, skip, ndim):
    k = len(x)
    for _ in range(3):
        record(f, range(1, k + 1))
    for d in range(ndim):
        record(f, (x[:, d] + 0.5) * 0.5 ** (l - 1) + skip[d], '<f8')
    for _ in range(1 + 2 * ndim):
        record(f, [0] * k)
    for c in range(split.shape[1]):
        record(f, split[:, c])
    for _ in range(split.shape[1]):
        record(f, [1] * k)
    for c in range(split.shape[1]):
        record(f, split[:, c] | (rng.random(k) < 0.2))


def values(path, draw, kind, nvar, lists, ncpu, nb, ndim, levelmax, cells, given):
    with open(path, 'wb') as f:
        record(f, ncpu)
        record(f, nvar)
        if kind == 'hydro':
            record(f, ndim)
        record(f, levelmax)
        record(f, nb)
        if kind == 'hydro':
            record(f, 5.0 / 3, '<f8')
        for (l, b), (x, _) in lists.items():
            record(f, l)
            record(f, len(x))
            if not len(x):
                continue
            own = given(l, b, x)
            if own is not None:
                own = np.ascontiguousarray(own, '<f8').reshape(cells * nvar, len(x)).view('<u8')
            for bits in draw(cells * nvar, len(x)) if own is None else own:
                record(f, bits, '<u8')


def texts(folder, rng, ndim, levelmin, levelmax, ncpu, names, namelist, number, boxlen):
    with open(os.path.join(folder, 'info_%05d.txt' % number), 'w') as f:
        for name, x in (('ncpu', ncpu), ('ndim', ndim), ('levelmin', levelmin),
                        ('levelmax', levelmax), ('ngridmax', 50000), ('nstep_coarse', 12)):
            f.write('%-12s=%11d\n' % (name, x))
        f.write('\n')
        for name, x in (('boxlen', boxlen), ('time', 0.5), ('aexp', 1), ('H0', 1), ('omega_m', 1),
                        ('omega_l', 0), ('omega_k', 0), ('omega_b', 0), ('unit_l', 1),
                        ('unit_d', 1), ('unit_t', 1)):
            f.write('%-12s=%23.15E\n' % (name, x))
        f.write('\nordering type=%-80s\n' % 'hilbert')
    if names:
        with open(os.path.join(folder, 'hydro_file_descriptor.txt'), 'w') as f:
            f.write('# version:  1\n# ivar, variable_name, variable_type\n')
            for i, name in enumerate(names):
                f.write('%2d, %s, d\n' % (i + 1, name))
    with open(os.path.join(folder, 'namelist.txt'), 'w') as f:
        f.write(namelist)


def particles(folder, rng, ndim, ncpu, npart, columns, number):
    """columns: further columns, (name, type)."""
    rows = [(what + a, 'd') for what in ('position_', 'velocity_') for a in 'xyz'[:ndim]]
    rows += [('mass', 'd'), ('identity', 'i'), ('levelp', 'i'), ('family', 'b'), ('tag', 'b'),
             *columns]
    with open(os.path.join(folder, 'part_file_descriptor.txt'), 'w') as f:
        f.write('# version:  1\n# ivar, variable_name, variable_type\n')
        for i, row in enumerate(rows):
            f.write('%2d, %s, %s\n' % (i + 1, *row))
    ids, file = rng.permutation(npart) + 1, rng.integers(0, ncpu, npart)
    for r in range(ncpu):
        mine = ids[file == r]
        k = len(mine)
        with open(os.path.join(folder, 'part_%05d.out%05d' % (number, r + 1)), 'wb') as f:
            for x in (ncpu, ndim, k, [-1] * 4, 0):
                record(f, x)
            record(f, 0.0, '<f8')
            record(f, 0.0, '<f8')
            record(f, 0)
            for name, kind in rows:
                if name.startswith('position') or name == 'mass':
                    record(f, rng.random(k), '<f8')
                elif name.startswith('velocity'):
                    record(f, rng.normal(size=k), '<f8')
                elif name == 'identity':
                    record(f, mine)
                elif name == 'levelp':
                    record(f, rng.integers(2, 5, k))
                elif name == 'family':
                    record(f, rng.integers(1, 4, k), 'i1')
                elif kind == 'd':
                    record(f, random_bits(rng, k), '<u8')
                else:
                    info = np.iinfo(TYPES[kind])
                    x = rng.integers(info.min, info.max, k, dtype=TYPES[kind], endpoint=True)
                    record(f, x, TYPES[kind])
