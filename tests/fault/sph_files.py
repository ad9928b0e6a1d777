"""Hostile files of smoothed particles: whatever a checkpoint, a dump of Phantom or a snapshot says,
each program ends with one sentence that names it, and inspect -c finds the damage.

    sph_files.py checkpoint   numbers, names and datasets of the header, lost ends, flipped bits
    sph_files.py dump         cut at each record, lengths and counts that lie, tags, values; both
                              byte orders

Examples of faults caught: memory for the particles that a header claims, a record that is longer
than the file, a checksum beyond the end of the table, an h of 0 that starts a run.
"""
# test: checkpoint tier=check timeout=120
# test: dump tier=check timeout=120
import os
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import phantom_files  # noqa: E402
import ptah  # noqa: E402
import read_phantom  # noqa: E402
import smoothed  # noqa: E402

N = 50


def run(name, *words):
    return ptah.Run([ptah.program(name), *words], '.', timeout=60)


def source():
    rng = np.random.default_rng(3)
    phantom_files.write('x_00001', rng.random((N, 3)), rng.normal(size=(N, 3)), 1 + rng.random(N),
                        0.1 + rng.random(N), (np.zeros(3), np.ones(3)))
    with open('x_00001', 'rb') as f:
        return f.read()


def told(r, path):
    """One sentence on standard error, about this file."""
    return r.status == 2 and r.err.count('\n') == 1 and path in r.err


def ask(v, what, path, numbers=False):
    """numbers: only parameters are wrong, which digests take as they are."""
    for words in (['inspect', '-s'], ['inspect', '-d'], ['convert', '-q', '-f', 'vtp', '-o', 'no']):
        r = run(words[0], *words[1:], path)
        shown = numbers and words[1] == '-d' and r.status == 0
        if not told(r, path) and not shown:
            v.same('%s: %s' % (what, ' '.join(words)), (r.status, r.err), 'one sentence')
    r = run('inspect', '-cc', path)
    v.same('%s: -cc' % what, (r.status, 'damaged' in r.out, r.err), (1, True, ''))


# ---- checkpoints

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


def number(name, value):
    def change(f):
        a = f['header'].attrs
        names, values = [k.decode() for k in a['keys']], a['values']
        values[names.index(name)] = value
        a['values'] = values
    return change


X = 'particles/x'
CASES = {
    'a quadrillion particles': attribute('npart', 10**15),
    'negative particles': attribute('npart', -1),
    'one particle more': attribute('npart', N + 1),
    'particles as a real': attribute('npart', 50.0),
    'a time that is NaN': attribute('t', np.nan),
    'a negative step': attribute('dt', -1.0),
    'negative steps': attribute('it', -1),
    'another version': attribute('version', 2),
    'another solver': attribute('solver', np.bytes_(b'sphere')),
    'no solver': without('solver'),
    'no particles': without('npart'),
    'blocks of no rows': attribute('rows', 0),
    'blocks of too many rows': attribute('rows', 2**40),
    'fewer numbers than keys': attribute('values', [1.0]),
    'a mass of 0': number('mass', 0),
    'a kernel of its own': number('kernel', 7),
    'half a kernel': number('kernel', 0.5),
    'a number that is NaN': number('gamma', np.nan),
    'a box of no size': number('side_y', 0),
    'no column': gone('particles/divv'),
    'no columns': gone('particles'),
    'single precision': dataset(X, np.zeros(N, 'f4')),
    'another number of rows': dataset(X, np.zeros(N - 1)),
    'two dimensions': dataset(X, np.zeros((N, 1))),
    'other values': dataset(X, np.zeros(N)),
    'types as reals': dataset('particles/type', np.ones(N)),
    'a sum beyond the table': attribute('checksum', 10**9, X),
    'a negative sum': attribute('checksum', -1, X),
    'no sum': without('checksum', X),
    'no sums': gone('ptah/checksum'),
    'sinks without names': lambda f: f.create_dataset('sinks', data=np.zeros(4)).attrs.create(
        'checksum', 0),
}


PARAMETERS = ('a mass of 0', 'a kernel of its own', 'half a kernel', 'a box of no size')


def test_checkpoint(v):
    try:
        import h5py
    except ImportError:
        ptah.skip('there is no h5py')
    source()
    sound = run('convert', '-q', '-o', 'sound', 'x_00001').out.strip()
    v.same('sound', run('inspect', '-cc', sound).status, 0)
    path = os.path.join('hostile', 'output_00001')

    def copy():
        shutil.rmtree('hostile', ignore_errors=True)
        shutil.copytree(sound, path)
        return os.path.join(path, 'sph_00001.h5')
    for what, change in CASES.items():
        with h5py.File(copy(), 'r+') as f:
            change(f)
        ask(v, what, path, what in PARAMETERS)
    with open(os.path.join(sound, 'sph_00001.h5'), 'rb') as f:
        whole = f.read()
    half = bytearray(whole)
    half[whole.index(read_phantom.load('x_00001').arrays['vx'][7].tobytes())] ^= 1
    for what, text in (('empty', b''), ('no HDF5', b'x' * 5000), ('cut', whole[:len(whole) // 2]),
                       ('a bit of a value', bytes(half))):
        with open(copy(), 'wb') as f:
            f.write(text)
        ask(v, what, path)


# ---- dumps

def put(text):
    with open('bad', 'wb') as f:
        f.write(text)


def values(d, tag, row, x):
    """The array with another value."""
    for k, (name, kind, a) in enumerate(d.block[0]):
        if name == tag:
            a = a.copy()
            a[row] = x
            d.block[0][k] = (name, kind, a)


def header(d, tag, x):
    d.number = [(n[0], n[1], n[2].dtype.type(x)) if n[0] == tag else n for n in d.number]


# What is changed, and a word of the message.
DUMPS = {
    'NaN': (lambda d: values(d, 'x', 7, np.nan), '(x) at byte'),
    'infinite': (lambda d: values(d, 'u', 7, np.inf), 'value 8 is inf'),
    'h of 0': (lambda d: values(d, 'h', 3, 0), 'value 4 is 0, expected a positive'),
    'an id twice': (lambda d: values(d, 'iorig', 3, 1), 'two particles have the id 1'),
    'no mass': (lambda d: header(d, 'massoftype', 0), 'massoftype 0'),
    'gamma': (lambda d: header(d, 'gamma', -1), 'gamma -1'),
    'time': (lambda d: header(d, 'time', np.nan), 'time nan'),
    'hfact': (lambda d: header(d, 'hfact', 1e30), 'hfact 1e+30'),
    'box': (lambda d: header(d, 'xmax', -1), 'the box has no size'),
    'equation of state': (lambda d: header(d, 'ieos', 12), 'equation of state 12'),
    'particles': (lambda d: header(d, 'nparttot', N + 1), 'nparttot 51'),
    'all of them dead': (lambda d: values(d, 'h', slice(None), -1), 'are dead'),
}


def check_values(v, order):
    for what, (change, word) in DUMPS.items():
        d = read_phantom.load('x_00001')
        change(d)
        put(read_phantom.text_of(d, order))
        if order == '<':
            ask(v, what, 'bad')
        r = run('inspect', '-s', 'bad')
        v.same('%s (%s): message' % (what, order), word in r.err or r.err, True)


GAS = {
    'thermal energy': lambda d: values(d, 'u', 7, -1),
    'alpha -2': lambda d: values(d, 'alpha', 7, -2),
}


def check_gas(v):
    """What programs show, but no run begins with."""
    for word, change in GAS.items():
        d = read_phantom.load('x_00001')
        change(d)
        put(read_phantom.text_of(d, '<'))
        r = smoothed.simulate(smoothed.namelist(1, setup='file', init_file='../bad'), 'gas',
                              must_work=False)
        v.same('a run of %s' % word, (told(r, '../bad: particle 8 has'), word in r.err or r.err),
               (True, True))


def check_records(v, order):
    """Each record cut off, its length changed, split; a few counts."""
    put(read_phantom.text_of(read_phantom.load('x_00001'), order))
    d = read_phantom.load('bad')
    text, mark = d.text, struct.Struct(order + 'i')
    wrong = []
    for at in d.records[1:]:  # a changed first record is no dump at all
        n, = mark.unpack_from(text, at)
        for what, bad in (('cut', text[:at + 4 + n]),
                          ('longer', text[:at] + mark.pack(n + 4) + text[at + 4:]),
                          ('huge', text[:at] + mark.pack(2**31 - 1) + text[at + 4:]),
                          ('split', text[:at] + mark.pack(-n) + text[at + 4:])):
            put(bad)
            r = run('inspect', '-q', '-d', 'bad')
            if not told(r, 'bad') or 'byte' not in r.err:
                wrong.append((at, what, r.status, r.err))
    v.same('records (%s)' % order, wrong, [])


def check_whole(v, text):
    for what, bad, word in (
            ('bytes behind', text + b'1234', 'bytes follow'),
            ('no tags', text.replace(b'FT:Phantom', b'F :Phantom'), 'without tags'),
            ('neither full nor small', text.replace(b'FT:Phantom', b'XT:Phantom'), 'begins with'),
            ('a tag', text.replace(b'gamma', b'ga\0ma'), 'not printable'),
            ('another tag', text.replace(b'gamma', b'gamme'), 'no number gamma'),
            ('small', text.replace(b'vx  ', b'wx  '), 'no array vx'),
            ('marks', text[:24] + b'\1' + text[25:], '690706')):
        put(bad)
        r = run('inspect', '-d', 'bad')
        v.same(what, (told(r, 'bad'), word in r.err or r.err), (True, True))


def test_dump(v):
    text = source()
    check_whole(v, text)
    check_records(v, '<')
    check_values(v, '<')
    check_values(v, '>')
    check_gas(v)


def main():
    v = ptah.Verdict()
    {'checkpoint': test_checkpoint, 'dump': test_dump}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
