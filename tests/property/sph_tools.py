"""The programs on checkpoints of smoothed particles, dumps of Phantom and snapshots of Gadget-4,
against NumPy and h5py.

    sph_tools.py inspect    summary, digests, comparisons, checks, modes that do not apply
    sph_tools.py sinks      the table of point masses; a run from a file of other equations
    sph_tools.py convert    there and back, names of results, the layouts that other programs read

Examples of faults caught: a mean over boundary particles only, a comparison that ignores the last
row, SmoothingLength as h, positions that are not counted from the corner of the box.
"""
# test: inspect tier=check timeout=120
# test: sinks tier=check timeout=60
# test: convert tier=check timeout=120
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import phantom_files  # noqa: E402
import ptah  # noqa: E402
import smoothed  # noqa: E402

LOW, HIGH = np.array([-1.0, 0.5, 3.0]), np.array([1.0, 2.0, 4.0])
N = 300


def run(name, *words, ranks=1):
    argv = [ptah.program(name), *words]
    return ptah.Run(ptah.mpirun(ranks) + argv if ranks > 1 else argv, '.')


def particles(seed=1):
    rng = np.random.default_rng(seed)
    s = {'x': LOW + (HIGH - LOW) * rng.random((N, 3)), 'v': rng.normal(size=(N, 3)),
         'u': 1 + rng.random(N), 'h': (0.1 + 0.1 * rng.random(N)).astype('f4').astype('f8'),
         'mass': 3.0 / N}
    s['rho'] = s['mass'] * (1.2 / s['h'])**3
    return s


def dump(path, s, box=(LOW, HIGH)):
    phantom_files.write(path, s['x'], s['v'], s['u'], s['h'], box, time=0.5, mass=s['mass'])
    return path


def made(s, name='x_00007'):
    """A dump, and the checkpoint that is made of it."""
    dump(name, s)
    r = run('convert', '-q', '--force', '-o', 'out', name)
    return name, r.out.strip()


# ---- inspect

def check_summary(v, path, s):
    got = json.loads(run('inspect', '-j', path).out)
    m = s['mass']
    want = {'gas': N, 'boundary': 0, 'sinks': 0, 'time': 0.5, 'number': 7, 'kernel': 'M4',
            'eos': 'adiabatic', 'periodic': True, 'not_finite': 0}
    v.same('%s: summary' % path, {k: got[k] for k in want}, want)
    sums = {'mass': m * N, 'kinetic': 0.5 * m * (s['v']**2).sum(), 'thermal': m * s['u'].sum()}
    for name, x in sums.items():
        v.check('%s: %s' % (path, name), abs(got[name] / x - 1), 1e-13)
    v.check('%s: momentum' % path, np.abs(got['momentum'] - m * s['v'].sum(0)).max(), 1e-13)
    v.check('%s: box' % path, np.abs(np.array(got['length']) - (HIGH - LOW)).max(), 1e-15)
    columns = {c['name']: c for c in got['columns']}
    arrays = {'u': s['u'], 'h': s['h'], 'density': s['rho'], 'id': np.arange(1, N + 1.0)}
    arrays.update({'xyz'[d]: s['x'][:, d] for d in range(3)})
    for name, a in arrays.items():
        c = columns[name]
        off = max(abs(c['min'] - a.min()), abs(c['max'] - a.max()), abs(c['mean'] - a.mean()),
                  abs(c['rms'] - np.sqrt((a**2).mean())))
        v.check('%s: %s' % (path, name), off / np.abs(a).max(), 1e-13)


def check_digests(v, dumped, path, s):
    text = run('inspect', '-d', path).out
    for ranks in (2, 3):
        v.same('digest on %d ranks' % ranks, run('inspect', '-d', path, ranks=ranks).out == text,
               True)
    lines = dict(reversed(line.split()) for line in text.splitlines())
    v.same('digest of the dump', run('inspect', '-d', dumped).out == text, True)
    s['v'][-1, 2] += 1e-15
    text = run('inspect', '-d', made(s)[1]).out
    other = dict(reversed(line.split()) for line in text.splitlines())
    v.same('only the changed column', sorted(k for k in lines if lines[k] != other[k]),
           ['state', 'vz'])


def check_comparison(v, s):
    a = dump('a', s)
    s['u'][N - 1] *= 1 + 1e-6
    s['x'][4, 1] += 1e-3
    b = dump('b', s)
    same, differs = run('inspect', a, a), run('inspect', a, b)
    v.same('with itself', (same.status, 'the same' in same.out), (0, True))
    v.same('differs', (differs.status, 'particle 5' in differs.out), (1, True))
    v.same('the last row', 'particle %d' % N in differs.out, True)
    got = {c['name']: c for c in json.loads(run('inspect', '-j', a, b).out)['columns']}
    v.same('differing values', {k: c['differing'] for k, c in got.items() if c['differing']},
           {'u': 1, 'y': 1})
    v.check('largest difference', abs(got['y']['max_abs'] / 1e-3 - 1), 1e-9)
    v.same('tolerance', run('inspect', '--rtol', '1e-2', a, b).status, 0)
    for k in ('x', 'v', 'u', 'h'):
        s[k] = s[k][:-1]
    v.same('another number', run('inspect', a, dump('c', s)).status, 1)


def check_refusals(v, path):
    for words in (['-t'], ['-m', 'nothing']):
        r = run('inspect', *words, path)
        v.same('inspect %s' % ' '.join(words), (r.status, r.err.count('\n')), (2, 1))
    for words in (['-s'], ['-d'], ['-p'], ['-c'], ['-cc']):
        r = run('inspect', *words, os.path.join(path, 'sph_00007.h5'))
        v.same('inspect %s FILE' % words[0], (r.status, r.err), (0, ''))
    r = run('repartition', path)
    v.same('repartition', (r.status, r.out), (0, path + '\n'))
    for words in (['-f', 'phantom', '--levelmax', '3'], ['-f', 'sph', '--deflate', '1'],
                  ['-f', 'vtp', '--ranks', '2'], ['-f', 'csv']):
        r = run('convert', *words, '-o', 'no', path)
        v.same('convert %s' % ' '.join(words), (r.status, r.err.count('\n')), (2, 1))


def test_inspect(v):
    s = particles()
    dumped, path = made(s)
    check_summary(v, path, s)
    check_summary(v, dumped, s)
    check_refusals(v, path)
    check_digests(v, dumped, path, s)
    check_comparison(v, particles())


# ---- convert

def check_gadget(v, path, s):
    import h5py
    r = run('convert', '-q', '-f', 'gadget4', '-o', 'snapshot_003.hdf5', path)
    v.same('gadget4', (r.status, r.out), (0, 'snapshot_003.hdf5\n'))
    want = {'Coordinates': s['x'] - LOW, 'Velocities': s['v'], 'Masses': np.full(N, s['mass']),
            'SmoothingLength': 2 * s['h'], 'Density': s['rho'], 'InternalEnergy': s['u'],
            'ParticleIDs': np.arange(1, N + 1)}
    with h5py.File('snapshot_003.hdf5') as f:
        for name, a in want.items():
            got = f['PartType0'][name][:]
            v.check('gadget4: %s' % name, np.abs(got - a).max() if got.shape == a.shape else 1,
                    4e-16 * np.abs(a).max())
        h = f['Header'].attrs
        v.same('gadget4: header', (list(h['NumPart_Total']), h['Time'], list(h['BoxSize'])),
               ([N] + 5 * [0], 0.5, list(HIGH - LOW)))
    r = run('convert', '-q', '-o', 'again', 'snapshot_003.hdf5')
    a, b = [{c['name']: c for c in json.loads(run('inspect', '-j', p).out)['columns']}
            for p in (path, r.out.strip())]
    v.same('gadget4: back', r.out, 'again/output_00003\n')
    for name in ('u', 'vx', 'vz', 'id', 'type'):
        v.same('gadget4: back: %s' % name, b[name], a[name])
    v.check('gadget4: back: h', abs(b['h']['rms'] / a['h']['rms'] - 1), 1e-15)


def check_unequal(v):
    import h5py
    with h5py.File('snapshot_003.hdf5', 'r+') as f:
        f['PartType0/Masses'][7] *= 2
    r = run('convert', '-o', 'no', 'snapshot_003.hdf5')
    v.same('masses that differ', (r.status, r.err.count('\n'),
                                  'row 7' in r.err and 'the same mass' in r.err), (2, 1, True))
    with h5py.File('snapshot_003.hdf5', 'r+') as f:
        f['PartType0/Masses'][7] /= 2
        del f['PartType0/SmoothingLength']
    r = run('convert', '-q', '-o', 'dense', 'snapshot_003.hdf5')
    v.same('h from the density', run('inspect', '--rtol', '1e-14', r.out.strip(),
                                     'again/output_00003').status, 0)


def check_vtk(v, path, s):
    v.same('vtp', run('convert', '-q', '-f', 'vtp', '-o', 'x.vtp', path).out, 'x.vtp\n')
    with open('x.vtp', 'rb') as f:
        head, data = f.read().split(b'<AppendedData encoding="raw">\n_', 1)
    v.same('vtp: points', b'NumberOfPoints="%d"' % N in head, True)
    for name, a in (('Points', s['x']), ('v', s['v']), ('density', s['rho']), ('u', s['u']),
                    ('id', np.arange(1, N + 1)), ('connectivity', np.arange(N)),
                    ('offsets', np.arange(1, N + 1))):
        at = int(head.split(b'Name="%s"' % name.encode())[1].split(b'offset="')[1].split(b'"')[0])
        size = int.from_bytes(data[at:at + 8], 'little')
        got = np.frombuffer(data, '<i8' if a.dtype.kind == 'i' else '<f8', size // 8, at + 8)
        v.check('vtp: %s' % name, np.abs(got - a.ravel()).max() if got.size == a.size else 1,
                1e-15 * np.abs(a).max())


def check_names(v, dumped, path):
    """Several inputs: names in the directory of the results."""
    rows = [('phantom', 'many/sph_00007'), ('gadget4', 'many/snapshot_007.hdf5'),
            ('vtp', 'many/sph_00007.vtp'), ('sph', 'many/output_00007')]
    for form, name in rows:
        r = run('convert', '-q', '--force', '-f', form, '-o', 'many', path, dumped)
        v.same('%s of two' % form, (r.status, r.out), (0, 2 * (name + '\n')))
    r = run('convert', '-j', '-q', '-o', 'one', path)
    v.same('JSON', json.loads(r.out), {'input': path, 'output': 'one', 'format': 'phantom'})
    r = run('convert', '-o', 'one', path)
    v.same('no --force', (r.status, 'one' in r.err), (2, True))
    v.same('several ranks', run('convert', '-q', '-o', 'three', path, ranks=3).out, 'three\n')
    with open('one', 'rb') as a, open('three', 'rb') as b:
        v.same('the same bytes', a.read() == b.read(), True)
    dump('open_00001', particles(), None)
    r = run('convert', '-q', '-o', 'free', 'open_00001')
    v.same('without a box', json.loads(run('inspect', '-j', r.out.strip()).out)['periodic'], False)


def test_convert(v):
    try:
        import h5py  # noqa: F401
    except ImportError:
        ptah.skip('there is no h5py')
    s = particles()
    dumped, path = made(s)
    check_gadget(v, path, s)
    check_unequal(v)
    check_vtk(v, path, s)
    check_names(v, dumped, path)


# ---- point masses

SINKS = {'nsink': 2, 'sink_m': (1.0, 1e-3), 'sink_racc': (0.9, 0.25),
         'sink_x': (0.0, 0.0, 0.0, 4.0, 0.5, 0.0), 'sink_v': (0.0, 0.0, 0.0, -0.1, 0.5, 0.25)}
DISC = dict(setup='disc', np=300, boundary='free', eos='isothermal', cs0=0.05, **SINKS)


def sinks(v, path):
    """The tables as JSON and as text have the same numbers; returns them by name."""
    r = run('inspect', '--sinks', '-j', path)
    v.same('%s: --sinks' % path, (r.status, r.err), (0, ''))
    rows = json.loads(r.out)['sinks']
    lines = run('inspect', '--sinks', path).out.split('\n')
    names = [line for line in lines if line.startswith('#time')][0].strip('#').split('\t')
    text = [dict(zip(names, map(float, line.split('\t'))))
            for line in lines if line and not line.startswith('#')]
    v.same('%s: the text' % path, [[float('%.9g' % t[k]) for k in names] for t in text],
           [[float('%.9g' % w[k]) for k in names] for w in rows])
    return {k: [row[k] for row in rows] for k in names}


def test_sinks(v):
    r = smoothed.simulate(smoothed.namelist(2, **DISC), 'disc')
    first, last = (sinks(v, path) for path in (r.outputs[0], r.outputs[-1]))
    want = {'id': [1, 2], 'mass': [1.0, 1e-3], 'radius': [0.9, 0.25], 'accreted': [0, 0],
            'spinz': [0, 0], **{k: list(SINKS['sink_x'][i::3]) for i, k in enumerate('xyz')},
            **{'v' + k: list(SINKS['sink_v'][i::3]) for i, k in enumerate('xyz')}}
    v.same('those of the namelist', {k: first[k] for k in want}, want)
    v.check('they move', abs(last['y'][1] - 0.5 - 0.5 * last['time'][1]), 1e-3)
    run('convert', '-q', '-f', 'phantom', '-o', 'dump', r.outputs[-1])
    dumped = sinks(v, os.path.join('dump', os.listdir('dump')[0]) if os.path.isdir('dump')
                   else 'dump')
    v.same('of a dump', {k: dumped[k] for k in want}, {k: last[k] for k in want})
    v.same('a drawing', run('inspect', '--sinks', '-o', 'x.png', r.outputs[0]).status, 2)
    for name, line in (({'eos': 'adiabatic', 'gamma': 1.4, 'kernel': 'M6'},
                        'eos=isothermal (this run adiabatic), gamma='),
                       ({'cs0': 0.1}, 'cs0=0.05 (this run 0.1)'), ({}, None)):
        again = {**DISC, 'setup': 'file', 'init_file': os.path.abspath(r.outputs[0]), 'nsink': 0,
                 **name}
        for ranks in 1, 2:
            log = smoothed.simulate(smoothed.namelist(0, **again), 'again', ranks=ranks,
                                    options=()).err
            v.same('%s: a line' % name, [line in w for w in log.split('\n') if 'init_file: ' in w],
                   [True] if line else [])


def main():
    v = ptah.Verdict()
    {'inspect': test_inspect, 'sinks': test_sinks,
     'convert': test_convert}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
