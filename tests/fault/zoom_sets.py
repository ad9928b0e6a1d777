"""Broken initial conditions, options and disks: genzoom ends with status 2 and one sentence that
names the culprit, and leaves no file.

Example of a fault caught: a level taken from its name, not its header; a temporary file that
stays.
"""
# test: tier=check timeout=120
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

BOX = 40.0
NAN = float('nan')


def record(body):
    mark = struct.pack('<i', len(body))
    return mark + body + mark


def grafic(level, offset, n, value=0.0, **change):
    head = {'dx': BOX / 2 ** level, 'astart': 0.02, 'om': 0.3, 'ol': 0.7, 'h0': 70.0, 'shift': 0.0}
    head.update(change)
    off = [offset * BOX / 2 ** level + (head['shift'] if d == 2 else 0) for d in range(3)]
    rest = [head[key] for key in ('astart', 'om', 'ol', 'h0')]
    plane = record(struct.pack('<f', value) * (n * n))
    return record(struct.pack('<3i8f', n, n, n, head['dx'], *off, *rest)) + plane * n


GOOD = {3: (0, 8), 4: (4, 8), 5: (12, 8)}


def put(level, name, data):
    with open('set/level_%03d/%s' % (level, name), 'wb') as f:
        f.write(data)


def good():
    shutil.rmtree('set', ignore_errors=True)
    for level, (offset, n) in GOOD.items():
        os.makedirs('set/level_%03d' % level)
        for name in ('ic_deltab', 'ic_velcx'):
            put(level, name, grafic(level, offset, n))
    row = [3 <= i <= 4 for i in range(8)]
    planes = [struct.pack('<64f', *(a and b and c for b in row for c in row)) for a in row]
    put(3, 'ic_refmap', grafic(3, 0, 8, 0)[:52] + b''.join(map(record, planes)))


def header(level, **change):
    def make():
        offset, n = GOOD[level]
        put(level, 'ic_deltab', grafic(level, offset, n, **change))
        put(level, 'ic_velcx', grafic(level, offset, n, **change))
    return make


def moved(level, offset, n):
    def make():
        for name in ('ic_deltab', 'ic_velcx', 'ic_refmap'):
            put(level, name, grafic(level, offset, n, 1))
    return make


def cut(level, name, keep):
    def make():
        path = 'set/level_%03d/%s' % (level, name)
        os.truncate(path, os.path.getsize(path) + keep if keep < 0 else keep)
    return make


def patch(level, name, at, data):
    def make():
        with open('set/level_%03d/%s' % (level, name), 'r+b') as f:
            f.seek(at)
            f.write(data)
    return make


def remove(what):
    path = 'set/' + what
    return lambda: shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


SETS = [  # error, function that makes it, options, pattern of the sentence
    ('offset wrong by half a cell', header(4, shift=0.5 * BOX / 16), [],
     r'level_004: offset .* along z is .* cells, not a whole'),
    ('offset wrong by half a coarse cell', moved(5, 13, 8), [],
     r'level_005: its cells 13 to 20 along x begin or end inside a cell of level 4'),
    ('missing level', remove('level_004'), [],
     r'level_003: contains level 3 and .*level_005 level 5: level 4 is missing'),
    ('missing base', remove('level_003'), [], r'level_004: .* \b8\b|level_004: is named level 4'),
    ('truncated plane', cut(5, 'ic_velcx', -100), [],
     r'level_005/ic_velcx: has \d+ bytes where 8 x 8 x 8 values need \d+'),
    ('truncated header', cut(4, 'ic_deltab', 20), [], r'level_004/ic_deltab: ends at byte 20'),
    ('empty file', cut(4, 'ic_velcx', 0), [], r'level_004/ic_velcx: ends at byte 0'),
    ('NaN in a map', patch(3, 'ic_refmap', 52 + 4 + 40, struct.pack('<f', NAN)), [],
     r'level_003/ic_refmap: plane 1 of 8: .* row 2, column 3 is -?nan'),
    ('NaN in a field', patch(4, 'ic_velcx', 52 + 4, struct.pack('<f', NAN)), ['--deep'],
     r'level_004/ic_velcx: plane 1 of 8: .* is -?nan'),
    ('NaN in a header', header(4, h0=NAN), [], r'level_004/ic_deltab: header: .* not finite'),
    ('damaged marker', patch(3, 'ic_refmap', 52, b'\7\0\0\0'), [],
     r'level_003/ic_refmap: plane 1 of 8: record markers 7 and'),
    ('other cosmology', header(5, om=0.31), [], r'level_005: omega_m, omega_v, h0 = 0.31'),
    ('other cosmology of a file', lambda: put(5, 'ic_velcx', grafic(5, 12, 8, om=0.31)), [],
     r'level_005/ic_velcx: has another cosmology'),
    ('cells of the wrong size', header(5, dx=BOX / 30), [],
     r'level_005: its cell size, .* is not that of .*level_003'),
    ('not nested', moved(5, 4, 8), [],
     r'level_005: its region is not within the region of .*level_004'),
    ('outside of the box', moved(5, 26, 8), [],
     r'level_005: cells 26 to 33 along x are not within the 32'),
    ('file of another level', lambda: put(5, 'ic_velcx', grafic(5, 12, 6)), [],
     r'level_005/ic_velcx: has 6 cells along x where'),
    ('file missing on a level', remove('level_005/ic_velcx'), [],
     r'level_005: has no ic_velcx, but .*level_004 does'),
    ('no header file', remove('level_004/ic_deltab'), [], r'level_004/ic_deltab: cannot open'),
    ('wrong name', lambda: os.rename('set/level_005', 'set/level_006'), [],
     r'level_006: is named level 6, but by its header it is level 5'),
    ('twice', lambda: shutil.copytree('set/level_005', 'set/more'), [],
     r'level_005 and set/more: both contain level 5'),
    ('base not a power of two', moved(3, 0, 6), [],
     r'level_003: the coarsest level has 6 x 6 x 6 cells'),
    ('no map', remove('level_003/ic_refmap'), [],
     r'level_003: has no ic_refmap: give the region by'),
    ('empty map', lambda: put(3, 'ic_refmap', grafic(3, 0, 8, 0)), [],
     r'level_003: the mask is empty'),
    ('not GRAFIC', patch(4, 'ic_deltab', 0, b'abcd'), [],
     r'level_004/ic_deltab: is not a GRAFIC file'),
    ('no room for a mask', moved(5, 14, 4), [], r'level_004: the mask is empty on level 4'),
    ('mask there', lambda: put(4, 'ic_pvar_00006', grafic(4, 4, 8, 1)), [],
     r'level_004/ic_pvar_00006: exists; --force'),
    ('a directory for a mask', lambda: os.mkdir('set/level_004/ic_pvar_00006'), [],
     r'level_004/ic_pvar_00006: .*Is a directory'),
]

REGION = ['--sphere', '0.5,0.5,0.5,0.05']
OPTIONS = [
    (['--sphere', '0.3,0.5,0.5,0.1'],
     r'level_004: the region extends beyond|level_005: the region extends beyond'),
    (['--sphere', '0.3,0.5,0.5'], r'a sphere must be four numbers'),
    (['--box', '1,1,1,0,1,1'], r'sizes must be above 0'),
    (['--ellipsoid', '.5,.5,.5,1,0,0,0,1,0,0,0,-1'], r'eigenvalue -1'),
    (['--ellipsoid', '.5,.5,.5,1,9,0,0,1,0,0,0,1'], r'not symmetric'),
    (REGION + ['--box', '.5,.5,.5,.1,.1,.1'], r'only one of'),
    (REGION + ['--ones'], r'--ones is for the maps'),
    (['--points', 'nowhere'], r'nowhere: cannot be opened'),
    (['--points', 'bad'], r'bad: line 2: needs 3 numbers: x y z of a point; it has 2'),
    (['--points', 'far'], r'far: line 1: y = 17 is not between'),
    (['--points', 'none'], r'none: contains no points'), (['--trace', 'nowhere'], r'--trace needs'),
    (['--trace', 'nowhere', '--center', '.5,.5,.5', '--radius', '.1'], r'nowhere'),
    (['--radius', '.1'], r'go with --trace'), (['-i', '60'], r'number of the scalar'),
    (['-p', 'x'], r'padding'), (['-l', '4'], r'levelmax = 4 is below level 5'),
    (['--omega-b', '0.5'], r'omega_b = 0.5 must be below omega_m'),
    (['--shape', 'cube'], r'hull or ellipsoid'), (['--sphere', '0.5,0.5,nan,0.1'], r'four numbers'),
]


def judge(v, what, options, pattern):
    before = set(glob.glob('set/**', recursive=True))
    r = ptah.Run([ptah.program('genzoom'), *options, 'set'], '.', timeout=20)
    lines = r.err.splitlines()
    said = len(lines) == 1 and re.match('genzoom: ', r.err) and re.search(pattern, r.err)
    v.same('%s: %s' % (what, r.err.strip()[:150]), (r.status, bool(said), r.out), (2, True, ''))
    v.same('%s: files left' % what, set(glob.glob('set/**', recursive=True)) - before, set())


def main():
    v = ptah.Verdict()
    for what, break_it, options, pattern in SETS:
        good()
        break_it()
        judge(v, what, options, pattern)
    good()
    for name, text in (('bad', '.5 .5 .5\n.5 .5\n'), ('far', '.5 17 .5'),
                       ('none', '# nothing\n\n')):
        with open(name, 'w') as f:
            f.write(text)
    for options, pattern in OPTIONS:
        judge(v, ' '.join(options), options, pattern)
    r = subprocess.run([ptah.program('genzoom'), '-n', 'set'], stdout=open('/dev/full', 'w'),
                       stderr=subprocess.PIPE, text=True)
    v.same('full standard output', (r.returncode, 'standard output' in r.stderr), (2, True))
    r = ptah.Run([ptah.program('genzoom'), '-n', 'set'], '.')
    tight = ('genzoom: set/level_004: too little room around the mask for nexpand=1 on level 3;'
             ' the namelist has 0 there\n')
    v.same('the good set', (r.status, r.err, glob.glob('set/*/ic_pvar*')), (0, tight, []))
    r = ptah.Run([ptah.program('genzoom'), 'set'], '.')
    there = [len(glob.glob('set/*/' + name)) for name in ('ic_pvar_00006', '*.part')]
    v.same('written', (r.status, r.err, there), (0, tight, [3, 0]))
    v.same('again', ptah.Run([ptah.program('genzoom'), 'set'], '.').status, 2)
    v.same('by force', ptah.Run([ptah.program('genzoom'), '--force', 'set'], '.').status, 0)
    v.end()


if __name__ == '__main__':
    main()
