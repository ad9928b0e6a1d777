"""Files that killed programs leave in a directory of outputs do not obstruct the next program.

    leftovers.py names     an unfinished checkpoint with every file that runs, convert and
                           repartition make: it is taken away, with what others have left; what is
                           not ours stays, and is named; what another process holds stays
    leftovers.py tables    tables beside the newest checkpoint that a killed run has not written
    leftovers.py carry     convert and repartition copy catalogues of clumps, and say what is left
                           out; a damaged one is an error; inspect -c finds one of another
                           checkpoint

Examples of faults caught: a name that the table of files lacks, a lock that is not asked, an older
checkpoint that is removed before its successor is there.
"""
# test: names tier=check timeout=120
# test: tables tier=check timeout=120 ranks=2
# test: carry tier=check timeout=120 ranks=2
import fcntl
import os
import shutil
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kills  # noqa: E402
import ptah  # noqa: E402

AGAIN = ['run_params/nrestart=-1']


def run(folder, form='ramses', steps=1, ranks=1, settings=(), options=(), **more):
    kills.write_ics(folder + '/ics')
    return ptah.simulate(kills.NAMELIST, folder, ranks, options=['-o', 'out', *options],
                         settings=['output_params/outformat=' + form,
                                   'run_params/nstepmax=%d' % steps, *settings], **more)


def touch(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write('begun\n')


def rewrite(program, *argv, ranks=1):
    return ptah.Run([*ptah.mpirun(ranks), ptah.program(program), *argv], '.')


def digest(path):
    return ptah.digest(path).split()[0]


def listing(folder):
    return sorted(os.listdir(folder))


# ---- names

def leave(whole, unfinished, more=()):
    for name in [*os.listdir(whole), *more]:
        touch(os.path.join(unfinished, name))


def check_names(v, form):
    """Leaves files of all kinds, then repeats the run."""
    last = run('whole_' + form, form, ranks=2).outputs[-1]
    made = listing('whole_%s/out' % form)
    more = ['spill.00001', 'info_00001.txt.part', 'timer_00001.txt', 'rt_00001.out00001']
    v.same(form + ': there are clumps in the checkpoint',
           any(n.startswith('clump_') for n in os.listdir(last)), True)
    folder = 'left_' + form
    leave(last, folder + '/out/output_00001.tmp', more)
    leave(last, folder + '/out/output_00077.tmp', more)
    leave(last, folder + '/out/output_00078.removed', ['notes'])
    for name in 'halos_00001.tsv', 'pk_00002.tsv.ptah-x1Y2z3':
        touch('%s/out/%s.part' % (folder, name))
    r = run(folder, form, settings=AGAIN)
    v.same(form + ': what is there', listing(folder + '/out'), made)
    v.same(form + ': digest', digest(r.outputs[-1]), digest(last))
    v.same(form + ': sentences', r.err.count(' Removed '), 5)
    return last


def check_rewrites(v, last):
    for program, options in ('convert', []), ('repartition', ['--ranks', '2']):
        out = 'made_by_' + program
        r = rewrite(program, *options, '-o', out, last)
        leave(out, 'again_%s.tmp' % out, ['spill.00002'])
        r = rewrite(program, *options, '-o', 'again_' + out, last)
        v.same(program + ': status, what is there', (r.status, listing('again_' + out)),
               (0, listing(out)))


def check_replaced(v):
    """Where names cannot be exchanged, the older checkpoint has another name for a moment."""
    last = run('old').outputs[-1]
    shutil.copytree(last, 'old/out/output_00001.old', dirs_exist_ok=True)
    os.rename('old/out/output_00002', 'old/out/output_00002.old')
    r = run('old', steps=2, settings=AGAIN)
    v.same('the older one gets its name again, and is taken',
           [' Restarting from out/output_00002' in r.err, listing('old/out')[-5:]],
           [True, ['output_00003', 'pk_00001.tsv', 'pk_00002.tsv', 'pk_00003.tsv',
                   'progress.json']])
    v.same('no other names', [n for n in listing('old/out') if n.endswith('.old')], [])


def check_others(v):
    """Files of other programs, or in use by another process, are left alone."""
    touch('others/out/output_00005.tmp/notes.txt')
    touch('others/out/output_00006.tmp/info_00006.txt')
    for name in 'pk_00006.tsv.part', 'mine.part', 'output_5.tmp', 'output_000055.tmp':
        touch('others/out/' + name)
    os.makedirs('others/out/pk_00009.tsv.part')
    before = listing('others/out')
    held = [os.open('others/out/' + n, os.O_RDONLY)
            for n in ('output_00006.tmp', 'pk_00006.tsv.part')]
    for fd in held:
        fcntl.flock(fd, fcntl.LOCK_EX)
    r = run('others')
    v.same('all of it is there', sorted(set(before) - set(os.listdir('others/out'))), [])
    v.same('nothing is said', r.err.count(' Removed '), 0)
    for fd in held:
        os.close(fd)
    run('others', settings=AGAIN, options=['-n'])
    v.same('-n changes nothing', sorted(set(before) - set(os.listdir('others/out'))), [])
    os.rename('others/out/output_00005.tmp', 'others/out/output_00003.tmp')
    r = run('others', steps=2, settings=AGAIN, must_work=False)
    v.same('one that is in the way: status, sentence',
           (r.status, 'contains notes.txt, which is not a file of a checkpoint' in r.err),
           (2, True))
    v.same('it is there', os.path.exists('others/out/output_00003.tmp/notes.txt'), True)


def check_held(v):
    """A killed process may end late; files of a process that still works are left alone."""
    for seconds in 1, 60:
        folder = 'held_%d' % seconds
        touch(folder + '/out/output_00001.tmp/info_00001.txt')
        fd = os.open(folder + '/out/output_00001.tmp', os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        end = threading.Timer(seconds, os.close, [fd])
        end.start()
        r = run(folder, must_work=False)
        v.same('held for %d s: status, sentence' % seconds,
               (r.status, r.err.count('output_00001.tmp: another program is writing there')),
               (0, 0) if seconds == 1 else (2, 1))
        end.cancel()


def names(v):
    for form in 'ramses', 'hdf5':
        check_rewrites(v, check_names(v, form))
        for name in 'made_by_convert', 'made_by_repartition':
            shutil.rmtree(name)
            shutil.rmtree('again_' + name)
    check_replaced(v)
    check_others(v)
    check_held(v)


# ---- tables

def tables(v):
    whole = kills.tables('./' + os.path.dirname(run('tables', steps=2).outputs[-1]))
    last = ['halos_00003.tsv', 'pk_00003.tsv']
    for ranks, steps in (1, 2), (2, 2), (2, 3):
        for name in last:
            os.remove('tables/out/' + name)
        before = os.stat('tables/out/pk_00002.tsv').st_mtime_ns
        r = run('tables', steps=steps, ranks=ranks, settings=AGAIN)
        now = kills.tables('tables/out')
        v.same('%d ranks, to step %d: the same tables' % (ranks, steps),
               [now.get(n) == whole[n] for n in whole], [True] * len(whole))
        v.same('told', r.err.count(' The tables of output_00003 are missing'), 1)
        v.same('others are not touched', os.stat('tables/out/pk_00002.tsv').st_mtime_ns, before)
        shutil.rmtree('tables/out/output_00004', ignore_errors=True)
    r = run('tables', steps=2, settings=AGAIN)
    v.same('none is missing: nothing is told', ' are missing' in r.err, False)
    os.remove('tables/out/pk_00003.tsv')
    source = os.path.abspath('tables/out/output_00003')
    run('elsewhere', steps=3, options=['-r', source])
    v.same('a checkpoint of elsewhere gets none', [n for n in listing('elsewhere/out') if '3' in n],
           [])


# ---- carry

def text(path):
    with open(path) as f:
        return f.read()


CATALOGS = ['clump_00002.txt00001', 'clump_00002.txt00002', 'halo_00002.txt00001',
            'halo_00002.txt00002']


def check_copies(v, last):
    there = [n for n in CATALOGS if os.path.exists(os.path.join(last, n))]
    v.same('catalogues of both ranks', there, CATALOGS)
    rewrite('convert', '-o', 'five', last)
    r = rewrite('repartition', '--ranks', '3', '-o', 'three', 'five', ranks=2)
    v.same('nothing is left out, nothing told of', 'will not contain' in r.err, False)
    for made in 'five', 'three':
        v.same(made + ': the same bytes',
               [text(os.path.join(made, n)) == text(os.path.join(last, n)) for n in CATALOGS],
               [True] * 4)
        v.same(made + ': sound, and listed', (rewrite('inspect', '-c', made).status,
               text(made + '/checksums_00002.txt').count('clump_')), (0, 2))


def check_losses(v, last):
    shutil.copytree(last, 'more')
    for name in 'notes.txt', 'zeta', 'unbinding_00002.out00001':
        touch('more/' + name)
    r = rewrite('convert', '-o', 'less', 'more')
    says = next((s for s in r.err.splitlines() if 'will not contain' in s), '')
    v.same('status', r.status, 0)
    v.same('all are named', [w in says for w in ('unbinding_', 'notes.txt', 'clump_', 'info_')],
           [True, True, False, False])
    r = rewrite('convert', '--region', 'box:0,0,0,0.5,0.5,0.5', '-o', 'part', last)
    v.same('a region: catalogues are left out, and told of',
           (r.status, [n for n in os.listdir('part') if n in CATALOGS],
            'clump_00002.txt* (clumps)' in r.err), (0, [], True))
    r = rewrite('convert', '-f', 'gadget', '-o', 'gadget', last)
    v.same('Gadget: told of', (r.status, 'clump_00002.txt* (clumps)' in r.err), (0, True))


def check_damage(v, last):
    shutil.copytree(last, 'bad')
    with open('bad/' + CATALOGS[1], 'a') as f:
        f.write('1\n')
    r = rewrite('convert', '-o', 'refused', 'bad')
    v.same('a damaged catalogue: status, sentence, result',
           (r.status, CATALOGS[1] in r.err, os.path.exists('refused')), (2, True, False))
    shutil.copytree(last, 'alien')
    touch('alien/clump_00002.txt00007')
    touch('alien/namelist.txt~')
    r = rewrite('inspect', '-c', 'alien')
    v.same('one of another checkpoint: status, found',
           (r.status, r.out.count('belongs to another checkpoint'), 'txt00007' in r.out),
           (1, 1, True))


def carry(v):
    last = run('carry', ranks=2).outputs[-1]
    check_copies(v, last)
    check_losses(v, last)
    check_damage(v, last)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {'names': names, 'tables': tables, 'carry': carry}[sys.argv[1]](verdict)
    verdict.end()
