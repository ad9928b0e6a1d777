"""A resumed run equals the uninterrupted run: 20 coarse steps in one run, or 10 on three ranks and
10 more from the checkpoint on other numbers of ranks, with other domains, from both formats, end in
the same bits; and the log continues with the same numbers.

    restart.py CASE RANKS...      CASE: sedov (gas, 4 levels) or cosmo (gas, particles, gravity);
                                  RANKS: numbers of ranks that resume. A sample: k-section from
                                  RAMSES binary resumes as Hilbert, Hilbert from HDF5 as k-section
    restart.py small              gas, particles and gravity in a small box, both formats: seconds
    restart.py all CASE RANKS...  both formats of both
    restart.py damage FORMAT      files that are missing, cut or altered: one sentence, status 2
    restart.py trees              trees that are no octree of a run, in files that are sound
    restart.py model              a namelist of another model, forced or not; search for the
                                  checkpoint

Example of a fault caught: the difference between stored and true energy left out, the time steps
of the levels forgotten, an output repeated, the energy's bookkeeping begun anew.
"""
# test: small tier=quick timeout=60 ranks=2 device=check
# test: sedov 2 tier=check timeout=180 ranks=2 device=check
# test: cosmo 5 tier=check timeout=240 ranks=2 device=long
# test: all sedov 1 2 3 5 8 tier=long timeout=600 ranks=2
# test: all cosmo 1 2 5 8 tier=long timeout=1200 ranks=2
# test: damage original tier=check timeout=120 ranks=2
# test: damage hdf5 tier=check timeout=120 ranks=2
# test: trees tier=check timeout=60 ranks=2
# test: by_expansion tier=check timeout=120
# test: model tier=check timeout=240 ranks=2
import glob
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

STEPS = 20


def namelist(case):
    """Namelist of a golden case; outputs follow steps instead of times, and in the cosmological box
    cells are split early enough."""
    golden = {'sedov': 'sedov3d', 'cosmo': 'cosmo_hydro32'}[case]
    with open(os.path.join(ptah.DATA, 'golden', golden + '.nml')) as f:
        text = re.sub(r'noutput=.*\n', 'foutput=%d\n' % (STEPS // 2), f.read())
    text = re.sub(r'([ta])out=.*\n', r'\1out=1000.0\n', text)
    text = re.sub(r'm_refine=.*\n', 'm_refine=3.0,1.7,0.9\n', text)
    text = text.replace('hydro=.true.', 'hydro=.true.\nnstepmax=%d' % STEPS)
    return text.replace('nrestart=0', '')


def run(case, folder, ranks, ordering, options=(), settings=(), must_work=True):
    os.makedirs(folder, exist_ok=True)
    if case == 'cosmo' and not os.path.exists(os.path.join(folder, 'ics')):
        os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    return ptah.simulate(namelist(case), folder, ranks, 1,
                         ['run_params/ordering=' + ordering, 'run_params/nremap=3', *settings],
                         options, must_work=must_work)


def numbers(r):
    """Lines of the log about steps, without memory; the first one of a coarse step that is reported
    twice."""
    return [re.sub(r'mem=.*', '', line)
            for line in r.err.splitlines() if re.match(r' (Main|Fine) step=', line)]


def compare(v, what, r, whole):
    path, reference = r.outputs[-1], whole.outputs[-1]
    v.same(what + ': checkpoints written',
           [os.path.basename(o) for o in r.outputs], [os.path.basename(reference)])
    v.same(what + ': lines of the digest that differ',
           ptah.changed(ptah.digest(path), ptah.digest(reference)), [])
    mine, theirs = numbers(r), numbers(whole)
    v.same(what + ': lines of the log that differ',
           [x for x, y in zip(mine, theirs[-len(mine):]) if x != y], [])
    v.same(what + ': begins at the step of the checkpoint',
           'Main step=%7d' % (STEPS // 2) in mine[0], True)


SMALL = """
&RUN_PARAMS
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,2,2
nstepmax=8
/
&AMR_PARAMS
levelmin=3
levelmax=5
boxlen=0.7
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='%s'
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.35,0.3
y_center=0.35,0.41
z_center=0.35,0.2
length_x=10.0,0.2
length_y=10.0,0.2
length_z=10.0,0.2
exp_region=10.0,2.0
d_region=1.0,5.0
u_region=0.3,-0.2
p_region=1.0,3.0
/
&OUTPUT_PARAMS
foutput=4
tout=1e9
delta_tout=0.006
/
&HYDRO_PARAMS
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=0.1
/
"""


def small():
    """Runs half, then the rest from its checkpoint in both formats on other ranks: checkpoints
    equal those of the uninterrupted run."""
    v = ptah.Verdict()
    with open('ic_part', 'w') as f:
        for i in range(300):
            x = (i * 0.37 % 0.7, i * 0.73 % 0.7, i * 0.19 % 0.7)
            f.write('%g %g %g %g 0 0.2 0.001\n' % (*x, i % 5 - 2))
    for form, other in ('original', 'hilbert'), ('hdf5', 'ksection'):
        text, how = SMALL % os.path.abspath('.'), ['output_params/outformat=' + form]
        whole = ptah.simulate(text, form, 1, settings=how, options=['-q'])
        octs = read_ramses.load(whole.outputs[0]).octs if form == 'original' else {}
        v.same(form + ': partial levels', form == 'hdf5' or octs[5] > 0 and 8 ** 4 != octs[5], True)
        half = ptah.simulate(text, form + '_half', 2, settings=how + ['run_params/nstepmax=4'],
                             options=['-q'])
        rest = ptah.simulate(text, form + '_rest', 1,
                             settings=how + ['run_params/ordering=' + other],
                             options=['-q', '-r', os.path.abspath(half.outputs[-1])])
        ours, theirs = half.outputs + rest.outputs, whole.outputs
        v.same(form + ': checkpoints',
               [os.path.basename(o) for o in ours], [os.path.basename(o) for o in theirs])
        v.same(form + ': some before and some after',
               min(len(half.outputs), len(rest.outputs)) > 1, True)
        for a, b in zip(ours, theirs):
            v.same('%s: lines of the digest of %s that differ' % (form, os.path.basename(a)),
                   ptah.changed(ptah.digest(a), ptah.digest(b)), [])
    v.end()


def half_way(v, ordering, form, case):
    r = run(case, 'half_%s_%s' % (ordering, form), 3, ordering,
            settings=['run_params/nstepmax=%d' % (STEPS // 2), 'output_params/outformat=' + form])
    if form == 'original':
        files = glob.glob(r.outputs[-1] + '/exact_*')
        hydro = glob.glob(r.outputs[-1] + '/hydro_*.out*')
        size = sum(map(os.path.getsize, files)) / sum(map(os.path.getsize, hydro))
        v.check('exact files, of the size of the hydro files', size, 0.1)
    return r.outputs[-1]


def continues(case, ranks, everything):
    v = ptah.Verdict()
    if case == 'cosmo':
        ptah.unpack_ics('.', 'ic_32')
    whole = run(case, 'whole', 1, 'ksection')
    octs = read_ramses.load(whole.outputs[-1]).octs
    print('     octs a level %s' % octs)
    v.same('partial levels in use',
           len([l for l in octs if octs[l] and 8 ** (l - 1) != octs[l]]) >= 3, True)
    half = {}
    for ordering, forms in ('ksection', ['original', 'hdf5']), ('hilbert', ['hdf5', 'original']):
        for form in forms[:2 if everything else 1]:
            half[ordering, form] = half_way(v, ordering, form, case)
    for n in ranks:
        for (before, form), path in half.items():
            after = {'ksection': 'hilbert', 'hilbert': 'ksection'}[before]
            r = run(case, 'on_%s_%s_%d' % (before, form, n), n, after,
                    ['-r', os.path.abspath(path)])
            compare(v, '3 %s to %d %s, %s' % (before, n, after, form), r, whole)
    if case == 'cosmo' and not everything:
        v.end()
    # by number, in the directory where it was written, and twice; the newest
    path = half['hilbert', 'hdf5']
    number = str(int(path[-5:]))
    r = run(case, os.path.dirname(path), 2, 'ksection', settings=['run_params/nrestart=' + number])
    compare(v, 'nrestart=' + number, r, whole)
    shutil.rmtree(r.outputs[-1])
    r = run(case, os.path.dirname(path), 1, 'ksection', settings=['run_params/nrestart=-1'])
    compare(v, 'nrestart=-1', r, whole)
    without_exact(v, case, half['ksection', 'original'], whole)
    v.end()


def without_exact(v, case, path, whole):
    """Exact files preserve bits; a checkpoint without them is accepted too."""
    for f in glob.glob(path + '/exact_*'):
        os.remove(f)
    r = run(case, 'without', 2, 'ksection', ['-r', os.path.abspath(path)])
    v.same('without exact files it is said', 'not bit for bit' in r.err, True)
    a, b = read_ramses.load(r.outputs[-1]), read_ramses.load(whole.outputs[-1])
    v.same('without exact files: the digests differ',
           ptah.digest(r.outputs[-1]) != ptah.digest(whole.outputs[-1]), True)
    if v.same('without exact files: leaf cells', len(a.level), len(b.level)):
        v.check('without exact files: density',
                abs(a.cell['density'] - b.cell['density']).max() / b.cell['density'].max(), 1e-8)


def alter(path, at, new):
    """Flips a bit. at: bytes from the start or, if negative, the end; a fraction: of the size."""
    size = os.path.getsize(path)
    with open(path, 'r+b') as f:
        f.seek(int(at * size) if isinstance(at, float) else at if at >= 0 else size + at)
        f.write(new)


def move_oct(path, where):
    """First oct of level 2 along x, after that of level 1, whose centre is in three records."""
    with open(path, 'rb') as f:
        data = f.read()
    root = data.rindex(b'\x08\0\0\0%s\x08\0\0\0' % struct.pack('<d', 0.5))
    alter(path, data.index(struct.pack('<d', 0.25), root), struct.pack('<d', where))


def cut(path, share):
    os.truncate(path, int(os.path.getsize(path) * share))


def unlist(d):
    os.remove(os.path.join(d, 'checksums_00002.txt'))


def exchange(d, name):
    shutil.copy(os.path.join(d, 'exact_00002.out00001'), os.path.join(d, name))


def harms(form):
    """(description, function that damages a copy of the checkpoint, words of the message)"""
    def of(file, change, *how):
        return lambda d: change(os.path.join(d, file), *how)

    if form == 'hdf5':
        file = 'data_00002.h5'
        yield 'the file missing', of(file, os.remove), 'bad'
        for share in 0.0, 0.1, 0.5, 0.999:
            yield 'cut to %g' % share, of(file, cut, share), file
        for share in 0.3, 0.7:
            yield 'altered at %g' % share, of(file, alter, share, b'\x55' * 64), file
        return
    files = {kind: '%s_00002.out00002' % kind for kind in ('amr', 'hydro', 'exact')}
    for kind, f in files.items():
        yield '%s file 2 missing' % kind, of(f, os.remove), kind
        for share in (0.0, 0.3, 0.999):
            yield '%s file 2 cut to %g' % (kind, share), of(f, cut, share), kind
    yield 'a flag altered', of(files['amr'], alter, -20, b'\x01'), 'amr.*damaged'
    value = of(files['hydro'], alter, -1000, b'\x01')
    yield 'a value altered', value, 'hydro.*damaged'
    yield 'a value altered, no checksums', lambda d: [unlist(d), value(d)], 'exact.*damaged'
    for where in 0.251, 1.25, float('nan'):
        yield ('an oct at %g, no checksums' % where,
               lambda d: [unlist(d), move_oct(os.path.join(d, 'amr_00002.out00001'), where)],
               'amr.*oct 1 is centred at %g' % where)
    sums, exact = 'checksums_00002.txt', files['exact']
    yield 'a checksum altered', of(sums, alter, 20, b'#'), 'checksums.*damaged'
    yield 'checksums cut', of(sums, cut, 0.5), 'checksums.*damaged'
    yield 'a bit of the exact file altered', of(exact, alter, -20, b'\x55'), 'exact'
    yield 'the exact header altered', of(exact, alter, 60, b'\x55'), 'exact'
    yield 'exact files exchanged', lambda d: exchange(d, exact), 'exact.*damaged'
    yield ('exact files exchanged, no checksums', lambda d: [unlist(d), exchange(d, exact)],
           'exact.*file 1')
    yield 'no info', of('info_00002.txt', os.remove), 'info'


def refused(v, what, r, culprit):
    lines = [line for line in r.err.splitlines() if line.startswith('simulate:')]
    found = bool(lines and re.search(culprit, lines[0]))
    v.same('%s: status, sentences, culprit named' % what,
           (r.status, len(lines), found), (2, 1, True))
    if not found:
        print(r.err[-1000:])


def first_steps(form):
    return run('sedov', 'good', 2, 'ksection',
               settings=['run_params/nstepmax=2', 'output_params/foutput=2',
                         'output_params/outformat=' + form]).outputs[-1]


def damage(form):
    v = ptah.Verdict()
    good = first_steps(form)
    d = os.path.abspath('bad')
    for n, (what, harm, culprit) in enumerate(harms(form)):
        shutil.rmtree(d, ignore_errors=True)
        shutil.copytree(good, d)
        harm(d)
        # on five ranks, ranks share file 2, too
        r = run('sedov', 'go', (5, 1)[n % 2], 'hilbert', ['-q', '-r', d], must_work=False)
        refused(v, what, r, culprit)
    newest(v, good)
    v.end()


def trees():
    """A level too far apart at a corner only, or everywhere around; a duplicate oct; a missing
    oct."""
    v = ptah.Verdict()
    cells = {1: tiny.all_cells(1), 2: tiny.all_cells(2), 4: {(7, 7, 7)}}
    near = {(x, y, z) for x in (3, 4) for y in (3, 4) for z in (3, 4)}
    good = tiny.grow({**cells, 3: near})
    bad = {'good': (good, None),
           'corner': (tiny.grow({**cells, 3: near - {(4, 4, 4)}}), 'level 5 touches'),
           'steep': (tiny.grow({**cells, 3: {(3, 3, 3)}}), 'level 5 touches'),
           'twice': ({**good, 3: good[3][:-1] + [good[3][0]]}, 'level 3 occurs twice'),
           'missing': ({**good, 4: good[4][:-1]}, 'level 3 and the octs of level 4 do not match')}
    box = ('&RUN_PARAMS\nhydro=.true.\nnstepmax=4\n/\n&AMR_PARAMS\nlevelmin=3\nlevelmax=5\n/\n'
           '&OUTPUT_PARAMS\nnoutput=1\ntout=100.0\n/\n')
    for what, (octs, culprit) in bad.items():
        tiny.write(what, octs, levelmin=3)
        tiny.gas(what, octs)
        for ranks in 1, 3:
            r = ptah.simulate(box, 'go-%s-%d' % (what, ranks), ranks, 1,
                              options=['-q', '-r', os.path.abspath(what)], must_work=False)
            if culprit:
                refused(v, '%s on %d' % (what, ranks), r, what + ': .*' + culprit)
            else:
                v.same('%s on %d: status' % (what, ranks), r.status, 0)
    v.end()


def newest(v, good):
    """nrestart=-1: damaged checkpoints are skipped, and their numbers are not used again."""
    folder = 'newest'
    for name, share in ('output_00002', 1), ('output_00003', 0.6), ('output_00007', 0):
        shutil.copytree(good, os.path.join(folder, name))
        for f in glob.glob(os.path.join(folder, name, '[adeh]*_00002.[oh]*')):
            if share < 1:
                cut(f, share)
    r = run('sedov', folder, 2, 'hilbert',
            settings=['run_params/nrestart=-1', 'run_params/nstepmax=10'])
    v.same('newest: two passed over', r.err.count('Skipped a checkpoint that cannot be read'), 2)
    v.same('newest: goes on from', 'Restarting from ./output_00002:' in r.err, True)
    v.same('newest: numbers go on', [os.path.basename(o) for o in r.outputs], ['output_00008'])
    shutil.rmtree(os.path.join(folder, 'output_00002'))
    shutil.rmtree(os.path.join(folder, 'output_00008'))
    r = run('sedov', folder, 2, 'hilbert', ['-q'], ['run_params/nrestart=-1'], must_work=False)
    refused(v, 'newest: none is whole', r, 'none of its checkpoints')
    r = run('sedov', 'empty', 1, 'hilbert',
            settings=['run_params/nrestart=-1', 'run_params/nstepmax=1'])
    v.same('newest: none there', 'a new run starts' in r.err, True)


def in_the_way(v):
    """A checkpoint that the run might overwrite is reported before any step, and with -n."""
    base = run('sedov', 'way', 2, 'hilbert',  # writes 1, 2, 3
               settings=['run_params/nstepmax=2', 'output_params/foutput=1'])
    second = ['-r', os.path.abspath(base.outputs[1])]
    list_of_one = ['output_params/noutput=1', 'output_params/tout=1000.0',
                   'output_params/foutput=1000', 'run_params/nstepmax=3']
    for what, options, settings, status in [
            ('anew', [], [], 2), ('anew, -n', ['-n'], [], 2), ('anew, forced', ['-f', '-n'], [], 0),
            ('resumed', second, ['output_params/foutput=1'], 2),
            ('resumed, -n', [*second, '-n'], ['output_params/foutput=1'], 2),
            ('elsewhere, -n', ['-n', '-o', 'new'], [], 0)]:
        r = run('sedov', 'way', 1, 'hilbert', options, ['run_params/nstepmax=3', *settings],
                must_work=False)
        seen = r.status, '--force' in r.err, 'Main step' in r.err
        v.same('in the way, %s: status, told, steps' % what, seen, (status, status == 2, False))
    v.same('-n makes no directory', os.path.exists('way/new'), False)
    os.rename('way/output_00003', 'way/output_00009')
    r = run('sedov', 'way', 1, 'hilbert', second, list_of_one, must_work=False)
    v.same('out of the way: status', r.status, 0)


def by_expansion():
    """Outputs at equal steps of the expansion factor: a run that resumes at one of them writes the
    others, and none twice."""
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    settings = ['amr_params/levelmax=5', 'output_params/delta_aout=0.008', 'run_params/nstepmax=14',
                'output_params/foutput=1000']
    whole = run('cosmo', 'whole', 1, 'hilbert', settings=settings)
    v.same('outputs to test', len(whole.outputs) >= 3, True)
    rest = run('cosmo', 'rest', 1, 'hilbert', ['-r', os.path.abspath(whole.outputs[1])], settings)
    v.same('the outputs that remain', [os.path.basename(o) for o in rest.outputs],
           [os.path.basename(o) for o in whole.outputs[2:]])
    v.same('the last one', ptah.digest(rest.outputs[-1]), ptah.digest(whole.outputs[-1]))
    v.end()


def model():
    v = ptah.Verdict()
    good = os.path.abspath(first_steps('hdf5'))
    # description, settings, words of the message; whether it can be forced (None: not tried)
    changes = [
        ('a higher levelmin', ['amr_params/levelmin=5'], r'levelmin=4 \(now 5\)', None),
        ('a lower levelmin', ['amr_params/levelmin=3'], r'levelmin=4 \(now 3\)', True),
        ('a lower levelmax', ['amr_params/levelmax=5'], r'levelmax=7 \(now 5\)', True),
        ('another gamma', ['hydro_params/gamma=1.6666667'], r'gamma=1.4 \(now 1.6666667\)', None),
        ('another solver', ['hydro_params/riemann=llf'], r"riemann='hllc' \(now 'llf'\)", None),
        ('other criteria', ['refine_params/err_grad_p=0.5'], 'err_grad_p=', None),
        ('two things', ['hydro_params/riemann=llf', 'hydro_params/slope_type=2'],
         'riemann=.*slope_type=', None),
        ('a scalar more', ['hydro_params/npassive=1'], r'gas variables=5 \(now 6\)', True),
        ('particles', ['run_params/pic=.true.', 'run_params/poisson=.true.'],
         'no particles', False),
        ('another box', ['amr_params/boxlen=1.0'], 'boxlen=0.5', None),
        ('cosmology', ['run_params/cosmo=.true.'], 'cosmo', None),
        ('the end is past', ['run_params/nstepmax=2'], 'nstepmax', None)]
    for n, (what, settings, culprit, can) in enumerate(changes):
        r = run('sedov', 'go', (1, 3)[n % 2], 'hilbert', ['-q', '-r', good], settings,
                must_work=False)
        refused(v, what, r, culprit)
        if can is not None:
            r = run('sedov', 'forced_%d' % n, 2, 'hilbert', ['--change-model', '-r', good],
                    settings + ['run_params/nstepmax=3'], must_work=False)
            v.same('forced: %s' % what,
                   (r.status, not can or 'Changed since the checkpoint' in r.err),
                   (0 if can else 2, True))
    r = run('sedov', 'run', 2, 'hilbert', ['-r', good],
            ['run_params/nstepmax=3', 'init_params/p_region=1e-5,0.5'])
    v.same('what may change is told', 'p_region' in r.err and 'nstepmax' in r.err, True)
    deep = run('sedov', 'deeper', 2, 'hilbert', ['-r', good],
               ['run_params/nstepmax=4', 'amr_params/levelmax=8', 'output_params/foutput=4'])
    used = 8 in read_ramses.load(deep.outputs[-1]).octs
    v.same('a higher levelmax is told and used',
           ('levelmax=8, it was 7' in deep.err, used), (True, True))
    in_the_way(v)
    r = run('sedov', 'go', 3, 'hilbert', ['-q', '-r', 'nowhere'], must_work=False)
    refused(v, 'no such checkpoint', r, 'nowhere')
    r = run('sedov', 'go', 2, 'hilbert', ['-q'], ['run_params/nrestart=7'], must_work=False)
    refused(v, 'no such number', r, 'output_00007')
    with open('paths', 'w') as f:
        f.write('nowhere\n%s\n' % good)
    for paths, status in ('paths', 0), ('/dev/null', 2):
        argv = [ptah.program('simulate'), '-r', '-', 'go/run.nml', 'run/nstepmax=3']
        r = ptah.Run(['sh', '-c', 'exec "$0" "$@" <%s' % paths, *argv], '.')
        v.same('-r - from %s' % paths, r.status, status)
    v.end()


if __name__ == '__main__':
    words = sys.argv[1:]
    if words[0] == 'damage':
        damage(words[1])
    elif words[0] == 'small':
        small()
    elif words[0] == 'trees':
        trees()
    elif words[0] == 'by_expansion':
        by_expansion()
    elif words[0] == 'model':
        model()
    else:
        everything = words[0] == 'all'
        words = words[everything:]
        continues(words[0], [int(n) for n in words[1:]], everything)
