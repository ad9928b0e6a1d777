"""Damaged and foreign snapshots of Gadget: one sentence with the file, exit status 2, and no hang,
as initial conditions and in inspect.

Examples of faults caught: a length of a record that is trusted; a file of several that is missing
and read as empty; a position that is no number and becomes one of the box.
"""
# test: tier=check timeout=180
import os
import shutil
import struct
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import gadget_files as files  # noqa: E402
import ptah  # noqa: E402

INPUT = """&RUN_PARAMS
cosmo=%s
pic=%s
poisson=.true.
hydro=%s
nstepmax=0
/
&AMR_PARAMS
levelmin=3
levelmax=3
/
&INIT_PARAMS
filetype='gadget'
initfile(1)='%s'
/
"""
POS = 264  # mark of the first block of format 1


def edit(path, at, data, source='good'):
    shutil.copy(source, path)
    with open(path, 'r+b') as f:
        f.seek(at)
        f.write(data)


def cut(path, n, source='good'):
    with open(source, 'rb') as f, open(path, 'wb') as g:
        g.write(f.read()[:n])


def change(path, attribute, value):
    shutil.copy('good.hdf5', path)
    with h5py.File(path, 'a') as f:
        f['Header'].attrs[attribute] = value


def damaged(size):
    """Makes files; returns (name, words of the message)."""
    cases = [('cut_header', 'ends within its header|truncated'), ('cut_pos', 'truncated'),
             ('cut_id', 'truncated'), ('mark', 'damaged'), ('count', 'record|no sense'),
             ('minus', 'no sense'), ('nan', 'row 5'), ('no_box', 'side 0'),
             ('no_time', 'expansion factor'), ('files', 'missing|there is no'),
             ('mixed', 'does not belong'), ('lost', 'lost.1'), ('far', 'outside'),
             ('odd_mass', 'gadget_unit'), ('gas', 'particles of gas'), ('empty', 'empty|bytes'),
             ('text', 'not a snapshot|no such'), ('none', 'no such'), ('shape.hdf5', 'rows'),
             ('kind.hdf5', 'real numbers'), ('lacks.hdf5', 'no dataset'),
             ('many.hdf5', 'NumPart|rows|no sense'), ('wide.hdf5', 'no sense|rows'),
             ('bare.hdf5', 'gadget_h0'), ('brick.hdf5', 'cube')]
    cut('cut_header', 100)
    cut('cut_pos', 1000)
    cut('cut_id', size - 3)
    edit('mark', POS, struct.pack('<i', 12345))
    edit('count', 4 + 4, struct.pack('<i', 10 ** 9))
    edit('minus', 4 + 4, struct.pack('<i', -5))
    edit('nan', POS + 4 + 12 * 5 + 4, struct.pack('<f', float('nan')))
    edit('no_box', 4 + 128, struct.pack('<d', 0.0))
    edit('no_time', 4 + 72, struct.pack('<d', -1.0))
    edit('files', 4 + 124, struct.pack('<i', 3))
    p = files.particles()
    for name in ('mixed', 'lost'):
        files.binary(name, p, files=3)
    files.binary('other', p, files=3, time=0.03)
    shutil.copy('other.1', 'mixed.1')
    os.remove('lost.1')
    edit('far', POS + 4, struct.pack('<f', 1e9))
    files.binary('odd_mass', p, unit=0.1)
    files.binary('gas', files.particles(types=(0, 1)))
    open('empty', 'w').close()
    with open('text', 'w') as f:
        f.write('no snapshot\n' * 100)
    files.hdf5('good.hdf5', p)
    for name, sets in (('shape', {'Coordinates': np.zeros((512, 2))}),
                       ('kind', {'Velocities': np.zeros((512, 3), 'i4')}), ('lacks', {})):
        shutil.copy('good.hdf5', name + '.hdf5')
        with h5py.File(name + '.hdf5', 'a') as f:
            for key in sets or ['ParticleIDs']:
                del f['PartType1/' + key]
            for key, data in sets.items():
                f['PartType1/' + key] = data
    change('many.hdf5', 'NumPart_ThisFile', np.array([0, 10 ** 12, 0, 0, 0, 0], 'u8'))
    change('wide.hdf5', 'NumPart_Total_HighWord', np.array([0, 2 ** 31 - 1, 0, 0, 0, 0], 'u4'))
    files.hdf5('bare.hdf5', p, code='swift', bare=True)
    change('brick.hdf5', 'BoxSize', np.array([20.0, 20.0, 10.0]))
    return cases


def main():
    v = ptah.Verdict()
    files.binary('good', files.particles())
    for name, words in damaged(os.path.getsize('good')):
        r = ptah.simulate(INPUT % ('.true.', '.true.', '.false.', name), '.', must_work=False,
                          timeout=20)
        check(v, 'simulate ' + name, r, words)
        if name not in ('gas', 'odd_mass', 'bare.hdf5'):
            r = ptah.Run([ptah.program('inspect'), '-cc', name], '.', timeout=20)
            v.same('inspect %s: status' % name, r.status in (1, 2), True)
    for settings, words in (((False, True, False), 'cosmo=.true.'),
                            ((True, False, False), 'pic=.true.'),
                            ((True, True, True), 'hydro=.false.')):
        flags = ['.true.' if x else '.false.' for x in settings]
        r = ptah.simulate(INPUT % (*flags, 'good'), '.', must_work=False)
        check(v, 'settings %s' % words, r, words)
    v.end()


def check(v, name, r, words):
    said = [line for line in r.err.splitlines() if line.startswith('simulate:')]
    v.same(name, (r.status, len(said), any(w in r.err for w in words.split('|'))), (2, 1, True))
    if r.status != 2:
        print(r.err)


if __name__ == '__main__':
    main()
