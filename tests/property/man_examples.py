r"""The examples of the man pages work: each line of a block marked in the page is run by a shell.
man_examples.py PAGE...     pages man/PAGE.1, or .7  In a page a comment marks the block that
follows, with the exit status of its commands if it is not 0:      .\" example: status 1     .EX
inspect output_00001 output_00002     .EE  The commands of a page run one after the other in a
folder of its own with run.nml (gas, two levels beyond the coarse one), its checkpoints output_00001
and output_00002, and hdf5/output_00002, the same in HDF5. Pages in COSMO, and blocks marked
`example: cosmological` in other pages, have a cosmological run.nml and its checkpoints instead,
from the coarsest level of ics, a zoom of three levels. Data for further pages belong here. """
# test: inspect simulate repartition convert ptah tier=check timeout=120 ranks=4
# test: pk genzoom inspect convert tier=check timeout=60
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import digest  # noqa: E402
import ptah  # noqa: E402

BLOCK = re.compile(r'^\.\\" example(: cosmological)?(?:: status (\d+))?\n\.EX\n(.*?)^\.EE',
                   re.M | re.S)
ESCAPES = {'\\-': '-', '\\e': '\\', '\\(aq': "'", '\\fB': '', '\\fI': '', '\\fR': '', '\\&': ''}


def examples(page):
    """(other data, status, commands) of each marked block."""
    for m in BLOCK.finditer(page):
        text = re.sub('|'.join(map(re.escape, ESCAPES)), lambda e: ESCAPES[e.group()], m.group(3))
        yield bool(m.group(1)), int(m.group(2) or 0), text.strip().splitlines()


COSMO = ('pk', 'genzoom')
COSMIC = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=2
/
&OUTPUT_PARAMS
foutput=2
noutput=1
aout=1.0
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/level_005'
omega_b=0.047
/
&AMR_PARAMS
levelmin=5
levelmax=6
/
&HYDRO_PARAMS
gamma=1.6666667
/
&REFINE_PARAMS
m_refine=8*8.
/
"""


def prepare_cosmic():
    ptah.unpack_ics('sets', 'ic_zoom')
    os.rename('sets/ics/ic_zoom', 'ics')
    ptah.simulate(COSMIC, '.')


def prepare():
    settings = ['amr_params/levelmax=6', 'run_params/nstepmax=3', 'output_params/foutput=2']
    for folder, more in (('.', []), ('hdf5', ['output_params/outformat=hdf5'])):
        os.makedirs(folder, exist_ok=True)
        text = digest.SEDOV
        for s in settings + more:
            key, value = s.split('/')[1].split('=')
            value = value if value.isdigit() else "'%s'" % value
            text, n = re.subn(r'\b%s=.*' % key, '%s=%s' % (key, value), text)
            if n == 0:
                text = text.replace('noutput=1', 'noutput=1\n%s=%s' % (key, value))
        ptah.simulate(text, folder)


def main():
    v = ptah.Verdict()
    path = os.path.join(ptah.ROOT, 'bin') + os.pathsep + os.environ['PATH']
    os.makedirs('data')
    os.chdir('data')
    cosmic = sys.argv[1] in COSMO
    (prepare_cosmic if cosmic else prepare)()
    os.chdir('..')
    for page in sys.argv[1:]:
        shutil.copytree('data', page)
        name = page + ('.7' if page == 'ptah' else '.1')
        with open(os.path.join(ptah.ROOT, 'man', name)) as f:
            text = f.read()
        blocks = list(examples(text))
        v.same('%s: blocks that are not marked' % name, text.count('\n.EX\n') - len(blocks), 0)
        v.same('%s: marked blocks' % name, len(blocks) > 0, True)
        for other, status, commands in blocks:
            for command in commands if other == (cosmic and page not in COSMO) else []:
                r = ptah.Run(['bash', '-o', 'pipefail', '-c', command], page, {'PATH': path}, 60)
                if not v.same(command.strip(), r.status, status):
                    print(r.out[-500:] + r.err[-1000:])
    v.end()


if __name__ == '__main__':
    main()
