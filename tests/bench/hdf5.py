#!/usr/bin/env python3
"""Measures how fast HDF5 checkpoints are written, against dd of the same bytes to the same disk.

    tests/bench/hdf5.py [-n RANKS] [-r ROUNDS] [-d DIR]

A round is a run of the uniform Sedov case with ten passive scalars (128^3 cells, 314 MB), which
writes two checkpoints, and two times `dd bs=4M conv=fsync` of the checkpoint's file, on the same
file system: DIR (default: here). Our time is that of the timer `io`: texts, data, fsync, rename.
Prints a line of JSON: medians in MB/s and their ratio. On a busy machine only the ratio says
anything.
"""
import getopt
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
SETTINGS = ['run_params/nstepmax=1', 'hydro_params/npassive=10', "output_params/outformat='hdf5'",
            'output_params/foutput=1']


def write_ours(ranks, folder):
    """Seconds a checkpoint, the path of the file of one."""
    case = os.path.join(HERE, 'cases', 'sedov_uniform.nml')
    argv = [ptah.program('simulate'), '-f', '-o', folder, case]
    os.sync()
    log = subprocess.run(['mpirun', '-n', str(ranks)] + argv + SETTINGS, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'}).stdout
    number = log.count('Wrote ')
    seconds = float(re.search(r'^ *[0-9.]+ +[0-9.]+ +([0-9.]+) +[0-9.]+ +io$', log, re.M)[1])
    return seconds / number, os.path.join(folder, 'output_00001', 'data_00001.h5')


def write_dd(source, folder):
    target = os.path.join(folder, 'dd')
    os.sync()
    start = time.monotonic()
    subprocess.run(['dd', 'if=' + source, 'of=' + target, 'bs=4M', 'conv=fsync', 'status=none'],
                   check=True)
    seconds = time.monotonic() - start
    os.remove(target)
    return seconds


def main():
    options = dict(getopt.getopt(sys.argv[1:], 'n:r:d:')[0])
    ranks, rounds = int(options.get('-n', 2)), int(options.get('-r', 3))
    folder = tempfile.mkdtemp(dir=options.get('-d', '.'))
    ours, dd = [], []
    try:
        for _ in range(rounds):
            seconds, path = write_ours(ranks, folder)
            ours.append(seconds)
            dd += [write_dd(path, folder) for _ in range(2)]
            size = os.path.getsize(path) / 1e6
    finally:
        shutil.rmtree(folder)
    fast, plain = size / statistics.median(ours), size / statistics.median(dd)
    print(json.dumps({'case': 'hdf5 checkpoint', 'ranks': ranks, 'megabytes': round(size),
                      'rounds': rounds, 'ours_mb_s': round(fast), 'dd_mb_s': round(plain),
                      'ratio': round(fast / plain, 2)}))


if __name__ == '__main__':
    main()
