"""Rare sources of radiation, each in a whole small run: equal digests on 1 and 3 ranks, and a law.

    lights.py holes        rt_AGN: each group gets its fraction of the energy that holes radiate
    lights.py background   rt_UVsrc_nHmax: photons of the table in thin gas, none in dense gas
    lights.py unresolved   heat_unresolved_HII: cells of young stars that are too small for their
                           HII regions have T/mu = 18 000 K (1), or its pressure besides the gas (2)

Example of a fault caught: photons that depend on the rank of a cloud particle, a group of the
background that is shifted by one, a pressure that is added in each step again.
"""
# test: holes tier=check timeout=120 ranks=3
# test: background tier=check timeout=120 ranks=3
# test: unresolved tier=check timeout=120 ranks=3
import math
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

EV, C = 1.6021766e-12, 2.99792458e10

BOX = """
&RUN_PARAMS
hydro=.true.
rt=.true.
ngroups=3
nions=3
nsubcycle=1,2
nstepmax=4
%s
/
&AMR_PARAMS
levelmin=4
levelmax=5
boxlen=1.0
/
&INIT_PARAMS
nregion=2
region_type(1:2)='square','square'
x_center=0.5,0.3
y_center=0.5,0.55
z_center=0.5,0.4
length_x=10.0,0.2
length_y=10.0,0.2
length_z=10.0,0.2
exp_region=10.0,10.0
d_region=%s
p_region=%s
/
&OUTPUT_PARAMS
foutput=4
tout=1e9
/
&HYDRO_PARAMS
gamma=1.6666667
/
&UNITS_PARAMS
units_density=1.66d-24
units_time=%s
units_length=%s
/
&REFINE_PARAMS
err_grad_d=0.2
/
&RT_PARAMS
rt_c_fraction=0.01
%s
/
%s
"""


def both(v, text, prepare=None, settings=()):
    """Runs on 1 and 3 ranks: the first run, and its last checkpoint."""
    digests = []
    for ranks in (3, 1):
        folder = 'on%d%s' % (ranks, ''.join(settings)[-1:])
        os.makedirs(folder, exist_ok=True)
        if prepare:
            prepare(folder)
        run = ptah.simulate(text, folder, ranks=ranks, settings=list(settings))
        digests.append(ptah.digest(ptah.output(run, 2)))
    v.same('digests on 1 and 3 ranks', ptah.changed(*digests) if digests[0] != digests[1] else '',
           '')
    return run, ptah.output(run, 2)


def radiation_of(path):
    """The files of radiation, which have the layout of those of the gas."""
    number = path.rstrip('/')[-5:]
    shadow = os.path.join('shadow', 'output_' + number)
    shutil.rmtree('shadow', ignore_errors=True)
    os.makedirs(shadow)
    for name in os.listdir(path):
        if not name.startswith('hydro'):
            to = name.replace('rt_file_d', 'hydro_file_d')
            to = re.sub('^rt_' + number, 'hydro_' + number, to)
            shutil.copy(os.path.join(path, name), os.path.join(shadow, to))
    return read_ramses.load(shadow)


def rows(run):
    """Photons of each group that were emitted in each coarse step."""
    found = [float(x) for x in re.findall(r'Photons of group \d: emitted (\S+),', run.err)]
    return np.array(found).reshape(-1, 3)


def emitted(run):
    return rows(run).sum(axis=0)


def properties(path, what):
    with open(os.path.join(path, 'info_rt_%s.txt' % path.rstrip('/')[-5:])) as f:
        return [float(line.split('=')[1].split()[0]) for line in f if line.startswith('  ' + what)]


def holes(v):
    shares = np.array([0.3, 0.5, 0.2])
    text = BOX % ('poisson=.true.\nsink=.true.', '1.0,2000.0', '0.1,0.1', '3d14', '3d21',
                  'rt_AGN=.true.', """&PHYSICS_PARAMS
n_star=500.
Mseed=1d5
sink_AGN=.true.
T2maxAGN=1d8
X_floor=10.
/
&RT_GROUPS
group_egy_AGNfrac=0.3,0.5,0.2
/""")
    run, path = both(v, text)
    erg = emitted(run) * np.array(properties(path, 'egy')) * EV
    v.check('fractions of groups', abs(erg / erg.sum() - shares).max(), 1e-4)
    # the rate of a coarse step holds in the next one; steps are equal
    mass = float(re.findall(r'radiated= *(\S+)', run.err)[0])
    second = (rows(run)[1] * np.array(properties(path, 'egy')) * EV).sum()
    v.check('energy of the second step', abs(second / (mass * 1.66e-24 * 3e21 ** 3 * C ** 2) - 1),
            1e-3)


UV_ENERGY = np.geomspace(400, 10, 300)  # eV
HC = 12398.42


def uv_file(folder):
    """A spectrum that is flat in wavelength, and brighter at higher redshift."""
    wave = HC / UV_ENERGY
    z = np.array([0, 5.0, 10.0, 15.0])
    y = np.outer(1 + z, np.full(len(wave), 1.0))  # photons/cm²/s/Å/sr
    with open(os.path.join(folder, 'uv.dat'), 'wb') as f:
        for a in (np.array([len(z)], '<i4'), z, np.array([len(wave)], '<i4'), wave, y):
            data = a.tobytes()
            f.write(struct.pack('<i', len(data)) + data + struct.pack('<i', len(data)))


def background(v):
    text = BOX % ('static_gas=.true.', '1e-6,100.0', '1e-6,0.1', '3d13', '3d21',
                  "rt_UVsrc_nHmax=0.01\nnUVgroups=2\nuv_file='uv.dat'", """
&RT_GROUPS
groupL0=13.60,24.59,54.42
groupL1=24.59,54.42,100.0
/""")
    run, path = both(v, text, uv_file)
    s, light = read_ramses.load(path), radiation_of(path)
    thin = s.cell['density'] < 1
    for g, (low, high) in ((2, (24.59, 54.42)), (3, (54.42, 100.0))):
        flux = 4 * math.pi * (HC / low - HC / high)
        got = light.cell['photon_flux_%02d' % g] * s.info['unit_l'] / s.info['unit_t']
        flux *= math.exp(-1e-6 * 1.66e-24 * 0.76 / 1.66e-24 / 0.01)
        v.check('photons of group %d in thin gas' % g, abs(got[thin].min() / flux - 1), 1e-5)
        if g == 3:
            v.check('in dense gas', got[~thin].min() / flux, 1e-3)
    v.same('no photons of the first group', bool(emitted(run)[0] == 0), True)


STARS = """
&PHYSICS_PARAMS
metal=.true.
z_ave=0.2
n_star=20.
t_star=0.003
T2_star=10.
g_star=1.6667
/"""


def spectra(folder):
    script = os.path.join(ptah.ROOT, 'examples', 'reionisation', 'spectra.py')
    r = ptah.Run([sys.executable, script, os.path.join(folder, 'spectra')], '.')
    if r.status:
        sys.exit(r.err)


def unresolved(v):
    text = BOX % ('pic=.true.\nnener=1', '1.0,300.0', '0.001,0.1', '3.15576d13', '3.0857d20',
                  "rt_star=.true.\nsed_dir='spectra'\nrt_nsubcycle=4", STARS)
    found = {}
    for kind in (0, 1, 2):
        run, path = both(v, text, spectra, ['rt_params/heat_unresolved_HII=%d' % kind])
        s = read_ramses.load(path)
        unit = (s.info['unit_l'] / s.info['unit_t']) ** 2 * 1.6605390e-24 / 1.380649e-16
        rho = s.cell['density']
        T2, extra = (unit * s.cell[p] / rho for p in ('pressure', 'non_thermal_pressure_01'))
        found[kind] = (T2[rho > 100].max(), extra.max())
        print('%d stars, largest T/mu %.0f and %.0f K' % (len(s.part['mass']), *found[kind]))
    v.check('without', max(found[0]), 1e3)
    v.check('T/mu of the gas, off 18 000 K', abs(found[1][0] / 18000 - 1), 0.02)
    v.same('no other pressure', bool(found[1][1] == 0), True)
    v.check('gas beside its pressure', found[2][0], 1e3)
    v.check('T/mu of the pressure, off 18 000 K', abs(found[2][1] / 18000 - 1), 0.02)


def main():
    v = ptah.Verdict()
    {'holes': holes, 'background': background, 'unresolved': unresolved}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
