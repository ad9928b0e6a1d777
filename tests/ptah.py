"""Functions shared by the Python tests: running programs in an empty folder, and reading their
results.

A test prints its measurements and exits with 0 (passed), 1 (failed) or 77 (skipped: a requirement
is missing). tests/run finds tests by their `# test:` lines, as described there.
"""
import getopt
import glob
import itertools
import lzma
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, 'tests', 'data')
sys.path.insert(0, os.path.join(ROOT, 'tests', 'golden'))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
from patience import crowd, Limit, wait_patiently, run as run_patiently  # noqa: E402,F401

ENVIRONMENT = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'OMP_WAIT_POLICY': 'passive',
    'OMPI_MCA_mpi_yield_when_idle': '1',  # ranks outnumber cores: waiting ranks yield
    'OMPI_MCA_btl_base_warn_component_unused': '0',
    'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
    'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe',
    'HWLOC_HIDE_ERRORS': '2',  # containers without /sys
}


def skip(why):
    print('skipped: ' + why)
    sys.exit(77)


def options(page, letters):
    """Options and words of a command line; -h prints the docstring of the script."""
    try:
        found, words = getopt.gnu_getopt(sys.argv[1:], 'h' + letters)
    except getopt.GetoptError as e:
        print('%s: %s (see -h)' % (os.path.basename(sys.argv[0]), e), file=sys.stderr)
        sys.exit(2)
    if ('-h', '') in found:
        print(page.strip())
        sys.exit(0)
    return dict(found), words


def program(name):
    path = os.path.join(os.environ.get('PTAH_TEST_BIN', os.path.join(ROOT, 'bin')), name)
    if not os.access(path, os.X_OK):
        skip('%s is not built' % os.path.relpath(path, ROOT))
    return watched(path)


WATCH = 'PTAH_VALGRIND'  # folder of a test whose programs run under valgrind
WATCHED = os.path.join(ROOT, 'build', 'valgrind')
VALGRIND = ['valgrind', '-q', '--error-exitcode=99', '--leak-check=no', '--num-callers=30',
            '--suppressions=' + os.path.join(ROOT, 'tests', 'valgrind.supp')]


def watched(path):
    """Path of the program or, in tests under valgrind, of the script that starts it."""
    script = os.path.join(WATCHED, os.path.relpath(path, ROOT).replace(os.sep, '_'))
    if WATCH not in os.environ:
        return path
    os.makedirs(WATCHED, exist_ok=True)
    part = '%s.%d' % (script, os.getpid())
    with open(part, 'w') as f:
        f.write('#!/bin/sh\nexec %s --log-file="$%s/valgrind.%%p" %s "$@"\n'
                % (shlex.join(VALGRIND), WATCH, shlex.quote(path)))
    os.chmod(part, 0o755)
    os.replace(part, script)
    return script


def watch_begin():
    """Makes the scripts before tests under valgrind."""
    os.environ[WATCH] = WATCHED
    r = subprocess.run([*VALGRIND, os.path.join(ROOT, 'bin', 'inspect'), '-V'],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if r.returncode != 0:
        sys.exit(r.stderr + "no valgrind, or a build for AVX-512, which it does not know: make "
                 "clean; make OPT='-O2 -march=x86-64-v3' all units")


def watch_logs(folder):
    """Messages of valgrind about the programs of a test."""
    text = ''
    for path in sorted(glob.glob(os.path.join(folder, 'valgrind.*'))):
        with open(path, errors='replace') as f:
            text += f.read()
    return text


class Ended(Exception):
    """tests/run ends a test that exceeds its time: the test reports what it waits for."""


def end(*_):
    raise Ended


signal.signal(signal.SIGTERM, end)


class Run:
    """A finished process: status, out, err (texts), seconds, peak resident set of the largest
    process in MiB."""

    def __init__(self, argv, cwd, env=None, timeout=None):
        start = time.monotonic()
        p = subprocess.Popen(argv, cwd=cwd, env={**os.environ, **ENVIRONMENT, **(env or {})},
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             stdin=subprocess.DEVNULL)
        self.argv, self.timed_out, ended = argv, False, None
        try:
            if timeout:
                self.out, self.err = wait_patiently(lambda s: p.communicate(timeout=s), timeout)
            else:
                self.out, self.err = p.communicate()
        except (subprocess.TimeoutExpired, Ended) as e:
            p.terminate()  # mpirun forwards it to its ranks
            self.timed_out, ended = True, isinstance(e, Ended)
            try:
                self.out, self.err = p.communicate(timeout=2 if ended else 10)
            except subprocess.TimeoutExpired:
                p.kill()
                self.out, self.err = p.communicate()
        self.status = p.returncode
        self.seconds = time.monotonic() - start
        self.peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        if ended:
            sys.exit('%s after %.0f s' % (self.said(), self.seconds))

    def said(self):
        """The end of its messages, its command line, and how it ended."""
        how = 'ended by the test' if self.timed_out else 'exit status %d' % self.status
        if self.status < 0 and not self.timed_out:
            how = 'ended by ' + signal.Signals(-self.status).name
        return '%s\n%s: %s' % (self.err[-3000:].rstrip(), shlex.join(self.argv), how)


def mpirun(ranks):
    return ['mpirun', '-n', str(ranks)] if ranks > 1 else []


RUNS_ON = 'PTAH_RUNS_ON'  # gpu_device of all runs of simulate (tests/run --device)
NO_KERNEL = {
    'gpu_hydro': ["riemann='exact' has", 'difmag has', "scheme='plmde' has",
                  'slope_type from 4 to 6 has',
                  'a magnetic field in an expanding universe has', "scheme='induction' has",
                  'eta_mag has', 'nener with mhd=.true. has',
                  'source terms with a magnetic field have',
                  # source terms: the gas runs on the device next to them
                  'stars has', 'stellar ejecta has', 'debris has', 'momentum has',
                  'supernovae has', 'nothing has', 'cooling has', 'a temperature floor with',
                  'this method of cooling has', 'self_shielding has',
                  # radiation and chemistry, likewise
                  "rt_flux_scheme='hll' of rt_rule='ramses' has", 'rt_isIRtrap has',
                  'radiation with a magnetic field has'],
    'gpu_poisson': ['an analytic acceleration has', 'the conjugate gradient of cg_levelmin has',
                    'the Fourier transform of '],
    'gpu_particles': []}


def device_settings(settings):
    """Settings that put all parts with kernels on the device of tests/run --device, unless these
    settings name a device."""
    kind = os.environ.get(RUNS_ON)
    if not kind or any('gpu_device=' in s for s in settings):
        return []
    return ['run_params/%s=.true.' % part for part in NO_KERNEL] + [
        "run_params/gpu_device='%s'" % kind]


def check_device(log):
    """Checks the log of a run that was to be on a device: each part ran there to the end, or has no
    kernel."""
    told = re.findall(r'^ (gpu_\w+): (.*)', log, re.M)
    stays = [(part, why) for part, why in told if ' on the CPU' in why]
    bad = ['%s: %s' % (part, why) for part, why in stays
           if not why.startswith(tuple(NO_KERNEL.get(part, ())))]
    bad += re.findall(r'.*from now on everything runs on the CPU', log)
    if not told or len(told) > len(stays) and not re.search(r'^ Device: .* [1-9]\d* launches', log,
                                                            re.M):
        bad.append('nothing ran there')
    if bad:
        sys.exit('a run that was to be on a device was not: ' + '; '.join(bad))


def simulate(namelist, cwd, ranks=1, threads=1, settings=(), options=(), timeout=None,
             must_work=True, env=None):
    """Runs bin/simulate with a namelist (text, or the path of a file) in folder cwd. `settings` are
    group/name=value, `env` is added to the environment. The result's `outputs` are the checkpoints
    it announced on stdout."""
    there = device_settings(settings)
    if there and must_work:
        options = [o for o in options if o != '-q']  # the log must tell where the run took place
    os.makedirs(cwd, exist_ok=True)
    if not namelist.endswith('.nml'):
        with open(os.path.join(cwd, 'run.nml'), 'w') as f:
            f.write(namelist)
        namelist = 'run.nml'
    argv = mpirun(ranks) + [program('simulate'), *options, namelist, *there, *settings]
    r = Run(argv, cwd, {'OMP_NUM_THREADS': str(threads), **(env or {})}, timeout)
    r.outputs = [os.path.join(cwd, line) for line in r.out.split()]
    with open(os.path.join(cwd, 'log'), 'w') as f:
        f.write(r.err)
    if must_work and r.status != 0:
        sys.exit(r.said())
    if there and r.status == 0 and ' Main step=' in r.err:
        check_device(r.err)
    return r


def ramses_program():
    """Path of the RAMSES given to tests that run it."""
    if not os.environ.get('RAMSES'):
        skip('set RAMSES to the path of a ramses3d with NVAR=6')
    return os.environ['RAMSES']


def ramses(namelist, cwd):
    """Runs RAMSES with a namelist (text) in folder cwd. Its exit status is meaningless."""
    os.makedirs(cwd, exist_ok=True)
    with open(os.path.join(cwd, 'run.nml'), 'w') as f:
        f.write(namelist)
    with open(os.path.join(cwd, 'log'), 'a') as log:
        subprocess.run([ramses_program(), 'run.nml'], cwd=cwd, stdout=log, stderr=log, check=False)


ASCII_BOX = """
&RUN_PARAMS
pic=.true.
poisson=.true.
hydro=%s
nstepmax=%d
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
boxlen=1.0
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='%s'
%s/
&OUTPUT_PARAMS
foutput=%d
tout=1e9
/
&REFINE_PARAMS
%s
/
"""
UNIFORM = """nregion=1
region_type(1)='square'
x_center=0.5
y_center=0.5
z_center=0.5
length_x=10.0
length_y=10.0
length_z=10.0
exp_region=10.0
"""


def ascii_box(levels, steps, every, refine, gas='d_region=1.0\np_region=1.0', ics='ics'):
    """A namelist: a box of side 1 with the particles of ICS/ic_part and uniform gas, or '': no gas.

    levels: levelmin, levelmax; every: steps between outputs; refine, gas: lines of text."""
    hydro, uniform = ('.true.', UNIFORM + gas + '\n') if gas else ('.false.', '')
    return ASCII_BOX % (hydro, steps, *levels, ics, uniform, every, refine)


def gas_box(form):
    """A namelist: uniform gas on levels 2 and 3, with an output at the start in the given
    format."""
    return """&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=2
levelmax=3
/
&INIT_PARAMS
nregion=1
d_region(1)=1.0
p_region(1)=1.0
/
&OUTPUT_PARAMS
outformat='%s'
foutput=1
/
&REFINE_PARAMS
m_refine=0.001
/
""" % form


def output(run, number):
    """Path of the checkpoint output_<number> of a run."""
    for path in run.outputs:
        if path.rstrip('/').endswith('output_%05d' % number):
            return path
    print('output_%05d is not among the checkpoints announced: %s' % (number, run.outputs))
    sys.exit(1)


def digest(path):
    """All lines of the digest of a checkpoint."""
    r = Run([program('inspect'), '-d', path], '.')
    if r.status != 0:
        sys.exit(r.said())
    return r.out


def changed(found, expected):
    """Lines of a digest that differ from those of another; '' for a missing line."""
    lines = itertools.zip_longest(found.splitlines(), expected.splitlines(), fillvalue='')
    return [x for x, y in lines if x != y]


def transports():
    """Values of exchange_method that force a transport: the rows of lib/comm/transports.def."""
    with open(os.path.join(ROOT, 'lib', 'comm', 'transports.def')) as f:
        return re.findall(r'^TRANSPORT\((\w+),', f.read(), re.M)


def unpack_ics(cwd, *names):
    """Unpacks tests/data/ics/<name>.tar.xz to cwd/ics."""
    folder = os.path.join(cwd, 'ics')
    os.makedirs(folder, exist_ok=True)
    for name in names:
        if not os.path.exists(os.path.join(folder, name)):
            with tarfile.open(os.path.join(DATA, 'ics', name + '.tar.xz')) as t:
                t.extractall(folder)


def ics_made(name, level, n, box):
    """Folder build/bench/`name` of initial conditions of n^3 particles in `box` Mpc/h, made by
    mpgrafic; None if neither exists."""
    folder = os.path.join(ROOT, 'build', 'bench', name)
    if not os.path.isdir(folder) and shutil.which('mpgrafic'):
        script = os.path.join(ROOT, 'scripts', 'make_ics.sh')
        r = Run([script, os.path.join(folder, level), str(n), str(box)], '.')
        if r.status != 0:
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit(r.err)
    return folder if os.path.isdir(folder) else None


def ics_64():
    """Folder of initial conditions of 64^3 particles in 50 Mpc/h: IC64, or made by mpgrafic."""
    return os.environ.get('IC64') or ics_made('ic_64', 'level_006', 64, 50)


def ics_galaxy():
    """Folder of initial conditions of 32^3 particles in 8 Mpc/h, made by mpgrafic."""
    return ics_made('ic_galaxy', 'level_005', 32, 8)


def mpicount(table):
    """Builds tests/unit/mpicount.h as a library in this folder. Returns the environment with which
    a program on two or more ranks writes its counts of MPI calls into `table`, for read_tsv."""
    library = os.path.abspath('mpicount.so')
    if not os.path.exists(library):
        subprocess.check_call(['mpicc', '-shared', '-fPIC', '-O2', '-w', '-o', library, '-x', 'c',
                               os.path.join(ROOT, 'tests', 'unit', 'mpicount.h')])
    return {'LD_PRELOAD': library, 'MPICOUNT': os.path.abspath(table)}


def read_tsv(path):
    """Lines of a table as dicts of numbers (or words) by the names in its first line, without lines
    that begin with #."""
    def value(word):
        try:
            return int(word)
        except ValueError:
            try:
                return float(word)
            except ValueError:
                return word
    with open(path) as f:
        lines = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    return [dict(zip(lines[0], map(value, line))) for line in lines[1:]]


def ics_of(namelist):
    return sorted(set(re.findall(r"'ics/(\w+)", namelist)))


def unpack_particles(case, cwd):
    """Unpacks the particles of a case of tests/data/golden, if it has some of its own."""
    path = os.path.join(DATA, 'golden', case + '.ic_part.xz')
    if os.path.exists(path):
        os.makedirs(os.path.join(cwd, 'ics'), exist_ok=True)
        with lzma.open(path) as f, open(os.path.join(cwd, 'ics', 'ic_part'), 'wb') as copy:
            copy.write(f.read())


class Verdict:
    """Collects comparisons; each prints a line; `end` exits with the status."""

    def __init__(self):
        self.failed = 0

    def check(self, what, value, limit, unit=''):
        good = value <= limit  # a NaN fails
        print('%-4s %-46s %.3e  (limit %.1e%s)' % ('ok' if good else 'FAIL', what, value, limit,
                                                   unit))
        self.failed += not good
        return good

    def same(self, what, a, b):
        good = a == b
        print('%-4s %-46s %s' % ('ok' if good else 'FAIL', what,
                                 a if good else '%s, expected %s' % (a, b)))
        self.failed += not good
        return good

    def end(self):
        sys.exit(1 if self.failed else 0)
