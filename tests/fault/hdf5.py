#!/usr/bin/env python3
"""HDF5 checkpoints: identical bytes on other ranks and at another time; all storage forms of HDF5;
damaged files.

A small run's checkpoint is copied by h5py: in the oldest format and the newest, with groups in
heaps, chunks with every filter and every index, big-endian, 32-bit integers in 8 bytes (as in
cuRAMSES), among a thousand other groups. `inspect -d` must find the same digest in each form; with
a bit flipped or the file cut, it must print a digest (files without checksums may be read wrongly)
or one sentence: no signal, no hang. A group or dataset behind a soft or external link is refused.
Catches, for example, a form that is misread, an unchecked length, a page of an array at the wrong
offset, gas missing because its group is a link.

"""
# test: tier=quick timeout=240 ranks=3
import concurrent.futures
import functools
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
levelmax=4
/
&INIT_PARAMS
nregion=1
d_region(1)=1.0
p_region(1)=1.0
/
&OUTPUT_PARAMS
outformat='hdf5'
foutput=1
/
&REFINE_PARAMS
m_refine=0.001
/
"""
FLIPS, MANY = 12, 1 << 20  # MANY chunks: one an element


def skip_filters(d, item):
    """Of three consecutive chunks one has no filters, and one only the first filter, shuffle."""
    n = d.get_create_plist().get_chunk()[0]
    for k, at in enumerate(range(0, item.size, n)):
        part = item[at:at + n]
        part = np.concatenate([part, np.zeros(n - len(part), part.dtype)])
        if k % 3 == 1:
            d.write_direct_chunk((at,), part.tobytes(), 0b111)
        elif k % 3 == 2:
            d.write_direct_chunk((at,), part.view('u1').reshape(n, -1).T.tobytes(), 0b110)


def copy(source, target, form):
    """Every group, attribute and dataset.

    form: keywords for create_dataset, or a function of type → type"""
    for name, value in source.attrs.items():
        a = h5py.h5a.open(source.id, name.encode())
        b = h5py.h5a.create(target.id, name.encode(), a.get_type(), a.get_space())
        b.write(np.asarray(value))  # a single text is no array
    for name, item in source.items():
        if isinstance(item, h5py.Group):
            copy(item, target.create_group(name), form)
            continue
        dtype, options = item.dtype, dict(form)
        if options.pop('big', False):
            dtype = dtype.newbyteorder('>')
        kind = h5py.h5t.py_create(dtype)
        if options.pop('short', False) and dtype == np.int64 and name != 'checksum':
            kind.set_precision(32)
        plist, space = h5py.h5p.create(h5py.h5p.DATASET_CREATE), item.id.get_space()
        chunks = options.pop('chunks', 3 if options else 0)
        if item.size and chunks:
            plist.set_chunk((max(1, -(-item.size // chunks)),))
            for f in options:
                {'gzip': lambda: plist.set_deflate(4), 'shuffle': plist.set_shuffle,
                 'fletcher': plist.set_fletcher32, 'skip': lambda: None,
                 'early': lambda: plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY),
                 'grows': lambda: space.set_extent_simple((item.size,), (h5py.h5s.UNLIMITED,))}[f]()
        d = h5py.h5d.create(target.id, name.encode(), kind, space, plist)
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
    'chunks': ('earliest', {'chunks': 3}),
    'filters': ('v108', {'shuffle': 1, 'gzip': 1, 'fletcher': 1}),
    # the Fletcher sum is shuffled too: four bytes more than whole elements
    'sum first': ('v108', {'fletcher': 1, 'shuffle': 1, 'gzip': 1}),
    'skipped': ('v108', {'shuffle': 1, 'gzip': 1, 'fletcher': 1, 'skip': 1}),
    'fixed skipped': ('latest', {'shuffle': 1, 'gzip': 1, 'fletcher': 1, 'skip': 1}),
    'latest': ('latest', {}),
    # chunk indices of HDF5 1.10: single chunk; implicit; fixed array, with pages; extensible array,
    # with super blocks
    'single': ('v110', {'chunks': 1}),
    'single filtered': ('latest', {'chunks': 1, 'shuffle': 1, 'gzip': 1}),
    'implicit': ('v110', {'chunks': 3, 'early': 1}),
    'fixed': ('v110', {'chunks': 5}),
    'fixed filtered': ('latest', {'chunks': 5, 'gzip': 1, 'fletcher': 1}),
    'fixed pages': ('v110', {'chunks': MANY}),
    'extensible': ('v110', {'chunks': 3, 'grows': 1}),
    'extensible filtered': ('latest', {'chunks': 5, 'grows': 1, 'shuffle': 1, 'gzip': 1}),
    'extensible blocks': ('v110', {'chunks': MANY, 'grows': 1}),
}
CROWDED = ('earliest', 'v108', 'latest')  # files with a thousand further groups


def inspect(path):
    r = ptah.Run([ptah.program('inspect'), '-d', path], '.', timeout=60)
    if r.timed_out or r.status not in (0, 2) or (r.status == 2 and len(r.err.splitlines()) != 1):
        print('%s: status %s: %s' % (path, r.status, r.err))
        sys.exit(1)
    return r.out if r.status == 0 else None


def convert_perturbed(path):
    """Overwrites freed memory at once. Catches a driver class that is freed while HDF5 has the file
    open."""
    for options in (['-o', 'perturbed'], ['-z', '1', '-o', 'deflated']):
        r = ptah.Run([ptah.program('convert'), '-f', 'hdf5', *options, path], '.',
                     {'MALLOC_PERTURB_': '165'}, timeout=60)
        if r.status != 0:
            print('FAILED: convert %s where freed memory is overwritten: status %d: %s' %
                  (options, r.status, r.err))
            return False
    return True


def damage(path, count, rng):
    """Damages the file in `count` ways; returns the number of damages noticed."""
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


def sums_are_asked(folder, file):
    """Flips each byte of the Fletcher sums at the end of chunks, and one byte before them."""
    good = True
    path = os.path.join(folder, file)
    with h5py.File(path) as f:
        d = f['hydro/level_3/uold_1'].id
        chunk = d.get_chunk_info(d.get_num_chunks() - 1)
    for k in range(1, 6):
        with open(path, 'r+b') as f:
            f.seek(chunk.byte_offset + chunk.size - k)
            byte = f.read(1)[0]
            for b in (byte ^ 4, byte):
                f.seek(chunk.byte_offset + chunk.size - k)
                f.write(bytes([b]))
                f.flush()
                if (inspect(folder) is None) != (b != byte):
                    print('FAILED: byte %d before the end of a chunk with a Fletcher sum' % k)
                    good = False
    return good


def make(name, ours, file, libver, form):
    """Copies the checkpoint in this form, without the checksums of its files; checksums of datasets
    remain. Returns the folder."""
    folder = os.path.join(name, os.path.basename(ours))
    os.makedirs(folder)
    for text in os.listdir(ours):
        if text != file and not text.endswith('.h5') and not text.startswith('checksums_'):
            subprocess.run(['cp', os.path.join(ours, text), folder], check=True)
    other = os.path.join(folder, file)
    with h5py.File(os.path.join(ours, file)) as a, \
            h5py.File(other, 'w', libver=(libver, 'latest')) as b:
        copy(a, b, form)
    return folder


def differs(name, folder, want):
    got = inspect(folder)
    if got != want:
        print('FAILED: %s: another digest, or none' % name)
    return got != want


def try_form(ours, file, want, name):
    """(failed, text) for one of FORMS, intact and damaged."""
    folder = make(name, ours, file, *FORMS[name])
    failed = differs(name, folder, want)
    if name == 'filters':
        failed |= not sums_are_asked(folder, file)
    noticed = damage(os.path.join(folder, file), FLIPS, random.Random(name))
    return failed, '%s: %d of %d damaged files noticed' % (name, noticed, FLIPS)


def follows_links(ours, file, libver):
    """A dataset behind a link that is not followed must not read as if it were missing."""
    failed = False
    for what in ('hydro', 'hydro/level_3', 'amr/level_2/son_flag', 'ptah'):
        for kind, link in (('soft', h5py.SoftLink('/elsewhere')),
                           ('external', h5py.ExternalLink('elsewhere.h5', '/elsewhere'))):
            name = '%s %s %s' % (kind, what.replace('/', ' '), libver)
            folder = make(name, ours, file, libver, {})
            with h5py.File(os.path.join(folder, file), 'r+', libver=(libver, 'latest')) as f:
                f.move(what, 'elsewhere')
                f[what] = link
            r = ptah.Run([ptah.program('inspect'), '-d', folder], '.', timeout=60)
            said = all(w in r.err for w in ('soft or external link', what.split('/')[0]))
            good = r.status == 2 and len(r.err.splitlines()) == 1 and said
            if not good:
                print('FAILED: %s behind a %s link, %s: status %d: %s' %
                      (what, kind, libver, r.status, r.err))
            failed |= not good
    return failed


def main():
    files = []
    os.environ['SOURCE_DATE_EPOCH'] = '1700000000'  # provenance: identical bytes at any time
    run = ptah.simulate(NAMELIST, '.', options=['-q'])
    ours = run.outputs[0]
    file = os.path.basename([n for n in os.listdir(ours) if n.endswith('.h5')][0])
    want = inspect(ours)
    failed = want is None or not convert_perturbed(ours)
    # a later run, with other time stamps
    again = ptah.simulate(NAMELIST, 'again', ranks=3, options=['-q']).outputs[0]
    for path in (os.path.join(ours, file), os.path.join(again, file)):
        with open(path, 'rb') as f:
            files.append(f.read())
    if files[0] != files[1]:
        print('FAILED: the file of 3 ranks has other bytes than that of one')
        failed = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for bad, text in pool.map(functools.partial(try_form, ours, file, want), FORMS):
            failed |= bad
            print(text)
    for libver in CROWDED:
        folder = make('crowded ' + libver, ours, file, libver, {})
        with h5py.File(os.path.join(folder, file), 'r+', libver=(libver, 'latest')) as f:
            for i in range(1000):
                f.create_group('other_%d' % i)
        failed |= differs('a thousand groups, ' + libver, folder, want)
    for libver in ('earliest', 'latest'):
        failed |= follows_links(ours, file, libver)
    sys.exit(failed)


if __name__ == '__main__':
    main()
