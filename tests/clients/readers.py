"""The field's readers open our checkpoints and find what our own sums say: cells, gas mass, particles and their mass, extrema.

    readers.py yt|osyris|pynbody [CHECKPOINT...]    the checkpoints of a small cosmological run on 1 and 3 ranks, or those given

A one-line fault it catches: a missing record, a level without its empty entries, a descriptor of another version.
"""
# test: yt tier=check timeout=180
# test: osyris tier=check timeout=180
# test: pynbody tier=check timeout=180
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

ROUND_OFF = 1e-11

COSMO = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,1,2,2
nremap=2
nstepmax=5
/
&OUTPUT_PARAMS
foutput=4
noutput=1
aout=1.0
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
/
&AMR_PARAMS
levelmin=5
levelmax=7
nexpand=1
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
m_refine=2.6,0.4
/
"""


class Found:
    """What a reader says of a checkpoint, in code units."""

    def __init__(self, cells, gas_mass, density_max, particles, particle_mass, speed_max):
        self.cells, self.gas_mass, self.density_max = int(cells), float(gas_mass), float(density_max)
        self.particles, self.particle_mass, self.speed_max = int(particles), float(particle_mass), float(speed_max)


def by_us(path):
    s = read_ramses.load(path)
    rho = s.cell.get('density', np.zeros(0))
    p = s.part
    speed = np.abs(p['velocity_x']).max() if p else 0
    return Found(len(s.level), (rho * s.volume[:len(rho)]).sum(), rho.max() if len(rho) else 0, len(p.get('mass', [])),
                 p['mass'].sum() if p else 0, speed)


def by_yt(path):
    import yt
    yt.set_log_level(50)
    number = path.rstrip('/')[-5:]
    ds = yt.load(os.path.join(path, 'info_%s.txt' % number))
    ad = ds.all_data()
    count, mass, speed = 0, 0, 0
    if ('io', 'particle_mass') in ds.field_list:
        m = ad['io', 'particle_mass']
        count, mass = len(m), m.sum().to('code_mass').value
        speed = np.abs(ad['io', 'particle_velocity_x'].to('code_velocity').value).max()
    gas = ('ramses', 'Density') in ds.field_list
    return Found(len(ad['index', 'dx']), ad['gas', 'cell_mass'].sum().to('code_mass').value if gas else 0,
                 ad['ramses', 'Density'].max().value if gas else 0, count, mass, speed)


def by_osyris(path):
    import osyris
    path = os.path.abspath(path)
    number = int(path[-5:])
    data = osyris.RamsesDataset(number, path=os.path.dirname(path)).load()
    info = read_ramses.read_info(path)
    d, length, time = info['unit_d'], info['unit_l'], info['unit_t']
    mesh, part = data['mesh'], data['part'] if 'part' in data else None
    gas = 'density' in mesh
    rho = mesh['density'].to('g/cm**3').values / d if gas else np.zeros(0)
    dx = mesh['dx'].to('cm').values / length
    mass = part['mass'].to('g').values / (d * length ** 3) if part is not None else np.zeros(0)
    speed = np.abs(part['velocity'].x.to('cm/s').values).max() / (length / time) if len(mass) else 0
    return Found(len(dx), (rho * dx[:len(rho)] ** 3).sum(), rho.max() if gas else 0, len(mass), mass.sum(), speed)


def by_pynbody(path):
    import pynbody
    s = pynbody.load(path)
    gas, dm = s.gas, s.dm
    return Found(len(gas), gas['mass'].sum(), gas['rho'].max(), len(dm), dm['mass'].sum() if len(dm) else 0,
                 np.abs(dm['vel'][:, 0]).max() if len(dm) else 0)


def compare(v, name, ours, theirs):
    v.same(name + ': leaf cells', theirs.cells, ours.cells)
    v.same(name + ': particles', theirs.particles, ours.particles)
    for what in ('gas_mass', 'density_max', 'particle_mass', 'speed_max'):
        a, b = getattr(theirs, what), getattr(ours, what)
        v.check('%s: %s' % (name, what), abs(a - b) / (abs(b) or 1), ROUND_OFF)


def checkpoints():
    ptah.unpack_ics('.', 'ic_32')
    for ranks in (1, 3):
        folder = 'ranks%d' % ranks
        os.makedirs(folder)
        os.symlink(os.path.abspath('ics'), folder + '/ics')
        yield ptah.simulate(COSMO, folder, ranks).outputs[-1]


def main():
    warnings.simplefilter('ignore')
    reader = {'yt': by_yt, 'osyris': by_osyris, 'pynbody': by_pynbody}[sys.argv[1]]
    v = ptah.Verdict()
    for path in sys.argv[2:] or checkpoints():
        compare(v, path, by_us(path), reader(path))
    v.end()


if __name__ == '__main__':
    main()
