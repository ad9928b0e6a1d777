"""Cooling compared with RAMSES, run with the same namelists: other cosmologies, reionisation,
metallicity, self-shielding, the power law, floors, equations of state, without cosmology. Prints
the table of docs/method/cooling.md.

    RAMSES=…/ramses3d ramses_cooling.py [CASE…]    built with NVAR=6

RAMSES is run for cases without an output of RAMSES. Example of a fault caught: a unit that is
right at one h only, a z_reion that is not capped, a floor that is not subtracted before cooling.

"""
# test: tier=long timeout=3000
import os
import re
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = """&RUN_PARAMS
hydro=.true.
ncontrol=1
nsubcycle=1,1,2
/
&AMR_PARAMS
levelmin=4
levelmax=6
ngridmax=40000
nexpand=1
boxlen=1.0
/
&UNITS_PARAMS
units_density=1.66d-24
units_time=3.15576d13
units_length=3.0857d20
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.5
y_center=0.5,0.5
z_center=0.5,0.5
length_x=10.0,0.4
length_y=10.0,0.4
length_z=10.0,0.4
exp_region=10.0,2.0
d_region=0.1,5.0
u_region=0.0,0.3
p_region=1.0,1.0
/
&OUTPUT_PARAMS
noutput=1
tout=0.02
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=0.3
interpol_var=1
/
&COOLING_PARAMS
cooling=.true.
haardt_madau=.true.
z_ave=1.0
/
&SF_PARAMS
/
"""

OPEN = {'omega_m': 0.3, 'omega_v': 0.0, 'h0': 70.0}
LIGHT = {'omega_m': 0.25, 'omega_v': 0.75, 'h0': 60.0}
# name: description, group → lines, cosmology (None: as in the files; False: without)
CASES = {
    'golden': ('as the golden case', {}, None),
    'lambda': ('Ω_m=0.25, Ω_Λ=0.75, h=0.6', {}, LIGHT),
    'open': ('Ω_m=0.3, Ω_Λ=0, h=0.7, Ω_b=0.06', {'INIT': 'omega_b=0.06'}, OPEN),
    'early': ('z_reion=20', {'COOLING': 'z_reion=20.'}, None),
    'none': ('z_reion=1', {'COOLING': 'z_reion=1.'}, None),
    'z_ave': ('metal=.false., z_ave=0.3', {'COOLING': 'metal=.false.\nz_ave=0.3'}, None),
    'shield': ('self_shielding', {'COOLING': 'self_shielding=.true.'}, None),
    'theuns': ('haardt_madau=.false., J21=0.5, a_spec=1.5',
               {'COOLING': 'haardt_madau=.false.\nJ21=0.5\na_spec=1.5'}, None),
    'star': ('T2_star=1e4, g_star=2, n_star=0.1, del_star=50',
             {'SF': 'T2_star=1d4\ng_star=2.\nn_star=0.1\ndel_star=50.'}, None),
    'jeans': ('jeans_ncells=4', {'SF': 'jeans_ncells=4.'}, None),
    'ceiling': ('T2max=3e4', {'COOLING': 'T2max=3d4'}, None),
    'box': ('without cosmology, z_ave=1', {}, False),
    'box_shield': ('without cosmology, self_shielding, T2_star=3e3, n_star=1',
                   {'COOLING': 'self_shielding=.true.', 'SF': 'T2_star=3d3\nn_star=1.\ng_star=1.5'},
                   False),
    'box_jeans': ('without cosmology, jeans_ncells=400', {'SF': 'jeans_ncells=400.'}, False),
    'isothermal': ('without cosmology, isothermal, T2_star=1e4, g_star=1',
                   {'COOLING': 'isothermal=.true.', 'SF': 'T2_star=1d4\nn_star=1.\ng_star=1.0'},
                   False),
    'polytrope': ('without cosmology, barotropic_eos_form=polytrope',
                  {'COOLING': "barotropic_eos=.true.\nbarotropic_eos_form='polytrope'\nT_eos=1d4\n"
                              'mu_gas=1.22\npolytrope_rho=1d-24\npolytrope_index=1.4'}, False),
    'double': ('without cosmology, barotropic_eos_form=double_polytrope',
               {'COOLING': "barotropic_eos=.true.\nbarotropic_eos_form='double_polytrope'\n"
                           'T_eos=1d4\nmu_gas=1.22\npolytrope_rho=1d-24\npolytrope_index=1.4'},
               False),
    'custom': ('without cosmology, barotropic_eos_form=custom',
               {'COOLING': "barotropic_eos=.true.\nbarotropic_eos_form='custom'\nT_eos=1d4\n"
                           'mu_gas=1.22\npolytrope_rho=1d-24\npolytrope_index=1.4'}, False),
    'ism': ('without cosmology, cooling_ism', {'COOLING': 'cooling_ism=.true.\nmu_gas=1.4'}, False),
    'ism_cold': ('without cosmology, cooling_ism, T2_star=100, n_star=10, two phases',
                 {'COOLING': 'cooling_ism=.true.\nmu_gas=1.4', 'OUTPUT': 'tout=0.2',
                  'INIT': 'd_region=0.5,30.\np_region=5d-3,2d-2',
                  'SF': 'T2_star=1d2\nn_star=10.\ng_star=1.5'}, False),
}


def namelist(change, cosmo):
    """Replaces lines of a group that set the same name."""
    text = BOX
    if cosmo is not False:
        with open(os.path.join(ptah.DATA, 'golden', 'cosmo_cool32.nml')) as f:
            text = f.read().replace('aout=0.20', 'aout=0.15')
    for group, lines in change.items():
        for name in re.findall(r'(?m)^(\w+)=', lines):
            text = re.sub(r'(?mi)^%s=.*\n' % name, '', text)
        text = text.replace('&%s_PARAMS\n' % group, '&%s_PARAMS\n%s\n' % (group, lines))
    return text


def other_cosmology(folder, values):
    """Writes a cosmology into the headers of all GRAFIC files; boxes keep their size in Mpc."""
    for base, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(base, name), 'r+b') as f:
                head = f.read(52)
                if len(head) < 52 or struct.unpack_from('<i', head)[0] != 44:
                    continue
                f.seek(36)
                f.write(struct.pack('<3f', values['omega_m'], values['omega_v'], values['h0']))


def prepare(name):
    what, change, cosmo = CASES[name]
    os.makedirs(name, exist_ok=True)
    if cosmo is not False and not os.path.exists(os.path.join(name, 'ics')):
        ptah.unpack_ics(name, 'ic_32')
        if cosmo:
            other_cosmology(os.path.join(name, 'ics'), cosmo)
    return namelist(change, cosmo)


def ramses(name, text):
    folder = os.path.join(name, 'ramses')
    if os.path.isdir(os.path.join(folder, 'output_00002')):
        return
    os.makedirs(folder, exist_ok=True)
    if os.path.isdir(os.path.join(name, 'ics')) and not os.path.exists(folder + '/ics'):
        os.symlink('../ics', os.path.join(folder, 'ics'))
    ptah.ramses(text, folder)


def compare(name):
    a, b = (read_ramses.load(os.path.join(name, who, 'output_00002'))
            for who in ('ptah', 'ramses'))
    same = len(a.level) == len(b.level) and bool(np.array_equal(a.level, b.level))
    if not same:  # only cells that exist in both
        at = [dict(zip(zip(s.level.tolist(), s.starts.tolist()), range(len(s.level))))
              for s in (a, b)]
        both = sorted(set(at[0]) & set(at[1]))
        pick = [[t[k] for k in both] for t in at]
    else:
        pick = [slice(None)] * 2
    T2 = [s.cell['pressure'][p] / s.cell['density'][p] for s, p in zip((a, b), pick)]
    off = np.abs(T2[0] / T2[1] - 1)
    differ = max(len(a.level), len(b.level)) - len(off)
    return len(b.level), differ, np.median(off), np.quantile(off, 0.999)


def rates(v, name):
    """Compares the tables of the first output, which both codes make at its expansion factor."""
    paths = [os.path.join(name, who, 'output_00001', 'cooling_00001.out')
             for who in ('ptah', 'ramses')]
    if not cools_by_rates(name):
        v.same(name + ': no table', os.path.exists(paths[0]), False)
        return
    ours, theirs = (read_ramses.cooling_table(p) for p in paths)
    v.same(name + ': tables', list(ours), list(theirs))
    # RAMSES stops iterating when electrons change by less than 1e-8 of hydrogen, which is imprecise
    # for cold, dense gas with few electrons
    for key, x in theirs.items():
        off = np.abs(ours[key] - x)[(x > -100) & (ours[key] > -100)]
        v.check('%s: %s, of %d values, median' % (name, key, len(off)), np.median(off),
                1e-5 if 'prime' in key else 1e-6)


def cools_by_rates(name):
    change = CASES[name][1].get('COOLING', '')
    return not re.search('ism|isothermal|barotropic', change)


def main():
    v, names = ptah.Verdict(), sys.argv[1:] or list(CASES)
    ptah.ramses_program()
    print('| case | leaf cells | other cells | T2, median | T2, 99.9 % |\n|---|---|---|---|---|')
    for name in names:
        text = prepare(name)
        ramses(name, text)
        folder = os.path.join(name, 'ptah')
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        if os.path.isdir(os.path.join(name, 'ics')):
            os.symlink('../ics', os.path.join(folder, 'ics'))
        rules = ['ramses_cosmology'] if CASES[name][2] is not False else []
        rules += ['ramses_2024'] if 'jeans_ncells' in text else []  # as in this version of RAMSES
        ptah.simulate(text, folder, settings=['run_params/%s=.true.' % x for x in rules])
        cells, differ, median, most = compare(name)
        print('| %s | %d | %d | %.1e | %.1e |' % (CASES[name][0], cells, differ, median, most),
              flush=True)
        v.check(name + ': median', median, 1e-4)
        v.check(name + ': 99.9 %', most, 1e-2)
        v.same(name + ': other cells', differ, 0)
        rates(v, name)
    v.end()


if __name__ == '__main__':
    main()
