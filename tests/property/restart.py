"""A run that stops and goes on is the run that did not stop: 20 coarse steps in one go, or 10 on three ranks, then 10 from the
checkpoint on other numbers of ranks and with the box divided otherwise, end in the same bits; and the log goes on with the same numbers.

    restart.py CASE RANKS...    CASE: sedov (gas, 4 levels) or cosmo (gas, particles, gravity); RANKS: on which to go on
    restart.py damage           files that are missing, cut, altered, or of another model: one sentence, exit status 2

A one-line fault it catches: the difference between stored and true energy left out, the time steps of the levels forgotten, an output
repeated, the energy's bookkeeping begun anew.
"""
# test: sedov 1 2 tier=quick timeout=60 ranks=2
# test: sedov 1 2 3 5 tier=check timeout=120 ranks=2
# test: cosmo 1 2 5 tier=check timeout=240 ranks=2
# test: damage tier=quick timeout=60 ranks=2
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

STEPS = 20


def namelist(case):
    """A golden case; steps instead of times decide about outputs, and in the box of galaxies cells are split early enough."""
    with open(os.path.join(ptah.DATA, 'golden', {'sedov': 'sedov3d', 'cosmo': 'cosmo_hydro32'}[case] + '.nml')) as f:
        text = re.sub(r'noutput=.*\n', 'foutput=%d\n' % (STEPS // 2), f.read())
    text = re.sub(r'm_refine=.*\n', 'm_refine=3.0,1.7,0.9\n', re.sub(r'([ta])out=.*\n', r'\1out=1000.0\n', text))
    return text.replace('hydro=.true.', 'hydro=.true.\nnstepmax=%d' % STEPS).replace('nrestart=0', '')


def run(case, folder, ranks, ordering, options=(), settings=(), must_work=True):
    os.makedirs(folder, exist_ok=True)
    if case == 'cosmo' and not os.path.exists(os.path.join(folder, 'ics')):
        os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    return ptah.simulate(namelist(case), folder, ranks, 1, ['run_params/ordering=' + ordering, 'run_params/nremap=3', *settings],
                         options, must_work=must_work)


def numbers(r):
    """The lines of the log that tell of steps, less memory; the first of a coarse step that is told twice."""
    return [re.sub(r'mem=.*', '', line) for line in r.err.splitlines() if re.match(r' (Main|Fine) step=', line)]


def compare(v, what, r, whole):
    path, reference = r.outputs[-1], whole.outputs[-1]
    v.same(what + ': checkpoints written', [os.path.basename(o) for o in r.outputs], [os.path.basename(reference)])
    a, b = ptah.digest(path).splitlines(), ptah.digest(reference).splitlines()
    v.same(what + ': lines of the digest that differ', [x for x, y in zip(a, b) if x != y], [])
    mine, theirs = numbers(r), numbers(whole)
    v.same(what + ': lines of the log that differ', [x for x, y in zip(mine, theirs[-len(mine):]) if x != y], [])
    v.same(what + ': begins at the step of the checkpoint', 'Main step=%7d' % (STEPS // 2) in mine[0], True)


def continues(case, ranks):
    v = ptah.Verdict()
    if case == 'cosmo':
        ptah.unpack_ics('.', 'ic_32')
    whole = run(case, 'whole', 1, 'ksection')
    octs = read_ramses.load(whole.outputs[-1]).octs
    print('     octs a level %s' % octs)
    v.same('partial levels in use', len([l for l in octs if octs[l] and 8 ** (l - 1) != octs[l]]) >= 3, True)
    half = {}
    for ordering in ('ksection', 'hilbert'):
        half[ordering] = run(case, 'half_' + ordering, 3, ordering, settings=['run_params/nstepmax=%d' % (STEPS // 2)]).outputs[-1]
        files = glob.glob(half[ordering] + '/exact_*')
        size = sum(map(os.path.getsize, files)) / sum(map(os.path.getsize, glob.glob(half[ordering] + '/hydro_*.out*')))
        v.check('exact files, of the size of the hydro files', size, 0.1)
    for n in ranks:
        for before, after in (('ksection', 'hilbert'), ('hilbert', 'ksection')):
            what = '3 %s to %d %s' % (before, n, after)
            compare(v, what, run(case, 'on_%s_%d' % (before, n), n, after, ['-r', os.path.abspath(half[before])]), whole)
    # by number, in the place where it was written, and twice
    folder = os.path.dirname(half['ksection'])
    number = str(int(half['ksection'][-5:]))
    compare(v, 'nrestart=' + number, run(case, folder, 2, 'ksection', settings=['run_params/nrestart=' + number]), whole)
    # bits are kept by the exact files, and a checkpoint without them is taken all the same
    for f in glob.glob(half['hilbert'] + '/exact_*'):
        os.remove(f)
    r = run(case, 'without', 2, 'ksection', ['-r', os.path.abspath(half['hilbert'])])
    v.same('without exact files it is said', 'not bit for bit' in r.err, True)
    a, b = read_ramses.load(r.outputs[-1]), read_ramses.load(whole.outputs[-1])
    v.same('without exact files: the digests differ', ptah.digest(r.outputs[-1]) != ptah.digest(whole.outputs[-1]), True)
    if v.same('without exact files: leaf cells', len(a.level), len(b.level)):
        v.check('without exact files: density', abs(a.cell['density'] - b.cell['density']).max() / b.cell['density'].max(), 1e-8)
    v.end()


def alter(path, at, new):
    with open(path, 'r+b') as f:
        f.seek(at if at >= 0 else os.path.getsize(path) + at)
        f.write(new)


def cut(path, share):
    os.truncate(path, int(os.path.getsize(path) * share))


def damage():
    v = ptah.Verdict()
    good = run('sedov', 'good', 2, 'ksection', settings=['run_params/nstepmax=2', 'output_params/foutput=2']).outputs[-1]
    files = {kind: '%s_00002.out00002' % kind for kind in ('amr', 'hydro', 'exact')}
    cases = [('%s file 2 missing' % k, lambda d, f=f: os.remove(os.path.join(d, f)), [], k) for k, f in files.items()]
    for k, f in files.items():
        cases += [('%s file 2 cut to %g' % (k, share), lambda d, f=f, s=share: cut(os.path.join(d, f), s), [], k)
                  for share in (0.0, 0.3, 0.999)]
    cases += [
        ('a value altered', lambda d: alter(os.path.join(d, files['hydro']), -1000, b'\x01'), [], 'exact.*damaged'),
        ('a bit of the exact file altered', lambda d: alter(os.path.join(d, files['exact']), -20, b'\x55'), [], 'exact'),
        ('the exact header altered', lambda d: alter(os.path.join(d, files['exact']), 60, b'\x55'), [], 'exact'),
        ('exact files exchanged', lambda d: shutil.copy(os.path.join(d, 'exact_00002.out00001'), os.path.join(d, files['exact'])), [],
         'exact.*file 1'),
        ('no info', lambda d: os.remove(os.path.join(d, 'info_00002.txt')), [], 'info'),
        ('another levelmin', None, ['amr_params/levelmin=5'], 'levelmin=4'),
        ('a lower levelmax', None, ['amr_params/levelmax=5'], 'levelmax'),
        ('another gamma', None, ['hydro_params/gamma=1.6666667'], 'gamma=1.4'),
        ('a scalar more', None, ['hydro_params/npassive=1'], 'gas variables'),
        ('particles', None, ['run_params/pic=.true.', 'run_params/poisson=.true.'], 'no particles'),
        ('another box', None, ['amr_params/boxlen=1.0'], 'boxlen=0.5'),
        ('cosmology', None, ['run_params/cosmo=.true.'], 'cosmo'),
    ]
    for n, (what, harm, settings, culprit) in enumerate(cases):
        d = os.path.abspath('bad')
        shutil.rmtree(d, ignore_errors=True)
        shutil.copytree(good, d)
        if harm:
            harm(d)
        r = run('sedov', 'go', 1 + n % 3, 'hilbert', ['-q', '-r', d], settings, must_work=False)
        lines = [line for line in r.err.splitlines() if line.startswith('simulate:')]
        v.same('%s: status, sentences, culprit named' % what,
               (r.status, len(lines), bool(lines and re.search(culprit, lines[0]))), (2, 1, True))
        if lines and not re.search(culprit, lines[0]):
            print(lines[0])
    r = run('sedov', 'go', 2, 'hilbert', ['-q', '-r', 'nowhere'], must_work=False)
    v.same('no such checkpoint', (r.status, 'nowhere' in r.err), (2, True))
    r = run('sedov', 'go', 2, 'hilbert', settings=['run_params/nrestart=7'], must_work=False)
    v.same('no such number', (r.status, 'output_00007' in r.err), (2, True))
    for what, settings in (('gamma', ['hydro_params/gamma=1.6666667']), ('scalar', ['hydro_params/npassive=1']),
                           ('levelmax', ['amr_params/levelmax=8'])):
        r = run('sedov', 'forced_' + what, 2, 'hilbert', ['-f', '-r', os.path.abspath(good)], settings + ['run_params/nstepmax=4'])
        v.same('forced: %s; told' % what, 'Changed since the checkpoint' in r.err, what != 'levelmax')
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'damage':
        damage()
    continues(sys.argv[1], [int(n) for n in sys.argv[2:]])
