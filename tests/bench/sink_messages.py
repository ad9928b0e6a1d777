"""Counts the MPI traffic of black holes: messages, their bytes, reductions and their bytes, per
rank and coarse step, through MPI's profiling interface (tests/unit/mpicount.h), as the difference
to a run with hardly any black holes. A table on stdout, tab-separated.

    sink_messages.py [RANKS...]    default 2 4 8

The ranks divide a uniform mesh evenly. Every eighth of the box has the same pattern of holes,
`sets` times: one near its corner, one at each of three faces, and others in its interior. `fixed`:
the same holes on all numbers of ranks; `each`: as many for each rank. copies: copies of holes on
other ranks, per rank.

Fails if a rank sends messages to ranks whose cells its holes do not reach, if bytes grow faster
than the number of copies, or if reductions grow with ranks or holes.

Example of a fault caught: holes that all ranks get, an array with a place for every hole that is
summed over all ranks, a message to every rank.
"""
# test: 2 8 tier=check timeout=200 ranks=4
# test: 2 4 8 tier=long timeout=300 ranks=4
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

CASE = """&RUN_PARAMS
hydro=.true.
poisson=.true.
sink=.true.
nremap=0
ordering='ksection'
exchange_method='p2p'
exchange_shared=.false.
exchange_letters=0
nstepmax=3
/
&AMR_PARAMS
levelmin=5
levelmax=6
/
&INIT_PARAMS
nregion=2
region_type(1:2)='square','square'
x_center=0.5,0.3
y_center=0.5,0.3
z_center=0.5,0.3
length_x=10,0.3
length_y=10,0.3
length_z=10,0.3
exp_region=10,10
d_region=1e-7,2e-7
p_region=1e-7,1e-7
/
&OUTPUT_PARAMS
foutput=100
tout=1e9
/
&HYDRO_PARAMS
smallr=1e-16
/
&UNITS_PARAMS
units_density=1.66d-17
units_time=3d14
units_length=3d21
/
&PHYSICS_PARAMS
n_star=1e9
sink_AGN=.true.
drag=.true.
rmerge=1.
rAGN=0.06
/
"""
NUMBERS = ['sends', 'bytes', 'allreduce', 'reduced']
STEP = 2  # coarse step that is measured: holes have accreted, and released energy


def pattern(sets):
    """Positions of the holes; the box is -0.5 to 0.5."""
    cell, places = 1 / 64, []
    for s in range(sets):
        near, far = 0.8 * cell, (9 + 3.5 * s) * cell
        corner = [near + 1.2 * cell * (s == d + 1) for d in range(3)]
        for eighth in range(8):
            side = [eighth >> d & 1 for d in range(3)]
            for x in [corner, (near, far, far), (far, near, far), (far, far, near),
                      (far, far, far), (far, far, far + 2 * cell)]:
                # mirrored in the middle of the box, so that faces there and at the periodic
                # boundary have holes
                places.append([x[d] if side[d] else -x[d] for d in range(3)])
    return places


def copies(places, ranks):
    """(copies of holes on other ranks, number of other ranks that receive any), per rank. A cloud
    and the cells around it have a radius of 3 base cells, and an oct may reach half an oct into
    another domain; the planes between ranks are x = 0 and 0.5, then those of y, then of z."""
    cuts = {2: 1, 4: 2, 8: 3}[ranks]
    total = 0
    for x in places:
        near = sum(min(abs(x[d]), 0.5 - abs(x[d])) < 4 / 32 for d in range(cuts))
        total += 2 ** near - 1
    return total / ranks, 2 ** cuts - 1


def count(ranks, places):
    """Counts of the rank with most messages."""
    folder = 'run'
    os.makedirs(folder)
    with open(os.path.join(folder, 'ic_sink'), 'w') as f:
        for x in places:
            f.write('1e-15 %.17g %.17g %.17g 0 0 0 0 0 0 0 0\n' % tuple(x))
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(CASE)
    table = os.path.join(folder, 'table.tsv')
    r = ptah.Run(ptah.mpirun(ranks) + [ptah.program('simulate'), 'run.nml'], folder,
                 {'OMP_NUM_THREADS': '1', **ptah.mpicount(table)})
    if r.status != 0:
        sys.exit(r.err[-2000:])
    lines = [d for d in ptah.read_tsv(table) if d['interval'] == STEP]
    shutil.rmtree(folder)
    return {k: max(d[k] for d in lines) for k in NUMBERS}


def main():
    v = ptah.Verdict()
    print('\t'.join(['holes', 'ranks', 'sets', 'copies', *NUMBERS, 'bytes/copy', 'sends/rank']))
    each, talks, reductions = [], [], set()
    for ranks in map(int, sys.argv[1:] or ('2', '4', '8')):
        # holes that no other rank needs to know
        few = count(ranks, [(0.2, 0.2, 0.2), (-0.2, -0.2, -0.2)])
        for sets, kind in {ranks // 2: 'each', 4: 'fixed'}.items():
            places = pattern(sets)
            d = {k: n - few[k] for k, n in count(ranks, places).items()}
            n, others = copies(places, ranks)
            each.append(d['bytes'] / n)
            talks.append(d['sends'] / others)
            reductions.add((d['allreduce'], d['reduced']))
            print('\t'.join(map(str, [kind, ranks, sets, n, *[d[k] for k in NUMBERS],
                                      each[-1], talks[-1]])), flush=True)
    v.check('bytes of a copy, most over least', max(each) / min(each), 1.02)
    v.check('messages to a rank, most over least', max(talks) / min(talks), 1.01)
    v.same('reductions beside those of one hole: calls, bytes', reductions, {(0, 0)})
    v.end()


if __name__ == '__main__':
    main()
