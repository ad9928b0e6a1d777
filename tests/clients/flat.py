"""Readers of the field open a checkpoint in two dimensions and find what our reader finds: leaf
cells, the sum of density over area, the largest density.

    flat.py osyris|pynbody

The yt of tests/requirements.txt opens no output of fewer than three dimensions, whoever wrote it.

Example of a fault caught: records of a third axis in a file of two dimensions.
"""
# test: osyris tier=check timeout=120
# test: pynbody tier=check timeout=120
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402


def by_pynbody(path):
    import pynbody
    gas = pynbody.load(path).gas
    return np.asarray(gas['rho']), np.asarray(gas['smooth'])


def by_osyris(path):
    import osyris
    path = os.path.abspath(path)
    info = read_ramses.read_info(path)
    mesh = osyris.RamsesDataset(int(path[-5:]), path=os.path.dirname(path)).load()['mesh']
    return (mesh['density'].to('g/cm**3').values / info['unit_d'],
            mesh['dx'].to('cm').values / info['unit_l'])


def main():
    warnings.simplefilter('ignore')
    v = ptah.Verdict()
    for ranks in (1, 2):
        r = ptah.simulate(os.path.join(ptah.DATA, 'golden', 'd2_kh.nml'), 'ranks%d' % ranks, ranks,
                          settings=['run_params/ndim=2', 'run_params/nstepmax=3',
                                    'output_params/foutput=3'])
        s = read_ramses.load(r.outputs[-1])
        rho, dx = {'pynbody': by_pynbody, 'osyris': by_osyris}[sys.argv[1]](r.outputs[-1])
        v.same('leaf cells', len(rho), len(s.level))
        mass = (s.cell['density'] * s.volume).sum()
        v.check('sum of density over area', abs((rho * dx ** 2).sum() / mass - 1), 1e-11)
        v.check('largest density', abs(rho.max() / s.cell['density'].max() - 1), 1e-11)
    v.end()


if __name__ == '__main__':
    main()
