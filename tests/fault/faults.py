"""A program that writes a checkpoint is killed at each system call that changes the disk, and each
of these calls fails once: afterwards every checkpoint with a final name is complete and is the old
or the new one, no rank waits for ever, and the exit status is correct.

    faults.py sample SCENARIO RANKS    some calls, all kinds of trouble
    faults.py all SCENARIO RANKS       all calls
    SCENARIO: ramses, hdf5       a restart writes its next checkpoint
              replace, replace5  a restart that replaces an older one, with --force (RAMSES, HDF5)
              keep, keep5        a restart after which older ones are removed (keep_last)
              late           a restart whose checkpoint is not its end: the run continues while
                             the disk works, and the name comes later
              convert, repartition   these programs, to HDF5 and to 3 ranks of RAMSES binary
              disk               a full disk: backups may fail, the end may not
              order              a slow disk: what happens before what

Example of a fault caught: a rename before the sync, an error of close or fsync dropped, a file
removed before its successor is there, a rank that leaves while others wait.
"""
# test: sample ramses 1 tier=check timeout=120
# test: sample hdf5 1 tier=check timeout=120
# test: sample replace 1 tier=check timeout=120
# test: sample ramses 2 tier=check timeout=120 ranks=2
# test: sample late 1 tier=check timeout=120
# test: sample late 2 tier=check timeout=120 ranks=2
# test: sample convert 1 tier=check timeout=120
# test: sample repartition 1 tier=check timeout=120
# test: disk ramses 1 tier=check timeout=60
# test: order late 1 tier=check timeout=60
# test: order late 2 tier=check timeout=60 ranks=2
# test: all ramses 1 tier=long timeout=1800
# test: all hdf5 1 tier=long timeout=1800
# test: all replace 1 tier=long timeout=1800
# test: all replace5 1 tier=long timeout=1800
# test: all keep 1 tier=long timeout=3600
# test: all keep5 1 tier=long timeout=3600
# test: all convert 1 tier=long timeout=3600
# test: all repartition 1 tier=long timeout=3600
# test: all late 1 tier=long timeout=1800
# test: all late 2 tier=long timeout=3600 ranks=2
# test: all ramses 2 tier=long timeout=3600 ranks=2
# test: all hdf5 2 tier=long timeout=3600 ranks=2
# test: all replace 2 tier=long timeout=3600 ranks=2
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from inputs import SEDOV, edit  # noqa: E402

SECONDS = 60
KINDS = ['kill', 'tear', 'short', 'EINTR', 'ENOSPC', 'EIO', 'EDQUOT', 'term']
HARMLESS = ['short', 'EINTR']
DEADLY = ['kill', 'tear', 'term']
REWRITE = ('convert', 'repartition')
NAMELIST = edit(edit(SEDOV, 'tout=1.0', 'tout=1e9\nfoutput=1000'), 'nstepmax=2', 'nstepmax=3')
SHIM = os.path.abspath('shim.so')
OUT = os.path.abspath('out')


def build_shim():
    source = os.path.join(ptah.ROOT, 'tests', 'fault', 'shim.c')
    subprocess.check_call(['cc', '-shared', '-fPIC', '-O1', '-o', SHIM, source, '-ldl'])


def left():
    """The contents of the directory of outputs, except for the file of the run's progress."""
    return [n for n in os.listdir(OUT) if n != 'progress.json']


class Scenario:
    """A scenario: initial content of the output directory (old: name -> digest), the command, its
    results (new: name -> digest), and checkpoints that may be removed."""

    def __init__(self, name, ranks):
        five = name == 'hdf5' or name.endswith('5')
        form = 'output_params/outformat=' + ('hdf5' if five else 'original')
        self.ranks, self.old, self.may_go = ranks, {}, []
        options, settings = ['-q', '-o', OUT, '-r', os.path.abspath('start/output_00002')], [form]
        two_steps = ['run_params/nstepmax=2', 'output_params/foutput=2']
        ptah.simulate(NAMELIST, 'start', ranks, settings=[form, *two_steps], options=['-q'])
        os.makedirs('before', exist_ok=True)
        if name.startswith('replace'):
            shutil.copytree('start/output_00001', 'before/output_00003')
            rename_set('before/output_00003', 1, 3)
            options.append('-f')
        if name.startswith('keep'):
            shutil.rmtree('before')
            steps = ['output_params/keep_last=2', 'output_params/foutput=1']
            five_steps = [form, 'run_params/nstepmax=5', *steps]
            ptah.simulate(NAMELIST, 'before', ranks, settings=five_steps, options=['-q', '-o', '.'])
            for leave in ('run.nml', 'log', 'progress.json'):
                os.remove('before/' + leave)
            last = max(n for n in os.listdir('before') if n.startswith('output_'))
            shutil.rmtree('before/' + last)  # the last one is no backup
            before = sorted(os.listdir('before'))
            options = ['-q', '-o', OUT, '-r', os.path.join(OUT, before[-1])]
            settings += ['run_params/nstepmax=6', *steps]
            self.may_go = [n for n in before if n != 'output_00001']
        else:
            steps = 4 if name == 'late' else 3
            settings += ['run_params/nstepmax=%d' % steps, 'output_params/foutput=3']
        argv = [ptah.program('simulate'), *options, os.path.abspath('start/run.nml'), *settings]
        if name in REWRITE:
            how = ['-f', 'hdf5'] if name == 'convert' else ['-n', '3']
            made = OUT + '/output_00003'
            argv = [ptah.program(name), '-q', *how, '-o', made, 'start/output_00002']
        self.argv = ptah.mpirun(ranks) + argv
        self.old = digests('before')

    def trouble(self, at=0, kind='kill', rank=0, log=None, last=False, slow=0):
        """Restores the initial content; returns the environment for trouble at call `at`."""
        shutil.rmtree(OUT, ignore_errors=True)
        shutil.copytree('before', OUT)
        trouble = {'FAULT_DIR': OUT, 'FAULT_AT': str(at), 'FAULT_KIND': kind,
                   'FAULT_RANK': str(rank), 'FAULT_LOG': log or '',
                   'FAULT_LAST': '1' if last else '', 'FAULT_SLOW': str(slow)}
        return {'LD_PRELOAD': SHIM, 'OMP_NUM_THREADS': '1', **trouble}

    def run(self, *args, **kwargs):
        """Runs the command with trouble. (Run, name -> digest afterwards)"""
        return ptah.Run(self.argv, '.', self.trouble(*args, **kwargs), SECONDS), digests(OUT)

    def calls(self, rank):
        log = os.path.abspath('calls')
        if os.path.exists(log):
            os.remove(log)
        r, self.new = self.run(0, 'kill', rank, log)
        if r.status != 0:
            print(r.err)
            sys.exit(1)
        with open(log) as f:
            return [line.split()[1] for line in f]


def rename_set(folder, was, now):
    """Gives an output another number; its list of checksums names files, so it is removed."""
    for name in os.listdir(folder):
        new = name.replace('%05d' % was, '%05d' % now, 1)
        os.rename(os.path.join(folder, name), os.path.join(folder, new))
    os.remove(os.path.join(folder, 'checksums_%05d.txt' % now))


def digests(folder):
    """name -> digest of all checkpoints with a final name; None: unreadable."""
    names = sorted(n for n in os.listdir(folder) if re.fullmatch(r'output_\d{5}', n))
    found = {}
    if names:
        paths = [os.path.join(folder, n) for n in names]
        r = ptah.Run([ptah.program('inspect'), '-qd', *paths], '.')
        for line in r.out.splitlines():
            found[os.path.basename(line.split()[1])] = line.split()[0]
    return {n: found.get(n) for n in names}


STAYS = 'the old one could not be removed'
SAID = re.compile(r'(simulate|convert|repartition): | The new checkpoint| The backup at| .* ' +
                  STAYS)


def troubles(s, r, found, kind):
    """List of errors in the end of a run."""
    wrong = []
    if r.timed_out:
        wrong.append('still running after %d s' % SECONDS)
    for name, value in found.items():
        good = [s.old.get(name), s.new.get(name)]
        if s.may_go:  # after a failed backup, numbers shift
            good = [*s.old.values(), *s.new.values()]
        if value is None or value not in good:
            wrong.append('%s is %s' % (name, value))
    for name in s.old:
        if name not in found and not (name in s.may_go and name not in s.new):
            wrong.append('%s is gone' % name)
    kept = [n for n in found if n in s.may_go or n not in s.old]
    if s.may_go and len(kept) < 2:
        wrong.append('only %s is left' % kept)
    whole = found == s.new
    said = [line for line in r.err.splitlines() if SAID.match(line)]
    # only the durability of the result is in doubt
    stays = whole and len(said) == 1 and STAYS in said[0]
    failed_backup = s.may_go and s.new[max(s.new)] in found.values() and len(said) == 1
    if kind == 'term' and whole and r.status == 0:
        pass  # the failure came during the final rename, and the program ended sooner
    elif kind in DEADLY:
        wrong += ['exit status %s' % r.status] if r.status == 0 and s.ranks == 1 else []
    elif kind in HARMLESS:
        wrong += [] if r.status == 0 and whole else ['exit status %s, found %s' % (r.status, found)]
    elif r.status not in (0, 2):
        wrong.append('exit status %s' % r.status)
    elif r.status == 0 and not stays and not failed_backup:
        wrong.append('exit status 0 in spite of it')
    elif r.status == 2 and len(said) != 1:
        wrong.append('%d sentences' % len(said))
    if kind == 'term' and len(left()) != len(found):
        wrong.append('left over: %s' % left())
    if re.search(r'\bbug\b|Segmentation|stack smashing', r.err):
        wrong.append('a crash')
    return wrong


def choose(calls, kind, ranks):
    """Sample: the first and the last call of each kind, with some kinds of trouble; fewer with
    mpirun."""
    first = {}
    for k, name in enumerate(calls, 1):
        first.setdefault(name, [k, k])[1] = k
    picks = sorted(set(sum(first.values(), [])))
    n, step = KINDS.index(kind), 3 if ranks == 1 else 8
    if kind in HARMLESS:
        return first['write'] + first['fsync'][:1] if ranks == 1 else []
    return [k for i, k in enumerate(picks)
            if i % step == n % step or (kind in ('tear', 'term') and ranks == 1)]


def loop(mode, name, ranks):
    s = Scenario(name, ranks)
    failed = cases = 0
    for rank in range(ranks):
        calls = s.calls(rank)
        counts = ', '.join('%d %s' % (calls.count(c), c) for c in sorted(set(calls)))
        print('     %s, %d ranks: rank %d makes %d calls: %s' %
              (name, ranks, rank, len(calls), counts))
        # a run finishes its step after SIGTERM
        for kind in KINDS[:None if name in REWRITE else -1]:
            for at in range(1, len(calls) + 1) if mode == 'all' else choose(calls, kind, ranks):
                suits = ('write', 'fsync') if kind == 'EINTR' else ('write',)
                if kind in HARMLESS and calls[at - 1] not in suits:
                    continue
                r, found = s.run(at, kind, rank)
                wrong = troubles(s, r, found, kind)
                cases += 1
                if wrong:
                    failed += 1
                    print('FAIL %s at call %d (%s) of rank %d: %s\n%s' %
                          (kind, at, calls[at - 1], rank, '; '.join(wrong), r.err[-800:]))
    print('%d cases, %d failed' % (cases, failed))
    sys.exit(1 if failed else 0)


def disk_full():
    """From some call on the disk is full: backups are skipped with a sentence; at the end, an error
    names the last good checkpoint."""
    v = ptah.Verdict()
    s = Scenario('keep', 1)
    v.same('keep_last=2 left the first and two backups',
           sorted(s.old), ['output_00001', 'output_00004', 'output_00005'])
    calls = s.calls(0)
    s.argv = [a.replace('nstepmax=6', 'nstepmax=8') for a in s.argv]
    r, found = s.run(len(calls) // 2, 'ENOSPC', last=True)
    v.same('exit status', r.status, 2)
    backups = [line for line in r.err.splitlines() if 'The backup at coarse step' in line]
    v.same('backups that failed, told of', len(backups) >= 1, True)
    ends = [line for line in r.err.splitlines() if line.startswith('simulate: ')]
    print('     ' + '\n     '.join(backups + ends))
    v.same('one sentence at the end', len(ends), 1)
    v.same('it says why, and what is left',
           bool(re.search(r'No space left.*last good checkpoint is \S+output_0000', ends[0])), True)
    v.same('that one is whole', found.get(ends[0].split('/')[-1]) is not None, True)
    v.same('all that is there is whole', None not in found.values(), True)
    v.end()


def order(ranks):
    """The disk of the last rank is slow, until the log tells of the second coarse step after the
    checkpoint: the run continues meanwhile; the checkpoint gets its name after all syncs, and none
    if the last sync fails."""
    v = ptah.Verdict()
    s = Scenario('late', ranks)
    s.argv.remove('-q')
    s.argv = ['run_params/nstepmax=5' if a == 'run_params/nstepmax=4' else a for a in s.argv]
    rank, log, slow = ranks - 1, os.path.abspath('order'), 0.05 if ranks == 1 else 0.25
    told = os.path.abspath('told')
    env = s.trouble(0, 'kill', rank, log, slow=told)
    p = subprocess.Popen(s.argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **ptah.ENVIRONMENT, **env})
    lines, named = [], None
    for line in p.stderr:
        lines.append(line)
        if 'Main step=      3' in line:  # the coarse step that begins with the checkpoint
            named = os.path.exists(os.path.join(OUT, 'output_00003'))
        if 'Main step=      4' in line:
            open(told, 'w').close()
    found, said = digests(OUT), ''.join(lines)
    with open(log) as f:
        lines = [line.split() for line in f]
    calls = [line[1] for line in lines]
    name = 'Wrote %s' % os.path.join(OUT, 'output_00003')
    v.same('a slow disk: exit status, checkpoints', (p.wait(), list(found)), (0, ['output_00003']))
    v.same('it is told of once', said.count(name), 1)
    v.same('the run does not wait for its name', named, False)
    v.same('and tells it in time', said.find('Main step=      3') < said.find(name), True)
    v.same('nor does the next coarse step', -1 < said.find('Main step=      4') < said.find(name),
           True)
    syncs = [k for k, c in enumerate(calls) if c == 'fsync']
    last = max(k for k, c in enumerate(calls) if c == 'write')
    v.same('first all writes, then all syncs', last < syncs[0], True)
    files = sum(line[1] == 'open' and '.tmp/' in line[2] for line in lines)
    v.same('a sync for each file, and for two directories',
           (files > 1, len(syncs)), (True, files + 2 * (ranks == 1)))
    name_at = [k for k, c in enumerate(calls) if c.startswith('rename')]
    v.same('the name comes after all but the sync of the directory above it',
           [sum(k > at for k in syncs) for at in name_at], [1] if ranks == 1 else [])
    fatal = syncs[-2] if ranks == 1 else syncs[-1]
    r, found = s.run(fatal + 1, 'EIO', rank, slow=slow)
    said = [line for line in r.err.splitlines() if SAID.match(line)]
    v.same('the last sync fails: exit status, checkpoints, sentences',
           (r.status, found, len(said)), (2, {}, 1))
    v.same('what is left of it', left(), [])
    s.argv = ['output_params/foutput=1' if a == 'output_params/foutput=3' else a for a in s.argv]
    r, found = s.run(0, 'kill', rank, slow=slow)
    v.same('a checkpoint at each step: exit status, checkpoints', (r.status, sorted(found)),
           (0, ['output_%05d' % n for n in (3, 4, 5)]))
    v.end()


def main():
    build_shim()
    if sys.argv[1] == 'order':
        order(int(sys.argv[3]))
    if sys.argv[1] == 'disk':
        disk_full()
    loop(sys.argv[1], sys.argv[2], int(sys.argv[3]))


if __name__ == '__main__':
    main()
