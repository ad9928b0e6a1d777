#!/usr/bin/env python3
"""yt opens the table of halos that inspect --halos writes as HDF5, as a halo catalogue.

Example of a fault caught: a length in kpc where yt takes centimetres; a missing attribute.
"""
# test: tier=check timeout=180
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import moving_groups as moving  # noqa: E402
import ptah  # noqa: E402

try:
    import yt
except ImportError as e:
    ptah.skip(str(e))


def main(v):
    warnings.simplefilter('ignore')
    yt.set_log_level(50)
    path = moving.write('out', np.random.default_rng(4))[-1]
    r = ptah.Run([ptah.program('inspect'), '--halos', '-o', 'halos.0.h5', path], '.')
    v.same('status', (r.status, r.err), (0, ''))
    lines = [line.split('\t') for line in r.out.splitlines()]
    names = [w.split(' ')[0] for w in next(w for w in lines if w[0] == '#halo')]
    rows = np.array([[float(x) for x in w] for w in lines if w[0][0] != '#'])
    table = {name: rows[:, k] for k, name in enumerate(names)}
    data = yt.load('halos.0.h5')
    all_data = data.all_data()
    v.check('box', abs(float(data.domain_width[0].to('Mpc')) * (1 + data.current_redshift)
                       * float(data.hubble_constant) / moving.BOX - 1), 1e-6)
    age = data.cosmology.t_from_z(data.current_redshift).to('Gyr')
    v.check('time', abs(float(data.current_time.to('Gyr') / age) - 1), 1e-4)
    found = {name: all_data['halos', key].to(unit).v for name, key, unit in (
        ('mass', 'particle_mass', 'Msun'), ('rvir', 'virial_radius', 'kpc'),
        ('vy', 'particle_velocity_y', 'km/s'), ('m200c', 'm200c', 'Msun'))}
    found['z'] = (all_data['halos', 'particle_position_z'] / data.domain_width[2]).to('').v
    found['id'] = all_data['halos', 'particle_identifier'].v
    mine, theirs = np.argsort(table['id']), np.argsort(found['id'])
    for name, x in found.items():
        if v.same(name + ': halos', len(x), len(rows)):
            # yt's mass of the Sun differs by 3e-6
            v.check(name, np.abs(x[theirs] / table[name][mine] - 1).max(), 1e-5)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    main(verdict)
    verdict.end()
