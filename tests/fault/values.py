#!/usr/bin/env python3
"""Values that no run produces: a position, velocity, mass or density that is not finite, or absurd;
an id equal to the smallest integer.

    values.py ramses      in a RAMSES checkpoint
    values.py hdf5        in an HDF5 checkpoint
    values.py grafic      in initial conditions

A checkpoint of gas and particles is copied, one number in it is changed, and its checksums are
taken away. Every program whose result would be wrong must end with status 2 and one sentence that
names the file and the position; `inspect -c` and `-cc` list it, status 1. Examples of faults
caught: a NaN cast to an integer, a particle that is left out of a map without a word, a mass whose
sum overflows.
"""
# test: ramses tier=check timeout=240 ranks=3
# test: hdf5 tier=check timeout=240 ranks=3
# test: grafic tier=check timeout=120 ranks=3
import glob
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

NAMELIST = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=1
/
&OUTPUT_PARAMS
noutput=1
aout=1.0
foutput=1
outformat='%s'
longint=.true.
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
/
&AMR_PARAMS
levelmin=5
levelmax=5
/
"""
NAN, INF, HUGE, LEAST = float('nan'), float('inf'), 1e300, -2 ** 63
PLACE = 7  # index of the particle or cell that is changed
COLUMN = {'x': (9, 'particles/x_1', 'd'), 'v': (12, 'particles/v_1', 'd'),
          'm': (15, 'particles/mass', 'd'), 'id': (16, 'particles/identity', 'q')}
PK, MAP = ('pk', '-n', '16', '-s', 'dm'), ('inspect', '-m', 'dm', '-o', 'map.png')
PK_Z, PK_GAS = PK + ('-z', 'x'), ('pk', '-n', '16', '-s', 'gas')
MAP_GAS = ('inspect', '-m', 'density', '-o', 'map.png')
ZOOM = ('inspect', '--contamination', '--sphere', '0.5,0.5,0.5,0.1')
ALL = (PK, MAP, ZOOM, ('convert', '-o', 'out'), ('repartition', '-n', '2', '-o', 'out'))
# Quantity that is changed, new value, programs that must refuse it, a word of the sentence.
CASES = [('x', NAN, ALL, 'nan'), ('x', -INF, ALL, 'inf'), ('x', HUGE, ALL, 'e+300'),
         ('m', NAN, ALL, 'nan'), ('m', INF, ALL, 'inf'), ('m', -1.0, (PK, MAP, ZOOM), '-1'),
         ('m', HUGE, (PK,), 'mass'), ('v', NAN, (PK_Z,), 'nan'), ('v', HUGE, (PK_Z,), 'e+3'),
         ('gas', NAN, (PK_GAS, MAP_GAS), 'nan'), ('gas', INF, (PK_GAS, MAP_GAS), 'inf'),
         ('gas', -1.0, (PK_GAS,), '-1')]


def run(program, *argv, ranks=1):
    for path in ('out', 'map.png'):
        shutil.rmtree(path, ignore_errors=True)
        if os.path.exists(path):
            os.remove(path)
    return ptah.Run(ptah.mpirun(ranks) + [ptah.program(program), *argv], '.', timeout=60)


def copy(path):
    """A copy of the checkpoint with the same name, without checksums, in another folder."""
    there = os.path.join('changed', os.path.basename(path))
    shutil.rmtree('changed', ignore_errors=True)
    shutil.copytree(path, there)
    for name in os.listdir(there):
        if name.startswith(('checksums_', 'exact_')):
            os.remove(os.path.join(there, name))
    return there


def one(there, pattern):
    return sorted(glob.glob(os.path.join(there, pattern)))[0]


def change_ramses(there, what, value):
    if what == 'gas':
        file = one(there, 'hydro_*.out00001')
        nvar = tiny.get(file, tiny.Records(file)[2][0], 'i')
        record, letter = 6 + 4 * (2 + 8 * nvar) + 3, 'd'
    else:
        file = one(there, 'part_*.out00001')
        record, _, letter = COLUMN[what]
    byte, n = tiny.Records(file)[record]
    size = struct.calcsize(letter)
    tiny.put(file, byte + size * PLACE, letter, value)
    return file


def change_hdf5(there, what, value):
    import h5py
    file = one(there, '*.h5')
    with h5py.File(file, 'r+') as f:
        for name in ['hydro/level_5/uold_1'] if what == 'gas' else [COLUMN[what][1]]:
            f[name][PLACE] = value
            if 'checksum' in f[name].attrs:
                del f[name].attrs['checksum']
    return file


def refused(v, what, r, words):
    """Status 2 and one sentence with all the words; mpirun and make add lines of their own."""
    said = [line for line in r.err.splitlines()
            if line.split(':')[0] in ('pk', 'inspect', 'convert', 'repartition')]
    good = (r.status == 2 and not r.timed_out and len(said) == 1 and
            all(w.lower() in said[0].lower() for w in words))
    v.same(what, good, True)
    if not good:
        print('  status %s, words %s: %s' % (r.status, words, r.err[:1000]))


def checked(v, what, path, words):
    """Options -c and -cc list the damage."""
    for depth in ('-c', '-cc'):
        r = run('inspect', depth, path)
        good = r.status == 1 and any(all(w in line for w in words) for line in r.out.splitlines())
        v.same('%s: inspect %s lists it' % (what, depth), good, True)
        if not good:
            print('  status %s: %s%s' % (r.status, r.out[:1000], r.err[:1000]))


def make(form):
    ptah.unpack_ics('.', 'ic_32')
    return ptah.output(ptah.simulate(NAMELIST % form, '.', options=['-q']), 2)


def checkpoint(form):
    v, path = ptah.Verdict(), make(form)
    change = change_hdf5 if form == 'hdf5' else change_ramses
    for what, value, programs, word in CASES:
        there = copy(path)
        file = os.path.basename(change(there, what, value))
        for program, *argv in programs:
            for ranks in (1, 3) if program == 'pk' else (1,):
                words = [file, word] if value != HUGE or what == 'x' else [word]
                case = '%s = %g: %s %s, %d ranks' % (what, value, program, ' '.join(argv), ranks)
                refused(v, case, run(program, *argv, there, ranks=ranks), words)
        if value in (HUGE, LEAST) and what != 'x':
            continue
        if what in 'xm':
            checked(v, '%s = %g' % (what, value), there, [file, word])
    least(v, copy(path), change)
    v.end()


def least(v, there, change):
    """The smallest integer as an id: it is shown as it is, and nothing overflows (checked by
    sanitizers)."""
    change(there, 'id', LEAST)
    for program, *argv in (('inspect', '-cc'), ('inspect', '-d'), ('convert', '-o', 'out'), PK):
        r = run(program, *argv, there)
        v.same('id %d: %s %s' % (LEAST, program, ' '.join(argv)),
               (r.status, 'runtime error' in r.err), (0, False))
        if r.status:
            print(r.out[:500] + r.err[:500])


def grafic():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    folder = 'ics/ic_32/level_005'
    for name, value, options, word in (
            ('ic_poscx', NAN, [], 'nan'), ('ic_poscy', INF, [], 'inf'),
            ('ic_poscz', 1e30, [], 'e+'), ('ic_velcx', NAN, ['-s', 'dm', '-z', 'x'], 'nan'),
            ('ic_deltab', NAN, ['-s', 'gas'], 'nan'), ('ic_deltab', 3e38, ['-s', 'gas'], 'e+38')):
        shutil.rmtree('changed', ignore_errors=True)
        shutil.copytree(folder, 'changed')
        file = os.path.join('changed', name)
        byte, n = tiny.Records(file)[3]
        tiny.put(file, byte + 4 * PLACE, 'f', value)
        for ranks in (1, 3):
            refused(v, '%s = %g: pk %s, %d ranks' % (name, value, ' '.join(options), ranks),
                    run('pk', *options, 'changed', ranks=ranks), [word, name])
    v.end()


if sys.argv[1] == 'grafic':
    grafic()
else:
    checkpoint(sys.argv[1])
