"""Runs of solver='sph' for Python tests: namelists, particles of checkpoints, energies."""
import glob
import os

import numpy as np
import ptah
import uniform


def namelist(steps, every=None, output=None, **sph):
    """A run of this many steps, with checkpoints at its start, its end and every `every` steps."""
    run = {'solver': 'sph', 'nstepmax': steps}
    output = {'foutput': every or steps, **(output or {})}
    return uniform.group('RUN', run) + uniform.group('SPH', sph) + uniform.group('OUTPUT', output)


def simulate(text, cwd, options=('-q',), **more):
    return ptah.simulate(text, cwd, options=options, **more)


def particles(path):
    """Columns of a checkpoint by name, in the order of ids; `sinks`, if there are any."""
    import h5py
    with h5py.File(glob.glob(os.path.join(path, 'sph_*.h5'))[0]) as f:
        found = {name: data[...] for name, data in f['particles'].items()}
        if 'sinks' in f and f['sinks'].size:
            found['sinks'] = f['sinks'][...]
    return found


def header(path):
    """Numbers of a checkpoint: of the equations, the box, and outputs."""
    import h5py
    with h5py.File(glob.glob(os.path.join(path, 'sph_*.h5'))[0]) as f:
        a = f['header'].attrs
        return dict(zip((k.decode() for k in a['keys']), a['values'].tolist()))


def last(run):
    return particles(run.outputs[-1])


def energies(cwd):
    """Columns of energies.txt, by name."""
    with open(os.path.join(cwd, 'energies.txt')) as f:
        names = f.readline().strip('# \n').split()
        rows = np.array([[float(w) for w in line.split()] for line in f if line.strip()])
    return dict(zip(names, rows.T))


def dump(path):
    """Arrays of the particles of a dump of Phantom (little endian, full, tagged), by tag, in the
    order of ids."""
    with open(path, 'rb') as f:
        data = f.read()
    at = 0

    def record():
        nonlocal at
        n = int.from_bytes(data[at:at + 4], 'little')
        at += n + 8
        return data[at - n - 4:at - 4]

    kinds = ['i4', 'i1', 'i2', 'i4', 'i8', 'f8', 'f4', 'f8']
    record(), record()
    for _ in kinds:
        if int.from_bytes(record(), 'little'):
            record(), record()
    blocks = [record() for _ in range(int.from_bytes(record(), 'little'))]
    found = {}
    for kind, number in zip(kinds, np.frombuffer(blocks[0][8:], 'i4')):
        for _ in range(number):
            tag = record().decode().strip()
            found[tag] = np.frombuffer(record(), kind)
    order = np.argsort(found['iorig'])
    return {tag: a[order] for tag, a in found.items()}
