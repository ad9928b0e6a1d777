"""Maps of the current of checkpoints with a magnetic field on faces, and lines over maps.

    field_maps.py current   known currents: of linear fields on random trees, with walls
                            and without, in every bit the same on any ranks and in both formats; of
                            sines on one level, against the currents at edges of numpy
    field_maps.py lines     the lines of a field in two dimensions are contours of its potential,
                            evenly spaced; those of a uniform velocity are straight
    field_maps.py refused   what has no current or lines is refused with a sentence

Random trees: the seed is printed and may be given as SEED=N.

Examples of faults caught: a current with the spacing of another level, a neighbour on the wrong
side, differences beside coarser cells over two widths, no neighbours across the seam of the box or
in another file, components or axes of the lines exchanged, lines upside down.
"""
# test: current tier=check timeout=120 ranks=1
# test: lines tier=check timeout=60
# test: refused tier=quick timeout=60
import json
import os
import random
import re
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import any_ramses  # noqa: E402
import magnetic  # noqa: E402
import ptah  # noqa: E402

# derivative of component [d] along axis [e]; without a trace
SLOPE = np.array([[.3, -.7, .4], [.9, -.1, .2], [-.5, .6, -.2]])
CURRENT = np.array([SLOPE[(d + 2) % 3, (d + 1) % 3] - SLOPE[(d + 1) % 3, (d + 2) % 3]
                    for d in range(3)])


def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *argv], '.')


def pixels(v, path, field, *options):
    r = inspect('-m', field, '--force', '-o', 'map.npy', *options, path)
    if r.status:
        print(r.said())
    v.same('%s of %s: status' % (field, path), r.status, 0)
    return np.load('map.npy') if r.status == 0 else np.full((1, 1), np.nan)


def linear(ndim):
    """The field on the middle of each face of linear components."""
    def change(l, b, i):
        for f in range(6):
            d = f % 3
            x = i.astype(float) + .5
            x[d] = i[d] + f // 3
            x = np.where(np.arange(3)[:, None] < ndim, x * .5 ** l, 0)
            if d >= ndim:
                x[d] = 0
            b[f] = .2 + SLOPE[d] @ x
    return change


def current_of(ndim):
    s = np.where(np.arange(3) < ndim, SLOPE, 0)
    return np.array([s[(d + 2) % 3, (d + 1) % 3] - s[(d + 1) % 3, (d + 2) % 3] for d in range(3)])


def set_units(path):
    with open(path) as f:
        text = f.read()
    for name, value in ('l', 1e18), ('d', 1e-20), ('t', 1e13):
        text = re.sub(r'(unit_%s +=).*' % name, r'\1 %.15E' % value, text)
    with open(path, 'w') as f:
        f.write(text)


def trees(v, seed):
    for ndim, walls in (2, False), (2, True), (3, False), (3, True):
        name = 'linear%d%s' % (ndim, '_walls' * walls)
        # a periodic field is not linear across the seam of the box
        where = [] if walls else ['--width', '0.5', '--depth', '0.5']
        if ndim == 2:
            where += ['--depth', '1']
        magnetic.write(name, seed, ndim, linear(ndim), walls=walls, ncpu=3,
                       levelmin=magnetic.LEVELS[ndim]['levelmin'], levelmax=6 - (ndim == 3))
        want = current_of(ndim)
        for d in range(3):
            got = pixels(v, name, 'current_' + 'xyz'[d], '-n', '32', *where)
            v.check('%s: current along %s' % (name, 'xyz'[d]), abs(got - want[d]).max(), 1e-11)
        got = pixels(v, name, 'current', '-n', '32', *where)
        v.check(name + ': its size', abs(got - np.linalg.norm(want)).max(), 1e-11)
        set_units(os.path.join(name, 'info_00007.txt'))
        got = pixels(v, name, 'current', '-u', '-n', '32', *where)
        unit = np.sqrt(4 * np.pi * 1e-20) / 1e13
        v.check(name + ': in G/cm', abs(got / np.linalg.norm(want) / unit - 1).max(), 1e-11)


def whole(l, made):
    """Fields on lower faces of a complete level, [component][z, y, x]."""
    n = 2 ** l
    b = np.zeros((3, n, n, n))
    for c, cell in enumerate(magnetic.gas(3, magnetic.nothing)(l, made.octs[l])):
        x, y, z = (2 * made.octs[l][:, d] + (c >> d & 1) for d in range(3))
        b[:, z, y, x] = cell[4:7]
    return b


def sines(v):
    """The mean of the currents at the four edges of a cell."""
    l = 4
    made = magnetic.write('sines', 1, 3, magnetic.nothing, levelmin=l, levelmax=l)
    b, h = whole(l, made), .5 ** l
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        at = b[f] - np.roll(b[f], 1, 2 - e) - b[e] + np.roll(b[e], 1, 2 - f)  # at lower edges
        at = at + np.roll(at, -1, 2 - e)
        want = (at + np.roll(at, -1, 2 - f)) / 4 / h
        for k in (0, 9):
            got = pixels(v, 'sines', 'current_' + 'xyz'[d], '--weight', 'volume', '-n', str(2 ** l),
                         '--center', '.5,.5,%g' % ((k + .5) * h), '--depth', str(.5 * h))
            v.check('plane %d: edges along %s' % (k, 'xyz'[d]),
                    abs(got - want[k]).max() / abs(want).max(), 1e-12)


def forms(v, seed):
    """The same bits on any ranks, in both formats, and in a part of the map."""
    magnetic.write('tree', magnetic.grown(3, seed), 3, magnetic.nothing, ncpu=3, levelmin=3,
                   levelmax=5)
    for d, program, *options in (('five', 'repartition', '--ranks', '5'),
                                 ('hdf5', 'convert', '-f', 'hdf5')):
        r = ptah.Run([ptah.program(program), '-q', *options, '-o', d, 'tree'], '.')
        v.same(d + ': status', r.status, 0)
    how = ['--weight', 'max', '-n', '64']
    want = pixels(v, 'tree', 'current', *how)
    for d in ('five', 'hdf5'):
        v.same('%s: pixels' % d, (pixels(v, d, 'current', *how) == want).all(), True)
    part = pixels(v, 'tree', 'current', '--weight', 'max', '-n', '16', '--width', '.25', '--center',
                  '0,0,.5')
    r = ptah.Run([ptah.program('convert'), '-q', '--region', 'box:.2,.2,.2,.8,.8,.8', '--levelmin',
                  '2', '-o', 'cut', 'tree'], '.')
    v.same('a cut: status', r.status, 0)
    inner = [pixels(v, d, 'current', *how, '--width', '.25', '--depth', '.25')
             for d in ('tree', 'cut')]
    v.same('within a cut', (inner[0] == inner[1]).all(), True)
    v.same('a part across the seam', (np.roll(want, 8, (0, 1))[:16, :16] == part).all(), True)


def current():
    seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
    print('SEED=%d' % seed)
    v = ptah.Verdict()
    trees(v, seed)
    sines(v)
    forms(v, seed)
    v.end()


# ---- lines ----


def drawn(path):
    """The white lines of a map that fills the box, in units of the box; heads of arrows have three
    points."""
    with open(path) as f:
        text = f.read()
    lines = []
    for path in re.findall(r'<path [^>]*>', text):
        x = np.array(re.findall(r'[ML] ([-\d.]+) ([-\d.]+)', path), float)
        if re.search(r'stroke[:=]"?rgb\(100%, ?100%, ?100%\)', path) and len(x) > 3:
            lines.append(x)
    return lines


def square(lines, left, top, side):
    return [np.array([(x[:, 0] - left) / side, 1 - (x[:, 1] - top) / side]) for x in lines]


def potential(x, y):
    return magnetic.potential(2, x, y) + .7 * y - .7 * x


def spaced(v, what, lines, n):
    least = min((np.sqrt((a[0][:, None] - b[0]) ** 2 + (a[1][:, None] - b[1]) ** 2).min()
                 for i, a in enumerate(lines) for b in lines[:i]), default=0)
    v.same(what + ': the least distance is half of the separation', least * n > .48, True)
    every = np.concatenate(lines, 1)
    grid = np.stack(np.meshgrid(*2 * [(np.arange(30) + .5) / 30])).reshape(2, -1)
    far = np.sqrt(((grid[:, :, None] - every[:, None]) ** 2).sum(0)).min(1).max()
    v.check(what + ': the greatest distance from a line, in separations', far * n, 1.5)


def draw(v, path, *options):
    r = inspect('-m', 'B', '-j', '--force', '-o', 'lines.svg', *options, path)
    v.same('%s of %s: status' % (options[1], path), r.status, 0)
    return json.loads(r.out), square(drawn('lines.svg'), 96, 44, 448)


def lines():
    v = ptah.Verdict()
    magnetic.write('plane', 1, 2, magnetic.nothing, levelmin=7, levelmax=7)
    span = np.ptp(potential(*np.meshgrid(*2 * [np.linspace(0, 1, 200)])))
    for n in (12, 30):
        found, l = draw(v, 'plane', '--lines', 'B,%d' % n, '-n', '128')
        v.same('%d: number' % n, (found['lines'], len(l) > n / 2), (len(l), True))
        off = max(np.ptp(potential(*x)) for x in l) / span
        v.check('%d: change of the potential along a line' % n, off, 2e-3)
        spaced(v, '%d' % n, l, n)
        # whose components are above 0 nearly everywhere
        v.same('%d: points follow each other along the field' % n,
               np.mean([(x[:, -1] - x[:, 0]).sum() > 0 for x in l]) > .9, True)
    v.same('30 by default', (draw(v, 'plane', '--lines', 'B', '-n', '128')[0]['lines'], True),
           (found['lines'], True))
    l = draw(v, 'plane', '--lines', 'velocity', '-n', '128')[1]
    v.check('lines of a uniform velocity', max(np.ptp(x[1] - x[0]) for x in l), 5e-5)
    for end in 'png', 'pdf':
        for name in 'one', 'two':
            inspect('-m', 'B', '--lines', 'B', '-n', '128', '-o', name + '.' + end, 'plane')
        if end == 'png':  # a PDF has its date
            with open('one.png', 'rb') as a, open('two.png', 'rb') as b:
                v.same('the same bits', a.read() == b.read(), True)
        v.same(end, os.path.getsize('one.' + end) > 10000, True)
    part = draw(v, 'plane', '--lines', 'B,10', '-n', '128', '--width', '.25', '--center',
                '0,.5,.5')[1]
    part = [np.array([.25 * x[0] - .125, .25 * x[1] + .375]) for x in part]
    v.check('a part of the box', max(np.ptp(potential(*x)) for x in part) / span, 2e-3)
    axes(v)
    v.end()


def axes(v):
    """A uniform field in a box, along each axis."""
    def change(l, b, i):
        b[:] = 0
        b[[1, 4]], b[[2, 5]], b[[0, 3]] = 1, 2, 4
    magnetic.write('box', 1, 3, change, levelmin=3, levelmax=3)
    for axis, slope in (('x', 2), ('y', .5), ('z', .25)):
        l = draw(v, 'box', '--lines', 'B', '-n', '128', '-a', axis)[1]
        v.check('along ' + axis, max(np.ptp(x[1] - slope * x[0]) for x in l), 5e-5)


# ---- refused ----


def refused():
    v = ptah.Verdict()

    def fails(what, word, *argv):
        r = inspect(*argv)
        v.same('%s: status, sentence' % what, (r.status, word in r.err, len(r.err.splitlines())),
               (2, True, 1))
        if word not in r.err:
            print(r.err)
    plain = ['density', 'velocity_x', 'velocity_y', 'pressure']
    any_ramses.write('plain', np.random.default_rng(1), ndim=2, names=plain, tame=True, levelmin=3,
                     levelmax=4)
    fails('no field', 'magnetic field', '-m', 'density', '--lines', 'B', 'plain')
    fails('no field', 'has no field current', '-m', 'current', 'plain')
    fails('no velocity', 'velocity_z', '-m', 'density', '--lines', 'velocity', '-a', 'x', 'plain')
    magnetic.write('line', 1, 1, magnetic.nothing, levelmin=3, levelmax=4)
    fails('one dimension', 'one dimension', '-m', 'current', 'line')
    fails('one dimension', 'one dimension', '-m', 'B', '--lines', 'B', 'line')
    magnetic.write('plane', 1, 2, magnetic.nothing, levelmin=3, levelmax=4)
    for what in ('E', '', 'B,', 'B,1', 'B,201', 'B,-5', 'B,x', 'B,1e9', 'B,30,30', 'Bvelocity',
                 'B,99999999999999999999', 'B,30x', ',30'):
        fails('--lines %r' % what, '2 to 200', '-m', 'B', '--lines', what, 'plane')
    fails('bare', '--bare', '-m', 'B', '--lines', 'B', '--bare', 'plane')
    fails('an array', 'npy', '-m', 'B', '--lines', 'B', '-o', 'a.npy', 'plane')
    fails('another mode', '--lines', '--line', '--lines', 'B', 'plane')
    for bad in (np.nan, np.inf):
        name = 'bad%g' % bad
        magnetic.write(name, 1, 2, magnetic.at(3, [2, 5, 0], 4, bad), levelmin=3, levelmax=3)
        fails('a face of %g' % bad, 'B_y_right is %g' % bad, '-m', 'current', '--force', name)
        fails('a face of %g' % bad, 'B_y is NaN or infinite', '-m', 'density', '--lines', 'B', name)
        r = inspect('-m', 'current', '--force', '--width', '.1', '--center', '.8,.2,.5', name)
        v.same('far from it', r.status, 0)
    v.same('no picture is left', [f for f in os.listdir('.') if f.endswith('.npy')], [])
    v.end()


if __name__ == '__main__':
    {'current': current, 'lines': lines, 'refused': refused}[sys.argv[1]]()
