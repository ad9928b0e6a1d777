"""GRAFIC2 files and whole sets of initial conditions, for tests that make their own."""
import os
import shutil
import struct

import numpy as np

FIELDS = ('deltab', 'velbx', 'velby', 'velbz', 'velcx', 'velcy', 'velcz')
MPC = 20.0  # side of the box, Mpc
HEAD = {'astart': 0.02, 'omega_m': 0.3, 'omega_l': 0.7, 'h0': 70.0, 'omega_b': None}


def write(path, values, level, offset=(0, 0, 0), order='<', **change):
    """Writes values[z, y, x], as 4-byte reals unless they are integers; offset in cells. change:
    numbers of the header to change (HEAD, dx, shift: the offset in Mpc). omega_b makes a header of
    48 bytes."""
    head = {'dx': MPC / 2 ** level, **HEAD, **change}
    nz, ny, nx = values.shape
    corner = change.get('shift', [o * head['dx'] for o in offset])
    real = [head['dx'], *corner, head['astart'], head['omega_m'], head['omega_l'], head['h0']]
    real += [] if head['omega_b'] is None else [head['omega_b']]
    first = struct.pack('%s3i%df' % (order, len(real)), nx, ny, nz, *real)
    if values.dtype.kind == 'f':
        values = values.astype(np.float32)
    values = values.astype(values.dtype.newbyteorder(order))
    with open(path, 'wb') as f:
        for record in [first] + [plane.tobytes() for plane in values]:
            mark = struct.pack(order + 'i', len(record))
            f.write(mark + record + mark)


def head_of(path):
    """(length of the header, its reals)"""
    with open(path, 'rb') as f:
        b = f.read(64)
    order = '<' if b[0] in (44, 48) else '>'
    n, = struct.unpack(order + 'i', b[:4])
    return n, struct.unpack('%s%df' % (order, (n - 12) // 4), b[16:4 + n])


def field(name, n, seed=1):
    """Noise of a few per cent, or of some km/s."""
    rng = np.random.default_rng([seed, *name.encode()])
    return rng.normal(0, 0.01 if name == 'deltab' else 10, (n, n, n))


def make(folder, level=3, fields=FIELDS, order='<', **change):
    """Writes one complete level into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in fields:
        write(os.path.join(folder, 'ic_' + name), field(name, 2 ** level), level, order=order,
              **change)


def namelist(folder, level=3, hydro=True, more=''):
    return """&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=%s
nstepmax=1
%s/
&AMR_PARAMS
levelmin=%d
levelmax=%d
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='%s'
/
&OUTPUT_PARAMS
foutput=1
/
""" % ('.true.' if hydro else '.false.', more, level, level, folder)
