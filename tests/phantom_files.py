"""Dumps of Phantom for the tests, written from arrays."""
import struct

import numpy as np

KINDS = ('<i4', '<i1', '<i2', '<i4', '<i8', '<f8', '<f4', '<f8')
INT, LONG, REAL, SINGLE, DOUBLE = 0, 4, 5, 6, 7


def write(path, x, v, u, h, box=None, time=0.0, kernel_eta=1.2, gamma=5 / 3, mass=None, alpha=None):
    """x, v: [n][3]; box: lower and upper corner of a periodic box, or None. Values are those of a
    full dump: h and alpha in single precision."""
    n = len(x)
    mass = 1.0 / n if mass is None else mass
    counts = [n] + [0] * 7
    reals = [('gamma', gamma), ('RK2', 1.0), ('time', time), ('dtmax', 0.1), ('hfact', kernel_eta),
             ('tolh', 1e-6), ('C_cour', 0.3), ('C_force', 0.25), ('alpha', 0.0), ('alphau', 1.0)]
    reals += [('massoftype', mass if k == 0 else 0.0) for k in range(8)]
    if box is not None:
        reals += [(c + 'xyz'[d] + e, box[k][d]) for d in range(3)
                  for k, (c, e) in enumerate((('', 'min'), ('', 'max')))]
    ints = [('nparttot', n), ('ntypes', 8)] + [('npartoftype', k) for k in counts] + \
        [('nblocks', 1), ('nptmass', 0)]
    header = {INT: ints, 3: [('iexternalforce', 0), ('ieos', 2)], LONG: ints[:10], REAL: reals,
              DOUBLE: [('udist', 1.0), ('umass', 1.0), ('utime', 1.0), ('umagfd', 1.0)]}
    arrays = [('iorig', LONG, np.arange(1, n + 1))]
    arrays += [('xyz'[d], REAL, x[:, d]) for d in range(3)]
    arrays += [('v' + 'xyz'[d], REAL, v[:, d]) for d in range(3)]
    arrays += [('u', REAL, u), ('h', SINGLE, h),
               ('alpha', SINGLE, np.zeros(n) if alpha is None else alpha),
               ('divv', SINGLE, np.zeros(n))]
    with open(path, 'wb') as f:
        def record(data):
            mark = struct.pack('<i', len(data))
            f.write(mark + data + mark)

        def tags(names):
            record(b''.join(name.encode().ljust(16) for name in names))
        record(struct.pack('<id3i', 60769, 60878.0, 60878, 1, 690706))
        record(b'FT:Phantom:2026.0.1: (hydro): 01/01/2026 00:00:00.0'.ljust(100))
        for kind in range(8):
            rows = header.get(kind, [])
            record(struct.pack('<i', len(rows)))
            if rows:
                tags([r[0] for r in rows])
                record(np.array([r[1] for r in rows]).astype(KINDS[kind]).tobytes())
        record(struct.pack('<i', 2))
        numbers = [sum(a[1] == kind for a in arrays) for kind in range(8)]
        record(struct.pack('<q8i', n, *numbers))
        record(struct.pack('<q8i', 0, *[0] * 8))
        for name, kind, values in arrays:
            tags([name])
            record(np.asarray(values).astype(KINDS[kind]).tobytes())
