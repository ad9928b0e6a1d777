"""Every program with each subset of the descriptors 0, 1 and 2 closed, as daemons and some
schedulers start them: it writes the files of an ordinary run and nothing into them, and data that
would go to a closed standard output, or be read from a closed standard input, are an error.

    descriptors.py few      a command of each program, some subsets
    descriptors.py all
    descriptors.py ranks    two ranks

Example of a fault caught: a program that opens its first file before the closed descriptors are
filled: its log is then written into that file, with status 0.
"""
# test: few tier=quick timeout=100
# test: all tier=check timeout=300
# test: ranks tier=check timeout=300 ranks=2
import itertools
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import inputs  # noqa: E402
import ptah  # noqa: E402

PROGRAMS = sorted(os.listdir(os.path.join(ptah.ROOT, 'cmd')))
# For each program: arguments, and whether they send data to standard output.
COMMANDS = {
    'simulate': [(['-o', 'out', '-j', 'cost', '../run.nml'], True),
                 (['-o', 'out', '../run.nml', "output_params/outformat='hdf5'"], True),
                 (['-nn', '../run.nml'], False)],
    'inspect': [(['-m', 'density', '-o', 'map.png', '../given/output_00001'], True),
                (['-m', 'density', '-o', 'map.npy', '../given/output_00001'], True),
                (['--halos', '--members', 'ids', '../given/output_00001'], True),
                (['-q', '--phase', '../given/output_00001'], True)],
    'convert': [(['-f', 'hdf5', '-o', 'out', '../given/output_00001'], True),
                (['-f', 'ramses', '--ranks', '2', '-o', 'out', '../given/output_00001'], True),
                (['-f', 'gadget', '-o', 'snap', '../given/output_00001'], True),
                (['--cooling-table', '--points', '4,4,8', '-o', 'table', '../given/output_00001'],
                 True)],
    'repartition': [(['--ranks', '3', '-o', 'out', '../given/output_00001'], True)],
    'genzoom': [(['--sphere', '0.5,0.5,0.5,0.2', '--force', 'ics'], True)],
    'pk': [(['--mesh', '8', '-o', 'tables', '../given/output_00001'], True),
           (['--mesh', '8', '--plot', 'pk.png', '../given/output_00001'], True)]}
ALONE = {'genzoom'}  # Programs with a single process.
PIPED = [['inspect', '-'], ['pk', '--mesh', '8', '-'], ['convert', '-o', 'out', '-'],
         ['repartition', '-o', 'out', '-'], ['simulate', '-'],
         ['simulate', '-r', '-', '../run.nml'],
         ['genzoom', '--points', '-', '--force', 'ics']]
SUBSETS = [s for n in range(4) for s in itertools.combinations(range(3), n)]
SOME = [(), (0, 2), (0, 1, 2)]


def start(argv, closed, ranks=1):
    """Runs argv in the folder `now` with descriptors closed: (status, standard output, standard
    error)."""
    signs = ' '.join('%d>&-' % fd for fd in closed)
    argv = ptah.mpirun(ranks) + ['sh', '-c', 'exec "$0" "$@" ' + signs, *argv]
    p = subprocess.Popen(argv, cwd='now', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'})
    out, err = ptah.wait_patiently(lambda s: p.communicate(timeout=s), 60)
    return p.returncode, out, err


def bytes_of(path):
    """Content of a file without the parts that differ between two runs."""
    with open(path, 'rb') as f:
        text = f.read()
    name = os.path.basename(path)
    if name == 'compilation.txt':  # date and process
        return text.count(b'\n')
    if name.startswith('checksums_'):  # checksums of compilation.txt and of the list itself
        return [s for s in text.splitlines() if b'compilation' not in s][:-1]
    if name == 'progress.json':  # times, and how the run ended
        return b''
    if name == 'cost':
        return [s[:9] for s in text.splitlines()]
    if name.endswith('.h5'):  # provenance in the file differs; its checksums find damage
        return ptah.digest(os.path.dirname(path))
    return text


def files():
    found = {}
    for folder, _, names in os.walk('now'):
        for name in names:
            path = os.path.join(folder, name)
            found[path] = bytes_of(path)
    return found


def fresh():
    shutil.rmtree('now', ignore_errors=True)
    os.mkdir('now')
    shutil.copytree('ics', 'now/ics')


def damaged():
    """Checkpoints with wrong checksums."""
    found = [f for f, _, names in os.walk('now') if any(n.startswith('checksums_') for n in names)]
    checks = {f: ptah.Run([ptah.program('inspect'), '-c', f], '.').status for f in found}
    return [f for f, status in checks.items() if status != 0]


def law(v, program, argv, data, subsets, ranks):
    said = '%s %s' % (os.path.basename(program), ' '.join(argv)[:40])
    usual = None
    for closed in subsets:
        fresh()
        path = program if '/' in program else ptah.program(program)
        status, out, err = start([path, *argv], closed, ranks)
        here = files()
        usual = usual or here
        what = '%s, %s closed' % (said, closed)
        v.same(what + ': status', status, 2 if data and 1 in closed else 0)
        v.same(what + ': files', sorted(p for p in {*here, *usual}
                                        if here.get(p) != usual.get(p)), [])
        v.same(what + ': damaged', damaged(), [])
        if 2 in closed and ranks == 1:
            v.same(what + ': silence', (err, out if 1 in closed else ''), ('', ''))


def by_ptah():
    """The command ptah, which is in the same directory as the programs."""
    os.mkdir('bin')
    for program in PROGRAMS:
        os.symlink(ptah.program(program), os.path.join('bin', program))
    return shutil.copy(os.path.join(ptah.ROOT, 'scripts', 'ptah'), os.path.abspath('bin/ptah'))


def main():
    part = sys.argv[1]
    ranks = 2 if part == 'ranks' else 1
    v = ptah.Verdict()
    v.same('all programs', sorted(COMMANDS), PROGRAMS)
    inputs.good_ics()
    os.rename('ics', 'level_003')
    os.mkdir('ics')
    os.rename('level_003', 'ics/level_003')
    with open('run.nml', 'w') as f:
        f.write(inputs.edit(inputs.COSMO, "'ics'", "'ics/level_003'")
                + '&PHYSICS_PARAMS\ncooling=.true.\n/\n')
    shutil.copytree('ics', 'given/ics')
    ptah.simulate(os.path.abspath('run.nml'), 'given')
    for program in PROGRAMS:
        if ranks == 1 or program not in ALONE:
            for argv, data in COMMANDS[program][:None if part == 'all' else 1]:
                law(v, program, argv, data, SUBSETS if part == 'all' else SOME, ranks)
    if part == 'all':
        law(v, by_ptah(), ['simulate', *COMMANDS['simulate'][0][0]], True, SUBSETS, 1)
    for argv in PIPED if part == 'all' else []:
        fresh()
        status, out, err = start([ptah.program(argv[0]), *argv[1:]], (0,))
        v.same('%s: no standard input' % ' '.join(argv),
               (status, out, err.count('\n'), 'standard input' in err), (2, '', 1, True))
    v.end()


if __name__ == '__main__':
    main()
