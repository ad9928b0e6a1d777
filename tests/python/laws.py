"""Laws of the module `ptah`: arrays have the bits of the files as tests/golden/read_ramses.py reads
them; all formats have the same arrays; regions are those of brute force; maps, spectra, profiles
and halos have the numbers that the programs print. Run by tests/clients/python_module.py in a
folder with output_00002, copies of it in HDF5 (h5) and of four ranks (four/output_00002), and what
the programs print."""
import json
import sys

import numpy as np
import ptah

failed = 0


def check(what, good):
    global failed
    print('%-60s %s' % (what, 'ok' if good else 'FAILED'))
    failed += not good


def order(t, *columns):
    return np.lexsort([t[name] for name in columns])


def same(a, b, *by):
    """Whether two tables have the same rows, bit for bit, in any order."""
    i, j = order(a, *by), order(b, *by)
    return a.n == b.n and list(a) == list(b) and all(
        np.array_equal(a[k][i].view('i8' if a[k].itemsize == 8 else a[k].dtype),
                       b[k][j].view('i8' if b[k].itemsize == 8 else b[k].dtype)) for k in a)


def part(t, which):
    """Some rows of a table."""
    some = ptah.Table.__new__(ptah.Table)
    some.update({k: v[which] for k, v in t.items()})
    some.n, some.units = int(which.sum()), {}
    return some


def files(c):
    import read_ramses
    s, t, p = read_ramses.load('output_00002'), c.cells(), c.particles()
    finest = t['level'].max()
    places = np.stack([t[k] - t['dx'] / 2 for k in 'xyz']) * 2. ** finest
    curve = np.argsort(read_ramses.morton(places.astype(np.int64), int(finest)))
    check('cells: levels along a curve through all places',
          np.array_equal(t['level'][curve], s.level))
    check('cells: %d fields' % len(s.cell),
          len(s.cell) == 9 and all(np.array_equal(t[f][curve], s.cell[f]) for f in s.cell))
    i, j = np.argsort(p['identity']), np.argsort(s.part['identity'])
    check('particles: %d columns' % len(p),
          all(np.array_equal(p[k][i], s.part[k][j]) for k in s.part))


def formats(c):
    t, p = c.cells(), c.particles()
    for path in 'h5', 'four/output_00002':
        with ptah.open(path) as other:
            check(path + ': the same cells', same(t, other.cells(), 'x', 'y', 'z', 'level'))
            check(path + ': the same particles', same(p, other.particles(), 'identity'))


def regions(c):
    t = c.cells(['x', 'y', 'z', 'density', 'dx'])
    x = np.stack([t[k] for k in 'xyz'], 1)
    for centre, radius in ([.5, .5, .5], .2), ([.01, .98, .5], .17), ([.3, .3, .3], 2.):
        ball = c.cells(list(t), region=ptah.sphere(centre, radius))
        far = np.abs(x - centre)
        inside = (np.minimum(far, 1 - far) ** 2).sum(1) <= radius ** 2
        check('cells in a sphere of radius %g: %d' % (radius, ball.n),
              ball.n > 0 and same(ball, part(t, inside), 'x', 'y', 'z'))
    lo, hi = np.array([.9, .2, .4]), np.array([1.05, .9, 1.1])
    slab = c.cells(list(t), region=ptah.box(lo, hi))
    far = np.abs(x - (lo + hi) / 2)
    inside = (np.minimum(far, 1 - far) <= (hi - lo) / 2).all(1)
    check('cells in a box across faces: %d' % slab.n,
          slab.n > 0 and same(slab, part(t, inside), 'x', 'y', 'z'))
    p = c.particles(['position_x', 'position_y', 'position_z', 'identity'])
    far = np.stack([p['position_' + k] for k in 'xyz'], 1) - [.9, .1, .5]
    near = c.particles(list(p), region=ptah.sphere([.9, .1, .5], .2), family='dm')
    inside = ((far - np.rint(far)) ** 2).sum(1) <= .2 ** 2
    check('particles of another family: none', c.particles('mass', family='star').n == 0)
    check('particles in a sphere: %d' % near.n,
          near.n > 0 and same(near, part(p, inside), 'identity'))


def levels(c):
    whole = c.cells(['density', 'dx', 'level'])
    mass = (whole['density'] * whole['dx'] ** 3).sum()
    check('leaf cells fill the box', abs((whole['dx'] ** 3).sum() - 1) < 1e-14)
    for l in range(1, c.levelmin + 1):
        t = c.cells(['density', 'dx', 'level'], level=l)
        check('level %d is complete, with the same mass' % l,
              t.n == 8 ** l and abs((t['density'] * t['dx'] ** 3).sum() / mass - 1) < 1e-12)
        t = c.cells(['density', 'dx', 'level'], levelmax=l)
        check('a mesh that ends at level %d' % l, t.n == 8 ** l and set(t['level']) == {l})
    top = whole['level'].max()
    t = c.cells('density', level=int(top))
    check('the finest level has its leaves', t.n == (whole['level'] == top).sum())


def printed(name):
    with open(name, encoding='utf-8') as f:
        return json.loads(f.readline())


def programs(c):
    m = c.map('density', pixels=32, physical=True)
    check('map: inspect -m density', np.array_equal(m.data, np.load('map.npy').reshape(32, 32)))
    m = c.map('density', pixels=32)
    t = c.cells(['density', 'dx'])
    mass = (t['density'] * t['dx'] ** 3).sum()
    check('map: its sum is the mass', abs(m.data.sum() / 32 ** 2 / mass - 1) < 1e-12)
    want = printed('profile.json')
    p = c.profile([.5, .5, .5], .3, bins=12)
    check('profile: inspect --profile',
          all(np.array_equal([np.nan if r[k] is None else r[k] for r in want['bins']], p[k],
                             equal_nan=True) for k in p))
    want = printed('pk.json')
    p = c.spectra('dm', 'dmxgas', mesh=32)
    check('spectra: the wave numbers of pk',
          np.allclose(p['k'], want['spectra'][0]['k'], rtol=1e-12, atol=0))
    check('spectra: the power of pk', all(
        np.allclose(p[s['name']], s['P'], rtol=1e-12, atol=0) for s in want['spectra']))
    want = printed('halos.json')['halos']
    h = c.halos(link=.9, min=10)
    check('halos: inspect --halos, %d' % h.n, h.n == len(want) and h.n > 0 and all(
        np.array_equal([np.nan if r[k] is None else r[k] for r in want], h[k], equal_nan=True)
        for k in h))


def main():
    with ptah.open('output_00002') as c:
        files(c)
        formats(c)
        regions(c)
        levels(c)
        programs(c)
    sys.exit(failed > 0)


main()
