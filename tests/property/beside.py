"""Data of a checkpoint in addition to gas and the usual particle columns pass through convert,
repartition and simulate: times of birth, metallicity, further columns, sinks, stellar objects, the
cooling table, the namelist, the history.

    beside.py [RANKS...]      RANKS: numbers of ranks on which a run resumes from it

The checkpoint comes from a small run, altered with h5py to contain data of other codes. Files are
read by h5py, numpy and read_ramses.py. Examples of faults caught: two columns exchanged, integers
cut to the wrong bytes, sinks with eleven digits, a sink outside a region kept, a table written in
one format only.
"""
# test: 1 2 3 5 tier=check timeout=240 ranks=3
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import convert as base  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import repartition  # noqa: E402

NAME = 'output_00002'
SINKS = {'idsink': np.array([3, 7], np.int32), 'msink': np.array([1 / 3, 2e-6]),
         'tsink': np.array([-2.5, -1 / 7]), 'xsink_1': np.array([0.1, 0.9]) / 3,
         'xsink_2': np.array([0.5, 0.2]), 'xsink_3': np.array([0.25, 0.75]),
         'vsink_1': np.array([0.0, -1e-3 / 3]), 'vsink_2': np.array([-0.0, 1e-120]),
         'vsink_3': np.array([3.25, -4.5]), 'Esave': np.array([1e300, 5e-324]),
         'dMsmbh': np.array([1.0, 2.0]), 'spinmag': np.array([0.7, 0.1])}
SINKS.update({'sink_stat_%d_%d' % (i, level): np.array([i, level]) / 7 for i in range(1, 8)
              for level in range(5, 13)})
FORMED = [('nstar_tot', 99999), ('mstar_tot', 0.125 / 3), ('mstar_lost', 0.001 / 7)]
CSV = {'id': 'idsink', 'msink': 'msink', 'x': 'xsink_1', 'z': 'xsink_3', 'vx': 'vsink_1',
       'tform': 'tsink', 'Esave': 'Esave'}


def digests(path):
    return {name: value
            for value, name in (line.split() for line in ptah.digest(path).splitlines())}


def only(lines, *kinds):
    return {n: d for n, d in lines.items() if n.startswith(kinds) and n != 'particle.tag'}


def store(path, records):
    with open(path, 'wb') as f:
        for r in records:
            n = np.array([r.nbytes], '<i4').tobytes()
            f.write(n + r.tobytes() + n)


def make(run):
    """`there`: with sinks, stars and tables as in cuRAMSES; `ours`: with more columns."""
    import h5py
    base.alter(run, 'there')
    with h5py.File('there/data_00002.h5', 'r+') as f:
        g = f.create_group('sinks')
        g.attrs.create('nsink', np.array([2], np.int32))
        for name, x in SINKS.items():
            g[name] = x
        n = len(f['particles/mass'])
        f['particles/dark_energy_int'] = np.arange(n) / 7
        for name, x in FORMED:
            del f['particles'].attrs[name]
            f['particles'].attrs.create(name, np.array([x]))
    n = (5, 4)
    store('there/cooling_00002.out',
          [np.array(n, '<i4'), np.zeros(5), np.zeros(4)] + [np.arange(20.0)] * 11 + [np.zeros(120)])
    with open('there/stellar_00002.csv', 'w') as f:
        f.write(' # id,mstellar,tform,tlife\n # 1,m,t,t\n         4,     1.0000000000E-03,    '
                '-1.0000000000E+00, 0.33333333333333331\n')
    base.convert('-f', 'hdf5', '-o', 'ours', 'there')
    rng = np.random.default_rng(2)
    more = {'potential': rng.normal(size=n_parts('ours')),
            'propertime': rng.random(n_parts('ours')),
            'mark': rng.integers(-100, 100, n_parts('ours')).astype(np.int8),
            'partp': rng.integers(-1 << 31, 1 << 31, n_parts('ours')).astype(np.int32),
            'host': rng.integers(-1 << 62, 1 << 62, n_parts('ours'))}
    with h5py.File('ours/data_00002.h5', 'r+') as f:
        for name, x in more.items():
            f['ptah/particles/' + name] = x
        by_id = {name: x[np.argsort(f['particles/identity'][()])] for name, x in more.items()}
        order = np.argsort(f['particles/identity'][()])
        by_id['dark_energy_int'] = f['particles/dark_energy_int'][()][order]
    return by_id


def n_parts(path):
    import h5py
    with h5py.File(path + '/data_00002.h5') as f:
        return len(f['particles/mass'])


def exact(names, x, name):
    """A column of a csv file with its rounding error, in units of the last place."""
    value = x[:, names.index(name)].copy()
    if name + '_ulps' in names:
        bits = value.view(np.int64)
        bits += np.where(value < 0, -1, 1) * x[:, names.index(name + '_ulps')].astype(np.int64)
    return value


def tables(v, what, path):
    """Compares the csv files, the cooling table, and the namelist."""
    names, units, *rows = open(path + '/sink_00002.csv').read().splitlines()
    names = names.strip(' #').split(',')
    v.same(what + ': units of the sinks',
           units.strip(' #').split(',')[:8], ['1', 'm', 'l', 'l', 'l'] + ['l t**-1'] * 3)
    x = np.array([[float(t) for t in row.split(',')] for row in rows])
    bad = [n for n, ours in CSV.items() if not np.array_equal(exact(names, x, n), SINKS[ours])]
    v.same(what + ': columns of the sinks that differ', bad, [])
    for a in ('cooling_00002.out', 'namelist.txt'):
        v.same('%s: %s' % (what, a),
               open(path + '/' + a, 'rb').read() == open('there/' + a, 'rb').read(), True)


def check_columns(v, what, path, by_id):
    s = read_ramses.load(path)
    part = s.part
    head = read_ramses.Records(path + '/part_00002.out00003')
    head.skip(4)
    v.same(what + ': stars formed',
           [head.read(t)[0] for t in ('<i4', '<f8', '<f8')], [x for _, x in FORMED])
    bad = [n for n, x in by_id.items()
           if n not in part or part[n].dtype != x.dtype or not np.array_equal(part[n], x)]
    v.same(what + ': further columns that differ', bad, [])
    fields = [n for n, _ in read_ramses.read_descriptor(path + '/part_file_descriptor.txt')]
    v.same(what + ': RAMSES finds its columns in their places',
           fields[11:14], ['potential', 'birth_time', 'metallicity'])


def around(v, by_id):
    import h5py
    os.makedirs('b')
    first = digests('there')
    base.convert('-n', '3', '-o', 'b/' + NAME, 'ours', ranks=2)
    want = digests('b/' + NAME)
    v.same('of others: lines that change',
           {n for n, d in only(first, 'particle.', 'sink.', 'stellar.').items()
            if want.get(n) != d},
           set())
    v.same('lines of sinks, stellar objects',
           (len(only(want, 'sink.')), len(only(want, 'stellar.'))), (len(SINKS), 4))
    v.same('ours to RAMSES: digest', digests('ours') == want, True)
    check_columns(v, 'RAMSES', 'b/' + NAME, by_id)
    tables(v, 'RAMSES', 'b/' + NAME)
    base.convert('-f', 'hdf5', '-z', '1', '-o', 'c', 'b/' + NAME, ranks=3)
    v.same('and back to HDF5: digest', digests('c') == want, True)
    with h5py.File('c/data_00002.h5') as f:
        g = f['sinks']
        v.same('HDF5: names of the sinks', sorted(g), sorted(SINKS))
        v.same('HDF5: columns of the sinks that differ',
               [n for n, x in SINKS.items() if not np.array_equal(g[n][()], x)], [])
        v.same('HDF5: stars formed',
               [f['particles'].attrs[name][0] for name, _ in FORMED], [x for _, x in FORMED])
        v.same('HDF5: counts', (int(g.attrs['nsink'][0]), int(g.attrs['nindsink'][0])), (2, 7))
    tables(v, 'HDF5', 'c')
    for n, order, ranks, source in ((2, 'ksection', 3, 'c'), (5, 'hilbert', 2, 'ours')):
        out = repartition.repartition('d', source, '-n', str(n), '-d', order, ranks=ranks)
        v.same('repartition, %d %s: digest' % (n, order), digests(out) == want, True)
        tables(v, 'repartition', out)
    r = ptah.Run([ptah.program('inspect'), 'b/' + NAME, 'd'], '.')
    v.same('inspect finds no difference', (r.status, '2 sinks in both' in r.out), (0, True))
    # the texts are removed: the HDF5 file contains them too
    for name in ('namelist.txt', 'compilation.txt'):
        os.remove('c/' + name)
    base.convert('-o', 'e', 'c')
    v.same('namelist of the HDF5 file',
           open('e/namelist.txt').read() == open('there/namelist.txt').read(), True)
    v.same('history of the HDF5 file',
           len(re.findall(r'ptah \w+', open('e/compilation.txt').read())), 6)


def differences(v):
    text = open('d/sink_00002.csv').read()
    shutil.copytree('d', 'f')
    os.remove('f/checksums_00002.txt')
    with open('f/sink_00002.csv', 'w') as f:
        f.write(text.replace('3.2500000000E+00', '3.2500000001E+00'))
    r = ptah.Run([ptah.program('inspect'), 'd', 'f'], '.')
    v.same('another velocity of a sink is found',
           (r.status, len(re.findall(r'velocity_z +1 ', r.out))), (1, 1))


def parts(v):
    base.convert('-f', 'ramses', '--region', 'sphere:0.3,0.2,0.75,0.05', '-o', 'g', 'ours')
    rows = open('g/sink_00002.csv').read().splitlines()[2:]
    v.same('sinks in a region', [int(row.split(',')[0]) for row in rows], [7])
    r = base.convert('-f', 'ramses', '--legacy', '2017', '-o', 'h', 'ours', must_work=False)
    v.same('columns that had no place before 2017',
           (r.status, 'integers' in r.err, os.path.exists('h')), (2, True, False))
    base.convert('-f', 'ramses', '--legacy', '2017', '-o', 'h', 'there')
    old, new = (only(digests(path), 'particle.', 'sink.') for path in ('h', 'there'))
    v.same('before 2017: lines that differ', {n for n in new if old.get(n) != new[n]}, set())
    r = base.convert('-f', 'gadget', '-o', 'i.gad', 'ours')
    v.same('Gadget: what is left out is said',
           all(w in r.err for w in ('potential', 'sink particles', 'stellar objects')), True)
    r = ptah.simulate(base.COSMO, '.', settings=['run_params/nstepmax=100'], must_work=False,
                      options=['-n', '--change-model', '-r', os.path.abspath('ours')])
    v.same('simulate: what it carries along is said',
           [w in r.err for w in ('potential', 'sink particles', 'stellar objects')], [True] * 3)


def restart(v, ranks, by_id):
    """A resumed run keeps all these data: columns that the run does not change are those of the
    checkpoint, from either format, on any number of ranks."""
    moves = ('particle.position', 'particle.velocity', 'particle.levelp')
    kept = only(digests('ours'), 'particle.', 'sink.', 'stellar.')
    want = {n: d for n, d in kept.items() if not n.startswith(moves)}
    want['particle.tag'] = digests('ours')['particle.tag']
    v.same('restart: lines to compare',
           len(want) > 20 and all('particle.' + n in want for n in by_id), True)
    first = None
    for n in ranks:
        source, form = [('ours', 'original'), ('b/' + NAME, 'hdf5')][n % 2]
        what = 'restart on %d, to %s' % (n, form)
        settings = ['run_params/nstepmax=2', 'output_params/foutput=1',
                    'output_params/outformat=' + form]
        r = ptah.simulate(base.COSMO, '.', n, settings=settings,
                          options=['--change-model', '-o', 'on%d' % n, '-r',
                                   os.path.abspath(source)])
        lines, path = digests(r.outputs[-1]), r.outputs[-1]
        v.same(what + ': lines that differ', {x for x in want if lines.get(x) != want[x]}, set())
        v.same(what + ': further lines', set(lines) - set(digests('ours')), set())
        first = first or lines
        v.same(what + ': digest', lines == first, True)
        table = open(path + '/cooling_00003.out', 'rb').read()
        v.same(what + ': cooling table',
               table == open('there/cooling_00002.out', 'rb').read(), True)
        v.same(what + ': what is carried along is said',
               [w in r.err for w in ('potential', 'propertime', 'sink particles')], [True] * 3)
        if form == 'original':
            head = read_ramses.Records(path + '/part_00003.out00001')
            head.skip(4)
            v.same(what + ': stars formed',
                   [head.read(t)[0] for t in ('<i4', '<f8', '<f8')], [x for _, x in FORMED])


def empty(v):
    """Resumes a run with sinks from a checkpoint without sinks."""
    import h5py
    shutil.copytree('there', 'none')
    with h5py.File('none/data_00002.h5', 'r+') as f:
        del f['sinks']
        f.create_group('sinks').attrs.create('nsink', np.array([0], np.int32))
    base.convert('-o', 'j', 'none')
    r = ptah.Run([ptah.program('inspect'), 'none', 'j'], '.')
    v.same('inspect finds no difference from the files of others',
           (r.status, 'tag' in r.out), (0, False))
    names, units = open('j/sink_00002.csv').read().splitlines()
    v.same('no sinks: names', names,
           ' # id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform,acc_rate,del_mass,rho_gas,cs**2,etherm,'
           'vx_gas,vy_gas,vz_gas,mbh,dmfsink,level')
    v.same('no sinks: units', len(units.split(',')), 23)
    base.convert('-f', 'hdf5', '-o', 'k', 'j')
    v.same('no sinks: digest', digests('k') == digests('j'), True)
    with h5py.File('k/data_00002.h5') as f:
        v.same('no sinks: number', int(f['sinks'].attrs['nsink'][0]), 0)


def main():
    v = ptah.Verdict()
    run = base.checkpoint(1, ['run_params/nstepmax=1', 'output_params/foutput=1'])
    by_id = make(run)
    around(v, by_id)
    differences(v)
    parts(v)
    restart(v, [int(n) for n in sys.argv[1:]] or [1, 2], by_id)
    empty(v)
    v.end()


if __name__ == '__main__':
    main()
