"""A projection by yt and a map by Ptah agree to 9 digits: columns, mass-weighted means, orientation
of both axes, physical units.

    projection.py                     a small cosmological run, on three lines of sight
    projection.py CHECKPOINT FOLDER   this one; also both pictures, FOLDER/projection_{ptah,yt}.png

Examples of faults caught: a map turned, mirrored or shifted by a pixel, a column without the
length of the box, the weight of the volume for that of the mass, a unit with another a.
"""
# test: tier=check timeout=180
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import readers  # noqa: E402

DIGITS = 1e-9
# Ptah's field, yt's field, weight in yt, unit
FIELDS = [('density', ('gas', 'density'), None, 'g/cm**2'),
          ('pressure', ('gas', 'pressure'), ('gas', 'density'), 'erg/cm**3'),
          ('velocity_x', ('gas', 'velocity_x'), ('gas', 'density'), 'km/s')]


def load(path):
    import yt
    yt.set_log_level(50)
    return yt.load(os.path.join(path, 'info_%s.txt' % path.rstrip('/')[-5:]))


def by_us(path, field, axis, n):
    r = ptah.Run([ptah.program('inspect'), '-q', '-u', '--force', '-m', field, '-a', axis, '-n',
                  str(n), '-o', 'map.npy', path], '.')
    if r.status:
        print(r.err)
    return np.load('map.npy')


def by_yt(ds, field, weight, unit, axis, n):
    """Projection with rows along the second axis, as in Ptah's maps: yt looks along y from the
    other side (x after z)."""
    projection = ds.proj(field, axis, weight_field=weight)
    image = projection.to_frb(1.0, n)[field].to(unit).value
    return image.T if axis == 'y' else image


def compare(v, path, n):
    ds = load(path)
    for axis in 'zxy':
        for ours, theirs, weight, unit in FIELDS if axis == 'z' else FIELDS[::2]:
            a, b = by_us(path, ours, axis, n), by_yt(ds, theirs, weight, unit, axis, n)
            v.same('%s along %s: shape' % (ours, axis), a.shape, b.shape)
            v.check('%s along %s' % (ours, axis), abs(a - b).max() / abs(b).max(), DIGITS)
            if axis == 'z':
                v.same('%s: not the same turned' % ours, np.allclose(a.T, b, DIGITS, 0),
                       False)


def pictures(path, folder, n):
    import yt
    p = yt.ProjectionPlot(load(path), 'z', ('gas', 'density'), buff_size=(n, n),
                          origin='native')
    p.set_cmap(('gas', 'density'), 'inferno')
    p.set_figure_size(4)
    p.set_font_size(9)
    p.save(os.path.join(folder, 'projection_yt.png'), mpl_kwargs={'dpi': 110})
    ptah.Run([ptah.program('inspect'), '-q', '-u', '--force', '-m', 'density', '-n', str(n), '-o',
              os.path.join(folder, 'projection_ptah.png'), path], '.')


def main():
    warnings.simplefilter('ignore')
    v = ptah.Verdict()
    if sys.argv[1:]:
        compare(v, sys.argv[1], 256)
        pictures(sys.argv[1], sys.argv[2], 256)
    else:
        compare(v, list(readers.checkpoints())[-1], 128)
    v.end()


if __name__ == '__main__':
    main()
