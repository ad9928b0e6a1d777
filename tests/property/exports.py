"""Exports: cubes of fields, files of VTK and openPMD, and tables as HDF5, have the values of the
checkpoint, by readers that share no code with the programs.

    exports.py cubes    cubes beside a sum over all cells: means, sums, regions, formats, and the
                        same bytes for any number of files, memory and a pipe
    exports.py vtk      cells, values and particles of .htg, .vtu and .vtp, in 1 to 3 dimensions
    exports.py pmd      meshes and particles of openPMD; tables of pk and inspect; an HDF5
                        checkpoint as its attributes describe it
    exports.py wrong    options and targets that cannot be

Examples of faults caught: a share of a cell counted twice at the face of a region; the mean of a
velocity by volume; bits of the tree from the lowest; a pad of FITS of blanks instead of zeros.
"""
# test: cubes tier=check timeout=180
# test: vtk tier=check timeout=180
# test: pmd tier=check timeout=180
# test: wrong tier=check timeout=120
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from convert import COSMO  # noqa: E402

VECTOR = ['velocity_x', 'velocity_y', 'velocity_z']


def program(name, *words, ok=True):
    r = ptah.Run([ptah.program(name), *words], '.', timeout=60)
    if ok and r.status:
        sys.exit(r.said())
    return r


def checkpoint():
    ptah.unpack_ics('.', 'ic_32')
    return ptah.simulate(COSMO, '.', options=['-q', '-o', 'run']).outputs[-1]


def nodes(s):
    """Corner and side of the leaf cells, in units of the box."""
    side = 0.5 ** s.level.astype(float)
    return s.centres() - side / 2, side


def expected(s, field, n, by_mass):
    """The mean over the cells of a cube of n cells a side, n a power of two, that are not finer
    than its leaf cells, by numpy."""
    corner, side = nodes(s)
    sums, mass = np.zeros((n,) * 3), np.zeros((n,) * 3)
    rho = s.cell['density']
    for level in np.unique(np.round(-np.log2(side))):
        of = np.round(-np.log2(side)) == level
        weight = s.volume[of] * (rho[of] if by_mass else 1)
        k = max(1, int(n * 2 ** -level))  # cells of the cube along the side of a cell
        first = np.floor((corner[:, of] + 1e-9) * n).astype(int)
        for shift in np.ndindex(k, k, k):
            at = tuple(first[d] + shift[d] for d in (2, 1, 0))
            np.add.at(sums, at, weight / k ** 3 * s.cell[field][of])
            np.add.at(mass, at, weight / k ** 3)
    return sums / mass


# ---- files ----

def fits(path):
    """Images of a FITS file, in physical units, by name."""
    data, at, found = open(path, 'rb').read(), 0, {}
    if len(data) % 2880:
        sys.exit('%s: %d bytes are no blocks' % (path, len(data)))
    while at < len(data):
        cards = {}
        while 'END' not in cards:
            for k in range(36):
                card = data[at + 80 * k:at + 80 * k + 80].decode('ascii')
                cards[card[:8].strip()] = card[10:].split(' / ')[0].strip()
            at += 2880
        shape = [int(cards['NAXIS%d' % k]) for k in range(int(cards['NAXIS']), 0, -1)]
        n = int(np.prod(shape))
        image = np.frombuffer(data, '>f8', n, at).reshape(shape)
        if any(data[at + 8 * n:at + -(-8 * n // 2880) * 2880]):
            sys.exit(path + ': the end of an image is not padded with zeros')
        found[cards['EXTNAME'].strip("' ")] = image * float(cards.get('BSCALE', 1))
        at += -(-8 * n // 2880) * 2880
    return found


TYPES = {'Float64': '<f8', 'Int64': '<i8', 'UInt32': '<u4', 'UInt8': 'u1', 'Bit': 'u1'}


def xml(path):
    """Appended arrays of a file of VTK, and the numbers of its FieldData."""
    head, mark, raw = open(path, 'rb').read().partition(b'<AppendedData encoding="raw">\n_')
    text, found = head.decode(), {}
    for kind, name, width, offset in re.findall(
            r'<DataArray type="(\w+)" Name="(\w+)" NumberOfComponents="(\d)"[^>]*'
            r'format="appended" offset="(\d+)"/>', text):
        at = int(offset)
        n = int(np.frombuffer(raw, '<u8', 1, at)[0])
        x = np.frombuffer(raw, TYPES[kind], n // np.dtype(TYPES[kind]).itemsize, at + 8)
        found[name] = x.reshape(-1, int(width)) if width != '1' else x
    if not raw.endswith(b'\n</AppendedData>\n</VTKFile>\n'):
        sys.exit(path + ': does not end')
    data = dict(re.findall(r'<DataArray type="Float64" Name="(\w+)"[^>]*format="ascii">([^<]*)<',
                           text))
    return found, data


def htg_leaves(path, ndim):
    """Corners, sides and values of the leaf cells of a HyperTreeGrid."""
    a, data = xml(path)
    bits = np.unpackbits(a['Descriptors'])
    side = float(data['XCoordinates'].split()[1])
    level, at, found = [(0,) * ndim], 0, []
    for depth, n in enumerate(a['NumberOfVerticesPerDepth']):
        if len(level) != n:
            sys.exit('%s: depth %d has %d cells, not %d' % (path, depth, len(level), n))
        last = depth + 1 == len(a['NumberOfVerticesPerDepth'])
        split = [False] * n if last else bits[at:at + n]
        found += [(np.array(x) * side / 2 ** depth, side / 2 ** depth, at + i)
                  for i, x in enumerate(level) if not split[i]]
        at += n
        level = [tuple(2 * x[d] + (c >> d & 1) for d in range(ndim))
                 for x, s in zip(level, split) if s for c in range(2 ** ndim)]
    which = np.array([x[2] for x in found])
    return (np.array([x[0] for x in found]).T, np.array([x[1] for x in found]),
            {k: x[which] for k, x in a.items() if len(x) == at})


def vtu_leaves(path, ndim):
    a, _ = xml(path)
    points = a['Points'].reshape(-1, 2 ** ndim, 3)
    corner, far = points[:, 0, :ndim], points[:, -1, :ndim]
    return corner.T, (far - corner)[:, 0], a


def in_order(corner):
    return np.lexsort(np.round(corner * 2 ** 20))


# ---- tests ----

def cubes(v):
    out = checkpoint()
    s = read_ramses.load(out)
    fields = ['density', *VECTOR, 'pressure']
    for n, how in ((16, ['--uniform', '16']), (64, ['--level', '6'])):
        program('convert', '-f', 'npy', *how, '--fields', ','.join(fields), '-o', 'c.npy',
                '--force', out)
        found = np.load('c.npy')
        for name, cube in zip(fields, found):
            want = expected(s, name, n, name in VECTOR)
            v.check('%d^3: %s' % (n, name), np.abs(cube - want).max() / np.abs(want).max(), 1e-14)
    mass = (s.cell['density'] * s.volume).sum()
    for n in (1, 20, 37):
        program('convert', '-f', 'npy', '--uniform', str(n), '--fields', 'density,velocity_x,dm',
                '-o', 'n.npy', '--force', out)
        rho, u, dm = np.load('n.npy')
        momentum = s.cell['density'] * s.volume * s.cell['velocity_x']
        v.check('%d^3: mass' % n, abs(rho.sum() / n ** 3 / mass - 1), 1e-14)
        v.check('%d^3: momentum' % n, abs((rho * u).sum() / n ** 3 - momentum.sum())
                / np.abs(momentum).sum(), 1e-14)
        v.check('%d^3: dark matter' % n, abs(dm.sum() / n ** 3 / s.part['mass'].sum() - 1), 1e-14)
    regions(v, out)
    same_bytes(v, out)
    formats(v, out, s)


def regions(v, out):
    """A region across a face of the box is the part of the whole; finer cells have the value of
    the leaf cell to the last bit."""
    program('convert', '-f', 'npy', '--level', '8', '--fields', 'velocity_y', '-o', 'w.npy', out)
    program('convert', '-f', 'npy', '--level', '9', '--fields', 'velocity_y', '-o', 'r.npy',
            '--region', 'box:0.9,0.25,0.5,1.125,0.5,0.625', out)
    whole, part = np.load('w.npy'), np.load('r.npy')
    v.same('region: cells', part.shape, (64, 128, 116))
    x = (np.arange(460, 576) % 512) // 2
    v.same('region: the same bits',
           np.array_equal(part, whole[np.ix_(np.arange(256, 320) // 2, np.arange(128, 256) // 2,
                                             x)]), True)


def same_bytes(v, out):
    how = ['-f', 'npy', '--uniform', '24', '--fields', 'pressure,velocity_z']
    program('convert', '-q', '-o', 'h5', out)
    program('convert', '-q', '--ranks', '3', '-o', 'three', 'h5')
    program('convert', *how, '-o', 'a.npy', out)
    want = open('a.npy', 'rb').read()
    for name, words in (('HDF5', ['h5']), ('3 files', ['three']),
                        ('1 MB', ['--memory', '1M', out])):
        program('convert', *how, '--force', '-o', 'b.npy', *words)
        v.same(name + ': the same bytes', open('b.npy', 'rb').read() == want, True)
    with subprocess.Popen([ptah.program('convert'), *how, '-o', '-', out],
                          stdout=subprocess.PIPE) as p:
        v.same('pipe: the same bytes', p.stdout.read() == want, True)


def formats(v, out, s):
    how = ['--level', '5', '--fields', 'density,temperature', '--force']
    for form, path in (('npy', 'f.npy'), ('fits', 'f.fits'), ('vti', 'f.vti'), ('hdf5', 'f.h5')):
        program('convert', '-f', form, *how, '-o', path, out)
    rho, temperature = np.load('f.npy')
    images = fits('f.fits')
    v.check('FITS: density', np.abs(images['density'] / rho / s.info['unit_d'] - 1).max(), 1e-14)
    v.same('FITS: temperature', np.array_equal(images['temperature'], temperature), True)
    v.same('VTK', np.array_equal(xml('f.vti')[0]['density'], rho.ravel()), True)
    with h5py.File('f.h5') as f:
        v.same('HDF5', np.array_equal(f['density'][:], rho), True)
        v.check('HDF5: unit', abs(f['density'].attrs['code_unit'] / s.info['unit_d'] - 1),
                1e-14)
        v.same('HDF5: its name', f['density'].attrs['units'], b'g/cm^3')
        v.check('HDF5: edges', abs(f['x_edges'][-1] - 1) + abs(len(f['x_edges']) - 33), 0)
    program('convert', '-f', 'npy', *how, '-u', '-o', 'u.npy', out)
    v.check('physical', np.abs(np.load('u.npy')[0] / images['density'] - 1).max(), 1e-15)


TUBE = """
&RUN_PARAMS
hydro=.true.
nstepmax=3
/
&AMR_PARAMS
levelmin=4
levelmax=6
boxlen=2.0
/
&INIT_PARAMS
nregion=2
region_type='square','square'
x_center=1.0,1.0
y_center=1.0,1.0
length_x=10.0,0.6
length_y=10.0,0.6
exp_region=10,10
d_region=1.0,3.0
p_region=1.0,5.0
/
&OUTPUT_PARAMS
tend=1.0
noutput=1
tout=1.0
/
&REFINE_PARAMS
err_grad_d=0.05
/
"""


def vtk(v):
    for ndim in (1, 2, 3):
        if ndim < 3:
            r = ptah.simulate(TUBE, '.', settings=['run_params/ndim=%d' % ndim],
                              options=['-q', '-o', 'run%d' % ndim])
            out = r.outputs[-1]
        else:
            out = checkpoint()
        check_cells(v, out, ndim)
    s = read_ramses.load(out)
    program('convert', '-q', '-f', 'vtk', '-o', 'v', '--force', out)
    points, _ = xml('v.vtp')
    mine, theirs = np.argsort(points['identity']), np.argsort(s.part['identity'])
    for name, x in (('position', points['Points']), ('velocity', points['velocity'])):
        want = np.stack([s.part['%s_%s' % (name, d)] for d in 'xyz'], 1)
        v.same('vtp: ' + name, np.array_equal(x[mine], want[theirs]), True)
    v.same('vtp: mass', np.array_equal(points['mass'][mine], s.part['mass'][theirs]), True)
    program('convert', '-q', '-f', 'vtk', '--region', 'sphere:0.4,0.5,0.5,0.1', '-o', 'part.htg',
            out)
    corner, side, a = htg_leaves('part.htg', 3)
    v.check('part: volume', abs((side ** 3).sum() - 1), 1e-13)
    mass = (s.cell['density'] * s.volume).sum()
    v.check('part: mass', abs((a['density'] * side ** 3).sum() / mass - 1), 1e-12)


def check_cells(v, out, ndim):
    s = read_ramses.load(out)
    box = s.info['boxlen']
    corner, side = nodes(s)
    order = in_order(corner)
    for path, leaves in (('%d.htg' % ndim, htg_leaves), ('%d.vtu' % ndim, vtu_leaves)):
        program('convert', '-q', '-f', 'vtk', '-o', path, out)
        found, width, a = leaves(path, ndim)
        v.same(path + ': leaf cells', len(width), len(side))
        to = in_order(found / box)
        v.check(path + ': places', np.abs(found[:, to] / box - corner[:, order]).max(), 1e-13)
        v.check(path + ': sides', np.abs(width[to] / box - side[order]).max(), 1e-13)
        v.same(path + ': density', np.array_equal(a['density'][to], s.cell['density'][order]),
               True)
        u = a['velocity'] if ndim > 1 else a['velocity_x'][:, None]
        for d in range(ndim):
            v.same('%s: velocity_%s' % (path, 'xyz'[d]),
                   np.array_equal(u[to, d], s.cell['velocity_' + 'xyz'[d]][order]), True)


def pmd(v):
    out = checkpoint()
    s = read_ramses.load(out)
    program('convert', '-q', '-f', 'openpmd', '--level', '6', '--fields',
            ','.join(['density', *VECTOR]), '-o', 'p.h5', out)
    program('convert', '-q', '-f', 'npy', '--level', '6', '--fields',
            ','.join(['density', *VECTOR]), '-o', 'p.npy', out)
    cube = np.load('p.npy')
    with h5py.File('p.h5') as f:
        at = f['data/%d' % int(out[-5:])]
        v.same('openPMD: mesh', np.array_equal(at['fields/density'][:], cube[0]), True)
        v.same('openPMD: vector', np.array_equal(at['fields/velocity/z'][:], cube[3]), True)
        dm, info = at['particles/dm'], s.info
        kg = 1e-3 * info['unit_d'] * info['unit_l'] ** 3
        v.check('openPMD: mass', abs(dm['mass'][:].sum() * dm['mass'].attrs['unitSI']
                                     / (s.part['mass'].sum() * kg) - 1), 1e-14)
        mine, theirs = np.argsort(dm['id'][:]), np.argsort(s.part['identity'])
        v.same('openPMD: positions', np.array_equal(dm['position/y'][:][mine],
                                                    s.part['position_y'][theirs]), True)
        v.check('openPMD: metres', abs(dm['position/x'].attrs['unitSI'] * 100
                                       / info['unit_l'] - 1), 1e-14)
    stranger(v, out)
    tables(v, out)


def tables(v, out):
    for name, words, mark in (
            ('profile', ['inspect', '--profile', '.5,.5,.5,.3'], '#'),
            ('line', ['inspect', '--line', '-a', 'y'], '#'),
            ('pk', ['pk', '-q', '--mesh', '16'], '# spectrum')):
        text = program(*words, out).out
        program(*words, '-o', name + '.h5', out)
        lines = text.splitlines()
        names = [k for k, line in enumerate(lines) if line.startswith(mark)][-1]
        rows = [line.split('\t') for line in lines[names + 1:]]
        with h5py.File(name + '.h5') as f:
            for c, word in enumerate(lines[names].lstrip('# ').split('\t')):
                if word == 'spectrum':
                    continue
                column, _, unit = word.partition(' ')
                want = np.array([float(r[c]) for r in rows])
                found = f[column][:]
                v.check('%s: %s' % (name, column),
                        float(not np.allclose(found, want, 1e-8, 0, equal_nan=True)), 0)
                if unit:
                    v.same('%s: unit of %s' % (name, column),
                           f[column].attrs['units'].decode(), unit.strip('[]'))


def not_finite(v, out):
    """A NaN in a position of a particle, and in a density, of a checkpoint without checksums."""
    s = read_ramses.load(out)
    for kind, value, says in (('part', s.part['position_x'][5], 'particle'),
                              ('hydro', s.cell['density'][7], 'density')):
        shutil.copytree(out, 'nan_' + kind)
        for path in glob.glob('nan_%s/*' % kind):
            if re.search('exact|sums|manifest', path):
                os.remove(path)
        for path in glob.glob('nan_%s/%s_*.out*' % (kind, kind)):
            data = open(path, 'rb').read()
            with open(path, 'wb') as f:
                f.write(data.replace(struct.pack('<d', value), struct.pack('<d', np.nan)))
        for form in ('npy', 'vtk', 'openpmd', 'swift'):
            if (form, kind) in (('npy', 'part'), ('vtk', 'hydro'), ('swift', 'hydro')):
                continue
            r = program('convert', '-q', '-f', form, '-o', 'x_%s_%s' % (form, kind),
                        'nan_' + kind, ok=False)
            v.same('%s with a NaN in %s' % (form, kind),
                   (r.status, r.err.count('\n'), says in r.err), (2, 1, True))
            if r.status != 2 or says not in r.err:
                print(r.err)


def stranger(v, out):
    """An HDF5 checkpoint is understood by its attributes alone."""
    s = read_ramses.load(out)
    program('convert', '-q', '-f', 'hdf5', '-o', 'own', out)
    mass = energy = 0
    with h5py.File(glob.glob('own/data_*.h5')[0]) as f:
        v.same('description', f.attrs['description'][:18], b'Checkpoint of Ptah')
        box = f['header'].attrs['boxlen'][0] * f['ptah'].attrs['unit_l'][0]
        for name, level in f['hydro'].items():
            leaf = f['amr/%s/son_flag' % name][:] == 0
            volume = (box / 2.0 ** int(name[6:])) ** 3
            for d in level.values():
                total = d[:][leaf].sum() * volume * d.attrs['code_unit']
                if d.attrs['description'] == b'mass density of the gas':
                    mass += total
                if d.attrs['description'] == b'density of the total energy of the gas':
                    energy += total
        units = {d.attrs['units'] for level in f['hydro'].values() for d in level.values()}
        dm = (f['particles/mass'][:] * f['particles/mass'].attrs['code_unit']).sum()
    v.same('units', units, {b'g/cm^3', b'g/cm^2/s', b'erg/cm^3'})
    gram = s.info['unit_d'] * s.info['unit_l'] ** 3
    speed = s.info['unit_l'] / s.info['unit_t']
    c = s.cell
    want = c['pressure'] / (s.info['gamma'] - 1) + 0.5 * c['density'] * sum(
        c[u] ** 2 for u in VECTOR)
    v.check('grams of gas', abs(mass / gram / (c['density'] * s.volume).sum() - 1), 1e-12)
    v.check('erg', abs(energy / (gram * speed ** 2) / (want * s.volume).sum() - 1), 1e-10)
    v.check('grams of particles', abs(dm / gram / s.part['mass'].sum() - 1), 1e-12)


def wrong(v):
    out = checkpoint()
    open('there.npy', 'w').close()
    for words, says in (
            (['-f', 'npy', '--uniform', '0'], 'between 1 and 65536, not 0'),
            (['-f', 'npy', '--uniform', '1000000'], 'between 1 and 65536, not 1000000'),
            (['--uniform', '1'], 'between 2 and 8192, not 1'),
            (['-f', 'npy', '--level', '20'], 'are more than 65536'),
            (['-f', 'npy', '--level', '4', '--uniform', '8'], 'either --level or --uniform'),
            (['-f', 'npy', '--region', 'box:3,3,3,3.5,3.5,3.5'], 'outside of the box'),
            (['-f', 'npy', '--region', 'box:0,0,0,2,.5,.5'], 'the region is 2 wide along x'),
            (['-f', 'npy', '--region', 'sphere:.5,.5,.5,.1'], 'needs box:'),
            (['-f', 'npy', '--fields', 'densty'], 'did you mean density'),
            (['-f', 'npy', '--fields', 'density,'], ''),
            (['-f', 'npy', '--fields', 'density,density'], 'twice'),
            (['-f', 'npy', '--fields', ',density'], 'needs names'),
            (['-f', 'npy', '-o', 'there.npy'], 'exists; --force replaces it'),
            (['-f', 'npy', '-o', out + '/c.npy'], 'lies in the checkpoint'),
            (['-f', 'npy', '-o', 'no/where.npy'], 'No such file'),
            (['-f', 'openpmd', '-o', '-'], 'needs a file'),
            (['-f', 'vtk', '--fields', 'dm', '-o', 'x.htg'], 'is of particles'),
            (['-f', 'vtk', '--memory', '1K', '-o', 'x.htg'], 'allow them with --memory'),
            (['-f', 'ramses', '--fields', 'density'], '--fields and --units need'),
            (['-f', 'vtk', '--uniform', '8'], 'cubes of --uniform are'),
            (['-f', 'vti'], '--level LEVEL or --uniform N'),
            (['-f', 'npy', '--uniform', '65536'], 'needs 2252 TB, and its file system has'),
            (['-f', 'npy', '-o', '/dev/full'], 'No space left')):
        where = [] if '-o' in words else ['-o', 'w.npy', '--force']
        r = program('convert', *words, *where, out, ok=False)
        name = ' '.join(words)
        v.same(name + ': status', r.status, 2 if says else 0)
        v.same('%s: one sentence with "%s"' % (name, says),
               (says in r.err, r.err.count('\n')), (True, 1 if says else 0))
    not_finite(v, out)
    for form in ('hdf5', 'vtk', 'openpmd', 'fits'):
        how = ['--level', '6'] if form != 'vtk' else []
        r = ptah.Run(['sh', '-c', 'trap "" XFSZ; ulimit -f 100; exec "$@"', 'sh',
                      ptah.program('convert'), '-f', form, *how, '-o', 'big', out], '.')
        v.same(form + ' on a full disk', (r.status, r.err.count('\n'), 'too large' in r.err),
               (2, 1, True))
    with subprocess.Popen([ptah.program('convert'), '-f', 'npy', '--level', '7', '-o', '-', out],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        p.stdout.read(100)
        p.stdout.close()
        text = p.stderr.read().decode()
        v.same('broken pipe', (p.wait(), 'Broken pipe' in text), (2, True))
    v.same('nothing is left', [f for f in os.listdir('.') if '.part' in f], [])


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {'cubes': cubes, 'vtk': vtk, 'pmd': pmd, 'wrong': wrong}[sys.argv[1]](verdict)
    verdict.end()
