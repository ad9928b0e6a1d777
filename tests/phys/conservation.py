"""On an adaptive mesh without gravity mass is conserved to 1e-14, energy and momentum to round-off.

Example of a fault caught: a missing correction where levels meet, a coarse cell that keeps its
own flux.
"""
# test: tier=check timeout=120
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

GAMMA = 1.4
MASS_LIMIT, OTHER_LIMIT = 1e-14, 2e-14

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=1,1,2,2
nstepmax=21
/
&AMR_PARAMS
levelmin=4
levelmax=7
nexpand=1
boxlen=1.0
/
&INIT_PARAMS
nregion=3
region_type(1)='square'
region_type(2)='square'
region_type(3)='square'
x_center=0.5,0.31,0.72
y_center=0.5,0.42,0.61
z_center=0.5,0.55,0.38
length_x=10.0,0.35,0.30
length_y=10.0,0.45,0.25
length_z=10.0,0.30,0.40
exp_region=10.0,2.0,10.0
d_region=1.0,3.0,0.4
u_region=0.10,-0.60,0.35
v_region=-0.05,0.40,0.20
w_region=0.07,0.15,-0.50
p_region=1.0,4.0,0.3
/
&OUTPUT_PARAMS
foutput=20
noutput=1
tout=100.0
/
&HYDRO_PARAMS
gamma=1.4
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=0.2
err_grad_p=0.2
interpol_var=0
interpol_type=1
/
"""


def totals(s):
    """(exact sums of mass, energy and momentum; sum of absolute momenta)"""
    c, volume = s.cell, s.volume
    speed2 = sum(c['velocity_' + x] ** 2 for x in 'xyz')
    energy = (c['pressure'] / (GAMMA - 1) + 0.5 * c['density'] * speed2) * volume
    momenta = [c['density'] * c['velocity_' + x] * volume for x in 'xyz']
    mass, energy = math.fsum(c['density'] * volume), math.fsum(energy)
    return mass, energy, [math.fsum(m) for m in momenta], np.abs(momenta).sum()


def main():
    v = ptah.Verdict()
    r = ptah.simulate(NAMELIST, '.', ranks=2)
    a, b = (read_ramses.load(ptah.output(r, n)) for n in (1, 2))
    print('     %d steps, %.1f s, octs a level %s' % (b.info['nstep_coarse'], r.seconds, b.octs))
    v.same('the mesh has changed', a.octs != b.octs, True)
    mass, energy, momentum, scale = totals(a)
    mass2, energy2, momentum2, _ = totals(b)
    v.check('mass', abs(mass2 / mass - 1), MASS_LIMIT)
    v.check('energy', abs(energy2 / energy - 1), OTHER_LIMIT)
    for x, p, q in zip('xyz', momentum, momentum2):
        v.check('momentum along ' + x, abs(q - p) / scale, OTHER_LIMIT)
    v.end()


if __name__ == '__main__':
    main()
