"""Spectra of pk are correct: compared with those of numpy, of a known input, of other meshes, ranks
and formats.

    pk.py poisson     points without structure: V/N below Nyquist within 0.1 %, all windows, folded
                      and interlaced
    pk.py linear      linear initial conditions reproduce the spectrum of CAMB; shell by shell as
                      numpy
    pk.py meshes      64³ and 128³ cells agree to 0.1 % below 0.7 of the smaller Nyquist; folded
                      spectra continue where unfolded ones end
    pk.py formats     one checkpoint in any format, for any ranks and threads: identical bytes;
                      parts add up to the whole
    pk.py wrong       errors: one sentence, status 2, on one rank and three

Examples of faults caught: a window divided out once, images of shot noise left in, a cross
spectrum without its real part's other half, points of a lattice given shot noise, fold's modes off
by the factor, a rank that waits for one that failed.
"""
# test: poisson tier=check timeout=120
# test: linear tier=check timeout=60
# test: meshes tier=check timeout=120
# test: formats tier=check timeout=240 ranks=3
# test: wrong tier=check timeout=120 ranks=3
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import matplotlib.image
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

H0 = 70.0
ASTART = 0.02


def pk(*argv, ranks=1, threads=1, must_work=True):
    """The table, {spectrum: rows of k, P, shot, sigma, modes}, and its text."""
    r = ptah.Run(ptah.mpirun(ranks) + [ptah.program('pk'), *argv], '.',
                 {'OMP_NUM_THREADS': str(threads)}, 100)
    if must_work and (r.status != 0 or r.err):
        print('pk %s: status %d: %s' % (' '.join(argv), r.status, r.err))
        sys.exit(1)
    r.table = {}
    for line in r.out.splitlines() if must_work and '-j' not in argv else []:
        if not line.startswith('#'):
            name, *numbers = line.split('\t')
            r.table.setdefault(name, []).append([float(x) for x in numbers])
    r.table = {name: np.array(rows) for name, rows in r.table.items()}
    return r


# ---- initial conditions ----

def grafic(folder, name, value, dx):
    """Writes value[z][y][x] as initial conditions of an Einstein–de Sitter universe."""
    os.makedirs(folder, exist_ok=True)
    n = value.shape[0]
    head = struct.pack('<3i8f', n, n, n, dx, 0, 0, 0, ASTART, 1, 0, H0)
    with open(os.path.join(folder, name), 'wb') as f:
        for body in [head] + [np.asarray(plane, '<f4').tobytes() for plane in value]:
            f.write(struct.pack('<i', len(body)) + body + struct.pack('<i', len(body)))


def eisenstein_hu(k, omega_m=0.3, omega_b=0.045, h=0.7, ns=0.965):
    """Spectrum without wiggles (Eisenstein & Hu 1998, eq. 26-31), k in h/Mpc, any norm."""
    om, ob, fb, theta = omega_m * h * h, omega_b * h * h, omega_b / omega_m, 2.7255 / 2.7
    s = 44.5 * np.log(9.83 / om) / np.sqrt(1 + 10 * ob ** 0.75)
    alpha = 1 - 0.328 * np.log(431 * om) * fb + 0.38 * np.log(22.3 * om) * fb ** 2
    gamma = omega_m * h * (alpha + (1 - alpha) / (1 + (0.43 * k * h * s) ** 4))
    q = np.maximum(k, 1e-9) * theta ** 2 / gamma
    low = np.log(2 * np.e + 1.8 * q)
    t = low / (low + (14.2 + 731 / (1 + 62.5 * q)) * q * q)
    return np.where(k > 0, np.maximum(k, 1e-9) ** ns * t * t, 0)


def waves(n):
    """Integer wave vectors of rfftn of value[z][y][x]."""
    i = np.fft.fftfreq(n, 1 / n)
    return np.meshgrid(i, i, np.arange(n // 2 + 1), indexing='ij')


def camb(k):
    """CAMB's spectrum at the redshift of the initial conditions [(Mpc/h)^3]."""
    table = np.loadtxt(os.path.join(ptah.ROOT, 'tests', 'data', 'camb_pk.txt'))
    return np.where(k > 0, np.exp(np.interp(np.log(np.maximum(k, 1e-9)), *np.log(table.T))), 0)


def gaussian(n, box, rms, seed, spectrum=eisenstein_hu):
    """A random field with a given spectrum, its Fourier transform, and the spectrum [(Mpc/h)^3] of
    its modes.

    rms: rms to which the field is scaled; None: no scaling."""
    k = 2 * np.pi / box * np.sqrt(sum(w * w for w in waves(n)))
    p = spectrum(k)
    white = np.fft.rfftn(np.random.default_rng(seed).standard_normal((n, n, n)))
    wave = white * np.sqrt(p * (n / box) ** 3)
    norm = rms / np.fft.irfftn(wave, s=(n, n, n), axes=(0, 1, 2)).std() if rms else 1.0
    return np.fft.irfftn(wave * norm, s=(n, n, n), axes=(0, 1, 2)), wave * norm, p * norm ** 2


def displacements(wave, n, box):
    """Displacement ψ with δ = −∇·ψ along x, y, z; without Nyquist waves, whose sign is
    undefined."""
    z, y, x = waves(n)
    k2 = np.maximum(x * x + y * y + z * z, 1)
    good = (abs(x) < n / 2) & (abs(y) < n / 2) & (abs(z) < n / 2)
    length = box / (2 * np.pi)
    return [np.fft.irfftn(1j * w / k2 * wave * good, s=(n, n, n), axes=(0, 1, 2)) * length
            for w in (x, y, z)]


def shells(power, n):
    """{|k|²: (mean power, modes)} up to Nyquist; k and −k are both counted."""
    z, y, x = waves(n)
    k2 = (x * x + y * y + z * z).astype(int).ravel()
    times = np.where((x == 0) | (x == n // 2), 1.0, 2.0).ravel()
    total, modes = np.bincount(k2, times * power.ravel()), np.bincount(k2, times)
    return {s: (total[s] / modes[s], modes[s]) for s in range(1, (n // 2) ** 2 + 1) if modes[s] > 0}


# ---- estimate by numpy ----

def spline(order, x):
    x = abs(x)
    if order == 1:
        return np.where(x < 0.5, 1.0, 0.0)
    if order == 2:
        return np.maximum(1 - x, 0)
    if order == 3:
        return np.where(x < 0.5, 0.75 - x * x, 0.5 * np.maximum(1.5 - x, 0) ** 2)
    return np.where(x < 1, (4 - 6 * x * x + 3 * x ** 3) / 6, np.maximum(2 - x, 0) ** 3 / 6)


def deposit(points, n, order, turn):
    """Overdensity of points (in boxes) on a mesh whose cell centres are at i + 1/2 − turn."""
    mesh = np.zeros((n, n, n))
    t = points * n + turn
    first = np.floor(t).astype(int) - 2
    for a in range(5):
        for b in range(5):
            for c in range(5):
                at = first + [a, b, c]
                w = np.prod(spline(order, t - at - 0.5), axis=1)
                np.add.at(mesh, tuple((at % n).T[::-1]), w)
    return mesh * n ** 3 / len(points) - 1


def estimate(points, n, order, interlace):
    k = np.fft.rfftn(deposit(points, n, order, 0))
    z, y, x = waves(n)
    if interlace:
        y, z = (np.where(w == -n // 2, n // 2, w) for w in (y, z))
        phase = np.exp(1j * np.pi * (x + y + z) / n)
        k = 0.5 * (k + phase * np.fft.rfftn(deposit(points, n, order, 0.5)))
    w = (np.sinc(x / n) * np.sinc(y / n) * np.sinc(z / n)) ** order
    return abs(k / n ** 3 / w) ** 2


def compare_shells(v, what, table, want, box):
    """Spectra of single shells, for narrow bins."""
    got = {int(round((row[0] * box / (2 * np.pi)) ** 2)): row for row in table}
    v.same(what + ': modes',
           {s: row[4] for s, row in got.items()} == {s: w[1] for s, w in want.items()}, True)
    v.check(what + ': power', max(abs(got[s][1] / box ** 3 / want[s][0] - 1) for s in want), 1e-10)


# ---- tests ----

ASCII = """
&RUN_PARAMS
pic=.true.
poisson=.true.
nstepmax=0
/
&AMR_PARAMS
levelmin=3
levelmax=3
npartmax=300000
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='points'
/
&OUTPUT_PARAMS
noutput=1
tout=0.1
foutput=1
/
"""


def points_checkpoint(n, seed):
    x = np.random.default_rng(seed).random((n, 3)) - 0.5
    os.makedirs('points')
    np.savetxt('points/ic_part', np.c_[x, np.zeros((n, 3)), np.full(n, 1 / n)], fmt='%.17g')
    return ptah.output(ptah.simulate(ASCII, '.'), 1)


def poisson(v):
    n = 100000
    path = points_checkpoint(n, 3)
    power, modes = np.zeros(3), np.zeros(3)
    plain = '--no-interlace'
    for fold, options in ((1, [plain]), (2, [plain, '-w', 'tsc']), (3, [plain, '-w', 'cic']),
                          (4, ['-w', 'ngp']), (5, [])):
        t = pk('-n', '256', '-k', '3', '--fold', str(fold), '-s', 'dm', *options, path).table['dm']
        v.check('fold %d: shot noise' % fold, max(abs(t[:, 2] * n - 1)), 1e-12)
        error = np.sqrt(2 / t[:, 4])
        v.check('fold %d %s: P N/V − 1 in its errors' % (fold, ' '.join(options)),
                max(abs(t[:, 1] * n - 1) / error), 3.5)
        power += t[:, 1] * n * t[:, 4]
        modes += t[:, 4]
    v.check('all together: P N/V − 1', abs(power.sum() / modes.sum() - 1), 1e-3)
    v.check('to Nyquist: P N/V − 1', abs(power[2] / modes[2] - 1), 1e-3)
    v.check('the error of that', np.sqrt(2 / modes[2]), 3e-4)
    direct(v, path)


def direct(v, path):
    """Checks the spectrum by sums over the points, up to Nyquist: shot noise and window are exactly
    removed."""
    n, points = 32, 0.5 + np.loadtxt('points/ic_part')[:, :3]
    waves = [np.arange(-(n // 2) if d else 0, n // 2 + 1) for d in range(3)]
    x, y, z = (np.exp(-2j * np.pi * np.outer(waves[d], points[:, d])) for d in range(3))
    power = np.array([[abs(z @ (b * a)) ** 2 for b in y] for a in x]) / len(points) ** 2
    i = np.arange(-(n // 2), n // 2 + 1)
    kx, ky, kz = np.meshgrid(np.arange(n // 2 + 1), i, i, indexing='ij')
    k = np.sqrt(kx * kx + ky * ky + kz * kz)
    times = np.where(kx == 0, 1.0, 2.0) * (k > 0) * (k <= n // 2)
    shell = np.minimum(np.floor(k + 0.5).astype(int), n // 2)
    modes = np.bincount(shell.ravel(), times.ravel())
    want = np.bincount(shell.ravel(), (times * power).ravel()) / np.maximum(modes, 1)
    t = pk('-n', str(n), '-s', 'dm', path).table['dm']
    off = abs(t[:, 1] / want[1:] - 1)
    v.check('sums over points, below 0.7 of Nyquist', max(off[:int(0.7 * n / 2)]), 1e-3)
    v.check('sums over points, to Nyquist', max(off), 5e-3)


def chi2(v, what, table, want):
    """Compares with the input, within its errors: each bin has one degree of freedom."""
    p, modes = np.array([w[0] for w in want]), table[:len(want), 4]
    c = np.sum((table[:len(want), 1] / p - 1) ** 2 * modes / 2) / len(want)
    v.check('%s: chi² of %d bins a bin, beside 1' % (what, len(want)),
            abs(c - 1), 4 * np.sqrt(2 / len(want)))


def in_bins(power, n):
    """Means of a power in bins of one fundamental mode."""
    got = shells(power, n)
    bins = [[got[s] for s in got if int(np.sqrt(s) + 0.5) == b] for b in range(1, n // 2 + 1)]
    return [(sum(p * m for p, m in b) / sum(m for _, m in b),) for b in bins]


def linear(v):
    n, box = 64, 500.0
    dx = box / n / (H0 / 100)
    delta, wave, power = gaussian(n, box, None, 4, camb)
    grafic('ics', 'ic_deltab', delta, dx)
    speed = H0 * ASTART ** -0.5 / (H0 / 100)  # a H f per Mpc/h
    for name, psi in zip('xyz', displacements(wave, n, box)):
        grafic('ics', 'ic_velc' + name, psi * speed, dx)
    # the header has single precision
    length = float(np.float32(dx)) * n * float(np.float32(H0)) / 100
    t = pk('-s', 'dm,gas', 'ics').table
    rho = 1 + delta.astype('f4').astype(float)
    compare_shells(v, 'gas', pk('-s', 'gas', '-k', 'log:100000', 'ics').table['gas'],
                   shells(abs(np.fft.rfftn(rho / rho.mean() - 1) / n ** 3) ** 2, n), length)
    want = in_bins(power, n)
    chi2(v, 'gas', t['gas'], want)
    chi2(v, 'dm, below half of Nyquist', t['dm'], want[:n // 4])
    same = slice(0, n // 4)
    v.check('dm beside gas, its own mesh', max(abs(t['dm'][same, 1] / t['gas'][same, 1] - 1)), 0.03)
    fine = pk('-s', 'dm', '-n', str(2 * n), 'ics').table['dm']
    same = slice(0, 3 * n // 8)
    v.check('dm beside gas, a finer mesh', max(abs(fine[same, 1] / t['gas'][same, 1] - 1)), 0.01)
    numpy_sets(v)


def numpy_sets(v):
    """A few thousand particles far from their lattice positions."""
    n, mesh, box = 14, 24, 70.0
    dx = box / n / (H0 / 100)
    rng, points = np.random.default_rng(5), []
    z, y, x = np.meshgrid(*[np.arange(n)] * 3, indexing='ij')
    grafic('far', 'ic_velcx', np.zeros((n, n, n)), dx)
    length = float(np.float32(dx)) * n * float(np.float32(H0)) / 100
    for name, at in zip('xyz', (x, y, z)):
        shift = (9 * rng.standard_normal((n, n, n))).astype('f4')
        grafic('far', 'ic_posc' + name, shift, dx)
        points.append(((at + 0.5) / n + shift.astype(float) / length).ravel())
    points = np.array(points).T
    for order, name in enumerate(('ngp', 'cic', 'tsc', 'pcs'), 1):
        for interlace in (['--interlace'], ['--no-interlace']):
            r = pk('-s', 'dm', '-n', str(mesh), '-w', name, '-k', 'log:100000', *interlace, 'far')
            t = r.table['dm']
            want = estimate(points, mesh, order, interlace == ['--interlace'])
            compare_shells(v, ' '.join([name] + interlace), t, shells(want, mesh), length)


def not_interlaced(v):
    """Claims of the manual for initial conditions on their own mesh: at Nyquist, and at half of
    it."""
    ptah.unpack_ics('sets', 'ic_32')
    path = 'sets/ics/ic_32/level_005'
    truth = pk('-s', 'dm', '-n', '256', path).table['dm']
    a = pk('-s', 'dm', '--no-interlace', path).table['dm']
    error = a[:, 1] / truth[:len(a), 1] - 1
    v.check('own mesh, not interlaced: at Nyquist, over 0.28', error[14] / -0.28, 1.01)
    v.check('own mesh, not interlaced: at half, over 0.02', error[7] / -0.02, 1.01)


def meshes(v):
    n, box = 128, 100.0
    dx = box / n / (H0 / 100)
    _, wave, _ = gaussian(n, box, 1.5, 6)
    grafic('ics', 'ic_velcx', np.zeros((n, n, n)), dx)
    for name, psi in zip('xyz', displacements(wave, n, box)):
        grafic('ics', 'ic_posc' + name, psi, dx)
    upto = int(0.7 * 32)
    # Without interlacing, aliases are those of the mean over directions; 64 cells have few modes
    # per bin, which scatter around this mean.
    for options, limit in (['--no-interlace'], 2e-3), ([], 1e-4):
        a, b = (pk('-s', 'dm', '-n', str(m), *options, 'ics').table['dm'][:upto] for m in (64, 128))
        v.check(' '.join(['64 and 128'] + options) + ': P', max(abs(a[:, 1] / b[:, 1] - 1)), limit)
    not_interlaced(v)
    folded = pk('-s', 'dm', '-n', '64', '--fold', '2', 'ics').table['dm']
    plain = pk('-s', 'dm', '-n', '128', 'ics').table['dm']
    # bins with modes in both, away from the ends of the folded spectrum
    upto = slice(3, 28)
    there = np.exp(np.interp(np.log(folded[upto, 0]), np.log(plain[:, 0]), np.log(plain[:, 1])))
    error = folded[upto, 3] / folded[upto, 1]
    v.check('folded goes on, in errors', max(abs(folded[upto, 1] / there - 1) / error), 4)
    v.check('folded: mean', abs(np.mean((folded[upto, 1] / there - 1) / error)), 1)
    v.check('folded: k of the last bin', abs(folded[-1, 0] / plain[-1, 0] - 1), 0.02)


COSMO = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,1,2
nstepmax=3
dump_pk=.true.
/
&OUTPUT_PARAMS
noutput=1
aout=1.0
foutput=3
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
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
m_refine=2.4,0.3
interpol_var=1
/
"""


def checkpoint():
    ptah.unpack_ics('.', 'ic_32')
    return ptah.simulate(COSMO, '.', ranks=2).outputs[-1]


def body(r):
    return [line for line in r.out.splitlines() if not line.startswith('# pk of')]


def formats(v):
    path = checkpoint()
    options = ['-n', '32', '-s', 'dm,gas,all,dmxgas']
    first = pk(*options, path)
    for ranks, threads in ((2, 1), (3, 1), (1, 2)):
        v.same('%d ranks, %d threads' % (ranks, threads),
               pk(*options, path, ranks=ranks, threads=threads).out == first.out, True)
    shapes = [('five', '-n', '5'), ('ksection', '-n', '3', '-d', 'ksection')]
    r = ptah.Run([ptah.program('repartition'), '-q', '-f', 'hdf5', '-o', 'h', path], '.')
    if r.status == 0:  # built without this format
        shapes.append(('hdf5', '-f', 'hdf5'))
    for name, *how in shapes:
        r = ptah.Run([ptah.program('repartition'), '-q', '-o', name, *how, path], '.')
        v.same(name + ': repartition', (r.status, r.err), (0, ''))
        v.same(name, body(pk(*options, name, ranks=2)) == body(first), True)
    with open('pk_%s.tsv' % path[-5:]) as f:
        own = [line for line in f.read().splitlines() if not line.startswith('# pk of')]
    v.same('simulate writes the same (dump_pk)',
           own == body(pk('-n', '32', '-s', 'dm,gas,all', path)), True)
    sums(v, first.table)
    moved(v, path)
    z = pk('-n', '16', '-z', 'x', path, ranks=3).out
    v.same('redshift space: 1 and 3 ranks', pk('-n', '16', '-z', 'x', path).out == z, True)
    v.same('its head', 'P includes the shot noise, P2 and P4 do not\n' in z, True)


def moved(v, path):
    """Redshift space along x: the longest waves by sums over the displaced particles."""
    p = read_ramses.load(path)
    x = np.array([p.part['position_' + d] for d in 'xyz'])
    a, o = p.info['aexp'], [p.info['omega_' + c] for c in 'mlk']
    hexp = np.sqrt(a ** 3 * (o[0] + o[1] * a ** 3 + o[2] * a)) / a
    x[0] += p.part['velocity_x'] / hexp
    m = p.part['mass'] / p.part['mass'].sum()
    waves = np.array([(i, j, k) for i in range(-2, 3) for j in range(-2, 3) for k in range(-2, 3)])
    length = np.sqrt((waves ** 2).sum(axis=1))
    first = waves[(length > 0.5) & (length < 1.5)]
    power = abs(np.exp(-2j * np.pi * (first @ x)) @ m) ** 2
    t = pk('-n', '32', '-s', 'dm', '-z', 'x', path).table['dm']
    side = p.info['unit_l'] / a / 3.08e24 * p.info['H0'] / 100
    v.check('redshift space: sums over particles', abs(t[0, 1] / (power.mean() * side ** 3) - 1),
            1e-2)


def sums(v, t):
    """P_all = Σ_ab f_a f_b P_ab; mass fractions follow from shot noise, which gas lacks."""
    dm = np.sqrt(t['all'][0, 2] / t['dm'][0, 2])
    gas = 1 - dm
    whole = (dm ** 2 * t['dm'][:, 1] + 2 * dm * gas * t['dmxgas'][:, 1] +
             gas ** 2 * t['gas'][:, 1])
    v.check('fraction of dm, beside its parameters', abs(dm - 0.8), 0.1)
    v.check('parts add up', max(abs(whole / t['all'][:, 1] - 1)), 1e-12)


def refused(v, what, argv, word, ranks):
    r = pk(*argv, ranks=ranks, must_work=False)
    # mpirun adds lines of its own
    said = [line for line in r.err.splitlines() if line.startswith('pk: ')]
    v.same('%s, %d ranks: status' % (what, ranks), (r.status, r.timed_out), (2, False))
    v.same('%s, %d ranks: a sentence' % (what, ranks), len(said) == 1 and word in said[0], True)
    if len(said) != 1 or word not in said[0]:
        print(r.err[:2000])


def wrong(v):
    path = checkpoint()
    shutil.copytree(path, 'cut')
    part = [os.path.join('cut', f)
            for f in sorted(os.listdir('cut')) if f.startswith('part_') and '.out' in f][-1]
    os.truncate(part, os.path.getsize(part) // 2)
    cases = [('missing', ['gone'], 'gone'),
             ('truncated', ['-n', '32', 'cut'], os.path.basename(part)),
             ('mesh -1', ['-n', '-1', path], '-1'),
             ('mesh too large', ['-n', '40000', path], '40000'),
             ('mesh beyond memory', ['-n', '32768', path], 'memory'),
             ('species', ['-s', 'dm,cheese', path], 'cheese'),
             ('none of it', ['-n', '32', '-s', 'star', path], 'star')]
    for ranks in (1, 3):
        for what, argv, word in cases:
            refused(v, what, argv, word, ranks)
    with open('/dev/full', 'w') as full:
        p = subprocess.run([ptah.program('pk'), '-n', '16', path], stdout=full,
                           stderr=subprocess.PIPE, text=True,
                           env={**os.environ, **ptah.ENVIRONMENT})
    v.same('full stdout',
           (p.returncode, p.stderr.count('\n'), 'standard output' in p.stderr), (2, 1, True))
    j = json.loads(pk('-j', '-n', '16', path).out)
    v.same('JSON', (j['schema'], j['mesh'], j['spectra'][0]['name']), ('pk-1', 16, 'all'))
    files(v, path)
    both = pk('-n', '16', 'gone', path, must_work=False)
    v.same('goes on after a missing one',
           (both.status, both.out.startswith('# pk of ' + path)), (2, True))


def files(v, path):
    """One file per checkpoint, and a picture."""
    r = pk('-n', '16', '-o', 'tables', '--plot', 'p.svg', path)
    pk('-n', '16', '--plot', 'p.png', path)
    name = 'tables/pk_%s.tsv' % path[-5:]
    v.same('-o: its path', r.out, name + '\n')
    with open(name) as f:
        v.same('-o: the table', f.read() == pk('-n', '16', path).out, True)
    with open('p.svg') as f:
        picture = f.read()
    v.same('plot: a line and the legend, its noise, the end',
           (len(re.findall(r'stroke-width: ?1\.6', picture)), 'stroke-dasharray' in picture,
            picture[-7:]), (2, True, '</svg>\n'))
    black = matplotlib.image.imread('p.png')
    v.same('plot: pixels', black.shape[:2], (1040, 1440))
    v.check('plot: drawn on white', abs(black[..., :3].mean() - 0.96), 0.03)
    v.same('nothing half written',
           [x for x in os.listdir('.') + os.listdir('tables') if x.endswith('.part')], [])
    for ranks in (1, 3):
        refused(v, 'table is there', ['-n', '16', '-o', 'tables', path], name, ranks)
        refused(v, 'plot is there', ['-n', '16', '--plot', 'p.svg', path], 'p.svg', ranks)
    refused(v, 'no such folder', ['-n', '16', '-o', 'no/where', path], 'no/where', 1)
    v.same('--force', pk('-n', '16', '-o', 'tables', '--force', path).out, name + '\n')


if __name__ == '__main__':
    verdict = ptah.Verdict()
    parts = (poisson, linear, meshes, formats, wrong)
    {f.__name__: f for f in parts}[sys.argv[1]](verdict)
    verdict.end()
