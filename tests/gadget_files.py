"""Snapshots of Gadget, SWIFT and monofonIC for tests, written by code of their own: binary of
format 1 and 2, HDF5."""
import os
import struct

import numpy as np

BOX = 20.0  # Mpc/h
A, OMEGA_M, OMEGA_L, H = 0.02, 0.3, 0.7, 0.7
CRITICAL = 27.7536627  # 1e10 solar masses / h per (Mpc/h)³


def particles(n=8, seed=3, types=(1,)):
    """{type: (x, v, id, mass)}: a displaced lattice of n³ particles, divided among types in turn;
    x in Mpc/h, v in km/s, masses in 1e10 solar masses / h. Single precision can hold all but the
    masses."""
    rng = np.random.default_rng(seed)
    k = np.arange(n) + 0.5
    x = np.stack(np.meshgrid(k, k, k, indexing='ij'), -1).reshape(-1, 3) * BOX / n
    x = (x + rng.normal(0, 0.1 * BOX / n, x.shape)) % BOX
    x[0] = 0.0
    x = x.astype(np.float32).astype(float)
    v = rng.normal(0, 30, x.shape).astype(np.float32).astype(float)
    ids = rng.permutation(len(x)) + 1
    share = rng.uniform(0.5, 1.5, len(x)) if len(types) > 1 else np.ones(len(x))
    m = OMEGA_M * CRITICAL * BOX ** 3 * share / share.sum()
    return {t: (x[i::len(types)], v[i::len(types)], ids[i::len(types)], m[i::len(types)])
            for i, t in enumerate(types)}


def part(p, k, files):
    """File k of several: an uneven share, so that rows of a file do not follow from its number."""
    def cut(n, k):
        return n if k == files else n * k * k // files ** 2
    return {t: tuple(c[cut(len(c), k):cut(len(c), k + 1)] for c in columns)
            for t, columns in p.items()}


def record(order, data):
    mark = struct.pack(order + 'i', len(data))
    return mark + data + mark


def header(here, total, table, files, order, unit, **change):
    """The 256 bytes of a binary header."""
    h = dict(time=A, redshift=1 / A - 1, box=BOX / unit, omega_m=OMEGA_M, omega_l=OMEGA_L, h=H)
    h.update(change)
    b = struct.pack(order + '6i6d2d2i6Iii4d2i6Ii', *[here.get(t, 0) for t in range(6)],
                    *[table.get(t, 0.0) for t in range(6)], h['time'], h['redshift'], 0, 0,
                    *[total.get(t, 0) for t in range(6)], 0, files, h['box'], h['omega_m'],
                    h['omega_l'], h['h'], 0, 0, *[0] * 6, 0)
    return b.ljust(256, b'\0')


def binary(path, p, named=False, order='<', real='f4', whole='u4', files=1, unit=1.0, table=True,
           always=False, **change):
    """Writes a snapshot; unit: of length, Mpc/h. table: masses in the header where they are
    equal. always: numbers in the names of a single file too."""
    total = {t: len(c[2]) for t, c in p.items()}
    masses = {t: c[3][0] for t, c in p.items() if table and len(set(c[3])) == 1}
    for k in range(files):
        q = part(p, k, files)
        here = {t: len(c[2]) for t, c in q.items()}
        blocks = [('HEAD', header(here, total, masses, files, order, unit, **change))]

        def block(name, column, dtype, scale=1):
            data = [np.asarray(c[column]) * scale for t, c in sorted(q.items())
                    if name != 'MASS' or t not in masses]
            if data:
                blocks.append((name, np.concatenate(data).astype(order + dtype).tobytes()))
        block('POS ', 0, real, 1 / unit)
        block('VEL ', 1, real, A ** -0.5)
        block('ID  ', 2, whole)
        if named:
            blocks.append(('ACCE', b'\0' * 24))  # a block that no reader of these tests knows
        block('MASS', 3, real)
        name = '%s.%d' % (path, k) if files > 1 or always else path
        with open(name, 'wb') as f:
            for label, data in blocks:
                if named:
                    f.write(record(order, struct.pack(order + '4si', label.encode(),
                                                      len(data) + 8)))
                f.write(record(order, data))


def hdf5(path, p, code='gadget4', real='f8', whole='u8', files=1, unit=1.0, table=False,
         chunks=None, filters=False, order='<', **change):
    """Writes BASE.hdf5 or BASE.0.hdf5 …; code: gadget3 (cosmology and totals of 32 bits in the
    header), gadget4, monofonic (as gadget3 without units), swift (no h, peculiar velocities)."""
    import h5py
    swift = code == 'swift'
    types = 7 if swift else 6
    total = np.array([len(p[t][2]) if t in p else 0 for t in range(types)])
    base = path[:-len('.hdf5')]
    h = dict(box=BOX, a=A, omega_m=OMEGA_M, omega_l=OMEGA_L, h=H)
    h.update(change)
    length = 1 / h['h'] if swift else 1 / unit
    for k in range(files):
        q = part(p, k, files)
        with h5py.File('%s.%d.hdf5' % (base, k) if files > 1 else path, 'w') as f:
            head = f.create_group('Header').attrs
            head['NumPart_ThisFile'] = np.array([len(q[t][2]) if t in q else 0
                                                 for t in range(types)], 'u4')
            head['NumPart_Total'] = total.astype('u4' if code == 'gadget3' else 'u8')
            if code != 'gadget4':
                head['NumPart_Total_HighWord'] = np.zeros(types, 'u4')
            masses = np.array([p[t][3][0] if table and t in p else 0.0 for t in range(types)])
            head['MassTable'] = masses
            head['Time'] = [h['a']] if swift else h['a']
            head['Redshift'] = 1 / h['a'] - 1
            head['BoxSize'] = h['box'] * length * (np.ones(3) if swift else 1)
            head['NumFilesPerSnapshot'] = files
            where = f.create_group('Parameters').attrs if code == 'gadget4' else head
            if swift:
                u = f.create_group('Units').attrs
                u['Unit length in cgs (U_L)'] = [3.0856776e24]
                u['Unit mass in cgs (U_M)'] = [1.98841e43]
                u['Unit time in cgs (U_t)'] = [3.0856776e19]
                where = f.create_group('Cosmology').attrs if not change.get('bare') else {}
                where['Omega_m'], where['Omega_lambda'] = [h['omega_m']], [h['omega_l']]
                where['h'], where['Scale-factor'] = [h['h']], [h['a']]
            else:
                where['Omega0'], where['OmegaLambda'] = h['omega_m'], h['omega_l']
                where['HubbleParam'] = h['h']
            if code == 'gadget4':
                where['UnitLength_in_cm'] = 3.0856776e24 * unit
                where['UnitMass_in_g'] = 1.98841e43
                where['UnitVelocity_in_cm_per_s'] = 1e5
            for t, (x, v, ids, m) in q.items():
                g = f.create_group('PartType%d' % t)
                sets = {'Coordinates': (x * length, real),
                        'Velocities': (v * (1 if swift else A ** -0.5), real),
                        'ParticleIDs': (ids, whole),
                        'Masses': (m / (h['h'] if swift else 1), real)}
                for name, (data, dtype) in sets.items():
                    if name == 'Masses' and masses[t]:
                        continue
                    more = {}
                    if chunks and len(data):
                        more = dict(chunks=(min(chunks, len(data)),) + data.shape[1:])
                    if filters and more:
                        more.update(compression='gzip', shuffle=True, fletcher32=True)
                    g.create_dataset(name, data=data.astype(order + dtype), **more)
    return os.path.abspath(base)
