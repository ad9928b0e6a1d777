"""Masks of genzoom against brute force, which tests every cell of every level. Boxes, spheres,
ellipsoids, hulls and minimum-volume ellipsoids of points, padded maps, all across the faces of the
box; traced particles; big-endian sets; the mass cut.

Example of a fault caught: a padding in cells of another level, x and z exchanged, a hull that
loses coplanar points.
"""
# test: masks tier=check timeout=120
# test: trace tier=check timeout=120
# test: baryons tier=check timeout=120
# test: halo tier=check timeout=120
# test: cuts tier=check timeout=60
# test: room tier=check timeout=180
import itertools
import json
import os
import re
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

BOX_MPC = 40.0
OMEGA_M, OMEGA_L, H0 = 0.3111, 0.6889, 67.66
RHO_CRIT = 2.77536627e11  # Msun/h / (Mpc/h)^3


def write(path, values, level, offset, order='<', box=BOX_MPC):
    """Writes a GRAFIC2 file of values[z, y, x]; offset in cells."""
    nz, ny, nx = values.shape
    dx = box / 2 ** level
    head = struct.pack(order + '3i8f', nx, ny, nz, dx, *(o * dx for o in offset), 0.02, OMEGA_M,
                       OMEGA_L, H0)
    with open(path, 'wb') as f:
        for record in [head] + [plane.astype(order + 'f4').tobytes() for plane in values]:
            mark = struct.pack(order + 'i', len(record))
            f.write(mark + record + mark)


def read(path, order='<'):
    with open(path, 'rb') as f:
        b = f.read()
    n = struct.unpack(order + '3i', b[4:16])
    plane = 4 * n[0] * n[1]
    rows = [np.frombuffer(b, order + 'f4', n[0] * n[1], 52 + 4 + k * (plane + 8))
            for k in range(n[2])]
    return np.concatenate(rows).reshape(n[2], n[1], n[0])


def make_set(folder, levels, maps=None, order='<', box=BOX_MPC):
    """levels: {level: (offset, cells)}; cells: one number, or three for the directions."""
    shutil.rmtree(folder, ignore_errors=True)
    for level, (offset, n) in levels.items():
        d = os.path.join(folder, 'level_%03d' % level)
        os.makedirs(d)
        n = (n, n, n) if isinstance(n, int) else n
        write(os.path.join(d, 'ic_deltab'), np.zeros(n[::-1]), level, offset, order, box)
        if maps and level in maps:
            write(os.path.join(d, 'ic_refmap'), maps[level], level, offset, order, box)


def genzoom(*words, status=0):
    r = ptah.Run([ptah.program('genzoom'), *[str(w) for w in words]], '.', timeout=60)
    if r.status != status:
        print(' '.join(r.argv), r.status, r.err)
        sys.exit(1)
    return r


# Brute force on complete levels, so that periodic images can be tested.

LEVELS = {3: ((0, 0, 0), 8), 4: ((0, 0, 0), 16), 5: ((0, 0, 0), 32)}
DEEPER = {4: ((0, 0, 0), 16), 5: ((0, 0, 0), 32), 6: ((0, 0, 0), 64)}
FINE = 5


def centres(level):
    c = (np.arange(2 ** level) + 0.5) / 2 ** level
    z, y, x = np.meshgrid(c, c, c, indexing='ij')
    return np.stack([x, y, z], -1)


def coarse(fine, level):
    k = 2 ** (FINE - level)
    n = 2 ** level
    return fine.reshape(n, k, n, k, n, k).any((1, 3, 5))


def any_image(inside):
    x = centres(FINE)
    return np.any([inside(x + np.array(s)) for s in itertools.product((-1, 0, 1), repeat=3)],
                  axis=0)


def in_hull(points, half):
    """Convex hull without a library: faces found by trying all triples of the extreme corners."""
    corners = np.concatenate([points + half * np.array(s)
                              for s in itertools.product((-1, 1), repeat=3)])
    corners = np.unique(np.round(corners, 12), axis=0)
    faces = []
    for i, j, k in itertools.combinations(range(len(corners)), 3):
        n = np.cross(corners[j] - corners[i], corners[k] - corners[i])
        size = np.abs(n).max()
        if size < 1e-9:
            continue
        n = n / size
        side = (corners - corners[i]) @ n
        if side.max() < 1e-9:
            faces.append((n, corners[i] @ n))
        elif side.min() > -1e-9:
            faces.append((-n, -(corners[i] @ n)))
    n = np.array([f[0] for f in faces])
    d = np.array([f[1] for f in faces])
    unique = np.unique(np.round(np.column_stack([n, d]), 9), axis=0)
    return lambda x: np.all(x @ unique[:, :3].T <= unique[:, 3] + 1e-9, axis=-1)


def check_shape(v, what, words, inside):
    make_set('set', LEVELS)
    genzoom('-q', '--force', *words, 'set')
    fine = any_image(inside)
    for level in LEVELS:
        mine = read('set/level_%03d/ic_pvar_00006' % level)
        want = coarse(fine, level)
        v.same('%s, level %d, %d cells: wrong ones' % (what, level, want.sum()),
               int((mine != want).sum()), 0)


def ellipsoid(c, a):
    return lambda x: np.einsum('...i,ij,...j', x - c, a, x - c) <= 1


def check_shapes(v):
    base = 1 / 8
    c, l = np.array([0.97, 0.4, 0.02]), np.array([0.3, 0.1, 0.21])

    def text(*a):
        return ','.join('%.17g' % x for x in np.concatenate([np.ravel(b) for b in a]))

    for pad in (0, 1):
        p = pad * base
        check_shape(v, 'box, padding %d' % pad, ['--box', text(c, l), '-p', pad],
                    lambda x: np.all(np.abs(x - c) <= l / 2 + p, axis=-1))
        check_shape(v, 'sphere, padding %d' % pad, ['--sphere', text(c, [0.23]), '-p', pad],
                    ellipsoid(c, np.eye(3) / (0.23 + p) ** 2))
        check_shape(v, 'ellipsoid, padding %d' % pad,
                    ['--ellipsoid', text(c, l), '-p', pad], ellipsoid(c, np.diag((l + p) ** -2)))
        q, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
        check_shape(v, 'turned ellipsoid, padding %d' % pad,
                    ['--ellipsoid', text(c, q @ np.diag(l ** -2) @ q.T), '-p', pad],
                    ellipsoid(c, q @ np.diag((l + p) ** -2) @ q.T))


def check_points(v):
    rng = np.random.default_rng(11)
    half = 0.5 / 2 ** FINE
    # many points in a plane
    lattice = np.array(list(itertools.product((0, 1, 2), repeat=3))) / 32 + 0.03
    for what, points, pad in (('9 points', rng.uniform(-0.2, 0.1, (9, 3)), 0),
                              ('one point', np.array([[0.3, 0.7, 0.999]]), 0),
                              ('a plane', np.column_stack([lattice[:9, 1:], np.full(9, 0.5)]), 0),
                              ('a lattice, padding 1', lattice[::3], 1)):
        with open('points', 'w') as f:
            f.write('# x y z\n' + ''.join('%.15f %.15f %.15f 1\n' % tuple(p % 1) for p in points))
        check_shape(v, 'hull of ' + what,
                    ['--points', 'points', '-p', pad], in_hull(points, half + pad / 8))


def least_ellipsoid(points):
    """Minimum-volume ellipsoid by Khachiyan's plain ascent, many steps."""
    n = len(points)
    q = np.column_stack([points, np.ones(n)])
    u = np.full(n, 1 / n)
    for _ in range(60000):
        m = np.einsum('ij,jk,ik->i', q, np.linalg.inv(q.T @ (q * u[:, None])), q)
        j = m.argmax()
        if m[j] / 4 - 1 < 1e-5:
            break
        step = (m[j] - 4) / (4 * (m[j] - 1))
        u *= 1 - step
        u[j] += step
    c = u @ points
    a = np.linalg.inv((points - c).T @ ((points - c) * u[:, None])) / 3
    return c, a / np.einsum('ij,jk,ik->i', points - c, a, points - c).max()


def check_least(v):
    points = np.random.default_rng(3).normal(0.5, [0.08, 0.03, 0.05], (40, 3))
    with open('points', 'w') as f:
        f.write(''.join('%.15f %.15f %.15f\n' % tuple(p) for p in points))
    make_set('set', DEEPER)
    genzoom('-q', '--points', 'points', '--shape', 'ellipsoid', 'set')
    mine = read('set/level_006/ic_pvar_00006') > 0
    cells = np.floor(points * 64).astype(int)
    v.same('least ellipsoid: cells of points that are not masked',
           int((~mine[cells[:, 2], cells[:, 1], cells[:, 0]]).sum()), 0)
    corners = np.concatenate([points + 0.5 / 64 * np.array(s)
                              for s in itertools.product((-1, 1), repeat=3)])
    c, a = least_ellipsoid(corners)
    want = ellipsoid(c, a)(centres(6))
    v.check('least ellipsoid: cells that differ, of %d' % want.sum(),
            float((mine != want).sum() / want.sum()), 2e-3)
    volume = 4 / 3 * np.pi / np.sqrt(np.linalg.det(a)) * 64 ** 3
    v.check('least ellipsoid: volume', abs(mine.sum() / volume - 1), 0.02)


def check_maps(v):
    rng = np.random.default_rng(7)
    maps = {4: (rng.random((16, 16, 16)) < 0.004).astype(float) * 3,
            5: (rng.random((32, 32, 32)) < 0.001).astype(float)}
    for order in '<>':
        for pad in (0, 2):
            make_set('maps', DEEPER, maps, order)
            genzoom('-q', '-p', pad, '-i', 12, 'maps')
            for level, cells in ((4, pad), (5, 2 * pad)):
                want = np.zeros(maps[level].shape, bool)
                for s in itertools.product(range(-cells, cells + 1), repeat=3):
                    want |= np.roll(maps[level] != 0, s, (0, 1, 2))
                mine = read('maps/level_%03d/ic_pvar_00012' % level, order)
                v.same('map of level %d, padding %d, order %s: wrong cells' % (level, pad, order),
                       int((mine != want).sum()), 0)
            v.same('no map: 1', read('maps/level_006/ic_pvar_00012', order).min(), 1)
    inner = {4: DEEPER[4], 5: ((10, 12, 8), (12, 12, 16)), 6: ((28, 32, 24), (8, 12, 12))}
    middle = np.zeros((16, 16, 16))
    middle[6:8, 7:9, 6:8] = 1
    make_set('inner', inner, {4: middle})
    genzoom('-q', 'inner')
    level5 = np.zeros((16, 12, 12))  # 1 where the next level has files, without a layer of one cell
    level5[12 - 8 + 1:18 - 8 - 1, 16 - 12 + 1:22 - 12 - 1, 14 - 10 + 1:18 - 10 - 1] = 1
    v.same('sub-level without map',
           bool((read('inner/level_005/ic_pvar_00006') == level5).all()), True)


def check_genetic(v):
    """The layout of genetIC, as in its test 08e: directories NAME.grafic_CELLS, whose order is not
    that of their names. Two complete levels below the base grid, two small levels above, with a
    mask."""
    levels = {2: ((0, 0, 0), 4), 3: ((0, 0, 0), 8), 4: ((0, 0, 0), 16), 5: ((8, 8, 8), 12),
              6: ((20, 20, 20), 16)}
    maps = {2: np.zeros((4, 4, 4)), 3: np.zeros((8, 8, 8)), 4: np.zeros((16, 16, 16)),
            5: np.zeros((12, 12, 12)), 6: np.ones((16, 16, 16))}
    maps[2][1, 1, 1] = maps[3][2:4, 2:4, 2:4] = maps[4][5:8, 5:8, 5:8] = maps[5][3:7, 4:8, 5:9] = 1
    make_set('genetic', levels, maps)
    for level in levels:
        folder = 'genetic/test_8.grafic_%d' % 2 ** level
        os.rename('genetic/level_%03d' % level, folder)
        shutil.copy(folder + '/ic_refmap', folder + '/ic_pvar_00001')
    zoom = json.loads(genzoom('-j', 'genetic').out)
    v.same('genetIC: levels', [(l['level'], l['offset'][0], l['cells'][0]) for l in zoom['levels']],
           [(l, off[0], n) for l, (off, n) in levels.items()])
    for level in levels:
        mine = read('genetic/test_8.grafic_%d/ic_pvar_00006' % 2 ** level)
        v.same('genetIC: mask of level %d' % level, bool((mine == maps[level]).all()), True)


def masks():
    v = ptah.Verdict()
    check_genetic(v)
    check_shapes(v)
    check_points(v)
    check_least(v)
    check_maps(v)
    v.end()


# Tracing: a run of dark matter, traced from its densest sphere back to the initial conditions.

RUN = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
/
&OUTPUT_PARAMS
noutput=1
aout=0.3
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
/
&AMR_PARAMS
levelmin=5
levelmax=6
/
&REFINE_PARAMS
m_refine=8.
/
"""


def densest(x):
    """Centre of the densest cell of a coarse mesh, refined by the particles near it."""
    n = 32
    h = np.histogramdd(x, bins=n, range=[(0, 1)] * 3)[0]
    c = (np.array(np.unravel_index(h.argmax(), h.shape)) + 0.5) / n
    for _ in range(5):
        d = (x - c + 0.5) % 1 - 0.5
        c = (c + d[(d ** 2).sum(1) < 0.04 ** 2].mean(0)) % 1
    return c


def trace():
    sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'golden'))
    import read_ramses
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    r = ptah.simulate(RUN, os.getcwd())
    late, early = read_ramses.load(ptah.output(r, 2)), read_ramses.load(ptah.output(r, 1))
    x = np.column_stack([late.part['position_' + a] for a in 'xyz'])
    c, radius = densest(x), 0.05
    halo = late.part['identity'][(((x - c + 0.5) % 1 - 0.5) ** 2).sum(1) <= radius ** 2]
    sphere = ['--trace', ptah.output(r, 2), '--center', ','.join('%.17g' % q for q in c),
              '--radius', radius]
    automatic = [*sphere[:2], '--center', 'densest', '--radius', 0.04]
    own = json.loads(genzoom('-n', '-j', *automatic, 'ics/ic_32').out)['center']
    v.check('densest place: distance', float(np.abs((own - c + 0.5) % 1 - 0.5).max()), 0.01)
    for what, words in (('hull', []), ('ellipsoid', ['--shape', 'ellipsoid']),
                        ('early checkpoint', ['--from', ptah.output(r, 1)])):
        r = genzoom('-j', '--force', *sphere, *words, '-o', 'points', 'ics/ic_32')
        zoom = json.loads(r.out)
        v.same('%s: particles in the sphere' % what, zoom['traced'], len(halo))
        mask = read('ics/ic_32/level_005/ic_pvar_00006') > 0
        if words[:1] == ['--from']:
            its = np.isin(early.part['identity'], halo)
            at = np.column_stack([early.part['position_' + a][its] for a in 'xyz'])
            i = np.floor(at * 32).astype(int) % 32
        else:
            i = np.column_stack([(halo - 1) % 32, (halo - 1) // 32 % 32, (halo - 1) // 1024])
            points = np.loadtxt('points')
            v.check('%s: points written' % what,
                    np.abs(np.sort((i + 0.5) / 32, 0) - np.sort(points, 0)).max(), 1e-8)
        v.check('%s: particles of the halo outside of the mask, of %d' % (what, len(halo)),
                float((~mask[i[:, 2], i[:, 1], i[:, 0]]).mean()), 1e-3)
        v.check('%s: part of the box masked' % what, float(mask.mean()), 0.2)
        again = genzoom('-n', '-q', '--points', 'points',
                        *(words if words[:1] != ['--from'] else []), 'ics/ic_32')
        v.same('%s: points alone give the same mask' % what,
               mask.sum() == int(again.out.splitlines()[2].split()[-2]), True)
    v.end()


# Baryon density of a traced checkpoint, used for masses and namelist of the zoom.

GAS_RUN = RUN.replace('poisson=.true.', 'poisson=.true.\nhydro=.true.\nnstepmax=1').replace(
    "'ics/ic_32/level_005'", "'ics/ic_32/level_005'\nomega_b=%s").replace(
    'noutput=1', 'noutput=1\nfoutput=1')


def header(path):
    with open(path, 'rb') as f:
        return list(struct.unpack('<3i8f', f.read(48)[4:]))


def other_universes(v, words):
    """Files of another box or cosmology than those of the checkpoint are traced with a warning."""
    said = genzoom(*words, 'ics/ic_32').err
    v.same('the same universe: nothing is said', ' where ' in said, False)
    for at, name in ((8, 'omega_m'), (9, 'omega_l'), (10, 'H0'), (3, 'box')):
        head = header('ics/ic_32/level_005/ic_deltab')
        head[at] *= 1.01
        shutil.copytree('ics/ic_32', name)
        for file in os.listdir(name + '/level_005'):
            with open('%s/level_005/%s' % (name, file), 'r+b') as f:
                f.seek(4)
                f.write(struct.pack('<3i8f', *head))
        its = 25.25 if name == 'box' else head[at]
        said = genzoom(*words, name).err
        named = re.search('%s .*where the initial conditions have %g' % (name, its), said)
        v.same('another %s is named' % name, bool(named), True)


def printed(words):
    """omega_b of the namelist, of JSON, and as derived from the mass of particles."""
    lines = genzoom('-n', *words, 'ics/ic_32').out.splitlines()
    line = [float(a.split('=')[1]) for a in lines if a.startswith('omega_b=')]
    zoom = json.loads(genzoom('-n', '-j', *words, 'ics/ic_32').out)
    part = 1 - zoom['levels'][0]['particle_mass'] * 32.0 ** 3
    return line[0], zoom['namelist']['omega_b'], part


def baryons():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    sphere = ['--center', '0.5,0.5,0.5', '--radius', '0.05']
    runs = [('gas', GAS_RUN % 0.049), ('hdf5', GAS_RUN % 0.0383), ('dark', RUN)]
    omega_m = header('ics/ic_32/level_005/ic_deltab')[8]
    for folder, text in runs:
        form = folder if folder == 'hdf5' else 'ramses'
        r = ptah.simulate(text, os.getcwd(), options=['-o', folder, '-q'], settings=[
            "output_params/outformat='%s'" % form])
        path = r.outputs[-1]
        for given, words in ((None, []), (0.03, ['--omega-b', 0.03]), (None, ['--from', path])):
            want = given or {'gas': 0.049, 'hdf5': 0.0383, 'dark': 0.045}[folder]
            got = printed(['--trace', path, *sphere, *words])
            what = '%s %s' % (folder, ' '.join(str(w) for w in words[:1]))
            v.same(what + ': namelist, JSON', got[:2], (want, want))
            v.check(what + ': mass of a particle', abs(got[2] - want / omega_m), 1e-6)
    other_universes(v, ['-n', '--trace', path, *sphere])
    v.same('a sphere', printed(['--sphere', '0.5,0.5,0.5,0.1'])[0], 0.045)
    v.end()


# A halo end to end: box, halo, its origin, a finer level there, its mask, the zoom, and the
# particles of the halo in the zoom. The finer level is interpolated from the coarse one, in files
# as genetIC writes them: directories NAME.grafic_CELLS, ids from 0 in 8 bytes.

FIELDS = ['ic_deltab', 'ic_velcx', 'ic_velcy', 'ic_velcz', 'ic_poscx', 'ic_poscy', 'ic_poscz']
ROOM = 4  # base cells of the finer level around the mask, for the growth of refinement


def interpolated(coarse_values):
    """The waves on a mesh of half the cell width; centres of cells do not coincide."""
    n = len(coarse_values)
    k = np.fft.fftfreq(n, 1 / n)
    k[n // 2] = 0
    waves = np.fft.fftn(coarse_values)
    for d in range(3):
        shape = [-1 if a == d else 1 for a in range(3)]
        shift = np.exp(1j * np.pi * k * (-0.5 / n))
        below = np.abs(np.fft.fftfreq(n, 1 / n)) < n / 2
        waves = waves * shift.reshape(shape) * below.reshape(shape)
    fine = np.zeros((2 * n,) * 3, complex)
    at = np.fft.fftfreq(n, 1 / n).astype(int)
    fine[np.ix_(at, at, at)] = waves
    return np.fft.ifftn(fine).real * 8


def put_like(source, path, values, offset, dtype='<f4'):
    """Writes values[z, y, x] as a GRAFIC2 file with the header of a file of the coarser level."""
    with open(source, 'rb') as f:
        head = struct.unpack('<3i8f', f.read(48)[4:])
    level = 1 if offset else 0
    dx = head[3] / 2 ** level
    body = struct.pack('<3i8f', *values.shape[::-1], dx, *(o * dx for o in offset or (0, 0, 0)),
                       *head[7:])
    with open(path, 'wb') as f:
        for record in [body] + [plane.astype(dtype).tobytes() for plane in values]:
            mark = struct.pack('<i', len(record))
            f.write(mark + record + mark)


def finer_set(points):
    """Layout of genetIC: x.grafic_32, x.grafic_64, the latter around the points; the ids of the
    former are those of the box minus 1."""
    lo = np.floor(points.min(0) * 32).astype(int) - ROOM
    hi = np.floor(points.max(0) * 32).astype(int) + ROOM + 1
    cut = tuple(slice(2 * a, 2 * b) for a, b in zip(lo[::-1], hi[::-1]))
    for folder in ('fine/x.grafic_32', 'fine/x.grafic_64'):
        os.makedirs(folder)
    for name in FIELDS:
        source = 'ics/ic_32/level_005/' + name
        values = read(source)
        put_like(source, 'fine/x.grafic_32/' + name, values, None)
        put_like(source, 'fine/x.grafic_64/' + name, interpolated(values)[cut], tuple(2 * lo))
    ids = np.arange(32 ** 3).reshape(32, 32, 32)
    size = tuple(2 * (hi - lo)[::-1])
    put_like(source, 'fine/x.grafic_32/ic_particle_ids', ids, None, '<i8')
    put_like(source, 'fine/x.grafic_64/ic_particle_ids',
             32 ** 3 + np.arange(np.prod(size)).reshape(size), tuple(2 * lo), '<i8')


def inspect_halo(path, centre, radius):
    sphere = '%s,%g' % (centre, radius)
    r = ptah.Run([ptah.program('inspect'), '--contamination', '-j', '--sphere', sphere, path], '.')
    return json.loads(r.out)


def halo():
    v, radius = ptah.Verdict(), 0.04
    ptah.unpack_ics('.', 'ic_32')
    box = ptah.simulate(RUN, os.getcwd(), options=['-o', 'box'])
    sphere = ['--trace', ptah.output(box, 2), '--center', 'densest', '--radius', radius]
    genzoom('-q', *sphere, '--omega-b', 0, '-o', 'points', 'ics/ic_32')
    finer_set(np.loadtxt('points'))
    r = genzoom('-n', '-j', '-i', 0, '--points', 'points', '-p', 1, '--omega-b', 0, 'fine')
    zoom = json.loads(r.out)['namelist']
    text = RUN.replace("'ics/ic_32/level_005'",
                       "'fine/x.grafic_32'\ninitfile(2)='fine/x.grafic_64'")
    text = text.replace('levelmax=6', 'levelmax=7')
    text = text.replace('m_refine=8.', 'm_refine=2*8.\nivar_refine=%d\nmass_cut_refine=%.9g'
                        % (zoom['ivar_refine'], zoom['mass_cut_refine']))
    bare = ptah.simulate(text, os.getcwd(), options=['-n'], must_work=False)
    v.same('without map: ' + bare.err.splitlines()[-1],
           (bare.status, 'has no ic_refmap' in bare.err), (2, True))
    genzoom('-q', '-i', 0, '--points', 'points', '-p', 1, 'fine')
    run = ptah.simulate(text, os.getcwd(), options=['-o', 'zoom'])
    print('box %.1f s, zoom %.1f s' % (box.seconds, run.seconds))
    found = inspect_halo(ptah.output(run, 2), 'densest', radius)
    there = inspect_halo(ptah.output(box, 2), 'densest', radius)
    v.check('halo: distance from that of the box',
            float(np.abs(np.array(found['center']) - there['center']).max()), 0.01)
    v.check('halo: mass, of that in the box',
            abs((found['light_mass'] + found['heavy_mass']) / there['light_mass'] - 1), 0.1)
    n = found['light'] + found['heavy']
    v.check('halo: part of its %d particles that is heavy' % n, found['heavy'] / n, 1e-3)
    v.check('halo: radii to the nearest heavy one', radius / found['nearest'], 1.0)
    v.same('halo: enough to tell', n > 2000, True)
    v.end()


# Particle masses.

# The manual's table of mass_cut_refine for levels 7 to L, 10 Mpc/h, as printed: L, fine particle,
# coarse particle, cut.
TABLE = [(9, 4.6e7, 3.7e8, 1.0e8), (10, 5.8e6, 4.6e7, 1.5e7), (11, 7.2e5, 5.8e6, 2.0e6),
         (12, 9.0e4, 7.2e5, 2.5e5), (13, 1.1e4, 9.0e4, 3.0e4)]


def cuts():
    v = ptah.Verdict()
    box = 10.0
    for top, fine, coarse_mass, cut in TABLE:
        levels = {3: ((0, 0, 0), 8)}
        for level in range(4, top - 3):
            levels[level] = ((2 ** (level - 1) - 4,) * 3, 8)
        make_set('set', levels, {3: np.ones((8, 8, 8))}, box=box / (H0 / 100))
        zoom = json.loads(genzoom('-n', '-j', '-q', '--omega-b', 0.04, 'set').out)
        two, one = zoom['levels'][-2:]
        mine = zoom['namelist']['mass_cut_refine']
        # mass of a particle of level l by definition, not from genzoom
        l = one['level']
        want = (1 - 0.04 / OMEGA_M) * 8.0 ** -l
        v.check('level %d: particle mass' % l, abs(one['particle_mass'] / want - 1), 1e-6)
        v.check('level %d: in Msun/h' % l,
                abs(one['particle_mass_msun_h'] / (want * RHO_CRIT * OMEGA_M * box ** 3) - 1), 1e-5)
        v.same('level %d: fine < cut < coarse' % l,
               one['particle_mass'] < mine < two['particle_mass'], True)
        v.check('table, level %d: cut over fine mass' % top,
                abs(mine / one['particle_mass'] / (cut / fine) - 1), 0.31)
        v.check('table, level %d: cut over coarse mass' % top,
                abs(mine / two['particle_mass'] / (cut / coarse_mass) - 1), 0.31)
    make_set('set', {3: ((0, 0, 0), 8)}, {3: np.ones((8, 8, 8))})
    v.same('one level: no cut',
           json.loads(genzoom('-n', '-j', 'set').out)['namelist']['mass_cut_refine'], -1)
    v.end()


# Room around the mask: a run accepts its namelist if genzoom accepts the region. Random nested
# files, complete along some directions, and spheres, also across the faces of the periodic box.

ROOM_RUN = """&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
nstepmax=1
/
&OUTPUT_PARAMS
noutput=1
aout=1.0
/
"""
SETS = 24


def random_set(rng, less):
    """{level: (offset, cells)} of levels 3 to 5, each with up to `less` cells less than the coarser
    one on every side; sometimes a level is complete along a direction, if the coarser one is."""
    levels, lo, hi = {3: ((0, 0, 0), 8)}, [0] * 3, [8] * 3
    for level in (4, 5):
        for d in range(3):
            whole = hi[d] - lo[d] == 2 ** (level - 1)
            lo[d], hi[d] = 2 * lo[d], 2 * hi[d]
            if whole and rng.random() < 0.4:
                continue
            cut = rng.integers(0, less + 1, 2) * 2
            lo[d], hi[d] = lo[d] + int(cut[0]), hi[d] - int(cut[1])
        levels[level] = (tuple(lo), tuple(h - l for l, h in zip(lo, hi)))
    return levels


def run_zoom(namelist):
    """None if simulate starts from the zoom, else its message."""
    shutil.rmtree('zoom', ignore_errors=True)
    r = ptah.simulate(ROOM_RUN + namelist, os.getcwd(), options=['-o', 'zoom', '-q', '-f'],
                      timeout=60, must_work=False)
    return r.err.strip() if r.status else ''


def room():
    v, seed = ptah.Verdict(), int(os.environ.get('SEED') or int.from_bytes(os.urandom(3), 'little'))
    print('seed', seed)
    rng = np.random.default_rng(seed)
    count = {'refused': 0, 'nexpand=1': 0, 'less': 0, 'less, rightly': 0}
    for i in range(3 * SETS):
        if i >= SETS and min(count.values()) > 0:
            break
        levels = random_set(rng, 2 if i % 4 else 0)
        make_set('set', levels)
        for level, (offset, n) in levels.items():
            for name in ('ic_velcx', 'ic_velcy', 'ic_velcz'):
                write('set/level_%03d/%s' % (level, name),
                      np.zeros(n[::-1] if level > 3 else (8, 8, 8)), level, offset)
        (x, y, z), n = levels[5]
        centre = [((o + k * (0.3 + 0.4 * rng.random())) / 32) % 1 for o, k in zip((x, y, z), n)]
        sphere = '%.6f,%.6f,%.6f,%.6f' % (*centre, 0.02 + 0.15 * rng.random())
        r = ptah.Run([ptah.program('genzoom'), '-q', '-i', '0', '-l', '5', '--omega-b', '0',
                      '--sphere', sphere, 'set'], '.', timeout=60)
        left = [f for level in levels
                for f in os.listdir('set/level_%03d' % level) if f.startswith('ic_refmap')]
        if r.status:
            count['refused'] += 1
            v.same('set %d refused with a sentence, no mask written' % i,
                   (r.status, len(r.err.splitlines()), left), (2, 1, []))
            continue
        line = [s for s in r.out.splitlines() if s.startswith('nexpand=')][0]
        v.same('set %d, %s, %s: the run starts' % (i, sphere, line), run_zoom(r.out), '')
        if '0' in line:
            count['less'] += 1
            said = run_zoom(r.out.replace(line, 'nexpand=1'))
            count['less, rightly'] += 'leaves the initial conditions' in said
        else:
            count['nexpand=1'] += 1
    print(count)
    v.same('each kind came up', min(count['refused'], count['nexpand=1'], count['less']) > 0, True)
    v.same('most that got less than nexpand=1 needed that',
           count['less, rightly'] > 0.6 * count['less'], True)
    v.end()


if __name__ == '__main__':
    {'masks': masks, 'trace': trace, 'halo': halo, 'cuts': cuts, 'room': room,
     'baryons': baryons}[sys.argv[1]]()
