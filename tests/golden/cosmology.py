"""Why cosmological boxes differ from RAMSES's: with run_params/ramses_cosmology=.true., which
repeats the truncation errors of its tables of the expansion and of the growth, only rounding errors
remain; without it, expansion factor and positions differ as stated in the tour.

    cosmology.py

Example of a fault caught: the wrong point of RAMSES's table, a quadrature of the growth with
other steps.
"""
# test: tier=check timeout=300
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import compare  # noqa: E402
import golden  # noqa: E402
import read_ramses  # noqa: E402

CASE = 'cosmo_dm32'
STORED = 2.0 ** -28  # positions are stored as multiples of this


def main():
    v = ptah.Verdict()
    with open(os.path.join(ptah.DATA, 'golden', CASE + '.nml')) as f:
        text = f.read()
    ptah.unpack_ics('.', *ptah.ics_of(text))
    theirs, _ = golden.read(os.path.join(ptah.DATA, 'golden', CASE + '_00002.xz'))
    for on in True, False:
        folder = 'ramses' if on else 'ours'
        os.makedirs(folder)
        os.symlink('../ics', os.path.join(folder, 'ics'))
        how = 'run_params/ramses_cosmology=' + ('T' if on else 'F')
        r = ptah.simulate(text, folder, settings=['output_params/noutput=1', how])
        mine = read_ramses.load(ptah.output(r, 2))
        d = compare.distances(mine, theirs).max()
        a = abs(mine.info['aexp'] / theirs.info['aexp'] - 1)
        print('     %s: expansion factor %.2e, positions %.2e of the box' % (folder, a, d))
        if on:
            v.check('expansion factor', a, 1e-12)
            v.check('positions, largest, as stored', d, 1.8 * STORED, ' box')
            v.same('levels of the cells', bool(np.array_equal(mine.level, theirs.level)), True)
        else:
            v.same('without it they differ', a > 1e-8 and d > 5 * STORED, True)
    r = ptah.simulate(text, 'ours', settings=['run_params/nstepmax=1', 'run_params/dlna_max=0.02'],
                      options=['-o', 'short'])
    a = [float(step[3]) for step in golden.read_log(r.err)['fine']]
    v.same('dlna_max=0.02: steps of the expansion factor', 1.015 < a[1] / a[0] < 1.025, True)
    v.end()


if __name__ == '__main__':
    main()
