"""Compact storage of reference outputs in tests/data/golden: one .xz file per output.

Leaf cells are in Morton order, so their levels alone define the tree. A field is rounded to a
number of bits far below the tolerance of its case: to multiples of 2^-bits of its largest absolute
value, or, for fields that span many decades, as float32 with `-bits` bits of mantissa. Integers are
then written as differences, by bytes, and compressed.

    golden.py pack REFERENCE_DIR OUT_DIR   makes the data from outputs of the reference code
                                           (DIR/<case>/output_NNNNN, run.log)
"""
import io
import json
import lzma
import os
import re
import shutil
import sys

import numpy as np

import read_ramses

# bits stored, by kind of case: of gas fields, of phi and acc, of positions, of velocities
BITS = {
    'uniform': (41, 0, 0, 0),
    'amr': (28, 0, 0, 0),
    'selfgrav': (20, 20, 0, 0),
    'nbody': (0, 20, 30, 20),
    'cosmo': (-11, 15, 28, 16),
    'exact': (21, 0, 0, 0),
    'flat': (37, 37, 37, 37),
    'magnetic': (39, 0, 0, 0),
    'magnetic_roe': (24, 0, 0, 0),
    'magnetic_cosmo': (30, 30, 30, 30),
}


# d1, d2: one and two dimensions; m1, m2, m3: with a magnetic field; t: namelists of the reference
# code's own tests and examples
KINDS = {'uni': 'uniform', 'amr': 'amr', 'sedov': 'amr', 'selfgrav': 'selfgrav', 'nbody': 'nbody',
         'cosmo': 'cosmo', 'd1_sod_exact': 'exact', 'd2_sedov_exact': 'exact', 'd1_': 'flat',
         'd2_': 'flat', 't_': 'flat', 'm1_bw_roe': 'magnetic_roe', 'm3_amr_roe': 'magnetic_roe',
         'm3_cosmo': 'magnetic_cosmo', 'm1_': 'magnetic', 'm2_': 'magnetic', 'm3_': 'magnetic'}


def kind_of(case):
    for prefix, kind in KINDS.items():
        if case.startswith(prefix):
            return kind
    raise KeyError(case)


def scale_of(case, name, cell):
    """Largest absolute value of a field, or of all components of a vector in a magnetic field, of
    which one may be round-off."""
    alike = [name]
    if kind_of(case).startswith('magnetic'):
        alike = [n for n in cell if n.split('_')[0] == name.split('_')[0]]
    return max(float(np.abs(cell[n]).max()) for n in alike)


def shuffle(ints):
    """Byte planes of the differences of neighbours."""
    d = np.diff(ints.astype(np.int64), prepend=np.int64(0))
    # zigzag encoding: small integers of either sign become small
    z = (d << 1 ^ d >> 63).view(np.uint64)
    return z.view(np.uint8).reshape(-1, 8).T.copy()


def unshuffle(planes):
    z = planes.T.copy().view(np.uint64).reshape(-1)
    d = (z >> np.uint64(1)).view(np.int64) ^ -(z & np.uint64(1)).view(np.int64)
    return np.cumsum(d)


def encode(values, bits, scale):
    if bits < 0:
        raw = values.astype('<f4').view('<u4').astype(np.int64)
        drop = 23 + bits
        return 1.0, shuffle((raw + (1 << (drop - 1))) >> drop)
    scale = scale or 1.0
    return scale, shuffle(np.rint(values / scale * 2.0 ** bits).astype(np.int64))


def decode(scale, planes, bits):
    ints = unshuffle(planes)
    if bits < 0:
        return (ints << (23 + bits)).astype('<u4').view('<f4').astype(float)
    return ints * (scale * 2.0 ** -bits)


def field_bits(case, name, of_part):
    gas, grav, position, velocity = BITS[kind_of(case)]
    if case.startswith('cosmo_cool') and name in ('density', 'pressure'):
        gas = -16  # temperatures have an error of 1e-4
    if of_part:
        return position if name.startswith('position') else velocity
    return grav if name == 'phi' or name.startswith('acc') else gas


def write(path, case, s, log):
    """Stores snapshot s and the lines of its run's log."""
    out = {'level': s.level}
    about = {'case': case, 'info': s.info, 'octs': s.octs, 'scale': {}, 'log': log,
             'npart': len(s.part.get('mass', []))}
    for group, fields in (('cell', s.cell), ('part', s.part)):
        for name, values in fields.items():
            if group == 'part' and not name.startswith(('position', 'velocity')):
                continue
            bits = field_bits(case, name, group == 'part')
            if bits == 0 or (group == 'cell' and kind_of(case) == 'cosmo' and
                             name.startswith('acc')):
                continue
            key = group + '.' + name
            about['scale'][key], out[key] = encode(values, bits, scale_of(case, name, fields))
    if s.part:
        out['part.identity'] = shuffle(s.part['identity'])
        about['part_mass'] = float(s.part['mass'].sum())
    out['about'] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **out)
    with lzma.open(path, 'wb', preset=9 | lzma.PRESET_EXTREME) as f:
        f.write(buffer.getvalue())


def read(path):
    """(snapshot, lines of the log)"""
    with lzma.open(path) as f:
        data = np.load(io.BytesIO(f.read()))
    about = json.loads(data['about'].tobytes())
    s = read_ramses.Snapshot(about['info'])
    s.level = data['level']
    s.octs = {int(l): n for l, n in about['octs'].items()}
    for key, scale in about['scale'].items():
        group, name = key.split('.')
        bits = field_bits(about['case'], name, group == 'part')
        (s.cell if group == 'cell' else s.part)[name] = decode(scale, data[key], bits)
    if about['npart']:
        s.part['identity'] = unshuffle(data['part.identity'])
        s.info['part_mass'] = about['part_mass']
    return s, about['log']


NUMBER = r'([-+0-9.Ee]+)'
MAIN = re.compile(r'Main step= *(\d+) +mcons= *' + NUMBER + ' econs= *' + NUMBER + ' epot= *' +
                  NUMBER + ' ekin= *' + NUMBER + '(?: eint= *' + NUMBER + ')?')
FINE = re.compile(r'Fine step= *(\d+) +t= *' + NUMBER + ' dt= *' + NUMBER + ' a= *' + NUMBER)
LEVEL = re.compile(r'Level +(\d+) has +(\d+) grids')


def read_log(text):
    """Conservation columns of a log: a dict per coarse step with the numbers as printed, the fine
    steps, and octs per level."""
    steps, fine, octs = [], [], {}
    for line in text.splitlines():
        m = MAIN.search(line)
        if m:
            steps.append({'step': int(m[1]), 'mcons': m[2], 'econs': m[3], 'epot': m[4],
                          'ekin': m[5], 'eint': m[6], 'octs': octs})
            octs = {}
        m = FINE.search(line)
        if m:
            fine.append((int(m[1]), m[2], m[3], m[4]))
        m = LEVEL.search(line)
        if m:
            octs[int(m[1])] = int(m[2])
    return {'main': steps, 'fine': fine}


def pack(reference, target):
    os.makedirs(target, exist_ok=True)
    total = 0
    for case in sorted(os.listdir(reference)):
        folder = os.path.join(reference, case)
        if case.endswith('_np3'):
            continue  # same state as on one rank
        name = re.sub('_np1$', '', case)
        nml = [f for f in os.listdir(folder) if f.endswith('.nml')][0]
        shutil.copyfile(os.path.join(folder, nml), os.path.join(target, name + '.nml'))
        if os.path.exists(os.path.join(folder, 'ics', 'ic_part')):
            with open(os.path.join(folder, 'ics', 'ic_part'), 'rb') as f:
                text = f.read()
            with lzma.open(os.path.join(target, name + '.ic_part.xz'), 'wb', preset=9) as f:
                f.write(text)
        with open(os.path.join(folder, 'run.log')) as f:
            log = read_log(f.read())
        for output in sorted(o for o in os.listdir(folder) if o.startswith('output_')):
            path = os.path.join(target, '%s_%s.xz' % (name, output[-5:]))
            s = read_ramses.load(os.path.join(folder, output))
            write(path, name, s, log)
            check(path, name, s)
            total += os.path.getsize(path)
            print('%-40s %8d bytes, %d cells' % (path, os.path.getsize(path), len(s.level)),
                  flush=True)
    print('%d bytes' % total)


def check(path, case, s):
    t, _ = read(path)
    for mine, theirs, of_part in ((s.cell, t.cell, False), (s.part, t.part, True)):
        for name, v in theirs.items():
            if name == 'identity':
                assert np.array_equal(v, mine[name])
                continue
            bits = field_bits(case, name, of_part)
            error = np.abs(v - mine[name])
            size = np.abs(mine[name])
            bound = 2.0 ** -bits * scale_of(case, name, mine)
            if bits < 0:
                bound = (2.0 ** (bits - 1) + 2.0 ** -24) * size
            assert (error <= bound * 1.001 + 1e-37).all(), (path, name, error.max())


if __name__ == '__main__':
    if len(sys.argv) != 4 or sys.argv[1] != 'pack':
        sys.exit(__doc__)
    pack(sys.argv[2], sys.argv[3])
