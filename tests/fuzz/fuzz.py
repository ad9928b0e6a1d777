"""Readers are fed the inputs found by libFuzzer: the corpus in tests/fuzz/corpus, under the
sanitizers.

    fuzz.py replay [TARGET...]              all targets
    fuzz.py coverage [TARGET...]            lines of the readers that these inputs reach (gcov)
    fuzz.py run FOLDER SECONDS [TARGET...]  searches further, from FOLDER/TARGET and the corpus
                                            (clang 14, libclang-rt-14-dev); failures are left in
                                            FOLDER/TARGET.bad
    fuzz.py keep FOLDER                     makes the smallest corpus of equal coverage from FOLDER
                                            and the present corpus

In addition to the corpus, well-formed outputs of the present programs are fed, in all forms (HDF5:
chunks and filters), with some thousand random changes from a fixed seed.

Catches out-of-bounds accesses, undefined behaviour, endless loops and absurd allocations in any
reader, for inputs that reach most of its lines.
"""
# test: replay tier=check timeout=400
import glob
import json
import lzma
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import any_ramses  # noqa: E402
sys.path[:0] = [os.path.join(ptah.ROOT, 'tests', d) for d in ('fault', 'property')]
import gadget_files  # noqa: E402
import parameter_runs  # noqa: E402
import phantom_files  # noqa: E402
import sanitizers  # noqa: E402
import spectra  # noqa: E402
import stored  # noqa: E402

HERE = os.path.join(ptah.ROOT, 'tests', 'fuzz')
CORPUS = os.path.join(HERE, 'corpus')
TARGETS = ['fortran', 'nml', 'param', 'expr', 'manifest', 'grafic', 'ascii', 'amr', 'hydro',
           'grav', 'part', 'old_part', 'exact', 'info', 'header', 'hydro_names', 'part_names',
           'sinks', 'sinks_csv', 'sinks_info', 'stellar', 'cooling', 'hdf5', 'source_hdf5', 'late',
           'listed', 'picked', 'picked_hdf5', 'ranks_amr', 'ranks_part', 'ranks_hdf5',
           'foreign_amr', 'foreign_gas', 'foreign_hdf5', 'sph', 'phantom', 'gadget4', 'frame',
           'snapshot1', 'snapshot2', 'snapshot4', 'cone', 'cone_part', 'cone_hydro', 'cone_sink',
           'cone_text', 'cone_hdf5', 'info_rt', 'rt', 'exact_rt', 'sed', 'sed_ages', 'bpass',
           'bc03', 'uv']
HDF5 = ('hdf5', 'source_hdf5', 'picked_hdf5', 'ranks_hdf5', 'foreign_hdf5')
OPTIONS = {
    'ASAN_OPTIONS': 'detect_leaks=0:quarantine_size_mb=1:max_allocation_size_mb=512:exitcode=99',
    'UBSAN_OPTIONS': 'print_stacktrace=1'}
LIMITS = ['-rss_limit_mb=2000', '-malloc_limit_mb=256', '-timeout=10']
# Source files of readers; files among them that only write or work on checked data; and, in the
# other files, functions that only write, or convert options to formats.
READERS = ['lib/h5/*.c', 'lib/ramses/*.c', 'lib/curamses/*.c', 'lib/ckpt/*.c', 'lib/io/*.c',
           'lib/expr/*.c', 'lib/sed/read*.c', 'lib/sed/library.c', 'lib/param/nml.c',
           'lib/param/outside.c', 'lib/formats/*.c', 'lib/onefile/*.c',
           'lib/sphfile/*.c', 'lib/film/file.c', 'lib/snap/*.c',
           'lib/cone/read*.c']
WRITER_FILES = re.compile(
    r'lib/curamses/(driver|file|none|reshape|write)\.c|lib/ckpt/cut\.c|'
    r'lib/io/(dir|grafic_out|image|stream)\.c|lib/onefile/write\.c|'
    r'lib/sphfile/(gadget4_write|phantom_make|phantom_write|write)\.c|'
    r'lib/ramses/(amr|beyond|fields|number|reshape|stored|write)\.c')
WRITERS = re.compile(
    r'write|wrote|_out(_|$)|(^|_)put(_|4?$)|^fill(?!_in$|_column$)|create|save|close_synced|'
    r'finish$|drop|hdf5_fini|make_text|gather|^cell_ranks|gadget|image|dir_|^cut_planes|remove|'
    r'flush|exact_differ|exact_close|number_level|ramses_block|reserve|manifest_add|hdf5_name|'
    r'sub_(begin|end)|fort_(begin|end|record|i4|r8|table|close)|table_in|^pack$|'
    r'asis_(of_fields|conserved|differ|oct)|^density$|boundary_phi|make_rule|step_in|^region_of|'
    r'^offsets|gas_primitive|format_(add|named|is|list)')
FLAGS = '-std=gnu17 -O1 -g -Ilib -D_GNU_SOURCE -fno-sanitize-recover=undefined'

GAS = 'd_region=1.0\nu_region=0.3\nv_region=-0.7\nw_region=0.1\np_region=1.0'
BASE = ptah.ascii_box((1, 2), 1, 2, 'm_refine=2*2.5', GAS)


def make_base(folder):
    """Checkpoints by kind, in RAMSES binary and HDF5: one of 9 octs and 3 particles, one of two
    ranks with k-section domains, and one of another code in a box with boundaries."""
    bases = {'': simulated(folder)}
    bases['ranks'] = [passed_on(folder, 'repartition', '-n2', '-dksection', bases[''][0]),
                      bases[''][1]]
    foreign = os.path.join(folder, 'base_foreign', 'output_00001')
    shutil.rmtree(os.path.dirname(foreign), ignore_errors=True)
    any_ramses.write(foreign, np.random.default_rng(1), levelmin=1, levelmax=3, number=1, ncpu=1,
                     names=stored.GAS + ['something'], ngrav=4, walls=True,
                     namelist=stored.WALLS)
    bases['foreign'] = [foreign, passed_on(folder, 'convert', '-fhdf5', foreign)]
    bases['phantom'] = bases['gadget4'] = [particles(folder)]
    for name in ('snapshot1', 'snapshot2', 'snapshot4'):
        bases[name] = bases['phantom']
    bases['cone'] = [slices(folder)] * 2
    bases['info_rt'] = bases['rt'] = bases['exact_rt'] = [lit(folder)]
    bases['sed'] = bases['sed_ages'] = [library(folder, 'ramses')]
    bases['bpass'], bases['bc03'] = [library(folder, 'bpass')], [library(folder, 'bc03')]
    bases['uv'] = [library(folder, 'background')]
    bases['sph'] = [os.path.join(bases['phantom'][0], 'output_00001')]
    return bases


def lit(folder):
    """A checkpoint with radiation."""
    d = os.path.join(folder, 'base_lit')
    shutil.rmtree(d, ignore_errors=True)
    text = parameter_runs.text_of(parameter_runs.vary(parameter_runs.RAYS, run={'nstepmax': 1}))
    return os.path.abspath(ptah.simulate(text, d, options=['-q']).outputs[1])


def library(folder, kind):
    d = os.path.abspath(os.path.join(folder, 'base_' + kind))
    if kind == 'background':
        spectra.background(d + '/uv.dat')
    else:
        getattr(spectra, kind)(d)
    return d


def particles(folder):
    """A folder with a dump of Phantom, the checkpoint and the snapshot that are made of it."""
    d = os.path.abspath(os.path.join(folder, 'base_particles'))
    shutil.rmtree(d, ignore_errors=True)
    os.makedirs(d)
    dump, rng = os.path.join(d, 'x_00001'), np.random.default_rng(1)
    phantom_files.write(dump, rng.random((40, 3)), rng.normal(size=(40, 3)), rng.random(40) + 1,
                        rng.random(40) + 0.1, (np.zeros(3), np.ones(3)))
    for words in (['-o', d], ['-f', 'gadget4', '-o', os.path.join(d, 'snapshot_001.hdf5')]):
        subprocess.check_call([ptah.program('convert'), '-q', *words, dump])
    few = gadget_files.particles(3, types=(1, 5))
    gadget_files.binary(os.path.join(d, 'snapshot1'), few, order='>')
    gadget_files.binary(os.path.join(d, 'snapshot2'), few, named=True, whole='u8')
    gadget_files.hdf5(os.path.join(d, 'snapshot4.hdf5'), few, chunks=8, filters=True)
    return d


def fortran(path, *records):
    with open(path, 'wb') as f:
        for r in records:
            data = np.asarray(r).tobytes()
            f.write(struct.pack('<i', len(data)) + data + struct.pack('<i', len(data)))


def slices(folder):
    """A slice of light cones in all files, with five events, and in rows of chunks."""
    d = os.path.abspath(os.path.join(folder, 'base_cone'))
    shutil.rmtree(d, ignore_errors=True)
    os.makedirs(d)
    rng, n, name = np.random.default_rng(1), 5, 'cone_%s00002.out%s'
    real = rng.random((26, n))
    few, one, end = np.array([1, 4, n], 'i4'), np.array(n, 'i4'), np.array(-1, 'i4')
    ids = np.arange(n, dtype='i8')
    fortran(os.path.join(d, name % ('', '00001')), *few, *real[:7].astype('f4'))
    fortran(os.path.join(d, name % ('part_', '00001')), *few, ids, *real[:10].astype('f4'))
    fortran(os.path.join(d, name % ('hydro_', '00001')), *np.array([1, 3, 3], 'i4'),
            *real[0, :1].repeat(9), one, *real[:10], end)
    fortran(os.path.join(d, name % ('sink_', '')), one, ids, *real[:20], end)
    for kind, rank, words in (('', '00001', [1, 4, n, 0.1, 0.2]), ('part_', '00001', [1, 4, n]),
                              ('hydro_', '00001', [1, n]), ('sink_', '', [n])):
        with open(os.path.join(d, name % (kind, rank) + '.txt'), 'w') as f:
            f.write('\n'.join(map(str, words)) + '\n')
    with h5py.File(os.path.join(d, 'cone_00002.h5'), 'w') as f:
        head = f.create_group('header')
        head.attrs['format'], head.attrs['version'] = np.bytes_('ptah-cone'), np.int64(1)
        head.attrs['box_mpc'] = 30.0
        for k, group in enumerate(('particles', 'gas', 'sinks')):
            for i, (what, x) in enumerate((('position', real[:3].T), ('redshift', real[3]))):
                chunks = (2,) + x.shape[1:] if k else None
                s = f.create_dataset(group + '/' + what, data=x, chunks=chunks, shuffle=k > 1,
                                     compression='gzip' if k > 1 else None)
                s.attrs['checksum'] = np.int64(2 * k + i)
        f['ptah/checksum'] = np.zeros(6, 'i8')
    return d


def passed_on(folder, program, *arguments):
    """Output of a program that passes a checkpoint on."""
    out = os.path.join(folder, 'base_%s' % ''.join((program,) + arguments[:-1]), 'output_00001')
    shutil.rmtree(os.path.dirname(out), ignore_errors=True)
    os.makedirs(os.path.dirname(out))
    subprocess.check_call([ptah.program(program), '-q', *arguments[:-1], '-o', out, arguments[-1]],
                          env={**os.environ, **ptah.ENVIRONMENT})
    return os.path.abspath(out)


def base_of(target, bases):
    kind = target if target in bases else target.split('_')[0]
    return bases[kind if kind in bases else ''][target in HDF5]


def simulated(folder):
    paths = []
    for form in ('original', 'hdf5'):
        d = os.path.join(folder, 'base_' + form)
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(os.path.join(d, 'ics'))
        with open(os.path.join(d, 'ics', 'ic_part'), 'w') as f:
            f.write('0.1 0.2 0.3 0 0 0 3.0\n.6 .2 .3 0 0 0 3.0\n.1 .7 .3 0.1 0 0 1.0\n')
        r = ptah.simulate(BASE, d, settings=['output_params/outformat=' + form], options=['-q'])
        paths.append(os.path.abspath(r.outputs[0]))
    return paths


def environment(target, bases):
    return {**os.environ, **OPTIONS, 'FUZZ': target, 'FUZZ_BASE': base_of(target, bases)}


def packed(target):
    """Stored inputs of a target."""
    try:
        with lzma.open(os.path.join(CORPUS, target + '.xz')) as f:
            data = f.read()
    except FileNotFoundError:
        return []
    inputs, at = [], 0
    while at < len(data):
        n = struct.unpack_from('<Q', data, at)[0]
        inputs.append(data[at + 8:at + 8 + n])
        at += 8 + n
    return inputs


def sources(names):
    return [os.path.join(HERE, n) for n in names]


def libraries():
    with open(os.path.join(ptah.ROOT, 'config.mk')) as f:
        packages = re.search(r'^PKGS\s*:?=(.*)$', f.read(), re.M)[1].split()
    packages += [p for p in ('hdf5-openmpi', 'hdf5-mpich', 'hdf5-serial', 'hdf5')
                 if subprocess.call(['pkg-config', '--exists', p]) == 0][:1]
    packages += ['libdeflate'] if subprocess.call(['pkg-config', '--exists', 'libdeflate']) == 0 \
        else []
    return output(['pkg-config', '--libs', *packages]).split() + ['-lm']


def replayer(program, build, flags):
    """Builds the targets, which read standard input, with the library of a build."""
    subprocess.check_call(['mpicc', *FLAGS.split(), '-fopenmp', *flags.split(), '-o', program,
                           *sources(['targets.c', 'replay.c']), os.path.join(build, 'libptah.a'),
                           *libraries()], cwd=ptah.ROOT)
    return program


def feed(program, target, inputs, bases):
    said = b''.join(struct.pack('<Q', len(x)) + x for x in inputs)
    return ptah.run_patiently([program], input=said,
                              env=environment(target, bases), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)


def replay(targets):
    v = ptah.Verdict()
    name, kinds = sanitizers.MEMORY
    sanitizers.build(name, kinds, 'simulate')
    program = replayer(os.path.abspath('replay'), os.path.join(ptah.ROOT, 'build', name),
                       '-fsanitize=' + kinds)
    bases = make_base('.')
    for target in targets or TARGETS:
        inputs = packed(target)
        inputs += changed(target, bases)
        v.same('%s: has inputs' % target, len(inputs) > 0, True)
        r = feed(program, target, inputs, bases)
        good = v.same('%s: %d inputs, exit status' % (target, len(inputs)), r.returncode, 0)
        v.same('%s: taken' % target, r.stdout.decode().split()[:1], [str(len(inputs))])
        if not good:
            print(r.stderr.decode(errors='replace')[-4000:])
    v.end()


# ---- inputs from the present programs, and changes of them

ODD = [b'-1', b'0', b'nan', b'inf', b'99999999999999999999', b'1e999', b'', b' ', b'=', b'\n',
       b'x' * 200, b"'", b'/', b'&', b'*', b'%n']
ODD_WORDS = [0, 1, 2, 3, 7, 8, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1]
CHANGES, MOST_BYTES = 1200, 6 << 20


def is_text(data):
    return all(c in b'\n\t' or 32 <= c < 127 for c in data[:2000])


def change(data, rng):
    """Makes one to three small changes."""
    text, out = is_text(data), bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at, kind = rng.randrange(len(out) + 1), rng.randrange(8)
        if kind == 0:
            del out[at:]
        elif kind == 1:
            del out[at:at + rng.choice([1, 4, 8, 40])]
        elif kind == 2:
            out[at:at] = out[at:at + rng.choice([1, 4, 8, 40])]
        elif text:
            words = [m.span() for m in re.finditer(rb"[\w.+-]+|[^\w\s]", bytes(out))] or [(0, 0)]
            a, b = rng.choice(words)
            out[a:b] = rng.choice(ODD)
        elif kind < 5 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind < 7:
            at &= ~3
            out[at:at + 4] = struct.pack('<I', rng.choice(ODD_WORDS))
        elif at < len(out):
            out[at] = rng.choice([0, 1, 255, rng.randrange(256)])
    return bytes(out)


def changed(target, bases):
    """Well-formed inputs and random changes, from a fixed seed."""
    good, rng = wellformed(target, bases), random.Random(target)
    most = min(CHANGES, MOST_BYTES // max(map(len, good))) if good else 0
    return good + [change(rng.choice(good), rng) for _ in range(most)]


def hdf5_forms(path):
    """The file in all forms of fault/hdf5.py, with a group of sinks."""
    try:
        import h5py
        import hdf5
    except ImportError:
        return []
    forms = []
    for name, (libver, form) in hdf5.FORMS.items():
        copy = 'form_%s.h5' % name
        with h5py.File(path) as a, h5py.File(copy, 'w', libver=(libver, 'latest')) as b:
            hdf5.copy(a, b, form)
            if 'sinks' not in b:
                s = b.create_group('sinks')
                s.attrs['nsink'] = np.int32(2)
                s['msink'], s['idsink'] = np.array([1., 2.]), np.array([3, 7], 'i4')
                s['xsink_1'] = np.array([0.25, 0.5], 'f4')
        with open(copy, 'rb') as f:
            forms.append(f.read())
    return forms


def with_ksection(path):
    """The HDF5 file as written by two ranks, with the tree of domains that cuRAMSES writes."""
    import h5py
    shutil.copy(path, 'ksection.h5')
    with h5py.File('ksection.h5', 'a') as f:
        for group in ('header', 'domain'):
            del f[group].attrs['ordering']
            f[group].attrs['ordering'] = np.bytes_('ksection')
        f['header'].attrs['ncpu'] = np.int32(2)
        rows = []
        f.visit(lambda name: rows.append(name) if name.endswith('_per_cpu') else None)
        for name in rows:
            values = f[name][...]
            del f[name]
            f[name] = np.array([values.sum(), 0], values.dtype)
        for name, values in (('dir', [1]), ('indx', [0, 1, 2]), ('next', [2, 3, 0, 0, 0, 0])):
            f['domain/ksec_' + name] = np.array(values, 'i4')
        f['domain/ksec_wall'] = np.array([0.5, 0, 0])
        f['domain/bisec_cpubox_min'] = np.array([0, 0.5, 0, 0, 0, 0])
        f['domain/bisec_cpubox_max'] = np.array([0.5, 1, 1, 1, 1, 1])
    with open('ksection.h5', 'rb') as f:
        return f.read()


def wellformed(target, bases):
    if target in beside():
        return [beside()[target]]
    names = {'info': 'info_00001.txt', 'header': 'header_00001.txt',
             'hydro_names': 'hydro_file_descriptor.txt', 'hdf5': 'data_00001.h5',
             'source_hdf5': 'data_00001.h5', 'late': 'hydro_00001.out00001',
             'listed': 'checksums_00001.txt', 'part_names': 'part_file_descriptor.txt',
             'manifest': 'checksums_00001.txt', 'fortran': 'part_00001.out00001',
             'old_part': 'part_00001.out00001', 'ranks_amr': 'amr_00001.out00001',
             'ranks_part': 'part_00001.out00001', 'ranks_hdf5': 'data_00001.h5',
             'foreign_amr': 'amr_00001.out00001', 'foreign_gas': 'hydro_00001.out00001',
             'foreign_hdf5': 'data_00001.h5', 'picked': 'exact_00001.out00001',
             'picked_hdf5': 'data_00001.h5', 'sph': 'sph_00001.h5', 'phantom': 'x_00001',
             'gadget4': 'snapshot_001.hdf5', 'snapshot1': 'snapshot1',
             'info_rt': 'info_rt_00002.txt', 'rt': 'rt_00002.out00001',
             'exact_rt': 'exact_rt_00002.out00001', 'sed': 'all_seds.dat',
             'sed_ages': 'age_bins.dat',
             'bpass': 'spectra-bin-imf135_300.z001.dat', 'bc03': 'ssp_z0.001.ised_ASCII',
             'uv': 'uv.dat', 'snapshot2': 'snapshot2', 'snapshot4': 'snapshot4.hdf5',
             'cone': 'cone_00002.out00001', 'cone_part': 'cone_part_00002.out00001',
             'cone_hydro': 'cone_hydro_00002.out00001', 'cone_sink': 'cone_sink_00002.out',
             'cone_text': 'cone_00002.out00001.txt', 'cone_hdf5': 'cone_00002.h5'}
    path = os.path.join(base_of(target, bases), names.get(target, target + '_00001.out00001'))
    if target == 'nml' or target == 'param':
        return [BASE.encode()]
    if target == 'expr':
        return [b'r = sqrt(x^2 + 1); h = not x > 2 and r /= 1e-3 or x**2 == 1; '
                b'rho = if(h, min(r, 2, x), -atan2(x, 1d3))/(1 + r); az = 2^-x']
    if not os.path.exists(path):
        return []
    with open(path, 'rb') as f:
        data = [f.read()]
    if target == 'ranks_hdf5':
        return data + [with_ksection(path)]
    return data + (hdf5_forms(path) if target in HDF5 else [])


# ---- coverage

def coverage(targets):
    """Prints, for each source file of the readers, the fraction of lines reached, and the lines not
    reached."""
    build = os.path.join(ptah.ROOT, 'build', 'coverage')
    subprocess.check_call(['make', '-s', '-j2', '-C', ptah.ROOT, 'B=build/coverage',
                           'OPT=-O0 -march=native --coverage', 'build/coverage/libptah.a'],
                          stdout=subprocess.DEVNULL)
    for f in glob.glob(build + '/**/*.gcda', recursive=True):
        os.remove(f)
    program, bases = replayer(os.path.abspath('replay'), build, '--coverage'), make_base('.')
    for target in targets or TARGETS:
        r = feed(program, target, packed(target) + changed(target, bases), bases)
        if r.returncode:
            said = r.stderr.decode(errors='replace')[-500:]
            print('%s: exit status %d: %s' % (target, r.returncode, said))
    all_lines = all_reached = 0
    files = sorted(f for pattern in READERS for f in glob.glob(os.path.join(ptah.ROOT, pattern)))
    for path in files:
        if WRITER_FILES.search(path):
            continue
        lines = lines_reached(build, path)
        missed = [n for n, hits in sorted(lines.items()) if hits == 0]
        if not lines:
            print('       no target is linked with %s' % os.path.relpath(path, ptah.ROOT))
            continue
        all_lines, all_reached = all_lines + len(lines), all_reached + len(lines) - len(missed)
        print('%5.1f %%  %4d lines  %-26s %s' %
              (100 - 100 * len(missed) / len(lines), len(lines), os.path.relpath(path, ptah.ROOT),
               ' '.join(map(str, missed))))
    print('%5.1f %%  %4d lines' % (100 * all_reached / all_lines, all_lines))


def lines_reached(build, path):
    """{line: count} for the functions of a file that do not only write."""
    data = os.path.join(build, os.path.relpath(path, ptah.ROOT)[:-2] + '.gcda')
    if not os.path.exists(data):
        return {}
    text = subprocess.run(['gcov', '-j', '-t', data], cwd=ptah.ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    j = json.loads(text)
    lines = {}
    for f in j['files']:
        if os.path.basename(f['file']) != os.path.basename(path):
            continue
        skipped = {x['name'] for x in f['functions'] if WRITERS.search(x['name'])}
        for x in f['lines']:
            if x.get('function_name') not in skipped:
                lines[x['line_number']] = lines.get(x['line_number'], 0) + x['count']
    return lines


def output(argv):
    return subprocess.check_output(argv, text=True).strip()


def build_fuzzer():
    """Builds build/fuzz/fuzz with clang; OpenMP of gcc serves for linking only. Of the headers of
    gcc clang gets omp.h alone: its own stdatomic.h would continue with that of gcc."""
    env = {**os.environ, 'OMPI_CC': 'clang-14'}
    gcc = [output(['gcc', '-print-file-name=' + n]) for n in ('include', 'libgomp.so')]
    flags = (FLAGS + ' -march=native -ffp-contract=off -fno-omit-frame-pointer -DCKPT_OCTS=64 '
             '-Wno-source-uses-openmp')
    hdf5 = output(['pkg-config', '--cflags', 'hdf5-openmpi'])
    headers = os.path.join(ptah.ROOT, 'build', 'fuzz', 'include')
    os.makedirs(headers, exist_ok=True)
    shutil.copy(os.path.join(gcc[0], 'omp.h'), headers)
    sanitize = ('-fsanitize=fuzzer-no-link,address,undefined'
                ' -fsanitize-coverage-ignorelist=tests/fuzz/plain.txt')
    cflags = '%s -DPTAH_HDF5 %s -idirafter %s %s' % (flags, sanitize, headers, hdf5)
    subprocess.check_call(['make', '-s', '-j2', 'B=build/fuzz', 'CFLAGS=' + cflags,
                           'build/fuzz/libptah.a'], cwd=ptah.ROOT, env=env,
                          stdout=subprocess.DEVNULL)
    program = os.path.join(ptah.ROOT, 'build', 'fuzz', 'fuzz')
    subprocess.check_call(['mpicc', *flags.split(), '-fsanitize=fuzzer,address,undefined', '-o',
                           program, *sources(['targets.c', 'mutate.c']), 'build/fuzz/libptah.a',
                           *libraries(), '-L' + os.path.dirname(gcc[1]), '-lgomp'], cwd=ptah.ROOT,
                          env=env)
    return program


def unpack(target, folder):
    os.makedirs(folder, exist_ok=True)
    for i, data in enumerate(packed(target)):
        with open(os.path.join(folder, 'kept%04d' % i), 'wb') as f:
            f.write(data)


def records(*payloads):
    return b''.join(struct.pack('<i', len(x)) + x + struct.pack('<i', len(x)) for x in payloads)


def beside():
    """Adds components that the base lacks: two sinks in each form, a stellar object, a small
    cooling table; a frame of a movie."""
    real, line = struct.pack('<2d', 0.25, 1 / 3), ' =' * 20 + '\n'
    names = ('# id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform,acc_rate,level\n'
             '# 1,m,l,l,l,l t**-1,l t**-1,l t**-1,1,1,1,t,m t**-1,1\n')
    rows = ''.join('%10d, 1.5E-03, 0.25,0.5,.75, 0,-0.0,1e-300, 1,2,3, -2.5, 1E+4, 12\n' % i
                   for i in (3, 7))
    info = (' Number of sink = 2\n' + line +
            '    Id     Mass(Msol)   x           y           z        vx   vy   vz\n' +
            ' 1 1.0E+05 0.1 0.2 0.3 0.0 0.0 1.0\n 2 2.0E+05 0.4 0.5 0.6 0.0 0.0 1.0\n' + line)
    stellar = (' # id,mstellar,tform,tlife\n # 1,m,t,t\n'
               '         4,     1.0E-03,    -1.0E+00, 0.333\n')
    sinks = [struct.pack('<i', 2), struct.pack('<i', 7), *[real] * 13,
             *[struct.pack('<2i', 1, 7)] * 3]
    cooling = [struct.pack('<2i', 1, 2), bytes(8), bytes(16), *[bytes(16)] * 11, bytes(96)]
    frame = [struct.pack('<4d', 0.3, 1, 1, 1), struct.pack('<2i', 4, 3),
             struct.pack('<12f', *[1] * 12)]
    return {'frame': records(*frame), 'sinks': records(*sinks),
            'sinks_csv': (names + rows).encode(), 'sinks_info': info.encode(),
            'stellar': stellar.encode(), 'cooling': records(*cooling)}


def seeds(target, folder, bases):
    """Stores well-formed inputs."""
    for k, data in enumerate(wellformed(target, bases)):
        with open(os.path.join(folder, 'base%d' % k), 'wb') as f:
            f.write(data)


def run(folder, seconds, targets):
    program, bases = build_fuzzer(), make_base(folder)
    for target in targets or TARGETS:
        inputs, bad = os.path.join(folder, target), os.path.join(folder, target + '.bad', '')
        unpack(target, inputs)
        seeds(target, inputs, bases)
        os.makedirs(bad, exist_ok=True)
        r = subprocess.run([program, *LIMITS, '-max_total_time=' + seconds, '-max_len=65536',
                            '-artifact_prefix=' + bad, '-print_final_stats=1', inputs],
                           env=environment(target, bases), stderr=subprocess.PIPE)
        text = r.stderr.decode(errors='replace')
        done = re.search(r'number_of_executed_units: (\d+)', text)
        print('%-12s %10s executions, exit status %d' %
              (target, done[1] if done else '?', r.returncode), flush=True)
        if r.returncode:
            print(text[-3000:])


def keep(folder):
    program, bases = build_fuzzer(), make_base(folder)
    os.makedirs(CORPUS, exist_ok=True)
    for target in TARGETS:
        inputs, small = os.path.join(folder, target), os.path.join(folder, target + '.small')
        unpack(target, inputs)
        seeds(target, inputs, bases)
        shutil.rmtree(small, ignore_errors=True)
        os.mkdir(small)
        subprocess.check_call([program, *LIMITS, '-merge=1', small, inputs],
                              env=environment(target, bases), stderr=subprocess.DEVNULL)
        data = sorted((open(os.path.join(small, f), 'rb').read() for f in os.listdir(small)),
                      key=lambda x: (len(x), x))
        path = os.path.join(CORPUS, target + '.xz')
        with lzma.open(path, 'wb', preset=9 | lzma.PRESET_EXTREME) as f:
            f.write(b''.join(struct.pack('<Q', len(x)) + x for x in data))
        print('%-12s %5d inputs, %6d bytes packed' %
              (target, len(data), os.path.getsize(path)), flush=True)


def main():
    if sys.argv[1] == 'replay':
        replay(sys.argv[2:])
    elif sys.argv[1] == 'coverage':
        coverage(sys.argv[2:])
    elif sys.argv[1] == 'run':
        run(os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        keep(os.path.abspath(sys.argv[2]))


if __name__ == '__main__':
    main()
