"""Tables for cooling_method='exact': written by convert from the model of a run and from tables of
Grackle, read by an independent reader, used by simulate; damaged tables are refused.

    cooltable.py

Examples of faults caught: rates in another order, heating taken for cooling, redshifts that the
header has but not the rates, metals of another sun, a damaged table that cools the gas.
"""
# test: tier=check timeout=180
import gzip
import os
import re
import shutil
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

RATES = 'CoolingRates/Primordial/Cooling'
GRACKLE_SUN, OUR_SUN, HYDROGEN = 0.01295, 0.02, 1 / (1 + 0.1 * 3.971)

BOX = """
&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=2
levelmax=2
/
&UNITS_PARAMS
units_density=1.66d-24
units_time=3.15576d13
units_length=3.0857d20
/
&INIT_PARAMS
nregion=1
region_type(1)='square'
length_x=10.0
length_y=10.0
length_z=10.0
exp_region=10.0
d_region=1.0
p_region=1.0
/
&OUTPUT_PARAMS
tout=100.0
/
&COOLING_PARAMS
cooling=.true.
z_ave=1.0
/
"""


def convert(*argv):
    return ptah.Run([ptah.program('convert'), '--cooling-table', *argv], '.')


class Table:
    def __init__(self, path):
        with open(path, 'rb') as f:
            data = f.read()
        n = np.frombuffer(data, '<i4', 4)
        several = n[0] <= 1000 and 1 <= n[3] <= 65536 and n[1] >= 1 and n[2] >= 1
        at = 16 if several else 12
        self.nz = int(n[0]) if several else 1
        self.shape = tuple(int(x) for x in (n[1:] if several else n[:3]))
        head = np.frombuffer(data, '<f8', self.nz + (7 if several else 6), at)
        self.z, self.limits = head[:self.nz], head[self.nz:self.nz + 6].reshape(3, 2)
        at += 8 * len(head)
        self.log_T = np.frombuffer(data, '<f8', self.shape[2], at)
        at += 8 * self.shape[2]
        size = self.shape[0] * self.shape[1] * self.shape[2]
        rest = np.frombuffer(data, '<f8', offset=at).reshape(self.nz, 2, *self.shape)
        assert rest.size == 2 * size * self.nz
        self.rate, self.mu = rest[:, 0], rest[:, 1]

    def axis(self, d):
        return 10 ** np.linspace(*self.limits[d], self.shape[d])


def model(v):
    """Table from a cosmological run; a run with the table agrees with the run without."""
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_cool32.nml')) as f:
        text = f.read().replace('ncontrol=1', 'ncontrol=1\nnstepmax=3')
    ptah.unpack_ics('.', 'ic_32')
    first = ptah.simulate(text, '.', settings=['run_params/nstepmax=0',
                                               'output_params/foutput=1']).outputs[0]
    z = ','.join('%g' % x for x in np.arange(36, 50, 0.25))
    for name in 'model.bin', 'model.bin.gz':
        v.same(name, convert('--redshifts', z, '--points', '81,2,257', '-o', name, first).status, 0)
    with gzip.open('model.bin.gz') as f, open('model.bin', 'rb') as g:
        v.same('compressed: the same bytes', f.read() == g.read(), True)
    t = Table('model.bin')
    v.same('shape', (t.nz, t.shape), (56, (81, 2, 257)))
    r = convert('--memory', '16M', '-o', 'large.bin', first)
    v.same('larger than --memory', (r.status, r.err.count('\n'), '17 MB' in r.err,
                                    os.path.exists('large.bin')), (2, 1, True, False))
    v.same('within it', convert('--memory', '17M', '-o', 'large.bin', first).status, 0)
    hot = t.rate[:, :, :, t.log_T > 7.5]
    v.same('hot gas cools', bool((hot < 0).all()), True)
    nH = t.axis(0)[:, None]
    bremsstrahlung = -t.rate[0, 75:, 0, t.log_T > 7.9].T / nH[75:] ** 2 / 1.42e-27 / 10 ** (
        t.log_T[t.log_T > 7.9] / 2)
    v.same('as bremsstrahlung does', bool(((bremsstrahlung > 1) & (bremsstrahlung < 3)).all()),
           True)
    for name in 'model.bin', 'model.bin.gz':
        r = ptah.simulate(text, '.', settings=['physics_params/cooling_method=compare',
                                               'physics_params/grackle_table=' + name],
                          options=['-o', 'with_' + name])
        mean = [float(x) for x in re.findall(r'difference mean ([\d.e+-]+)', r.err)]
        v.same('coarse steps compared', len(mean) >= 2, True)
        v.check('exact against original, mean', max(mean), 0.015)
    # rates between redshifts are powers of 1+z, as is Compton heating: few redshifts suffice
    v.same('few redshifts', convert('--redshifts', '37,45,49', '--points', '81,2,257', '-o',
                                    'few.bin', first).status, 0)
    r = ptah.simulate(text, '.', settings=['physics_params/cooling_method=compare',
                                           'physics_params/grackle_table=few.bin'],
                      options=['-o', 'with_few'])
    mean = [float(x) for x in re.findall(r'difference mean ([\d.e+-]+)', r.err)]
    v.check('exact against original, few redshifts, mean', max(mean), 0.008)
    return first


def write_grackle(path, change=None):
    """A small table in the layout of Grackle's public files; change(file) damages it."""
    nH, z = np.linspace(-4, 2, 7), np.array([0.0, 1.0, 3.0])
    T = np.logspace(1, 9, 33)
    shape = (len(nH), len(z), len(T))
    Tg = np.broadcast_to(T, shape)
    values = {'Primordial/Cooling': 1e-23 * (Tg / 1e5) ** 0.5,
              'Primordial/Heating': 1e-26 * (1 + z[None, :, None]) + 0 * Tg,
              'Primordial/MMW': 1.2 - 0.6 / (1 + 1e4 / Tg),
              'Metals/Cooling': 2e-23 * (Tg / 1e6) ** -0.3,
              'Metals/Heating': 1e-27 + 0 * Tg}
    with h5py.File(path, 'w') as f:
        for name, x in values.items():
            d = f.create_dataset('CoolingRates/' + name, data=x.astype('>f8'))
            d.attrs['Dimension'] = np.array(shape, '>i8')
            d.attrs['Rank'] = 3
            d.attrs['Parameter1'] = nH.astype('>f8')
            d.attrs['Parameter1_Name'] = np.bytes_('hden')
            d.attrs['Parameter2'] = z.astype('>f8')
            d.attrs['Parameter2_Name'] = np.bytes_('redshift')
            d.attrs['Temperature'] = T.astype('>f8')
        if change:
            change(f)
    return nH, z, T, values


def grackle(v):
    nH, z, T, x = write_grackle('grackle.h5')
    v.same('from Grackle', convert('--points', '2,21,2', '-o', 'grackle.bin', 'grackle.h5').status,
           0)
    t = Table('grackle.bin')
    v.same('shape', (t.nz, t.shape), (3, (7, 21, 33)))
    v.check('redshifts', abs(t.z - z).max(), 0)
    v.check('temperatures', abs(t.log_T - np.log10(T)).max(), 1e-14)
    v.check('densities', abs(t.axis(0) / 10 ** nH - 1).max(), 1e-13)
    x = {k: a.transpose(1, 0, 2)[:, :, None] for k, a in x.items()}
    n, Z = 10.0 ** nH[None, :, None, None], t.axis(1)[None, None, :, None]
    metals = Z * OUR_SUN / GRACKLE_SUN * (x['Metals/Heating'] - x['Metals/Cooling'])
    e = (1 / x['Primordial/MMW'] - HYDROGEN - (1 - HYDROGEN) / 4) / HYDROGEN * n
    one = 1 + z[:, None, None, None]
    want = n ** 2 * (x['Primordial/Heating'] - x['Primordial/Cooling'] + metals) - \
        5.65e-36 * one ** 4 * (T - 2.73 * one) * np.maximum(e, 0)
    v.check('net rates', abs(t.rate / want - 1).max(), 1e-9)
    v.check('molecular weights', abs(t.mu - x['Primordial/MMW']).max(), 0)

    def flat(f):  # without redshifts, as in CloudyData_noUVB.h5
        for name in list(f['CoolingRates/Primordial']) + ['../Metals/Cooling', '../Metals/Heating']:
            name = 'CoolingRates/' + (name[3:] if name[0] == '.' else 'Primordial/' + name)
            old = f[name]
            keep, data = dict(old.attrs), old[:, 0, :]
            del f[name]
            d = f.create_dataset(name, data=data)
            for k, a in keep.items():
                if not k.startswith('Parameter2'):
                    d.attrs[k] = a

    write_grackle('flat.h5', flat)
    v.same('without redshifts', convert('--points', '2,21,2', '-o', 'flat.bin', 'flat.h5').status,
           0)
    t0 = Table('flat.bin')
    v.same('shape', (t0.nz, t0.shape), (1, (7, 21, 33)))
    v.check('rates as at z = 0', abs(t0.rate[0] / t.rate[0] - 1).max(), 1e-12)


def cools(table, *settings):
    """T/mu of a box after a step, relative to the initial value."""
    shutil.rmtree('box', ignore_errors=True)
    r = ptah.simulate(BOX, 'box', must_work=False,
                      settings=['physics_params/cooling_method=exact',
                                'physics_params/grackle_table=' + table, *settings])
    return r


def extremes(v):
    for what, settings in (('as it is', []),
                           ('100 solar metallicities', ['cooling_params/z_ave=100']),
                           ('cooling time of 1e-30 s', ['units_params/units_density=1e10']),
                           ('T/mu beyond the table', ['init_params/p_region=1e9'])):
        r = cools('../grackle.bin', *settings)
        v.same(what + ': done', r.status, 0)
    for method in ('original', 'implicit'):
        for what, settings in (('100 solar metallicities', ['cooling_params/z_ave=100']),
                               ('cooling time of 1e-30 s', ['units_params/units_density=1e10'])):
            r = cools('none', 'physics_params/cooling_method=' + method, *settings)
            v.same('%s, %s: done' % (method, what), r.status, 0)


def refused(v, what, r, *words):
    v.same(what, (r.status, r.err.count('\n'), [w for w in words if w not in r.err]), (2, 1, []))


def bad_tables(v):
    with open('grackle.bin', 'rb') as f:
        good = f.read()
    nan = np.array([np.nan]).tobytes()
    for what, data in (('cut short', good[:-8]), ('half of it', good[:len(good) // 2]),
                       ('longer', good + b'12345678'), ('empty', b''), ('NaN', good[:-8] + nan),
                       ('wrong shape', good[:4] + b'\x08\0\0\0' + good[8:]),
                       ('negative size', good[:4] + b'\xff\xff\xff\xff' + good[8:]),
                       ('text', b'no table at all, but some words\n' * 9),
                       ('gzip cut short', gzip.compress(good)[:-500])):
        with open('bad.bin', 'wb') as f:
            f.write(data)
        r = cools('../bad.bin')
        v.same(what, (r.status, 'simulate: ../bad.bin: ' in r.err), (2, True))
    r = cools('nowhere.bin')
    v.same('no table', (r.status, 'nowhere.bin' in r.err), (2, True))


def bad_grackle(v, checkpoint):
    def put(name, at, value):
        def change(f):
            f['CoolingRates/' + name][at] = value
        return change

    def attribute(name, value):
        def change(f):
            f[RATES].attrs[name] = value
        return change

    def drop(name):
        def change(f):
            del f['CoolingRates/' + name]
        return change

    T = np.logspace(1, 9, 33)
    for what, change, word in (
            ('NaN', put('Primordial/Cooling', (1, 1, 1), np.nan), 'Primordial/Cooling'),
            ('a rate below 0', put('Metals/Heating', (0, 0, 0), -1e-25), 'Metals/Heating'),
            ('no mean molecular weight', drop('Primordial/MMW'), 'MMW'),
            ('no cooling', drop('Primordial/Cooling'), 'Primordial/Cooling'),
            ('a molecular weight of 0', put('Primordial/MMW', (0, 0, 0), 0.0), 'MMW'),
            ('temperatures that fall', attribute('Temperature', T[::-1]), 'Temperature'),
            ('too few temperatures', attribute('Temperature', T[:-1]), 'values'),
            ('a temperature of 0', attribute('Temperature', np.linspace(0, 9, 33)), 'temperature'),
            ('densities that are not equidistant',
             attribute('Parameter1', np.array([-4, -3, -2, -1, 0, 1, 2.5])), 'equidistant'),
            ('densities of integers', attribute('Parameter1', np.arange(7)), 'Parameter1'),
            ('a word for redshifts', attribute('Parameter2', 'z'), 'Parameter2')):
        write_grackle('bad.h5', change)
        refused(v, 'Grackle: ' + what, convert('-o', 'x.bin', 'bad.h5'), 'bad.h5', word)
    size = os.path.getsize('grackle.h5')
    for k in range(1, 40):
        shutil.copy('grackle.h5', 'bad.h5')
        os.truncate('bad.h5', size * k // 40)
        r = convert('-o', 'x.bin', 'bad.h5')
        if r.status != 2 or r.err.count('\n') != 1:
            break
    refused(v, 'Grackle: cut short', r, 'bad.h5')
    v.same('nothing is left', [f for f in os.listdir('.') if f.startswith('x.bin')], [])
    for argv in (['grackle.h5'], ['-o', 'grackle.bin', 'grackle.h5'], ['-o', 'x', 'nowhere'],
                 ['-o', 'x', '--redshifts', '1,0', checkpoint],
                 ['-o', 'x', '--redshifts', '0,1', 'grackle.h5'],
                 ['-o', 'x', '--points', '1,2,3', checkpoint],
                 ['-o', 'x', '-f', 'hdf5', checkpoint], ['-o', 'nowhere/x', 'grackle.h5']):
        refused(v, ' '.join(argv), convert(*argv))
    r = ptah.Run([ptah.program('convert'), '--redshifts', '1', checkpoint], '.')
    refused(v, '--redshifts alone', r)


def main():
    v = ptah.Verdict()
    checkpoint = model(v)
    grackle(v)
    extremes(v)
    bad_tables(v)
    bad_grackle(v, checkpoint)
    v.end()


if __name__ == '__main__':
    main()
