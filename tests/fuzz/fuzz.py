"""Readers are fed what libFuzzer has found: the corpus kept in tests/fuzz/corpus, under the sanitizers.

    fuzz.py replay                          all targets
    fuzz.py run FOLDER SECONDS [TARGET...]  searches further, from FOLDER/TARGET and the corpus (clang 14, libclang-rt-14-dev);
                                            what it finds wrong is left in FOLDER/TARGET.bad
    fuzz.py keep FOLDER                     makes the smallest corpus of equal coverage from FOLDER and the one kept

Catches what any reader does out of bounds, undefined, for ever, or with absurd memory, for inputs that reach most of its lines.
"""
# test: replay tier=check timeout=400
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fault'))
import ptah  # noqa: E402
import sanitizers  # noqa: E402

HERE = os.path.join(ptah.ROOT, 'tests', 'fuzz')
CORPUS = os.path.join(HERE, 'corpus')
TARGETS = ['fortran', 'nml', 'param', 'manifest', 'grafic', 'ascii', 'amr', 'hydro', 'grav', 'part', 'old_part', 'exact', 'info', 'header',
           'hydro_names', 'part_names', 'sinks', 'sinks_csv', 'sinks_info', 'stellar', 'cooling', 'hdf5']
OPTIONS = {'ASAN_OPTIONS': 'detect_leaks=0:quarantine_size_mb=1:max_allocation_size_mb=512:exitcode=99',
           'UBSAN_OPTIONS': 'print_stacktrace=1'}
LIMITS = ['-rss_limit_mb=2000', '-malloc_limit_mb=256', '-timeout=10']
MODULES = 'base comm io oct dom part ckpt'.split()
FLAGS = '-std=gnu17 -O1 -g -Ilib -D_GNU_SOURCE -fno-sanitize-recover=undefined'

BASE = """
&RUN_PARAMS
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=1
levelmax=2
boxlen=1.0
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='ics'
nregion=1
region_type(1)='square'
x_center=0.5
y_center=0.5
z_center=0.5
length_x=10.0
length_y=10.0
length_z=10.0
exp_region=10.0
d_region=1.0
p_region=1.0
/
&OUTPUT_PARAMS
foutput=2
tout=1.0
/
&REFINE_PARAMS
m_refine=2.5,2.5
/
"""


def make_base(folder):
    """A checkpoint of 9 octs and 3 particles in each format. (RAMSES, HDF5)"""
    paths = []
    for form in ('original', 'hdf5'):
        d = os.path.join(folder, 'base_' + form)
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(os.path.join(d, 'ics'))
        with open(os.path.join(d, 'ics', 'ic_part'), 'w') as f:
            f.write('0.1 0.2 0.3 0 0 0 3.0\n.6 .2 .3 0 0 0 3.0\n.1 .7 .3 0.1 0 0 1.0\n')
        paths.append(os.path.abspath(ptah.simulate(BASE, d, settings=['output_params/outformat=' + form], options=['-q']).outputs[0]))
    return paths


def environment(target, bases):
    return {**os.environ, **OPTIONS, 'FUZZ': target, 'FUZZ_BASE': bases[target == 'hdf5']}


def packed(target):
    """The inputs kept for a target."""
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
    packages = re.search(r'^PKGS\s*:?=(.*)$', open(os.path.join(ptah.ROOT, 'config.mk')).read(), re.M)[1].split()
    hdf5 = [p for p in ('hdf5-openmpi', 'hdf5-mpich', 'hdf5-serial', 'hdf5') if subprocess.call(['pkg-config', '--exists', p]) == 0][:1]
    return subprocess.check_output(['pkg-config', '--libs', *packages, *hdf5], text=True).split() + ['-lm']


def replay():
    v = ptah.Verdict()
    sanitizers.build()
    program = os.path.abspath('replay')
    subprocess.check_call(['mpicc', *FLAGS.split(), '-fopenmp', sanitizers.SANITIZE, '-o', program, *sources(['targets.c', 'replay.c']),
                           os.path.join(sanitizers.BUILD, 'libptah.a'), *libraries()], cwd=ptah.ROOT)
    bases = make_base('.')
    for target in TARGETS:
        inputs = packed(target)
        r = subprocess.run([program], input=b''.join(struct.pack('<Q', len(x)) + x for x in inputs), env=environment(target, bases),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        good = v.same('%s: %d inputs, exit status' % (target, len(inputs)), r.returncode, 0)
        v.same('%s: taken' % target, r.stdout.decode().split()[:1], [str(len(inputs))])
        if not good:
            print(r.stderr.decode(errors='replace')[-4000:])
    v.same('all targets have inputs', [t for t in TARGETS if not packed(t)], [])
    v.end()


def build_fuzzer():
    """build/fuzz/fuzz, by clang; gcc's OpenMP is there to link only."""
    env = {**os.environ, 'OMPI_CC': 'clang-14'}
    gcc = [subprocess.check_output(['gcc', '-print-file-name=' + n], text=True).strip() for n in ('include', 'libgomp.so')]
    flags = FLAGS + ' -march=native -ffp-contract=off -fno-omit-frame-pointer -DRAMSES_OCTS=64 -Wno-source-uses-openmp'
    hdf5 = subprocess.check_output('pkg-config --cflags hdf5-openmpi', shell=True, text=True).strip()
    files = ' '.join('lib/%s/%s' % (m, f) for m in MODULES for f in os.listdir(os.path.join(ptah.ROOT, 'lib', m)) if f.endswith('.c'))
    sanitize = '-fsanitize=fuzzer-no-link,address,undefined -fsanitize-coverage-ignorelist=tests/fuzz/plain.txt'
    cflags = '%s -DPTAH_HDF5 %s -idirafter %s %s' % (flags, sanitize, gcc[0], hdf5)
    subprocess.check_call(['make', '-s', '-j2', 'B=build/fuzz', 'LIBSRC=' + files, 'CFLAGS=' + cflags, 'build/fuzz/libptah.a'],
                          cwd=ptah.ROOT, env=env, stdout=subprocess.DEVNULL)
    program = os.path.join(ptah.ROOT, 'build', 'fuzz', 'fuzz')
    subprocess.check_call(['mpicc', *flags.split(), '-fsanitize=fuzzer,address,undefined', '-o', program,
                           *sources(['targets.c', 'mutate.c']), 'build/fuzz/libptah.a', *libraries(),
                           '-L' + os.path.dirname(gcc[1]), '-lgomp'],
                          cwd=ptah.ROOT, env=env)
    return program


def unpack(target, folder):
    os.makedirs(folder, exist_ok=True)
    for i, data in enumerate(packed(target)):
        with open(os.path.join(folder, 'kept%04d' % i), 'wb') as f:
            f.write(data)


def records(*payloads):
    return b''.join(struct.pack('<i', len(x)) + x + struct.pack('<i', len(x)) for x in payloads)


def beside():
    """What the base has not: two sinks in each form, a stellar object, a cooling table of one by two."""
    real = struct.pack('<2d', 0.25, 1 / 3)
    names = '# id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform,acc_rate,level\n# 1,m,l,l,l,l t**-1,l t**-1,l t**-1,1,1,1,t,m t**-1,1\n'
    rows = ''.join('%10d, 1.5E-03, 0.25,0.5,.75, 0,-0.0,1e-300, 1,2,3, -2.5, 1E+4, 12\n' % i for i in (3, 7))
    info = (' Number of sink = 2\n' + ' =' * 20 + '\n    Id     Mass(Msol)   x           y           z        vx   vy   vz\n'
            + ' 1 1.0E+05 0.1 0.2 0.3 0.0 0.0 1.0\n 2 2.0E+05 0.4 0.5 0.6 0.0 0.0 1.0\n' + ' =' * 20 + '\n')
    return {'sinks': records(struct.pack('<i', 2), struct.pack('<i', 7), *[real] * 13, *[struct.pack('<2i', 1, 7)] * 3),
            'sinks_csv': (names + rows).encode(), 'sinks_info': info.encode(),
            'stellar': b' # id,mstellar,tform,tlife\n # 1,m,t,t\n         4,     1.0E-03,    -1.0E+00, 0.333\n',
            'cooling': records(struct.pack('<2i', 1, 2), bytes(8), bytes(16), *[bytes(16)] * 11, bytes(96))}


def seeds(target, folder, bases):
    """A well-formed input."""
    if target in beside():
        with open(os.path.join(folder, 'base'), 'wb') as f:
            f.write(beside()[target])
        return
    names = {'info': 'info_00001.txt', 'header': 'header_00001.txt', 'hydro_names': 'hydro_file_descriptor.txt', 'hdf5': 'data_00001.h5',
             'part_names': 'part_file_descriptor.txt', 'manifest': 'checksums_00001.txt', 'fortran': 'part_00001.out00001',
             'old_part': 'part_00001.out00001'}
    name = names.get(target, target + '_00001.out00001')
    base = bases[target == 'hdf5']
    if name in os.listdir(base):
        shutil.copy(os.path.join(base, name), os.path.join(folder, 'base'))


def run(folder, seconds, targets):
    program, bases = build_fuzzer(), make_base(folder)
    for target in targets or TARGETS:
        inputs, bad = os.path.join(folder, target), os.path.join(folder, target + '.bad', '')
        unpack(target, inputs)
        seeds(target, inputs, bases)
        os.makedirs(bad, exist_ok=True)
        r = subprocess.run([program, *LIMITS, '-max_total_time=' + seconds, '-max_len=65536', '-artifact_prefix=' + bad,
                            '-print_final_stats=1', inputs], env=environment(target, bases), stderr=subprocess.PIPE)
        text = r.stderr.decode(errors='replace')
        done = re.search(r'number_of_executed_units: (\d+)', text)
        print('%-12s %10s executions, exit status %d' % (target, done[1] if done else '?', r.returncode), flush=True)
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
        subprocess.check_call([program, *LIMITS, '-merge=1', small, inputs], env=environment(target, bases), stderr=subprocess.DEVNULL)
        data = sorted((open(os.path.join(small, f), 'rb').read() for f in os.listdir(small)), key=lambda x: (len(x), x))
        with lzma.open(os.path.join(CORPUS, target + '.xz'), 'wb', preset=9 | lzma.PRESET_EXTREME) as f:
            f.write(b''.join(struct.pack('<Q', len(x)) + x for x in data))
        print('%-12s %5d inputs, %6d bytes packed' % (target, len(data), os.path.getsize(os.path.join(CORPUS, target + '.xz'))), flush=True)


def main():
    if sys.argv[1] == 'replay':
        replay()
    elif sys.argv[1] == 'run':
        run(os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        keep(os.path.abspath(sys.argv[2]))


if __name__ == '__main__':
    main()
