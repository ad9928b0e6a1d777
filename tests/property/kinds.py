"""Initial states by name (condinit_kind) and by formulas (init_expr).

    kinds.py states      regions and formulas give a shock tube the same bits; a formula of a kind
                         gives those of the kind; the same bits on three ranks and after a restart
    kinds.py golden      the vortex of Orszag and Tang by name is the reference code's
    kinds.py core        the collapsing core: mass and ratios of energies
    kinds.py refusals    what cannot be done is refused in a sentence

Example of a fault caught: a potential that is sampled once along an edge that touches finer cells,
so that div B is not 0 where levels meet; a formula evaluated at the wrong end of a periodic axis.
"""
# test: states tier=check timeout=120 ranks=3
# test: golden tier=check timeout=60
# test: core tier=check timeout=60
# test: refusals tier=check timeout=60
import glob
import math
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'golden'))
import golden  # noqa: E402
import read_ramses  # noqa: E402

BOX = """&RUN_PARAMS
hydro=.true.
ndim=%(ndim)d
mhd=%(mhd)s
nstepmax=%(steps)d
nsubcycle=1,2
/
&AMR_PARAMS
levelmin=%(levels)s
boxlen=%(box)g
/
&INIT_PARAMS
%(init)s
/
&OUTPUT_PARAMS
foutput=2
tend=1e9
/
&HYDRO_PARAMS
gamma=1.6666667
slope_type=1
/
&REFINE_PARAMS
%(refine)s
/
"""
REGIONS = """nregion=2
region_type='square','square'
x_center=0.25,0.75
length_x=0.5,0.5
exp_region=10,10
d_region=1,0.125
p_region=1,0.1"""
FORMULAS = "init_expr='left = x < 0.5', 'rho = if(left, 1, 0.125); p = if(left, 1, 0.1)'"
VORTEX = """init_expr='rho = 25/(36*pi); p = 5/(12*pi); u = -sin(2*pi*(y/boxlen))',
'v = sin(2*pi*(x/boxlen)); w = 0; b0 = 1/sqrt(4*pi)',
'az = boxlen*b0*(cos(4*pi*(x/boxlen))/(4*pi) + cos(2*pi*(y/boxlen))/(2*pi))'"""


def box(init, ndim=1, mhd=False, levels='5\nlevelmax=7', size=1.0, steps=4,
        refine='err_grad_d=0.05'):
    return BOX % {'ndim': ndim, 'mhd': '.true.' if mhd else '.false.', 'levels': levels,
                  'box': size, 'init': init, 'refine': refine, 'steps': steps}


def digests(v, name, namelist, ranks=1, options=()):
    r = ptah.simulate(namelist, name, ranks=ranks, options=options)
    v.same(name + ': status', r.status, 0)
    return [ptah.digest(o) for o in r.outputs], r


def states(v):
    regions, _ = digests(v, 'regions', box(REGIONS))
    v.same('formulas are regions', digests(v, 'formulas', box(FORMULAS))[0], regions)
    kind = {'ndim': 2, 'mhd': True, 'levels': '4\nlevelmax=6', 'refine': 'err_grad_b2=0.1'}
    vortex, _ = digests(v, 'vortex', box("condinit_kind='orszag_tang'", **kind))
    v.same('formulas are the kind', digests(v, 'expressed', box(VORTEX, **kind))[0], vortex)
    screw = box("condinit_kind='ponomarenko'", ndim=3, mhd=True, size=6.0, steps=2,
                levels='4\nlevelmax=6\nnexpand=1',
                refine='r_refine=1.1,0.6\nx_refine=2.2,2.2\ny_refine=2.8,2.8\nz_refine=2.4,2.1')
    one, r = digests(v, 'screw', screw)
    found = re.search(r'\|div B\| dx is at most (\S+) of', r.err)
    v.check('div B where levels meet', float(found.group(1)) if found else 1, 1e-15)
    v.same('three ranks', digests(v, 'ranks', screw, ranks=3)[0], one)
    again, _ = digests(v, 'again', screw, options=['-r', os.path.abspath(r.outputs[0])])
    v.same('restart', again[-1], one[-1])


def reference(v):
    """The run of the reference code from its start: a uniform mesh, 18 steps."""
    case = 'm2_ot_uni'
    namelist = os.path.join(ptah.DATA, 'golden', case + '.nml')
    r = ptah.simulate(namelist, '.', options=['--build', 'NDIM=2 SOLVER=mhd'], settings=[
        'init/condinit_kind=orzag_tang', 'init/nregion=0', 'output/foutput=1000'])
    v.same('status', r.status, 0)
    paths = sorted(glob.glob(os.path.join(ptah.DATA, 'golden', case + '_0*.xz')))
    v.same('there is a reference', bool(paths), True)
    for path in paths:
        theirs, _ = golden.read(path)
        mine = read_ramses.load(ptah.output(r, int(theirs.info['number'])))
        v.check('time', abs(mine.info['time'] - theirs.info['time']), 1e-13)
        for field, b in theirs.cell.items():
            v.check(field, np.abs(mine.cell[field] - b).max() / max(np.abs(b).max(), 1), 1e-11)


CORE = """&RUN_PARAMS
hydro=.true.
poisson=.true.
nstepmax=0
mhd=.true.
/
&AMR_PARAMS
levelmin=6
levelmax=7
boxlen=4
/
&INIT_PARAMS
condinit_kind='collapse'
alpha_dense_core=0.4
beta_dense_core=0.05
crit_dense_core=0.2
delta_rho=0.1
theta_mag=30
mass_c=1
/
&UNITS_PARAMS
units_length=%(length).17g
units_density=1e-18
units_time=%(time).17g
/
&HYDRO_PARAMS
gamma=1.6666667
riemann='hlld'
riemann2d='hlld'
slope_type=1
/
&COOLING_PARAMS
barotropic_eos=.true.
barotropic_eos_form='2nd_collapse'
polytrope_rho=3.866301516e-15,3.866301516e-10,3.866301516e-5
polytrope_index=0.4,-0.3,0.56667
T_eos=10
mu_gas=2.31
/
&REFINE_PARAMS
r_refine=1.2
x_refine=2
y_refine=2
z_refine=2
/
&OUTPUT_PARAMS
foutput=1
tend=1
/
"""


def core(v):
    """The radius is 1: units_length is that of alpha. Energies are those of sums over the cells;
    that of gravity is 3/5 M²/r of a uniform sphere with G = 1."""
    G, KB, MH, MSUN = 6.67e-8, 1.380649e-16, 1.660539e-24, 1.9891e33
    length = 0.4 * 0.4 * G * MSUN * 2.31 * MH / (KB * 10)
    time = 1 / math.sqrt(G * 1e-18)
    r = ptah.simulate(CORE % {'length': length, 'time': time}, '.')
    v.same('status', r.status, 0)
    s = read_ramses.load(r.outputs[0])
    rho, size = s.cell['density'], 4 * 0.5 ** s.level
    inside = rho > 0.5 * rho.max()
    cells = (rho * size ** 3)[inside]
    mass, unit = cells.sum(), MSUN / (1e-18 * length ** 3)
    v.check('mass', abs(mass / unit - 1), 0.01)
    gravity = 0.6 * unit ** 2
    moving = sum(s.cell['velocity_' + d][inside] ** 2 for d in 'xyz')
    v.check('rotation', abs((0.5 * cells * moving).sum() / gravity / 0.05 - 1), 0.01)
    heat = (1.5 * s.cell['pressure'] * size ** 3)[inside].sum()
    v.check('heat', abs(heat / gravity / 0.4 - 1), 0.01)
    v.check('the field is uniform', np.ptp(s.cell['B_z_left']), 0)
    field = math.sqrt(4 * math.pi / 5) / 0.53 * 0.2 * unit * 3 / (4 * math.pi)
    v.check('its strength', abs(s.cell['B_z_left'][0] / field - 1), 1e-12)


def refusals(v):
    for what, namelist, words in [
            ('an unknown kind', box("condinit_kind='vortex'"), ['vortex', 'orzag_tang', 'region']),
            ('dimensions', box("condinit_kind='loop'", mhd=True), ['loop', 'one dimension']),
            ('no field', box("condinit_kind='loop'", ndim=2), ['loop', 'mhd']),
            ('a large core', box("condinit_kind='collapse'", ndim=3, levels='3\nlevelmax=3'),
             ['radius', 'boxlen']),
            ('no field for a core',
             box("condinit_kind='collapse'\ncrit_dense_core=0.1", ndim=3,
                 levels='3\nlevelmax=3', size=1e60), ['crit_dense_core', 'mhd']),
            ('no turbulence', box("condinit_kind='collapse'\nMach=1", ndim=3,
                                  levels='3\nlevelmax=3', size=1e60), ['init_turb.data']),
            ('a division by zero', box("init_expr='rho = 1/(x - 0.015625)'"),
             ['division by zero', 'column 8', 'x=0.015625']),
            ('a negative density', box("init_expr='rho = x - 0.5; p = 1'"), ['density']),
            ('an unknown name', box("init_expr='rho = gama'"), ['gama', 'gamma']),
            ('a field of gas without one', box("init_expr='rho = 1; p = 1; az = x'"), ['mhd']),
            ('a missing velocity', box("init_expr='rho = 1; p = 1; w = x'"), ['along z'])]:
        r = ptah.simulate(namelist, 'refused', options=['-nn'],
                          must_work=False)
        v.same(what, (r.status, [w for w in words if w not in r.err]), (2, []))


def main():
    v = ptah.Verdict()
    {'states': states, 'golden': reference, 'core': core, 'refusals': refusals}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
