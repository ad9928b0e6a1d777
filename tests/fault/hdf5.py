#!/usr/bin/env python3
"""HDF5 checkpoints: the same bytes for other ranks and at another time; in all the forms that HDF5 has for them; and damaged.

A small run's checkpoint is copied by h5py: in the oldest format and a new one, with groups in heaps, chunks with each filter,
big-endian, integers of 32 bits in 8 bytes (as cuRAMSES has them). `inspect -d` must find the same digest in
each; and in those, with a bit flipped or cut, the same one or another (they need not have checksums), or give one sentence: no signal, no
hang. Catches: a form that is misread, a length that is believed.

"""
# test: timeout=240 ranks=3
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

try:
    import h5py
    import numpy as np
except ImportError:
    ptah.skip('no h5py')

NAMELIST = """&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=2
levelmax=3
/
&INIT_PARAMS
nregion=1
/
&OUTPUT_PARAMS
outformat='hdf5'
foutput=1
/
&REFINE_PARAMS
m_refine=0.001
/
"""
FLIPS = 12


def skip_filters(d, item):
    """Of three chunks in a row one is stored without filters, and one with the first filter, shuffle, alone."""
    n = d.get_create_plist().get_chunk()[0]
    for k, at in enumerate(range(0, item.size, n)):
        part = item[at:at + n]
        part = np.concatenate([part, np.zeros(n - len(part), part.dtype)])
        if k % 3 == 1:
            d.write_direct_chunk((at,), part.tobytes(), 0b111)
        elif k % 3 == 2:
            d.write_direct_chunk((at,), part.view('u1').reshape(n, -1).T.tobytes(), 0b110)


def copy(source, target, form):
    """Every group, attribute and dataset; form: keywords for create_dataset, or a function of type → type."""
    for name, value in source.attrs.items():
        a = h5py.h5a.open(source.id, name.encode())
        h5py.h5a.create(target.id, name.encode(), a.get_type(), a.get_space()).write(source.attrs.get(name))
    for name, item in source.items():
        if isinstance(item, h5py.Group):
            copy(item, target.create_group(name), form)
            continue
        dtype, options = item.dtype, dict(form)
        if options.pop('big', False):
            dtype = dtype.newbyteorder('>')
        kind = h5py.h5t.py_create(dtype)
        if options.pop('short', False) and dtype.kind == 'i' and dtype.itemsize == 8 and name != 'checksum':
            kind.set_precision(32)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        if options and item.size:
            plist.set_chunk((max(1, item.size // 3),))
            for f in options:
                {'gzip': lambda: plist.set_deflate(4), 'shuffle': plist.set_shuffle,
                 'fletcher': plist.set_fletcher32, 'chunks': lambda: None, 'skip': lambda: None}[f]()
        d = h5py.h5d.create(target.id, name.encode(), kind, item.id.get_space(), plist)
        if item.size:
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, item[()])
        if item.size and 'skip' in form:
            skip_filters(d, item)
        for a in item.attrs:
            target[name].attrs[a] = item.attrs[a]


FORMS = {
    'oldest': ('earliest', {}),
    'dense': ('v110', {}),
    'big': ('earliest', {'big': True}),
    'short': ('earliest', {'short': True}),
    'chunks': ('earliest', {'chunks': 1}),
    'filters': ('v108', {'shuffle': 1, 'gzip': 1, 'fletcher': 1}),
    'skipped': ('v108', {'shuffle': 1, 'gzip': 1, 'fletcher': 1, 'skip': 1}),
}


def inspect(path):
    r = ptah.Run([ptah.program('inspect'), '-d', path], '.', timeout=60)
    if r.timed_out or r.status not in (0, 2) or (r.status == 2 and len(r.err.splitlines()) != 1):
        print('%s: status %s: %s' % (path, r.status, r.err))
        sys.exit(1)
    return r.out if r.status == 0 else None


def convert_perturbed(path):
    """Memory that is given back is overwritten at once. Catches: the driver's class is freed while HDF5 has the file open."""
    for options in (['-o', 'perturbed'], ['-z', '1', '-o', 'deflated']):
        r = ptah.Run([ptah.program('convert'), '-f', 'hdf5', *options, path], '.', {'MALLOC_PERTURB_': '165'}, timeout=60)
        if r.status != 0:
            print('FAILED: convert %s where freed memory is overwritten: status %d: %s' % (options, r.status, r.err))
            return False
    return True


def damage(path, count, rng):
    """Number of damaged files that were noticed."""
    with open(path, 'rb') as f:
        good = f.read()
    noticed = 0
    for i in range(count):
        text = bytearray(good)
        if i % 4 == 3:
            del text[rng.randrange(len(text)):]
        else:
            text[rng.randrange(len(text))] ^= 1 << rng.randrange(8)
        with open(path, 'wb') as f:
            f.write(text)
        noticed += inspect(os.path.dirname(path)) is None
    with open(path, 'wb') as f:
        f.write(good)
    return noticed


def main():
    rng, files = random.Random(1), []
    run = ptah.simulate(NAMELIST, '.', options=['-q'])
    ours = run.outputs[0]
    file = os.path.basename([n for n in os.listdir(ours) if n.endswith('.h5')][0])
    want = inspect(ours)
    failed = want is None or not convert_perturbed(ours)
    again = ptah.simulate(NAMELIST, 'again', ranks=3, options=['-q']).outputs[0]  # seconds later
    for path in (os.path.join(ours, file), os.path.join(again, file)):
        with open(path, 'rb') as f:
            files.append(f.read())
    if files[0] != files[1]:
        print('FAILED: the file of 3 ranks has other bytes than that of one')
        failed = True
    for name, (libver, form) in FORMS.items():
        folder = os.path.join(name, os.path.basename(ours))
        os.makedirs(folder)
        for text in os.listdir(ours):
            if text != file and not text.endswith('.h5'):
                subprocess.run(['cp', os.path.join(ours, text), folder], check=True)
        with h5py.File(os.path.join(ours, file)) as a, \
             h5py.File(os.path.join(folder, file), 'w', libver=(libver, 'latest')) as b:
            copy(a, b, form)
        got = inspect(folder)
        if got != want:
            print('FAILED: %s: another digest, or none' % name)
            failed = True
        print('%s: %d of %d damaged files noticed' % (name, damage(os.path.join(folder, file), FLIPS, rng), FLIPS))
    sys.exit(failed)


if __name__ == '__main__':
    main()
