"""Readers of the field open Ptah's checkpoints and agree with inspect: cells, gas mass, particles
and their mass, extrema.

    readers.py yt|osyris|pynbody [CHECKPOINT...]    the checkpoints of a small cosmological run on
                                                    1 and 3 ranks, or those given
    readers.py sinks      sinks and further columns of particles, as convert writes them (osyris,
                          pynbody; yt would need pandas)

Example of a fault caught: a missing record, a level without its empty entries, a descriptor of
another version.
"""
# test: yt tier=check timeout=180
# test: osyris tier=check timeout=180
# test: pynbody tier=check timeout=180
# test: sinks tier=check timeout=180
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
    """Quantities that a reader finds in a checkpoint, in code units."""

    def __init__(self, cells, gas_mass, density_max, particles, particle_mass, speed_max):
        self.cells, self.particles = int(cells), int(particles)
        self.gas_mass, self.density_max = float(gas_mass), float(density_max)
        self.particle_mass, self.speed_max = float(particle_mass), float(speed_max)


def by_us(path):
    s = read_ramses.load(path)
    rho = s.cell.get('density', np.zeros(0))
    p = s.part
    speed = np.abs(p['velocity_x']).max() if p else 0
    return Found(len(s.level), (rho * s.volume[:len(rho)]).sum(), rho.max() if len(rho) else 0,
                 len(p.get('mass', [])), p['mass'].sum() if p else 0, speed)


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
    gas_mass = ad['gas', 'cell_mass'].sum().to('code_mass').value if gas else 0
    density = ad['ramses', 'Density'].max().value if gas else 0
    return Found(len(ad['index', 'dx']), gas_mass, density, count, mass, speed)


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
    return Found(len(dx), (rho * dx[:len(rho)] ** 3).sum(), rho.max() if gas else 0, len(mass),
                 mass.sum(), speed)


def by_pynbody(path):
    import pynbody
    s = pynbody.load(path)
    gas, dm = s.gas, s.dm
    mass, speed = (dm['mass'].sum(), np.abs(dm['vel'][:, 0]).max()) if len(dm) else (0, 0)
    return Found(len(gas), gas['mass'].sum(), gas['rho'].max(), len(dm), mass, speed)


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


def sinks():
    """The checkpoint made by property/beside."""
    sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
    import beside
    import osyris
    import pynbody
    v = ptah.Verdict()
    settings = ['run_params/nstepmax=1', 'output_params/foutput=1']
    by_id = beside.make(beside.base.checkpoint(1, settings))
    beside.base.convert('-n', '3', '-o', beside.NAME, 'ours')
    ours, info = beside.SINKS, read_ramses.read_info(beside.NAME)
    data = osyris.RamsesDataset(2, path='.').load()
    mass = data['sink']['msink'].to('g').values / (info['unit_d'] * info['unit_l'] ** 3)
    v.check('osyris: mass of the sinks', abs(mass / ours['msink'] - 1).max(), ROUND_OFF)
    x = data['sink']['position'].x.to('cm').values / info['unit_l']
    v.check('osyris: their places', abs(x / ours['xsink_1'] - 1).max(), ROUND_OFF)
    order = np.argsort(data['part']['identity'].values)
    v.same('osyris: further columns that differ',
           [n for n, c in by_id.items()
            if n != 'potential' and not np.array_equal(data['part'][n].values[order], c)],
           [])
    s = pynbody.load(beside.NAME)
    v.check('pynbody: mass of the sinks',
            abs(np.asarray(s.bh['mass']) / ours['msink'] - 1).max(), ROUND_OFF)
    v.check('pynbody: their places',
            abs(np.asarray(s.bh['pos'][:, 0]) / ours['xsink_1'] - 1).max(), ROUND_OFF)
    v.same('pynbody: stars',
           len(s.star), int((read_ramses.load(beside.NAME).part['family'] == 2).sum()))
    v.end()


def main():
    warnings.simplefilter('ignore')
    if sys.argv[1] == 'sinks':
        sinks()
        return
    reader = {'yt': by_yt, 'osyris': by_osyris, 'pynbody': by_pynbody}[sys.argv[1]]
    v = ptah.Verdict()
    for path in sys.argv[2:] or checkpoints():
        compare(v, path, by_us(path), reader(path))
    v.end()


if __name__ == '__main__':
    main()
