"""Readers of the field find the tracers of a run by their family.

    tracers.py yt|osyris    tracers of gas and of sinks: number, and sum of the positions

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
import sink_tracers  # noqa: E402
import tracers as runs  # noqa: E402


def by_yt(path, family):
    try:
        import yt
    except ImportError:
        ptah.skip('no yt')
    yt.set_log_level(50)
    ds = yt.load(os.path.join(path, 'info_%s.txt' % path[-5:]))
    all_data = ds.all_data()
    box = read_ramses.read_info(path)['boxlen']  # yt's unit of length
    kind = {0: 'gas_tracer', -3: 'cloud_tracer'}[family]
    return [np.asarray(all_data[kind, 'particle_position_' + c].to('code_length')) * box
            for c in 'xyz']


def by_osyris(path, family):
    try:
        import osyris
    except ImportError:
        ptah.skip('no osyris')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        part = osyris.RamsesDataset(int(path[-5:]), path=os.path.dirname(path)).load()['part']
    at = part['family'].values == family
    unit = read_ramses.read_info(path)['unit_l']
    return [getattr(part['position'], c).to('cm').values[at] / unit for c in 'xyz']


def main():
    v = ptah.Verdict()
    r = ptah.simulate(runs.NAMELIST, 'run', ranks=2,
                      settings=['run_params/nstepmax=3', 'tracer_params/mc_tracer=T'])
    last = sink_tracers.ramses('sinks', 2)[-1]
    os.remove(os.path.join(last, 'sink_%s.csv' % last[-5:]))  # yt reads it by pandas only
    for path, family in (r.outputs[-1], 0), (last, 0), (last, -3):
        path = os.path.abspath(path)
        part = read_ramses.load(path).part
        mine = part['family'] == family
        found = {'yt': by_yt, 'osyris': by_osyris}[sys.argv[1]](path, family)
        v.same('number of tracers of family %d' % family, len(found[0]), mine.sum())
        for x, c in zip(found, 'xyz'):
            there = part['position_' + c][mine]
            v.check('sum of positions along %s' % c, abs(x.sum() / there.sum() - 1), 1e-12)
    v.end()


if __name__ == '__main__':
    main()
