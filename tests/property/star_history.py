"""inspect --stars: the star formation history agrees with the log of births.

    star_history.py box      without cosmology, with supernovae: the mass formed by bin, from the
                             log; equal numbers from both formats and any ranks; the picture; the
                             map of the rate (-m sfr) has the mass of young stars; damage, and
                             checkpoints without stars
    star_history.py cosmo    conformal and proper birth times give the history that follows from
                             the expansion factors in the log

Example of a fault caught: conformal times taken for proper ones, mass lost in supernovae not
added back, a unit of time without a^2, a bin off by one, a rate per code length.
"""
# test: box tier=check timeout=120 ranks=2
# test: cosmo tier=check timeout=240 ranks=2
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402
import ptah  # noqa: E402
from stars import BOX, events  # noqa: E402

BINS = 20
SOLAR_MASS, YEAR = 1.98841e33, 31557600.0


def forced(argv):
    """Adds --force if the command writes a file, which may exist from before."""
    return [*argv, '--force'] if '-o' in argv or '--phase' in argv else argv


def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *forced(argv)], '.')


def history(path, bins=BINS, options=()):
    """Rows of the table: from, to, redshift, stars, formed, rate, total."""
    r = inspect('--stars', '-n', str(bins), *options, path)
    if r.status:
        print(r.err)
    return np.array([line.split('\t') for line in r.out.splitlines() if line[0] != '#'], float)


def by_bin(time, mass, end):
    at = np.minimum(time / end * BINS, BINS - 1).astype(int)
    return (np.bincount(at, minlength=BINS), np.bincount(at, weights=mass, minlength=BINS))


def agrees(v, name, h, time, mass, end):
    """Compares table h with births at time (s) with mass (g)."""
    n, formed = by_bin(time, mass / SOLAR_MASS, end)
    gyr = 1e9 * YEAR
    ends = (np.arange(BINS) + 1) / BINS * end / gyr
    v.check(name + ': times of the bins', abs(h[:, 1] / ends - 1).max(), 1e-6)
    v.same(name + ': stars of the bins', (h[:, 3] == n).all(), True)
    v.check(name + ': mass formed', abs(h[:, 4] - formed).max() / formed.max(), 1e-8)
    v.check(name + ': rate', abs(h[:, 5] * end / BINS / YEAR - h[:, 4]).max() / formed.max(), 1e-7)
    v.check(name + ': total', abs(h[:, 6] - np.cumsum(formed)).max() / formed.sum(), 1e-8)


def run(name, ranks, form):
    text = BOX % ('.false.', 12, '.false.', 3, 5, 3, 0.3, 12, form, 0.1,
                  'eps_star=0.2\nm_star=20.0', 'eta_sn=0.2\nyield=0.1\nt_sne=0.15')
    return ptah.simulate(text, name, ranks, 1, [], ['-q']).outputs[-1]


def damaged(v, path):
    """A birth after the time of the checkpoint, and one that is NaN."""
    for value, says in (1e3, 'born after'), (float('nan'), 'birth time nan'):
        shutil.rmtree('bad', ignore_errors=True)
        shutil.copytree(path, 'bad')
        name = os.path.join('bad', 'part_%s.out00001' % path[-5:])
        with open(name, 'rb') as f:
            data = bytearray(f.read())
        at, records = 0, []
        while at < len(data):
            n = int.from_bytes(data[at:at + 4], 'little')
            records.append((at + 4, n))
            at += n + 8
        start, n = records[-1]  # birth times
        data[start:start + 8] = np.array([value]).tobytes()
        with open(name, 'wb') as f:
            f.write(data)
        os.remove(os.path.join('bad', 'checksums_%s.txt' % path[-5:]))
        r = inspect('--stars', 'bad')
        v.same('birth %g: one sentence, status 2' % value,
               (r.status, len(r.err.strip().splitlines()), says in r.err, r.out),
               (2, 1, True, ''))


def rates(v, path, birth, end):
    """Maps of the star formation rate, averaged over a part of the time and over all of it."""
    age, mass = (end - birth[:, 13] * 3e14) / (1e6 * YEAR), birth[:, 3] * 1.66e-22 * 3e20 ** 3
    for recent in np.median(age) * 1.001, 1e5:
        j = json.loads(inspect('-m', 'sfr', '--recent', '%.17g' % recent, '-o', 'sfr.npy', '-j',
                               '-n', '64', path).out)
        young = age <= recent
        want = mass[young].sum() / SOLAR_MASS / (min(recent, end / (1e6 * YEAR)) * 1e6)
        v.check('map of the rate over %.3g Myr: its sum' % recent, abs(j['total'] / want - 1), 1e-6)
        side = 3e20 / 3.0856776e21 / 64
        v.check('map of the rate over %.3g Myr: per kpc^2' % recent,
                abs(np.load('sfr.npy').sum() * side ** 2 / want - 1), 1e-6)
    v.same('some are older', (age > np.median(age) * 1.001).sum() > 5, True)


def box():
    v = ptah.Verdict()
    one, two = run('one', 1, 'original'), run('two', 2, 'hdf5')
    e = events('one')
    birth = e[e[:, 0] == 0]
    blasts = int((e[:, 0] == 1).sum())
    with open(os.path.join(one, 'info_%s.txt' % one[-5:])) as f:
        info = dict(line.split('=') for line in f.read().splitlines() if line.count('=') == 1)
    info = {k.strip(): x for k, x in info.items()}
    end = float(info['time']) * 3e14
    h = history(one)
    v.same('supernovae to test', blasts > 10, True)
    agrees(v, 'box', h, birth[:, 13] * 3e14, birth[:, 3] * 1.66e-22 * 3e20 ** 3, end)
    v.same('no redshift', np.isnan(h[:, 2]).all(), True)
    v.same('two ranks, HDF5: the same table', np.array_equal(h, history(two), equal_nan=True), True)
    j = json.loads(inspect('--stars', '-n', str(BINS), '-j', one).out)
    v.same('JSON', [b['formed'] for b in j['history']] != [] and
           np.allclose([b['formed'] for b in j['history']], h[:, 4], rtol=1e-8), True)
    rates(v, one, birth, end)
    for name, magic in ('s.png', b'\x89PNG'), ('s.svg', b'<?xml'), ('s.pdf', b'%PDF-'):
        r = inspect('--stars', '-o', name, one)
        with open(name, 'rb') as f:
            v.same(name, (r.status, f.read(len(magic))), (0, magic))
    damaged(v, one)
    none = ptah.simulate(BOX % ('.false.', 1, '.false.', 3, 3, 1, 0, 1, 'original', -1, '', ''),
                         'none', 1, 1, [], ['-q']).outputs[-1]
    h = history(none)
    v.same('no stars: zeros', (len(h), h[:, 3:].sum()), (BINS, 0))
    r = inspect('--stars', '-o', 's.txt', one)
    v.same('a picture is .png or .svg', (r.status, 's.txt' in r.err), (2, True))
    v.end()


def proper(a, par):
    """Proper time (s) since the Big Bang at expansion factors."""
    h0 = par['H0'] * 1e5 / 3.0856775814913673e24
    grid = np.linspace(0, 1, 400001) ** 2  # uniform in a^(1/2), where the integrand is smooth
    s = np.sqrt(grid)
    f = 2 * s ** 2 / np.sqrt(par['omega_m'] + par['omega_k'] * grid + par['omega_l'] * grid ** 3)
    t = np.concatenate([[0], np.cumsum(0.5 * (f[1:] + f[:-1]) * np.diff(s))])
    return np.interp(a, grid, t) / h0


def cosmo():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_hydro32.nml')) as f:
        text = f.read()
    text += '\n&SF_PARAMS\neps_star=1.0\nn_star=1e-9\ndel_star=1.5\nm_star=0.05\n' \
            'sf_log_properties=.true.\n/\n'
    tables = []
    for name, ranks, when in ('conformal', 1, '.false.'), ('proper', 2, '.true.'):
        os.makedirs(name)
        os.symlink('../ics', name + '/ics')
        last = ptah.simulate(text, name, ranks, 1,
                             ['run_params/use_proper_time=' + when, 'run_params/nstepmax=8',
                              'output_params/foutput=8'], ['-q']).outputs[-1]
        e = events(name)
        with open(os.path.join(last, 'info_%s.txt' % last[-5:])) as f:
            info = {k.strip(): float(x) for k, x in
                    (line.split('=') for line in f.read().splitlines()[:18] if '=' in line)}
        unit = info['unit_d'] * info['unit_l'] ** 3
        h = history(last)
        tables.append(h)
        v.same(name + ': stars to test', len(e) > 100 and (h[:, 3] > 0).sum() > 4, True)
        agrees(v, name, h, proper(e[:, 14], info), e[:, 3] * unit, proper(info['aexp'], info))
        middle = 0.5 * (h[:, 0] + h[:, 1]) * 1e9 * YEAR
        a = 1 / (1 + h[:, 2])
        v.check(name + ': redshifts', abs(proper(a, info) / middle - 1).max(), 1e-4)
    v.same('both say the same', np.allclose(*tables, rtol=1e-7, atol=0), True)
    v.end()


if __name__ == '__main__':
    box() if sys.argv[1] == 'box' else cosmo()
