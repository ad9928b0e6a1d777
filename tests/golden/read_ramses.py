"""An independent reader of RAMSES binary checkpoints, which shares no code with the programs.

    s = load('output_00002')
    s.info['time'], s.info['aexp'], ...     from info_NNNNN.txt; nvar and gamma of the hydro files
    s.level                                 level of each leaf cell, all leaf cells of the box in
                                            Morton order
    s.cell['density'], s.cell['phi'], ...   fields of the leaf cells, in the same order
    s.part['identity'], ...                 particles, by ascending id
    s.octs[l]                               number of octs on level l

Leaf cells tile the box, so the levels in Morton order are the whole tree: `starts` gives each
cell's place on the curve.
"""
import os
import re

import numpy as np

PART_TYPES = {'d': '<f8', 'f': '<f4', 'i': '<i4', 'q': '<i8', 'b': 'i1', 'h': '<i2'}
CURVE_LEVELS = 20                 # the Morton curve is counted in cells of this level


class Snapshot:
    def __init__(self, info):
        self.info, self.level, self.cell, self.part, self.octs = info, None, {}, {}, {}

    @property
    def volume(self):
        return (self.info['boxlen'] * 0.5 ** self.level.astype(float)) ** self.info['ndim']

    def centres(self):
        """Centres of the leaf cells [ndim, n] in units of the box, from their places on the
        curve."""
        ndim, start = self.info['ndim'], starts(self.level, self.info['ndim'])
        x = np.zeros((ndim, len(start)))
        for b in range(CURVE_LEVELS):
            for d in range(ndim):
                x[d] += (start >> (ndim * b + d) & 1) * 2.0 ** b
        return x * 0.5 ** CURVE_LEVELS + 0.5 ** (self.level.astype(float) + 1)


class Records:
    """Reader of Fortran unformatted records with 4-byte markers."""

    def __init__(self, path):
        self.path = path
        self.data = np.fromfile(path, np.uint8)
        self.at = 0

    def read(self, dtype='<i4'):
        n = int(self.data[self.at:self.at + 4].view('<i4')[0])
        body = self.data[self.at + 4:self.at + 4 + n]
        close = int(self.data[self.at + 4 + n:self.at + 8 + n].view('<i4')[0])
        if close != n:
            raise IOError('%s: record markers %d and %d differ at byte %d' %
                          (self.path, n, close, self.at))
        self.at += n + 8
        return np.frombuffer(body.tobytes(), dtype)

    def skip(self, count=1):
        for _ in range(count):
            self.at += 8 + int(self.data[self.at:self.at + 4].view('<i4')[0])

    def ended(self):
        return self.at == len(self.data)


def read_info(directory):
    number = re.search(r'output_(\d{5})/*$', os.path.abspath(directory)).group(1)
    info = {'number': number}
    with open(os.path.join(directory, 'info_%s.txt' % number)) as f:
        for line in f:
            key, eq, value = (s.strip() for s in line.partition('='))
            if not eq:
                continue
            try:
                info[key] = int(value)
            except ValueError:
                try:
                    info[key] = float(value)
                except ValueError:
                    info[key] = value
    return info


COOLING_TABLES = ['cool', 'heat', 'compton', 'compton_heat', 'metal']
ION_NUMBERS = ['e', 'HI', 'HII', 'HeI', 'HeII', 'HeIII']


def cooling_table(path):
    """Axes and tables [n_H, T2] of cooling_NNNNN.out, by name."""
    r = Records(path)
    n = tuple(r.read())
    names = COOLING_TABLES + [a + '_prime' for a in COOLING_TABLES] + ['mu']
    t = {'nH': r.read('<f8'), 'T2': r.read('<f8')}
    t.update((a, r.read('<f8').reshape(n, order='F')) for a in names)
    ions = r.read('<f8').reshape((*n, len(ION_NUMBERS)), order='F')
    t.update((a, ions[:, :, i]) for i, a in enumerate(ION_NUMBERS))
    if not r.ended():
        raise IOError('%s: has further records' % path)
    return t


def read_descriptor(path):
    """[(name, type letter)] of a *_file_descriptor.txt."""
    with open(path) as f:
        rows = [[w.strip() for w in line.split(',')] for line in f if not line.startswith('#')]
    return [(r[1], r[2]) for r in rows if len(r) == 3]


def read_amr_header(s, f):
    """(ncpu, nlevelmax, numbl[level, cpu], corner of the box in coarse cells)."""
    ncpu, ndim = int(f.read()[0]), int(f.read()[0])
    if ndim != s.info['ndim']:
        raise IOError('%s: %d dimensions, the info file has %d' % (f.path, ndim, s.info['ndim']))
    n = f.read()
    levels = int(f.read()[0])
    f.skip()
    nboundary = int(f.read()[0])
    f.skip(15)  # ngrid_current … taill
    numbl = f.read().reshape(levels, ncpu)
    f.skip()
    numbb = np.zeros((levels, 0), int)
    if nboundary:
        f.skip(2)
        numbb = f.read().reshape(levels, nboundary)
    f.skip()
    ordering = bytes(f.read('u1')).decode().strip()
    f.skip(5 if ordering == 'bisection' else 1)
    f.skip(3)
    return numbl, numbb, np.array([1 if k > 1 else 0 for k in n[:ndim]])


def morton(x, bits):
    """Interleaves the bits of integer positions x[ndim, n], x lowest."""
    ndim, key = len(x), np.zeros(x.shape[1], np.int64)
    for b in range(bits):
        for d in range(ndim):
            key |= (x[d] >> b & 1) << (ndim * b + d)
    return key


def starts(level, ndim=3):
    """First Morton curve cell of each leaf, in units of level CURVE_LEVELS."""
    length = np.int64(2 ** ndim) ** (CURVE_LEVELS - level.astype(np.int64))
    return np.cumsum(length) - length


def load(directory):
    s = Snapshot(read_info(directory))
    path = os.path.join(directory, '%s_' + s.info['number'] + '.out%05d')
    keys, levels, cells = [], [], []
    for cpu in range(1, s.info['ncpu'] + 1):
        read_cells(s, path, cpu, keys, levels, cells)
    key, s.level = np.concatenate(keys), np.concatenate(levels)
    order = np.argsort(key, kind='stable')
    s.level = s.level[order]
    s.cell = {name: np.concatenate([c[name] for c in cells])[order]
              for name in (cells[0] if cells else {})}
    if not np.array_equal(starts(s.level, s.info['ndim']), key[order]):
        raise IOError('%s: the leaf cells do not tile the box' % directory)
    if os.path.exists(path % ('part', 1)):
        read_particles(s, directory, path)
    return s


def open_fields(s, directory_path, cpu, kind):
    """(records, field names) of the hydro or grav file of one rank, or None."""
    if not os.path.exists(directory_path % (kind, cpu)):
        return None
    f = Records(directory_path % (kind, cpu))
    if kind == 'hydro':
        _, nvar, _, _, _ = (int(f.read()[0]) for _ in range(5))
        s.info['nvar'], s.info['gamma'] = nvar, float(f.read('<f8')[0])
        folder = os.path.dirname(directory_path)
        names = [n for n, _ in read_descriptor(os.path.join(folder, 'hydro_file_descriptor.txt'))]
    else:
        _, nvar, _, _ = (int(f.read()[0]) for _ in range(4))
        forces = ['acc_x', 'acc_y', 'acc_z'][:s.info['ndim']]
        names = forces if nvar == len(forces) else ['phi', *forces]
    if len(names) != nvar:
        raise IOError('%s: %d variables, %d names' % (f.path, nvar, len(names)))
    return f, names


def read_cells(s, path, cpu, keys, levels, cells):
    """Appends the leaf cells that rank cpu owns."""
    f = Records(path % ('amr', cpu))
    numbl, numbb, corner = read_amr_header(s, f)
    fields = [x for x in (open_fields(s, path, cpu, k) for k in ('hydro', 'grav')) if x]
    ndim = s.info['ndim']
    for l in range(1, len(numbl) + 1):
        counts = list(numbl[l - 1]) + list(numbb[l - 1])
        for domain, n in enumerate(counts, 1):
            for g, _ in fields:
                head = int(g.read()[0]), int(g.read()[0])
                if head != (l, n):
                    raise IOError('%s: level and count %s where %s were due' %
                                  (g.path, head, (l, n)))
            if n == 0:
                continue
            if domain != cpu:
                f.skip(3 + 3 * ndim + 1 + 3 * 2 ** ndim)
                for g, names in fields:
                    g.skip(2 ** ndim * len(names))
                continue
            s.octs[l] = s.octs.get(l, 0) + int(n)
            read_oct_block(f, fields, l, corner, keys, levels, cells)
    for g in [f] + [g for g, _ in fields]:
        if not g.ended():
            raise IOError('%s: %d bytes left over' % (g.path, len(g.data) - g.at))


def read_oct_block(f, fields, l, corner, keys, levels, cells):
    ndim, size = len(corner), 2 ** len(corner)
    f.skip(3)
    centre = np.array([f.read('<f8') for _ in range(ndim)]) - corner[:, None]
    f.skip(1 + 2 * ndim)
    son = np.array([f.read() for _ in range(size)])
    f.skip(2 * size)
    leaf = son == 0
    c = {}
    for g, names in fields:
        n = len(names)
        for values in zip(*[iter([g.read('<f8') for _ in range(size * n)])] * n):
            for name, v in zip(names, values):
                c.setdefault(name, []).append(v)
    cells.append({name: np.array(v)[leaf] for name, v in c.items()})
    half = np.array([[(k >> d & 1) - 0.5 for k in range(size)] for d in range(ndim)]) * 0.5 ** l
    x = np.floor((centre[:, None, :] + half[:, :, None]) * 2 ** l).astype(np.int64)[:, leaf]
    keys.append(morton(x, l) << ndim * (CURVE_LEVELS - l))
    levels.append(np.full(leaf.sum(), l, np.uint8))


def read_particles(s, directory, path):
    columns = read_descriptor(os.path.join(directory, 'part_file_descriptor.txt'))
    parts = {name: [] for name, _ in columns}
    for cpu in range(1, s.info['ncpu'] + 1):
        f = Records(path % ('part', cpu))
        f.skip(8)
        for name, kind in columns:
            parts[name].append(f.read(PART_TYPES[kind]))
        if not f.ended():
            raise IOError('%s: more columns than its descriptor' % f.path)
    parts = {name: np.concatenate(v) for name, v in parts.items()}
    order = np.argsort(parts['identity'], kind='stable')
    s.part = {name: v[order] for name, v in parts.items()}


def main():
    import sys
    for directory in sys.argv[1:]:
        s = load(directory)
        i = s.info
        print('%s: ncpu %d time %.10e aexp %.10e step %d, %d leaf cells, octs a level %s' %
              (directory, i['ncpu'], i['time'], i['aexp'], i['nstep_coarse'], len(s.level), s.octs))
        for name, v in list(s.cell.items()) + list(s.part.items()):
            print('  %-14s min % .10e max % .10e' % (name, v.min(), v.max()))
        if 'density' in s.cell:
            print('  gas mass %.15e' % (s.cell['density'] * s.volume).sum())
        if s.part:
            print('  particles %d, mass %.15e' % (len(s.part['mass']), s.part['mass'].sum()))


if __name__ == '__main__':
    main()
