"""Readers of the field find the tracers of a run by their family.

    tracers.py yt|osyris    their number, and the sum of their positions

Example of a fault caught: a family that is lost, or stored as matter; a column too many.
"""
# test: yt tier=check timeout=120
# test: osyris tier=check timeout=120
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
import read_ramses  # noqa: E402
import tracers as runs  # noqa: E402


def by_yt(path):
    try:
        import yt
    except ImportError:
        ptah.skip('no yt')
    yt.set_log_level(50)
    ds = yt.load(os.path.join(path, 'info_%s.txt' % path[-5:]))
    all_data = ds.all_data()
    box = read_ramses.read_info(path)['boxlen']  # yt's unit of length
    return [np.asarray(all_data['gas_tracer', 'particle_position_' + c].to('code_length')) * box
            for c in 'xyz']


def by_osyris(path):
    try:
        import osyris
    except ImportError:
        ptah.skip('no osyris')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        part = osyris.RamsesDataset(int(path[-5:]), path=os.path.dirname(path)).load()['part']
    at = part['family'].values == 0
    return [getattr(part['position'], c).to('cm').values[at] for c in 'xyz']  # the unit is 1 cm


def main():
    v = ptah.Verdict()
    r = ptah.simulate(runs.NAMELIST, 'run', ranks=2,
                      settings=['run_params/nstepmax=3', 'tracer_params/mc_tracer=T'])
    path = os.path.abspath(r.outputs[-1])
    part = read_ramses.load(path).part
    found = {'yt': by_yt, 'osyris': by_osyris}[sys.argv[1]](path)
    v.same('number of tracers', len(found[0]), len(part['identity']))
    for x, c in zip(found, 'xyz'):
        there = part['position_' + c]
        v.check('sum of positions along %s' % c, abs(x.sum() / there.sum() - 1), 1e-12)
    v.end()


if __name__ == '__main__':
    main()
