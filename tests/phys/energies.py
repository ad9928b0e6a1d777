"""Gas with non-thermal energies.

    energies.py sum        with gamma_rad = gamma, P + sum P_i is the pressure of one gas: the same
                           density, velocity and total pressure to rounding, by every solver, with
                           and without a magnetic field, in one to three dimensions. (Slopes are
                           those of each pressure, whose sum is not the slope of the sum: none here)
    energies.py alone      a tube of a non-thermal energy alone is one of a gas of its index
    energies.py adiabat    P_i follows rho^gamma_i through an expansion, to first order, since the
                           scheme compresses energies by the velocities before the step
    energies.py conserved  mass and total energy on an adaptive mesh, with each interpol_var
    energies.py edges      a uniform flow through imposed boundaries stays as it is; refinement by
                           err_grad_prad at a jump that no other criterion sees
    energies.py digest     one digest on ranks, threads, in both formats, after a restart
    energies.py files      RAMSES's files of the same values and its names are read and rewritten
    energies.py device     and on the emulated device

Example of a fault caught: an energy left out of the total pressure of a solver, of the sound speed,
of the energy flux or of the energy beyond a boundary; an energy restricted with the total energy
but not interpolated with it.
"""
# test: sum tier=check timeout=120
# test: alone tier=check timeout=60
# test: adiabat tier=check timeout=60
# test: conserved tier=check timeout=120
# test: edges tier=check timeout=60
# test: files tier=check timeout=60
# test: device tier=check timeout=120
# test: digest tier=check timeout=120 ranks=3
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=1,2
nstepmax={steps}
{run}/
&AMR_PARAMS
levelmin={level}
levelmax={finest}
/
{bounds}&INIT_PARAMS
nregion=2
x_center=0.5,0.75
y_center=0.5,0.5
z_center=0.5,0.5
length_x=10.0,0.5
length_y=10.0,{width}
length_z=10.0,{width}
exp_region=10.0,10.0
{state}/
&OUTPUT_PARAMS
tout={time}
foutput={every}
/
&HYDRO_PARAMS
{gas}
/
&REFINE_PARAMS
{refine}/
"""
ENDS = """&BOUNDARY_PARAMS
nboundary=2
ibound_min=-1,1
ibound_max=-1,1
{more}bound_type={type}
/
"""


def field(ndim):
    """Of regions; free of divergence."""
    return 'A_region=0.75,0.75\nB_region=1.0,%s\n' % ('-1.0' if ndim == 1 else '1.0')


def run(name, ndim=1, level=6, finest=None, steps=100000, time=1e9, nener=2, state='', gas='',
        refine='', bounds='', magnetic=False, width=10.0, **more):
    text = NAMELIST.format(level=level, finest=finest or level, steps=steps, time=time, state=state,
                           gas=gas, refine=refine, bounds=bounds, width=width,
                           every=min(steps, 1000), run='mhd=.true.\n' if magnetic else '')
    settings = ['run_params/ndim=%d' % ndim]
    if nener is not None:
        settings.append('run_params/nener=%d' % nener)
    return ptah.simulate(text, name, settings=settings + more.pop('settings', []), **more)


def energies(s):
    return [s.cell[k] for k in sorted(s.cell) if k.startswith('non_thermal_pressure_')]


def total(s):
    return s.cell['pressure'] + sum(energies(s))


def is_true(v, what, holds):
    v.same(what, bool(holds), True)


# ---- laws

ONE = 'd_region=1.0,0.125\np_region=1.0,0.1\n'
SPLIT = 'd_region=1.0,0.125\np_region=0.25,0.06\nprad_region(1,1)=0.5\nprad_region(1,2)=0.25\n' \
        'prad_region(2,1)=0.03\nprad_region(2,2)=0.01\n'


def sums(v):
    cases = [(1, r, False) for r in ('llf', 'hll', 'hllc', 'exact', 'acoustic')]
    cases += [(2, 'hllc', False), (3, 'hll', False)]
    cases += [(1, r, True) for r in ('llf', 'hll', 'hlld', 'roe')]
    cases += [(2, r, True) for r in ('llf', 'hlld')] + [(3, 'hlld', True)]
    for ndim, solver, magnetic in cases:
        b = field(ndim) if magnetic else ''
        edge = {'hlld': 'hlld', 'hll': 'hll', 'roe': 'roe'}.get(solver, 'llf')
        gas = "gamma=1.4\nslope_type=0\nriemann='%s'" % solver
        gas += "\nriemann2d='%s'" % edge if magnetic else ''
        how = dict(ndim=ndim, level={1: 7, 2: 5, 3: 4}[ndim], steps=40 if ndim < 3 else 8,
                   magnetic=magnetic, width=0.5 if ndim > 1 else 10.0)
        name = '%d%s%s' % (ndim, solver, 'm' if magnetic else '')
        one = run(name + '_one', nener=0, state=ONE + b, gas=gas, **how)
        two = run(name + '_two', state=SPLIT + b, gas=gas + '\ngamma_rad=1.4,1.4', **how)
        a, b = (read_ramses.load(r.outputs[-1]) for r in (one, two))
        tolerance = 1e-6 if solver == 'exact' else 3e-13
        for key in ('density', 'velocity_x'):
            v.check('%d-D %s%s: %s' % (ndim, solver, ' with a field' if magnetic else '', key),
                    np.abs(a.cell[key] - b.cell[key]).max(), tolerance)
        v.check('total pressure', np.abs(a.cell['pressure'] - total(b)).max(), tolerance)
        is_true(v, 'the energies do not stay in proportion',
               np.ptp(b.cell['pressure'] / total(b)) > 1e-3)


def alone(v):
    state = 'd_region=1.0,0.125\np_region=1e-9,1e-9\nprad_region(1,1)=1.0\nprad_region(2,1)=0.1\n'
    gas = "gamma=1.33333333\nslope_type=1\nriemann='hllc'"
    ends = ENDS.format(type='2,2', more='')
    r = run('alone', level=9, time=0.1, nener=1, state=state, gas=gas + '\ngamma_rad=1.33333333',
            bounds=ends)
    one = run('one', level=9, time=0.1, nener=0, state=ONE, gas=gas, bounds=ends)
    a, b = (read_ramses.load(x.outputs[-1]) for x in (one, r))
    v.check('density', np.abs(a.cell['density'] - b.cell['density']).mean(), 1e-3)
    v.check('total pressure', np.abs(a.cell['pressure'] - total(b)).mean(), 1e-3)
    x = (np.arange(512) + 0.5) / 512
    fan = (x > 0.36) & (x < 0.48)
    v.check('in the rarefaction, nothing thermal', b.cell['pressure'][fan].max(), 1e-3)
    shock = (x > 0.5) & (b.cell['density'] > 0.2)
    is_true(v, 'the shock heats', b.cell['pressure'][shock].max() > 1e-3)


def adiabat(v):
    state = 'd_region=1.0,1.0\nu_region=-0.3,0.3\np_region=0.4,0.4\n' + ''.join(
        'prad_region(%d,%d)=%g\n' % (r, k, p) for r in (1, 2) for k, p in ((1, 0.5), (2, 0.1)))
    gas = "gamma=1.66666667\ngamma_rad=1.33333333,1.6\nslope_type=2\nriemann='%s'"
    ends = ENDS.format(type='2,2', more='')
    for magnetic, solver in ((False, 'hllc'), (True, 'hlld')):
        worst = []
        for level in (7, 9):
            r = run('%s%d' % (solver, level), level=level, time=0.2, state=state, gas=gas % solver,
                    bounds=ends, magnetic=magnetic)
            s = read_ramses.load(r.outputs[-1])
            rho, e = s.cell['density'], energies(s)
            x = (np.arange(1 << level) + 0.5) / (1 << level) - 0.5
            away = np.abs(x) > 0.12  # from where the two halves part
            worst.append(max(np.abs(p / p0 / rho ** g - 1)[away].max()
                             for p, p0, g in ((e[0], 0.5, 4 / 3), (e[1], 0.1, 1.6))))
        is_true(v, 'the gas expands', rho.min() < 0.8)
        v.check('P_i / rho^gamma_i', worst[1], 1.2e-3)
        v.check('shrinks with the cells', worst[1] / worst[0], 0.4)


def conserved(v):
    gas = "gamma=1.4\ngamma_rad=1.33333333,1.6\nslope_type=1\nriemann='%s'\n"
    for form, fix in ((0, 'F'), (1, 'F'), (2, 'T')):
        for magnetic, solver in ((False, 'hllc'), (True, 'hlld')):
            if magnetic and form == 2:
                continue
            refine = 'err_grad_d=0.1\nerr_grad_p=0.1\ninterpol_type=1\ninterpol_var=%d\n' % form
            r = run('%s%d' % (solver, form), ndim=2, level=4, finest=6, steps=20, width=0.5,
                    state=SPLIT + (field(2) if magnetic else ''), refine=refine, magnetic=magnetic,
                    gas=gas % solver + 'pressure_fix=%s\nbeta_fix=0.5' % fix)
            sums = []
            for path in (r.outputs[0], r.outputs[-1]):
                s = read_ramses.load(path)
                c, volume = s.cell, 0.25 ** s.level.astype(float)
                e = energies(s)
                energy = 0.5 * c['density'] * sum(c[k] ** 2 for k in c if k[:9] == 'velocity_')
                energy = energy + c['pressure'] / 0.4 + e[0] * 3.00000003 + e[1] / 0.6
                for d in 'xyz' if magnetic else '':
                    energy = energy + 0.125 * (c['B_%s_left' % d] + c['B_%s_right' % d]) ** 2
                sums.append([(c['density'] * volume).sum(), (energy * volume).sum()])
            change = np.abs(np.array(sums[1]) / sums[0] - 1)
            v.check('mass, %s, interpol_var=%d' % (solver, form), change[0], 1e-13)
            v.check('energy', change[1], 1e-12 if (form, fix) == (0, 'F') else 0.02)
            is_true(v, 'levels', len(set(s.level)) > 1)


def edges(v):
    state = 'd_region=1.0,1.0\nu_region=0.5,0.5\np_region=0.6,0.6\n' \
            'prad_region(1,1)=0.7\nprad_region(2,1)=0.7\n'
    more = 'd_bound=1.0,1.0\nu_bound=0.5,0.5\np_bound=0.6,0.6\nprad_bound(1,1)=0.7\n' \
           'prad_bound(2,1)=0.7\n'
    r = run('imposed', nener=1, steps=30, state=state, gas="riemann='hllc'",
            bounds=ENDS.format(type='3,3', more=more))
    s = read_ramses.load(r.outputs[-1])
    for name, value in (('density', 1.0), ('velocity_x', 0.5), ('pressure', 0.6),
                        ('non_thermal_pressure_01', 0.7)):
        v.check(name, np.abs(s.cell[name] - value).max(), 1e-13)
    state = 'd_region=1.0,1.0\np_region=0.6,0.6\nprad_region(1,1)=0.5\nprad_region(1,2)=0.1\n' \
            'prad_region(2,1)=0.1\nprad_region(2,2)=0.5\n'
    for name, refine, count in (('off', 'err_grad_p=0.2\nerr_grad_d=0.2\n', 1),
                                ('on', 'err_grad_prad=-1.0,0.2\n', 3)):
        r = run(name, ndim=2, level=4, finest=6, steps=1, state=state, refine=refine,
                gas='gamma=1.4\ngamma_rad=1.4,1.4')
        s = read_ramses.load(r.outputs[-1])
        v.same('levels with criteria ' + name, len(set(s.level)), count)
        x = np.unique(s.level, return_counts=True)[1]
        is_true(v, 'a part is refined', count == 1 or x[0] > 30)


MIXED = 'gamma=1.4\ngamma_rad=1.33333333,1.6\nslope_type=2\npressure_fix=T\nbeta_fix=0.5\n'
REFINE = 'err_grad_d=0.05\nerr_grad_prad=0.1\ninterpol_type=1\ninterpol_var=1\n'


def digest(v):
    for magnetic, solver in ((False, 'hllc'), (True, 'hlld')):
        def go(name, solver=solver, magnetic=magnetic, restart=None, **how):
            nener = None if restart else 2
            r = run(solver + name, ndim=2, level=4, finest=6, steps=12, width=0.5, nener=nener,
                    state=SPLIT + (field(2) if magnetic else ''), refine=REFINE, magnetic=magnetic,
                    gas=MIXED + "riemann='%s'" % solver, **how)
            return [os.path.abspath(p) for p in r.outputs]
        every = ['output_params/foutput=6']
        plain = go('plain', settings=every)
        want = ptah.digest(plain[-1])
        hdf5 = go('hdf5', settings=every + ["output_params/outformat='hdf5'"])
        others = {'3 ranks': go('ranks', ranks=3), 'threads': go('threads', threads=2),
                  'hdf5': hdf5}
        for name, path in (('restart', plain[1]), ('restart from hdf5', hdf5[1])):
            others[name] = go(name.replace(' ', '_'), restart=True, ranks=2, options=['-r', path])
        for name, outputs in others.items():
            v.same(solver + ' ' + name, ptah.changed(ptah.digest(outputs[-1]), want), [])


def device(v):
    bounds = ENDS.format(type='3,2', more='d_bound=1.0\nu_bound=0.2\np_bound=0.25\n'
                         'prad_bound(1,1)=0.6\nprad_bound(1,2)=0.1\n')
    there = ['run_params/gpu_hydro=T', 'run_params/gpu_device=host']
    for solver, slope, form, fix in (('llf', 1, 0, 'F'), ('hll', 3, 1, 'T'), ('hllc', 2, 2, 'T'),
                                     ('acoustic', 7, 1, 'F')):
        found = []
        for settings in ([], there):
            gas = "gamma=1.4\ngamma_rad=1.33333333,1.6\nslope_type=%d\npressure_fix=%s\n" \
                  "beta_fix=0.5\nriemann='%s'" % (slope, fix, solver)
            refine = 'err_grad_d=0.05\nerr_grad_prad=0.1\ninterpol_type=1\ninterpol_var=%d\n'
            r = run(solver + str(len(found)), ndim=3, level=3, finest=5, steps=4, width=0.5,
                    state=SPLIT, refine=refine % form, gas=gas, bounds=bounds, settings=settings)
            found.append(ptah.digest(r.outputs[-1]))
        v.same('device: ' + solver, ptah.changed(found[1], found[0]), [])


def foreign(own, folder):
    """A checkpoint as RAMSES writes it, with its names of the energies in three dimensions."""
    shutil.copytree(own, folder)
    for name in os.listdir(folder):
        if name.startswith(('exact_', 'checksums_')):
            os.remove(os.path.join(folder, name))
    path = os.path.join(folder, 'hydro_file_descriptor.txt')
    with open(path) as f:
        text = f.read()
    for k in (2, 1):
        text = text.replace('non_thermal_pressure_0%d' % k, 'non_thermal_energy_0%d' % (k + 2))
    with open(path, 'w') as f:
        f.write(text)
    return folder


def files(v):
    for magnetic, solver in ((False, 'hllc'), (True, 'hlld')):
        r = run(solver, ndim=2, level=4, finest=5, steps=3, width=0.5, magnetic=magnetic,
                state=SPLIT + (field(2) if magnetic else ''), refine=REFINE,
                gas=MIXED + "riemann='%s'" % solver)
        out = foreign(r.outputs[-1], solver + '_other')
        other = ptah.digest(out)
        for form in ('hdf5', 'ramses'):
            to = '%s_%s' % (solver, form)
            c = ptah.Run([ptah.program('convert'), '-f', form, '-o', to, out], '.')
            v.same('convert -f ' + form, c.status, 0)
            v.same('values', ptah.changed(ptah.digest(to), other), [])
            out = to
        again = run(solver + '_resumed', ndim=2, level=4, finest=5, steps=6, width=0.5, nener=None,
                    state=SPLIT + (field(2) if magnetic else ''), refine=REFINE,
                    magnetic=magnetic, gas=MIXED + "riemann='%s'" % solver,
                    options=['-r', os.path.abspath(to)])
        whole = run(solver + '_whole', ndim=2, level=4, finest=5, steps=6, width=0.5,
                    state=SPLIT + (field(2) if magnetic else ''), refine=REFINE,
                    magnetic=magnetic, gas=MIXED + "riemann='%s'" % solver)
        a, b = (read_ramses.load(x.outputs[-1]) for x in (again, whole))
        for k in ('density', 'pressure', 'non_thermal_pressure_02'):
            v.check('resumed from it: ' + k, np.abs(a.cell[k] - b.cell[k]).max(), 1e-12)


def main():
    v = ptah.Verdict()
    {'sum': sums, 'alone': alone, 'adiabat': adiabat, 'conserved': conserved, 'edges': edges,
     'digest': digest, 'device': device, 'files': files}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
