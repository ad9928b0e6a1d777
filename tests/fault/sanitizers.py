"""Builds with the address and undefined-behaviour sanitizers and runs small problems on 2 ranks:
neither may say anything.

    sanitizers.py CASE      sedov, cosmo, or broken (a truncated file, met by the readers)

Catches reads past an array, uses after free, leaks of our own, meaningless shifts and overflows.
"""
# test: sedov tier=check timeout=400 ranks=2
# test: cosmo tier=check timeout=400 ranks=2
# test: broken tier=check timeout=400 ranks=2
import fcntl
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
import digest  # noqa: E402

BUILD = os.path.join(ptah.ROOT, 'build', 'asan')
SANITIZE = '-fsanitize=address,undefined'
OPTIONS = {
    'ASAN_OPTIONS': 'detect_stack_use_after_return=1:exitcode=99',
    'UBSAN_OPTIONS': 'print_stacktrace=1',
    'LSAN_OPTIONS': 'exitcode=0',
}
COMPLAINT = re.compile(r'runtime error|ERROR: AddressSanitizer|UndefinedBehaviorSanitizer')


def build():
    os.makedirs(BUILD, exist_ok=True)
    with open(os.path.join(BUILD, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # what it runs takes seconds, to compile it with more effort a minute more
        options = '-O0 -march=native -fno-omit-frame-pointer -fno-sanitize-recover=undefined '
        goals = ['build/asan/bin/' + program for program in ('simulate', 'inspect')]
        subprocess.check_call(['make', '-s', '-j2', '-C', ptah.ROOT, 'B=build/asan',
                               'BIN=build/asan/bin', *goals, 'OPT=' + options + SANITIZE,
                               'HARDEN_C=-g1',
                               'LDFLAGS=-fopenmp ' + SANITIZE], stdout=subprocess.DEVNULL)


def leaks(text):
    """Leak reports whose memory one of our own functions asked for; Open MPI and its unloaded
    parts leave some behind."""
    ours = re.compile(r'#[12] .* in \w+ \S*(lib|cmd)/\w+/\w+\.c:')
    return [b for b in text.split('\n\n') if ' leak of ' in b and ours.search(b)]


def quiet(v, what, argv, ranks, status=0):
    r = ptah.Run(ptah.mpirun(ranks) + argv, '.', {**OPTIONS, 'OMP_NUM_THREADS': '2'})
    complaints = [s for s in (r.out + r.err).splitlines() if COMPLAINT.search(s)] + leaks(r.err)
    v.same(what + ': exit status', r.status, status)
    v.same(what + ': complaints', complaints, [])
    if complaints:
        print(r.err[-4000:])
    return r


def run_case(v, case):
    with open('run.nml', 'w') as f:
        f.write(digest.CASES[case])
    ptah.unpack_ics('.', 'ic_32')
    simulate, inspect = (os.path.join(BUILD, 'bin', p) for p in ('simulate', 'inspect'))
    steps = 3 if case == 'cosmo' else 6
    settings = ['run_params/nstepmax=%d' % (steps + 1), 'output_params/foutput=%d' % steps,
                'run_params/nremap=2']
    for ordering in ('ksection', 'hilbert'):
        argv = [simulate, '-o', ordering, 'run.nml', 'run_params/ordering=' + ordering] + settings
        r = quiet(v, '%s, %s' % (case, ordering), argv, 2)
        first, last = r.out.split()[0], r.out.split()[-1]
        for options in ([], ['-d'], ['-j'], ['-tv'], ['-pj'], ['-cc'],
                        ['-m', 'density', '-o', 'map.png', '--force']):
            quiet(v, 'inspect ' + ' '.join(options), [inspect] + options + [last], 1)
        if case == 'cosmo':
            quiet(v, 'inspect --contamination',
                  [inspect, '--contamination', '--sphere', 'densest,0.05', last], 1)
        quiet(v, 'inspect, two', [inspect, first, last], 1, status=1)


def truncated(v):
    """inspect, and simulate where it alone reads a file, on a checkpoint each of whose files in
    turn is cut short."""
    simulate, inspect = (os.path.join(BUILD, 'bin', p) for p in ('simulate', 'inspect'))
    settings = ['amr_params/levelmax=5', 'run_params/nstepmax=1']
    good = ptah.simulate(digest.SEDOV, 'good', settings=settings).outputs[0]
    for name in sorted(os.listdir(good)):
        if '.out' not in name and not name.startswith('info'):
            continue
        size = os.path.getsize(os.path.join(good, name))
        last = [] if name.startswith('info') else [size - 1]
        for cut in [0, 3, 100, size // 2] + last:
            shutil.rmtree('output_00001', ignore_errors=True)
            shutil.copytree(good, 'output_00001')
            os.truncate(os.path.join('output_00001', name), cut)
            argv = [inspect, '-d', 'output_00001']
            if name.startswith('exact'):
                argv = [simulate, '-o', 'again', '-r', 'output_00001', 'good/run.nml',
                        'amr_params/levelmax=5', 'run_params/nstepmax=2']
            quiet(v, '%s cut at %d' % (name, cut), argv, 1, status=2)


def main():
    v = ptah.Verdict()
    build()
    if sys.argv[1] == 'broken':
        truncated(v)
    else:
        run_case(v, sys.argv[1])
    v.end()


if __name__ == '__main__':
    main()
