"""Plots: particles smoothed over their neighbours, contours, scale bars, several panels, and the
numbers behind a plot.

    plots.py smooth   brute force in NumPy; mass; slabs add up; the same bits for other files and
                      threads; the lattice of initial positions is not seen
    plots.py panels   fields and checkpoints beside each other, one range of colours
    plots.py data     --data has what was drawn; sizes of files; what is refused

Examples of faults caught: a neighbour too many, a spline that loses its part across the boundary,
bits that follow the order of particles, a panel with a range of its own, rows upside down, an SVG
with a rectangle for each pixel.
"""
# test: smooth tier=check timeout=120
# test: panels tier=check timeout=120
# test: data tier=check timeout=120
import json
import os
import sys

import matplotlib.image
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

COUNT, PIXELS = 512, 32


def namelist(levelmin):
    return """&RUN_PARAMS
poisson=.true.
pic=.true.
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
/
&INIT_PARAMS
filetype='ascii'
initfile='ics'
nregion=1
region_type='square'
x_center=0.5
y_center=0.5
z_center=0.5
length_x=10
length_y=10
length_z=10
exp_region=10
d_region=1
p_region=2
/
&OUTPUT_PARAMS
foutput=1
/
""" % (levelmin, levelmin)


def inspect(*argv, env=None):
    return ptah.Run([ptah.program('inspect'), *argv], '.', env=env)


def run(name, x, mass, levelmin=4):
    os.makedirs(name + '/ics')
    rows = np.hstack([x - 0.5, np.zeros((len(x), 3)), mass[:, None]])
    np.savetxt(name + '/ics/ic_part', rows, fmt='%.17g')
    return ptah.simulate(namelist(levelmin), name, options=['-q']).outputs[0]


def array(path, *argv, env=None, field='dm'):
    r = inspect('-q', '-m', field, '-n', str(PIXELS), '--force', '-o', 'm.npy', *argv, path,
                env=env)
    assert r.status == 0, r.err
    return np.load('m.npy')


def spline(t):
    """The integral of the cubic B-spline up to t."""
    s = np.minimum(abs(t), 2)
    up = np.where(s >= 1, 1 - (2 - s) ** 4 / 24, 0.5 + 2 * s / 3 - s ** 3 / 3 + s ** 4 / 8)
    return np.where(t > 0, up, 1 - up)


def expected(x, mass, neighbours):
    far = abs(x[:, None] - x[None])
    far = np.sqrt((np.minimum(far, 1 - far) ** 2).sum(-1))
    h = np.minimum(np.sort(far, 1)[:, neighbours], 0.25) / 2
    edges = np.linspace(0, 1, PIXELS + 1)
    share = [sum(np.diff(spline((edges - x[:, d, None] - k) / h[:, None]), axis=1)
                 for k in (-1, 0, 1)) for d in range(2)]
    return np.einsum('i,iv,iu->vu', mass, share[1], share[0]) * PIXELS ** 2


def smooth(v):
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, (COUNT, 3))
    x[:COUNT // 4] = 0.5 + 0.03 * rng.normal(size=(COUNT // 4, 3))
    mass = rng.uniform(1, 3, COUNT) / COUNT
    path = run('random', x, mass)
    for n in 32, 7, 1:
        want = expected(x, mass, n)
        got = array(path, '--smooth', str(n))
        v.check('%d neighbours: brute force' % n, abs(got / want - 1)[want > 1e-9].max(), 1e-9)
        v.check('%d neighbours: mass' % n, abs(got.mean() / mass.sum() - 1), 1e-14)
    whole, cubes = array(path), array(path, '--smooth', '0')
    v.same('32 by default', (whole == array(path, '--smooth', '32')).all(), True)
    v.check('the mass is that of cubes', abs(whole.mean() / cubes.mean() - 1), 1e-14)
    slabs = sum(array(path, '--center', '0.5,0.5,%g' % c, '--depth', '0.5') for c in (0.25, 0.75))
    v.check('two slabs are the whole', abs(slabs / whole - 1).max(), 1e-12)
    ptah.Run([ptah.program('repartition'), '-q', '--ranks', '3', '-o', 'parts', path], '.')
    v.same('the bits of other files', (array('parts') == whole).all(), True)
    v.same('the bits of three threads',
           (array(path, env={'OMP_NUM_THREADS': '3'}) == whole).all(), True)
    many = [array(path, '-n', '4', *o) for o in ([], ['--smooth', '0'])]
    v.same('many particles a pixel: cubes', (many[0] == many[1]).all(), True)
    lattice(v)


def lattice(v):
    """Cubes of half the spacing leave gaps; splines add up to the mean."""
    at = (np.arange(8) + 0.5) / 8
    x = np.stack(np.meshgrid(at, at, at), -1).reshape(-1, 3)
    path = run('lattice', x, np.full(len(x), 1 / len(x)))
    v.same('a lattice of cubes has gaps', array(path, '--smooth', '0').min(), 0.0)
    v.check('a smoothed lattice is not seen', abs(array(path) - 1).max(), 1e-12)


def ranges(path_list, *argv):
    r = inspect('-j', '-m', *argv, '-n', '24', '--force', '-o', 'p.png', *path_list)
    assert r.status == 0, r.err
    return [json.loads(line) for line in r.out.splitlines()]


def panels(v):
    rng = np.random.default_rng(8)
    x = rng.uniform(0, 1, (COUNT, 3))
    paths = [run('first', x, np.full(COUNT, 1 / COUNT)),
             run('second', 0.5 + 0.3 * (x - 0.5), np.full(COUNT, 4 / COUNT))]
    both = ranges(paths, 'dm', '--panels')
    v.same('two checkpoints, two panels', [m['path'] for m in both], paths)
    v.same('one range', both[0]['range'], both[1]['range'])
    v.same('it has all values', both[0]['range'][1] >= max(m['max'] for m in both) * 0.999
           or both[0]['range'][1] > both[0]['max'], True)
    two = matplotlib.image.imread('p.png').shape
    fields = ranges(paths[:1], 'dm,density,pressure')
    v.same('three fields', [m['field'] for m in fields], ['dm', 'density', 'pressure'])
    v.same('each has its range', len({tuple(m['range']) for m in fields}), 3)
    three = matplotlib.image.imread('p.png').shape
    ranges(paths[:1], 'dm')
    one = matplotlib.image.imread('p.png').shape
    v.same('as high as one map', (two[0], three[0]), (one[0], one[0]))
    v.same('as wide as three', three[1], 3 * one[1])
    v.same('two with one bar', one[1] < two[1] < 2 * one[1], True)
    grid = ranges(paths, 'dm,density', '--panels')
    v.same('a row for each field', [(m['field'], m['path']) for m in grid],
           [(f, p) for f in ('dm', 'density') for p in paths])
    v.same('a range a row', (grid[0]['range'], grid[2]['range']),
           (grid[1]['range'], grid[3]['range']))
    inspect('-q', '-m', 'dm,density', '--panels', '-n', '24', '-o', 'g.npy', *paths)
    all_maps = np.load('g.npy')
    single = []
    for field in 'dm', 'density':
        for path in paths:
            inspect('-q', '-m', field, '-n', '24', '--force', '-o', 's.npy', path)
            single.append(np.load('s.npy'))
    v.same('an array of all', (all_maps == np.array(single)).all(), True)
    r = inspect('-m', 'dm', '--panels', '-o', 'none.png', paths[0], 'nothing')
    v.same('the checkpoint that is missing is blamed',
           (r.status, 'there is no checkpoint nothing' in r.err), (2, True))
    for more in ([], ['--panels']):
        r = inspect('-m', 'dm', *more, '-o', 'none.png', '--data', 'no/where.tsv', paths[0])
        v.same('numbers in no directory' + ''.join(more),
               (r.status, r.err.count('\n'), os.path.exists('none.png')), (2, 1, False))


def table(path):
    return [line.split('\t') for line in open(path, encoding='utf-8').read().splitlines()
            if not line.startswith('#')]


def data(v):
    rng = np.random.default_rng(9)
    path = run('box', rng.uniform(0, 1, (COUNT, 3)), np.full(COUNT, 1 / COUNT))
    inspect('-q', '-m', 'dm', '-n', str(PIXELS), '--data', 'd.tsv', '--contours', '3',
            '--scale-bar', '-o', 'd.png', path)
    values = array(path)
    v.check('a map: rows from below', abs(np.array(table('d.tsv'), float) / values - 1).max(),
            1e-11)
    array(path, '--data', 'd.npy')
    v.same('a map: as an array', (np.load('d.npy') == values).all(), True)
    r = inspect('--profile', '0.5,0.5,0.5,0.4', '--data', 'p.tsv', path)
    rows = [line.split('\t') for line in r.out.splitlines() if line and line[0] != '#']
    gas = [float(row[2]) for row in table('p.tsv') if row[0] == 'gas'][:len(rows)]
    names = next(line for line in r.out.splitlines() if line.startswith('#from')).split('\t')
    column = next(i for i, name in enumerate(names) if name.startswith('gas_density'))
    v.check('a profile: its curves', max(abs(g / float(row[column]) - 1) for g, row in
                                         zip(gas, rows)), 1e-8)
    r = inspect('-q', '-m', 'dm', '--contours', '2', '-o', 'big.svg', path)
    v.check('an SVG of 512² pixels, MB', os.path.getsize('big.svg') / 1e6, 1)
    plain, lined = (matplotlib.image.imread(drawn(path, *o)) for o in
                    ([], ['--contours', '3', '--scale-bar']))
    changed = (plain != lined).any(axis=2).mean()
    v.same('contours and a scale bar are drawn', 0.001 < changed < 0.3, True)
    for values, none in ('-1', True), ('1e30', True), ('1,1e30', False), ('1', False):
        r = inspect('-m', 'dm', '--contours=' + values, '-o', 'none.png', '--force', path)
        v.same('contours at %s: the reader is told that there are none' % values,
               (r.status, 'no contour is drawn: the values of dm are from ' in r.err),
               (0, none))
    for argv in (['-m', 'dm', '--data', 'x.txt'], ['-m', 'dm,'], ['-m', 'dm,none'],
                 ['-m', 'dm', '--contours', 'x'], ['-m', 'dm', '--smooth', '-3'],
                 ['-m', 'dm', '--symlog', '0'], ['-m', 'dm', '--bare', '--scale-bar'],
                 ['-m', 'dm', '--bare', '--panels'], ['-m', 'dm', '--colours', 'jet'],
                 ['--stars', '--data', 'x.npy']):
        r = inspect(*argv, '-o', 'no.png', path)
        v.same('refused: ' + ' '.join(argv), (r.status, r.err.count('\n'),
                                              os.path.exists('no.png')), (2, 1, False))


def drawn(path, *argv):
    name = 'o%d.png' % len(argv)
    inspect('-q', '-m', 'dm', '-n', '64', '-o', name, *argv, path)
    return name


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {'smooth': smooth, 'panels': panels, 'data': data}[sys.argv[1]](verdict)
    verdict.end()
