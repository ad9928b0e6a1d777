"""repartition changes the layout of a checkpoint and nothing else: the digest is unchanged, there
and back, through every order of domains and format; the bytes do not depend on the number of ranks
that wrote them, or on memory; and a run resumes from the result as from the original.

    repartition.py CASE RANKS...    CASE: sedov (gas, 4 levels) or cosmo (gas, particles, gravity);
                                    RANKS: numbers of ranks to write for

Example of a fault caught: a copy of an oct with values of another, particles of a bucket in
another order, the difference between stored and true energy lost, a total of one rank alone.
"""
# test: sedov 2 tier=quick timeout=120 ranks=2
# test: sedov 1 5 tier=check timeout=240 ranks=3
# test: cosmo 2 7 tier=check timeout=480 ranks=3
import hashlib
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ptah  # noqa: E402
import restart  # noqa: E402

STEPS = restart.STEPS


def repartition(out, path, *options, ranks=1, threads=1):
    shutil.rmtree(out, ignore_errors=True)
    argv = [ptah.program('repartition'), '-q', '-o', out, *options, path]
    r = ptah.Run(ptah.mpirun(ranks) + argv, '.', {'OMP_NUM_THREADS': str(threads)}, 120)
    if r.status != 0 or r.out != out + '\n' or r.err:
        print('repartition %s: status %d, says %r %r' % (' '.join(options), r.status, r.out, r.err))
        sys.exit(1)
    return out


def content(path):
    """Checksum of each file, except those that record the command."""
    sums = {}
    for name in sorted(os.listdir(path)):
        if name != 'compilation.txt' and not name.startswith('checksums'):
            with open(os.path.join(path, name), 'rb') as f:
                sums[name] = hashlib.md5(f.read()).hexdigest()
    return sums


def there_and_back(v, path, ranks):
    same = ptah.digest(path)
    for m in ranks:
        for order in ('hilbert', 'ksection'):
            out = repartition('to', path, '-n', str(m), '-d', order)
            v.same('3 hilbert to %d %s: digest' % (m, order), ptah.digest(out) == same, True)
            files = [f for f in os.listdir(out) if f.startswith('amr_')]
            v.same('3 hilbert to %d %s: files' % (m, order), len(files), m)
            back = repartition('back', out, '-n', '3', '-d', 'hilbert')
            v.same('%d %s to 3 hilbert: digest' % (m, order), ptah.digest(back) == same, True)
    if not has_hdf5():
        return
    out = repartition('to', path, '-f', 'hdf5')
    v.same('to HDF5: digest', ptah.digest(out) == same, True)
    back = repartition('back', out, '-n', '2', '-d', 'ksection')
    v.same('HDF5 to 2 ksection: digest', ptah.digest(back) == same, True)
    for what, source in (('HDF5', out), ('ksection', back)):
        plain = repartition('plain', source, '-n', '2')
        with open(os.path.join(plain, 'info_%s.txt' % number_of(path))) as f:
            v.same('%s to RAMSES, no order asked for' % what, 'hilbert' in f.read(), True)


def number_of(path):
    return os.path.basename(path).split('_')[1]


def has_hdf5():
    r = ptah.Run(['ldd', ptah.program('repartition')], '.')
    return 'libhdf5' in r.out


def same_bytes(v, path):
    formats = [('5 ksection', ['-n', '5', '-d', 'ksection'], 'm'), ('HDF5', ['-f', 'hdf5'], '')]
    for what, options, memory in formats[:2 if has_hdf5() else 1]:
        some = [*options, '-m', '192M']
        first = content(repartition('a', path, *some))
        for ranks in (2, 3):
            v.same('%s: written by %d ranks, the same bytes' % (what, ranks),
                   content(repartition('a', path, *some, ranks=ranks)) == first, True)
        for threads in (2, 3):
            v.same('%s: written by %d threads, the same bytes' % (what, threads),
                   content(repartition('a', path, *some, threads=threads)) == first, True)
        if memory:  # the HDF5 file records the arguments
            v.same('%s: with 64M and 3 threads, file by file, the same bytes' % what,
                   content(repartition('a', path, *options, '-m', '64M', threads=3)) == first, True)
            v.same('%s: with 64M, with 2G, the same bytes' % what,
                   [content(repartition('a', path, *options, '-m', m)) == first
                    for m in ('64M', '2G')], [True, True])


def goes_on(v, case, path):
    whole = restart.run(case, 'whole', 1, 'ksection')
    for n, order in ((2, 'ksection'), (1, 'hilbert')):
        out = repartition('ready', path, '-n', str(n), '-d', order)
        r = restart.run(case, 'on_%d' % n, n, order, ['-r', os.path.abspath(out)])
        v.same('goes on from %d %s: digest' % (n, order),
               ptah.digest(r.outputs[-1]) == ptah.digest(whole.outputs[-1]), True)


def balance(v, path):
    r = ptah.Run([ptah.program('repartition'), '-n', '4', '-j', path], '.')
    told = json.loads(r.out)
    v.check('memory, most over mean', told['memory']['most'] / told['memory']['mean'], 1.05)
    v.same('octs by rank add up', sum(told['octs']['rank']), told['octs']['total'])
    out = repartition('told', path, '-n', '4')
    again = json.loads(ptah.Run([ptah.program('repartition'), '-n', '1', '-j', out], '.').out)
    v.same('octs and particles of the result', [again[k]['total'] for k in ('octs', 'particles')],
           [told[k]['total'] for k in ('octs', 'particles')])
    argv = [ptah.program('repartition'), '-n', '4', '-j', '-w', '1,1e6,1', path]
    heavy = json.loads(ptah.Run(argv, '.').out)
    if told['particles']['total']:
        v.check('particles balanced if they weigh all',
                heavy['particles']['most'] / heavy['particles']['mean'], 1.05)


def pipe(v, path):
    twice = path + '\n' + os.path.join(os.path.dirname(path), 'output_00001') + '\n'
    p = subprocess.run([ptah.program('repartition'), '-q', '-n', '2', '-o', 'many', '-'],
                       input=twice, text=True, capture_output=True)
    names = ['many/' + os.path.basename(line) for line in twice.split()]
    v.same('paths from standard input: status, paths', (p.returncode, p.stdout.split()), (0, names))
    v.same('paths from standard input: digests',
           [ptah.digest(a) == ptah.digest(b) for a, b in zip(names, twice.split())], [True, True])


def main():
    os.environ['SOURCE_DATE_EPOCH'] = '1700000000'  # provenance: identical bytes at any time
    case, ranks = sys.argv[1], [int(n) for n in sys.argv[2:]]
    v = ptah.Verdict()
    if case == 'cosmo':
        ptah.unpack_ics('.', 'ic_32')
    path = restart.run(case, 'half', 3, 'hilbert',
                       settings=['run_params/nstepmax=%d' % (STEPS // 2)]).outputs[-1]
    there_and_back(v, path, ranks)
    if len(ranks) > 1:
        same_bytes(v, path)
        goes_on(v, case, path)
        balance(v, path)
        pipe(v, path)
    v.end()


if __name__ == '__main__':
    main()
