"""Hostile input of runs with a magnetic field.

    mhd_inputs.py RANKS    an output of RAMSES whose descriptor or field is damaged: one sentence
                           with the file or the cell, status 2, and no rank that waits
    mhd_inputs.py beta     a plasma whose pressure is a 1e-12th of that of its field stays finite

Examples of faults caught: a NaN on a face that a maximum ignores, a missing face whose name is not
told, a rank that goes on alone, a computed field of gas that is said to be in a file of gravity.
"""
# test: 1 tier=check timeout=120
# test: 3 tier=check timeout=240 ranks=3
# test: beta tier=check timeout=120
import os
import re
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), 'property')]
import mhd_files as mhd  # noqa: E402
import ptah  # noqa: E402

NAN, INF = float('nan'), float('inf')
FILE = 'hydro_file_descriptor.txt'


def descriptor(pattern, by):
    def change(there):
        path = os.path.join(there, FILE)
        with open(path) as f:
            text, n = re.subn(pattern, by, f.read())
        assert n == 1, pattern
        with open(path, 'w') as f:
            f.write(text)
    return change


def face(value):
    """B_x_right of the first cell of the first oct of the finest level."""
    def change(there):
        path = os.path.join(there, 'hydro_%s.out00001' % there.rstrip('/')[-5:])
        with open(path, 'r+b') as f:
            data, at, start = f.read(), 0, []
            while at < len(data):
                start.append(at + 4)
                at += struct.unpack_from('i', data, at)[0] + 8
            f.seek(start[len(start) - 8 * len(mhd.NAMES) + mhd.NAMES.index('B_x_right')])
            f.write(struct.pack('d', value))
    return change


CELL = 'output_00001: level 4, cell at 0.156.* magnetic field'
DAMAGES = [  # change, the sentence of simulate
    (descriptor('(?m)^ *8, B_x_right.*\n', ''), FILE + ': line 10: .*8'),
    (descriptor('B_x_right', 'B_x_rihgt'), 'output_00001: .*no field B_x_right'),
    (descriptor('B_x_right', 'B_x_left'), 'output_00001: .*no field B_x_right'),
    (descriptor('pressure', 'entropy'), 'output_00001: .*before the pressure'),
    (face(NAN), CELL), (face(-INF), CELL), (face(1e200), CELL),
    (face(.75), 'output_00001: .*not free of divergence'),
]
SETTINGS = [("riemann='hlle'", "riemann='hlle'.*'hlld'"), ("riemann2d='hlle'", "riemann2d='hlle'"),
            ("riemann2d=''", "riemann2d=''")]


def refused(v, what, r, pattern):
    said = [line for line in r.err.splitlines() if line.startswith('simulate: ')]
    good = r.status == 2 and not r.timed_out and len(said) == 1 and re.search(pattern, said[0])
    v.same(what + ': ' + pattern, bool(good) or said or r.err[-300:], True)


def check_told(v):
    """inspect -cc names a face that is NaN, and of split cells the variable that differs."""
    end = mhd.run(3, 'moved', 1, 'run_params/nstepmax=2', 'foutput=2', 'interpol_var=0').outputs[-1]
    for f in os.listdir(end):
        if f.startswith(('exact_', 'checksums_')):
            os.remove(os.path.join(end, f))
    face(NAN)(end)
    r = ptah.Run([ptah.program('inspect'), '-cc', end], '.')
    lines = (r.out + r.err).splitlines()
    split = [s for s in lines if 'split cell has' in s]
    same = [s for s in split if re.search(r'has .* (\S+), the mean .* is \1$', s)]
    v.same('the check names the face', (r.status, any('B_x_right is nan' in s for s in lines)),
           (1, True))
    v.same('split cells that differ from the mean of their children', (same, len(split) > 0),
           ([], True))


def main(ranks):
    v, text = ptah.Verdict(), mhd.namelist(3)
    start = mhd.run(3, 'start', 1, 'run_params/nstepmax=0').outputs[0]
    for k, (change, pattern) in enumerate(DAMAGES):
        there = os.path.abspath('%d/output_00001' % k)
        shutil.copytree(start, there)
        for f in os.listdir(there):
            if f.startswith(('exact_', 'checksums_')):
                os.remove(os.path.join(there, f))
        change(there)
        r = ptah.simulate(text, 'run', ranks, 1, [], ['-r', there], must_work=False)
        refused(v, 'restart', r, pattern)
        if pattern == CELL and ranks == 1:
            r = ptah.Run([ptah.program('inspect'), '-m', 'B', '-o', 'map.npy', there], '.')
            v.same('the map names the file', (r.status, 'hydro_00001.out00001: level 4' in r.err),
                   (2, True))
    if ranks == 1:
        check_told(v)
    for setting, pattern in SETTINGS:
        r = ptah.simulate(text, 'run', ranks, 1, [setting], ['--build', 'SOLVER=mhd'],
                          must_work=False)
        refused(v, 'settings', r, pattern)
    v.end()


def beta():
    """A region in motion in a strong uniform field."""
    v, text = ptah.Verdict(), mhd.namelist(3)
    for k, two in {'d': '1.,1.', 'u': '0.,.1', 'v': '0.,-.05', 'w': '0.,.02', 'p': '7e-13,7e-13',
                   'A': '1.,1.', 'B': '.5,.5', 'C': '-.3,-.3'}.items():
        text = re.sub('(?m)^%s_region=.*' % k, '%s_region=%s' % (k, two), text)
    end = mhd.run(3, 'beta', 1, 'run_params/nstepmax=20', 'amr_params/levelmin=4',
                  'amr_params/levelmax=4', 'foutput=20', text=text).outputs[-1]
    values = mhd.cells(end, 3)[1]
    for name in mhd.NAMES:
        v.same(name + ' is finite', bool(abs(values[name]).max() < 1e3), True)
    v.same('no density is negative', bool(values['density'].min() > 0), True)
    v.same('the region has moved', bool(abs(values['B_x_left'] - 1).max() > 1e-3), True)
    mhd.inspected(v, 'the state', end)
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'beta':
        beta()
    else:
        main(int(sys.argv[1]))
