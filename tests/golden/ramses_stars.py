"""Star formation from turbulence and kinetic supernovae, compared with RAMSES run with the same
namelists.

    RAMSES=…/ramses3d ramses_stars.py     built with NVAR=6

virial: the scalar of turbulence, on two levels, after STEPS steps and so many more after a restart
        of ours from RAMSES's checkpoint, where the scalar has no name. No stars form, as random
        numbers differ.
debris: sums after supernovae with f_w > 0: mass of stars and debris, energy of the gas, within the
        Poisson error.
Example of a fault caught: a decay over another time, a gradient over two cells, ejecta that count
twice, an unnamed scalar that is lost.
"""
# test: tier=long timeout=1200
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

STEPS = 4
BOX = """&RUN_PARAMS
hydro=.true.
pic=.true.
poisson=.true.
ncontrol=1
nsubcycle=1,1
nstepmax=%(steps)d
nrestart=%(nrestart)d
/
&AMR_PARAMS
levelmin=4
levelmax=5
ngridmax=20000
npartmax=200000
boxlen=1.0
/
&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d20
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.45
y_center=0.5,0.55
z_center=0.5,0.4
length_x=10.0,0.4
length_y=10.0,0.5
length_z=10.0,0.3
exp_region=10.0,2.0
d_region=1.0,3.0
u_region=0.0,1.5
v_region=0.0,0.7
w_region=0.0,-0.9
p_region=0.1,0.2
/
&OUTPUT_PARAMS
foutput=%(steps)d
noutput=1
tout=100.0
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.5
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=%(refine)g
interpol_var=1
mass_sph=1d-6
/
&SF_PARAMS
%(stars)s
/
&FEEDBACK_PARAMS
%(feedback)s
/
"""
VIRIAL = ('eps_star=1d-14\nn_star=10.\nm_star=1.\nsf_virial=.true.\nsf_model=3\nsf_tdiss=%g', '')
DEBRIS = ('eps_star=0.3\nn_star=10.\nm_star=1.', 'eta_sn=5d-4\nf_w=0.5\nf_ek=0.5\nt_sne=0.1')


def text(recipe, steps, refine, nrestart=0):
    return BOX % {'steps': steps, 'refine': refine, 'nrestart': nrestart, 'stars': recipe[0],
                  'feedback': recipe[1]}


def ramses(folder, namelist):
    """Runs RAMSES; returns its last checkpoint."""
    ptah.ramses(namelist, folder)
    last = sorted(d for d in os.listdir(folder) if re.match('output_', d))[-1]
    return os.path.abspath(os.path.join(folder, last))


def compare(v, what, ours, theirs, limit):
    a, b = read_ramses.load(ours), read_ramses.load(theirs)
    v.same(what + ': the same leaf cells and time', (np.array_equal(a.level, b.level),
                                                     abs(a.info['time'] - b.info['time']) < 1e-12),
           (True, True))
    x, y = a.cell['turbulence'], b.cell['scalar_00']
    v.same(what + ': turbulence to compare', (y > 1e-3).mean() > 0.01, True)
    v.check(what + ': turbulence, relative to its largest', abs(x - y).max() / y.max(), limit)
    v.check(what + ': density', abs(a.cell['density'] - b.cell['density']).max(), 1e-10)


def virial(v):
    for k, (levels, refine, decay) in enumerate([(1, -1, 0), (2, 0.3, 0), (2, 0.3, 1)]):
        name = 'virial on %d levels, sf_tdiss=%g' % (levels, decay)
        recipe = (VIRIAL[0] % decay, '')
        # in RAMSES the turbulence decays over the previous step, and has other neighbours at level
        # boundaries
        limit = 0.02 if decay else 1e-10 if levels == 1 else 1e-5
        first = ramses('r%d' % k, text(recipe, STEPS, refine))
        ours = ptah.simulate(text(recipe, STEPS, refine), 'p%d' % k, options=['-f'])
        compare(v, name, ours.outputs[-1], first, limit)
        kept = shutil.copytree(first, 'kept_%d/%s' % (k, os.path.basename(first)))
        second = ramses('r%d' % k, text(recipe, 2 * STEPS, refine, int(first[-5:])))
        ours = ptah.simulate(text(recipe, 2 * STEPS, refine), 'q%d' % k,
                             options=['-f', '-r', os.path.abspath(kept)])
        compare(v, name + ', restarted from RAMSES', ours.outputs[-1], second, limit)


def sums(path):
    """(mass of stars, mass of debris, number of debris, mass of gas, energy of gas)"""
    s = read_ramses.load(path)
    c, m, f = s.cell, s.part.get('mass', np.zeros(0)), s.part.get('family', np.zeros(0))
    kinetic = 0.5 * sum(c['velocity_' + d] ** 2 for d in 'xyz') * c['density']
    return np.array([m[f == 2].sum(), m[f == 4].sum(), (f == 4).sum(),
                     (c['density'] * s.volume).sum(),
                     ((kinetic + c['pressure'] * 1.5) * s.volume).sum()])


def debris(v):
    ours = ptah.simulate(text(DEBRIS, 12, 0.3), 'debris', options=['-f'])
    a, b = sums(ours.outputs[-1]), sums(ramses('debris_r', text(DEBRIS, 12, 0.3)))
    first = sums(ours.outputs[0])
    print('     ours ', *('%.6g' % x for x in a))
    print('     RAMSES', *('%.6g' % x for x in b))
    print('     at the start', *('%.6g' % x for x in first))
    stars = b[0] / 1e-6
    v.same('debris: stars and explosions to test', (stars > 1e4, b[4] > 1.5 * first[4],
                                                    b[2] < 0.9 * len(first) * stars),
           (True, True, True))
    v.check('debris: mass of the stars in sigma', abs(a[0] / b[0] - 1) * np.sqrt(stars / 2), 4)
    v.check('debris: mass of gas, stars and debris', abs(sum(a[[0, 1, 3]]) / sum(first[[0, 1, 3]])
                                                         - 1), 1e-12)
    v.check('debris: mass of what has not exploded', abs(a[1] / b[1] - 1), 0.03)
    v.check('debris: energy of the gas', abs((a[4] - first[4]) / (b[4] - first[4]) - 1), 0.03)


def main():
    v = ptah.Verdict()
    ptah.ramses_program()
    virial(v)
    debris(v)
    v.end()


if __name__ == '__main__':
    main()
