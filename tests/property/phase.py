"""Phase diagrams and maps in physical units: the mass of each bin agrees with an independent
reader; identical bytes on any number of ranks; equal tables for both formats; damage is reported.

    phase.py

Examples of faults caught: a bin off by one, a volume of the level above, a mass that a second rank
does not add, a temperature in code units.
"""
# test: tier=check timeout=120 ranks=3
import json
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

M_H, K_B, SOLAR_MASS = 1.6605390e-24, 1.3806490e-16, 1.98841e33


def forced(argv):
    """Adds --force if the command writes a file, which may exist from before."""
    return [*argv, '--force'] if '-o' in argv or '--phase' in argv else argv


def inspect(*argv, ranks=1):
    return ptah.Run(ptah.mpirun(ranks) + [ptah.program('inspect'), *forced(argv)], '.')


def runs():
    """Paths of one state, by two ranks in RAMSES binary, and in HDF5."""
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_cool32.nml')) as f:
        text = f.read().replace('m_refine=10*8.', 'm_refine=10*2.')
    text = text.replace('ncontrol=1', 'ncontrol=1\nnstepmax=4')
    text = text.replace('noutput=1', 'noutput=1\nfoutput=4')
    ptah.unpack_ics('.', 'ic_32')
    out = []
    for folder, ranks, settings in (('run', 2, []), ('h5', 1, ['output_params/outformat=hdf5'])):
        os.makedirs(folder)
        os.symlink('../ics', os.path.join(folder, 'ics'))
        out.append(ptah.output(ptah.simulate(text, folder, ranks, settings=settings), 2))
    return out


def physical(s):
    """n_H, T/mu and mass of the leaf cells."""
    i = s.info
    velocity = i['unit_l'] / i['unit_t']
    return (0.76 / M_H * i['unit_d'] * s.cell['density'],
            M_H / K_B * velocity ** 2 * s.cell['pressure'] / s.cell['density'],
            s.cell['density'] * s.volume * i['unit_d'] * i['unit_l'] ** 3 / SOLAR_MASS)


def body(path):
    with open(path) as f:
        return [line for line in f if not line.startswith('# source')]


def diagrams(v, path, hdf5):
    s = read_ramses.load(path)
    nH, T2, mass = physical(s)
    n, lo, hi = 37, np.log10([np.quantile(nH, 0.01), np.quantile(T2, 0.01)]), \
        np.log10([np.quantile(nH, 0.98), np.quantile(T2, 0.98)])
    ranges = ['--density', '%.17g,%.17g' % (10 ** lo[0], 10 ** hi[0]),
              '--temperature', '%.17g,%.17g' % (10 ** lo[1], 10 ** hi[1])]
    r = json.loads(inspect('--phase', '-j', '-n', str(n), '-o', 'p.tsv', *ranges, path).out)
    x = np.log10(nH), np.log10(T2)
    inside = (x[0] >= lo[0]) & (x[0] <= hi[0]) & (x[1] >= lo[1]) & (x[1] <= hi[1])
    at = [np.minimum(((x[a] - lo[a]) / (hi[a] - lo[a]) * n).astype(int), n - 1) for a in (0, 1)]
    want = np.zeros((2, n, n))
    np.add.at(want[0], (at[1][inside], at[0][inside]), mass[inside])
    np.add.at(want[1], (at[1][inside], at[0][inside]), 1)
    got, t = np.zeros((2, n, n)), np.loadtxt('p.tsv')
    at = [np.rint((t[:, a] - lo[a]) / (hi[a] - lo[a]) * n - 0.5).astype(int) for a in (0, 1)]
    got[0, at[1], at[0]], got[1, at[1], at[0]] = t[:, 2], t[:, 3]
    v.same('bins whose cells differ', int((got[1] != want[1]).sum()), 0)
    v.check('masses of the bins', abs(got[0] - want[0]).max() / want[0].max(), 1e-12)
    v.check('mass of all gas', abs(r['mass'] / mass.sum() - 1), 1e-12)
    v.check('mass beyond the ranges', abs(r['mass_outside'] / mass[~inside].sum() - 1), 1e-11)
    v.same('cells beyond the ranges', r['cells_outside'], int((~inside).sum()))

    r = json.loads(inspect('--phase', '-j', path).out)
    v.same('files', r['files'], ['phase_00002.png', 'phase_00002.tsv'])
    v.same('nothing is outside', r['cells_outside'], 0)
    v.check('ranges', max(abs(a / b - 1) for a, b in zip(
        r['nH'] + r['temperature'], [nH.min(), nH.max(), T2.min(), T2.max()])), 1e-12)
    files = [open(f, 'rb').read() for f in r['files']]
    v.same('a picture', files[0][:8], b'\x89PNG\r\n\x1a\n')
    for ranks in (2, 3):
        inspect('--phase', path, ranks=ranks)
        v.same('files on %d ranks' % ranks, [open(f, 'rb').read() for f in r['files']] == files,
               True)
    first = body('phase_00002.tsv')
    r = inspect('--phase', '-f', 'tsv', '-o', '-', path)
    v.same('on standard output', r.out.splitlines(True)[2:] == first[1:], True)
    # HDF5 stores the energy: pressures differ by rounding, so that a cell at the edge of a bin may
    # move
    inspect('--phase', '-n', str(n), '-o', 'h.tsv', *ranges, hdf5)
    u = {tuple(row[:2]): row[3] for row in np.loadtxt('h.tsv')}
    moved = sum(abs(u.get(tuple(row[:2]), 0) - row[3]) for row in t)
    v.check('cells in other bins in HDF5', moved, 4)
    inspect('--phase', '--range', '1e-3,10', '--colours', 'grey', '-o', 'p.svg', path)
    with open('p.svg') as f:
        v.same('SVG', '<svg' in f.read(100), True)


def maps(v, path):
    s = read_ramses.load(path)
    nH, T2, mass = physical(s)
    for field, unit, want in (('temperature', 'K', (T2 * mass).sum() / mass.sum()),
                              ('nH', '1/cm^3', (nH * mass).sum() / mass.sum()),
                              ('metallicity', 'solar', 0.001)):
        r = json.loads(inspect('-m', field, '-n', '1', '-j', '-o', 'm.npy', path).out)
        v.same(field + ': unit', r['unit'], unit)
        v.check(field + ': mean by mass', abs(np.load('m.npy')[0, 0] / want - 1), 1e-9)
    r = json.loads(inspect('-m', 'nH', '--weight', 'column', '-n', '1', '-j', '-o', 'm.npy',
                           path).out)
    want = (nH * s.volume).sum() * s.info['unit_l']
    v.same('column: unit', r['unit'], '1/cm^2')
    v.check('column', abs(np.load('m.npy')[0, 0] / want - 1), 1e-9)


def damage(v, path):
    def copy():
        shutil.rmtree('broken', ignore_errors=True)
        shutil.copytree(path, 'broken')
        for f in os.listdir('broken'):
            if f.startswith(('exact', 'checksum')):
                os.remove(os.path.join('broken', f))
        return 'broken/hydro_00002.out00001'

    def refused(what, *words, ranks=1):
        r = inspect('--phase', '-o', 'p.tsv', 'broken', ranks=ranks)
        v.same(what, (r.status, r.err.count('inspect: '), [w for w in words if w not in r.err]),
               (2, 1, []))

    r, at = tiny.Records(copy()), []
    for k in range(7, 4000):  # first values of many octs: own octs of level 6
        if r[k] and r[k][1] >= 8 * 10000:
            at.append(r[k])
        if len(at) == 6:
            break
    for what, k, value, word in (('density NaN', 0, np.nan, 'density is nan'),
                                 ('density below 0', 0, -1.0, 'density is -'),
                                 ('pressure NaN', 4, np.nan, 'temperature is nan')):
        tiny.put(copy(), at[k][0] + 80, 'd', value)
        for ranks in (1, 2):
            refused('%s on %d ranks' % (what, ranks), 'level', 'cell at', word, ranks=ranks)
    for value in (0.0, -1.0):
        tiny.put(copy(), at[4][0] + 80, 'd', value)
        for ranks in (1, 2):
            p = inspect('--phase', '-j', '-o', 'p.tsv', 'broken', ranks=ranks)
            r = json.loads(p.out)
            v.same('pressure %g on %d ranks' % (value, ranks),
                   (p.status, r['cells_not_above_0_K'], r['cells_outside'],
                    r['temperature'][0] > 0, p.err.count('\n'), '1 cells, ' in p.err),
                   (0, 1, 0, True, 1, True))
        with open('p.tsv') as f:
            text = f.read()
        v.same('its table', [w for w in ('# cells_not_above_0_K\t1\n',
                                         '# mass_not_above_0_K\t%.17g\n' % r['mass_not_above_0_K'])
                             if w not in text], [])
        rows = np.loadtxt('p.tsv')
        v.check('all mass is told of', abs((rows[:, 2].sum() + r['mass_not_above_0_K'])
                                           / r['mass'] - 1), 1e-12)
    os.truncate(copy(), 5000)
    refused('cut short', 'hydro_00002.out00001')
    copy()
    os.remove('broken/hydro_00002.out00002')
    refused('a file that is missing', 'hydro_00002.out00002', ranks=2)
    copy()
    with open('broken/info_00002.txt') as f:
        text = f.read()
    with open('broken/info_00002.txt', 'w') as f:
        f.writelines('unit_l      =  0.0\n' if 'unit_l' in line else line
                     for line in text.splitlines(True))
    refused('a unit of 0', 'unit')


def words(v, path):
    for argv in (['--density', '1,0'], ['--temperature', '-1,4'], ['-n', '4096'], ['-f', 'npy'],
                 ['--range', '-1,1'], ['-a', 'x'], ['--width', '0.5'], ['-m', 'density'],
                 ['-o', '-', '-j'], ['-f', 'gif'], ['-o', 'nowhere/p.tsv']):
        r = inspect('--phase', *argv, path)
        v.same('--phase ' + ' '.join(argv), (r.status, r.err.count('\n')), (2, 1))
    for argv in (['-m', 'density', '--density', '1,2'], ['-m', 'density', '-f', 'tsv'],
                 ['-m', 'density', '-m', 'dm'], ['-s', '-o', 'x']):
        v.same(' '.join(argv), inspect(*argv, path).status, 2)


def main():
    v = ptah.Verdict()
    path, hdf5 = runs()
    diagrams(v, path, hdf5)
    maps(v, path)
    damage(v, path)
    words(v, path)
    v.end()


if __name__ == '__main__':
    main()
