"""Hostile checkpoints of uniform meshes: whatever a file says, each program ends with one sentence
that names it, and inspect -c finds the damage.

Examples of faults caught: memory for the cells that a header claims, names that leave the group of
fields, a checksum beyond the end of the table, a NaN that starts a run.
"""
# test: tier=check timeout=240
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import grid_files  # noqa: E402
import ptah  # noqa: E402

N = (8, 8, 8)


def attribute(name, value, at='header'):
    def change(f):
        f[at].attrs[name] = value
    return change


def without(name, at='header'):
    def change(f):
        del f[at].attrs[name]
    return change


def dataset(path, values):
    def change(f):
        attrs = dict(f[path].attrs)
        del f[path]
        d = f.create_dataset(path, data=values)
        for k, x in attrs.items():
            d.attrs[k] = x
    return change


def gone(path):
    def change(f):
        del f[path]
    return change


def names(*words):
    return np.array([w.encode() for w in words], 'S32')


U = 'data/1/fields/u/x'
FIELDS = ('lnrho', 'ux', 'uy', 'uz', 's')
CASES = {
    'a million cells a side': attribute('nx', 10**6),
    'cells beyond 64 bits': attribute('ny', 2**62),
    'no cells': attribute('nz', 0),
    'negative cells': attribute('nx', -8),
    'cells as a real': attribute('nx', 8.0),
    'two numbers of cells': attribute('nx', [8, 8]),
    'a box of no size': attribute('lx', 0.0),
    'a box that is NaN': attribute('ly', np.nan),
    'a time that is NaN': attribute('t', np.nan),
    'a negative step': attribute('dt', -1.0),
    'negative steps': attribute('it', -1),
    'order 3': attribute('order', 3),
    'order of 2^31': attribute('order', 2**31),
    'another version': attribute('version', 2),
    'another solver': attribute('solver', np.bytes_(b'sph')),
    'no solver': without('solver'),
    'no cells along x': without('nx'),
    'blocks of no lines': attribute('rows', 0),
    'blocks beyond the mesh': attribute('rows', 65),
    'blocks of other lines': attribute('rows', 7),
    'a name twice': attribute('fields', names('lnrho', 'ux', 'uy', 'uz', 'ux')),
    'a name with a path': attribute('fields', names('lnrho', '../ux', 'uy', 'uz', 's')),
    'an empty name': attribute('fields', names('lnrho', '', 'uy', 'uz', 's')),
    'a name that is no field': attribute('fields', names('lnrho', 'ux', 'uy', 'uz', 'q')),
    'names as numbers': attribute('fields', [1, 2, 3]),
    'too many names': attribute('fields', names(*['f%d' % i for i in range(33)])),
    'no names': without('fields'),
    'fewer numbers than keys': attribute('values', [1.0]),
    'a number that is NaN': attribute('values', np.full(19, np.nan)),
    'no field': gone('data/1/fields/s'),
    'no group of fields': gone('data'),
    'single precision': dataset(U, np.zeros((8, 8, 8), 'f4')),
    'another shape': dataset(U, np.zeros((8, 8, 9))),
    'one dimension': dataset(U, np.zeros(512)),
    'other values': dataset(U, np.zeros((8, 8, 8))),
    'a sum beyond the table': attribute('checksum', 10**9, U),
    'a negative sum': attribute('checksum', -1, U),
    'no sum': without('checksum', U),
    'no sums': gone('ptah/checksum'),
    'sums as reals': dataset('ptah/checksum', np.zeros(9)),
}


def told(r, path):
    """One sentence on standard error, about this checkpoint."""
    return r.err.count('\n') == 1 and path in r.err and r.status == 2


def ask(v, what, path):
    for words in (['inspect', '-s'], ['inspect', '-d'], ['inspect', '-m', 'ux', '-q'], ['pk'],
                  ['convert', '-q', '-f', 'hdf5', '-o', 'out']):
        r = ptah.Run([ptah.program(words[0]), *words[1:], path], '.', timeout=60)
        if not told(r, path) and not (r.status == 0 and words[1:2] == ['-m']):
            v.same('%s: %s' % (what, ' '.join(words)), (r.status, r.err), 'one sentence')
    r = ptah.Run([ptah.program('inspect'), '-cc', path], '.', timeout=60)
    v.same('%s: -cc' % what, (r.status, 'damaged' in r.out, r.err), (1, True, ''))


def in_header(v, source):
    import h5py
    for what, change in CASES.items():
        path = os.path.join('hostile', 'output_00001')
        shutil.rmtree('hostile', ignore_errors=True)
        shutil.copytree(source, path)
        with h5py.File(os.path.join(path, 'stencil_00001.h5'), 'r+') as f:
            change(f)
        ask(v, what, path)


def in_bytes(v, source):
    name = 'stencil_00001.h5'
    with open(os.path.join(source, name), 'rb') as f:
        whole = f.read()
    half = bytearray(whole)
    at = whole.index(np.float64(0.123456789).tobytes())
    half[at] ^= 1
    for what, text in (('empty', b''), ('no HDF5', b'x' * 5000), ('cut', whole[:len(whole) // 2]),
                       ('a bit of a value', bytes(half))):
        path = os.path.join('hostile', 'output_00001')
        shutil.rmtree('hostile', ignore_errors=True)
        shutil.copytree(source, path)
        with open(os.path.join(path, name), 'wb') as f:
            f.write(text)
        ask(v, what, path)


def main():
    try:
        import h5py  # noqa: F401
    except ImportError:
        ptah.skip('there is no h5py')
    v = ptah.Verdict()
    fields = grid_files.smooth(N, (1.0, 1.0, 1.0), FIELDS)
    fields['ux'][3, 4, 5] = 0.123456789
    source = grid_files.write('.', 1, N, (1.0, 1.0, 1.0), fields)
    v.same('sound', ptah.Run([ptah.program('inspect'), '-cc', source], '.').status, 0)
    in_header(v, source)
    in_bytes(v, source)
    for what, value in (('NaN', np.nan), ('infinite', np.inf)):
        fields['uy'][1, 2, 3] = value
        path = grid_files.write('values', 1, N, (1.0, 1.0, 1.0), fields)
        r = ptah.Run([ptah.program('convert'), '-q', '-f', 'hdf5', '-o', 'out', path], '.')
        v.same('%s: convert' % what, (told(r, path), 'in cell 3 2 1' in r.err), (True, True))
        v.same('%s: -c, -cc' % what,
               [ptah.Run([ptah.program('inspect'), c, path], '.').status for c in ('-c', '-cc')],
               [0, 1])
    v.end()


if __name__ == '__main__':
    main()
