"""yt opens a checkpoint of a uniform mesh unchanged, as openPMD, with the values of the run.

Example of a fault caught: a missing attribute, a text that is an array, sides in the wrong order.
yt takes the first axis of the file, z, for its x.
"""
# test: tier=check timeout=180
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import grid_files  # noqa: E402
import ptah  # noqa: E402


def main():
    warnings.simplefilter('ignore')
    try:
        import yt
    except ImportError:
        ptah.skip('there is no yt')
    yt.set_log_level(50)
    v = ptah.Verdict()
    n, length = (12, 8, 6), (6.0, 4.0, 3.0)
    fields = grid_files.smooth(n, length, grid_files.FLOW + ('s',) + grid_files.POTENTIAL)
    path = grid_files.write('.', 7, n, length, fields, ['t=2.5'])
    ds = yt.load(os.path.join(path, 'stencil_00007.h5'))
    v.same('frontend', type(ds).__name__, 'OpenPMDDataset')
    v.same('cells', list(ds.domain_dimensions), [6, 8, 12])
    v.same('box', list(np.array(ds.domain_right_edge)), [3.0, 4.0, 6.0])
    v.same('time', float(ds.current_time), 2.5)
    grid = ds.covering_grid(0, ds.domain_left_edge, ds.domain_dimensions)
    names = {'lnrho': 'lnrho', 's': 's', 'u_x': 'ux', 'u_z': 'uz', 'a_y': 'ay'}
    for theirs, ours in names.items():
        v.same(theirs, bool((np.array(grid['openPMD', theirs]) == fields[ours]).all()), True)
    v.same('fields', sorted(f for _, f in ds.field_list),
           ['a_x', 'a_y', 'a_z', 'lnrho', 's', 'u_x', 'u_y', 'u_z'])
    v.end()


if __name__ == '__main__':
    main()
