"""Errors of repartition: one sentence and exit status 2 on any number of ranks, existing files
under OUT are unchanged, and no other file is left, also when the disk is full at any moment.

Example of a fault caught: a temporary file left behind, a write whose result is not checked, the
old output removed before the new one is whole.
"""
# test: tier=check timeout=480 ranks=3
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
import restart  # noqa: E402

# PMIx's default keeps files that are longer than the limits set here.
ENVIRONMENT = {**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '2', 'PMIX_MCA_gds': 'hash'}


def run(options, ranks=1, most=None, stdout=subprocess.PIPE):
    """(status, sentences). max: largest file size allowed, as on a full disk."""
    def limit():
        if most is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    p = ptah.run_patiently(ptah.mpirun(ranks) + [ptah.program('repartition'), '-q', *options],
                           text=True, stdout=stdout, stderr=subprocess.PIPE, env=ENVIRONMENT,
                           preexec_fn=limit, timeout=60)
    return p.returncode, [line for line in p.stderr.splitlines() if line.startswith('repartition:')]


def refused(v, what, options, culprit, ranks=1, most=None):
    before = sorted(os.listdir('.'))
    status, lines = run(options, ranks, most)
    v.same('%s: status, sentences, culprit named' % what,
           (status, len(lines), bool(lines and culprit in lines[0])), (2, 1, True))
    if lines and culprit not in lines[0]:
        print(lines[0])
    v.same('%s: left over' % what, [f for f in sorted(os.listdir('.')) if f not in before], [])


def state(path):
    sums = []
    for name in sorted(os.listdir(path)):
        with open(os.path.join(path, name), 'rb') as f:
            sums.append((name, hashlib.md5(f.read()).hexdigest()))
    return sums


def cut(name, share):
    os.truncate(name, int(os.path.getsize(name) * share))


def flip(name, share):
    with open(name, 'r+b') as f:
        f.seek(int(os.path.getsize(name) * share))
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte[0] ^ 1]))


def wrong_inputs(v, good):
    file = 'bad/%s_00002.out00002'
    cases = [
        ('amr file 2 missing', lambda: os.remove(file % 'amr'), 'amr'),
        ('hydro file 2 cut', lambda: cut(file % 'hydro', 0.5), 'hydro'),
        # of the links of an oct: protected by the checksum only
        ('a bit of amr file 2', lambda: flip(file % 'amr', 0.9), 'amr'),
        ('a bit of hydro file 2', lambda: flip(file % 'hydro', 0.5),
         'hydro_00002.out00002: its checksum'),
        ('exact file 2 cut', lambda: cut(file % 'exact', 0.9), 'exact'),
        ('amr file 2 that of 1', lambda: shutil.copy('bad/amr_00002.out00001', file % 'amr'), ''),
        ('no info', lambda: os.remove('bad/info_00002.txt'), 'bad'),
    ]
    for n, (what, harm, culprit) in enumerate(cases):
        shutil.rmtree('bad', ignore_errors=True)
        shutil.copytree(good, 'bad')
        harm()
        refused(v, what, ['-n', '4', '-o', 'new', 'bad'], culprit, 1 + n % 3)
    for options, culprit in (
            (['-n', '0', good], '99999'), (['-n', 'x', good], 'x'),
            (['-d', 'peano', good], 'peano'), (['-m', '3Q', good], '3Q'),
            (['-m', '1M', '-o', 'new', good], '64 MiB'), (['-w', '1,2', good], '1,2'),
            (['-m', '1G', '-c', '2', good], 'exclude'), (['-f', 'hdf5', good], '-o'),
            (['-f', 'hdf5', '-n', '2', good], 'HDF5'), (['nowhere'], 'nowhere'),
            ([], 'no checkpoint')):
        refused(v, ' '.join(options[:3]) or 'nothing', options, culprit)


def outputs(v, good):
    assert run(['-n', '2', '-o', 'old', good])[0] == 0
    before = state('old')
    refused(v, 'OUT exists', ['-n', '3', '-o', 'old', good], 'exists', 2)
    sizes = sorted({int(os.path.getsize(os.path.join('old', n)) * s) for n in os.listdir('old')
                    for s in (0.2, 0.95)})
    for most in [s for s in sizes if s > 2000]:  # one rank: mpirun has large files of its own
        refused(v, 'files of %d bytes at most' % most,
                ['-n', '2', '-o', 'old', '-F', good], 'old', 1, most)
    refused(v, 'HDF5 file of 100000 bytes at most',
            ['-f', 'hdf5', '-o', 'old', '-F', good], 'old', 1, 100000)
    v.same('OUT after all this', state('old') == before, True)
    os.makedirs('other/things')
    refused(v, 'OUT is no checkpoint', ['-n', '3', '-o', 'other', '-F', good], 'not a checkpoint')
    refused(v, 'OUT in a place that is not', ['-n', '3', '-o', 'not/there', good], 'not/there')
    os.symlink('old', 'alias')
    for out in 'old/new', 'alias/new/', 'old/../old/not/there':
        refused(v, 'OUT in IN: ' + out, ['-n', '3', '-o', out, 'old'],
                'lies in the checkpoint' if 'not' not in out else 'cannot create')
    os.remove('alias')
    v.same('OUT in IN: what is in it', state('old') == before, True)
    same = ptah.digest('old')
    v.same('-F', run(['-n', '3', '-o', 'old', '-F', good]), (0, []))
    v.same('-F: new files, same digest',
           (state('old') != before, ptah.digest('old') == same), (True, True))
    v.same('OUT is IN', run(['-n', '4', '-o', 'old', '-F', 'old']), (0, []))
    v.same('OUT is IN: same digest', ptah.digest('old') == same, True)
    with open('/dev/full', 'w') as full:
        v.same('a full stdout: status', run(['-n', '3', good], 1, None, full)[0], 2)


def pipe_in_place(path):
    os.remove(path)
    os.mkfifo(path)


def pipes(v, good):
    """No rank waits for a rank that has failed."""
    for n, name in enumerate(('amr_00002.out00002', 'hydro_00002.out00001', 'exact_00002.out00001',
                              'info_00002.txt', 'header_00002.txt', 'checksums_00002.txt',
                              'namelist.txt')):
        shutil.rmtree('bad', ignore_errors=True)
        shutil.copytree(good, 'bad')
        pipe_in_place(os.path.join('bad', name))
        refused(v, 'a FIFO in place of ' + name, ['-n', '1', '-o', 'new', 'bad'], name, 1 + n % 3)
    shutil.rmtree('bad')


def not_ours(v, good):
    """Files that must not be replaced, or belong to other programs."""
    shutil.copytree('old', 'archive')
    os.symlink('archive', 'link')
    before = state('archive')
    refused(v, 'OUT is a link',
            ['-n', '3', '-F', '-o', 'link', good], 'link: is a symbolic link', 2)
    os.symlink('archive', 'new.tmp')
    refused(v, 'OUT.tmp is a link', ['-n', '3', '-o', 'new', good], 'new.tmp', 2)
    v.same('what the links lead to', state('archive') == before, True)
    os.remove('new.tmp')
    for folder, file, out, says in (
            ('new.tmp', 'thesis.txt', 'new', 'new.tmp: is in the way and contains thesis.txt'),
            ('notes', 'info_2_meeting.md', 'notes', 'notes: is not a checkpoint'),
            ('archive/plots', 'a.png', 'archive', 'archive: contains a directory, plots')):
        os.mkdir(folder)
        open(os.path.join(folder, file), 'w').close()
        refused(v, '%s has %s' % (folder, file), ['-n', '3', '-F', '-o', out, good], says)
        v.same('%s still has %s' % (folder, file), os.listdir(folder), [file])
        shutil.rmtree(folder)
    os.makedirs('archive/group_00001')
    for name in [n for n in os.listdir('archive') if '.out' in n]:
        os.rename('archive/' + name, 'archive/group_00001/' + name)
    os.remove('archive/checksums_00002.txt')
    v.same('group_00001/ is replaced', run(['-n', '1', '-F', '-o', 'archive', good]), (0, []))
    v.same('group_00001/ is gone', os.path.exists('archive/group_00001'), False)
    os.mkdir('stopped.tmp')
    with open('stopped.tmp/spill.00001', 'w') as f:
        f.write('left by a killed run')
    v.same('what a killed run left does not matter',
           run(['-n', '1', '-o', 'stopped', good]), (0, []))
    argv = [ptah.program('repartition'), '-q', '-n', '300', '-o', 'both', good]
    two = [subprocess.Popen(argv, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
           for _ in range(2)]
    said = [p.communicate()[1] for p in two]
    v.same('two at a time: one of them', sorted(p.returncode for p in two), [0, 2])
    v.same('two at a time: the other says',
           [s for s in said if 'both' in s and s.count('\n') == 1] != [], True)
    status = subprocess.call([ptah.program('inspect'), '-c', 'both'], stdout=subprocess.DEVNULL)
    v.same('two at a time: whole', status, 0)


def main():
    v = ptah.Verdict()
    settings = ['run_params/nstepmax=2', 'output_params/foutput=2']
    good = restart.run('sedov', 'good', 2, 'hilbert', settings=settings).outputs[-1]
    wrong_inputs(v, good)
    outputs(v, good)
    pipes(v, good)
    not_ours(v, good)
    v.end()


if __name__ == '__main__':
    main()
