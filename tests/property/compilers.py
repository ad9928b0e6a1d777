"""clang builds all programs, whose results have the bits of those built by gcc.

Built in a directory of its own, build/clang. Examples of faults caught: a builtin that only gcc
has; arithmetic that one compiler contracts.
"""
# test: tier=long timeout=600 ranks=2
import fcntl
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import digest  # noqa: E402

BUILD = os.path.join(ptah.ROOT, 'build', 'clang')
STEPS = {'sedov': 6, 'cosmo': 2}


def build():
    """Builds through mpicc, whose compiler Open MPI and MPICH take from the environment; a compiler
    cache for gcc serves clang too."""
    os.makedirs(BUILD, exist_ok=True)
    gcc = os.environ.get('OMPI_CC', '')
    compiler = gcc.replace('gcc', 'clang') if 'ccache' in gcc else 'clang'
    with open(os.path.join(BUILD, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        argv = ['make', '-s', '-j2', '-C', ptah.ROOT, 'B=build/clang', 'BIN=build/clang/bin',
                'HARDEN_C=-g0', 'all']
        r = subprocess.run(argv, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           env={**os.environ, 'OMPI_CC': compiler, 'MPICH_CC': compiler})
    errors = [line for line in r.stderr.splitlines() if 'error' in line or 'warning:' in line]
    return r.returncode, errors[:5]


def main():
    v = ptah.Verdict()
    if not shutil.which('clang'):
        ptah.skip('no clang')
    v.same('clang builds it without warnings', build(), (0, []))
    ptah.unpack_ics('.', 'ic_32')
    for case, steps in STEPS.items():
        with open(case + '.nml', 'w') as f:
            f.write(digest.CASES[case])
        found = []
        for name, folder in (('gcc', os.path.join(ptah.ROOT, 'bin')),
                             ('clang', os.path.join(BUILD, 'bin'))):
            argv = [os.path.join(folder, 'simulate'), '-q', '-o', name + case, case + '.nml',
                    'run_params/nstepmax=%d' % steps, 'output_params/foutput=%d' % steps]
            r = ptah.Run(argv, '.', timeout=300)
            v.same('%s, %s: runs' % (case, name), (r.status, r.err), (0, ''))
            found.append(ptah.digest(r.out.split()[-1]))
        v.same('%s: digest of clang\'s run' % case,
               found[1].splitlines()[0], found[0].splitlines()[0])
    v.end()


main()
