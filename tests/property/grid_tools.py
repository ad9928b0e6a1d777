"""The programs on checkpoints of uniform meshes: against NumPy, on several ranks, there and back.

    grid_tools.py inspect   summary, maps along each axis and of a part, distributions, digests,
                            comparisons, modes that need an octree
    grid_tools.py spectra   sums of the spectra are the integrals; shells against NumPy; equal bytes
                            on 1, 2, 3 and 5 ranks
    grid_tools.py convert   an octree of a cube: the same gas, a field without divergence, the same
                            digest in both formats; --uniform gives the fields back; VTK

Examples of faults caught: two axes exchanged, a mean that forgets the size of a cell, modes counted
twice, a face of the field on the wrong side.
"""
# test: inspect tier=check timeout=180
# test: spectra tier=check timeout=180
# test: convert tier=check timeout=240
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import grid_files  # noqa: E402
import ptah  # noqa: E402

BOX = ((24, 20, 12), (6.0, 5.0, 3.0))
CUBE = ((32, 32, 32), (2.0, 2.0, 2.0))
ROUND_OFF = 1e-12


def run(name, *words, ranks=1):
    argv = [ptah.program(name), *words]
    return ptah.Run(ptah.mpirun(ranks) + argv if ranks > 1 else argv, '.')


def made(number=1, shape=BOX, names=grid_files.FLOW + ('s',) + grid_files.POTENTIAL, keys=()):
    n, length = shape
    fields = grid_files.smooth(n, length, names)
    return grid_files.write('.', number, n, length, fields, ['t=1.5', *keys]), fields


def spread(v, what, a, b, limit=ROUND_OFF):
    v.check(what, abs(np.asarray(a) - b).max() / abs(np.asarray(b)).max(), limit)


def magnetic(fields, shape, bext=(0, 0, 0)):
    n, length = shape
    b = grid_files.curl([fields[k] for k in grid_files.POTENTIAL],
                        [length[d] / n[d] for d in range(3)])
    return [b[d] + bext[d] for d in range(3)]


def check_maps(v, path, fields, shape):
    """Projections with a pixel for each cell, and a slice of one plane."""
    n, length = shape
    for axis, name in enumerate('xyz'):
        u, w = [d for d in range(3) if d != axis]
        longest = max(length[u], length[w])
        pixels = round(longest / length[u] * n[u])
        r = run('inspect', '-q', '--force', '-m', 'uy', '-a', name, '-n', str(pixels), '-o',
                'm.npy', path)
        v.same('map along %s: status' % name, (r.status, r.err), (0, ''))
        want = fields['uy'].mean(axis=2 - axis)
        got = np.load('m.npy')
        v.same('map along %s: shape' % name, got.shape, want.shape)
        spread(v, 'map along %s' % name, got, want)
    depth = 1 / n[2]
    centre = '0.5,0.5,%.17g' % ((3 + 0.5) / n[2])
    for name, want in (('density', np.exp(fields['lnrho'])), ('bx', magnetic(fields, shape)[0])):
        run('inspect', '-q', '--force', '-m', name, '--weight', 'volume', '--depth',
            '%.17g' % depth, '--center', centre, '-n', str(n[0]), '-o', 'm.npy', path)
        spread(v, 'slice of %s' % name, np.load('m.npy'), want[3], 1e-11)
    run('inspect', '-q', '--force', '-m', 'density', '-n', str(n[0]), '-o', 'm.npy', path)
    column = np.exp(fields['lnrho']).mean(axis=0) * length[2]
    spread(v, 'column of the density', np.load('m.npy'), column)


def check_summary(v, path, fields):
    head = json.loads(run('inspect', '-j', '-v', path).out)
    v.same('cells', head['cells'], list(BOX[0]))
    v.same('time', head['time'], 1.5)
    for f in head['fields'][:len(fields)]:
        q = fields[f['name']]
        v.same('%s: min, max' % f['name'], (f['min'], f['max']), (q.min(), q.max()))
        v.check('%s: rms' % f['name'], abs(f['rms'] / np.sqrt((q**2).mean()) - 1), ROUND_OFF)
    names = [f['name'] for f in head['fields']]
    v.same('derived values', {'density', 'B', 'divu', 'ab'} <= set(names), True)
    bins = json.loads(run('inspect', '-j', '--pdf', 'ux', '--pixels', '7', path).out)['bins']
    count, edges = np.histogram(fields['ux'], 7)
    v.same('distribution', [b['cells'] for b in bins], list(count))
    v.check('integral of the distribution',
            abs(sum(b['density'] * (b['hi'] - b['lo']) for b in bins) - 1), ROUND_OFF)


def check_digests(v, path, fields):
    one = run('inspect', '-d', path).out
    for ranks in (2, 3):
        v.same('digest on %d ranks' % ranks, run('inspect', '-d', path, ranks=ranks).out, one)
    fields = {k: f.copy() for k, f in fields.items()}
    fields['uz'][3, 2, 1] = np.nextafter(fields['uz'][3, 2, 1], 9)
    other = grid_files.write('other', 1, *BOX, fields, ['t=1.5'])
    v.same('digest of another bit', run('inspect', '-d', other).out == one, False)
    same, differs = run('inspect', path, path), run('inspect', path, other)
    v.same('comparison with itself', (same.status, 'the same' in same.out), (0, True))
    v.same('comparison', (differs.status, 'cell 1 2 3' in differs.out), (1, True))
    v.same('tolerance', run('inspect', '--rtol', '1e-10', path, other).status, 0)


def check_refusals(v, path):
    """A mode either works or says why not; the file of a checkpoint is recognised, too."""
    for words in (['-t'], ['--phase'], ['--line'], ['--halos'], ['--clumps'], ['--stars'],
                  ['--contamination'], ['--profile', '.5,.5,.5,.2'], ['--sinks'],
                  ['-m', 'ux', '-u'], ['-m', 'nothing']):
        r = run('inspect', *words, path)
        told = r.status == 2 and r.err.count('\n') == 1 and 'RAMSES' not in r.err
        v.same('inspect %s' % ' '.join(words), told or (r.status, r.err), True)
    for words in (['-s'], ['-d'], ['-p'], ['-c'], ['-cc']):
        r = run('inspect', *words, os.path.join(path, 'stencil_00001.h5'))
        v.same('inspect %s FILE' % words[0], (r.status, r.err), (0, ''))
    r = run('repartition', path)
    v.same('repartition', (r.status, r.out), (0, path + '\n'))


def test_inspect(v):
    path, fields = made()
    check_summary(v, path, fields)
    check_maps(v, path, fields, BOX)
    check_digests(v, path, fields)
    check_refusals(v, path)


# ---- spectra

def table(text):
    rows = {}
    for line in text.splitlines():
        if not line.startswith('#'):
            name, k, e, modes = line.split('\t')
            rows.setdefault(name, []).append((float(k), float(e), int(modes)))
    return {name: np.array(r) for name, r in rows.items()}


def shells(q, p, length):
    """Spectrum of Re(q p*) by NumPy."""
    n = list(reversed(q.shape))
    k = [2 * np.pi / length[d] * np.fft.fftfreq(n[d], 1 / n[d]) for d in range(3)]
    kz, ky, kx = np.meshgrid(k[2], k[1], k[0], indexing='ij')
    shell = np.floor(np.sqrt(kx**2 + ky**2 + kz**2) / (2 * np.pi / max(length)) + 0.5).astype(int)
    product = (np.fft.fftn(q) * np.conj(np.fft.fftn(p))).real / q.size**2
    return np.bincount(shell.ravel(), product.ravel()), np.bincount(shell.ravel())


def check_spectra(v, shape, odd):
    n, length = shape
    path, fields = made(shape=shape, keys=['mu0=2', 'bext_y=0.3'])
    text = run('pk', path).out
    for ranks in (2, 3, 5):
        v.same('%s: %d ranks' % (odd, ranks), run('pk', path, ranks=ranks).out, text)
    u, a = [fields[k] for k in grid_files.FLOW[1:]], [fields[k] for k in grid_files.POTENTIAL]
    h = [length[d] / n[d] for d in range(3)]
    b, w = magnetic(fields, shape, (0, 0.3, 0)), grid_files.curl(u, h)
    pairs = {'kinetic': (0.5, u, u), 'magnetic': (0.25, b, b), 'kinetic_helicity': (1, u, w),
             'magnetic_helicity': (1, a, b)}
    got = table(text)
    v.same('%s: spectra' % odd, sorted(got), sorted(pairs))
    for name, (factor, p, q) in pairs.items():
        size = sum((abs(p[d]) * abs(q[d])).mean() for d in range(3)) * factor
        integral = sum((p[d] * q[d]).mean() for d in range(3)) * factor
        v.check('%s: %s: sum' % (odd, name), abs(got[name][:, 1].sum() - integral) / size, 1e-11)
        want = sum(shells(p[d], q[d], length)[0] for d in range(3)) * factor
        modes = shells(p[0], q[0], length)[1]
        there = np.rint(got[name][:, 0] / (2 * np.pi / max(length))).astype(int)
        v.same('%s: %s: modes' % (odd, name), list(got[name][:, 2]), list(modes[there]))
        v.check('%s: %s: shells' % (odd, name), abs(got[name][:, 1] - want[there]).max() / size,
                1e-11)
    one = table(run('pk', '--values', 's', path).out)['s'][:, 1].sum()
    v.check('%s: a value' % odd, abs(one / (fields['s']**2).mean() - 1), 1e-11)


def test_spectra(v):
    check_spectra(v, BOX, 'even')
    check_spectra(v, ((15, 9, 7), (3.0, 1.0, 2.0)), 'odd')
    check_spectra(v, ((16, 16, 1), (1.0, 1.0, 1.0)), 'flat')


# ---- convert

def faces(fields, h=2.0 / 32):
    """The field on the lower faces: curl of the means of four cells around an edge."""
    def edge(d):
        f = fields['axayaz'[2 * d:2 * d + 2]]
        return sum(np.roll(np.roll(f, i, 2 - (d + 1) % 3), j, 2 - (d + 2) % 3)
                   for i in (0, 1) for j in (0, 1)) / 4

    def up(f, d):
        return (np.roll(f, -1, 2 - d) - f) / h
    return [up(edge((d + 2) % 3), (d + 1) % 3) - up(edge((d + 1) % 3), (d + 2) % 3)
            for d in range(3)]


def solved(fields):
    """The field at the centres without its divergence by the differences of order 6."""
    k = 2 * np.pi * np.fft.fftfreq(32)
    k = 2 * (3 / 4 * np.sin(k) - 3 / 20 * np.sin(2 * k) + 1 / 60 * np.sin(3 * k))
    k[16] = 0
    wave = [k[None, None, :], k[None, :, None], k[:, None, None]]
    b = [np.fft.fftn((f + np.roll(f, -1, 2 - d)) / 2) for d, f in enumerate(faces(fields))]
    k2 = sum(w * w for w in wave)
    along = sum(w * c for w, c in zip(wave, b)) / np.where(k2 > 0, k2, 1)
    mean = k2 + np.zeros((32, 32, 32)) == 0
    mean[0, 0, 0] = False
    return [np.fft.ifftn(np.where(mean, 0, c - w * along)).real for w, c in zip(wave, b)]


def check_octree(v, path, fields):
    for form in ('ramses', 'hdf5'):
        r = run('convert', '-q', '-f', form, '-o', form, path)
        v.same('convert -f %s' % form, (r.status, r.err), (0, ''))
        r = run('inspect', '-cc', '-j', form)
        found = json.loads(r.out)
        v.same('%s: sound' % form, found['verdict'], 'sound')
        v.check('%s: div B' % form, found['div_B'], 1e-11)
    v.same('digests', ptah.digest('ramses'), ptah.digest('hdf5'))
    gas = {f['name']: f for f in json.loads(run('inspect', '-s', '-j', 'hdf5').out)['fields']}
    rho = np.exp(fields['lnrho'])
    p = rho * np.exp(5 / 3 * fields['s'] + 2 / 3 * fields['lnrho']) / (5 / 3)
    spread(v, 'density', [gas['density'][k] for k in ('min', 'max')], [rho.min(), rho.max()])
    spread(v, 'pressure', [gas['pressure'][k] for k in ('min', 'max')], [p.min(), p.max()], 1e-11)
    run('inspect', '-q', '--force', '-m', 'velocity_x', '--weight', 'volume', '-n', '32', '-o',
        'm.npy', 'hdf5')
    spread(v, 'velocity', np.load('m.npy'), fields['ux'].mean(axis=0), 1e-11)
    run('inspect', '-q', '--force', '-m', 'B_x_left', '--weight', 'max', '-n', '32', '--depth',
        '%.17g' % (1 / 32), '--center', '.5,.5,%.17g' % (5.5 / 32), '-o', 'm.npy', 'hdf5')
    spread(v, 'field on faces', np.load('m.npy'), faces(fields)[0][5], 1e-11)


def check_back(v, path, fields):
    r = run('convert', '--uniform', '32', '-o', 'back', 'hdf5')
    back = os.path.join('back', 'output_00002')
    v.same('--uniform', (r.status, r.out), (0, back + '\n'))
    for ranks in (2, 3):
        run('convert', '-q', '--uniform', '32', '-o', 'back%d' % ranks, 'ramses', ranks=ranks)
        v.same('--uniform on %d ranks' % ranks,
               run('inspect', '-d', 'back%d/output_00002' % ranks).out,
               run('inspect', '-d', back).out)
    for name in ('density', 'speed', 'temperature', 'pressure', 'bx', 'bz'):
        for k, p in enumerate((path, back)):
            run('inspect', '-q', '--force', '-m', name, '--weight', 'volume', '-n', '32', '--depth',
                '%.17g' % (1 / 32), '-o', '%d.npy' % k, p)
        limit = 0.05 if name[0] == 'b' else 1e-10  # means of faces are of second order
        if name == 'bx':
            spread(v, 'back: bx, exactly', np.load('1.npy'), solved(fields)[0][15:17].mean(axis=0),
                   1e-10)
        if name != 'temperature':  # whose unit c_p is arbitrary
            spread(v, 'back: %s' % name, np.load('1.npy'), np.load('0.npy'), limit)


def check_vtk(v, path, fields):
    v.same('vti', run('convert', '-f', 'vti', '-o', 'x.vti', path).out, 'x.vti\n')
    with open('x.vti', 'rb') as f:
        head, data = f.read().split(b'<AppendedData encoding="raw">\n_', 1)
    v.same('vti: extent', b'WholeExtent="0 24 0 20 0 12"' in head, True)
    at = int(head.split(b'Name="u"')[1].split(b'offset="')[1].split(b'"')[0])
    size = int.from_bytes(data[at:at + 8], 'little')
    u = np.frombuffer(data, '<f8', size // 8, at + 8).reshape(12, 20, 24, 3)
    same = [bool((u[..., d] == fields['u' + 'xyz'[d]]).all()) for d in range(3)]
    v.same('vti: velocity', same, 3 * [True])
    v.same('vti of an octree', run('convert', '-f', 'vti', 'hdf5').status, 2)


def test_convert(v):
    cube, fields = made(2, CUBE)
    check_octree(v, cube, fields)
    check_back(v, cube, fields)
    box, fields = made()
    check_vtk(v, box, fields)
    r = run('convert', '-o', 'no', box)
    v.same('no cube', (r.status, 'only a cube of 2^n cells' in r.err), (2, True))


def main():
    v = ptah.Verdict()
    {'inspect': test_inspect, 'spectra': test_spectra, 'convert': test_convert}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
