"""Sod's shock tube (gamma 1.4, t = 0.25) against the exact solution, as a plane in the 3-D code.

    sod.py uniform|directions|amr|fine

Limits as in the Athena suite (hydro/sod_shock.py): root of the summed squares of the L1 errors of
the conserved variables at most 0.011 for 128 cells, at most 0.6 of it for twice the cells; the same
number of steps in x, y and z. Example of a fault caught: a wave speed estimate that misses the
faster wave, a slope across the wrong face.
"""
# test: uniform tier=check timeout=180
# test: directions tier=check timeout=120
# test: amr tier=check timeout=300
# test: fine tier=long timeout=300
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import riemann  # noqa: E402

GAMMA, END = 1.4, 0.25
LEFT, RIGHT = (1.0, 0.0, 1.0), (0.125, 0.0, 0.1)
LIMIT_128, RATIO = 0.011, 0.6

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=10*1
/
&AMR_PARAMS
levelmin={levelmin}
levelmax={levelmax}
nexpand=1
boxlen=1.0
/
&BOUNDARY_PARAMS
nboundary=2
{i}bound_min=-1,1
{i}bound_max=-1,1
bound_type=2,2
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,{xc}
y_center=0.5,{yc}
z_center=0.5,{zc}
length_x=10.0,{lx}
length_y=10.0,{ly}
length_z=10.0,{lz}
exp_region=10.0,10.0
d_region=0.125,1.0
p_region=0.1,1.0
/
&OUTPUT_PARAMS
noutput=1
tout=0.25
/
&HYDRO_PARAMS
gamma=1.4
courant_factor=0.8
slope_type=2
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=0.01
err_grad_p=0.02
interpol_var=0
interpol_type=1
/
"""


def run(levelmin, levelmax, axis=0):
    half = [0.5, 0.5, 0.5]
    length = [10.0, 10.0, 10.0]
    half[axis], length[axis] = 0.0, 1.0  # the left half of the box
    text = NAMELIST.format(levelmin=levelmin, levelmax=levelmax, i='ijk'[axis], xc=half[0],
                           yc=half[1], zc=half[2], lx=length[0], ly=length[1], lz=length[2])
    r = ptah.simulate(text, 'sod_%d_%d_%s' % (levelmin, levelmax, 'xyz'[axis]))
    s = read_ramses.load(ptah.output(r, 2))
    print('     levels %d to %d along %s: %d steps, %.1f s, %d leaf cells'
          % (levelmin, levelmax, 'xyz'[axis], s.info['nstep_coarse'], r.seconds, len(s.level)))
    return s


def coordinate(s, axis):
    """Centres of the leaf cells along an axis, from their positions on the curve."""
    start = read_ramses.starts(s.level)
    x = np.zeros(len(start))
    for b in range(read_ramses.CURVE_LEVELS):
        x += (start >> (3 * b + axis) & 1) * 2.0 ** b
    return x * 0.5 ** read_ramses.CURVE_LEVELS + 0.5 ** (s.level.astype(float) + 1)


def conserved(rho, u, p):
    return np.array([rho, rho * u, p / (GAMMA - 1) + 0.5 * rho * u ** 2])


def error(s, axis=0):
    """Root of the summed squares of L1 errors, at the end time of the run."""
    x = coordinate(s, axis) - 0.5
    exact = conserved(*riemann.solve(x, s.info['time'], LEFT, RIGHT, GAMMA))
    c = s.cell
    mine = conserved(c['density'], c['velocity_' + 'xyz'[axis]], c['pressure'])
    return np.sqrt(((np.abs(mine - exact) * s.volume).sum(1) ** 2).sum())


def sideways(v, s, axis=0):
    for k in range(3):
        if k != axis:
            name = 'velocity_' + 'xyz'[k]
            v.check(name, np.abs(s.cell[name]).max(), 1e-9)


def uniform(v):
    coarse, fine = run(5, 5), run(6, 6)
    a, b = error(coarse), error(fine)
    print('     error with 32 cells %.4f, with 64 %.4f' % (a, b))
    v.check('ratio of the errors, 64 to 32 cells', b / a, RATIO)
    v.check('error with 64 cells', b, LIMIT_128 / RATIO)
    sideways(v, fine)


def directions(v):
    runs = [run(5, 5, axis) for axis in range(3)]
    for axis in (1, 2):
        v.same('steps along ' + 'xyz'[axis],
               runs[axis].info['nstep_coarse'], runs[0].info['nstep_coarse'])
        v.check('error along %s less that along x' % 'xyz'[axis],
                abs(error(runs[axis], axis) / error(runs[0]) - 1), 1e-12)


def amr(v):
    s = run(4, 7)
    v.check('error with levels 4 to 7', error(s), LIMIT_128)
    sideways(v, s)


def fine(v):
    coarse, fine = run(6, 6), run(7, 7)
    v.check('error with 128 cells', error(fine), LIMIT_128)
    v.check('ratio of the errors, 128 to 64 cells', error(fine) / error(coarse), RATIO)


def main():
    v = ptah.Verdict()
    {'uniform': uniform, 'directions': directions, 'amr': amr, 'fine': fine}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
