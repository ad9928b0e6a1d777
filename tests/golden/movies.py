"""Frames of movies as RAMSES draws them: every pixel to 1e-6 of the maximum of its map.

    movies.py cams     five cameras on two explosions: plain, by density with a moving centre, a
                       turning 'cube' of selected cells, 'sphere' in perspective, 'max' turned
    movies.py cosmo    gas and dark matter seen along two axes

RAMSES shows the total energy instead of the pressure, mostly as a sum that is not divided by the
weights: P is not compared here (property/movies.py has it).

Example of a fault caught: an angle with the other sign, a pixel off by one, the weight of a level
that does not shrink with dx, a cell that touches the near end of the frame left out.
"""
# test: cams tier=check timeout=240 ranks=2
# test: cosmo tier=check timeout=240 ranks=2
import os
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import movies  # noqa: E402
import numpy as np  # noqa: E402
import ptah  # noqa: E402

AS_RAMSES = ['run_params/ramses_cosmology=.true.', 'run_params/use_fftw=.false.']
CASES = {'cams': ('movie_cams', ['output_params/noutput=1', 'output_params/tout=0.02'], 25),
         'cosmo': ('movie_cosmo32', AS_RAMSES + ['output_params/noutput=1',
                                                 'output_params/aout=0.101'], 16)}


def main(case):
    name, settings, number = CASES[case]
    v = ptah.Verdict()
    golden = os.path.join(ptah.DATA, 'golden', name)
    with tarfile.open(golden + '.tar.xz') as t:
        t.extractall('golden')
    if case == 'cosmo':
        ptah.unpack_ics('.', 'ic_32')
    with open(golden + '.nml') as f:
        ptah.simulate(f.read(), '.', 2, 1, settings, ['-q'])
    found, wanted = movies.maps('.'), movies.maps('golden')
    v.same('maps to compare', len(wanted), number)
    for k, path in wanted.items():
        if not v.same(k + ' is there', k in found, True):
            continue
        (head, a), (as_ramses, b) = movies.read(found[k]), movies.read(path)
        v.check(k + ': time and widths', abs(head - as_ramses).max(), 1e-12)
        v.check(k, abs(a - b).max() / np.abs(b).max(), 1e-6)
    v.end()


if __name__ == '__main__':
    main(sys.argv[1])
