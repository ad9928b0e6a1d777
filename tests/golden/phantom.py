"""Dumps that Phantom itself has written (version 2026.0.1: the first and second one of a Sedov
blast of 5184 particles, and the first one of a shock with fixed particles at its ends).

    phantom.py

A dump that is read and written is the same byte for byte, in the other byte order too, and with
single precision of its reals. It becomes a checkpoint with the values that an independent reader
finds, and a dump again with the same values. The thermal energy is that of Phantom's own table.

Examples of faults caught: a tag that is dropped, counts in the wrong type, i1 swapped with its
neighbours, h as a density, the id as the row.
"""
# test: tier=quick timeout=120
import json
import lzma
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_phantom  # noqa: E402

NAMES = ('sedov_00000', 'sedov_00001', 'shock_00000')
# Columns of a checkpoint and arrays of a dump.
COLUMNS = {'id': 'iorig', 'u': 'u', 'h': 'h', 'alpha': 'alpha', 'divv': 'divv',
           **{k: k for k in ('x', 'y', 'z', 'vx', 'vy', 'vz')}}


def run(name, *words):
    return ptah.Run([ptah.program(name), *words], '.')


def state(path):
    return run('inspect', '-d', '-q', path).out.split()[:1]


def unpack(name):
    with lzma.open(os.path.join(ptah.DATA, 'sph', name + '.xz')) as f:
        text = f.read()
    store(name, text)
    return text


def store(path, text):
    with open(path, 'wb') as f:
        f.write(text)


def load(path):
    with open(path, 'rb') as f:
        return f.read()


def narrow(d):
    """A dump whose default reals have single precision."""
    d.reals = 4
    return read_phantom.text_of(d, '<')


def check_bytes(v, name, text):
    d = read_phantom.load(name)
    for what, copy in (('as it is', text), ('little-endian', read_phantom.text_of(d, '<')),
                       ('big-endian', read_phantom.text_of(d, '>')),
                       ('single precision', narrow(read_phantom.load(name)))):
        store('copy', copy)
        r = run('convert', '-q', '--force', '-f', 'phantom', '-o', 'again', 'copy')
        v.same('%s, %s' % (name, what), (r.status, r.err, load('again') == copy), (0, '', True))
    store('big', read_phantom.text_of(d, '>'))
    v.same('%s: digests of both byte orders' % name, state('big'), state(name))


def values_of(path):
    import h5py
    with h5py.File(os.path.join(path, 'sph_%s.h5' % path[-5:]), 'r') as f:
        numbers = {k.decode(): x for k, x in zip(f['header'].attrs['keys'],
                                                  f['header'].attrs['values'])}
        return {k: d[:] for k, d in f['particles'].items()}, numbers, f['header'].attrs['t']


def check_values(v, name):
    d = read_phantom.load(name)
    order = np.argsort(d.arrays['iorig'])
    r = run('convert', '-q', '-o', 'of_' + name, name)
    path = os.path.join('of_' + name, 'output_' + name[-5:])
    v.same('%s: convert' % name, (r.status, r.out), (0, path + '\n'))
    columns, numbers, t = values_of(path)
    for column, tag in COLUMNS.items():
        v.same('%s: %s' % (name, column), bool((columns[column] == d.arrays[tag][order]).all()),
               True)
    types = d.arrays.get('itype', np.ones(len(order), 'i1'))
    v.same('%s: type' % name, bool((columns['type'] == types[order]).all()), True)
    v.same('%s: time' % name, t, d.header['time'])
    for key, tag in (('eta', 'hfact'), ('gamma', 'gamma'), ('mass', 'massoftype'), ('lo_y', 'ymin'),
                     ('h_tol', 'tolh'), ('alpha_u', 'alphau'), ('utime', 'utime')):
        v.same('%s: %s' % (name, key), numbers[key], d.header[tag])
    v.same('%s: digest' % name, state(path), state(name))
    return path


def check_back(v, name, path):
    """A dump that is made of the checkpoint has the header and the arrays of the first one."""
    r = run('convert', '-q', '--force', '-o', 'back', path)
    v.same('%s: back' % name, (r.status, r.err), (0, ''))
    a, b = read_phantom.load(name), read_phantom.load('back')
    order, other = np.argsort(a.arrays['iorig']), np.argsort(b.arrays['iorig'])
    v.same('%s: back: header' % name, [n[:2] for n in b.number], [n[:2] for n in a.number])
    v.same('%s: back: arrays' % name, [t[:2] for t in b.block[0]], [t[:2] for t in a.block[0]])
    for tag, x in a.arrays.items():
        v.same('%s: back: %s' % (name, tag), bool((b.arrays[tag][other] == x[order]).all()), True)
    same = ('nparttot', 'npartoftype', 'gamma', 'time', 'hfact', 'xmax', 'ymin', 'udist', 'ieos')
    v.same('%s: back: numbers' % name, [b.header[k] for k in same], [a.header[k] for k in same])


def check_energy(v, name):
    """Sums of inspect against those of the arrays; Phantom's own table has etot = 1."""
    s = json.loads(run('inspect', '-j', name).out)
    d = read_phantom.load(name)
    m = d.header['massoftype']
    gas = d.arrays.get('itype', np.ones(s['gas'] + s['boundary'])) == 1
    v.same('%s: types' % name, (s['gas'], s['boundary']), (int(gas.sum()), int((~gas).sum())))
    kinetic = 0.5 * m * sum((d.arrays[c]**2).sum() for c in ('vx', 'vy', 'vz'))
    v.check('%s: kinetic energy' % name, abs(s['kinetic'] - kinetic) / (kinetic + 1e-30), 1e-13)
    v.check('%s: thermal energy' % name, abs(s['thermal'] / (m * d.arrays['u'].sum()) - 1), 1e-13)
    if name[:5] == 'sedov':
        v.check('%s: total energy' % name, abs(s['kinetic'] + s['thermal'] - 1), 3e-7)


def main():
    try:
        import h5py  # noqa: F401
    except ImportError:
        ptah.skip('there is no h5py')
    v = ptah.Verdict()
    for name in NAMES:
        text = unpack(name)
        check_bytes(v, name, text)
        path = check_values(v, name)
        check_back(v, name, path)
        check_energy(v, name)
    v.end()


if __name__ == '__main__':
    main()
