"""Checkpoints as data sets of yt."""
import os

import numpy as np

from ptah._library import ParameterError
from ptah.checkpoint import Checkpoint

# Units of fields, as yt writes them.
CGS = {'density': ('density', 'g/cm**3'), 'velocity_x': ('velocity', 'cm/s'),
       'velocity_y': ('velocity', 'cm/s'), 'velocity_z': ('velocity', 'cm/s'),
       'pressure': ('pressure', 'dyn/cm**2')}


def curve(t, box):
    """The order of leaf cells along the tree, x slowest, and where each cell begins on this curve,
    in cells of the finest level; that level."""
    finest = int(t['level'].max())
    place, key = [], np.zeros(t.n, np.uint64)
    for axis in 'xyz':
        place.append(((t[axis] - t['dx'] / 2) * (2. ** finest / box)).round().astype(np.uint64))
    for bit in range(finest):
        for d in range(3):
            key |= (place[d] >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + 2 - d)
    order = np.argsort(key)
    return order, key[order], finest


def mask_of(start, level, finest):
    """yt's mask of a tree in depth-first order: 8 for a refined node, 0 for a leaf. Nodes that
    begin where a leaf begins stand before it."""
    top = level.astype(np.int64)
    for l in range(finest - 1, -1, -1):
        top = np.where((level > l) & (start % np.uint64(8 ** (finest - l)) == 0), l, top)
    before = level - top
    mask = np.full(int(before.sum()) + len(level), 8, np.uint8)
    mask[np.cumsum(before + 1) - 1] = 0
    return mask


def add_cosmology(ds, c):
    """Redshift, age and comoving units, for which yt's load_octree has no arguments."""
    ds.cosmological_simulation = 1
    ds.current_redshift, ds.hubble_constant = c.redshift, c.h0 / 100
    ds.omega_matter, ds.omega_lambda = c.omega_m, c.omega_l
    ds.set_units()
    ds.setup_cosmology()
    age = ds.cosmology.t_from_z(c.redshift).in_cgs().v
    ds.current_time = ds.quan(age, 's').to('code_time')


def load_ptah(path, fields=None, native=True):
    """A checkpoint of any format as a data set of yt. Outputs of RAMSES's format in directories
    output_NNNNN are read by yt's own reader (native=False: not), which reads their particles too;
    of others the cells are given to yt, all stored fields or those named. Of these, a sphere or
    region of yt has all cells that it touches, not only those whose centres are in it.

    >>> import ptah
    >>> ds = ptah.load_ptah('output_00002', fields=['density'], native=False)
    >>> float(ds.all_data()['gas', 'cell_mass'].sum().to('code_mass').round(4))
    0.1511
    >>> ball = ds.sphere([.5, .5, .5], (.1, 'code_length'))
    >>> len(ball['gas', 'density']) >= 158          # centres in it
    True
    >>> print('z = %.1f, %.1f' % (ds.current_redshift, ds.quan(1, 'code_length').to('Mpccm/h')))
    z = 32.2, 25.0
    """
    import yt
    with Checkpoint(path) as c:
        number = '%05d' % c.number
        folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))
        if native and c.format.startswith('RAMSES') and folder.endswith('output_' + number):
            return yt.load(os.path.join(folder, 'info_%s.txt' % number))
        if c.ndim != 3 or c.coarse_x * c.coarse_y * c.coarse_z != 1:
            raise ParameterError('%s: yt takes octrees of three dimensions and one coarse cell'
                                 % path)
        names = c.fields if fields is None else list(fields)
        t = c.cells(['x', 'y', 'z', 'dx', 'level', *names])
        order, start, finest = curve(t, c.boxlen)
        u = dict(c.units, pressure=c.units['density'] * c.units['velocity'] ** 2)
        data = {}
        for name in names:
            unit, word = CGS.get(name, (None, 'dimensionless'))
            values = t[name][order][:, None] * (u[unit] if unit else 1)
            data['gas' if unit else 'stream', name] = values, word
        ds = yt.load_octree(mask_of(start, t['level'][order], finest), data,
                            bbox=np.array([[0, c.boxlen]] * 3), num_zones=1, partial_coverage=0,
                            length_unit=(u['length'], 'cm'), mass_unit=(u['mass'], 'g'),
                            time_unit=(u['time'], 's'), velocity_unit=(u['velocity'], 'cm/s'),
                            sim_time=c.time, periodicity=(bool(c.periodic),) * 3,
                            parameters=dict(c.header), dataset_name=os.path.basename(folder))
        # yt 4.4 does not set this level of an octree, by which it finds the smallest cell: without
        # it a sphere of a given radius is an AttributeError.
        ds.index.max_level = finest
        if c.cosmology:
            add_cosmology(ds, c)
        return ds
