"""Clumps depend on the state alone; wrong parameters end in a sentence.

    clumps.py same     files of runs on 1, 2, 3 ranks, two threads, both orderings and formats, and
                       inspect --clumps of their checkpoints on 1, 2, 3, 5, 8 ranks: the same rows
    clumps.py wrong    parameters that are missing, unknown, refused, absurd

Example of a fault caught: a tie broken by ranks, a sum in the order of ranks, particles that are
not on their leaf level, rows that a rank keeps to itself.
"""
# test: same tier=check timeout=300 ranks=3
# test: wrong tier=check timeout=90 ranks=2
import glob
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

CLUMPS = """
&CLUMPFIND_PARAMS
ivar_clump=0
density_threshold=2.0
relevance_threshold=1.2
saddle_threshold=3.0
mass_threshold=3
/
&UNBINDING_PARAMS
nmassbins=20
/
"""


def box(run='clumpfind=.true.\nunbind=.true.\n', more=CLUMPS):
    """Clusters of particles, some fast, in uniform gas; one output."""
    draw = random.Random(14)
    os.makedirs('ics', exist_ok=True)
    with open('ics/ic_part', 'w') as f:
        for k in range(3000):
            c = k % 9
            x = [(0.13 * c * (d + 1) + draw.gauss(0, 0.03)) % 1 for d in range(3)]
            v = [draw.gauss(0, 3 if k % 5 == 0 else 0.05) for _ in range(3)]
            f.write(' '.join('%.12g' % y for y in [*x, *v, 1e-3]) + '\n')
    text = ptah.ascii_box((3, 6), 1, 1, 'm_refine=4*8.', ics='../ics')
    return text.replace('pic=.true.\n', 'pic=.true.\n' + run) + more


def files(output):
    """Rows of clumps and halos in the order of ranks."""
    rows = []
    for kind in 'clump', 'halo':
        for path in sorted(glob.glob(os.path.join(output, kind + '_*.txt*'))):
            with open(path) as f:
                rows += f.readlines()[1:]
    return rows


def inspect(*argv, ranks=1):
    return ptah.Run([*ptah.mpirun(ranks), ptah.program('inspect'), '-q', '--clumps', *argv], '.')


def rows_of(r):
    return [line for line in r.out.splitlines() if not line.startswith('# source')]


def same(v):
    text, outputs = box().replace('nstepmax=1\n', 'nstepmax=2\n'), []
    for name, ranks, threads, how in (
            ('one', 1, 1, ()), ('two', 2, 2, ('run_params/check_ghosts=.true.',)),
            ('three', 3, 1, ('run_params/ordering=hilbert', 'output_params/outformat=hdf5'))):
        r = ptah.simulate(text, name, ranks, threads, how, ['-q'])
        outputs.append(r.outputs[-1])
    first, table = files(outputs[0]), rows_of(inspect(outputs[0]))
    clumps = [row.split() for row in first if len(row.split()) == 13]
    v.same('there are clumps in clumps', any(row[3] != row[0] for row in clumps), True)
    v.same('there are unbound particles', any(
        line.startswith('# unbound') and int(line.split()[-1]) > 50 for line in table), True)
    for output, many in zip(outputs, ((2, 5, 8), (1,), (3,))):
        name = os.path.dirname(os.path.relpath(output))
        v.same(name + ': files', files(output) == first, True)
        for ranks in many:
            v.same('%s: afterwards on %d ranks' % (name, ranks),
                   rows_of(inspect(output, ranks=ranks)) == table, True)
    r = ptah.simulate(text, 'without', 1, 1, ['run_params/clumpfind=.false.',
                                              'run_params/unbind=.false.'], ['-q'])
    v.same('the state is that of a run without', ptah.digest(r.outputs[-1]) ==
           ptah.digest(outputs[0]), True)
    listed = [line.split('\t') for line in table if not line.startswith('#')]
    v.same('files and table: clumps', [row[0] for row in clumps],
           [w[0] for w in listed if w[4] == '1'])
    physical = rows_of(inspect('-u', outputs[0]))
    worth = {line.split('\t')[0]: float(line.split()[2]) for line in physical
             if line.startswith('# unit_')}
    kpc, kms = worth['# unit_l'] / 3.0856776e21, worth['# unit_l'] / worth['# unit_t'] / 1e5
    names = next(line for line in table if line.startswith('#index'))[1:].split('\t')
    units = dict(zip(names, [1] * 8 + [kpc] * 3 + [worth['# unit_d']] * 3 + [1, kpc**3]
                     + [worth['# unit_m']] * 2 + [kpc] * 3 + [kms] * 3
                     + [worth['# unit_m']] + [kms] * 3 + [worth['# unit_m'], 1]))
    rows = [line.split('\t') for line in physical if not line.startswith('#')]
    worst = max(abs(float(a) - float(b) * units[n]) / max(abs(float(b) * units[n]), 1e-300)
                for x, y in zip(rows, listed) for a, b, n in zip(x, y, names))
    v.same('physical units: rows', len(rows), len(listed))
    v.check('physical units: every column', worst, 1e-8)
    r = inspect('-j', outputs[2])
    v.same('JSON: clumps', [c['index'] for c in json.loads(r.out)['clumps']],
           [int(w[0]) for w in listed])
    v.same('the checkpoint is sound',
           ptah.Run([ptah.program('inspect'), '-cc', outputs[1]], '.').status, 0)


def refused(v, name, word, run='clumpfind=.true.\n', more=CLUMPS, settings=()):
    r = ptah.simulate(box(run, more), 'wrong', settings=settings, options=['-q'], must_work=False)
    v.same(name, r.status == 2 and word in r.err and r.err.count('\n') == 1, True)
    if r.status != 2 or word not in r.err:
        print(r.err)


def wrong(v):
    refused(v, 'no threshold', 'density_threshold', more='')
    refused(v, 'two thresholds', 'n_clfind',
            more='&CLUMPFIND_PARAMS\nn_clfind=1\nrho_clfind=1\n/\n')
    refused(v, 'not a number', 'density_threshold',
            settings=['clumpfind_params/density_threshold=nan'])
    refused(v, 'unbind alone', 'clumpfind', run='unbind=.true.\n')
    refused(v, 'merger trees alone', 'clumpfind', run='make_mergertree=.true.\n')
    refused(v, 'a field of clumps', 'output_clump_field',
            settings=['clumpfind_params/output_clump_field=.true.'])
    refused(v, 'no such variable', 'ivar_clump', settings=['clumpfind_params/ivar_clump=9'])
    refused(v, 'no such parameter', 'densty', settings=['clumpfind_params/densty_threshold=9'])
    out = ptah.simulate(box(), 'right', options=['-q']).outputs[-1]
    for setting, word in (('gamma=2', 'gamma'), ('density_threshold=x', 'density_threshold'),
                          ('density_threshold=-1', 'density_threshold'), ('x', 'x'),
                          ('ivar_clump=9', 'ivar_clump'), ('hydro_params/gamma=2', 'gamma')):
        r = inspect('--set', setting, out)
        v.same('inspect --set ' + setting, (r.status, word in r.err, r.out[:9]), (2, True, ''))
    r = inspect('--memory', '1G', out)
    v.same('inspect --memory', (r.status, 'more ranks' in r.err, r.out), (2, True, ''))
    for setting in 'density_threshold=1e300', 'density_threshold=1e-300', \
            'relevance_threshold=1e300', 'relevance_threshold=-5', 'saddle_threshold=1e-300', \
            'mass_threshold=1e300':
        r = inspect('--set', setting, out, ranks=2)
        n = len([line for line in r.out.splitlines() if not line.startswith('#')])
        v.same('inspect --set ' + setting, (r.status, n == 0 if '=1e300' in setting and
                                            'rele' not in setting else True), (0, True))


def main():
    v = ptah.Verdict()
    {'same': same, 'wrong': wrong}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
