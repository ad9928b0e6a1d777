"""Photons of stars in a run, against an independent computation.

A small box forms stars, which emit by a library of black bodies that cool and fade. The photons of
each group that the log counts are those that the stars of the last checkpoint should have emitted,
by integrals with another rule over the energy. Equal digests on 1 and 3 ranks, after restarts, and
on a device, to which the photons of stars are brought.
Files of a library that are cut, of the wrong shape, or have a NaN: one sentence and exit status 2.
Example of a fault caught: photons per gram instead of per solar mass, ages of another unit, the
escape fraction twice, a sub-step that counts twice, stars that emit before their birth.
"""
# test: tier=check timeout=120 ranks=3
import os
import re
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'golden'))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = """&RUN_PARAMS
hydro=.true.
pic=.true.
rt=.true.
ngroups=3
nions=3
ncontrol=1
nsubcycle=1,2
nstepmax=4
/
&AMR_PARAMS
levelmin=4
levelmax=5
ngridmax=20000
npartmax=20000
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
x_center=0.5,0.25
y_center=0.5,0.25
z_center=0.5,0.25
length_x=10.0,0.4
length_y=10.0,0.4
length_z=10.0,0.4
exp_region=10.0,2.0
d_region=1.0,100.0
p_region=0.001,0.1
var_region(1,1)=0.006,0.006
/
&REFINE_PARAMS
err_grad_d=0.2
/
&PHYSICS_PARAMS
metal=.true.
z_ave=0.2
n_star=20.
t_star=0.003
T2_star=10.
g_star=2.
/
&RT_PARAMS
rt_star=.true.
rt_c_fraction=0.01
rt_nsubcycle=4
sed_dir='library'
sedprops_update=2
rt_esc_frac=0.5
/
&OUTPUT_PARAMS
tend=10.
foutput=2
/
"""
H, C, EV, K, SUN, MASS, YEAR = (6.6260702e-27, 2.9979246e10, 1.6021766e-12, 1.380649e-16, 3.828e33,
                                1.9891e33, 3.15576e7)
METALS = [0.001, 0.004, 0.02]
AGES = np.concatenate([[0], 10 ** np.arange(4, 10.01, 0.1)])
BOUNDS = [(13.60, 24.59), (24.59, 54.42), (54.42, 1000)]
ESCAPE, UNIT_TIME = 0.5, 3.15576e13


def spectrum(wave, age, metal):
    """Luminosity (L_sun/Å/M_sun) of a black body: colder when older, fainter with more metals."""
    T = 6e4 / (1 + age / 1e8) ** 0.3
    x = np.minimum(H * C * 1e8 / (wave * K * T), 700)
    return 1e-3 / (1 + 50 * metal) * (wave / 500) ** -5 / np.expm1(x) / (1 + age / 3e6)


def records(path, arrays):
    with open(path, 'wb') as f:
        for a in arrays:
            data = a.tobytes()
            f.write(struct.pack('<i', len(data)) + data + struct.pack('<i', len(data)))


def library(folder, wave, change=None):
    """Writes a library; change(arrays) alters the records of all_seds.dat."""
    os.makedirs(folder, exist_ok=True)
    for name, values in (('metallicity', METALS), ('age', AGES)):
        with open(os.path.join(folder, name + '_bins.dat'), 'w') as f:
            f.write('%8d\n' % len(values) + ''.join('%14.6e\n' % v for v in values))
    rows = [np.array([len(wave), 0], '<i4'), wave.astype('<f8')]
    rows += [spectrum(wave, a, z).astype('<f8') for z in METALS for a in AGES]
    records(os.path.join(folder, 'all_seds.dat'), change(rows) if change else rows)


def photons(age, metal):
    """Photons per second and solar mass of each group, by Simpson's rule in the energy."""
    rates = []
    for low, high in BOUNDS:
        eV = np.linspace(low, high, 4001)
        wave = H * C * 1e8 / (eV * EV)
        y = spectrum(wave, age, metal) * SUN * wave / eV / (eV * EV)  # per eV, per photon
        w = np.ones_like(eV)
        w[1:-1:2], w[2:-1:2] = 4, 2
        rates.append(np.sum(w * y) * (eV[1] - eV[0]) / 3)
    return np.array(rates)


def metal_weights(metal):
    """Weights of the metallicities of the library: linear between eight of the table, which are
    linear between those of the library."""
    table = np.geomspace(METALS[0], METALS[-1], 8)
    return [np.interp(metal, table, np.interp(table, METALS, unit)) for unit in np.eye(3)]


def emitted(folder, number, t0):
    """Photons of the stars of a checkpoint since the code time t0."""
    s = read_ramses.load(os.path.join(folder, 'output_%05d' % number))
    info, part = s.info, s.part
    unit = info['unit_d'] * info['unit_l'] ** 3 / MASS
    grid = np.concatenate([[0], 10 ** np.arange(3.5, 8.01, 0.02)])  # yr
    # the spectrum before the second age of a library is that of the second age
    weight = metal_weights(part['metallicity'][0])
    rate = np.array([sum(w * photons(max(a, AGES[1]), z) for w, z in zip(weight, METALS))
                     for a in grid])
    steps = 0.5 * (rate[1:] + rate[:-1]) * np.diff(grid)[:, None] * YEAR
    total = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    sums = np.zeros(3)
    if abs(part['metallicity'] / 0.006 - 1).max() > 1e-10:
        sys.exit('stars have other metallicities: %s' % part['metallicity'])
    for birth, m in zip(part['birth_time'], part['mass']):
        ages = [max(t - birth, 0) * UNIT_TIME / YEAR for t in (t0, info['time'])]
        before, after = ([np.interp(a, grid, total[:, g]) for g in range(3)] for a in ages)
        sums += m * unit * (np.array(after) - before)
    return ESCAPE * sums, len(part['mass'])


def check_counts(folder):
    with open(os.path.join(folder, 'log')) as f:
        log = f.read()
    times = [float(t) for t in re.findall(r' Fine step=.* t=\s*(\S+)', log)]
    logged = [float(x) for x in re.findall(r' Photons of group \d: emitted (\S+),', log)]
    steps = len(logged) // 3
    want, stars = emitted(folder, 3, 0)
    got = np.array(logged).reshape(steps, 3).sum(axis=0)
    print('%d stars in %d steps to t=%g: emitted %s, expected %s' % (stars, steps, times[-1], got,
                                                                     want))
    if stars < 50 or not np.all(np.abs(got / want - 1) < 3e-3):
        sys.exit('the photons that stars emit are not those of their spectra: ratios %s' %
                 (got / want))


def check_before_stars(wave):
    """A run that resumes from before the first stars takes their properties once, as one that did
    not stop."""
    once = ['rt_params/sedprops_update=0']
    library('once/library', wave)
    library('later/library', wave)
    run = ptah.simulate(BOX, 'once', settings=once)
    first = ptah.output(run, 1)
    shutil.copytree(first, os.path.join('later', os.path.basename(first.rstrip('/'))))
    later = ptah.simulate(BOX, 'later', settings=once + ['run_params/nrestart=1'])
    a, b = (ptah.digest(ptah.output(r, 3)) for r in (run, later))
    if a != b or ' means of ' not in later.err:
        sys.exit('other digests after a restart from before the first stars: %s' %
                 ptah.changed(a, b))


def check_refused(wave):
    def cut(rows):
        return rows[:40]

    def shape(rows):
        return rows[:5] + [rows[5][:-1]] + rows[6:]

    def bad(rows):
        rows[7][11] = np.nan
        return rows

    def order(rows):
        rows[1][3], rows[1][4] = rows[1][4], rows[1][3]
        return rows

    for change, says in ((cut, 'age'), (shape, 'age 4'), (bad, 'luminosity 12 is nan'),
                         (order, 'wavelength number 5')):
        library('bad/library', wave, change)
        r = ptah.simulate(BOX, 'bad', must_work=False)
        lines = r.err.strip().splitlines()
        if r.status != 2 or says not in lines[-1] or 'all_seds.dat' not in lines[-1]:
            sys.exit('%s: exit status %d: %s' % (change.__name__, r.status, lines[-1:]))


def main():
    wave = 1e8 * H * C / EV / np.geomspace(1200, 5, 1500)
    digests = []
    for ranks in (1, 3):
        folder = 'on%d' % ranks
        library(folder + '/library', wave)
        run = ptah.simulate(BOX, folder, ranks=ranks)
        digests.append(ptah.digest(ptah.output(run, 3)))
        first = ptah.output(run, 2)
    library('again/library', wave)
    shutil.copytree(first, os.path.join('again', os.path.basename(first.rstrip('/'))))
    run = ptah.simulate(BOX, 'again', ranks=2, settings=['run_params/nrestart=2'])
    resumed = ptah.digest(ptah.output(run, 3))
    check_before_stars(wave)
    library('device/library', wave)
    run = ptah.simulate(BOX, 'device', ranks=2, settings=[
        'run_params/gpu_hydro=.true.', "run_params/gpu_device='host'", 'run_params/gpu_seed=3'])
    there = ptah.digest(ptah.output(run, 3))
    if 'radiation and chemistry run on emulated' not in run.err:
        sys.exit('the radiation is not on the device')
    check_counts('on1')
    check_counts('device')
    if digests[0] != there:
        sys.exit('other digests on a device: %s' % ptah.changed(digests[0], there))
    if digests[0] != digests[1]:
        sys.exit('other digests on 3 ranks: %s' % ptah.changed(*digests))
    if digests[0] != resumed:
        sys.exit('other digests after a restart: %s' % ptah.changed(digests[0], resumed))
    check_refused(wave)


main()
