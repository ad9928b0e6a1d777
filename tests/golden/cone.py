#!/usr/bin/env python3
"""Slices of RAMSES's light cone, of a box of 32^3 particles, beside those of the same run by
simulate.

    cone.py narrow  in each slice the same number of particles; in those that are stored the same
                    particles: positions, velocities and redshifts to single precision
    cone.py sky     the whole sky to a=1: the same numbers of particles

Examples of faults caught: a replica too few, shells of one step before, an exact integral where
RAMSES has Romberg's to 1e-6, velocities that are not turned.
"""
# test: narrow tier=check timeout=200
# test: sky tier=long timeout=400
import glob
import os
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cones  # noqa: E402
import numpy as np  # noqa: E402
import ptah  # noqa: E402

# of RAMSES's run to a=1: step, particles
SKY = {212: 1040129, 213: 289392, 214: 15316}


def told(folder):
    """Number of particles, and both expansion factors, by the text files."""
    number, a = 0, None
    for path in glob.glob(folder + '/*.txt'):
        with open(path) as f:
            words = f.read().split()
        number += int(words[2])
        a = [float(w) for w in words[3:5]]
    return number, a


def nearest(mine, theirs):
    """Largest differences, by the nearest position."""
    from scipy.spatial import cKDTree
    x = [0, 2, 4]
    far, at = cKDTree(mine[:, x]).query(theirs[:, x])
    mine = mine[at]
    v = np.abs(mine[:, 1::2] - theirs[:, 1::2]).max() / np.abs(theirs[:, 1::2]).max()
    return len(set(at)) == len(at), far.max(), v, np.abs(mine[:, 6] - theirs[:, 6]).max()


def begin():
    with tarfile.open(os.path.join(ptah.DATA, 'golden', 'cone_narrow.tar.xz')) as t:
        t.extractall('.')
    with open('cone_narrow/cone_narrow.nml') as f:
        text = f.read()
    os.makedirs('run', exist_ok=True)
    ptah.unpack_ics('run', 'ic_32')
    return text


def narrow(v):
    r = ptah.simulate(begin(), 'run', settings=['run_params/ramses_cosmology=T'])
    v.same('the run ends', r.status, 0)
    for folder in sorted(glob.glob('cone_narrow/cone_?????')):
        name = os.path.basename(folder)
        (n, a), (m, b) = told(folder), told('run/' + name)
        v.same(name + ': particles', m, n)
        v.same(name + ': expansion factors', max(abs(x - y) for x, y in zip(a, b)) < 1e-14, True)
        if not glob.glob(folder + '/*.out?????'):
            continue
        once, x, u, z = nearest(cones.particles('run/' + name), cones.particles(folder))
        v.same(name + ': each particle once', once, True)
        v.check(name + ': positions', x, 2e-7, ' boxes')
        v.check(name + ': velocities', u, 1e-6)
        v.check(name + ': redshifts', z, 3e-7)


def sky(v):
    ptah.simulate(begin(), 'run', settings=[
        'run_params/ramses_cosmology=T', 'output_params/noutput=1', 'output_params/aout=1.0',
        'lightcone_params/thetay_cone=60', 'lightcone_params/thetaz_cone=30',
        'lightcone_params/zmax_cone=0.02'])
    v.same('steps', sorted(os.path.basename(d) for d in glob.glob('run/cone_?????')),
           ['cone_%05d' % k for k in SKY])
    for k, n in SKY.items():
        v.same('particles of step %d' % k, told('run/cone_%05d' % k)[0], n)


def main():
    v = ptah.Verdict()
    {'narrow': narrow, 'sky': sky}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
