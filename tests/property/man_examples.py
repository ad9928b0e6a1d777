r"""The examples of the man pages work: each line of a block marked in the page is run by a shell.

    man_examples.py TOOL...     pages man/TOOL.1

In a page a block is marked by a comment before it, with the exit status of its commands where that is not 0:

    .\" example: status 1
    .EX
    inspect output_00001 output_00002
    .EE

The commands run one after the other in a folder with run.nml (gas, two levels beyond the coarse one), its checkpoints output_00001 and
output_00002, and hdf5/output_00002, the same in HDF5. Other data that a page needs, add here.
"""
# test: inspect tier=check timeout=60 ranks=2
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import digest  # noqa: E402
import ptah  # noqa: E402

BLOCK = re.compile(r'^\.\\" example(?:: status (\d+))?\n\.EX\n(.*?)^\.EE', re.M | re.S)
ESCAPES = {'\\-': '-', '\\e': '\\', '\\(aq': "'", '\\fB': '', '\\fI': '', '\\fR': '', '\\&': ''}


def examples(page):
    """(status, commands) of each marked block."""
    for m in BLOCK.finditer(page):
        text = re.sub('|'.join(map(re.escape, ESCAPES)), lambda e: ESCAPES[e.group()], m.group(2))
        yield int(m.group(1) or 0), text.strip().splitlines()


def prepare():
    settings = ['amr_params/levelmax=6', 'run_params/nstepmax=3', 'output_params/foutput=2']
    for folder, more in (('.', []), ('hdf5', ['output_params/outformat=hdf5'])):
        os.makedirs(folder, exist_ok=True)
        text = digest.SEDOV
        for s in settings + more:
            key, value = s.split('/')[1].split('=')
            text, n = re.subn(r'\b%s=.*' % key, '%s=%s' % (key, value if value.isdigit() else "'%s'" % value), text)
            if n == 0:
                text = text.replace('noutput=1', "noutput=1\n%s='%s'" % (key, value))
        ptah.simulate(text, folder)


def main():
    v = ptah.Verdict()
    prepare()
    path = os.path.join(ptah.ROOT, 'bin') + os.pathsep + os.environ['PATH']
    for tool in sys.argv[1:]:
        ptah.program(tool)
        with open(os.path.join(ptah.ROOT, 'man', tool + '.1')) as f:
            blocks = list(examples(f.read()))
        v.same('%s.1: marked blocks' % tool, len(blocks) > 0, True)
        for status, commands in blocks:
            for command in commands:
                r = ptah.Run(['bash', '-o', 'pipefail', '-c', command], '.', {'PATH': path})
                if not v.same(command, r.status, status):
                    print(r.out[-500:] + r.err[-1000:])
    v.end()


if __name__ == '__main__':
    main()
