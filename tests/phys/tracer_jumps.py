"""Monte-Carlo tracers against the laws of their jumps.

    tracer_jumps.py uniform    a uniform flow on one level: the mean displacement is that of the
                               flow, the variance that of a walk with the Courant number p as the
                               probability of a jump along an axis: sum of dx^2 p (1 - p)
    tracer_jumps.py levels     a dense square that moves over three levels: as many tracers as the
                               mass asks for in each leaf cell, also where the flow enters or leaves
                               a level
    tracer_jumps.py deep       five levels that grow around a shock tube: chi^2 per leaf cell, from
                               the start on
    tracer_jumps.py blast      Sedov's blast in two dimensions: chi^2 per bin, and all tracers
                               exactly at the centres of leaf cells

Example of a fault caught: probabilities of another step or mass, a tracer that jumps twice where
levels meet, tracers that reach a finer level after its steps (there cells behind the boundary have
an excess of half a Courant number), children chosen by volume, a tracer three levels finer that is
taken for one at the centre of the coarse cell.
"""
# test: uniform tier=check timeout=60
# test: levels tier=check timeout=60
# test: deep tier=check timeout=60
# test: blast tier=check timeout=60 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
tracer=.true.
ndim=2
nsubcycle=10*2
nstepmax=%(steps)d
/
&AMR_PARAMS
levelmin=%(low)d
levelmax=%(high)d
boxlen=%(box)g
/
&INIT_PARAMS
nregion=2
region_type='square','%(shape)s'
x_center=%(centre)s
y_center=%(centre)s
length_x=10.0,%(size)g
length_y=10.0,%(size)g
exp_region=10.0,10.0
d_region=%(d)s
u_region=%(u)s
v_region=%(v)s
p_region=%(p)s
/
&OUTPUT_PARAMS
foutput=%(steps)d
/
&HYDRO_PARAMS
riemann='hllc'
courant_factor=0.8
/
&REFINE_PARAMS
err_grad_d=0.05
interpol_type=1
/
&TRACER_PARAMS
MC_tracer=.true.
tracer_feed_fmt='inplace'
tracer_mass=%(mass)g
/
"""
FLOW = {'low': 6, 'high': 6, 'box': 1, 'shape': 'square', 'centre': '0.5,0.45', 'size': 0.3,
        'd': '1.0,1.0', 'u': '0.8,0.8', 'v': '-0.3,-0.3', 'p': '0.1,0.1', 'steps': 20}


def state(path):
    s = read_ramses.load(path)
    x = np.array([s.part['position_x'], s.part['position_y']]).T
    return s, x, np.argsort(s.part['identity'])


def uniform(v):
    first, last = ptah.simulate(NAMELIST % {**FLOW, 'mass': 2.5e-5}, 'run').outputs
    (a, x0, i0), (b, x1, i1) = state(first), state(last)
    dx = 1 / 64
    for axis, speed in enumerate((0.8, -0.3)):
        way = x1[i1, axis] - x0[i0, axis]
        way -= np.rint(way)
        n, mean = len(way), speed * b.info['time']
        # the steps are equal but for rounding
        p = abs(mean) / FLOW['steps'] / dx
        variance = FLOW['steps'] * dx ** 2 * p * (1 - p)
        v.check('mean along %s, in standard deviations' % 'xy'[axis],
                abs(way.mean() - mean) / np.sqrt(variance / n), 4)
        v.check('variance %.4g, of a walk %.4g: ratio - 1' % (way.var(), variance),
                abs(way.var() / variance - 1), 4 * np.sqrt(2 / n))


def cells(s, x):
    """Numbers of tracers that leaf cells have, and of those that are in no centre of one."""
    side = 2 ** (int(s.level.max()) + 1)
    box = s.info['boxlen']

    def key(at):
        i = np.rint(at * side).astype(int)
        return i[:, 0] * 4 * side + i[:, 1]
    leaf = key(s.centres().T)
    order = np.argsort(leaf)
    mine = key(x / box)
    at = np.minimum(np.searchsorted(leaf[order], mine), len(leaf) - 1)
    right = leaf[order][at] == mine
    return np.bincount(order[at[right]], minlength=len(leaf)), (~right).sum()


def coarser(s, offset):
    """Leaf cells that have a coarser one at this offset, in cells."""
    n = 2 ** int(s.level.max())
    x = s.centres()
    image = np.zeros((n, n), int)
    for level in np.unique(s.level).tolist():
        some = s.level == level
        wide = n >> level
        low = np.rint(x[:, some] * n - wide / 2).astype(int)
        for i in range(wide):
            for j in range(wide):
                image[low[0] + i, low[1] + j] = level
    wide = 0.5 ** s.level.astype(float)
    beside = [np.floor((x[d] + offset[d] * wide) * n).astype(int) % n for d in (0, 1)]
    return image[tuple(beside)] < s.level


def levels(v):
    text = NAMELIST % {**FLOW, 'low': 5, 'high': 7, 'd': '1.0,3.0', 'mass': 2e-6, 'steps': 12}
    s, x, _ = state(ptah.simulate(text, 'run').outputs[-1])
    h, lost = cells(s, x)
    e = s.cell['density'] * s.volume / 2e-6
    v.same('tracers outside the centres of leaf cells', lost, 0)
    v.same('levels', sorted(set(s.level.tolist())), [5, 6, 7])
    v.check('chi^2 per leaf cell', ((h - e) ** 2 / e).mean(), 1.1)
    for name, offset in (('left', (-1, 0)), ('right', (1, 0)), ('below', (0, -1)),
                         ('above', (0, 1))):
        some = coarser(s, offset)
        v.check('%d cells with a coarser one %s: excess %.4f, in standard deviations' % (
            some.sum(), name, h[some].sum() / e[some].sum() - 1),
            abs(h[some].sum() - e[some].sum()) / np.sqrt(e[some].sum()), 4)


def deep(v):
    text = NAMELIST % {**FLOW, 'low': 4, 'high': 8, 'd': '1.0,3.0', 'p': '0.1,1.0',
                       'u': '0.0,0.0', 'v': '0.0,0.0', 'mass': 1e-5, 'steps': 8}
    for path in ptah.simulate(text, 'run').outputs:
        s, x, _ = state(path)
        h, lost = cells(s, x)
        e = s.cell['density'] * s.volume / 1e-5
        v.same('tracers outside the centres of leaf cells', lost, 0)
        for level in np.unique(s.level).tolist():
            some = s.level == level
            v.check('chi^2 per leaf cell of level %d' % level,
                    ((h - e) ** 2 / e)[some].mean(), 1 + 5 * np.sqrt(2 / some.sum()))


def blast(v):
    text = NAMELIST % {**FLOW, 'low': 5, 'high': 7, 'box': 0.5, 'shape': 'point', 'size': 1,
                       'centre': '0.25,0.2', 'd': '1.0,0.0', 'u': '0.0,0.0', 'v': '0.0,0.0',
                       'p': '1e-5,0.4', 'mass': 1e-5, 'steps': 150}
    s, x, _ = state(ptah.simulate(text, 'run', ranks=2).outputs[-1])
    h, lost = cells(s, x)
    v.same('tracers outside the centres of leaf cells', lost, 0)
    c = s.centres()
    bins = {'bins': 32, 'range': [[0, 1]] * 2}
    e = np.histogram2d(*c, weights=s.cell['density'] * s.volume / 1e-5, **bins)[0]
    n = np.histogram2d(*c, weights=h, **bins)[0]
    # where the gas moved: elsewhere the stratified sample of the start is still there
    moved = np.abs(e * 1e-5 * 4096 - 1) > 0.05
    chi, bins = ((n - e) ** 2 / e)[moved].mean(), moved.sum()
    v.check('chi^2 per bin of %d %.3f, from 1' % (bins, chi), abs(chi - 1),
            5 * np.sqrt(2 / bins))


def main():
    v = ptah.Verdict()
    {'uniform': uniform, 'levels': levels, 'deep': deep, 'blast': blast}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
