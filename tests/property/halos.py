#!/usr/bin/env python3
"""inspect --halos: friends of friends and spheres in a box of 32^3 particles.

    halos.py box     members equal those of scipy's cKDTree; spheres equal sums over particles;
                     simulate writes the same table (dump_halos); the same bytes on any ranks and
                     threads, from any decomposition and format; a region; genzoom --halo
    halos.py gas     gas and stars within spheres, of a box with gas
    halos.py steps   tables of coarse steps (dump_halos_every, dump_pk_every, clumpfind_every) have
                     the rows of those at an output of the same step, on any ranks
    halos.py hostile a link longer than the box, boxes without halos or particles, too little
                     memory

Examples of faults caught: the link in units of the box; spheres of particles alone where there is
gas; a unit of mass without h; halos of a region that reach beyond it.
"""
# test: box tier=check timeout=400 ranks=2
# test: gas tier=check timeout=400 ranks=2
# test: steps tier=check timeout=200 ranks=2
# test: hostile tier=check timeout=200 ranks=2
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'golden'))
import numpy as np  # noqa: E402
from scipy.sparse import coo_matrix  # noqa: E402
from scipy.sparse.csgraph import connected_components  # noqa: E402
from scipy.spatial import cKDTree  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=%s
dump_halos=.true.
halo_min=%d
/
&OUTPUT_PARAMS
noutput=1
aout=%s
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
%s
/
&AMR_PARAMS
levelmin=5
levelmax=%d
/
&HYDRO_PARAMS
gamma=1.6666667
riemann='hllc'
/
&REFINE_PARAMS
m_refine=2*8.
/
"""
SOLAR, KPC = 1.98841e33, 3.0856776e21


def inspect(*argv, ranks=1, threads=1):
    return ptah.Run([*ptah.mpirun(ranks), ptah.program('inspect'), '--halos', *argv], '.',
                    {'OMP_NUM_THREADS': str(threads)})


def rows(text):
    lines = [line.split('\t') for line in text.splitlines()]
    names = [w.split(' ')[0] for w in next(w for w in lines if w[0] == '#halo')]
    table = np.array([w for w in lines if w[0][0] != '#'], float).reshape(-1, len(names))
    return {n: table[:, k] for k, n in enumerate(names)}


def body(text):
    return [line for line in text.splitlines() if not line.startswith(('# source', '# pk of'))]


def make_box(gas=False, least=20):
    ptah.unpack_ics('.', 'ic_32')
    text = BOX % (('.true.', least, 0.3, 'omega_b=0.047', 6) if gas else
                  ('.false.', least, 0.35, '', 7))
    return ptah.simulate(text, '.', 2, 1, [], ['-q']).outputs[-1]


def particles(path):
    p = read_ramses.load(path)
    x = np.array([p.part['position_' + d] for d in 'xyz']).T % 1.0
    return p.info, x, p.part['mass'], p.part['identity'].astype(np.int64)


def wanted_groups(x, ids, least):
    """Members of each halo, as sorted ids, by smallest id."""
    n = len(x)
    pairs = cKDTree(x, boxsize=1).query_pairs(0.2 * n ** (-1 / 3), output_type='ndarray')
    graph = coo_matrix((np.ones(len(pairs), bool), pairs.T), shape=(n, n))
    group = connected_components(graph, directed=False)[1]
    order = np.lexsort((ids, group))
    parts = np.split(ids[order], np.flatnonzero(np.diff(group[order])) + 1)
    return {g[0]: list(g) for g in parts if len(g) >= least}


def members(path):
    halos = np.loadtxt(path, dtype=np.int64, ndmin=2)
    return {h: list(halos[halos[:, 0] == h, 1]) for h in np.unique(halos[:, 0])}


def spheres(v, h, info, x, m):
    """Mass and mean density of the first halos, by sums over particles."""
    unit = info['unit_d'] * info['unit_l'] ** 3 / SOLAR
    worst, dense = 0, 0
    for i in range(10):
        d = x - [h['x'][i], h['y'][i], h['z'][i]]
        r = np.sqrt(((d - np.rint(d)) ** 2).sum(axis=1))
        far = h['r200m'][i] * KPC / info['unit_l']
        worst = max(worst, abs(m[r <= far * (1 + 1e-6)].sum() * unit / h['m200m'][i] - 1))
        dense = max(dense, abs(h['m200m'][i] / unit / (4 * np.pi / 3 * far ** 3) / 200 - 1))
    v.check('mass in spheres', worst, 1e-6)
    v.check('density of spheres', dense, 1e-5)


def same_everywhere(v, path, first):
    for ranks, threads in ((2, 1), (3, 1), (5, 1), (8, 1), (1, 2), (3, 2)):
        r = inspect('--force', '--members', 'm', path, ranks=ranks, threads=threads)
        v.same('%d ranks, %d threads' % (ranks, threads), r.out == first, True)
        with open('m') as a, open('members') as b:
            v.same('%d ranks: members' % ranks, a.read() == b.read(), True)
    for name, *how in (('five', '-n', '5'), ('ksection', '-n', '3', '-d', 'ksection'),
                       ('hdf5', '-f', 'hdf5')):
        r = ptah.Run([ptah.program('repartition'), '-q', '-o', name, *how, path], '.')
        if name == 'hdf5' and r.status:
            continue  # built without HDF5
        v.same(name, body(inspect(name, ranks=2).out) == body(first), True)


def bound(v, path, h):
    """Centres at the most bound member: the same halos, most of them around the same position."""
    r = inspect('--bound', path)
    b = rows(r.out)
    v.same('--bound: halos', (r.status, list(b['id']) == list(h['id'])), (0, True))
    v.same('--bound: 3 ranks', inspect('--bound', path, ranks=3).out == r.out, True)
    d = np.array([b[k] - h[k] for k in 'xyz'])
    info = particles(path)[0]
    far = np.sqrt(((d - np.rint(d)) ** 2).sum(axis=0)) * info['unit_l'] / KPC / h['r200m']
    v.same('--bound: other centres, near the densest', (far > 0).any() and np.nanmedian(far) < 0.5,
           True)


def region(v, path, h):
    at = '%.9f,%.9f,%.9f,0.1' % (h['x'][0], h['y'][0], h['z'][0])
    part = rows(inspect('--sphere', at, path, ranks=2).out)
    d = np.array([h[k] - h[k][0] for k in 'xyz'])
    inside = np.sqrt(((d - np.rint(d)) ** 2).sum(axis=0)) <= 0.1
    v.same('halos of a region', (part['id'] == h['id'][inside]).all(), True)
    v.same('their masses', (part['m200m'] == h['m200m'][inside]).all(), True)


def zoom(v, path, h):
    genzoom = [ptah.program('genzoom'), '-q', '--force', '--trace', path, '--omega-b', '0', '-o',
               'points', '--halo']
    r = ptah.Run([*genzoom, '1', 'ics/ic_32/level_005'], '.')
    v.same('genzoom --halo 1', (r.status, r.err), (0, ''))
    info, x, _, _ = particles(path)
    d = x - [h['x'][0], h['y'][0], h['z'][0]]
    r2 = ((d - np.rint(d)) ** 2).sum(axis=1)
    far = 2 * h['r200m'][0] * KPC / info['unit_l']
    with open('points') as f:
        v.same('particles traced', len(f.readlines()), int((r2 <= far ** 2).sum()))
    r = ptah.Run([*genzoom, '999', 'ics/ic_32/level_005'], '.')
    v.same('no such halo', (r.status, 'lower --halo' in r.err), (2, True))


def box(v):
    path = make_box()
    r = inspect('--members', 'members', '--plot', 'mf.tsv', path)
    v.same('status', (r.status, r.err), (0, ''))
    h = rows(r.out)
    info, x, m, ids = particles(path)
    want, got = wanted_groups(x, ids, 20), members('members')
    v.same('halos', len(h['id']), len(want))
    v.same('members', all(want.get(g[0]) == g for g in got.values()) and len(got) > 10, True)
    v.same('number of members', (h['members'] == [len(want[i]) for i in h['id']]).all(), True)
    mass = m[0] * info['unit_d'] * info['unit_l'] ** 3 / SOLAR
    v.check('mass of members', abs(h['mass'] / (h['members'] * mass) - 1).max(), 1e-6)
    spheres(v, h, info, x, m)
    with open('halos_%s.tsv' % path[-5:]) as f:
        v.same('simulate writes the same', body(f.read()) == body(r.out), True)
    j = json.loads(inspect('-j', path).out)
    v.same('JSON', [q['id'] for q in j['halos']] == list(h['id']), True)
    v.check('JSON: spin', max(abs(np.array([q['spin'] or 0 for q in j['halos']]) -
                                  np.nan_to_num(h['spin']))), 1e-6)
    mf = np.loadtxt('mf.tsv')
    v.same('mass function: all halos', mf[:, 2].sum(), (h['m200m'] > 0).sum())
    v.same('its limits', ((mf[:, 4] <= mf[:, 3]) & (mf[:, 3] < mf[:, 5])).all(), True)
    same_everywhere(v, path, r.out)
    bound(v, path, h)
    region(v, path, h)
    zoom(v, path, h)


def cells(p):
    """(centres, masses) of the leaf cells."""
    start, size = read_ramses.starts(p.level), 0.5 ** p.level
    x = np.zeros((len(start), 3))
    for bit in range(read_ramses.CURVE_LEVELS):
        for k in range(3):
            x[:, k] += (start >> (3 * bit + k) & 1) * 2.0 ** (bit - read_ramses.CURVE_LEVELS)
    return x + size[:, None] / 2, p.cell['density'] * size ** 3


def gas(v):
    path = make_box(gas=True, least=8)
    r = inspect('--min', '8', path)
    h = rows(r.out)
    v.same('status', (r.status, r.err, len(h['id']) > 0), (0, '', True))
    with open('halos_%s.tsv' % path[-5:]) as f:
        v.same('simulate writes the same', body(f.read()) == body(r.out), True)
    v.same('3 ranks', inspect('--min', '8', path, ranks=3).out == r.out, True)
    p = read_ramses.load(path)
    info, x, m, _ = particles(path)
    cell, mass = cells(p)
    unit = info['unit_d'] * info['unit_l'] ** 3 / SOLAR
    worst = worst_gas = 0
    for i in np.flatnonzero(h['mvir'] > 0)[:5]:
        centre = [h[k][i] for k in 'xyz']
        far = h['rvir'][i] * KPC / info['unit_l'] * (1 + 1e-6)
        dark, inside = (q[((d - np.rint(d)) ** 2).sum(axis=1) <= far ** 2].sum() * unit
                        for d, q in ((x - centre, m), (cell - centre, mass)))
        worst_gas = max(worst_gas, abs(inside - h['gas'][i]) / h['mvir'][i])
        worst = max(worst, abs((dark + inside) / h['mvir'][i] - 1))
    v.check('gas in spheres', worst_gas, 1e-6)
    v.check('all mass in spheres', worst, 1e-6)


STEPS = ['run_params/dump_halos_every=2', 'run_params/halo_link=0.9', 'run_params/dump_pk=.true.',
         'run_params/dump_pk_every=1', 'run_params/clumpfind=.true.',
         'run_params/clumpfind_every=2', 'run_params/nstepmax=4', 'output_params/foutput=2',
         'clumpfind_params/ivar_clump=0', 'clumpfind_params/density_threshold=1.1',
         'clumpfind_params/relevance_threshold=1.01', 'clumpfind_params/saddle_threshold=2',
         'amr_params/levelmax=5']


def steps(v):
    ptah.unpack_ics('.', 'ic_32')
    text, found = BOX % ('.false.', 20, 0.35, '', 7), []
    for ranks in (1, 2):
        name = 'steps%d' % ranks
        os.mkdir(name)
        os.symlink('../ics', name + '/ics')
        r = ptah.simulate(text, name, ranks, 1, STEPS, [])
        found.append({f: body(open(os.path.join(name, f)).read()) for f in sorted(os.listdir(name))
                      if '_step_' in f})
        v.same('lines of cost', [w for w in ('halos', 'spectra', 'clumps')
                                 if 'Observer %s:' % w not in r.err], [])
        for f, step, output in (('halos', 2, 2), ('halos', 4, 3), ('pk', 2, 2), ('pk', 4, 3)):
            beside = open(os.path.join(name, '%s_%05d.tsv' % (f, output))).read()
            v.same('%s of step %d' % (f, step),
                   found[-1]['%s_step_%05d.tsv' % (f, step)] == body(beside), True)
    v.same('tables', sorted(found[0]), sorted(
        ['pk_step_%05d.tsv' % k for k in range(5)] +
        ['%s_step_%05d.%s' % (f, k, e) for k in (0, 2, 4)
         for f, e in (('halos', 'tsv'), ('clump', 'txt'), ('halo', 'txt'))]))
    v.same('tables of two ranks', [f for f in found[0] if found[0][f] != found[1].get(f)], [])
    found_halos = rows('\n'.join(found[0]['halos_step_00004.tsv']))['id']
    v.same('halos', len(found_halos) > 0, True)
    v.same('clumps', len(found[0]['clump_step_00004.txt']) > 30, True)


def hostile(v):
    ptah.unpack_ics('.', 'ic_32')
    path = ptah.simulate(BOX % ('.false.', 20, 0.03, '', 6), '.', 2, 1, [], ['-q']).outputs[-1]
    r = inspect('--min', '1000', path)
    v.same('no halos', (r.status, r.err, len(rows(r.out)['id'])), (0, '', 0))
    for ranks in 1, 3:
        h = rows(inspect('--link', '1000', path, ranks=ranks).out)
        v.same('link longer than the box', list(h['members']), [32 ** 3])
    r = inspect('--memory', '1M', path, ranks=2)
    v.same('too little memory', (r.status, 'raise --memory' in r.err), (2, True))
    for argv, says in ((('--link', '0'), 'above 0'), (('--min', '0'), 'must be 1 to'),
                       (('--plot', 'x.gif'), 'FILE.png'), (('--sphere', 'densest,0.1'), 'densest')):
        r = inspect(*argv, path)
        v.same(' '.join(argv), (r.status, says in r.err), (2, True))
    r = ptah.Run([ptah.program('inspect'), '-s', '--min', '3', path], '.')
    v.same('--min without --halos', (r.status, '--halos' in r.err), (2, True))
    path = ptah.simulate(ptah.gas_box('ramses'), 'gas', 1).outputs[-1]
    r = inspect(path, ranks=3)
    v.same('no particles', (r.status, r.err, len(rows(r.out)['id'])), (0, '', 0))


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {'box': box, 'gas': gas, 'steps': steps, 'hostile': hostile}[sys.argv[1]](verdict)
    verdict.end()
