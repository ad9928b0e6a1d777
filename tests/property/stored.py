"""Data of other codes pass through convert and repartition unchanged: every bit of every field of
every cell and particle, whatever its meaning.

    stored.py CASE...     of CASES below; the outputs are random (tests/any_ramses.py), the seed is
                          printed and may be given as SEED=N

Each output is converted to RAMSES files for other ranks, to HDF5 and back, and is read by
tests/golden/whole_ramses.py. Examples of faults caught: pressure computed from energy, a
value taken from a ghost, a variable without a name left out, cells of a flat oct taken for eight.

"""
# test: gas tier=quick timeout=60
# test: mhd many flat line tier=check timeout=180 ranks=2
# test: walls few particles tier=check timeout=180 ranks=2
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import any_ramses  # noqa: E402
import ptah  # noqa: E402
import whole_ramses as whole  # noqa: E402

GAS = ['density', 'velocity_x', 'velocity_y', 'velocity_z', 'pressure']
MAGNETIC = ['B_%s_%s' % (d, s) for d in 'xyz' for s in ('left', 'right')]
MHD = GAS[:4] + MAGNETIC + ['pressure']
WALLS = """&BOUNDARY_PARAMS
nboundary=6
ibound_min=-1,+1, 0, 0, 0, 0
ibound_max=-1,+1, 0, 0, 0, 0
jbound_min= 0, 0,-1,+1, 0, 0
jbound_max= 0, 0,-1,+1, 0, 0
kbound_min= 0, 0, 0, 0,-1,+1
kbound_max= 0, 0, 0, 0,-1,+1
bound_type=1,2,2,1,1,2
/
"""
MANY = ['metallicity', 'scalar_00', 'xHII', 'xHeII', 'non_thermal_energy_00', 'something', 'else_']
EXTRA = [('potential', 'd'), ('birth_time', 'd'), ('metallicity', 'd'), ('partp', 'i'),
         ('wide', 'q'), ('short', 'h'), ('small', 'b')]
CASES = {
    'gas': dict(names=GAS, ngrav=4, ncpu=3),
    'mhd': dict(names=MHD + ['scalar_00'], ngrav=4, ncpu=2),
    'many': dict(names=GAS + MANY, ngrav=5, ncpu=2),
    'few': dict(names=['density', 'velocity_x', 'pressure'], ngrav=3, ncpu=2),
    'flat': dict(names=['density', 'velocity_x', 'velocity_y', 'pressure', 'scalar_00'], ngrav=3,
                 ncpu=3, ndim=2, levelmin=3, levelmax=7, npart=500, columns=EXTRA),
    'line': dict(names=['density', 'velocity_x', 'pressure'], ngrav=2, ncpu=2, ndim=1, levelmin=4,
                 levelmax=10, npart=100),
    'walls': dict(names=GAS, ngrav=4, ncpu=2, walls=True, namelist=WALLS),
    'particles': dict(npart=3000, columns=EXTRA, ncpu=3),
}


def program(v, name, path, out, *options, ranks=1):
    r = ptah.Run(ptah.mpirun(ranks) + [ptah.program(name), '-q', *options, '-o', out, path], '.',
                 {'OMP_NUM_THREADS': '1'}, 60)
    if not v.same('%s to %s: status' % (path, out), r.status, 0):
        print(r.err)
        v.end()
    return out


def same_level(x, y):
    return all(p.shape == q.shape and np.array_equal(p, q) for p, q in zip(x, y))


def bits(column):
    """Integers of any width are compared as 64-bit integers."""
    return column.astype('<i8' if column.dtype.kind == 'i' else column.dtype).tobytes()


def same(v, what, a, b):
    for kind in (None, *a.file[0].value):
        x = whole.cells(a, kind)
        y = whole.cells(b, kind) if kind is None or kind in b.file[0].value else {}
        bad = [l for l in x if l not in y or not same_level(x[l], y[l])]
        n = sum(p[1].size for p in x.values())
        v.same('%s: %s, levels of %d that differ, of %d values' % (what, kind or 'tree', len(x), n),
               bad, [])
    v.same(what + ': names', b.names, a.names)
    if a.file[0].value.get('hydro'):
        v.same(what + ': gamma', b.gamma, a.gamma)
    v.same(what + ': links', whole.links(b), [])
    v.same(what + ': coarse cells, boundaries', (b.n, b.nboundary), (a.n, a.nboundary))
    if a.part is None:
        v.same(what + ': no particles', b.part, None)
        return
    p, q = whole.particles(a), whole.particles(b)
    v.same(what + ': columns', sorted(q), sorted(p))
    bad = [c for c in p if c not in q or bits(p[c]) != bits(q[c])]
    v.same('%s: columns of %d particles that differ' % (what, len(p['identity'])), bad, [])


def run(v, case, seed):
    source = case
    any_ramses.write(source, np.random.default_rng(seed), **CASES[case])
    a = whole.load(source)
    for n in (1, 3):
        path = program(v, 'repartition', source, '%s.%d' % (case, n), '-n', str(n))
        same(v, '%s for %d' % (case, n), a, whole.load(path))
    path = program(v, 'convert', source, case + '.r', '-f', 'ramses', '-n', '2', ranks=2)
    same(v, case + ' converted', a, whole.load(path))
    if 'libhdf5' not in ptah.Run(['ldd', ptah.program('convert')], '.').out:
        return
    program(v, 'convert', source, case + '.h5', '-f', 'hdf5')
    path = program(v, 'repartition', case + '.h5', case + '.back', '-n', '2')
    same(v, case + ' through HDF5', a, whole.load(path))
    program(v, 'convert', case + '.h5', case + '.h6', '-f', 'hdf5', '-z', '3', ranks=2)
    path = program(v, 'convert', case + '.h6', case + '.twice', '-f', 'ramses')
    same(v, case + ' twice through HDF5', a, whole.load(path))


def maps(v, seed):
    """A map of a two-dimensional checkpoint: pixels of the finest level, each with the value of its
    leaf cell."""
    levelmax = 6
    any_ramses.write('maps', np.random.default_rng(seed), ndim=2, levelmin=3, levelmax=levelmax,
                     names=['density', 'velocity_x', 'velocity_y', 'pressure'], tame=True)
    s = whole.load('maps')
    n = 2 ** levelmax
    expected = np.zeros((n, n))
    tree, gas = whole.cells(s, None), whole.cells(s, 'hydro')
    for l in gas:
        side, width = 2 ** (l - 1) + 2, 2 ** (levelmax - l)
        for at, split, value in zip(gas[l][0], tree[l][1], gas[l][1].view('<f8')):
            x = [at // side - 1, at % side - 1]
            for c in np.flatnonzero(~split):
                u, w = (2 * x[0] + (c & 1)) * width, (2 * x[1] + (c >> 1)) * width
                expected[w:w + width, u:u + width] = value[c, 0]
    r = ptah.Run([ptah.program('inspect'), '-q', '-m', 'density', '-n', str(n), '-o', 'maps.npy',
                  'maps'], '.', timeout=60)
    if v.same('map of two dimensions: status', r.status, 0):
        v.check('map of two dimensions', np.abs(np.load('maps.npy') - expected).max(), 1e-12)
    else:
        print(r.err)


def told(v):
    """A file of radiation that has nothing in it is an error."""
    open(os.path.join('gas', 'rt_00007.out00001'), 'w').close()
    r = ptah.Run([ptah.program('convert'), '-f', 'ramses', '-o', 'told', 'gas'], '.',
                 {'OMP_NUM_THREADS': '1'}, 60)
    v.same('an empty file of radiation is refused', (r.status, 'rt_00007.out' in r.err),
           (2, True))


if __name__ == '__main__':
    verdict = ptah.Verdict()
    start = int(os.environ.get('SEED', random.randrange(10 ** 6)))
    print('SEED=%d' % start)
    for name in sys.argv[1:]:
        run(verdict, name, start)
    if 'gas' in sys.argv[1:]:
        told(verdict)
        maps(verdict, start)
    verdict.end()
