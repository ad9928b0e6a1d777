"""Other builds of all programs, without warnings, whose results have the bits of the usual build:
by clang, and with octree keys of 128 bits (MORTON128=1), which also go deeper than 21 levels.

Each is built in a directory of its own, build/clang and build/morton128. Examples of faults caught:
a builtin that only gcc has; arithmetic that one compiler contracts; a key taken for 64 bits.
"""
# test: clang tier=long timeout=600 ranks=2
# test: morton128 tier=long timeout=600 ranks=2
import fcntl
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import blast  # noqa: E402
import ptah  # noqa: E402
import digest  # noqa: E402

STEPS = {'sedov': 6, 'cosmo': 2}
DEEP = 26  # a level that keys of 64 bits do not reach
ONE_STEP = ['run_params/nstepmax=1', 'run_params/nsubcycle=30*1', 'amr_params/levelmin=3',
            'output_params/foutput=1']


def clang():
    """Environment and arguments of make. mpicc takes its compiler from the environment, of Open MPI
    and of MPICH; a compiler cache for gcc serves clang too."""
    if not shutil.which('clang'):
        ptah.skip('no clang')
    gcc = os.environ.get('OMPI_CC', '')
    compiler = gcc.replace('gcc', 'clang') if 'ccache' in gcc else 'clang'
    return {'OMPI_CC': compiler, 'MPICH_CC': compiler}, ['HARDEN_C=-g0']


def morton128():
    return {}, ['MORTON128=1', 'HARDEN_C=-g0']


BUILDS = {'clang': clang, 'morton128': morton128}


def build(kind):
    """Builds the programs; returns the status of make and its first warnings and errors."""
    folder = os.path.join(ptah.ROOT, 'build', kind)
    more, variables = BUILDS[kind]()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        argv = ['make', '-s', '-j2', '-C', ptah.ROOT, 'B=build/' + kind,
                'BIN=build/%s/bin' % kind, 'all'] + variables
        r = subprocess.run(argv, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           env={**os.environ, **more})
    errors = [line for line in r.stderr.splitlines() if 'error' in line or 'warning:' in line]
    return r.returncode, errors[:5]


def same_bits(v, kind, programs):
    ptah.unpack_ics('.', 'ic_32')
    for case, steps in STEPS.items():
        with open(case + '.nml', 'w') as f:
            f.write(digest.CASES[case])
        found = []
        for name, folder in programs.items():
            argv = [os.path.join(folder, 'simulate'), '-q', '-o', name + case, case + '.nml',
                    'run_params/nstepmax=%d' % steps, 'output_params/foutput=%d' % steps]
            r = ptah.Run(argv, '.', timeout=300)
            v.same('%s, %s: runs' % (case, name), (r.status, r.err), (0, ''))
            found.append(ptah.digest(r.out.split()[-1]))
        v.same('%s: digest of the build %s' % (case, kind),
               found[1].splitlines()[0], found[0].splitlines()[0])


def deep(v, programs):
    """A mesh of DEEP levels: the usual build refuses it by name, keys of 128 bits carry it."""
    with open('deep.nml', 'w') as f:
        f.write(blast.NAMELIST.format(levelmax=DEEP, end=1e9))
    usual, wide = [ptah.Run([os.path.join(folder, 'simulate'), '-q', '-o', name + 'deep',
                             'deep.nml', *ONE_STEP], '.', timeout=300)
                   for name, folder in programs.items()]
    v.same('%d levels, usual build: status' % DEEP, usual.status, 2)
    v.same('%d levels, usual build: names the limit' % DEEP,
           'levelmax=%d is out of range: 1 .. 21' % DEEP in usual.err, True)
    v.same('%d levels, keys of 128 bits: runs' % DEEP, (wide.status, wide.err), (0, ''))
    if wide.status == 0:
        r = ptah.Run([os.path.join(programs['morton128'], 'inspect'), 'tree',
                      wide.out.split()[-1]], '.', timeout=300)
        v.same('%d levels, keys of 128 bits: the finest level has octs' % DEEP,
               any(line.split()[:1] == [str(DEEP)] for line in r.out.splitlines()), True)


def main():
    v = ptah.Verdict()
    kind = sys.argv[1]
    v.same('%s builds without warnings' % kind, build(kind), (0, []))
    programs = {'usual': os.path.join(ptah.ROOT, 'bin'),
                kind: os.path.join(ptah.ROOT, 'build', kind, 'bin')}
    same_bits(v, kind, programs)
    if kind == 'morton128':
        deep(v, programs)
    v.end()


main()
