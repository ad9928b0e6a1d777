"""Readers of the field open the snapshots that convert writes, and find the masses, velocities and
densities of the checkpoint: yt and pynbody for Gadget-4, pynbody for SWIFT (yt's reader of SWIFT
needs an older numpy).

Example of a fault caught: an attribute that a reader looks for and the layout lacks; kpc for Mpc.
"""
# test: tier=check timeout=180
import os
import re
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'property'))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from snapshots import GAS, program  # noqa: E402

SUN = 1.98841e33
ROUND_OFF = 1e-4  # of constants: solar masses and Mpc


def with_yt(path):
    import yt
    yt.set_log_level(50)
    data = yt.load(path).all_data()
    return {'mass': float(data['all', 'particle_mass'].sum().to('g')) / SUN,
            'speed': float(data['PartType1', 'particle_velocity_x'].to('km/s').std()),
            'density': float(data['PartType0', 'density'].to('g/cm**3').max())}


def with_pynbody(path):
    import pynbody
    s = pynbody.load(path)
    return {'mass': float(s['mass'].sum().in_units('g')) / SUN,
            'speed': float(np.std(s.dm['vel'].in_units('km s^-1')[:, 0])),
            'density': float(s.gas['rho'].in_units('g cm^-3').max())}


def main():
    warnings.simplefilter('ignore')
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    out = ptah.simulate(GAS, '.', options=['-q', '-o', 'run']).outputs[-1]
    s = read_ramses.load(out)
    info = s.info
    mass = s.part['mass'].sum() + (s.cell['density'] * s.volume).sum()
    speed = np.std(s.part['velocity_x']) * info['unit_l'] / info['unit_t'] / 1e5
    expected = {'mass': mass * info['unit_d'] * info['unit_l'] ** 3 / SUN, 'speed': speed,
                'density': s.cell['density'].max() * info['unit_d']}
    for form, readers in (('gadget4', (with_yt, with_pynbody)), ('swift', (with_pynbody,))):
        program('convert', '-q', '-f', form, '--gas', '-o', form + '.hdf5', out)
        for reader in readers:
            found = reader(form + '.hdf5')
            for key, value in expected.items():
                name = '%s by %s: %s' % (form, reader.__name__, key)
                v.check(re.sub('with_', '', name), abs(found[key] / value - 1), ROUND_OFF)
    v.end()


if __name__ == '__main__':
    main()
