"""Barotropic equations of state: gas has the pressure of its density, and waves the speed of it.

    barotropic.py law|digest

law: in one, two and three dimensions the gas of each form of barotropic_eos_form has everywhere the
temperature of the law, and mass is conserved. Between a rarefaction and a shock the density is that
of the exact isothermal solution.
digest: one digest on ranks, in both formats, after a restart, with check_ghosts, and for
`isothermal`, the old name.

Example of a fault caught: `isothermal` that ignores the form, a temperature without mu_gas, an
adiabatic shock, a cell of an oct that is left out, a time step from the signal before the law.
"""
# test: law tier=check timeout=180
# test: digest tier=check timeout=120 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

GAMMA, T_EOS, MU, RHO_0, INDEX = 1.4, 50.0, 2.3, 3e-24, 1.6
DENSITY, TIME, LENGTH = 1e-24, 3e13, 3e17
M_H, K_B = 1.6605390e-24, 1.3806490e-16
FORMS = {'isothermal': lambda x: 1 + 0 * x,
         'polytrope': lambda x: x ** (INDEX - 1),
         'double_polytrope': lambda x: 1 + x ** (INDEX - 1),
         'custom': lambda x: np.where(x < 1, 1, x ** (INDEX - 1))}

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=1,2
nstepmax=400
/
&AMR_PARAMS
levelmin={level}
levelmax={finest}
/
&INIT_PARAMS
nregion=2
x_center=0.5,0.5
y_center=0.5,0.5
z_center=0.5,0.5
length_x=10.0,0.5
length_y=10.0,10.0
length_z=10.0,10.0
exp_region=10.0,10.0
d_region=1.0,8.0
p_region={p},{p8}
/
&OUTPUT_PARAMS
tout={time}
foutput=4
/
&HYDRO_PARAMS
gamma=1.4
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
x_refine=10*0.5
y_refine=10*0.5
z_refine=10*0.5
r_refine=10*0.15
/
&UNITS_PARAMS
units_density=1e-24
units_time=3e13
units_length=3e17
/
&COOLING_PARAMS
{switch}=.true.
barotropic_eos_form='{form}'
T_eos=50
mu_gas=2.3
polytrope_rho=3e-24
polytrope_index=1.6
/
"""


def speed2(form, rho):
    """Pressure per density of the law."""
    unit = (LENGTH / TIME) ** 2 * M_H / K_B
    return T_EOS / MU / unit * FORMS[form](rho * DENSITY / RHO_0)


def namelist(form, level, finest, time, switch='barotropic_eos'):
    p = speed2('isothermal', 1.0)
    return NAMELIST.format(form=form, level=level, finest=finest, time=time, switch=switch, p=p,
                           p8=8 * p)


def crossing(fraction):
    """Time in which an isothermal wave crosses a fraction of the box."""
    return fraction / np.sqrt(speed2('isothermal', 1.0))


def plateau(ratio):
    """Density between the rarefaction and the shock of an isothermal tube, over the lower one."""
    low, high = 1.0, ratio
    for _ in range(100):
        x = 0.5 * (low + high)
        if np.log(ratio / x) > (x - 1) / np.sqrt(x):
            low = x
        else:
            high = x
    return low


def law(v):
    for ndim, level in ((1, 6), (2, 4), (3, 4)):
        for form in FORMS if ndim < 3 else ('double_polytrope',):
            r = ptah.simulate(namelist(form, level, level + 1, crossing(0.05)),
                              '%s_%d' % (form, ndim), settings=['run_params/ndim=%d' % ndim])
            first, last = (read_ramses.load(r.outputs[k]) for k in (0, -1))
            rho, p = last.cell['density'], last.cell['pressure']
            v.check('%s in %d-D: pressure' % (form, ndim),
                    np.abs(p / (rho * speed2(form, rho)) - 1).max(), 1e-6)
            mass = [(s.cell['density'] * 0.5 ** (ndim * s.level.astype(float))).sum()
                    for s in (first, last)]
            v.check('mass', abs(mass[1] / mass[0] - 1), 1e-13)
    r = ptah.simulate(namelist('isothermal', 9, 9, crossing(0.12)), 'tube',
                      settings=['run_params/ndim=1'])
    s = read_ramses.load(r.outputs[-1])
    x = (np.arange(512) + 0.5) / 512 - 0.75
    u = (plateau(8.0) - 1) / np.sqrt(plateau(8.0))
    shock = np.sqrt(plateau(8.0)) * 0.12
    inside = (x > (u - 1) * 0.12 + 0.02) & (x < shock - 0.02)
    rho = s.cell['density']
    v.check('density behind the shock', np.abs(rho[inside] / plateau(8.0) - 1).max(), 0.02)
    front = x[(x > 0) & (rho > 0.5 * (1 + plateau(8.0)))].max()
    v.check('place of the shock', abs(front - shock), 0.006)


def digest(v):
    def run(name, ranks=1, switch='barotropic_eos', settings=(), options=()):
        r = ptah.simulate(namelist('double_polytrope', 5, 7, 1e9, switch), name, ranks,
                          settings=['run_params/ndim=1', 'run_params/nstepmax=12', *settings],
                          options=options)
        return [os.path.abspath(p) for p in r.outputs]
    plain = run('plain')
    want = ptah.digest(plain[-1])
    hdf5 = run('hdf5', settings=["output_params/outformat='hdf5'"])
    others = {'2 ranks': run('ranks', 2), 'hdf5': hdf5,
              'isothermal=.true.': run('isothermal', switch='isothermal'),
              'restart': run('restart', 2, options=['-r', plain[1]]),
              'restart from hdf5': run('restart_hdf5', options=['-r', hdf5[1]]),
              'check_ghosts': run('checked', settings=['run_params/check_ghosts=.true.'])}
    # the time step is that of the gas after the law, not of what the Godunov step left
    run('one_level', settings=['run_params/check_ghosts=.true.', 'amr_params/levelmax=5'])
    for name, outputs in others.items():
        v.same(name, ptah.changed(ptah.digest(outputs[-1]), want), [])


def main():
    v = ptah.Verdict()
    {'law': law, 'digest': digest}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
