"""convert: the state is preserved, parts of a checkpoint are correct, and Gadget-2 snapshots
contain the data of the checkpoint.

    convert.py there|part|gadget|legacy|wrong|pipe

The checkpoint is of a small cosmological run with gas, particles and four levels. Results are read
by readers that share no code with the programs (read_ramses.py; below, one of Gadget files).
Examples of faults caught: a value of the wrong oct when some of a batch are dropped; the root of a
forgotten in velocities; a refined cell left without its octs; ids cut to 32 bits.
"""
# test: there tier=check timeout=180 ranks=2
# test: part tier=check timeout=180
# test: gadget tier=check timeout=180
# test: legacy tier=check timeout=180
# test: wrong tier=check timeout=180
# test: pipe tier=check timeout=180
import filecmp
import glob
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

COSMO = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,1,2,2
nstepmax=4
/
&OUTPUT_PARAMS
foutput=4
noutput=1
aout=1.0
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
/
&AMR_PARAMS
levelmin=5
levelmax=8
nexpand=1
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
m_refine=2.7,0.55,0.25
/
"""
SUN, KPC = 1.98841e33, 3.0856776e21  # g, cm


def checkpoint(ranks=1, settings=()):
    ptah.unpack_ics('.', 'ic_32')
    return ptah.simulate(COSMO, '.', ranks, settings=settings,
                         options=['-o', 'run%d' % ranks]).outputs[-1]


def convert(*arguments, ranks=1, must_work=True):
    r = ptah.Run(ptah.mpirun(ranks) + [ptah.program('convert'), *arguments], '.',
                 {'OMP_NUM_THREADS': '1'}, timeout=60)
    if must_work and r.status != 0:
        print(' '.join(r.argv), '\n', r.err)
        sys.exit(1)
    return r


def state(path):
    """Digest of the whole state."""
    return ptah.digest(path).split()[0]


# ---- there and back ----

def there(v):
    run = checkpoint()
    whole = state(run)
    convert('-z', '1', '-o', 'a', run)
    v.same('RAMSES to HDF5: digest', state('a'), whole)
    convert('-o', 'b', '-n', '3', 'a', ranks=2)
    v.same('and to RAMSES on 3 ranks, by 2: digest', state('b'), whole)
    convert('-f', 'ramses', '-o', 'c', '--memory', '64M', 'b')
    v.same('and to 1 rank: digest', state('c'), whole)
    convert('-f', 'hdf5', '-z', '1', '-o', 'd', 'c')
    v.same('and to HDF5, the same file',
           filecmp.cmp(data_file('a'), data_file('d'), shallow=False) or h5_data(v, 'a', 'd'), True)
    for name in ('b', 'c'):
        v.same('%s: namelist' % name,
               open(name + '/namelist.txt').read() == open(run + '/namelist.txt').read(), True)
    text = open('c/compilation.txt').read()
    v.same('history: programs',
           re.findall(r'ptah (\w+)', text), ['convert', 'convert', 'convert', 'simulate'])
    # as written by other codes, without exact values: values as read must be preserved
    for f in glob.glob('b/exact_*'):
        os.remove(f)
    convert('-f', 'ramses', '-o', 'e', 'b')
    convert('-f', 'hdf5', '-o', 'f', 'e')
    convert('-n', '2', '-o', 'g', 'f')
    v.same('without exact bits: digest after the first reading', state('g'), state('e'))


def data_file(d):
    return glob.glob(d + '/data_*.h5')[0]


def h5_data(v, a, b):
    """All datasets but the provenance are equal."""
    import h5py
    x, y = h5py.File(data_file(a)), h5py.File(data_file(b))
    names = []
    x.visititems(lambda n, o: names.append(n) if isinstance(o, h5py.Dataset) else None)
    own = ('ptah/provenance', 'ptah/checksum')
    bad = [n for n in names if n not in own and not np.array_equal(x[n][()], y[n][()])]
    return v.same('datasets that differ', bad, [])


# ---- parts ----

class Leaves:
    """Leaf cells of a checkpoint with their centres in units of the box."""

    def __init__(self, path):
        self.s = read_ramses.load(path)
        self.level = self.s.level.astype(int)
        self.start = read_ramses.starts(self.level)
        bits = read_ramses.CURVE_LEVELS
        key = self.start >> 3 * (bits - self.level)
        x = np.zeros((3, len(key)), np.int64)
        for b in range(bits):
            for d in range(3):
                x[d] |= (key >> (3 * b + d) & 1) << b
        self.index = x
        self.width = 0.5 ** self.level
        self.x = ((x + 0.5) * self.width).T

    def find(self, x):
        """Leaves that contain the positions x[n, 3] of the box."""
        bits = read_ramses.CURVE_LEVELS
        at = np.floor(x.T % 1.0 * 2.0 ** bits).astype(np.int64)
        return np.searchsorted(self.start, read_ramses.morton(at, bits), 'right') - 1


class Region:
    def __init__(self, text):
        kind, numbers = text.split(':')
        n = np.array([float(t) for t in numbers.split(',')])
        self.ball = kind == 'sphere'
        if self.ball:
            self.centre, self.half = n[:3], n[3]
        else:
            self.centre, self.half = (n[:3] + n[3:]) / 2, (n[3:] - n[:3]) / 2

    def gaps(self, x, half=0.0):
        """Distance from boxes around x to the centre, axis by axis."""
        d = np.abs(x - self.centre) % 1.0
        return np.maximum(np.minimum(d, 1 - d) - half, 0)

    def meets(self, x, half=0.0):
        g = self.gaps(x, half)
        return (g ** 2).sum(1) <= self.half ** 2 if self.ball else (g <= self.half).all(1)


def check_grading(v, name, part):
    """Around a leaf no neighbour, corners included, is more than one level coarser."""
    worst = 0
    for k in range(27):
        step = np.array([k % 3 - 1, k // 3 % 3 - 1, k // 9 - 1])
        at = part.find(part.x + step * part.width[:, None])
        worst = max(worst, (part.level - part.level[at]).max())
    v.check(name + ': levels between neighbours', int(worst), 1)


def check_part(v, name, whole, path, region, levelmin, levelmax):
    part = Leaves(path)
    n = len(part.level)
    print('     %s: %d of %d leaf cells, octs a level %s' %
          (name, n, len(whole.level), part.s.octs))
    # each leaf is a cell of the whole box, with the mean of its contents
    inside = part.find(whole.x)
    volume = 0.125 ** (whole.level - part.level[inside])
    v.same(name + ': cells finer than in the checkpoint',
           int((part.level[inside] > whole.level).sum()), 0)
    mean = np.bincount(inside, whole.s.cell['density'] * volume, n)
    v.check(name + ': density is the mean', abs(mean / part.s.cell['density'] - 1).max(), 1e-12)
    same = part.level[inside] == whole.level
    for f, x in whole.s.cell.items():
        v.same('%s: %s where cells are the same' % (name, f),
               np.array_equal(x[same], part.s.cell[f][inside][same]), True)
    # full resolution in the region, none far from it
    wanted = whole.level <= levelmax
    if region:
        wanted &= region.meets(whole.x, whole.width[:, None] / 2)
    v.same(name + ': cells that are missing', int((wanted & ~same).sum()), 0)
    v.same(name + ': wanted cells are some', int(wanted.sum()) > 200, True)
    v.same(name + ': depth', bool(whole.level[wanted].max() <= part.level.max() <= levelmax), True)
    if region:
        oct_centre = ((part.index >> 1) + 0.5).T * 2 * part.width[:, None]
        gap = region.gaps(oct_centre, part.width[:, None]) - region.half
        far = (part.level > levelmin) & (gap.max(1) > 2 * part.width * (1 + 1e-9))
        v.same(name + ': fine cells far from the region', int(far.sum()), 0)
    check_grading(v, name, part)
    # particles
    p, q = whole.s.part, part.s.part
    x = np.stack([p['position_' + c] for c in 'xyz'], 1) % 1.0
    kept = region.meets(x) if region else np.ones(len(x), bool)
    for f in p:
        ours = np.minimum(p[f], levelmax) if f == 'levelp' else p[f]
        v.same('%s: particles, %s' % (name, f), np.array_equal(ours[kept], q[f]), True)
    r = ptah.Run([ptah.program('inspect'), '-dq', path], '.')
    v.same(name + ': inspect -d takes the tree', r.status, 0)
    settings = ['amr_params/levelmin=%d' % levelmin, 'run_params/nstepmax=100']
    options = ['-nn', '-q', '--change-model']  # a cut has fewer levels, hence another model
    r = ptah.simulate(COSMO, '.', settings=settings, must_work=False,
                      options=[*options, '-r', os.path.abspath(path)])
    if r.status != 0:
        print(r.err)
    v.same(name + ': simulate takes it', r.status, 0)


def part(v):
    run = checkpoint()
    whole = Leaves(run)
    v.same('levels of the checkpoint', (int(whole.level.min()), int(whole.level.max())), (5, 8))
    heavy = whole.x[np.argmax(np.where(whole.level == 8, whole.s.cell['density'], 0))]
    ball = 'sphere:%r,%r,%r,0.11' % tuple(float(t) for t in heavy)
    box = 'box:-0.13,0.6,0.3,0.14,1.1,0.66'
    cases = [('depth', ['--levelmax', '6'], None, 5, 6), ('base', ['--levelmax', '5'], None, 5, 5),
             ('ball', ['--region', ball], ball, 5, 8), ('box', ['--region', box], box, 5, 8),
             ('ball, coarse', ['--region', ball, '--levelmin', '3'], ball, 3, 8),
             ('box, coarse, depth', ['--region', box, '--levelmin', '2', '--levelmax', '7'],
              box, 2, 7)]
    convert('-f', 'hdf5', '-o', 'whole', run)
    for name, options, region, levelmin, levelmax in cases:
        os.makedirs(name.replace(', ', '_'))
        d = name.replace(', ', '_') + '/output_00002'
        convert('-f', 'ramses', '-o', d, *options, run)
        check_part(v, name, whole, d, Region(region) if region else None, levelmin, levelmax)
        convert('-f', 'ramses', '-n', '2', '-o', d + '_h5', *options, 'whole')
        v.same(name + ': the same of an HDF5 checkpoint', state(d + '_h5'), state(d))


# ---- Gadget ----

class Gadget:
    """Reads Gadget-2 files of format 1 or 2: pos, vel, id, mass by type; u, rho, hsml of type 0."""

    NAMES = ['POS ', 'VEL ', 'ID  ', 'MASS', 'U   ', 'RHO ', 'HSML']

    def __init__(self, path):
        parts = range(len(glob.glob(path + '.*')))
        paths = [path] if os.path.exists(path) else [path + '.%d' % k for k in parts]
        files = [self.read_file(p) for p in paths]
        head = files[0][0]
        self.files, self.head = len(files), head
        total = head['total'] + (head['high'].astype(np.int64) << 32)
        assert all(f[0]['files'] == len(files) for f in files)
        assert np.array_equal(sum(f[0]['here'].astype(np.int64) for f in files), total), 'counts'
        self.count, self.data = total, {}
        for name in self.NAMES:
            for t in range(6):
                have = [f[1][name, t] for f in files if (name, t) in f[1]]
                if have:
                    self.data[name.strip(), t] = np.concatenate(have)

    @staticmethod
    def records(path):
        body, at = open(path, 'rb').read(), 0
        while at < len(body):
            n, = struct.unpack_from('<i', body, at)
            assert struct.unpack_from('<i', body, at + 4 + n)[0] == n, 'record marks'
            yield body[at + 4:at + 4 + n]
            at += n + 8
        assert at == len(body)

    def read_file(self, path):
        records = list(self.records(path))
        names = None
        if len(records[0]) == 8:  # format 2
            names = [r[:4].decode() for r in records[0::2]]
            follow = [struct.unpack('<i', r[4:])[0] for r in records[0::2]]
            records = records[1::2]
            assert names[0] == 'HEAD' and follow == [len(r) + 8 for r in records], 'labels'
        h = records[0]
        assert len(h) == 256
        f = struct.unpack_from('<6i6d2d2i6I2i4d2i6I', h)
        head = dict(here=np.array(f[:6]), mass=np.array(f[6:12]), time=f[12], redshift=f[13],
                    sfr=f[14], total=np.array(f[16:22]), files=f[23], box=f[24], omega_m=f[25],
                    omega_l=f[26], h=f[27], high=np.array(f[30:36]))
        massive = [t for t in range(6) if head['mass'][t] == 0]
        everywhere = dict(zip(self.NAMES, [range(6)] * 3 + [massive] + [[0]] * 3))
        total = head['total'] + head['high']
        there = [n for n in self.NAMES if any(total[t] for t in everywhere[n])]
        assert len(there) == len(records) - 1 and names in (None, ['HEAD'] + there), 'blocks'
        data = {}
        for name, r in zip(there, records[1:]):
            n = sum(head['here'][t] for t in everywhere[name])
            kinds = {12: '<f4', 8: '<u8', 4: '<u4' if name == 'ID  ' else '<f4'}
            kind = kinds[len(r) // n if n else 4]
            a, at = np.frombuffer(r, kind).reshape((n, 3) if name in ('POS ', 'VEL ') else n), 0
            for t in everywhere[name]:
                data[name, t] = a[at:at + head['here'][t]]
                at += head['here'][t]
        return head, data


def alter(run, path):
    """The checkpoint as cuRAMSES would have written it, with stars, sink clouds, heavy dark matter
    and large ids. Returns the columns."""
    import h5py
    convert('-f', 'hdf5', '-o', path, run)
    rng = np.random.default_rng(1)
    with h5py.File(data_file(path), 'r+') as f:
        del f['ptah']
        p = f['particles']
        n = len(p['mass'])
        ids, mass, birth = p['identity'][()] + (1 << 40), p['mass'][()], np.zeros(n)
        kind = rng.choice(4, n, p=[0.6, 0.2, 0.15, 0.05])  # dark, heavy, star, cloud
        mass[kind == 1] *= 8
        mass[kind == 2] *= rng.uniform(0.01, 0.1, n)[kind == 2]
        birth[kind == 2] = -rng.uniform(1, 3, n)[kind == 2]
        ids[kind == 3] *= -1
        p['identity'][...], p['mass'][...] = ids, mass
        p['birth_epoch'], p['metallicity'] = birth, np.full(n, 0.01)
        return dict(ids=ids, mass=mass, kind=kind,
                    x=np.stack([p['x_%d' % d][()] for d in (1, 2, 3)], 1),
                    v=np.stack([p['v_%d' % d][()] for d in (1, 2, 3)], 1))


def check_type(v, name, g, t, ids, x, vel, mass, units):
    length, speed, unit_mass = units
    v.same('%s, type %d: count' % (name, t), g.count[t], len(ids))
    if not len(ids):
        return
    order, mine = np.argsort(ids), np.argsort(g.data['ID', t])
    v.same('%s, type %d: ids' % (name, t),
           np.array_equal(ids[order], g.data['ID', t][mine].astype(np.int64)), True)
    far = abs(g.data['POS', t][mine] - x[order] % 1.0 * length) / length
    v.check('%s, type %d: positions' % (name, t), np.minimum(far, 1 - far).max(), 1e-7)
    v.same('%s, type %d: in the box' % (name, t),
           bool((g.data['POS', t] < g.head['box']).all()), True)
    v.check('%s, type %d: velocities' % (name, t),
            abs(g.data['VEL', t][mine] / speed / vel[order] - 1).max(), 2e-7)
    m = g.data['MASS', t][mine] if g.head['mass'][t] == 0 else np.full(len(ids), g.head['mass'][t])
    v.check('%s, type %d: masses' % (name, t), abs(m / (mass[order] * unit_mass) - 1).max(), 2e-7)


def units_of(info):
    h, a = info['H0'] / 100, info['aexp']
    return (info['unit_l'] / a / KPC * h, info['unit_l'] / info['unit_t'] / 1e5 / np.sqrt(a),
            info['unit_d'] * info['unit_l'] ** 3 / SUN / 1e10 * h)


def check_gas(v, name, g, leaves, units):
    """Compares cells, paired by position."""
    length, speed, unit_mass = units
    c, info = leaves.s.cell, leaves.s.info
    at = leaves.find(g.data['POS', 0] / length)
    v.same(name + ': gas, a particle a cell',
           np.array_equal(np.sort(at), np.arange(len(leaves.level))), True)
    rho = c['density'][at] * unit_mass / length ** 3
    unit_v = info['unit_l'] / info['unit_t'] / 1e5
    energy = c['pressure'][at] / c['density'][at] / (info['gamma'] - 1) * unit_v ** 2
    vel = np.stack([c['velocity_' + d] for d in 'xyz'], 1)[at]
    v.check(name + ': gas, mass',
            abs(g.data['MASS', 0] / (rho * (leaves.width[at] * length) ** 3) - 1).max(), 1e-6)
    v.check(name + ': gas, density', abs(g.data['RHO', 0] / rho - 1).max(), 1e-6)
    v.check(name + ': gas, velocity',
            abs(g.data['VEL', 0] / speed - vel).max() / abs(vel).max(), 2e-7)
    v.check(name + ': gas, energy', abs(g.data['U', 0] / energy - 1).max(), 1e-5)
    radius = g.data['HSML', 0] / (leaves.width[at] * length)
    v.check(name + ': gas, radius', abs(4 * np.pi / 3 * radius ** 3 / 32 - 1).max(), 1e-6)
    last = max(int(g.data['ID', t].max()) for t in range(1, 6) if g.count[t])
    v.same(name + ': gas, ids',
           np.array_equal(np.sort(g.data['ID', 0]), last + 1 + np.arange(len(at))), True)


def gadget(v):
    run = checkpoint()
    leaves = Leaves(run)
    p, info, units = leaves.s.part, leaves.s.info, units_of(leaves.s.info)
    x, vel = (np.stack([p[w + c] for c in 'xyz'], 1) for w in ('position_', 'velocity_'))
    for name, options, files, gas in (('plain', [], 1, False), ('named', ['--named'], 1, False),
                                      ('gas', ['--gas', '--named'], 1, True),
                                      ('files', ['--gas', '--files', '5'], 5, True)):
        convert('-f', 'gadget', '-o', name + '.gad', *options, run)
        g = Gadget(name + '.gad')
        v.same(name + ': files', g.files, files)
        check_type(v, name, g, 1, p['identity'], x, vel, p['mass'], units)
        v.same(name + ': other types', list(g.count[2:]), [0] * 4)
        v.same(name + ': one mass for all', g.head['mass'][1] > 0, True)
        if gas:
            check_gas(v, name, g, leaves, units)
        h = g.head
        for what, mine in (('time', info['aexp']), ('redshift', 1 / info['aexp'] - 1),
                           ('box', units[0]), ('h', info['H0'] / 100), ('omega_m', info['omega_m']),
                           ('omega_l', info['omega_l'])):
            v.check('%s: %s' % (name, what), abs(h[what] / mine - 1), 1e-12)
    a = alter(run, 'altered')
    for name, options in (('kinds', []), ('kinds in 7 files', ['--files', '7'])):
        r = convert('-f', 'gadget', '-o', name + '.gad', *options, 'altered')
        g = Gadget(name + '.gad')
        for t, kind in ((1, 0), (5, 1), (4, 2)):
            k = a['kind'] == kind
            check_type(v, name, g, t, a['ids'][k], a['x'][k], a['v'][k], a['mass'][k], units)
        v.same(name + ': left out, and said so',
               '%d particles' % (a['kind'] == 3).sum() in r.err, True)
    region = Region('sphere:0.9,0.1,0.5,0.2')
    convert('-f', 'gadget', '-o', 'region.gad', '--region', 'sphere:0.9,0.1,0.5,0.2', run)
    k = region.meets(x % 1.0)
    check_type(v, 'region', Gadget('region.gad'), 1, p['identity'][k], x[k], vel[k], p['mass'][k],
               units)
    readers(v, run, leaves, p)


def readers(v, run, leaves, p):
    """yt and pynbody find the same data in the snapshot as in the checkpoint."""
    try:
        import pynbody
        import yt
    except ImportError:
        print('     no yt or pynbody here')
        return
    yt.set_log_level(50)
    i = leaves.s.info
    grams = p['mass'].sum() * i['unit_d'] * i['unit_l'] ** 3
    fastest = abs(p['velocity_x']).max() * i['unit_l'] / i['unit_t'] / 1e5
    ad = yt.load('plain.gad',
                 unit_base={'length': (1.0, 'kpccm/h'), 'mass': (1e10, 'Msun/h')}).all_data()
    v.check('yt: mass', abs(ad['Halo', 'particle_mass'].to('g').sum().value / grams - 1), 1e-4)
    v.check('yt: fastest',
            abs(abs(ad['Halo', 'particle_velocity_x'].to('km/s')).max().value / fastest - 1), 1e-5)
    pynbody.config_parser.set('gadget-units', 'pos', 'kpc a h^-1')
    s = pynbody.load('gas.gad')
    v.same('pynbody: counts', (len(s.dm), len(s.gas)), (len(p['mass']), len(leaves.level)))
    sun = s.dm['mass'].astype(float).in_units('Msol').sum()
    v.check('pynbody: mass', abs(sun * SUN / grams - 1), 1e-3)
    v.check('pynbody: fastest',
            abs(abs(s.dm['vel'].in_units('km s^-1')[:, 0]).max() / fastest - 1), 1e-5)


# ---- older layouts ----

def legacy(v):
    run = checkpoint()
    state = dict(reversed(line.split(None, 1)) for line in ptah.digest(run).splitlines())
    for year, gone in (('2017', ['particle.tag']), ('2015', ['phi', 'particle.tag'])):
        convert('-f', 'ramses', '-n', '2', '--legacy', year, '-o', year, run)
        old = dict(reversed(line.split(None, 1)) for line in ptah.digest(year).splitlines())
        v.same(year + ': what is missing or other',
               sorted(k for k in state
                      if k not in ('state', 'pressure') and old.get(k) != state[k]),
               sorted(gone))
        v.same(year + ': descriptor of particles',
               os.path.exists(year + '/part_file_descriptor.txt'), False)
        with open(year + '/hydro_file_descriptor.txt') as f:
            v.same(year + ': descriptor of gas',
                   f.read().split('\n')[:2], ['nvar        =          5', 'variable # 1: density'])
        convert('-f', 'ramses', '-o', year + '_new', year)
        new = dict(reversed(line.split(None, 1))
                   for line in ptah.digest(year + '_new').splitlines())
        back = [k for k in state if k not in ('state', 'phi') and new.get(k) != state[k]]
        v.same(year + ': not there after the way back', back, [])
    import h5py
    convert('-f', 'hdf5', '-o', 'odd', run)
    with h5py.File(data_file('odd'), 'r+') as f:
        del f['ptah/particles/family'].attrs['checksum']
        f['ptah/particles/family'][7] = 4
    r = convert('-f', 'ramses', '--legacy', '2017', '-o', 'none', 'odd', must_work=False)
    v.same('debris had no place then',
           (r.status, 'family 4' in r.err, os.path.exists('none')), (2, True, False))


# ---- errors ----

def wrong(v):
    run = checkpoint(1, ['run_params/nstepmax=1', 'output_params/foutput=1'])
    convert('-f', 'ramses', '-o', 'there', run)
    convert('-f', 'gadget', '-o', 'there.gad', run)
    convert('-f', 'gadget', '-o', 'many.gad', '--files', '3', run)
    cases = [
        ([], 'no checkpoint'), (['nowhere'], 'nowhere'), (['-f', 'csv', run], 'not csv'),
        (['-n', '0', run], 'ranks'), (['-n', '2x', run], '2x'), (['-z', '10', run], 'compression'),
        (['-f', 'hdf5', '-n', '2', run], '--ranks'),
        (['-f', 'ramses', '--deflate', '2', run], '--deflate'),
        (['--gas', run], '--gas'), (['--legacy', '2016', '-f', 'ramses', run], '2016'),
        (['--legacy', '2017', run], '--legacy'), (['--memory', '12Q', run], '12Q'),
        (['--region', 'box:1,2,3', run], 'box:1,2,3'),
        (['--region', 'sphere:0,0,0,-1', run], 'radius'),
        (['--region', 'box:0,0,0,1,0,1', run], 'empty'),
        (['--region', 'sphere:7,0,0,1', '-o', 'x', run], 'centred'),
        (['--levelmin', '3', run], '--region'), (['--levelmax', '4', '-o', 'x', run], 'levelmin'),
        (['--levelmax', '12', '-o', 'x', run], 'levels up to'),
        (['--levelmin', '6', '--region', 'sphere:0,0,0,1', '-o', 'x', run], 'levelmin'),
        (['--bogus', run], 'bogus'), (['-f', 'ramses', '-o', 'there', run], 'there'),
        (['-f', 'hdf5', '-o', 'there', run], 'there'),
        (['-f', 'gadget', '-o', 'there.gad', run], 'there.gad'),
        (['-f', 'gadget', '-o', 'many.gad', run], 'many.gad'),
        (['-f', 'gadget', '-o', 'there', run], 'directory'),
        (['-f', 'gadget', '-o', 'no/such/place', run], 'no/such/place'),
        (['-f', 'ramses', '-o', 'no/such/place', run], 'no/such/place'), (['-o', '', run], 'path'),
        (['-f', 'ramses', '-o', 'x', '--memory', '1K', run], 'memory')]
    before = sorted(os.listdir('.'))
    for arguments, culprit in cases:
        r = convert(*arguments, must_work=False)
        lines = r.err.splitlines()
        v.same('convert %s' % ' '.join(a.replace(run, 'RUN') for a in arguments),
               (r.status, len(lines), bool(lines) and culprit in lines[0], r.out), (2, 1, True, ''))
        if lines and culprit not in lines[0]:
            print(r.err)
    v.same('nothing is left of them', sorted(os.listdir('.')), before)
    old = state('there')
    for f, options in (('ramses', ['-n', '2']), ('hdf5', [])):
        convert('-f', f, '--force', '-o', 'there', *options, run)
        v.same('--force, %s' % f, state('there'), old)
    convert('-f', 'gadget', '--force', '-o', 'many.gad', run)
    v.same('--force, one file instead of three', glob.glob('many.gad*'), ['many.gad'])
    for f in ('ramses', 'hdf5', 'gadget'):
        shutil.rmtree('bad', ignore_errors=True)
        shutil.copytree(run, 'bad')
        os.truncate(glob.glob('bad/part_*')[0], 100000)
        r = convert('-f', f, '-o', 'x', 'bad', run, must_work=False)
        v.same('%s: the damaged one is told, the good one written' % f,
               (r.status, 'bad/part_' in r.err, len(r.err.splitlines()), len(os.listdir('x'))),
               (2, True, 1, 1))
        shutil.rmtree('x')
    full(v, run)


def full(v, run):
    """No disk space for the result: one sentence, and no file is left.

    The size of files is limited once the program responds."""
    for f, room in (('ramses', 300), ('hdf5', 300), ('hdf5', 5000), ('gadget', 300)):
        p = subprocess.Popen([ptah.program('convert'), '-f', f, '-o', 'x', '-'], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             restore_signals=False, env={**os.environ, **ptah.ENVIRONMENT})
        p.stdin.write('nowhere\n')
        p.stdin.flush()
        first = p.stderr.readline()
        resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (room << 10, room << 10))
        out, err = p.communicate(run + '\n')
        v.same('%s: room for %d KiB: sentences, status, result' % (f, room),
               ('nowhere' in first, len(err.splitlines()), p.returncode, out, os.listdir('x')),
               (True, 1, 2, '', []))
        shutil.rmtree('x')
    with open('/dev/full', 'w') as out:
        p = subprocess.run([ptah.program('convert'), '-f', 'ramses', '-o', 'x', run], stdout=out,
                           stderr=subprocess.PIPE, text=True,
                           env={**os.environ, **ptah.ENVIRONMENT})
    v.same('a full stdout: status, sentences, result',
           (p.returncode, len(p.stderr.splitlines()), os.path.exists('x')), (2, 1, True))


# ---- pipes ----

def pipe(v):
    ptah.unpack_ics('.', 'ic_32')
    with open('run.nml', 'w') as f:
        f.write(COSMO.replace('foutput=4', 'foutput=1').replace('nstepmax=4', 'nstepmax=2'))
    os.symlink(os.path.dirname(ptah.program('convert')), 'bin')

    def shell(command):
        p = ptah.run_patiently(['bash', '-o', 'pipefail', '-c', command], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'},
                               timeout=60)
        return p

    p = shell('bin/simulate -q -o run run.nml | bin/convert -f hdf5 - |'
              ' bin/convert -f ramses -n 2 -o back - | bin/inspect -dq -')
    lines = [line.split() for line in p.stdout.splitlines()]
    v.same('through two formats: status', (p.returncode, p.stderr), (0, ''))
    v.same('paths', [x[1] for x in lines], ['back/output_%05d' % k for k in (1, 2, 3)])
    for k, (digest, _) in enumerate(lines, 1):
        again = ptah.Run(['bin/inspect', '-dq', 'run/output_%05d' % k], '.').out.split()[0]
        v.same('digest of output %d' % k, digest, again)
    # a consumer that dies: the run continues, its checkpoints are complete, and the status reports
    # the failure
    p = shell('(bin/simulate -q -o alone run.nml; echo status $? >&2) | true')
    v.same('nobody listens: checkpoints', len(glob.glob('alone/output_*')), 3)
    v.same('nobody listens: status, sentences',
           ('status 2' in p.stderr, p.stderr.count('simulate:')), (True, 1))


def main():
    v = ptah.Verdict()
    parts = (there, part, gadget, legacy, wrong, pipe)
    {f.__name__: f for f in parts}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
