"""Standard output that ends early: no message for a reader that has gone (`pk … | head`), one
sentence for a full disk.

Example of a fault caught: a program that continues with the next checkpoint after the reader has
gone.
"""
# test: tier=quick timeout=60
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

PROGRAMS = ['simulate', 'repartition', 'convert', 'inspect', 'genzoom', 'pk']


def run(argv, out):
    p = ptah.run_patiently([ptah.program(argv[0]), *argv[1:]], stdout=out, stderr=subprocess.PIPE,
                           stdin=subprocess.DEVNULL, text=True, timeout=50,
                           env={**os.environ, **ptah.ENVIRONMENT})
    return p.returncode, p.stderr


def gone(argv):
    """Runs with a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    status, err = run(argv, write)
    os.close(write)
    return status, err


def main():
    v = ptah.Verdict()
    tiny.write('output_00001', tiny.grow({1: [(0, 0, 0)]}))
    shutil.copytree('output_00001', 'damaged')
    os.remove('damaged/amr_00001.out00001')
    argvs = [[p, '-h'] for p in PROGRAMS]
    argvs += [['inspect', 'output_00001'], ['inspect', '-t', 'output_00001', 'damaged']]
    for argv in argvs:
        status, err = gone(argv)
        v.same('%s: nobody reads' % ' '.join(argv),
               (status in (2, -signal.SIGPIPE), err), (True, ''))
        with open('/dev/full', 'w') as full:
            status, err = run(argv, full)
        v.same('%s: no room' % ' '.join(argv),
               (status, err.count('\n'), 'standard output' in err), (2, 1, True))
    v.end()


main()
