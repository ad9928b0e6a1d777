"""Cells whose octs are removed get the ions of equilibrium with upload_equilibrium_x.

Photons ionise a part of the box and vanish, and with them the mesh that followed them. Few of the
ions are in equilibrium with the photons that are left, so that merged cells have less than half of
the ions of a run without. Equal digests on 1 and 3 ranks, and with the gas on a device.

Example of a fault caught: cells that keep their ions, also in ghosts only; no photons, or those of
another cell.
"""
# test: tier=check timeout=60 ranks=3
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'golden'))
import parameter_runs  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

TEXT = parameter_runs.text_of(parameter_runs.FADING)
MERGES = 'rt_params/upload_equilibrium_x=.true.'
DEVICE = ['run_params/gpu_hydro=.true.', "run_params/gpu_device='host'"]


def run(folder, *settings, ranks=1):
    return ptah.simulate(TEXT, folder, ranks, settings=settings)


def ions(r, number):
    """Keys of the leaf cells of level 3, and their x_HII."""
    s = read_ramses.load(ptah.output(r, number))
    base = s.level == 3
    x = np.round(s.centres()[:, base] * 64).astype(int)
    return dict(zip(map(tuple, x.T), s.cell['x_HII'][base]))


def main():
    v = ptah.Verdict()
    plain, merged = run('plain'), run('merged', MERGES)
    first, without, with_it = ions(plain, 1), ions(plain, 2), ions(merged, 2)
    v.same('the same leaf cells', sorted(without) == sorted(with_it), True)
    gone = [k for k in without if k not in first]
    v.same('cells are merged', len(gone) > 10, True)
    ionised = [k for k in gone if without[k] > 0.01]
    v.same('merged cells that were ionised', len(ionised) > 3, True)
    v.check('ions that are left', max(with_it[k] / without[k] for k in ionised), 0.5)
    one = ptah.digest(ptah.output(merged, 4))
    for name, r in (('three ranks', run('three', MERGES, ranks=3)),
                    ('a device', run('device', MERGES, *DEVICE))):
        v.same(name, ptah.digest(ptah.output(r, 4)), one)
    v.end()


main()
