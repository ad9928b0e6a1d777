"""Readers of the field open the octree of smoothed particles that convert --deposit writes: leaf
cells, mass, and the largest density are those of our reader.

    deposited.py yt|osyris

Example of a fault caught: boundaries of open space that RAMSES would not have written.
"""
# test: yt tier=check timeout=120
# test: osyris tier=check timeout=120
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import phantom_files  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402


def by_yt(path, info):
    import yt
    yt.set_log_level('error')
    box = yt.load(os.path.join(path, 'info_%s.txt' % path[-5:])).all_data()
    return (np.asarray(box['gas', 'density']) / info['unit_d'],
            np.asarray(box['index', 'dx'].to('cm')) / info['unit_l'])


def by_osyris(path, info):
    import osyris
    mesh = osyris.RamsesDataset(int(path[-5:]), path=os.path.dirname(path)).load()['mesh']
    return (mesh['density'].to('g/cm**3').values / info['unit_d'],
            mesh['dx'].to('cm').values / info['unit_l'])


def main():
    warnings.simplefilter('ignore')
    v = ptah.Verdict()
    n = 500
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 3)) * rng.random((n, 1))  # a cloud in open space
    h = 0.02 + 0.3 * (x**2).sum(axis=1)
    phantom_files.write('cloud_00001', x, rng.normal(size=(n, 3)), np.ones(n), h)
    out = os.path.abspath('output_00001')
    r = ptah.Run([ptah.program('convert'), '-q', '--deposit', '-f', 'ramses', '-o', out,
                  'cloud_00001'], '.')
    v.same('convert', (r.status, r.err), (0, ''))
    s = read_ramses.load(out)
    rho, dx = {'yt': by_yt, 'osyris': by_osyris}[sys.argv[1]](out, read_ramses.read_info(out))
    v.same('leaf cells', len(rho), len(s.level))
    v.check('mass', abs((rho * dx**3).sum() - 1), 1e-11)
    v.check('largest density', abs(rho.max() / s.cell['density'].max() - 1), 1e-11)
    v.end()


if __name__ == '__main__':
    main()
