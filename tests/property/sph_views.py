"""The programs on smoothed particles: maps by the kernel against a direct sum, and the octree of
their gas behind profiles, phase diagrams, spectra and convert.

    sph_views.py maps      columns and means, whole and in a slab, against NumPy; totals; a refusal
    sph_views.py octree    profile and phase diagram keep the mass, the same on 1, 2 and 3 ranks;
                           checkpoints by convert --deposit have the same digest in both formats and
                           are sound
    sph_views.py spectra   a wave of the density has its power at its wave number, equal bytes on 1,
                           2 and 3 ranks

Examples of faults caught: a kernel cut at the face of a periodic box, axes exchanged, a column in
units of the box, energy that is not kept.
"""
# test: maps tier=check timeout=120
# test: octree tier=check timeout=120
# test: spectra tier=check timeout=120
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import phantom_files  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

SIDE, GAMMA = 2.0, 5 / 3
LOW = np.array([-1.0, 0.5, 3.0])  # corner of the box


def run(name, *words, ranks=1):
    argv = [ptah.program(name), *words]
    return ptah.Run(ptah.mpirun(ranks) + argv if ranks > 1 else argv, '.')


def particles(n=200, seed=1):
    rng = np.random.default_rng(seed)
    s = {'x': LOW + SIDE * rng.random((n, 3)), 'v': rng.normal(size=(n, 3)),
         'u': 1 + rng.random(n)}
    spread = 1 + 0.5 * rng.random(n)
    s['h'] = (1.2 * SIDE * n ** (-1 / 3) * spread).astype('f4').astype('f8')
    s['mass'] = 3.0 / n
    s['rho'] = s['mass'] * (1.2 / s['h']) ** 3
    return s


def dump(path, s, periodic=True):
    box = (LOW, LOW + SIDE) if periodic else None
    phantom_files.write(path, s['x'], s['v'], s['u'], s['h'], box, time=0.5, mass=s['mass'])
    return path


# ---- maps

def cubic(q):
    return (0.25 * np.maximum(2 - q, 0)**3 - np.maximum(1 - q, 0)**3) / np.pi


def direct(s, values, axis, n, depth=None, fine=3, steps=16):
    """Columns of Σ values W at the pixels: means over fine × fine points of each, sums over z."""
    right, up = (1 if axis == 0 else 0), (1 if axis == 2 else 2)
    points = (np.arange(n * fine) + 0.5) * SIDE / (n * fine)
    at = s['x'] - LOW
    total = np.zeros((n * fine, n * fine))
    for i in range(len(at)):
        h = s['h'][i]
        du = (points - at[i, right] + SIDE / 2) % SIDE - SIDE / 2
        dv = (points - at[i, up] + SIDE / 2) % SIDE - SIDE / 2
        b2 = du[None, :]**2 + dv[:, None]**2
        z = (np.arange(steps) + 0.5) / steps * 4 * h - 2 * h
        inside = np.ones(steps, bool)
        if depth is not None:
            inside = abs((at[i, axis] + z) % SIDE - SIDE / 2) < depth / 2
        w = sum(cubic(np.sqrt(b2 + zz * zz) / h) for zz in z[inside]) if inside.any() else 0
        total += values[i] * w / h**3 * 4 * h / steps
    return total.reshape(n, fine, n, fine).mean(axis=(1, 3))


def drawn(*words):
    r = run('inspect', '-j', '-q', '--force', '-o', 'm.npy', *words)
    return np.load('m.npy') if r.status == 0 else None, r


def test_maps(v):
    s, n = particles(), 16
    path = dump('box_00007', s)
    m = s['mass'] * np.ones(len(s['h']))
    for axis, name in enumerate('xyz'):
        words = ('-n', str(n), '-a', name, path)
        column = direct(s, m, axis, n)
        got, r = drawn('-m', 'density', *words)
        v.same('density along %s: status' % name, (r.status, r.err), (0, ''))
        v.check('density along %s' % name, abs(got / column - 1).max(), 0.01)
        v.check('mass along %s' % name,
                abs(json.loads(r.out)['total'] / (m.sum()) - 1), 1e-3)
    got, _ = drawn('-m', 'velocity_y', *words)
    want = direct(s, m * s['v'][:, 1], 2, n) / column
    v.check('mean velocity', abs(got - want).max() / abs(want).max(), 0.01)
    got, _ = drawn('-m', 'pressure', '--weight', 'volume', *words)
    volume = m / s['rho']
    want = direct(s, volume * s['rho'] * s['u'] * (GAMMA - 1), 2, n) / direct(s, volume, 2, n)
    v.check('mean pressure by volume', abs(got / want - 1).max(), 0.01)
    got, _ = drawn('-m', 'density', '--depth', '0.25', *words)
    want = direct(s, m, 2, n, depth=0.25 * SIDE)
    v.check('density in a slab', abs(got - want).max() / want.max(), 0.04)
    got, r = drawn('-m', 'density', '-n', '3', path)
    v.check('mass on few pixels', abs(got.sum() * (SIDE / 3)**2 / m.sum() - 1), 1e-13)
    got, r = drawn('-m', 'level', *words)
    v.same('map of the octree', (r.status, bool(got.min() >= 2)), (0, True))
    bins = json.loads(run('inspect', '-j', '--pdf', 'pressure', '--pixels', '7', path).out)['bins']
    count, _ = np.histogram(s['rho'] * s['u'] * (GAMMA - 1), 7)
    v.same('distribution', [b['particles'] for b in bins], list(count))
    r = run('inspect', '-m', 'nothing', path)
    v.same('unknown field', (r.status, r.err.count('\n')), (2, 1))


# ---- octree

def check_profile(v, path, s, what):
    words = ('--profile', '.5,.5,.5,.5', '-j', path)
    one = run('inspect', *words)
    v.same('%s: profile' % what, (one.status, one.err), (0, ''))
    for ranks in (2, 3):
        v.same('%s: profile on %d ranks' % (what, ranks),
               run('inspect', *words, ranks=ranks).out == one.out, True)


def check_totals(v, out, s, what):
    """Momentum and energy of the leaf cells, as another reader finds them."""
    cells = read_ramses.load(out)
    rho, volume = cells.cell['density'], cells.volume
    u = [cells.cell['velocity_' + a] for a in 'xyz']
    for d in range(3):
        want = s['mass'] * s['v'][:, d]
        v.check('%s: momentum %s' % (what, 'xyz'[d]),
                abs((rho * u[d] * volume).sum() - want.sum()) / abs(want).sum(), 1e-12)
    energy = (volume * (cells.cell['pressure'] / (GAMMA - 1) + 0.5 * rho * sum(q * q for q in u)))
    want = s['mass'] * (s['u'] + 0.5 * (s['v']**2).sum(axis=1))
    v.check('%s: energy' % what, abs(energy.sum() / want.sum() - 1), 1e-12)
    v.same('%s: positive' % what, rho.min() > 0 and cells.cell['pressure'].min() > 0, True)


def check_checkpoint(v, path, s, what):
    """The checkpoints that convert writes, in both formats, by any ranks."""
    digests = set()
    for form, ranks in (('hdf5', 1), ('ramses', 1), ('hdf5', 3)):
        out = '%s_%s_%d/output_00001' % (what, form, ranks)
        os.makedirs(os.path.dirname(out))
        r = run('convert', '-q', '--deposit', '-f', form, '-o', out, path, ranks=ranks)
        v.same('%s: convert -f %s' % (what, form), (r.status, r.err), (0, ''))
        r = run('inspect', '-cc', out)
        v.same('%s: check of %s' % (what, form), (r.status, r.err), (0, ''))
        digests.add(run('inspect', '-q', '-d', out).out.split()[0])
        _, r = drawn('-m', 'density', out)
        v.check('%s: mass in %s' % (what, form),
                abs(json.loads(r.out)['total'] / (s['mass'] * len(s['h'])) - 1), 1e-11)
        if form == 'ramses':
            check_totals(v, out, s, what)
    v.same('%s: digests' % what, len(digests), 1)


def check_same(v, path, what):
    """A checkpoint that convert makes of the dump has the same views."""
    r = run('convert', '-q', '-f', 'sph', '-o', what, path)
    v.same('%s: convert -f sph' % what, (r.status, r.err), (0, ''))
    for field in ('density', 'level'):
        a, b = (drawn('-m', field, '-n', '32', p)[0] for p in (path, r.out.strip()))
        v.same('%s: %s of the checkpoint' % (what, field), np.array_equal(a, b), True)


def test_octree(v):
    s = particles(600)
    for periodic in (True, False):
        what = 'periodic' if periodic else 'open'
        path = dump('%s_00001' % what, s, periodic)
        check_profile(v, path, s, what)
        check_checkpoint(v, path, s, what)
        check_same(v, path, what)
        one = run('inspect', '--phase', '-q', '--force', '-f', 'tsv', '-o', 'one.tsv', path)
        v.same('%s: phase diagram' % what, (one.status, one.err), (0, ''))
        for ranks in (2, 3):
            run('inspect', '--phase', '-q', '--force', '-f', 'tsv', '-o', 'more.tsv', path,
                ranks=ranks)
            with open('one.tsv') as a, open('more.tsv') as b:
                v.same('%s: phase diagram on %d ranks' % (what, ranks), a.read() == b.read(), True)


# ---- spectra

def test_spectra(v):
    n = 16
    at = (np.indices((n, n, n)).reshape(3, -1).T + 0.5) / n
    shifted = at.copy()
    shifted[:, 0] += 0.1 / (4 * np.pi) * np.sin(4 * np.pi * at[:, 0])
    s = {'x': LOW + SIDE * (shifted % 1), 'v': np.zeros_like(at), 'u': np.ones(len(at)),
         'h': np.full(len(at), 1.2 * SIDE / n), 'mass': 1 / len(at)}
    path = dump('wave_00002', s)
    one = run('pk', '-n', '32', path)
    v.same('status', (one.status, one.err), (0, ''))
    table = [[float(c) for c in line.split('\t')[1:]] for line in one.out.splitlines()
             if line and not line.startswith('#')]
    power = [(row[1] * row[4], row[0]) for row in table]
    v.check('wave number', abs(max(power)[1] / (2 * 2 * np.pi / SIDE) - 1), 0.2)
    for ranks in (2, 3):
        v.same('%d ranks' % ranks, run('pk', '-n', '32', path, ranks=ranks).out == one.out, True)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    globals()['test_' + sys.argv[1]](verdict)
    verdict.end()
