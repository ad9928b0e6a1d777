"""Escape sequences inside a checkpoint do not reach a terminal: names of fields, texts, ordering,
names in an HDF5 file.

Example of a fault caught: a name of a descriptor that is printed as it stands.
"""
# test: tier=check timeout=120
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

EVIL = ('\x1b[31m', '\x07', '\x9b', '\x7f')


def make(form):
    """A checkpoint with an escape sequence in every text."""
    path = ptah.simulate(ptah.gas_box(form), form, options=['-q']).outputs[0]
    for name in glob.glob(path + '/checksums_*') + glob.glob(path + '/exact_*'):
        os.remove(name)
    for name in ('namelist.txt', 'compilation.txt'):
        with open(os.path.join(path, name), 'a', encoding='utf-8') as f:
            f.write('! %s\n' % ''.join(EVIL))
    return path


def judge(v, what, argv):
    r = ptah.Run(argv, '.', timeout=60)
    text = r.out + r.err
    v.same('%s: %s' % (what, ' '.join(argv[1:])),
           [c for c in ('\x1b', '\x07', '\x9b', '\x7f') if c in text], [])
    if r.status not in (0, 1, 2):
        v.same('ends', r.status, 0)
    return text


def ask(v, what, path):
    inspect = ptah.program('inspect')
    for options in ([], ['-v'], ['-j'], ['-d'], ['-dj'], ['-t'], ['-p'], ['-pj'], ['-c'], ['-cc'],
                    ['-cj'], ['-m', 'nothing']):
        judge(v, what, [inspect, *options, path])
    judge(v, what, [inspect, path, path])
    for program, *options in (('pk', '-n', '8'), ('convert', '-v', '-o', 'out'),
                              ('repartition', '-v', '-n', '2', '-o', 'out')):
        shutil.rmtree('out', ignore_errors=True)
        judge(v, what, [ptah.program(program), *options, path])


def main():
    v = ptah.Verdict()
    path = make('original')
    file = glob.glob(os.path.join(path, 'hydro_file_descriptor.txt'))[0]
    with open(file) as f:
        text = f.read()
    for word in ('pressure', 'density'):
        text = text.replace(word, word + '\x1b[31m')
    with open(file, 'w') as f:
        f.write(text)
    ask(v, 'binary', path)
    amr = sorted(glob.glob(os.path.join(path, 'amr_*')))[0]
    for at, n in tiny.Records(amr)[1:]:
        if n == 128:
            tiny.put(amr, at, '9s', b'hil\x1b[31mx')
    ask(v, 'ordering', path)
    try:
        import h5py
    except ImportError:
        v.end()
    path = make('hdf5')
    with h5py.File(glob.glob(os.path.join(path, '*.h5'))[0], 'r+') as f:
        f['ptah/particles/\x1b[31mrow'] = [1.0, 2.0]
        f['sinks/\x1b[31mrow'] = [1.0, 2.0]
        f['sinks'].attrs['nsink'] = 2
    ask(v, 'HDF5', path)
    v.end()


main()
