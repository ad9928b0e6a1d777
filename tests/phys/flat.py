"""Laws of gas in one and two dimensions.

    flat.py sod      the exact solution: the L1 error of density falls as cells double (ratio up to
                     0.65), and is below 0.006 with 256 cells
    flat.py noh      gas that runs into a wall (gamma = 5/3): density 4 behind the shock within
                     1 %, shock at t/3 within two cells
    flat.py blast    two blast waves that meet between walls (Woodward and Colella 1984): mass and
                     energy to rounding, the peak of density 6.5 at 0.78, errors that fall as cells
                     are halved
    flat.py sedov1   planar blast wave (E = 1): radius (t^2 / 1.0771)^(1/3) within 1.5 finest cells
    flat.py sedov2   cylindrical one: (t^2 / 0.98404)^(1/4) within 1.5 finest cells, energy kept

The constants of the similarity solutions for gamma = 1.4 follow Kamm and Timmes (2007), whose
planar energy is that of one side. Example of a fault caught: a Courant step of three dimensions, a
point source per dx^3, a flux correction with the weight of another dimension.
"""
# test: sod tier=check timeout=60
# test: noh tier=check timeout=60
# test: blast tier=check timeout=120
# test: sedov1 tier=check timeout=60
# test: sedov2 tier=check timeout=120
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import riemann  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=10*2
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
boxlen=1.0
/
&BOUNDARY_PARAMS
%s
/
&INIT_PARAMS
nregion=2
region_type='square','%s'
x_center=0.5,%g
y_center=0.5,0.5
length_x=10.0,1.0
length_y=10.0,10.0
exp_region=10.0,10.0
d_region=1.0,%g
u_region=%g,0.0
p_region=%g,%g
/
&OUTPUT_PARAMS
noutput=1
tout=%g
/
&HYDRO_PARAMS
gamma=%.15g
courant_factor=0.8
slope_type=%d
riemann='hllc'
/
&REFINE_PARAMS
err_grad_p=0.1
interpol_var=0
interpol_type=1
/
"""
BLAST = """
&RUN_PARAMS
hydro=.true.
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
/
&BOUNDARY_PARAMS
nboundary=2
ibound_min=-1,1
ibound_max=-1,1
bound_type=1,1
/
&INIT_PARAMS
nregion=3
x_center=0.5,0.0,1.0
length_x=10.0,0.2,0.2
d_region=1.0,1.0,1.0
p_region=0.01,1000.0,100.0
/
&OUTPUT_PARAMS
noutput=1
tout=0.038
/
&HYDRO_PARAMS
gamma=1.4
courant_factor=0.8
slope_type=2
riemann='hllc'
/
"""
WALLS = 'nboundary=2\nibound_min=-1,1\nibound_max=-1,1\nbound_type=1,1'
# gas flows in at the upper side
INFLOW = ('nboundary=2\nibound_min=-1,1\nibound_max=-1,1\nbound_type=1,3\nd_bound=0.0,1.0\n'
          'u_bound=0.0,-1.0\np_bound=0.0,1e-6')


def run(ndim, folder, *values):
    r = ptah.simulate(NAMELIST % values, folder, settings=['run_params/ndim=%d' % ndim])
    s = read_ramses.load(ptah.output(r, 2))
    print('     %d steps, %.1f s, %d leaf cells' %
          (s.info['nstep_coarse'], r.seconds, len(s.level)))
    return s, read_ramses.load(ptah.output(r, 1))


def sod(v):
    errors = []
    for level in (7, 8):
        s, _ = run(1, 'sod%d' % level, level, level, WALLS, 'square', 1.0, 0.125, 0, 1.0, 0.1, 0.2,
                   1.4, 2)
        x = s.centres()[0] - 0.5
        rho = riemann.solve(x, s.info['time'], (1.0, 0.0, 1.0), (0.125, 0.0, 0.1), 1.4)[0]
        errors.append((np.abs(s.cell['density'] - rho) * s.volume).sum())
    v.check('L1 error of density, 256 cells', errors[1], 0.006)
    v.check('ratio of the errors, 256 to 128 cells', errors[1] / errors[0], 0.65)


def noh(v):
    s, _ = run(1, 'noh', 9, 9, INFLOW, 'square', 100.0, 1.0, -1.0, 1e-6, 1e-6, 0.6, 5 / 3, 1)
    x, rho, shock = s.centres()[0], s.cell['density'], s.info['time'] / 3
    inside = (x > 0.25 * shock) & (x < 0.8 * shock)
    v.check('density behind the shock, from 4', np.abs(rho[inside] / 4 - 1).max(), 0.01)
    v.check('position of the shock', abs(x[rho > 2.5].max() - shock) * 512, 2.0, ' cells')


def fine_means(s, cells):
    """Density of a uniform mesh averaged over so many cells."""
    return s.cell['density'].reshape(cells, -1).mean(1)


def blast(v):
    rho = {}
    for level in (7, 8, 9, 11):
        r = ptah.simulate(BLAST % (level, level), 'blast%d' % level,
                          settings=['run_params/ndim=1'])
        first, s = (read_ramses.load(ptah.output(r, k)) for k in (1, 2))
        print('     %d steps, %.1f s' % (s.info['nstep_coarse'], r.seconds))
        rho[level] = fine_means(s, 128)
        if level == 7:
            continue
        mass, energy = ([(t.volume * x).sum() for t in (first, s) for x in [of(t)]] for of in (
            lambda t: t.cell['density'],
            lambda t: t.cell['pressure'] / 0.4 + 0.5 * t.cell['density'] *
            t.cell['velocity_x'] ** 2))
        v.check('%d cells: mass' % 2 ** level, abs(mass[1] / mass[0] - 1), 1e-13)
        v.check('%d cells: energy' % 2 ** level, abs(energy[1] / energy[0] - 1), 1e-13)
    x, peak = s.centres()[0], s.cell['density'].argmax()
    v.check('position of the peak, from 0.78', abs(x[peak] - 0.78), 0.01)
    v.check('density there, from 6.5', abs(s.cell['density'][peak] / 6.5 - 1), 0.05)
    errors = [np.abs(rho[l] - rho[11]).mean() for l in (7, 8, 9)]
    print('     L1 from 2048 cells: %.4f %.4f %.4f' % tuple(errors))
    for a, b in zip(errors, errors[1:]):
        v.check('ratio of errors', b / a, 0.7)


def sedov(v, ndim, levelmax, end, alpha):
    s, first = run(ndim, 'sedov', 5, levelmax, '', 'point', 0.5, 0.0, 0, 1e-5, 0.4, end, 1.4, 2)
    energy = []
    for t in (first, s):
        kinetic = 0.5 * t.cell['density'] * sum(t.cell['velocity_' + d] ** 2 for d in 'xyz'[:ndim])
        energy.append(((t.cell['pressure'] / 0.4 + kinetic) * t.volume).sum())
    v.check('energy', abs(energy[1] / energy[0] - 1), 1e-12)
    r = np.sqrt(((s.centres() - 0.5) ** 2).sum(0))
    edges = np.arange(0, 0.5, 0.5 ** levelmax)
    weight = np.histogram(r, edges, weights=s.volume)[0]
    mean = np.histogram(r, edges, weights=s.volume * s.cell['density'])[0]
    k = np.flatnonzero(mean > 2 * weight).max()  # the outermost compressed shell
    expected = (s.info['time'] ** 2 / alpha) ** (1 / (ndim + 2))
    v.check('radius of the shock, less %.4f' % expected,
            abs(0.5 * (edges[k] + edges[k + 1]) - expected) * 2 ** levelmax, 1.5, ' finest cells')


def main():
    v = ptah.Verdict()
    {'sod': sod, 'noh': noh, 'blast': blast, 'sedov1': lambda v: sedov(v, 1, 9, 0.2, 1.0771),
     'sedov2': lambda v: sedov(v, 2, 8, 0.1, 0.98404)}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
