"""Runs of solver='stencil' for Python tests: namelists, fields of checkpoints, time series."""
import glob
import os

import numpy as np
import ptah


def text(value):
    if isinstance(value, bool):
        return '.true.' if value else '.false.'
    if isinstance(value, str):
        return "'%s'" % value
    if isinstance(value, (tuple, list)):
        return ','.join(text(v) for v in value)
    return repr(value)


def group(name, values):
    return '&%s_PARAMS\n%s/\n' % (name, ''.join('%s=%s\n' % (k, text(v))
                                                for k, v in values.items()))


def namelist(steps, every=None, turb=None, output=None, **stencil):
    """A run of this many steps, with checkpoints at its start, its end and every `every` steps."""
    run = {'solver': 'stencil', 'nstepmax': steps}
    output = {'foutput': every or steps, **(output or {})}
    return (group('RUN', run) + group('STENCIL', stencil) + group('OUTPUT', output)
            + (group('TURB', turb) if turb else ''))


def simulate(text, cwd, options=('-q',), **more):
    return ptah.simulate(text, cwd, options=options, **more)


def fields(path):
    """Arrays [z][y][x] of a checkpoint, by name: ux for the component x of u, as in openPMD."""
    import h5py
    found = {}

    def see(name, item):
        if isinstance(item, h5py.Dataset):
            found[name.replace('/', '')] = item[...]
    with h5py.File(glob.glob(os.path.join(path, 'stencil_*.h5'))[0]) as f:
        (data,) = f['data'].values()
        data['fields'].visititems(see)
    return found


def last(run):
    return fields(run.outputs[-1])


def series(cwd):
    """Columns of time_series.txt, by name."""
    with open(os.path.join(cwd, 'time_series.txt')) as f:
        names = f.readline().strip('#-\n').split('--')
        rows = np.array([[float(w) for w in line.split()] for line in f if line.strip()])
    return dict(zip(names, rows.T))
