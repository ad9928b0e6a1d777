"""Checks of domain decompositions for up to a million ranks by build/tests/scale/scale
(tests/scale/scale.c).

    scale.py laws|million|real|CHECKPOINT…

laws: 64 to 1024 ranks. million: up to 10^6 ranks. real: counted MPI calls of a ghost exchange on 1
to 12 ranks agree with the prediction. With a checkpoint, the tables of docs/scaling.md.

Examples of faults caught: a factor left in the tree, a walk that stops a level early, a walk that
passes on what has arrived, a balancer that ignores costs, messages counted by octs.
"""
# test: laws tier=check timeout=120
# test: real tier=check timeout=120 ranks=4
# test: million tier=long timeout=1800
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

PROGRAM = os.path.join(ptah.ROOT, 'build', 'tests', 'scale', 'scale')
with open(os.path.join(ptah.ROOT, 'lib', 'comm', 'transports.def')) as table_file:
    TRANSPORTS = re.findall(r'^TRANSPORT\((\w+)', table_file.read(), re.M)
WALK = {1: 0, 2: 1, 3: 2, 4: 2, 5: 4, 6: 3, 7: 6, 8: 3, 12: 4, 1024: 10, 100000: 25, 1000000: 30,
        1 << 20: 20}
PRIME, PRIME_MOST = 999983, 20
CLUSTERS_WEIGHT = 1.442578e6  # of cuRAMSES's benchmark, 64^3 cells
# Faces of a mesh of N^3 on R ranks: partners and surface over volume, k-section and Hilbert (Kim
# 2026, section 8.6.1, and its program).
FACES = {(64, 12): {'ksection': (4.0, 0.2188), 'hilbert': (4.67, 0.2589)},
         (128, 4): {'ksection': (2.0, 0.0625), 'hilbert': (2.0, 0.0625)}}
FACES_LONG = {(1024, 96): {'ksection': (6.0, 0.0273), 'hilbert': (8.71, 0.0329)}}
IMBALANCE = 0.05
# a cube in a grid of cubes has 26 neighbours, and 98 second neighbours
PARTNERS, PARTNERS_FEW = 26, 124
# bounds: bytes of the tree per rank; scratch of a thread, for the Hilbert curve
TREE_BYTES, SCRATCH = 16, 65536
# numbers of ranks for which equal volumes and equal costs of a uniform mesh have the same cuts
EVEN = (2, 4, 8)
CUTS = {'ksection': 3, 'hilbert': 1}


def table(*arguments):
    """Lines of the program as dicts."""
    if not os.access(PROGRAM, os.X_OK):
        ptah.skip('%s is not built' % PROGRAM)
    r = subprocess.run([PROGRAM, *map(str, arguments)], text=True, stdout=subprocess.PIPE)
    if r.returncode:
        sys.exit('scale %s: exit status %d' % (' '.join(map(str, arguments)), r.returncode))
    with open('table.tsv', 'w') as f:
        f.write(r.stdout)
    print(r.stdout)
    return ptah.read_tsv('table.tsv')


def ranks(numbers):
    return ','.join(map(str, numbers))


def check_walk(v):
    for d in table('-n', ranks(list(WALK) + [PRIME]), 'walk'):
        if d['ranks'] == PRIME:
            v.check('%d ranks: messages of a walk' % PRIME, d['walk_max'], PRIME_MOST)
        else:
            v.same('%d ranks: messages of a walk' % d['ranks'],
                   (d['walk_min'], d['walk_max']), (WALK[d['ranks']],) * 2)
            # an item is sent on each level unless it is in the right child already
            factors = [int(k) for k in str(d['factors']).split('·') if k]
            hops = sum(1 - 1 / k for k in factors)
            v.check('%d ranks: hops' % d['ranks'], abs(d['hops'] - hops), 1e-6)


def check_faces(v, want):
    for (n, size), kinds in want.items():
        for d in table('-n', size, 'faces:%d' % n):
            partners, surface = kinds[d['domains']]
            name = '%d^3 on %d ranks, %s: ' % (n, size, d['domains'])
            v.check(name + 'partners', abs(d['partners'] - partners), 0.01)
            v.check(name + 'surface over volume', abs(d['surface_volume'] - surface), 1e-4)


def check_field(v, rows):
    """Laws of every row. Costs: no load exceeds the mean by more than the grain explains, which is
    known if all ranks were examined. Partners: of ranks with a sufficient number of octs."""
    for d in rows:
        name = '%s, %d ranks: ' % (d['domains'], d['ranks'])
        if d['sampled'] == d['ranks']:
            limit = max(IMBALANCE, CUTS[d['domains']] * d['grain'])
            v.check(name + 'largest cost', d['cost_max'] - 1, limit)
        v.check(name + 'partners', d['partners'], PARTNERS if d['octs'] > 200 else PARTNERS_FEW)
        v.check(name + 'bytes of the walk over direct ones, over levels',
                d['walk_bytes'] / d['bytes'] / d['walk_max'], 1)
        v.check(name + 'direct bytes over those of the walk', d['bytes'] / d['walk_bytes'], 1)
        v.check(name + 'octs of all over those of ranks',
                abs(d['octs'] * d['ranks'] / d['octs_all'] - 1), 0.15)
        v.check(name + 'bytes of the tree per rank', (d['tree'] - SCRATCH) / d['ranks'], TREE_BYTES)


def counted(ranks, cells, windows):
    """Rows of mpicount for one exchange of one variable, by (domains, transport)."""
    program = os.path.join(ptah.ROOT, 'build', 'tests', 'bench', 'ghost')
    r = ptah.Run(ptah.mpirun(ranks) + [program, str(cells), '1', '1', str(windows)], '.',
                 {'OMP_NUM_THREADS': '1', **ptah.mpicount('mpi.tsv')})
    if r.status != 0:
        sys.exit(r.err)
    rows, found = ptah.read_tsv('mpi.tsv'), {}
    for i, kind in enumerate(('ksection', 'hilbert')):
        for j, transport in enumerate(TRANSPORTS):
            # interval 0 ends with the first mark; then two exchanges each and the time between
            at = 3 * (len(TRANSPORTS) * i + j) + 2
            if transport != 'nodes':  # within a node it needs windows, and sends nothing
                found[kind, transport] = [d for d in rows if d['interval'] == at]
    return found


def check_real(v, ranks, cells):
    rows = {d['domains']: d for d in table('-n', ranks, 'uniform:%d' % (cells // 2))}
    short = counted(ranks, cells, 1)
    for (kind, transport), mine in counted(ranks, cells, 0).items():
        name = '%d ranks, %s, %s: ' % (ranks, kind, transport)
        sends, sent = [d['sends'] for d in mine], sum(d['bytes'] for d in mine)
        through = short[kind, transport]
        v.same(name + 'messages with windows', [d['sends'] for d in through], sends)
        v.check(name + 'their bytes', sum(d['bytes'] for d in through), sent / 2)
        if transport == 'ksection':
            v.same(name + 'messages', sends, [WALK[ranks]] * ranks)
            if ranks in EVEN:  # payload, and a table of the contents of a message
                v.check(name + 'bytes', abs(sent / rows[kind]['walk_bytes'] / ranks - 1), 0.05)
        elif transport == 'p2p' and ranks in EVEN:
            v.same(name + 'messages', sum(sends), round(rows[kind]['partners'] * ranks))
            v.same(name + 'bytes', sent, rows[kind]['bytes'] * ranks)
        elif transport == 'alltoallv':
            v.same(name + 'calls', [d['alltoall'] for d in mine], [1] * ranks)


def main():
    v, what = ptah.Verdict(), sys.argv[1:]
    if what == ['laws']:
        check_walk(v)
        check_faces(v, FACES)
        rows = table('-n', '64,96,256,1024', 'clusters:64')
        v.check('weight of the clusters', abs(rows[0]['cost_all'] / CLUSTERS_WEIGHT - 1), 1e-6)
        check_field(v, rows)
    elif what == ['real']:
        for ranks in (2, 3, 4, 5, 6, 7, 8, 12):
            check_real(v, ranks, 64)
    elif what == ['million']:
        check_faces(v, FACES_LONG)
        rows = table('-n', '512,4096,32768,999983,1000000', '-s', 512, 'clusters:128')
        check_field(v, rows)
    elif what:
        for path in what:
            table(path)
    else:
        sys.exit(__doc__.strip())
    v.end()


if __name__ == '__main__':
    main()
