"""Phase diagrams of any two fields and profiles of ions, of a box that a source ionises: masses of
bins agree with an independent reader and add up to the gas, on logarithmic and linear axes and in
both orders; equal bytes on any ranks; defaults by their names are the defaults; fractions of
profiles are means over the mass in the sphere.

Examples of faults caught: axes that are exchanged, photons in code units, a linear axis that is
binned by logarithms, gas beyond a range that is not counted, ions weighted by volume.
"""
# test: tier=check timeout=60 ranks=3
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import radiating  # noqa: E402
import read_ramses  # noqa: E402

M_H, SOLAR_MASS, LIGHT = 1.6605390e-24, 1.98841e33, 2.99792458e10
N = 23


def inspect(*argv, ranks=1):
    return ptah.Run(ptah.mpirun(ranks) + [ptah.program('inspect'), *argv], '.')


def fields(path):
    """Name: values, whether the axis is logarithmic; masses."""
    s = read_ramses.load(path)
    photons = radiating.photons_of(path)
    i, x = s.info, s.cell
    with open(os.path.join(path, 'info_rt_%s.txt' % path[-5:])) as f:
        head = dict(line.split('=', 1) for line in f if '=' in line)
    head = {k.strip(): x for k, x in head.items()}
    speed = i['unit_l'] / i['unit_t']
    c = float(head['rt_c_frac']) * LIGHT / speed  # the file has c N
    first = photons.cell['photon_flux_01'] * float(head['unit_np']) / c
    return {'nH': (0.76 / M_H * i['unit_d'] * x['density'], True),
            'x_HII': (x['x_HII'], True), 'N1': (first, True),
            'pressure': (x['pressure'] * i['unit_d'] * speed ** 2, True),
            'velocity_x': (x['velocity_x'] * speed / 1e5, False),
            'level': (s.level.astype(float), False)}, \
        x['density'] * s.volume * i['unit_d'] * i['unit_l'] ** 3 / SOLAR_MASS


def compare(v, path, names, known, mass, *ranges):
    """The table of a diagram, and all bins from the cells."""
    what = ','.join(names)
    r = json.loads(inspect('phase', what, '-j', '--force', '--pixels', str(N), '-o', 'p.tsv',
                           *ranges, path).out)
    logs = [r['x_log'], r['y_log']]
    v.same(what + ': names', [r['x'], r['y']], list(names))
    if not ranges:
        v.same(what + ': logarithmic', logs, [known[n][1] for n in names])
        v.check(what + ': ranges', max(
            abs(a - b) / max(abs(a), abs(b), 1e-60) for n in names if np.ptp(known[n][0]) > 0
            for a, b in zip(r[n], [known[n][0].min(), known[n][0].max()])), 1e-7)
    x = [np.log10(known[n][0]) if log else known[n][0] for n, log in zip(names, logs)]
    ends = [np.log10(r[n]) if log else np.array(r[n]) for n, log in zip(names, logs)]
    place = [(x[a] - ends[a][0]) / (ends[a][1] - ends[a][0]) * N for a in (0, 1)]
    inside = np.all([(p > -1e-6) & (p < N + 1e-6) for p in place], axis=0)
    at = [np.clip(p.astype(int), 0, N - 1) for p in place]
    # a cell at the edge of a bin may be in either
    edge = np.any([abs(p - np.rint(p)) < 1e-5 for p in place], axis=0) & inside
    want, doubt, got = np.zeros((N, N)), np.zeros((N, N)), np.zeros((N, N))
    np.add.at(want, (at[1][inside], at[0][inside]), mass[inside])
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            np.add.at(doubt, (np.clip(at[1][edge] + dy, 0, N - 1),
                              np.clip(at[0][edge] + dx, 0, N - 1)), mass[edge])
    t = np.loadtxt('p.tsv', ndmin=2)
    at = [np.rint((t[:, a] - ends[a][0]) / (ends[a][1] - ends[a][0]) * N - 0.5).astype(int)
          for a in (0, 1)]
    got[at[1], at[0]] = t[:, 2]
    v.check(what + ': masses of the bins', max(0, (abs(got - want) - doubt).max()) / want.max(),
            1e-9)
    v.same(what + ': few cells in doubt', edge.sum() < 0.5 * len(edge) or 'level' in names, True)
    v.check(what + ': all gas', abs((t[:, 2].sum() + r['mass_outside'] + r['mass_not_above_0'])
                                    / mass.sum() - 1), 1e-12)
    v.check(what + ': outside', abs(r['mass_outside'] - mass[~inside].sum()) / mass.sum(), 1e-9)
    return t


def diagrams(v, path):
    known, mass = fields(path)
    t = compare(v, path, ('nH', 'x_HII'), known, mass)
    u = compare(v, path, ('x_HII', 'nH'), known, mass)
    v.same('axes exchanged', sorted(map(tuple, u[:, [1, 0, 2, 3]])), sorted(map(tuple, t)))
    compare(v, path, ('velocity_x', 'N1'), known, mass)
    compare(v, path, ('level', 'pressure'), known, mass)
    compare(v, path, ('x_HII', 'pressure'), known, mass, '--x-range', '0,0.5')
    compare(v, path, ('N1', 'nH'), known, mass, '--x-range', '1e-6,1e-2', '--density', '0.01,3')
    files = ['phase_nH_x_HII_%s.%s' % (path[-5:], end) for end in ('png', 'tsv')]
    for ranks in (1, 2, 3):
        inspect('--phase=nH,x_HII', '--force', '--data', 'd.tsv', path, ranks=ranks)
        got = [open(f, 'rb').read() for f in (*files, 'd.tsv')]
        if ranks == 1:
            first = got
        v.same('bytes on %d ranks' % ranks, got == first, True)
    usual = inspect('--phase', '-f', 'tsv', '-o', '-', path)
    v.same('the default by names', inspect('phase', 'nH,temperature', '-f', 'tsv', '-o', '-',
                                           path).out == usual.out and usual.status == 0, True)


def words(v, path):
    for argv, word in ((['phase', 'nH,x_HI'], 'did you mean x_HII'),
                       (['phase', 'nH,nH'], 'different'), (['--phase=nH'], 'two fields'),
                       (['phase', 'nH,x_HII', '--temperature', '1,2'], 'no axis'),
                       (['phase', 'nH,x_HII', '--density', '1,2', '--x-range', '1,2'], 'one axis'),
                       (['phase', '--y-range', '0,2'], 'above 0'),
                       (['phase', 'nH,x_HII', '--y-range', '2,1'], 'ascending'),
                       (['phase', 'nH,current'], 'no field current'),
                       (['phase', 'nH,dm'], 'no field dm')):
        r = inspect(*argv, path)
        v.same(' '.join(argv), (r.status, r.err.count('\n'), word in r.err), (2, 1, True))


def profile(v, path):
    """Means over spherical shells, from points in all cells."""
    s, n, centre, R = read_ramses.load(path), 6, np.array([0.5, 0.5, 0.4]), 0.4
    r = json.loads(inspect('--profile', '0.5,0.5,0.4,0.4', '--linear', '--pixels', '4', '-j',
                           path).out)['bins']
    v.same('ions of the profile', [k for k in r[0] if k.startswith('x_')],
           [k for k in s.cell if k.startswith('x_')])
    step, sums = (np.arange(n) + 0.5) / n - 0.5, np.zeros((3, 4))
    size = 0.5 ** s.level.astype(float)
    for dx in step:
        for dy in step:
            for dz in step:
                x = s.centres().T + size[:, None] * np.array([dx, dy, dz]) - centre
                b = (np.linalg.norm(x - np.rint(x), axis=1) / R * 4).astype(int)
                for k, w in enumerate((s.volume, s.volume * s.cell['density'] * s.cell['x_HII'],
                                       s.volume * s.cell['density'])):
                    np.add.at(sums[k], b[b < 4], w[b < 4])
    got, want = np.array([b['x_HII'] for b in r]), sums[1] / sums[2]
    v.check('x_HII of shells', (abs(got - want) / want).max(), 0.01)


def main():
    v = ptah.Verdict()
    text = radiating.namelist(levelmax=4, steps=8, every=8)
    path = ptah.simulate(text, 'run', ranks=2, options=['-q']).outputs[-1]
    diagrams(v, path)
    words(v, path)
    profile(v, path)
    v.end()


if __name__ == '__main__':
    main()
