#!/usr/bin/env python3
"""Measures repartition against cp -r of the same checkpoint.

    tests/bench/repartition.py [-r ROUNDS] [-l LEVEL] [-c] [-i CHECKPOINT] [-d DIR]

The checkpoint is one of uniform gas, (2^LEVEL)^3 cells in one file (default 8: 1.15 GB), or the one
given. A round consists, on one file system (DIR, default: here), of `cp -r`, `cp -r` with `sync` of
the copy, and repartition to 4 files and to HDF5 on one and on two threads with a quarter of the
checkpoint as memory; -c: caches are dropped, so that all read from disk (root only). Prints a line
of JSON per case: median wall clock, processor seconds, largest resident set, ratios to both copies.

"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def make_input(level, folder):
    settings = ['run_params/nstepmax=1', 'output_params/foutput=1', 'amr_params/ngridmax=0',
                'amr_params/levelmin=%d' % level, 'amr_params/levelmax=%d' % level]
    case = os.path.join(HERE, 'cases', 'sedov_uniform.nml')
    run = ptah.simulate(case, folder, settings=settings, options=['-q'])
    return run.outputs[-1]


def size_of(path):
    return sum(os.path.getsize(os.path.join(path, f)) for f in os.listdir(path))


def measure(argv, threads, cold):
    subprocess.run(['sync'], check=True)
    if cold:
        with open('/proc/sys/vm/drop_caches', 'w') as f:
            f.write('3')
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    p = subprocess.Popen(argv, env={**os.environ, 'OMP_NUM_THREADS': str(threads)},
                         stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    wall = time.monotonic() - start
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        sys.exit('%s: exit status %d' % (argv[0], p.returncode))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, used.ru_maxrss / 1024


def main():
    options = ptah.options(__doc__, 'r:l:ci:d:')[0]
    folder = tempfile.mkdtemp(dir=options.get('-d', '.'))
    seen = {}
    try:
        given = options.get('-i')
        if not given:
            given = make_input(int(options.get('-l', 8)), os.path.join(folder, 'run'))
        size, out = size_of(given), os.path.join(folder, 'out')
        memory = '%dM' % max(64, size / 4 / 2 ** 20)
        ours = [ptah.program('repartition'), '-q', '-m', memory, '-o', out, given]
        cases = {'cp': (['cp', '-r', given, out], 1),
                 'cp, sync': (['sh', '-c', 'cp -r "$0" "$1" && sync "$1"/*', given, out], 1)}
        for threads in (1, 2):
            cases['4 files, %d threads' % threads] = ours + ['-n', '4'], threads
            cases['HDF5, %d threads' % threads] = ours + ['-f', 'hdf5'], threads
        for _ in range(int(options.get('-r', 5))):
            for name, (argv, threads) in cases.items():
                seen.setdefault(name, []).append(measure(argv, threads, '-c' in options))
                shutil.rmtree(out)
    finally:
        shutil.rmtree(folder)
    median = {name: [statistics.median(x) for x in zip(*runs)] for name, runs in seen.items()}
    for name, (wall, cpu, peak) in median.items():
        print(json.dumps({'case': name, 'megabytes': round(size / 1e6), 'wall_s': round(wall, 2),
                          'cpu_s': round(cpu, 2), 'peak_mib': round(peak),
                          'over_cp': round(wall / median['cp'][0], 1),
                          'over_cp_sync': round(wall / median['cp, sync'][0], 1)}))


if __name__ == '__main__':
    main()
