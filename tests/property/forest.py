#!/usr/bin/env python3
"""inspect --trees: merger trees of groups with a known history, of a run's halos and clumps.

    forest.py known   groups that move through the boundary, merge (1:1, 3:1, three at once), pass
                      through one another, split, vanish for a checkpoint, form and dissolve
                      (tests/moving_groups.py): the trees are right to the last halo, the same for
                      any ranks, threads, order of particles, files and formats
    forest.py run     halos of a box of 32^3 particles: rows equal those of inspect --halos;
                      clumps: progenitors equal those that simulate writes (make_mergertree)
    forest.py hostile checkpoints of several runs, out of order, twice, damaged, without particles
                      or halos, one alone

Examples of faults caught: descendants by the masses alone; a halo that was lost before is new; a
merger that is not revoked when its halo is found again; tracers of one rank only; a table that is
written although a checkpoint cannot be read.
"""
# test: known tier=check timeout=200 ranks=3
# test: run tier=check timeout=200 ranks=2
# test: hostile tier=check timeout=200 ranks=2
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402
import any_ramses  # noqa: E402
import moving_groups as moving  # noqa: E402
import ptah  # noqa: E402

BOX = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
clumpfind=.true.
make_mergertree=.true.
nsubcycle=1,1,2,2
/
&OUTPUT_PARAMS
noutput=3
aout=0.3,0.36,0.42
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
/
&AMR_PARAMS
levelmin=5
levelmax=7
/
&REFINE_PARAMS
m_refine=10*8.
/
&CLUMPFIND_PARAMS
relevance_threshold=3
density_threshold=80
saddle_threshold=200
mass_threshold=10
ivar_clump=0
/
&MERGERTREE_PARAMS
nmost_bound=50
/
"""


def inspect(*argv, ranks=1, threads=1):
    return ptah.Run([*ptah.mpirun(ranks), ptah.program('inspect'), '--trees', *argv], '.',
                    {'OMP_NUM_THREADS': str(threads)})


def rows(text, head='#id'):
    lines = [line.split('\t') for line in text.splitlines()]
    names = [w.split(' ')[0].lstrip('#') for w in next(w for w in lines if w[0] == head)]
    return [dict(zip(names, map(float, w))) for w in lines if w[0][0] != '#']


def body(text):
    return [line for line in text.splitlines() if not line.startswith('# output')]


# ---- known history ----


def name_nodes(v, table):
    """Node of each group of each checkpoint, by its position; checks its members."""
    nodes = {}
    for row in table:
        k, x = int(row['output']), np.array([row[c] for c in 'xyz'])
        far = {name: np.abs(np.mod(x - moving.centre(name, k) + 0.5, 1) - 0.5).max()
               for name in moving.groups(k)}
        name = min(far, key=far.get)
        v.same('%d %s: one halo' % (k, name), (k, name) in nodes, False)
        v.same('%d %s: members' % (k, name), int(row['members']), len(moving.groups(k)[name]))
        nodes[k, name] = row
    want = {(k, name) for k in range(1, moving.OUTPUTS + 1) for name in moving.groups(k)}
    v.same('halos', sorted(nodes), sorted(want))
    return nodes


def check_links(v, nodes, jump):
    progenitors = {}
    for (k, name), row in nodes.items():
        want = moving.LINKS.get((k, name)) if k < moving.OUTPUTS else None
        if not jump and want and want[0] > k + 1:
            want = (3, 'I', False) if name == 'J' else None
        to = next((n for n, r in nodes.items() if r['id'] == row['descendant']), None)
        got = (*to, row['main'] == 1) if to else None
        v.same('%d %s: descendant' % (k, name), got, want)
        v.same('%d %s: skipped' % (k, name), row['skipped'], want[0] - k - 1 if want else 0)
        if want:
            progenitors.setdefault(want[:2], []).append((k, name))
    for n, row in nodes.items():
        v.same('%d %s: progenitors' % n, row['progenitors'], len(progenitors.get(n, [])))
    return progenitors


def check_order(v, table):
    """Depth-first order: what is below a node follows it, its main branch first."""
    by_id = {row['id']: row for row in table}
    v.same('depth', [row['depth'] for row in table], list(range(len(table))))
    for at, row in enumerate(table):
        below, leaf = {row['id']}, row
        for other in table[at + 1:]:
            if other['descendant'] not in below:
                break
            below.add(other['id'])
            if other['descendant'] == leaf['id'] and leaf['last'] > leaf['depth']:
                leaf = other if other['depth'] == leaf['depth'] + 1 else leaf
        v.same('%d: last' % row['id'], row['last'], at + len(below) - 1)
        v.same('%d: leaf' % row['id'], row['leaf'], leaf['depth'])
        root = row
        while root['descendant'] > 0:
            root = by_id[root['descendant']]
        v.same('%d: root' % row['id'], row['root'], root['id'])


def same_everywhere(v, paths, text):
    for ranks, threads in ((2, 1), (3, 2), (5, 1)):
        r = inspect(*paths, ranks=ranks, threads=threads)
        v.same('%d ranks, %d threads' % (ranks, threads), (r.err, r.out == text), ('', True))
    other = moving.write('other', np.random.default_rng(11), ncpu=3)
    v.same('another order, 3 files', body(inspect(*other, ranks=2).out) == body(text), True)
    new = []
    for path in paths:
        name = 'h5_' + path[-5:]
        r = ptah.Run([ptah.program('repartition'), '-q', '-o', name, '-f', 'hdf5', path], '.')
        if r.status:
            return  # built without HDF5
        new.append(name)
    v.same('HDF5', body(inspect(*new, ranks=2).out) == body(text), True)


def known(v):
    paths = moving.write('out', np.random.default_rng(3))
    r = inspect('-o', 'growth.svg', *paths)
    v.same('status', (r.status, r.err), (0, ''))
    table = rows(r.out)
    nodes = name_nodes(v, table)
    check_links(v, nodes, jump=True)
    check_order(v, table)
    v.check('last major merger of D', nodes[6, 'D']['major'] - 0.5, 1e-6)
    v.same('no major merger of I', np.isnan(nodes[6, 'I']['major']), True)
    v.check('highest mass of I', nodes[6, 'I']['peak'] / nodes[3, 'I']['mass'] - 1, 1e-6)
    with open('growth.svg') as f:
        v.same('plot', f.read().count('<path') > 10, True)
    same_everywhere(v, paths, r.out)
    check_links(v, name_nodes(v, rows(inspect('--jump', '0', *paths).out)), jump=False)
    few = name_nodes(v, rows(inspect('--most-bound', '10', *paths).out))
    check_links(v, few, jump=True)
    j = json.loads(inspect('-j', *paths).out)
    v.same('JSON', [n['id'] for n in j['nodes']] == [row['id'] for row in table], True)
    piped = subprocess.run([ptah.program('inspect'), '--trees', '-'], input='\n'.join(paths),
                           text=True, stdout=subprocess.PIPE, check=True)
    v.same('standard input', piped.stdout == r.out, True)


# ---- a run ----


def adjacent(table, k):
    """Number of the main progenitor in the checkpoint before, of each clump of checkpoint k."""
    by_id = {row['id']: row for row in table}
    out = {}
    for row in table:
        if row['main'] == 1 and by_id[row['descendant']]['output'] == k and row['skipped'] == 0:
            out[int(by_id[row['descendant']]['number'])] = int(row['number'])
    return out


def run(v):
    ptah.unpack_ics('.', 'ic_32')
    paths = ptah.simulate(BOX, '.', 2, 1, [], ['-q']).outputs[-3:]
    table = rows(inspect('--min', '30', *paths).out)
    halos = ptah.Run([ptah.program('inspect'), '--halos', '--min', '30', paths[-1]], '.').out
    number = int(paths[-1][-5:])
    for h in rows(halos, '#halo'):
        row = next(r for r in table if r['output'] == number and r['number'] == h['halo'])
        v.same('halo %d' % h['halo'], [row[c] for c in ('mass', 'x', 'vy', 'm200m', 'spin')],
               [h[c] for c in ('mass', 'x', 'vy', 'm200m', 'spin')]) if h['m200m'] > 0 else None
    grown = [row for row in table if row['output'] == number and row['leaf'] > row['depth']]
    v.same('most halos have progenitors', len(grown) > 10, True)
    r = inspect('-q', '--by', 'clumps', '--most-bound', '50', *paths)
    v.same('3 ranks', inspect('-q', '--by', 'clumps', '--most-bound', '50', *paths,
                              ranks=3).out == r.out, True)
    clumps, compared = rows(r.out), 0
    for path in paths[1:]:
        k = int(path[-5:])
        with open('%s/mergertree_%05d.txt00001' % (path, k)) as f:
            lines = [line.split() for line in f.readlines()[1:]]
        want = {int(w[0]): int(w[1]) for w in lines if int(w[0]) > 0 and int(w[1]) > 0}
        got = adjacent(clumps, k)
        compared += len(want)
        v.same('%s: main progenitors' % path, got, want)
    v.same('some were compared', compared > 10, True)


# ---- hostile ----


def refused(v, what, says, *argv, ranks=(1,)):
    for n in ranks:
        r = inspect(*argv, ranks=n)
        v.same('%s, %d ranks' % (what, n),
               (r.status, r.out, says in r.err, r.err.count('inspect: ')), (2, '', True, 1))


def hostile(v):
    rng = np.random.default_rng(8)
    a = moving.write('a', rng)
    plain = moving.write('plain', rng, cosmo=False)
    text = inspect(*a).out
    r = inspect(a[2], a[0], *a[3:], a[1])
    v.same('out of order', (r.status, r.out == text, 'sorted' in r.err), (0, True, True))
    refused(v, 'twice', 'of the same time', *a, a[3], ranks=(1, 2))
    refused(v, 'two runs', 'not of one run', *a[:3], plain[0])
    shutil.copytree(a[3], 'damaged')
    part = os.path.join('damaged', 'part_00004.out00001')
    os.truncate(part, os.path.getsize(part) // 2)
    refused(v, 'damaged', 'damaged', *a[:3], 'damaged', *a[4:], '-o', 'x.svg', '--consistent',
            'x.dat', ranks=(1, 2))
    v.same('nothing half written', [f for f in os.listdir('.') if f.startswith('x.')], [])
    refused(v, 'missing', 'nothing', *a[:3], 'nothing', ranks=(2,))
    refused(v, 'no tree of another code without expansion', 'not cosmological', *plain,
            '--consistent', 'x.dat')
    for path, argv in ((a, ('--min', '1000')), (plain, ())):
        r = inspect(*argv, *path)
        v.same('%s %s' % (path[0], argv), (r.status, r.err, len(rows(r.out)) > 0),
               (0, '', not argv))
    r = inspect(*a, '--min', '1000', '-o', 'empty.svg')
    v.same('plot of nothing', (r.status, r.err, os.path.exists('empty.svg')), (0, '', True))
    r = inspect(a[0])
    v.same('one alone', (r.status, len(rows(r.out)) > 0, 'no links' in r.err), (0, True, True))
    any_ramses.write('empty', rng, levelmin=2, levelmax=2, ncpu=1, number=1, tame=True)
    r = inspect('empty', ranks=2)
    v.same('no particles', (r.status, len(rows(r.out))), (0, 0))
    refused(v, 'clumps without particles', 'no particles', '--by', 'clumps', 'empty')
    back = subprocess.run([ptah.program('inspect'), '--trees', '-'], text=True,
                          input='%s\n%s\n' % (a[1], a[0]), capture_output=True)
    v.same('out of order from standard input',
           (back.returncode, back.stdout, 'earlier time' in back.stderr), (2, '', True))
    for argv, says in ((('--jump', '-1'), 'must be 0 to'), (('--most-bound', '0'), 'must be 1 to'),
                       (('--by', 'stars'), 'halos or clumps'), (('-o', 'x.gif'), 'x.gif'),
                       (('--consistent', 'tree'), 'FILE.dat'), (('--set', 'x=1'), '--by clumps')):
        refused(v, ' '.join(argv), says, *argv, *a)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {'known': known, 'run': run, 'hostile': hostile}[sys.argv[1]](verdict)
    verdict.end()
