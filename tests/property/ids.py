#!/usr/bin/env python3
"""Ids are 64-bit integers from the initial conditions to the last program: around ±2^53, where
doubles lose integers, at both ends of the range, in files of 4 and 8 bytes and of both byte orders;
the same bytes on 1 and 3 ranks, in either format, in Gadget files and in sinks.

Example of a fault caught: an id that is read as a double, or sorted by its lower 56 bits.
"""
# test: tier=check timeout=240 ranks=3
import itertools
import os
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import grafic  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

LEVEL, N = 3, 8
COUNT = N ** 3
LEAST, MOST = -2 ** 63, 2 ** 63 - 1
FIRST = {'2^53': (2 ** 53 - 5, '<i8'), '-2^53': (-2 ** 53 - 300, '>i8'),
         'most': (MOST - COUNT + 1, '<i8'), 'least': (LEAST, '>i8'),
         '4 bytes': (2 ** 31 - COUNT, '>i4'), 'negative': (-2 ** 31, '<i4')}


def make(what):
    """Sets whose cell k has the id first + k, k in the order of the file."""
    first, kind = FIRST[what]
    ids = (np.arange(COUNT, dtype=object) + first).astype(kind[1:]).reshape(N, N, N)
    grafic.make('ics', LEVEL)
    grafic.write('ics/ic_particle_ids', ids, LEVEL, order=kind[0])
    return first


def run(ranks, *settings):
    return ptah.simulate(grafic.namelist('../ics', LEVEL), 'run%d' % ranks, ranks,
                         settings=settings, options=['--force'], timeout=60).outputs[0]


def wrong(found, first):
    """(found, expected) of the first few ids that differ from first, first + 1, …"""
    want = [first + k for k in range(COUNT)]
    return [(i, j) for i, j in itertools.zip_longest(found, want) if i != j][:3]


def differing(a, b):
    return ptah.changed(ptah.digest(a), ptah.digest(b))


def cells(p):
    """Initial cell of each particle, from its displacement, which is small."""
    x = np.stack([p['position_' + d] for d in 'xyz'])
    i = np.floor(x * N).astype(int) % N
    return i[0] + N * (i[1] + N * i[2])


def check_set(v, what):
    first = make(what)
    path = run(1)
    p = read_ramses.load(path).part
    order = np.argsort(cells(p), kind='stable')
    found = [int(i) for i in p['identity'][order]]
    v.same(what + ': wrong ids of cells', wrong(found, first), [])
    three = run(3)
    v.same(what + ': digest on 3 ranks', differing(three, path), [])
    r = ptah.Run([ptah.program('inspect'), '-cc', path], '.')
    v.same(what + ': inspect -cc ' + r.err, r.status, 0)
    for ranks, source in ((1, path), (3, three)):
        r = ptah.Run([ptah.program('convert'), '-f', 'hdf5', '-o', 'h5_%d' % ranks, '--force',
                      source], '.')
        v.same('%s: convert %s' % (what, r.err), r.status, 0)
        v.same(what + ': digest as HDF5', differing('h5_%d' % ranks, path), [])
    check_gadget(v, what, path, first)
    check_trace(v, what, path, first)


def gadget_ids(path):
    with open(path, 'rb') as f:
        b = f.read()
    records, at = [], 0
    while at < len(b):
        n, = struct.unpack_from('<I', b, at)
        records.append(b[at + 4:at + 4 + n])
        at += n + 8
    return np.frombuffer(records[3], '<i8' if len(records[3]) > 4 * COUNT else '<u4')


def check_gadget(v, what, path, first):
    r = ptah.Run([ptah.program('convert'), '-f', 'gadget', '--force', '-o', 'snap', path], '.')
    v.same('%s: gadget %s' % (what, r.err), r.status, 0)
    found = sorted(int(i) for i in gadget_ids('snap'))
    v.same(what + ': wrong ids in Gadget', wrong(found, first), [])
    r = ptah.Run([ptah.program('convert'), '-f', 'gadget', '--gas', '--force', '-o', 'snap', path],
                 '.')
    full = what == 'most'
    v.same('%s: gadget with cells %s' % (what, r.err), (r.status, 'leaves none' in r.err),
           (2, True) if full else (0, False))


def check_trace(v, what, path, first):
    """Cells found by the ids in a small sphere."""
    r = ptah.Run([ptah.program('genzoom'), '-q', '--force', '--trace', path, '--center', '.3,.3,.3',
                  '--radius', '.2', '--output', 'points', 'ics'], '.')
    p = read_ramses.load(path).part
    x = np.stack([p['position_' + d] for d in 'xyz'])
    near = ((x - 0.3) ** 2).sum(0) <= 0.04
    want = sorted((float((k % N + 0.5) / N), (k // N % N + 0.5) / N, (k // N // N + 0.5) / N)
                  for k in (int(i) - first for i in p['identity'][near]))
    found = sorted(tuple(row) for row in np.loadtxt('points', ndmin=2))
    v.same('%s: traced places, of %d' % (what, len(want)), found == want, len(want) > 8)


def check_upper_bits(v):
    """Ids that differ in their upper 8 bits only, two at each position: (bytes of the file of 1
    rank, of 3 ranks)."""
    grafic.make('ics', LEVEL, ('velcx', 'velcy', 'velcz'))
    for name in ('velcx', 'velcy', 'velcz'):
        grafic.write('ics/ic_' + name, np.zeros((N, N, N)), LEVEL)
        # all particles of a row of cells at one position
        shift = (3.5 - np.arange(N)) * grafic.MPC / N * 0.7
        if name == 'velcx':
            values = np.broadcast_to(shift, (N, N, N))
        else:
            values = np.zeros((N, N, N))
        grafic.write('ics/ic_pos' + name[3:], values + 0.0, LEVEL)
    i = np.arange(COUNT, dtype=object)
    ids = ((COUNT - 1 - i) % 64 * 2 ** 56 + i // 64).astype('i8').reshape(N, N, N)
    grafic.write('ics/ic_particle_ids', ids, LEVEL)
    bytes_of = []
    for ranks in (1, 3):
        path = ptah.simulate(grafic.namelist('../ics', LEVEL, hydro=False), 'run%d' % ranks, ranks,
                             settings=["output_params/outformat='hdf5'", 'run_params/nstepmax=0'],
                             options=['--force'], timeout=60).outputs[0]
        import h5py
        with h5py.File(os.path.join(path, 'data_00001.h5')) as f:
            bytes_of.append(f['particles/identity'][:].tolist())
    v.same('ids that differ in their upper bits, in the order of the file',
           bytes_of[1] == bytes_of[0], True)


SINKS = ' # id,msink,x,y,z,vx,vy,vz\n # 1,m,l,l,l,l t**-1,l t**-1,l t**-1\n'


def check_sinks(v):
    """A table of sinks, converted to text and back, and one with an id that is wrong by one."""
    path = run(1)
    for name, last in (('a', MOST), ('b', MOST - 1)):
        shutil.rmtree(name, ignore_errors=True)
        shutil.copytree(path, name)
        for extra in ('checksums_00001.txt',):
            os.remove(os.path.join(name, extra))
        with open(os.path.join(name, 'sink_00001.csv'), 'w') as f:
            f.write(SINKS)
            for k, i in enumerate((2 ** 53 + 1, -2 ** 53 - 1, last)):
                f.write('%d,1.0E-3,%g,0.5,0.5,0.0,0.0,0.0\n' % (i, 0.2 + 0.1 * k))
    r = ptah.Run([ptah.program('convert'), '-f', 'hdf5', '--force', '-o', 'sinks_h5', 'a'], '.')
    v.same('sinks: convert ' + r.err, r.status, 0)
    r = ptah.Run([ptah.program('convert'), '-f', 'ramses', '--force', '-o', 'sinks_text',
                  'sinks_h5'], '.')
    v.same('sinks: back ' + r.err, r.status, 0)
    with open('sinks_text/sink_00001.csv') as f:
        found = [int(line.split(',')[0]) for line in f if '#' not in line]
    v.same('ids of sinks', found, [2 ** 53 + 1, -2 ** 53 - 1, MOST])
    v.same('another id', len(differing('a', 'b')) > 0, True)


def main():
    v = ptah.Verdict()
    for what in FIRST:
        check_set(v, what)
    check_upper_bits(v)
    make('2^53')
    check_sinks(v)
    v.end()


if __name__ == '__main__':
    main()
