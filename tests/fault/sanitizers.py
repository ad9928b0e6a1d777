"""Builds with the address and undefined-behaviour sanitizers and runs small problems on 2 ranks:
neither may report anything.

    sanitizers.py CASE      sedov, cosmo, broken (a truncated file, met by the readers), or stack

stack: a build with the alignment sanitizer alone, since the others align the stack; sedov and cosmo
with the stack at four offsets from a multiple of 64 bytes. An array that is read as a vector must
not be aligned by chance only. Leaks are checked where /proc exists.

Catches reads past an array, uses after free, leaks of Ptah, undefined shifts and overflows, and
vectors read from addresses that are aligned for scalars only.
"""
# test: sedov tier=check timeout=400 ranks=2
# test: cosmo tier=check timeout=400 ranks=2
# test: broken tier=check timeout=400 ranks=2
# test: stack tier=long timeout=400 ranks=2
import ctypes
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

MEMORY = 'asan', 'address,undefined'  # name and kinds of a build
LEAKS = os.path.isdir('/proc/self/task')  # without /proc, LeakSanitizer ends each program
OPTIONS = {
    'ASAN_OPTIONS': 'detect_stack_use_after_return=1:exitcode=99:detect_leaks=%d' % LEAKS,
    'UBSAN_OPTIONS': 'print_stacktrace=1',
    'LSAN_OPTIONS': 'exitcode=0',
}
COMPLAINT = re.compile(r'runtime error|ERROR: AddressSanitizer|UndefinedBehaviorSanitizer')


def build(name, kinds, *programs):
    """The folder with the programs, built with these sanitizers."""
    folder = os.path.join('build', name)
    os.makedirs(os.path.join(ptah.ROOT, folder), exist_ok=True)
    with open(os.path.join(ptah.ROOT, folder, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # the runs take seconds; compilation with more optimisation would take a minute more
        options = '-O0 -march=native -fno-omit-frame-pointer -fno-sanitize-recover=undefined '
        goals = [os.path.join(folder, 'bin', program) for program in programs]
        subprocess.check_call(['make', '-s', '-j2', '-C', ptah.ROOT, 'B=' + folder,
                               'BIN=%s/bin' % folder, *goals,
                               'OPT=%s-fsanitize=%s' % (options, kinds), 'HARDEN_C=-g1',
                               'LDFLAGS=-fopenmp -fsanitize=' + kinds], stdout=subprocess.DEVNULL)
    return os.path.join(ptah.ROOT, folder, 'bin')


def leaks(text):
    """Leak reports whose memory was requested by a function of Ptah; Open MPI and its unloaded
    parts leak too."""
    ours = re.compile(r'#[12] .* in \w+ \S*(lib|cmd)/\w+/\w+\.c:')
    return [b for b in text.split('\n\n') if ' leak of ' in b and ours.search(b)]


def quiet(v, what, argv, ranks, status=0, env=None):
    r = ptah.Run(ptah.mpirun(ranks) + argv, '.', {**OPTIONS, 'OMP_NUM_THREADS': '2', **(env or {})})
    complaints = [s for s in (r.out + r.err).splitlines() if COMPLAINT.search(s)] + leaks(r.err)
    v.same(what + ': exit status', r.status, status)
    v.same(what + ': complaints', complaints, [])
    if complaints or r.status != status:
        print(r.err[-4000:])
    return r


def fixed_addresses():
    """Child processes have their stack at an address fixed by the environment, instead of a random
    one."""
    address_no_randomize = 0x0040000
    return ctypes.CDLL(None).personality(address_no_randomize) >= 0


def stack_layouts(v, programs):
    """The environment lies above the stack: 16 bytes more of it move the stack by 16 bytes."""
    print('     addresses are %s' % ('fixed' if fixed_addresses() else 'random'))
    for case in ('sedov', 'cosmo'):
        put_case(case)
        for pad in range(0, 64, 16):
            argv = [os.path.join(programs, 'simulate'), '-q', '--force', '-o', 'stack', 'run.nml',
                    'run_params/nstepmax=2']
            quiet(v, '%s, the stack %d bytes lower' % (case, pad), argv, 1,
                  env={'PTAH_STACK': 'x' * pad, 'OMP_NUM_THREADS': '1'})


def put_case(case):
    with open('run.nml', 'w') as f:
        f.write(digest.CASES[case])
    ptah.unpack_ics('.', 'ic_32')


def run_case(v, case, programs):
    put_case(case)
    simulate, inspect = (os.path.join(programs, p) for p in ('simulate', 'inspect'))
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


def truncated(v, programs):
    """Runs inspect, and simulate where only it reads a file, on checkpoints of which each file in
    turn is truncated."""
    simulate, inspect = (os.path.join(programs, p) for p in ('simulate', 'inspect'))
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
    if sys.argv[1] == 'stack':
        stack_layouts(v, build('aligned', 'alignment', 'simulate'))
        v.end()
    programs = build(*MEMORY, 'simulate', 'inspect')
    if sys.argv[1] == 'broken':
        truncated(v, programs)
    else:
        run_case(v, sys.argv[1], programs)
    v.end()


if __name__ == '__main__':
    main()
