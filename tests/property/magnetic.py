"""`inspect -cc` of checkpoints with a magnetic field on faces, as RAMSES writes them.

    magnetic.py    random trees in one to three dimensions; the seed is printed and may be given as
                   SEED=N

The field is the curl of a potential, averaged over each face, so that both copies of a face agree,
a coarse face is the mean of the finer ones, and no cell has a divergence. Each of these is then
broken in one place, by a change of a hundredth of the field.

Maps of the field, of the Alfvén speed and of beta are compared pixel by pixel.

Examples of faults caught: faces between octs of different files that are not compared, a mean over
all children of a cell instead of the children at the face, a divergence with the spacing of another
level, a map of one face instead of the mean of both, copies judged by the field of their own cell.
"""
# test: tier=check timeout=180
import json
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import any_ramses  # noqa: E402
import ptah  # noqa: E402

FACES = ['B_%s_%s' % (d, s) for s in ('left', 'right') for d in 'xyz']
NAMES = ['density', 'velocity_x', 'velocity_y', 'velocity_z'] + FACES + ['pressure']
LEVELS = {n: {'levelmin': min(n + 2, 4), 'levelmax': top} for n, top in ((1, 7), (2, 6), (3, 6))}
WAVE = 2 * np.pi * np.array([[1, 2, 1], [2, 1, 1], [1, 1, 2]])


def potential(d, a, b):
    """Component d of the potential, of the coordinates along the next two axes."""
    return 0.3 * np.sin(WAVE[d, 1] * a + d) * np.cos(WAVE[d, 2] * b) / (2 * np.pi)


def face(ndim, d, corner, h):
    """Mean of component d over the lower faces of cells at `corner` [3][n]; of one value in a
    missing axis."""
    a, b = (d + 1) % 3, (d + 2) % 3
    x = [c + (0.5 * h if k >= ndim and k != d else 0) for k, c in enumerate(corner)]
    if d >= ndim:
        return 0.2 + 0.1 * np.sin(2 * np.pi * corner[0])
    total = 0
    # component b does not vary along itself, so that its mean along an edge is its value
    for along, other, sign in ((b, a, 1), (a, b, -1)):
        if other >= ndim:
            continue
        ends = []
        for e in (0, h):
            y = [v + e if k == other else v for k, v in enumerate(x)]
            ends.append(potential(along, *edge(ndim, along, y)))
        total = total + sign * (ends[1] - ends[0]) / h
    return 0.7 + total + 0 * corner[0]


def edge(ndim, along, x):
    """Coordinates of an edge that its potential depends on."""
    return [x[(along + 1) % 3] if (along + 1) % 3 < ndim else 0.25,
            x[(along + 2) % 3] if (along + 2) % 3 < ndim else 0.25]


def gas(ndim, change):
    """change(l, B[6], x): of the faces of the cells at integer coordinates x [3][n] of level l."""
    def values(l, x):
        h, cells = 0.5 ** l, 2 ** ndim
        out = np.ones((cells, len(NAMES), len(x)))
        for c in range(cells):
            i = np.array([2 * x[:, d] + (c >> d & 1) if d < ndim else 0 * x[:, 0]
                          for d in range(3)])
            b = []
            for high in (0, 1):
                for d in range(3):
                    step = np.array([[int(high and k == d and d < ndim)] for k in range(3)])
                    # the faces at both ends of the periodic box are the same
                    at = (i + step) % np.array([[2 ** l if k < ndim else 1] for k in range(3)])
                    b.append(face(ndim, d, at * h, h))
            b = np.array(b)
            change(l, b, i)
            out[c, 4:10] = b
        return out
    return values


def nothing(l, b, x):
    pass


def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *argv], '.')


def write(name, seed, ndim, change, **levels):
    return any_ramses.write(name, np.random.default_rng(seed), ndim=ndim, names=NAMES,
                            gas=gas(ndim, change), **(levels or LEVELS[ndim]))


def at(level, cell, f, by):
    """Changes face f (−x, −y, −z, +x, …) of a cell of the level."""
    def change(l, b, x):
        if l == level:
            b[f, (x.T == cell).all(1)] += by
    return change


def sound(v, ndim, seed):
    name = 'sound%d' % ndim
    made = write(name, seed, ndim, nothing)
    r = inspect('-cc', '-j', name)
    found = json.loads(r.out)
    v.same('%d-D: status, findings' % ndim, (r.status, found['damages']), (0, 0))
    v.check('%d-D: copies' % ndim, found['face_copies'], 1e-12)
    v.check('%d-D: divergence' % ndim, found['div_B'], 1e-11)
    ptah.Run([ptah.program('convert'), '-q', '-f', 'hdf5', '-o', name + '_h', name], '.')
    there = json.loads(inspect('-cc', '-j', name + '_h').out)
    v.same('%d-D: HDF5' % ndim, [there.get(k) for k in ('damages', 'face_copies', 'div_B')],
           [0, found['face_copies'], found['div_B']])
    return made


def broken(v, ndim, seed, made):
    """A leaf cell of a finer level, and a split one."""
    level = LEVELS[ndim]['levelmin']
    split = made.split[level]
    leaf = np.argwhere(~split)[0]
    refined = np.argwhere(split)[0]

    def cell(k):
        x = 2 * made.octs[level][k[0]] + [k[1] >> d & 1 for d in range(ndim)]
        return np.append(x, [0] * (3 - ndim))
    for f in range(2 * 3):
        d, high = f % 3, f // 3
        name = 'broken%d_%d' % (ndim, f)
        write(name, seed, ndim, at(level, cell(leaf), f, 0.01))
        r = inspect('-cc', name)
        word = 'in the cell on its other side' if d < ndim else 'at the opposite face'
        v.same('%d-D, face %d: status, sentence' % (ndim, f),
               (r.status, word in r.out, FACES[f] in r.out or FACES[(f + 3) % 6] in r.out),
               (1, True, True))
        if d >= ndim:
            continue
        # both copies, and not the means of finer faces
        name = 'mean%d_%d' % (ndim, f)
        here, there = cell(refined), cell(refined)
        there[d] = (there[d] + (1 if high else -1)) % 2 ** level

        def both(l, b, x):
            at(level, here, f, 0.01)(l, b, x)
            at(level, there, (f + 3) % 6, 0.01)(l, b, x)
        write(name, seed, ndim, both)
        r = inspect('-cc', name)
        v.same('%d-D, both copies of face %d of a split cell' % (ndim, f),
               (r.status, 'by the finer level' in r.out, 'other side' in r.out), (1, True, False))


def pixels(made, ndim):
    """{field: map of a 2-D checkpoint, a pixel for each cell of the finest level}"""
    top = max(made.octs)
    n = 2 ** top
    values = np.zeros((len(NAMES), n, n))
    for l, octs in made.octs.items():
        for c, cell in enumerate(gas(ndim, nothing)(l, octs)):
            w = 2 ** (top - l)
            for i in np.flatnonzero(~made.split[l][:, c]):
                x, y = ((2 * octs[i, d] + (c >> d & 1)) * w for d in range(2))
                values[:, y:y + w, x:x + w] = cell[:, i, None, None]
    q = dict(zip(NAMES, values))
    b = {d: (q['B_%s_left' % d] + q['B_%s_right' % d]) / 2 for d in 'xyz'}
    size = np.sqrt(sum(x ** 2 for x in b.values()))
    return {'B': size, 'alfven_speed': size / np.sqrt(q['density']),
            'beta': q['pressure'] / (size ** 2 / 2), **{'B_' + d: x for d, x in b.items()}}


def maps(v, made):
    for field, want in pixels(made, 2).items():
        r = inspect('-m', field, '-n', str(len(want)), '--weight', 'volume', '-o', 'map.npy',
                    '--force', 'sound2')
        got = np.load('map.npy') if r.status == 0 else np.zeros_like(want)
        v.check('map of ' + field, abs(got - want).max() / abs(want).max(), 1e-12)
    r = inspect('-m', 'div_B', '--weight', 'max', '-o', 'map.npy', '--force', 'sound2')
    top = json.loads(inspect('-cc', '-j', 'sound2').out)['div_B']
    v.same('map of div_B', np.load('map.npy').max() == top, True)


def many(v, seed):
    """More octs than fit into the memory allowed: the files are read several times."""
    write('many', seed, 3, nothing, levelmin=5, levelmax=6)
    found = json.loads(inspect('-cc', '-j', 'many').out)
    v.same('many octs: findings', (found['octs'] > 8000, found['damages']), (True, 0))
    v.same('many octs in 1 MiB', json.loads(inspect('-cc', '-j', '--memory', '1M', 'many').out),
           found)
    write('seam', seed, 3, at(5, [31, 7, 20], 3, 0.01), levelmin=5, levelmax=6)
    r = inspect('-cc', '--memory', '1M', 'seam')
    v.same('a face on the seam of the box', (r.status, 'on its other side' in r.out), (1, True))


def faint(v, ndim, seed):
    """Where there is almost no field, its copies may differ by all that they are."""
    rng = np.random.default_rng(seed)

    def change(l, b, x):
        b[:] = 0
        b[2] = b[5] = x[0] < 2 ** (l - 1)  # half of the box
        b += 1e-13 * (rng.random(b.shape) - .5)
    write('faint%d' % ndim, seed, ndim, change)
    r = inspect('-cc', '-j', 'faint%d' % ndim)
    found = json.loads(r.out)
    v.same('%d-D, little field: status, findings' % ndim, (r.status, found['damages']), (0, 0))
    v.check('%d-D, little field: copies' % ndim, found['face_copies'], 1.1e-13)


def divergent(v, seed):
    """A divergence is no damage, and is reported."""
    def change(l, b, x):
        b[0] += 0.1 * x[0] * 0.5 ** l
        b[3] += 0.1 * ((x[0] + 1) % 2 ** l) * 0.5 ** l
    write('divergent', seed, 1, change)
    found = json.loads(inspect('-cc', '-j', 'divergent').out)
    v.same('divergence: findings', found['damages'], 0)
    v.same('divergence: its size', 0.05 < found['div_B'] < 0.2, True)


def grown(ndim, seed):
    """The first seed from this one on whose tree has both leaf cells and finer ones at levelmin."""
    while True:
        rng = np.random.default_rng(seed)
        split = any_ramses.grow(rng, ndim, walls=False, **LEVELS[ndim])[1]
        if 0 < split[LEVELS[ndim]['levelmin']].sum() < split[LEVELS[ndim]['levelmin']].size:
            return seed
        seed += 1


def main():
    seed = int(os.environ.get('SEED', random.randrange(1 << 30)))
    print('SEED=%d' % seed)
    v = ptah.Verdict()
    for ndim in (1, 2, 3):
        good = grown(ndim, seed)
        made = sound(v, ndim, good)
        if ndim == 2:
            maps(v, made)
        broken(v, ndim, good, made)
        faint(v, ndim, good)
    many(v, grown(3, seed))
    divergent(v, seed)
    v.end()


if __name__ == '__main__':
    main()
