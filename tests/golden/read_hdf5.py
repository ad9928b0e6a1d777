"""An independent reader of checkpoints in the HDF5 layout of cuRAMSES, into the Snapshot of
read_ramses: leaf cells in Morton order with primitive variables, particles by ascending id. It
needs h5py, and shares no code with the programs it checks.

    s = load('output_00002')
"""
import glob
import os

import h5py
import numpy as np

from read_ramses import CURVE_LEVELS, Snapshot, morton, starts

HEADER = {'ncpu': 'ncpu', 'levelmin': 'levelmin', 'nlevelmax': 'levelmax',
          'nstep_coarse': 'nstep_coarse', 'boxlen': 'boxlen', 'time': 'time', 'aexp': 'aexp',
          'nvar': 'nvar', 'gamma': 'gamma'}
PARTS = {'x_1': 'position_x', 'x_2': 'position_y', 'x_3': 'position_z', 'v_1': 'velocity_x',
         'v_2': 'velocity_y', 'v_3': 'velocity_z', 'mass': 'mass', 'identity': 'identity',
         'levelp': 'levelp'}


def is_hdf5(directory):
    return bool(glob.glob(os.path.join(directory, 'data_*.h5')))


def primitive(f, level, leaf, nvar, gamma):
    u = [f['hydro/level_%d/uold_%d' % (level, v + 1)][:][leaf] for v in range(nvar)]
    c = {'density': u[0]}
    kinetic = 0
    for d, x in enumerate('xyz'):
        c['velocity_' + x] = u[1 + d] / u[0]
        kinetic = kinetic + 0.5 * u[1 + d] ** 2 / u[0]
    c['pressure'] = (gamma - 1) * (u[4] - kinetic)
    for v in range(5, nvar):
        c['scalar_%02d' % (v - 5)] = u[v] / u[0]
    return c


def load(directory):
    with h5py.File(glob.glob(os.path.join(directory, 'data_*.h5'))[0], 'r') as f:
        head = f['header'].attrs
        s = Snapshot({new: head[old][0] for old, new in HEADER.items()})
        keys, levels, cells = [], [], []
        for l in range(1, s.info['levelmax'] + 1):
            name = 'amr/level_%d' % l
            if name not in f:
                continue
            g = f[name]
            s.octs[l] = len(g['xg_1'])
            leaf = g['son_flag'][:] == 0
            centre = np.array([g['xg_%d' % (d + 1)][:] for d in range(3)])
            oct_at = np.floor(centre * 2 ** (l - 1)).astype(np.int64)
            cell = np.array([[k >> d & 1 for k in range(8)] for d in range(3)])
            at = (2 * oct_at[:, :, None] + cell[:, None, :]).reshape(3, -1)[:, leaf]
            keys.append(morton(at, l) << 3 * (CURVE_LEVELS - l))
            levels.append(np.full(leaf.sum(), l, np.uint8))
            c = primitive(f, l, leaf, s.info['nvar'], s.info['gamma']) if 'hydro' in f else {}
            for old, new in ('phi', 'phi'), ('f_1', 'acc_x'), ('f_2', 'acc_y'), ('f_3', 'acc_z'):
                if 'gravity' in f:
                    c[new] = f['gravity/level_%d/%s' % (l, old)][:][leaf]
            cells.append(c)
        if 'particles' in f:
            s.part = {new: f['particles/' + old][:] for old, new in PARTS.items()}
    order = np.argsort(np.concatenate(keys), kind='stable')
    s.level = np.concatenate(levels)[order]
    s.cell = {name: np.concatenate([c[name] for c in cells])[order] for name in cells[0]}
    if not np.array_equal(starts(s.level), np.concatenate(keys)[order]):
        raise IOError('%s: the leaf cells do not tile the box' % directory)
    if s.part:
        order = np.argsort(s.part['identity'], kind='stable')
        s.part = {name: v[order] for name, v in s.part.items()}
    return s
