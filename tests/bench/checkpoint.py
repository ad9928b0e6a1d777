#!/usr/bin/env python3
"""Measures the speed of checkpoints relative to dd of the same bytes to the same disk.

    tests/bench/checkpoint.py [-f ramses|hdf5] [-n RANKS] [-r ROUNDS] [-d DIR] [SIMULATE...]

A round consists of a run of the uniform Sedov case with ten passive scalars (128^3 cells, 314 MB)
that ends with its first checkpoint, and `cat FILES | dd bs=64K conv=fsync` of the checkpoint's
files, on the same file system: DIR (default: here). The time of Ptah is that of the timer `io`,
from the layout of the files until the checkpoint has its final name, since the run waits for its
last checkpoint: texts, data, checksums, fsync, rename. dd copies the finished bytes. Several
programs SIMULATE (default: bin/simulate) are compared with the same dd.

Prints a line of JSON for each program: medians in MB/s, and the median of the ratios of a round. On
a busy machine only the ratio is meaningful.
"""
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {'ramses': 'original', 'hdf5': 'hdf5'}
SETTINGS = ['run_params/nstepmax=0', 'hydro_params/npassive=10']
IO = re.compile(r'^ *([0-9.]+) +[0-9.]+ +io$|^ *[0-9.]+ +[0-9.]+ +([0-9.]+) +[0-9.]+ +io$', re.M)


def write_ours(program, form, ranks, folder):
    """(seconds of a checkpoint, its files)"""
    case = os.path.join(HERE, 'cases', 'sedov_uniform.nml')
    settings = SETTINGS + ["output_params/outformat='%s'" % FORMATS[form]]
    shutil.rmtree(os.path.join(folder, 'output_00001'), ignore_errors=True)
    os.sync()
    argv = ptah.mpirun(ranks) + [program, '-f', '-o', folder, case, *settings]
    log = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'},
                         text=True).stdout
    if log.count('Wrote ') != 1:
        sys.exit('the run wrote more than a checkpoint, or none')
    seconds = float(next(s for s in IO.search(log).groups() if s))
    return seconds, sorted(glob.glob(os.path.join(folder, 'output_00001', '*')))


def write_dd(files, folder):
    target = os.path.join(folder, 'dd')
    os.sync()
    start = time.monotonic()
    with subprocess.Popen(['cat', *files], stdout=subprocess.PIPE) as cat:
        subprocess.run(['dd', 'of=' + target, 'bs=64K', 'conv=fsync', 'status=none'],
                       stdin=cat.stdout, check=True)
    seconds = time.monotonic() - start
    os.remove(target)
    return seconds


def main():
    options, programs = ptah.options(__doc__, 'f:n:r:d:')
    form, ranks, rounds = (options.get('-f', 'ramses'), int(options.get('-n', 2)),
                           int(options.get('-r', 3)))
    programs = programs or [ptah.program('simulate')]
    folder = tempfile.mkdtemp(dir=options.get('-d', '.'))
    ours, dd, ratio = {p: [] for p in programs}, [], {p: [] for p in programs}
    try:
        for _ in range(rounds):
            for p in programs:
                seconds, files = write_ours(p, form, ranks, folder)
                size = sum(os.path.getsize(f) for f in files) / 1e6
                dd.append(write_dd(files, folder))
                ours[p].append(size / seconds)
                ratio[p].append(dd[-1] / seconds)
    finally:
        shutil.rmtree(folder)
    for p in programs:
        print(json.dumps({'program': p, 'format': form, 'ranks': ranks, 'megabytes': round(size),
                          'rounds': rounds, 'ours_mb_s': round(statistics.median(ours[p])),
                          'dd_mb_s': round(size / statistics.median(dd)),
                          'ratio': round(statistics.median(ratio[p]), 2)}))


if __name__ == '__main__':
    main()
