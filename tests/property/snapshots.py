"""Snapshots of Gadget and SWIFT: what inspect, pk and convert find in them is what is in them.

    snapshots.py same       the exports of a checkpoint (binary, Gadget-4, SWIFT, several files)
                            have its power spectrum and its halos, and convert makes a checkpoint of
                            them with the same particles
    snapshots.py types      gas, stars, black holes and masses of a file written by the test
    snapshots.py gas        cells and sinks of a checkpoint become particles of Gadget-4 and SWIFT
                            with their mass, energy and density (h5py)

Examples of faults caught: h forgotten in a mass of SWIFT; the root of a in velocities of one format
alone; rows of one file missing.
"""
# test: same tier=check timeout=180
# test: types tier=check timeout=180
# test: gas tier=check timeout=180
import os
import re
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import gadget_files as files  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from gadget_ics import FILES, apart, read  # noqa: E402


def program(name, *words):
    r = ptah.Run([ptah.program(name), *words], '.')
    if r.status:
        sys.exit(r.said())
    return r.out


def table(text):
    """Numbers of the rows of a table."""
    return np.array([[float(x) for x in line.split()[1:]] for line in text.splitlines()
                     if line.startswith('all')])


def halos(path):
    """Rows of the catalogue: number of members, mass, position."""
    text = program('inspect', '--halos', path)
    rows = [line.split('\t') for line in text.splitlines() if line[:1].isdigit()]
    return np.array([[float(x) for x in row[2:7]] for row in rows])


def checkpoint():
    ptah.unpack_ics('.', 'ic_32')
    text = FILES % (90, 5, 5, 'grafic', 'ics/ic_32/level_005', 90, '')
    return ptah.simulate(text, '.', options=['-q', '-o', 'run']).outputs[-1]


def same(v):
    out = checkpoint()
    spectrum, found, particles = table(program('pk', '-q', out)), halos(out), read(out)
    v.check('halos', float(len(found) == 0), 0)
    forms = {'gadget': ['-f', 'gadget', '--named', '--files', '2', '-o', 'gadget'],
             'gadget4': ['-f', 'gadget4', '--files', '3', '-o', 'several.hdf5'],
             'swift': ['-f', 'swift', '-o', 'swift.hdf5']}
    for name, words in forms.items():
        program('convert', '-q', *words, out)
        path, exact = words[-1], name != 'gadget'
        p, h = table(program('pk', '-q', path)), halos(path)
        v.check(name + ': spectrum', np.abs(p[:, 1] / spectrum[:, 1] - 1).max(),
                1e-10 if exact else 1e-4)
        v.same(name + ': members of halos', h[:, 0].tolist(), found[:, 0].tolist())
        v.check(name + ': halos', np.abs(h / found - 1).max(), 1e-6 if exact else 1e-4)
        os.makedirs('back_' + name)
        back = read(program('convert', '-q', '-f', 'ramses', '-o', 'back_%s/output_00000' % name,
                            path).strip())
        v.same(name + ': ids', np.array_equal(back[2], particles[2]), True)
        limit = 1e-13 if exact else 1e-7
        v.check(name + ': positions', apart(back[0], particles[0]), limit)
        v.check(name + ': velocities', np.abs(back[1] - particles[1]).max(),
                limit * np.abs(particles[1]).max())
        v.check(name + ': masses', np.abs(back[3] / particles[3] - 1).max(), limit)
    # a digest does not depend on the number of ranks, and any file names all
    text = program('inspect', '-d', 'several.1.hdf5')
    v.same('another file', text, program('inspect', '-d', 'several.hdf5'))


def types(v):
    p = files.particles(types=(0, 1, 2, 4, 5))
    base = files.hdf5('mixed.hdf5', p, files=2)
    for k in range(2):
        with h5py.File('mixed.%d.hdf5' % k, 'a') as f:
            n = len(f['PartType4/ParticleIDs'])
            f['PartType4/StellarFormationTime'] = np.full(n, 0.01)
            f['PartType4/Metallicity'] = np.full(n, 0.02)
            f['PartType5/BH_Mass'] = f['PartType5/Masses'][:]
    text = program('inspect', base)
    found = {m[1]: (int(m[2]), float(m[3])) for m in re.finditer(
        r'^  (dm|star|other|all) +(\d+) +(\S+)$', text, re.M)}
    count = {t: len(c[2]) for t, c in p.items()}
    v.same('dark matter', found['dm'][0], count[1] + count[2])
    v.same('stars', found['star'][0], count[4])
    v.same('gas and holes', found['other'][0], count[0] + count[5])
    part, whole = [sum(p[t][3].sum() for t in of) for of in ((1, 2), p)]
    v.check('mass', abs(found['dm'][1] / found['all'][1] / (part / whole) - 1), 1e-10)


GAS = """&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=2
/
&AMR_PARAMS
levelmin=5
levelmax=6
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
/
&REFINE_PARAMS
m_refine=2.6
/
&OUTPUT_PARAMS
foutput=2
noutput=1
aout=1.0
/
"""


def gas(v):
    ptah.unpack_ics('.', 'ic_32')
    out = ptah.simulate(GAS, '.', options=['-q', '-o', 'run']).outputs[-1]
    s = read_ramses.load(out)
    info = s.info
    a, h = info['aexp'], info['H0'] / 100
    sun, mpc = 1.98841e33, 3.0856776e24
    mass = info['unit_d'] * info['unit_l'] ** 3 / sun / 1e10
    speed = info['unit_l'] / info['unit_t'] / 1e5
    rho, dx = s.cell['density'], 0.5 ** s.level.astype(float)
    u = s.cell['pressure'] / rho / (info['gamma'] - 1) * speed ** 2
    names = {'gadget4': ('InternalEnergy', 'Density', h, 1e3 * h, 1 / np.sqrt(a), 1),
             'swift': ('InternalEnergies', 'Densities', 1, 1, 1, a * a)}
    for form, (energy, density, per_h, length, root, ua) in names.items():
        path = form + '.hdf5'
        program('convert', '-q', '-f', form, '--gas', '-o', path, out)
        side = info['unit_l'] / a / mpc * length
        with h5py.File(path) as f:
            g, d = f['PartType0'], f['PartType1']
            v.check(form + ': mass', abs(g['Masses'][:].sum() / (rho * dx ** 3).sum() /
                                         (mass * per_h) - 1), 1e-12)
            v.check(form + ': energies', abs(np.sort(g[energy][:]) / np.sort(u * ua) - 1).max(),
                    1e-6)
            v.check(form + ': densities', abs(np.sort(g[density][:]) / np.sort(rho) /
                                              (mass * per_h / side ** 3) - 1).max(), 1e-12)
            p = np.sort(s.part['velocity_x']) * speed * root
            v.check(form + ': velocities', abs(np.sort(d['Velocities'][:, 0]) - p).max() /
                    abs(p).max(), 1e-12)
            v.same(form + ': ids', len(set(g['ParticleIDs'][:]) | set(d['ParticleIDs'][:])),
                   len(rho) + len(s.part['identity']))
            v.same(form + ': counts', f['Header'].attrs['NumPart_ThisFile'][:2].tolist(),
                   [len(rho), len(s.part['identity'])])


def main():
    v = ptah.Verdict()
    {f.__name__: f for f in (same, types, gas)}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
