"""inspect finds damage and its location, compares checkpoints, and draws maps that conserve mass.

    inspection.py synthetic    trees made by hand: each broken rule of the tree, a k-section tree
                               of six ranks
    inspection.py written      checkpoints of simulate, one value changed at a time; comparisons;
                               maps; digest on several ranks

Examples of faults caught: the corner left out of the 2:1 rule, a level not looked at, a mean over
seven sons, ids compared without their family, a pixel that gets a cell's whole mass.
"""
# test: synthetic tier=quick timeout=60
# test: written tier=check timeout=120 ranks=2
import json
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

# some cells are split from the first step on
NAMELIST = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,1
nstepmax=2
/
&OUTPUT_PARAMS
foutput=1
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
levelmax=6
/
&POISSON_PARAMS
epsilon=1d-4
/
&HYDRO_PARAMS
gamma=1.6666667
riemann='hllc'
/
&REFINE_PARAMS
m_refine=2.4,0.3
interpol_var=1
/
"""


def forced(argv):
    """Adds --force if the command writes a file, which may exist from before."""
    return [*argv, '--force'] if '-o' in argv or '--phase' in argv else argv


def inspect(*argv, ranks=1):
    return ptah.Run(ptah.mpirun(ranks) + [ptah.program('inspect'), *forced(argv)], '.')


def expect(v, what, argv, status, *words):
    """The exit status must be as given, and the words must be in one line of the output."""
    r = inspect(*argv)
    v.same(what + ': exit status', r.status, status)
    lines = (r.out + r.err).splitlines()
    if words and not any(all(w in line for w in words) for line in lines):
        v.same(what, 'no line has %s:\n%s' % (words, '\n'.join(lines[:8])), '')
    return r


# trees

def trees(v):
    cells = {1: tiny.all_cells(1), 2: tiny.all_cells(2), 3: {(3, 3, 3)}}
    good = tiny.grow(cells)
    tiny.write('good', good, levelmin=3)
    expect(v, 'sound tree', ['-cc', 'good'], 0, 'sound')

    # One oct of level 5 in the corner of one of level 4: cells around its father are in missing
    # octs of level 4.
    steep = tiny.grow({1: tiny.all_cells(1), 2: tiny.all_cells(2), 3: {(3, 3, 3)}, 4: {(7, 7, 7)}})
    tiny.write('steep', steep, levelmin=3)
    expect(v, '2:1', ['-cc', 'steep'], 1, 'level 5, oct at 0.46875 0.46875 0.46875', '26 cells')
    # all 26 cells around it except the one at the corner
    near = {(x, y, z) for x in (3, 4) for y in (3, 4) for z in (3, 4)}
    for name, some, status in (('all', near, 0), ('corner', near - {(4, 4, 4)}, 1)):
        tiny.write('near_' + name, tiny.grow({**cells, 3: some, 4: {(7, 7, 7)}}), levelmin=3)
        expect(v, '2:1, ' + name, ['-cc', 'near_' + name], status)

    broken = {l: list(o) for l, o in good.items()}
    broken[4] = []
    broken[3] = [o for o in good[3] if o[:3] != (2, 2, 2)] + [(2, 2, 2, 0)]
    tiny.write('incomplete', {**good, 3: good[3][1:], 4: good[4]}, levelmin=3)
    expect(v, 'a level that is not complete', ['-cc', 'incomplete'], 1, 'level 3', 'has 63 octs')
    expect(v, 'a split cell without its oct', ['-cc', 'incomplete'], 1,
           'level 2, cell at 0.125 0.125 0.125', 'oct in it is missing')
    tiny.write('orphan', {**good, 4: [(0, 0, 0, 0)]}, levelmin=3)
    expect(v, 'an oct in a leaf cell', ['-cc', 'orphan'], 1,
           'level 4, oct at 0.0625 0.0625 0.0625', 'not split')
    octs = tiny.grow({1: tiny.all_cells(1) - {(0, 0, 0)}, 2: {(3, 3, 3)}})
    tiny.write('fatherless', octs | {3: [(0, 0, 0, 0)]}, levelmin=2)
    expect(v, 'an oct without a parent', ['-cc', 'fatherless'], 1,
           'level 3, oct at 0.125 0.125 0.125', 'no parent')
    tiny.write('twice', {**good, 3: good[3][:-1] + [good[3][0]]}, levelmin=3)
    expect(v, 'an oct twice', ['-cc', 'twice'], 1, 'level 3, oct at 0.125 0.125 0.125', 'twice')
    # at faces of a box with boundaries there is no level to be graded with
    edge = tiny.grow({1: tiny.all_cells(1), 2: tiny.all_cells(2), 3: {(0, 0, 0)}, 4: {(0, 0, 0)}})
    tiny.write('edge', edge, levelmin=3)
    expect(v, '2:1 over the faces', ['-cc', 'edge'], 1, 'level 5')
    with open('edge/namelist.txt', 'w') as f:
        f.write('&BOUNDARY_PARAMS\nnboundary=6\n/\n')
    expect(v, 'walls', ['-cc', 'edge'], 0)


def ksection(v):
    """Six ranks: three along x, each divided in two along y; x and y of level 3 define the owner of
    an oct."""
    octs = tiny.grow({1: tiny.all_cells(1), 2: tiny.all_cells(2)})
    nodes, kmax = 10, 3
    wall, child = np.zeros((nodes, kmax - 1)), np.zeros((nodes, kmax), int)
    rank = np.zeros(nodes, int)
    wall[0], child[0] = [0.25, 0.75], [2, 3, 4]
    for p in range(3):
        wall[1 + p, 0], child[1 + p, :2] = 0.5, [5 + 2 * p, 6 + 2 * p]
        rank[4 + 2 * p:6 + 2 * p] = [2 * p + 1, 2 * p + 2]
    box = np.zeros((6, 2, 3))
    domains = [(2, '<i4'), (kmax, '<i4'), (nodes, '<i4'), ([3, 2], '<i4'), ([1, 2], '<i4'),
               (wall.T, '<f8'), (child.T, '<i4'), (rank, '<i4'), (box[:, 0].T, '<f8'),
               (box[:, 1].T, '<f8')]

    def owner(level, o):
        x, y = ((o[d] + 0.5) * 0.5 ** (level - 1) for d in (0, 1))
        return 2 * int(np.searchsorted([0.25, 0.75], x)) + (2 if y > 0.5 else 1)

    tiny.write('tree', octs, levelmin=3, ncpu=6, owner=owner, ordering='ksection', domains=domains)
    r = expect(v, 'k-section', ['-t', 'tree'], 0, 'ranks 1-6', 'x at 0.25 0.75')
    v.same('k-section: walls of the second level', r.out.count('y at 0.5'), 3)
    t = json.loads(inspect('-tj', 'tree').out)
    v.same('partners down the tree', [x['tree_partners'] for x in t['by_rank']],
           [[3, 5, 2], [4, 6, 1], [1, 5, 4], [2, 6, 3], [1, 3, 6], [2, 4, 5]])
    count = {k: sum(owner(l, o) == k for l in octs for o in octs[l]) for k in range(1, 7)}
    v.same('octs of the ranks', [x['octs'] for x in t['by_rank']], [count[k] for k in range(1, 7)])
    v.same('balance', round(t['balance']['octs'], 12),
           round(max(count.values()) * 6 / sum(count.values()), 12))
    child[0, 0] = 1  # a cycle
    domains[6] = (child.T, '<i4')
    tiny.write('loop', octs, levelmin=3, ncpu=6, owner=owner, ordering='ksection', domains=domains)
    expect(v, 'a tree that bites its tail', ['-t', 'loop'], 2, 'tree of domains is damaged')


def synthetic():
    v = ptah.Verdict()
    trees(v)
    ksection(v)
    for argv in (['nowhere'], ['-c', 'nowhere'], ['-c', '.'], ['good', 'nowhere'],
                 ['-t', 'nowhere'], ['-p', 'nowhere']):
        expect(v, 'inspect ' + ' '.join(argv), argv, 2, 'inspect: ')
    os.remove('tree/amr_00001.out00001')
    expect(v, 'the first file missing', ['-c', 'tree'], 1, 'tree/amr_00001.out00001')
    v.end()


# checkpoints of simulate

def fresh(source, name='broken', sums=False):
    """A copy to be damaged, without checksums, which would reveal the damage at once."""
    shutil.rmtree(name, ignore_errors=True)
    shutil.copytree(source, name)
    for f in os.listdir(name):
        if not sums and (f.startswith('exact') or f.startswith('checksum')):
            os.remove(os.path.join(name, f))
    return name


class Hydro:
    """A cell of the hydro file of rank 1: position of its values, and its coordinates."""

    def __init__(self, folder, want):
        amr = os.path.join(folder, 'amr_00002.out00001')
        self.path = os.path.join(folder, 'hydro_00002.out00001')
        a, h = tiny.Records(amr), tiny.Records(self.path)
        ncpu, nlevel = (tiny.get(amr, a[k][0], 'i') for k in (1, 4))
        nvar = tiny.get(self.path, h[2][0], 'i')
        numbl = np.fromfile(amr, '<i4', ncpu * nlevel, offset=a[22][0]).reshape(nlevel, ncpu)
        at, vat = 30, 7  # first records after the headers
        for l in range(1, nlevel + 1):
            for r in range(ncpu):
                n = numbl[l - 1, r]
                son = [np.fromfile(amr, '<i4', n, offset=a[at + 13 + c][0]) != 0
                       for c in range(8 if n and r == 0 else 0)]
                found = [(k, c) for c in range(len(son)) for k in range(n) if want(l, son[c][k])]
                if found:
                    k, c = found[len(found) // 2]
                    x = [tiny.get(amr, a[at + 3 + d][0] + 8 * k, 'd') +
                         ((c >> d & 1) - 0.5) * 0.5 ** l for d in range(3)]
                    self.place = 'level %d, cell at %.9g %.9g %.9g' % (l, *x)
                    self.at = [h[vat + 2 + c * nvar + i][0] + 8 * k for i in range(nvar)]
                    return
                at += 37 if n else 0
                vat += 2 + (8 * nvar if n else 0)

    def change(self, var, f):
        tiny.put(self.path, self.at[var], 'd', f(tiny.get(self.path, self.at[var], 'd')))
        return self


def values(v, path):
    gamma = 1.6666667
    leaf, split = (lambda l, s: l == 6 and not s), (lambda l, s: l == 5 and s)
    b = fresh(path)
    expect(v, 'sound without sums', ['-cc', b], 0, 'have no checksums')
    for what, var, f, word in (('density', 0, lambda x: -x, 'density is -'),
                               ('pressure', 4, lambda x: np.nan, 'pressure is nan'),
                               ('energy', 4, lambda x: -1.0, 'energy is -'),
                               ('infinite', 1, lambda x: np.inf, 'velocity_x is inf')):
        h = Hydro(fresh(path), leaf).change(var, f)
        expect(v, what, ['-cc', b], 1, 'hydro_00002.out00001', h.place, word)
    h = Hydro(fresh(path), leaf)
    rho, *vel, p = (tiny.get(h.path, at, 'd') for at in h.at[:5])
    kinetic = 0.5 * rho * sum(x * x for x in vel) * (gamma - 1)
    for what, energy, seen in (('a little', 1e-4, False), ('far', 1.0, True)):
        h.change(4, lambda x: -kinetic - energy * (p + kinetic))
        r = inspect('-cc', b)  # its parent does not hold the mean
        v.same('an energy %s below zero' % what, (r.status, 'energy is -' in r.out), (1, seen))
    for var in range(5):
        h = Hydro(fresh(path), split)
        h.change(var, lambda x: x * (1 + 1e-8) + {0: 0, 4: x}.get(var, 1e-8))
        expect(v, 'mean of the children, variable %d' % var, ['-cc', b], 1, h.place,
               'the mean of its children')
    h = Hydro(fresh(path), leaf).change(0, lambda x: x * (1 + 1e-8))
    expect(v, 'a son that changed', ['-cc', '--memory', '1M', b], 1, 'the mean of its children')
    Hydro(fresh(path, sums=True), leaf).change(0, lambda x: x * (1 + 1e-15))
    expect(v, 'a bit of the gas, with sums', ['-c', b], 1, '00002.out00001')


def particles(v, path):
    def part(folder, column):  # its first two values
        p = os.path.join(folder, 'part_00002.out00001')
        at = tiny.Records(p)[9 + column][0]
        return p, at

    b = fresh(path)
    first = tiny.get(*part(b, 7), 'i')
    for what, column, value, kind, word in (
            ('outside', 0, 1.001, 'd', 'outside the box'), ('mass', 6, -1e-5, 'd', 'has the mass'),
            ('velocity', 4, np.nan, 'd', 'velocity nan')):
        p, at = part(fresh(path), column)
        tiny.put(p, at, kind, value)
        expect(v, what, ['-cc', b], 1, 'part_00002.out00001',
               'particle %d of family 1' % first, word)
    p, at = part(fresh(path), 7)
    tiny.put(p, at + 4, 'i', first)
    expect(v, 'an id twice', ['-cc', b], 1, 'particle %d of family 1' % first, 'twice')
    for d in range(3):  # moved to the other rank
        p, at = part(fresh(path), d)
        tiny.put(p, at, 'd', (tiny.get(p, at, 'd') + 0.5) % 1)
        r = inspect('-cc', b)
        if r.status:
            break
    v.same('a particle with another rank', (r.status, 'belongs to rank' in r.out), (1, True))


def files(v, path):
    b = 'broken'
    for name in ('amr_00002.out00002', 'hydro_00002.out00001', 'grav_00002.out00002',
                 'part_00002.out00001', 'exact_00002.out00002'):
        os.remove(os.path.join(fresh(path, sums=True), name))
        expect(v, name + ' missing', ['-c', b], 1, name)
        p = os.path.join(fresh(path, sums=True), name)
        os.truncate(p, os.path.getsize(p) - 1)
        expect(v, name + ' cut', ['-c', b], 1, name)
        p = os.path.join(fresh(path, sums=True), name)
        shutil.copy(p, p[:-1] + '7')
        expect(v, name + ' of a rank that there is not', ['-c', b], 1, name[:-1] + '7')
    shutil.copy('run/output_00001/amr_00001.out00002',
                os.path.join(fresh(path), 'amr_00002.out00002'))
    expect(v, 'a file of another step', ['-c', b], 1, 'amr_00002.out00002', 'step')
    step = 'nstep_coarse=          '
    for name, a, c, word in (
            ('header_00002.txt', '     32768', '     32767', 'says 32767 particles'),
            ('info_00002.txt', step + '1', step + '9', 'nstep_coarse: is 9')):
        p = os.path.join(fresh(path), name)
        with open(p) as f:
            text = f.read()
        v.same(name + ': as expected', a in text, True)
        with open(p, 'w') as f:
            f.write(text.replace(a, c))
        expect(v, name, ['-c', b], 1, name, word)


def compare(v, path, hdf5):
    b = fresh(path)
    expect(v, 'same without the exact files', [path, b], 0, 'the same')
    expect(v, 'same in HDF5', [path, hdf5], 0, 'the same')
    h = Hydro(b, lambda l, s: l == 6 and not s)
    old = tiny.get(h.path, h.at[0], 'd')
    h.change(0, lambda x: x * 1.001)
    expect(v, 'one density', [path, b], 1, 'density', ' 1 ',
           h.place.replace('cell ', '').replace(',', ''))
    expect(v, 'quiet', ['-q', path, b], 1)
    expect(v, 'within the tolerance', ['--rtol', '1.1e-3', path, b], 0)
    expect(v, 'beyond the tolerance', ['--rtol', '0.9e-3', path, b], 1)
    r = inspect('-j', path, b)
    v.same('turns do not matter', inspect('-j', '--memory', '1M', path, b).out, r.out)
    density = json.loads(r.out)['fields'][0]
    v.check('greatest difference', abs(density['max_abs'] - 0.001 * old), 1e-12 * old)
    v.same('values that differ', density['differing'], 1)
    r = json.loads(inspect('-j', 'run/output_00001', path).out)
    s = [read_ramses.load('run/output_00001'), read_ramses.load(path)]
    cells = [set(zip(x.level, x.starts)) for x in s]
    v.same('leaf cells', (r['leaves'], r['leaves_only_a'], r['leaves_only_b']),
           (len(cells[0] & cells[1]), len(cells[0] - cells[1]), len(cells[1] - cells[0])))
    ids = [dict(zip(x.part['identity'], x.part['velocity_x'])) for x in s]
    most = max(abs(ids[0][i] - ids[1][i]) for i in ids[0])
    field = [f for f in r['particle_fields'] if f['name'] == 'velocity_x'][0]
    v.check('greatest difference of velocities', abs(field['max_abs'] - most), 0)
    expect(v, 'a checkpoint that is not there', [path, 'nowhere'], 2)


def maps(v, path):
    s = read_ramses.load(path)
    size = 0.5 ** s.level.astype(float)
    low = s.corner
    mass = s.cell['density'] * s.volume
    for axis, n in (('x', 64), ('y', 100), ('z', 333)):
        r = inspect('-j', '-m', 'density', '-a', axis, '-n', str(n), '-o', 'm.npy', path)
        m = json.loads(r.out)
        v.check('mass in the map along ' + axis, abs(m['total'] / mass.sum() - 1), 1e-12)
        v.check('the array has it too',
                abs(np.load('m.npy').sum() / n ** 2 / mass.sum() - 1), 1e-12)
    m = json.loads(inspect('-j', '-m', 'dm', '-o', 'm.npy', path).out)
    v.check('mass of the particles', abs(m['total'] / s.part['mass'].sum() - 1), 1e-11)
    # a region across the corner of the box
    centre, width, depth = np.array([0.05, 0.93, 0.4]), 0.31, 0.17
    share = np.ones(len(size))
    for d, w in enumerate((width, width, depth)):
        part = 0
        for shift in (-1, 0, 1):
            a, b = low[d] + shift, low[d] + shift + size
            overlap = np.minimum(b, centre[d] + w / 2) - np.maximum(a, centre[d] - w / 2)
            part = part + np.clip(overlap, 0, None)
        share *= part / size
    where = ['--center', ','.join(map(str, centre)), '--width', str(width), '--depth', str(depth)]
    m = json.loads(inspect('-j', '-m', 'density', '-n', '50', '-o', 'm.npy', *where, path).out)
    v.check('mass in a region', abs(m['total'] / (mass * share).sum() - 1), 1e-12)
    inspect('-m', 'velocity_x', '-n', '1', '-o', 'm.npy', *where, path)
    mean = (mass * share * s.cell['velocity_x']).sum() / (mass * share).sum()
    v.check('mean velocity, by mass', abs(np.load('m.npy')[0, 0] / mean - 1), 1e-9)
    inspect('-m', 'velocity_x', '--weight', 'volume', '-n', '1', '-o', 'm.npy', *where, path)
    mean = (s.volume * share * s.cell['velocity_x']).sum() / (s.volume * share).sum()
    v.check('mean velocity, by volume', abs(np.load('m.npy')[0, 0] / mean - 1), 1e-9)
    inspect('-m', 'temperature', '--weight', 'max', '-n', '1', '-o', 'm.npy', *where, path)
    kelvin = 1.6605390e-24 / 1.3806490e-16 * (s.info['unit_l'] / s.info['unit_t']) ** 2
    greatest = (s.cell['pressure'] / s.cell['density'])[share > 0].max() * kelvin
    v.check('greatest temperature', abs(np.load('m.npy')[0, 0] / greatest - 1), 1e-14)
    r = inspect('-m', 'level', '-n', '64', '-f', 'npy', '-o', 'm.npy', path)
    top = np.zeros((64, 64))
    for l in np.unique(s.level):
        x, y = ((low[d][s.level == l] * 64).astype(int) for d in (0, 1))
        for k in range(4 ** int(6 - l)):  # pixels have the size of cells of level 6
            width = 2 ** int(6 - l)
            np.maximum.at(top, (y + k // width, x + k % width), l)
    v.same('deepest level of each pixel', (r.status, (np.load('m.npy') == top).all()), (0, True))
    inspect('-m', 'density', '--log', '--range', '0.1,1', '--colours', 'viridis',
            '-o', 'm.png', path)
    with open('m.png', 'rb') as f:
        v.same('a picture', f.read(8), b'\x89PNG\r\n\x1a\n')
    for argv in (['-m', 'entropy', path], ['-m', 'density', '--range', '2,1', path],
                 ['-m', 'dm', '--weight', 'mass', path], ['-m', 'phi', '--log', path],
                 ['--width', '0.5', path]):
        expect(v, ' '.join(argv[:-1]), argv, 2, 'inspect: ')


def texts(v, path, hdf5):
    t = json.loads(inspect('-tj', path).out)
    s = read_ramses.load(path)
    v.same('octs by level',
           {l['level']: l['octs'] for l in t['levels']}, {l: n for l, n in s.octs.items() if n})
    v.same('octs of the ranks', sum(x['octs'] for x in t['by_rank']), sum(s.octs.values()))
    v.same('particles of the ranks', sum(x['particles'] for x in t['by_rank']), 32768)
    v.same('ghosts of each other', [x['ghosts_of'] for x in t['by_rank']], [[2], [1]])
    p = json.loads(inspect('-pj', path).out)
    v.same('parameters', p['parameters']['AMR_PARAMS']['levelmin'], ['5'])
    v.same('provenance', 'ptah simulate' in p['provenance'][0], True)
    v.same('the namelist as it was', inspect('-pq', path).out, p['namelist'])
    for mode in ([], ['-d'], ['-t'], ['-p'], ['-c'], ['-cc']):
        r = inspect('-j', *mode, '-s' if not mode else '-q', path, hdf5)
        v.same('%s: schema' % (mode or 'summary'),
               [json.loads(line)['schema'] for line in r.out.splitlines()], [2, 2])
    one = inspect('-d', path)
    for ranks in (2, 3):
        v.same('digest on %d ranks' % ranks, inspect('-d', path, ranks=ranks).out, one.out)
    v.same('digest of HDF5 on 2 ranks', inspect('-d', hdf5, ranks=2).out, one.out)
    r = inspect('-d', 'nowhere', ranks=2)
    v.same('trouble on 2 ranks, said once', (r.status, r.err.count('inspect: nowhere')), (2, 1))


def add_places(path):
    """Snapshot of read_ramses with the corner of each leaf cell in the box and its position on the
    Morton curve."""
    load = read_ramses.load

    def more(p):
        s = load(p)
        ends = np.cumsum(8 ** (20 - s.level.astype(np.int64)))
        s.starts = ends - 8 ** (20 - s.level.astype(np.int64))
        x = np.zeros((3, len(ends)), np.int64)
        for bit in range(20):
            for d in range(3):
                x[d] |= (s.starts >> 3 * bit + d & 1) << bit
        s.corner = x * 0.5 ** 20
        return s

    read_ramses.load = more


def written():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    for folder in ('run', 'h5'):
        os.makedirs(folder)
        os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    path = ptah.output(ptah.simulate(NAMELIST, 'run', 2), 2)
    r = ptah.simulate(NAMELIST, 'h5', 1, settings=['output_params/outformat=hdf5'])
    hdf5 = ptah.output(r, 2)
    add_places(path)
    print('     octs %s' % read_ramses.load(path).octs)
    for what in (path, hdf5):
        expect(v, 'sound', ['-cc', what], 0, 'sound', 'match their checksums')
    values(v, path)
    particles(v, path)
    files(v, path)
    compare(v, path, hdf5)
    maps(v, path)
    texts(v, path, hdf5)
    v.end()


if __name__ == '__main__':
    {'synthetic': synthetic, 'written': written}[sys.argv[1]]()
