"""Tracers compared with RAMSES (stable, October 2024): a blast in two dimensions, levels 5 to 7.

    tracers.py first    a run goes on from RAMSES's checkpoint with 12481 tracers, as classical ones
                        of first order: those of RAMSES at t = 1, to 1e-11 of the box and of the
                        largest velocity
    tracers.py inplace  placement in each cell: the numbers that its mass asks for, and as little
                        noise as in RAMSES

Example of a fault caught: a cloud on the wrong level or wrapped at the wrong face, the step of
another level, a velocity from before the step; a Poisson number of tracers in a cell.
"""
# test: first tier=check timeout=120
# test: inplace tier=check timeout=60
import lzma
import os
import sys
import tarfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = 0.5
TRACERS = 12481
NAMELIST = """
&RUN_PARAMS
hydro=.true.
tracer=.true.
nsubcycle=10*2
ndim=2
/
&AMR_PARAMS
levelmin=5
levelmax=7
boxlen=0.5
/
&INIT_PARAMS
nregion=2
region_type='square','point'
x_center=0.5,0.0
y_center=0.5,0.0
length_x=10.0,1.0
length_y=10.0,1.0
exp_region=10.0,10.0
d_region=1.0,0.0
p_region=1e-5,0.4
/
&OUTPUT_PARAMS
tout=0.0,0.3,1.0
/
&HYDRO_PARAMS
gamma=1.4
courant_factor=0.8
slope_type=1
/
&REFINE_PARAMS
err_grad_d=0.01
interpol_type=1
/
&TRACER_PARAMS
tracer_feed_fmt='inplace'
tracer_mass=2e-5
/
"""


def unpack(case):
    with tarfile.open(os.path.join(ptah.DATA, 'restart', case + '.tar.xz')) as t:
        t.extractall('.')


def first(v):
    unpack('tracers_2d')
    with lzma.open(os.path.join(ptah.DATA, 'golden', 'tracers_classical.txt.xz'), 'rt') as f:
        known = np.array([[float(x) for x in line.split()] for line in f])
    r = ptah.simulate(NAMELIST, 'run', options=['-r', '../output_00001', '--change-model'],
                      settings=['tracer_params/tracer_scheme=first', 'output_params/noutput=3'])
    p = read_ramses.load(r.outputs[-1]).part
    v.same('number of tracers', len(p['identity']), TRACERS)
    v.same('families', set(p['family'].tolist()), {0})
    fastest = np.abs(known[:, 3:]).max()
    at = np.searchsorted(p['identity'], known[:, 0])
    for d, axis in enumerate('xy'):
        off = p['position_' + axis][at] - known[:, 1 + d]
        v.check('position along %s, of the box' % axis,
                np.abs(off - BOX * np.rint(off / BOX)).max() / BOX, 1e-11)
        v.check('velocity along %s, of the largest' % axis,
                np.abs(p['velocity_' + axis][at] - known[:, 3 + d]).max() / fastest, 1e-11)


def noise(s, n=32):
    """chi^2 per bin of the tracers against the mass of the gas, on n^2 bins."""
    def grid(x, weights=None):
        return np.histogram2d(*x, bins=n, range=[[0, 1]] * 2, weights=weights)[0]
    p = s.part
    x = np.array([p['position_x'], p['position_y']]) / BOX
    wanted = grid(s.centres(), s.cell['density'] * s.volume) / p['mass'][0]
    return ((grid(x) - wanted) ** 2 / wanted).mean(), x


def inplace(v):
    unpack('tracers_2d')
    reference, _ = noise(read_ramses.load('output_00001'))
    (path,) = ptah.simulate(NAMELIST, 'run', settings=['run_params/nstepmax=0']).outputs
    s = read_ramses.load(path)
    found, x = noise(s)
    cells = s.centres()
    side = 2.0 ** s.level.max()
    count = {}
    for c in map(tuple, np.rint(x.T * 2 * side).astype(int).tolist()):
        count[c] = count.get(c, 0) + 1
    here = [count.pop(tuple(c), 0) for c in np.rint(cells.T * 2 * side).astype(int).tolist()]
    v.same('tracers that are not at the centre of a leaf cell', len(count), 0)
    wanted = s.cell['density'] * s.volume / 2e-5
    v.check('largest difference in a cell from what the mass asks for',
            np.abs(np.array(here) - wanted).max(), 1.0)
    fraction = wanted - np.floor(wanted)
    v.check('sum over all cells, in standard deviations',
            abs(sum(here) - wanted.sum()) / np.sqrt((fraction * (1 - fraction)).sum()), 4)
    v.check('chi^2 per bin %.4f, RAMSES %.4f: relative difference' % (found, reference),
            abs(found / reference - 1), 0.25)
    ids = s.part['identity']
    v.same('ids count from 1', bool((ids == np.arange(1, len(ids) + 1)).all()), True)


def main():
    v = ptah.Verdict()
    {'first': first, 'inplace': inplace}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
