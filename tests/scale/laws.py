"""Laws of the model of tests/scale/predict.py, which hold whatever its coefficients: one rank has
its work alone; work is conserved; no cost makes a step faster; who waits for whom.

Examples of faults caught: an exchange that all ranks wait for, a message that leaves before the
sender's earlier ones, an adapter for each rank, windows that are posted, a phase without its share
of the clocks.
"""
# test: tier=check timeout=60
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ptah  # noqa: E402
from codes import Case, Ptah, Ramses, coarse_step  # noqa: E402
from network import Clock, Level, Machine, mesh_on, replace  # noqa: E402
from predict import CASES, predict  # noqa: E402

def ring(ranks, octs, levels=(1, 2, 3)):
    """A mesh whose ranks have two neighbours each."""
    me = np.arange(ranks)
    both = np.concatenate([me, me]), np.concatenate([(me + 1) % ranks, (me - 1) % ranks])
    if ranks == 1:
        both = me[:0], me[:0]
    own = np.full(ranks, octs / ranks)
    return {l: Level(own, 4 * own, 8 * own, *both, np.full(len(both[0]), 5.0)) for l in levels}


def law_of_one_rank(v, code, case):
    """One rank has no messages: its time is its work, proportional to the octs, and to 1/speed."""
    m = Machine('one', 1, 1.0)
    seconds, spent = predict(m, code, ring(1, 1e6), 1, 1, case)
    v.check('%s, one rank: all is work' % code.__name__, abs(seconds / spent['work'] - 1), 1e-6)
    twice, _ = predict(replace(m, speed=2.0), code, ring(1, 1e6), 1, 1, case)
    v.check('a core twice as fast', abs(seconds / twice / 2 - 1), 1e-9)


def law_of_ideal(v, code, case):
    """With a free network the work of all ranks is that of one, and kinds add up to the clocks."""
    m = Machine('ideal', 4, 1.0).ideal()
    one = predict(m, code, ring(1, 1e6), 1, 1, dict(case, remap=0))[1]['work']
    clock = Clock(m, 8, 4)
    coarse_step(code(clock, Case(ring(8, 1e6), **dict(case, remap=0))))
    v.check('%s: work is conserved' % code.__name__, abs(8 * clock.spent['work'] / one - 1), 0.05)
    v.check('kinds add up', abs(sum(clock.spent.values()) / np.mean(clock.t) - 1), 1e-9)


def law_of_growth(v, code, case):
    """No cost makes a step faster."""
    m = Machine('slow', 4, 1.0)
    mesh = ring(8, 1e5)
    least, _ = predict(m.ideal(), code, mesh, 2, 4, case)
    base, _ = predict(m, code, mesh, 2, 4, case)
    v.check('%s: a network costs' % code.__name__, least - base, 0)
    for change in ({'latency': (1e-5, 1e-4)}, {'post': (1e-5, 1e-5)}, {'adapter': 1e7},
                   {'gap': 1e-4}, {'copy': 1e7}):
        more, _ = predict(replace(m, **change), code, mesh, 2, 4, case)
        v.check(next(iter(change)), base - more, 0)
    mesh[3].octs[0] *= 3
    more, _ = predict(m, code, mesh, 2, 4, case)
    v.check('a rank with more octs', base - more, 0)


def law_of_waits(v):
    """A late rank delays its neighbours by one exchange each, all others by a reduction."""
    m = replace(Machine('wait', 8, 1.0).ideal(), latency=(1e-3, 1e-3))
    clock, level = Clock(m, 8, 8), ring(8, 8)[1]
    clock.work(np.where(np.arange(8) == 3, 1.0, 0.0))
    clock.exchange(level, 64)
    want = np.where(abs(np.arange(8) - 3) <= 1, 1.001, 0.001)
    want[3] = 1.0
    v.check('neighbours wait, others do not', abs(clock.t - want).max(), 1e-12)
    clock.exchange(level, 64)
    v.check('their neighbours wait in the next exchange', abs(clock.t[[1, 5]] - 1.002).max(), 1e-12)
    clock.reduce()
    v.check('all wait in a reduction', abs(clock.t - clock.t.max()).max(), 0)


def law_of_messages(v):
    """The k-th message of a rank leaves after k posts: an owner of what all need is late."""
    m = replace(Machine('post', 100, 1.0).ideal(), post=(1e-3, 1e-3))
    others = np.arange(1, 100)
    star = Level(np.ones(100), np.ones(100), np.ones(100), 0 * others, others, np.ones(99))
    clock = Clock(m, 100, 100)
    clock.exchange(star, 64)
    v.check('one sends to all', abs(clock.t[1:] - 1e-3 * others).max(), 1e-12)
    v.check('and has posted all', abs(clock.t[0] - 0.099), 1e-12)


def law_of_adapters(v):
    """Ranks of a node share its adapter; a window needs no message within a node."""
    m = replace(Machine('share', 4, 1.0).ideal(), adapter=1e6)
    near, far = Clock(m, 8, 8), Clock(m, 8, 4)
    for clock in (near, far):
        clock.exchange(ring(8, 8)[1], 64)
    v.check('no adapter within a node', near.t.max(), 0)
    v.check('bytes over the rate', abs(far.t.max() - 5 * 64 / 1e6), 1e-12)
    four = np.arange(4)
    across = Level(*(np.ones(8),) * 3, four, four + 4, np.full(4, 5.0))
    busy = Clock(m, 8, 4)
    busy.exchange(across, 64)
    v.check('four messages share an adapter', abs(busy.t.max() - 4 * 5 * 64 / 1e6 / 2), 1e-12)
    shared = Clock(replace(m, post=(1e-3, 1e-3)), 8, 8, windows=True)
    shared.exchange(ring(8, 8)[1], 64)
    v.check('windows need no posts', shared.t.max(), 0)


def law_of_gates(v):
    """By gates as many messages leave a node as it has partner nodes, and ranks share them; with a
    few ranks that need nobody, or with long parcels, they go to each other as before."""
    m = replace(Machine('gates', 4, 1.0).ideal(), post=(0, 1e-3))
    me = np.arange(16)
    far = [(a, b) for a in me for b in me if a // 4 != b // 4]
    a, b = (np.array(x) for x in zip(*far))
    all_ = Level(*(np.ones(16),) * 3, a, b, np.full(len(a), 5.0))
    by = {}
    for gates in (False, True):
        by[gates] = Clock(m, 16, 4, windows=True, gates=gates)
        by[gates].exchange(all_, 64)
    v.check('twelve messages of each rank', abs(by[False].t - 24e-3).max(), 1e-12)
    v.check('three of a node', abs(by[True].spent['messages'] - 4 * 3 * 2e-3 / 16), 1e-12)
    v.check('at most one of a rank', abs(by[True].t.max() - 2e-3), 1e-12)
    long = Clock(m, 16, 4, windows=True, gates=True)
    long.exchange(all_, 1e4)
    v.check('long parcels go directly', abs(long.t - 24e-3).max(), 1e-12)
    v.check('the faster way is taken', by[True].t.max() - by[False].t.max(), 0)
    late = Clock(m, 16, 4, windows=True, gates=True)
    late.work(np.where(me == 3, 1.0, 0.0))
    late.exchange(all_, 64)
    v.check('who needs a late rank waits', 1 - late.t.min(), 0)


def check_scale(v):
    """The links that tests/scale/scale prints: all octs once, and the ghosts of eight cubes."""
    mesh = mesh_on(8, 'uniform:32', '-u', '1', '-d', 'hilbert')
    last = mesh[max(mesh)]
    v.same('octs', int(last.octs.sum()), 32 ** 3)
    v.same('leaf cells', int(sum(m.leaves.sum() for m in mesh.values())), 8 * 32 ** 3)
    v.same('ghosts of a rank', {int(n) for n in last.ghosts}, {18 ** 3 - 16 ** 3})
    v.same('ranks that receive level 1', len(mesh[1].there.source), 7)


def laws():
    v = ptah.Verdict()
    for code, case in ((Ramses, CASES['sedov-amr'][1]), (Ptah, CASES['sedov-amr'][1]),
                       (Ramses, CASES['cosmo-amr'][1]), (Ptah, CASES['cosmo-amr'][1])):
        case = dict(case, base=2)
        law_of_one_rank(v, code, case)
        law_of_ideal(v, code, case)
        law_of_growth(v, code, case)
    law_of_waits(v)
    law_of_messages(v)
    law_of_adapters(v)
    law_of_gates(v)
    check_scale(v)
    v.end()


if __name__ == '__main__':
    laws()
