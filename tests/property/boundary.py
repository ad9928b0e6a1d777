"""RAMSES binary files of a box with boundaries contain the octs beyond the boundary that RAMSES
stores, with its links and the values of its boundary conditions, so that RAMSES restarts from them.

    boundary.py places        the tree of a RAMSES run on two ranks with six boundaries
                              (tests/data/variants/boundaries.tar.xz), through repartition and
                              convert: level, place and region of every oct beyond the boundary
    boundary.py values RANKS  a run of Ptah: boundary values follow the rules of RAMSES, which are
                              repeated below; they are unchanged after conversion to HDF5 and back,
                              and for other ranks
    boundary.py leave RANKS   particles that leave the box just before a load balance are gone after
                              it, as on one rank: the same digests, and as many in the log

RAMSES is not at hand in a test. In November 2026 (RAMSES 87c803b5) it restarted from files of
`simulate`, `repartition` and `convert` of tests/data/golden/amr_walls.nml and selfgrav_walls.nml on
1 and 2 ranks, and after 8 more steps differed from a restart of its own output by 4e-13 at most.
Examples of faults caught: lists of two regions exchanged, edges and corners forgotten, cells
not mirrored, the normal velocity with its old sign, boundaries counted as octs of the box, a
balance that knows no particles beyond a boundary.
"""
# test: places tier=quick timeout=60
# test: values 1 tier=check timeout=120
# test: values 2 tier=check timeout=120 ranks=2
# test: leave 3 tier=quick timeout=60 ranks=3
import os
import sys
import tarfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ptah  # noqa: E402
import whole_ramses as whole  # noqa: E402

REFLECT, OUTFLOW, IMPOSED = 1, 2, 3
TYPES = [REFLECT, OUTFLOW, OUTFLOW, REFLECT, IMPOSED, IMPOSED]  # amr_walls.nml: -x +x -y +y -z +z
STATE = [1.5, 0.2, 0.1, -0.1, 2.0]


def program(name, path, out, *options, ranks=1):
    argv = [ptah.program(name), '-q', '--force', *options, '-o', out, path]
    r = ptah.Run(ptah.mpirun(ranks) + argv, '.', {'OMP_NUM_THREADS': '1'}, 60)
    if r.status != 0:
        print(' '.join(r.argv), r.err)
        sys.exit(1)
    return out


def has_hdf5():
    return 'libhdf5' in ptah.Run(['ldd', ptah.program('convert')], '.').out


def same_places(v, what, s, expected):
    found = whole.beyond(s, None)
    v.same(what + ': coarse cells, regions', (s.n, s.nboundary), ([3, 3, 3], 6))
    v.same(what + ': links', whole.links(s), [])
    for l, (at, region, _) in expected.items():
        good = (l in found and np.array_equal(at, found[l][0]) and
                np.array_equal(region, found[l][1]))
        v.same('%s: level %d, %d octs beyond the boundary' % (what, l, len(at)), good, True)
    v.same(what + ': levels', sorted(found), sorted(expected))


def places(v):
    with tarfile.open(os.path.join(ptah.DATA, 'variants', 'boundaries.tar.xz')) as t:
        t.extractall('.')
    theirs = whole.load('output_00002')
    expected, tree = whole.beyond(theirs, None), whole.cells(theirs, None)
    v.same("RAMSES's own: links", whole.links(theirs), [])
    v.same('octs on edges and at corners', len(expected[1][0]), 26)
    for n in (1, 2, 3):
        s = whole.load(program('repartition', 'output_00002', 'to%d' % n, '-n', str(n)))
        same_places(v, 'for %d ranks' % n, s, expected)
        ours = whole.cells(s, None)
        v.same('for %d ranks: tree of the box' % n,
               all(np.array_equal(a, b) for l in tree for a, b in zip(tree[l], ours[l])), True)
    if has_hdf5():
        program('convert', 'to3', 'h5', '-f', 'hdf5')
        back = whole.load(program('convert', 'h5', 'back', '-f', 'ramses'))
        same_places(v, 'through HDF5', back, expected)


def rule(boxed, x, l, cell):
    """Expected value of cell `cell` of the oct beyond the boundary at x, by the rules of RAMSES:
    the reference of its region is the next oct towards the box."""
    n = 2 ** (l - 1)
    away = [d for d in range(3) if not 0 <= x[d] < n]
    if not away:
        return boxed[tuple(x)][cell].copy()
    d = away[-1]  # regions along z include the edges along y, and those along y the edges along x
    face = 2 * d + (x[d] > 0)
    kind, bit = TYPES[face], 1 << d
    if kind == IMPOSED:
        return np.array(STATE)
    inner = list(x)
    inner[d] += 1 if x[d] < 0 else -1
    if kind == REFLECT:
        value = rule(boxed, inner, l, cell ^ bit)
        value[1 + d] = -value[1 + d]
        return value
    return rule(boxed, inner, l, cell & ~bit if x[d] < 0 else cell | bit)


def compare(v, what, s):
    inside, outside = whole.cells(s, 'hydro'), whole.beyond(s, 'hydro')
    v.same(what + ': links', whole.links(s), [])
    for l, (at, _, bits) in outside.items():
        side = 2 ** (l - 1) + 2
        place = inside[l][0]
        split = np.stack([place // side ** 2, place // side % side, place % side], 1) - 1
        boxed = {tuple(x): b.view('<f8') for x, b in zip(split, inside[l][1])}
        touching = {tuple(x) for x in split}
        worst = 0
        for a, b in zip(at, bits.view('<f8')):
            x = [int(a // side ** 2 - 1), int(a // side % side - 1), int(a % side - 1)]
            want = np.array([rule(boxed, x, l, c) for c in range(8)])
            worst = max(worst, np.abs(want - b).max())
        n = 2 ** (l - 1)
        v.same('%s: level %d, number' % (what, l), len(at), count_beyond(touching, n))
        v.check('%s: level %d, %d octs' % (what, l, len(at)), worst, 1e-14)


def count_beyond(octs, n):
    total = 0
    for x in octs:
        images = 1
        for d in range(3):
            images *= 1 + (x[d] == 0) + (x[d] == n - 1)
        total += images - 1
    return total


def all_bits(s):
    return {kind: (whole.cells(s, kind), whole.beyond(s, kind)) for kind in s.file[0].value}


def same_bits(v, what, a, b):
    for kind in a:
        for part, name in ((0, 'box'), (1, 'beyond')):
            good = all(np.array_equal(x, y) for l in a[kind][part]
                       for x, y in zip(a[kind][part][l], b[kind][part][l]))
            v.same('%s: %s, %s' % (what, kind, name),
                   good and sorted(a[kind][part]) == sorted(b[kind][part]), True)


def values(v, ranks):
    with open(os.path.join(ptah.DATA, 'golden', 'amr_walls.nml')) as f:
        run = ptah.simulate(f.read(), '.', ranks,
                            settings=['run_params/nstepmax=4', 'output_params/foutput=4'])
    s = whole.load(run.outputs[-1])
    compare(v, '%d ranks' % ranks, s)
    with open(os.path.join(ptah.DATA, 'golden', 'selfgrav_walls.nml')) as f:
        heavy = ptah.simulate(f.read(), '.', ranks,
                              settings=['run_params/nstepmax=2', 'output_params/foutput=2'],
                              options=['-o', 'heavy'])
    for path in (run.outputs[-1], heavy.outputs[-1]):
        bits = all_bits(whole.load(path))
        out = program('repartition', path, 'to', '-n', '3')
        same_bits(v, 'for 3 ranks', bits, all_bits(whole.load(out)))
        if has_hdf5():
            program('convert', path, 'h5', '-f', 'hdf5')
            same_bits(v, 'through HDF5', bits,
                      all_bits(whole.load(program('convert', 'h5', 'back', '-f', 'ramses'))))


OPEN_X = """&BOUNDARY_PARAMS
nboundary=2
ibound_min=-1,1
ibound_max=-1,1
bound_type=2,2
/
"""


def leave(v, ranks):
    rng = np.random.default_rng(4)
    os.makedirs('ics')
    np.savetxt('ics/ic_part', np.column_stack([
        rng.uniform(-0.49, 0.49, (400, 3)), rng.normal(0, 1.5, (400, 3)), np.full(400, 1e-4)]))
    text = ptah.ascii_box((3, 4), 6, 3, 'm_refine=1e-3', '', '../ics') + OPEN_X
    runs = [ptah.simulate(text, folder, n, settings=['run_params/nremap=1'])
            for folder, n in (('one', 1), ('more', ranks))]
    gone = [[line for line in r.err.splitlines() if 'left the box' in line] for r in runs]
    v.same('some leave', len(gone[0]) > 2, True)
    v.same('as many', gone[1] == gone[0], True)
    for a, b in zip(*(r.outputs for r in runs)):
        v.same('lines of the digest that differ',
               ptah.changed(ptah.digest(b), ptah.digest(a)), [])


if __name__ == '__main__':
    verdict = ptah.Verdict()
    if sys.argv[1] == 'places':
        places(verdict)
    elif sys.argv[1] == 'leave':
        leave(verdict, int(sys.argv[2]))
    else:
        values(verdict, int(sys.argv[2]))
    verdict.end()
