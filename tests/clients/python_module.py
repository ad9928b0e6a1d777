"""The module `ptah` for Python: its laws (tests/python/laws.py), wrong input (hostile.py), the
examples of its documentation, and its installation.

    python_module.py laws        arrays, regions and measurements beside other readers and programs
    python_module.py hostile     wrong input, damaged files, closed checkpoints, threads, forks
    python_module.py examples    docstrings, docs/python.md and python/README.md
    python_module.py notebook    docs/notebook.ipynb
    python_module.py package     a wheel, installed in an environment of its own, and `make install`

Example of a fault caught: cells of the next level counted as leaves, an array that is freed with
its table, a header that the wheel lacks.
"""
# test: laws tier=check timeout=120
# test: hostile tier=check timeout=120
# test: examples tier=check timeout=120
# test: notebook tier=check timeout=180
# test: package tier=check timeout=180
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import readers  # noqa: E402

# The module has the name of the helpers of the tests: it is imported in processes of its own.
MODULE = os.path.join(ptah.ROOT, 'python')
SCRIPTS = os.path.join(ptah.ROOT, 'tests', 'python')
LATER = 'output_00002'

DOCTEST = """
import doctest, importlib, os, sys
failed = count = 0
for name in ['ptah', 'ptah.checkpoint', 'ptah.campaign', 'ptah.yt']:
    if name == 'ptah.yt':
        import yt
        yt.set_log_level(50)
    r = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    print(name, r)
    failed, count = failed + r.failed, count + r.attempted
for page in sys.argv[1:]:
    r = doctest.testfile(page, module_relative=False, optionflags=doctest.ELLIPSIS)
    print(os.path.basename(page), r)
    failed, count = failed + r.failed, count + r.attempted
sys.exit(failed > 0 or count < 40)
"""

NOTEBOOK = """
import sys
import jupyter_client, nbclient, nbformat
book = nbformat.read(sys.argv[1], as_version=4)
made = [c for c in book.cells if c.cell_type == 'code' and (c.outputs or c.execution_count)]
kernel = jupyter_client.AsyncKernelManager(kernel_name='python3', transport='ipc')
nbclient.NotebookClient(book, km=kernel, timeout=100).execute()
shown = sum(len(c.outputs) for c in book.cells if c.cell_type == 'code')
print('%d cells, %d outputs' % (len(book.cells), shown))
sys.exit('outputs are stored in it' if made else shown < 8)
"""

READ = """
import ptah
assert {where!r} in ptah.__file__, ptah.__file__
with ptah.open({path!r}) as c:
    t = c.cells(['density', 'dx'])
    print(ptah.release(), t.n, (t['density'] * t['dx'] ** 3).sum())
"""


def run_of_cells():
    """A small cosmological run with two outputs."""
    ptah.unpack_ics('.', 'ic_32')
    ptah.simulate(readers.COSMO, '.', settings=['amr_params/levelmax=6'], options=['-q'])


def tool(name, *words):
    return ptah.Run([ptah.program(name), '-q', *words], '.')


def prepare_laws():
    tool('convert', '-o', 'h5', LATER)
    os.mkdir('four')
    tool('repartition', '--ranks', '4', '-o', 'four/' + LATER, LATER)
    tool('inspect', '-m', 'density', '--bare', '-n', '32', '-u', '-f', 'npy', '-o', 'map.npy',
         LATER)
    for name, words in [('profile', ['inspect', '--profile', '.5,.5,.5,.3', '-n', '12']),
                        ('pk', ['pk', '--mesh', '32', '--species', 'dm,dmxgas']),
                        ('halos', ['inspect', '--halos', '--link', '.9', '--min', '10'])]:
        with open(name + '.json', 'w') as f:
            f.write(tool(words[0], '-j', *words[1:], LATER).out)


def call(v, what, *argv, env=None):
    """A process that must end with 0."""
    paths = [MODULE, os.path.join(ptah.ROOT, 'tests', 'golden')]
    usual = {'PYTHONPATH': os.pathsep.join(paths), 'MPLBACKEND': 'agg',
             'PYTHONDONTWRITEBYTECODE': '1'}
    r = subprocess.run(argv, env={**os.environ, **(usual if env is None else env)}, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(r.stdout, end='')
    v.same(what + ' ends with', r.returncode, 0)
    return r.stdout


def needs(*modules):
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            ptah.skip('%s is not installed' % name)


def examples(v):
    call(v, 'doctest', sys.executable, '-c', DOCTEST, os.path.join(MODULE, 'README.md'),
         os.path.join(ptah.ROOT, 'docs', 'python.md'))


def notebook(v):
    """Its pictures are outputs."""
    needs('nbclient', 'ipykernel', 'matplotlib')
    call(v, 'the notebook', sys.executable, '-c', NOTEBOOK,
         os.path.join(ptah.ROOT, 'docs', 'notebook.ipynb'),
         env={'PYTHONPATH': MODULE, 'MPLBACKEND': 'module://matplotlib_inline.backend_inline'})


def package(v):
    """The clean environment sees nothing of this one but numpy and cffi."""
    call(v, 'venv', sys.executable, '-m', 'venv', '--without-pip', 'clean', env={})
    python = os.path.abspath('clean/bin/python')
    call(v, 'pip', sys.executable, '-m', 'pip', '--python', python, 'install', '-q', '--no-index',
         '--no-deps', '--disable-pip-version-check', MODULE, env={})
    import cffi
    home = os.path.dirname(os.path.dirname(cffi.__file__))
    site = os.path.dirname(os.path.dirname(subprocess.run(
        [python, '-c', 'import importlib.util as u; print(u.find_spec("ptah").origin)'],
        text=True, stdout=subprocess.PIPE, check=True).stdout))
    with open(os.path.join(site, 'needs.pth'), 'w') as f:
        f.write(home + '\n')
    inside = call(v, 'the wheel', python, '-c', READ.format(where=site, path=LATER), env={})
    prefix = os.path.abspath('prefix')
    call(v, 'make install', 'make', '-s', '-C', ptah.ROOT, 'install', 'PREFIX=' + prefix, env={})
    installed = call(v, 'the installed library', sys.executable, '-c',
                     READ.format(where=MODULE, path=LATER),
                     env={'PTAH_LIBRARY': prefix + '/lib/libptah.so', 'PYTHONPATH': MODULE})
    v.same('both read the same', inside.split()[-2:], installed.split()[-2:])
    want = json.loads(tool('inspect', '-j', LATER).out)
    v.same('as many cells as inspect counts', int(inside.split()[-2]),
           sum(level['leaves'] for level in want['levels']))


def main():
    needs('numpy', 'cffi')
    what, v = sys.argv[1], ptah.Verdict()
    if not os.path.exists(os.path.join(ptah.ROOT, 'build', 'libptah.so')):
        ptah.skip('build/libptah.so is not built')
    run_of_cells()
    if what == 'laws':
        prepare_laws()
    if what in ('laws', 'hostile'):
        call(v, what, sys.executable, os.path.join(SCRIPTS, what + '.py'))
    else:
        {'examples': examples, 'notebook': notebook, 'package': package}[what](v)
    v.end()


if __name__ == '__main__':
    main()
