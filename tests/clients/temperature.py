"""The cooling table in the outputs of runs that cool gives analysis programs the mean molecular
weight, hence the temperature of the gas. Checks laws of the table, its agreement with the output
after restarts and conversions and on other ranks, and its use in yt.

    temperature.py

Example of a fault caught: axes exchanged, densities per nucleus, the table of the checkpoint from
which a run resumed, a table of gas that cools by other rates.
"""
# test: tier=check timeout=300
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

X = 0.76
HELIUM = 0.24 / 0.76 / 4

BOX = """
&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=3
levelmax=3
/
&UNITS_PARAMS
units_density=1.66d-24
units_time=3.15576d13
units_length=3.0857d20
/
&INIT_PARAMS
nregion=1
length_x=10.0
length_y=10.0
length_z=10.0
exp_region=10.0
d_region=1.0
p_region=1.0
/
&OUTPUT_PARAMS
foutput=1
/
&COOLING_PARAMS
cooling=.true.
%s
/
&SF_PARAMS
T2_star=1d3
/
"""


def table_of(path):
    return os.path.join(path, 'cooling_%s.out' % os.path.basename(path)[-5:])


def load(path):
    with open(table_of(path), 'rb') as f:
        return f.read()


def laws(v, what, path):
    """Nuclei and charges are conserved at each node, which determines mu."""
    t = read_ramses.cooling_table(table_of(path))
    v.same(what + ': axes', [(len(t[a]), t[a][0], t[a][-1]) for a in ('nH', 'T2')],
           [(161, -10, 6), (101, -2, 9)])
    nH = 10 ** t['nH'][:, None]
    n = {a: 10 ** t[a] / nH for a in read_ramses.ION_NUMBERS}
    laws = {'hydrogen': (n['HI'] + n['HII'], 1),
            'helium': (n['HeI'] + n['HeII'] + n['HeIII'], HELIUM),
            'charge': (n['e'] / (n['HII'] + n['HeII'] + 2 * n['HeIII']), 1),
            'mu': (t['mu'] * X * (n['e'] + 1 + HELIUM), 1)}
    for law, (is_, ought) in laws.items():
        v.check('%s: %s' % (what, law), np.abs(is_ / ought - 1).max(), 1e-9)
    cold, hot = t['mu'][-1, 0], t['mu'][0, -1]
    v.check(what + ': neutral gas', abs(cold - 1 / (X * (1 + HELIUM))), 1e-3)
    v.check(what + ': ions', abs(hot - 1 / (X * (2 + 3 * HELIUM))), 1e-6)
    for a in read_ramses.COOLING_TABLES[:4]:
        # tabulated derivatives are central differences over 0.01 dex where the table is smooth
        slope = np.gradient(t[a], t['T2'], axis=1)
        v.check('%s: derivative of %s, median difference' % (what, a),
                np.median(np.abs(slope - t[a + '_prime'])), 0.05)
    return t


def mu_at(t, nH, T2):
    """Bilinear interpolation in the logarithms."""
    at = []
    for x, axis in ((np.log10(nH), t['nH']), (np.log10(T2), t['T2'])):
        p = (x - axis[0]) / (axis[1] - axis[0])
        i = np.clip(p.astype(int), 0, len(axis) - 2)
        at.append((i, p - i))
    (i, w), (k, y) = at
    mu = t['mu']
    return ((1 - w) * ((1 - y) * mu[i, k] + y * mu[i, k + 1]) +
            w * ((1 - y) * mu[i + 1, k] + y * mu[i + 1, k + 1]))


def by_yt(v, what, path, t):
    import yt
    from yt.utilities import physical_constants as c
    yt.set_log_level(50)
    mh = c.mass_hydrogen_cgs.value
    ds = yt.load(os.path.join(path, 'info_%s.txt' % path[-5:]))
    ad = ds.all_data()
    T, dens = ad['gas', 'temperature'].to('K').value, ad['gas', 'density'].to('g/cm**3').value
    s = read_ramses.load(path)
    unit = (s.info['unit_l'] / s.info['unit_t']) ** 2 * mh / c.boltzmann_constant_cgs.value
    T2 = s.cell['pressure'] / s.cell['density'] * unit
    rho = s.cell['density'] * s.info['unit_d']
    Z = s.cell.get('metallicity', 0)
    ours = T2 * mu_at(t, X * (1 - Z) * rho / mh, T2)
    v.same(what + ': cells of yt', len(T), len(ours))
    by = [np.sort(a) for a in (T, ours)]
    v.check('%s: temperature by yt, %.0f to %.0f K' % (what, T.min(), T.max()),
            np.abs(by[0] / by[1] - 1).max(), 1e-6)
    v.same(what + ': it is not T/mu', bool(np.abs(np.sort(T2) / by[0] - 1).min() > 0.1), True)
    v.same(what + ': rates', bool(np.isfinite(ad['gas', 'cooling_net'].value).all()), True)


def cosmology(v):
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_cool32.nml')) as f:
        text = f.read().replace('ncontrol=1', 'ncontrol=1\nnstepmax=2')
    text = text.replace('noutput=1', 'noutput=1\nfoutput=1')
    ptah.unpack_ics('.', 'ic_32')
    runs = {}
    for name, ranks, form, options in (('one', 1, 'ramses', []), ('two', 2, 'ramses', []),
                                       ('hdf5', 1, 'hdf5', []),
                                       ('on', 1, 'ramses', ['-r', 'one/output_00002'])):
        r = ptah.simulate(text, '.', ranks, options=['-q', '-o', name, *options],
                          settings=["output_params/outformat='%s'" % form])
        runs[name] = [os.path.relpath(p) for p in r.outputs]
    first, last = runs['one'][0], runs['one'][-1]
    tables = [laws(v, path, path) for path in (first, last)]
    a = [read_ramses.read_info(p)['aexp'] for p in (first, last)]
    compton = [t['compton'][80, -1] for t in tables]
    v.check('Compton cooling as a^-4',
            abs(compton[1] - compton[0] + 4 * np.log10(a[1] / a[0])), 1e-6)
    for name in ('two', 'hdf5', 'on'):
        v.same('%s: the same bytes' % name, load(runs[name][-1]) == load(last), True)
    for path in (last, runs['hdf5'][-1]):
        with open(os.path.join(path, 'checksums_%s.txt' % path[-5:])) as f:
            v.same(path + ': listed', os.path.basename(table_of(path)) in f.read(), True)
    by_yt(v, 'cosmology', last, tables[1])
    os.mkdir('to')
    there = 'to/' + os.path.basename(last)
    for tool, words in (('convert', ['-f', 'ramses', '--ranks', '3']),
                        ('repartition', ['--ranks', '2'])):
        words = ['-q', '--force', *words, '-o', there, runs['hdf5'][-1]]
        r = ptah.Run([ptah.program(tool), *words], '.')
        v.same(tool + ': status', r.status, 0)
        v.same(tool + ': the same bytes', r.status == 0 and load(there) == load(last), True)
    r = ptah.Run([ptah.program('inspect'), '-c', last], '.')
    v.same('sound', r.status, 0)


def box(v):
    import yt
    # yt interpolates mu in density, temperature and metallicity
    yt.add_field(('gas', 'metallicity'), sampling_type='cell', units='',
                 function=lambda field, data: 0 * data['index', 'ones'])
    r = ptah.simulate(BOX % 'z_ave=0.1', '.', options=['-q', '-o', 'box'],
                      settings=['output_params/keep_last=1', 'run_params/nstepmax=4'])
    last = os.path.relpath(r.outputs[-1])
    by_yt(v, 'box', last, laws(v, 'box', last))
    v.same('keep_last', 'output_00002' in os.listdir('box'), False)
    for what, line in (('cooling_ism', 'cooling_ism=.true.'), ('isothermal', 'isothermal=.true.'),
                       ('cooling=.false.', 'cooling=.false.')):
        r = ptah.simulate(BOX % line, '.', options=['-q', '-o', what])
        v.same(what + ': no table', os.path.exists(table_of(r.outputs[-1])), False)
    for what, kept in (('cooling_ism=.true.', False), ('cooling=.false.', True)):
        r = ptah.simulate(BOX % what, '.', settings=['run_params/nstepmax=6'], options=[
            '-q', '-o', 'later', '--force', '--change-model', '-r', last])
        v.same('resumed with %s: a table' % what, os.path.exists(table_of(r.outputs[-1])), kept)
    points = ['--points', '41,2,129', '-o', 'exact.bin', last]
    r = ptah.Run([ptah.program('convert'), '--cooling-table', *points], '.')
    v.same('exact: status', r.status, 0)
    r = ptah.simulate(BOX % 'z_ave=0.1', '.', options=['-q', '-o', 'exact'],
                      settings=["physics_params/cooling_method='exact'",
                                "physics_params/grackle_table='exact.bin'"])
    v.same('exact: no table', os.path.exists(table_of(r.outputs[-1])), False)


def main():
    v = ptah.Verdict()
    cosmology(v)
    box(v)
    v.end()


if __name__ == '__main__':
    main()
