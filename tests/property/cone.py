#!/usr/bin/env python3
"""Light cones in which each particle crosses once: of a box of 32^3 particles, at its last steps.

    cone.py ranks       the same bytes of HDF5 slices on 1 and 3 ranks and across a restart, which
                        writes the slice of its step again; the same particles in files of RAMSES
    cone.py many        restarts on 2, 5 and 8 ranks
    cone.py clustering  a slice that spans the cross section of the box has the particles of the
                        box: pairs of particles and halos as in the output of the same step
    cone.py maps        maps of pixels have all particles of the HDF5 slices, the same bytes on 1
                        and 3 ranks
    cone.py gas         a box with gas: cells fill the volume of a slice; the files of cuRAMSES and
                        HDF5 have the same events; inspect --cone counts them
    cone.py sinks       each sink once in each replica, as far as light comes; the same slices on 1
                        and 3 ranks and across a restart; files of cuRAMSES, and counts

Examples of faults caught: rows in the order of ranks; a restart that forgets where particles were;
a replica of the wrong side of the box; a pixel on two ranks; cells of a coarse level that have
children; sinks whose places a restart forgets.
"""
# test: ranks tier=check timeout=300 ranks=3
# test: many tier=long timeout=400 ranks=3
# test: clustering tier=check timeout=200
# test: maps tier=check timeout=200 ranks=3
# test: gas tier=check timeout=200 ranks=2
# test: sinks tier=check timeout=200 ranks=3
import glob
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'golden'))
import cones  # noqa: E402
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
lightcone=.true.
%s
nsubcycle=1,1,2,2
/
&OUTPUT_PARAMS
noutput=1
aout=%s
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
%s
/
&AMR_PARAMS
levelmin=5
levelmax=7
/
&HYDRO_PARAMS
gamma=1.6666667
riemann='hllc'
/
&REFINE_PARAMS
m_refine=3*8.
/
&LIGHTCONE_PARAMS
%s
/
"""
NARROW = """
cone_rule='crossing'
thetay_cone=0.1
thetaz_cone=0.1
zmax_cone=%s
"""


def begin(folder):
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists('ics'):
        ptah.unpack_ics('.', 'ic_32')
    if not os.path.exists(folder + '/ics'):
        os.symlink('../ics', folder + '/ics')


def run(folder, text, **how):
    begin(folder)
    return ptah.simulate(text, folder, **how)


def slices(folder):
    return {os.path.basename(p): open(p, 'rb').read()
            for p in sorted(glob.glob(folder + '/cone_*/*.h5'))}


def ramses_rows(folder):
    rows = cones.particles(folder + '/cone_?????')
    return rows[np.lexsort(rows.T)]


def ranks(v, many=False):
    text = BOX % ('', '0.1', '', NARROW % '15')
    hdf5 = ["lightcone_params/cone_format='hdf5'"]
    whole = run('whole', text, settings=hdf5 + ['output_params/foutput=14'])
    want = slices('whole')
    v.same('there are slices', len(want) > 4, True)
    late = {k: want[k] for k in want if k >= 'cone_00014.h5'}
    v.same('some before the checkpoint, some after', 0 < len(late) < len(want), True)
    start = [o for o in whole.outputs if read_ramses.read_info(o)['nstep_coarse'] == 14]
    v.same('a checkpoint at step 14', len(start), 1)
    for n in (2, 5, 8) if many else (3,):
        name = 'restart%d' % n
        run(name, text, ranks=n, settings=hdf5, options=['-r', os.path.abspath(start[0])])
        got = slices(name)
        v.same('restart on %d ranks: the same slices' % n,
               sorted(got) == sorted(late) and all(got[k] == late[k] for k in late), True)
    if many:
        return
    run('three', text, ranks=3, settings=hdf5)
    v.same('3 ranks: the same slices', slices('three') == want, True)
    rows = {}
    for n in 1, 3:
        run('files%d' % n, text, ranks=n)
        rows[n] = ramses_rows('files%d' % n)
    v.same('particles', len(rows[1]) > 1000, True)
    v.same('the same particles in files of RAMSES', np.array_equal(rows[1], rows[3]), True)


def many(v):
    ranks(v, True)


def table(path):
    """Rows of a FITS table of pixels, numbers and masses, and its NSIDE."""
    with open(path, 'rb') as f:
        data = f.read()
    head = [data[i:i + 80].decode() for i in range(2880, 5760, 80)]
    value = {c[:8].strip(): c[10:].split('/')[0].strip(" '") for c in head if c[8:10] == '= '}
    n = int(value['NAXIS2'])
    row = np.frombuffer(data[5760:5760 + 24 * n], [('pixel', '>i8'), ('count', '>i8'),
                                                   ('mass', '>f8')])
    words = int(np.frombuffer(data[5760:], '>u4').astype('u8').sum())
    while words >> 32:
        words = (words & 0xffffffff) + (words >> 32)
    return row, int(value['NSIDE']), words == int(value['DATASUM']), len(data) % 2880


def maps(v):
    """Counts, masses and pixel numbers, from the positions in the HDF5 slices."""
    import h5py
    text, side = BOX % ('', '0.075', '', NARROW % '15'), 4096
    run('points', text, settings=["lightcone_params/cone_format='hdf5'"])
    files = {}
    for n in 1, 3:
        run('map%d' % n, text, ranks=n, settings=["lightcone_params/cone_format='healpix'",
                                                  'lightcone_params/cone_nside=%d' % side])
        files[n] = {os.path.basename(p): open(p, 'rb').read()
                    for p in sorted(glob.glob('map%d/cone_*/*.fits' % n))}
    v.same('there are maps', len(files[1]) > 1, True)
    v.same('3 ranks: the same maps', files[1] == files[3], True)
    for path in sorted(glob.glob('points/cone_*/*.h5')):
        with h5py.File(path) as f:
            x, mass = f['particles/position'][:], f['particles/mass'][:]
        name = path.replace('points', 'map1').replace('.h5', '.fits')
        row, nside, intact, rest = table(name)
        v.same(name + ': side, checksum, length', (nside, intact, rest), (side, True, 0))
        v.same('particles', int(row['count'].sum()), len(x))
        v.check('masses', abs(row['mass'].sum() / mass.sum() - 1), 1e-12)
        z = x[:, 2] / np.sqrt((x * x).sum(1))
        turn = np.arctan2(x[:, 1], x[:, 0]) / (np.pi / 2) % 4
        v.same('near the equator', np.abs(z).max() < 0.1, True)
        # Górski et al. 2005, of the belt between the polar caps
        up, down = [np.floor(side * (0.5 + turn + s * 0.75 * z)).astype(int) for s in (-1, 1)]
        ring = side + 1 + up - down
        column = (up + down - side + 1 + (ring + 1) % 2) // 2 % (4 * side)
        want = 2 * side * (side - 1) + (ring - 1) * 4 * side + column
        pixel, count = np.unique(want, return_counts=True)
        v.same('pixels', np.array_equal(pixel, row['pixel']) and
               np.array_equal(count, row['count']), True)


def groups(x, link, least):
    """Sizes of groups of friends of friends, largest first."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree
    p = cKDTree(x).query_pairs(link, output_type='ndarray')
    one = np.ones(len(p))
    n, label = connected_components(coo_matrix((one, (p[:, 0], p[:, 1])), (len(x),) * 2), False)
    size = np.bincount(label)
    return np.sort(size[size >= least])[::-1]


def clustering(v):
    import h5py
    from scipy.spatial import cKDTree
    sky = """
cone_rule='crossing'
cone_format='hdf5'
zmax_cone=1.55
elongated_axis_cone1=3
observer_cone1=0.5,0.5,0.
maxboxr_cone1=1.,1.,1.
"""
    r = run('box', BOX % ('', '0.4', '', sky))
    snap = read_ramses.load(r.outputs[-1])
    step = snap.info['nstep_coarse']
    with h5py.File('box/light_cone/cone_%05d/observer1/cone_%05d.h5' % (step, step)) as f:
        box = f['header'].attrs['box_mpc']
        x = f['particles/position'][:] / box + [0.5, 0.5, 0]
        who, image = f['particles/identity'][:], f['particles/replica'][:]
        far = f['header'].attrs['distance_mpc'] / box
    v.same('no particle twice in a replica', len({*zip(who, *image.T)}) == len(who), True)
    v.check('particles: mean density', abs(len(who) / (far[0] - far[1]) / 32768 - 1), 0.05)
    order = np.argsort(snap.part['identity'])
    at = order[np.searchsorted(snap.part['identity'][order], who)]
    y = np.stack([snap.part['position_' + c][at] for c in 'xyz'], 1) + image
    v.check('distance from the position at the end', np.abs(x - y).max(), 5e-3, ' boxes')
    for link in 0.002, 0.005, 0.01, 0.02:
        n = [cKDTree(q).count_neighbors(cKDTree(q), link) - len(q) for q in (x, y)]
        v.check('pairs within %g of the box: %d' % (link, n[1]), abs(n[0] / n[1] - 1), 0.05)
    mine, theirs = groups(x, 0.2 / 32, 15), groups(y, 0.2 / 32, 15)
    v.same('there are halos', len(theirs) > 30, True)
    v.check('halos on the cone and in the box', abs(len(mine) / len(theirs) - 1), 0.05)
    v.check('particles in halos', abs(mine.sum() / theirs.sum() - 1), 0.02)


def cell_rows(folder):
    """Rows x, y, z, redshift, size, density of the gas in the files of cuRAMSES."""
    rows = []
    for path in glob.glob(folder + '/cone_hydro_*.out?????'):
        block, at = cones.records(path), 12
        width = 7 + int.from_bytes(block[2], 'little')
        while int.from_bytes(block[at], 'little', signed=True) != -1:
            real = [np.frombuffer(b, '<f8') for b in block[at + 1:at + 1 + width]]
            rows.append(np.stack([real[k] for k in (0, 1, 2, 6, 7, 8)], 1))
            at += 1 + width
    return np.concatenate(rows)


def count(path):
    r = ptah.Run([ptah.program('inspect'), '--cone', '-j', path], '.')
    if r.status != 0:
        sys.exit(r.said())
    return json.loads(r.out)


def gas(v):
    import h5py
    view = """
cone_rule='crossing'
cone_hydro=.true.
zmax_cone=11.5
elongated_axis_cone1=-2
observer_cone1=0.5,1.,0.5
maxboxr_cone1=0.5,1.,1.
"""
    text = BOX % ('hydro=.true.', '0.1', 'omega_b=0.047', view)
    run('files', text, ranks=2)
    run('hdf5', text, settings=["lightcone_params/cone_format='hdf5'"])
    folders = sorted(glob.glob('hdf5/light_cone/cone_*/observer1'))
    v.same('there are slices', len(folders) > 1, True)
    mass = length = cells = parts = 0
    for d in folders:
        with h5py.File(glob.glob(d + '/*.h5')[0]) as f:
            box = f['header'].attrs['box_mpc']
            x = f['gas/position'][:] / box
            mine = np.c_[x, f['gas/redshift'][:], f['gas/size'][:] / box]
            far = f['header'].attrs['distance_mpc'] / box
            zmax = mine[:, 3].max()
            n = len(f['particles/identity'])
        theirs = cell_rows(d.replace('hdf5', 'files'))
        mine, theirs = [q[np.lexsort(np.round(q[:, :3].T * 2 ** 20))] for q in (mine, theirs)]
        v.same('%s: the same cells' % d.split('/')[2], len(mine) == len(theirs) and
               np.abs(mine - theirs[:, :5]).max() < 1e-9, True)
        if zmax < 11.45:
            mass += (theirs[:, 4] ** 3 * theirs[:, 5]).sum()
            length += far[0] - far[1]
            v.check('volume of the cells', abs((theirs[:, 4] ** 3).sum() / 0.5 /
                                               (far[0] - far[1]) - 1), 0.06)
        cells, parts = cells + len(mine), parts + n
    v.check('mass of the gas', abs(mass / length / 0.5 / (0.047 / 0.3111) - 1), 0.05)
    for name in 'files', 'hdf5':
        found = count(name)
        v.same('inspect --cone ' + name, (found['particles'], found['cells']), (parts, cells))
        v.same('by redshift', sum(b['cells'] for b in found['redshift']), cells)


SINKS = """
cone_rule='crossing'
cone_sink=.true.
zmax_cone=60
elongated_axis_cone1=2
observer_cone1=0.5,0.,0.5
maxboxr_cone1=0.5,1.,1.
/
&SINK_PARAMS
mass_sink_seed=1
accretion_scheme='bondi'
"""


def sink_files(folder):
    """Rows of x, y, z, mass, redshift by identity and replica, in cuRAMSES's files."""
    rows = {}
    for path in sorted(glob.glob(folder + '/light_cone/cone_*/observer1/cone_sink_*.out')):
        block, at, n = cones.records(path), 0, 0
        while int.from_bytes(block[at], 'little', signed=True) != -1:
            ids = np.frombuffer(block[at + 1], '<i8')
            real = [np.frombuffer(b, '<f8') for b in block[at + 2:at + 22]]
            y = np.stack([real[k] for k in (0, 2, 4, 6, 19)], 1)
            for i, r in zip(ids, y):
                rows.setdefault((i, int(np.floor(r[1]))), []).append(r)
            n += len(ids)
            at += 22
        with open(path + '.txt') as f:
            n -= int(f.read())
        if n:
            sys.exit(path + ': another number in its text file')
    return rows


def moved(checkpoint):
    """Largest and smallest move of a sink along x since the place of the step before, in boxes."""
    with open(glob.glob(checkpoint + '/sink_*.csv')[0]) as f:
        names = f.readline().lstrip(' #').strip().split(',')
        rows = np.array([[float(x) for x in r.split(',')] for r in f if '#' not in r])
    place = rows[:, names.index('cone_x')].astype(int) % 2 ** 32 // 2
    by = np.abs((rows[:, names.index('x')] - place / 2 ** 31 + 0.5) % 1 - 0.5)
    return by.max(), by.min()


def sinks(v):
    import h5py
    draw = np.random.default_rng(4)
    x = np.stack(np.meshgrid(*3 * [np.arange(4) / 4 - 0.37]), 3).reshape(-1, 3)
    x, u = x + draw.uniform(-0.05, 0.05, x.shape), draw.uniform(-0.001, 0.001, x.shape)
    # clouds are wide in units of the box at this time
    small = ['run_params/nstepmax=6', 'refine_params/m_refine=9*1e6', 'amr_params/levelmax=12',
             'sink_params/ir_cloud=1']
    hdf5 = small + ["lightcone_params/cone_format='hdf5'"]
    text = BOX % ('hydro=.true.\nsink=.true.', '0.06', 'omega_b=0.047', SINKS)
    for folder in 'one', 'three', 'files', 'late':
        begin(folder)
        with open(folder + '/ic_sink', 'w') as f:
            for a, b in zip(x, u):
                f.write('1e-9 %.17g %.17g %.17g %.17g %.17g %.17g 0 0 0 0 0\n' % (*a, *b))
    whole = run('one', text, settings=hdf5 + ['output_params/foutput=3'])
    run('three', text, settings=hdf5, ranks=3)
    run('files', text, settings=small, ranks=2)
    names = sorted(glob.glob('one/light_cone/cone_*/observer1/*.h5'))
    os.remove('late/ic_sink')
    start = [o for o in whole.outputs if read_ramses.read_info(o)['nstep_coarse'] == 3][0]
    most, least = moved(start)
    v.same('places of the step before are in a checkpoint: moves %g to %g' % (least, most),
           0 < least < most < 0.01, True)
    late = run('late', text, settings=hdf5 + ['output_params/foutput=3'],
               options=['-r', os.path.abspath(start)], ranks=2)
    v.same('resumed: the same state', ptah.digest(late.outputs[-1]),
           ptah.digest(whole.outputs[-1]))
    seen, ends = {}, []
    for name in names:
        with open(name, 'rb') as f:
            want = f.read()
        for other in ['three'] + ['late'] * (int(name[-8:-3]) >= 3):
            with open(name.replace('one/', other + '/', 1), 'rb') as f:
                v.same(name.replace('one/', other + '/', 1), f.read() == want, True)
        with h5py.File(name) as f:
            box = f['header'].attrs['box_mpc']
            ends.append(f['header'].attrs['distance_mpc'] / box)
            for i, k, r, z in zip(*[f['sinks/' + s][:] for s in
                                    ('identity', 'replica', 'position', 'redshift')]):
                seen.setdefault((i, k[1]), []).append((r / box, z))
    v.same('there are slices', len(names) > 5, True)
    far, near = ends[0][0], ends[-1][1]
    v.same('no sink twice in a replica', max(len(r) for r in seen.values()), 1)
    missing = beyond = 0
    for i in np.flatnonzero(x[:, 0] < -0.02):
        path = [r[0][0] - [0, k, 0] for (j, k), r in seen.items() if j == i + 1]
        at = path[0]  # sinks move by much less than the margin
        for k in range(int(near) - 2, int(far) + 2):
            d = np.sqrt(at[0] ** 2 + (at[1] + k) ** 2 + at[2] ** 2)
            missing += near + 0.1 < d < far - 0.1 and (i + 1, k) not in seen
            beyond += not near - 0.1 < d < far + 0.1 and (i + 1, k) in seen
    v.same('each sink in each replica that light passes', (missing, beyond), (0, 0))
    v.same('replicas', len(seen) > 200, True)
    rows = sink_files('files')
    v.same('the same sinks in files of cuRAMSES', sorted(rows) == sorted(seen), True)
    v.check('places and redshifts', max(max(np.abs(r[0][:3] - seen[k][0][0]).max(),
                                            abs(r[0][4] - seen[k][0][1]))
                                        for k, r in rows.items()), 1e-9)
    for name in 'files', 'one':
        found = count(name)
        v.same('inspect --cone ' + name, found['sinks'], len(seen))


def main():
    v = ptah.Verdict()
    {'ranks': ranks, 'many': many, 'clustering': clustering, 'maps': maps,
     'gas': gas, 'sinks': sinks}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
