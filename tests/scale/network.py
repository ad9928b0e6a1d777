"""Clocks of the ranks of a cluster: work, messages, shared memory and collectives move them.

Each rank has a clock. An exchange ends on a rank when its own messages are posted and all messages
to it have arrived, so a rank waits for its neighbours only; a reduction waits for all. Times are
seconds, sizes bytes. What a message costs: `post` of the sender and as much of the receiver; its
latency; its bytes, at the rate of a core's copy within a node, else at the rate of the node's
adapter, which all ranks of the node share; and on an adapter, `gap` for each message.
"""
import os
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

PROGRAM = os.path.join(ptah.ROOT, 'build', 'tests', 'scale', 'scale')


@dataclass(frozen=True)
class Machine:
    name: str
    cores: int           # of a node
    speed: float         # of a core with all cores at work; this machine's is 1
    latency: tuple = (0.6e-6, 1.8e-6)  # within a node, between nodes
    post: tuple = (0.8e-6, 1.2e-6)    # processor time for a message, likewise
    copy: float = 5e9    # bytes per second of a core within a node
    adapter: float = 25e9
    gap: float = 8e-9    # between two messages of an adapter

    def ideal(self):
        """A machine whose messages cost nothing."""
        return replace(self, latency=(0, 0), post=(0, 0), copy=np.inf, adapter=np.inf, gap=0)


class Links:
    """Messages of an exchange, sorted by sender and receiver: source, target, octs."""

    def __init__(self, source, target, octs):
        order = np.lexsort((target, source))
        self.source, self.target, self.octs = source[order], target[order], octs[order]
        self.first = np.searchsorted(self.source, self.source)  # of the same sender
        self.arrivals = np.argsort(self.target, kind='stable')
        self.receivers, self.cuts = np.unique(self.target[self.arrivals], return_index=True)
        self.placed = {}  # by nodes: what depends on them

    def place(self, clock, size):
        """(processor time for each message, its flight without waiting for the adapter, the
        sums of each rank as sender, as receiver, seconds of the adapter), cached."""
        key = (clock.each, clock.windows, clock.machine, size)
        if key not in self.placed:
            m, n = clock.machine, clock.ranks
            a, b, bytes_ = self.source, self.target, self.octs * size
            far = clock.node[a] != clock.node[b]
            post = np.where(far, m.post[1], 0.0 if clock.windows else m.post[0])
            packed = np.where(far | (not clock.windows), bytes_, 0)  # else read where they are
            use = np.where(far, bytes_ / m.adapter + m.gap, 0)
            load = np.maximum(*(np.bincount(clock.node[x], use, clock.nodes)[clock.node[x]]
                                for x in (a, b)))
            # of the messages that share an adapter one waits for half on average
            carried = np.where(far, np.maximum(bytes_ / m.adapter, load / 2), bytes_ / m.copy)
            running = np.concatenate(([0.0], np.cumsum(post)))
            self.placed[key] = (running[1:] - running[self.first],
                                carried + np.where(far, m.latency[1], m.latency[0]),
                                np.bincount(a, post, n) + np.bincount(b, post, n),
                                np.bincount(a, packed, n), np.bincount(b, bytes_, n))
        return self.placed[key]

    def between(self, clock, size):
        """Of messages by gates, one for each pair of nodes (lib/comm/nodes.c): the gates of each
        message, its flight as of `place`; of each rank the messages that it sends and receives as
        a gate, the bytes of its parcels for other nodes and from them; whether it expects any; and
        the mean bytes of a parcel between nodes."""
        key = (clock.each, clock.machine, size, 'gates')
        if key not in self.placed:
            m, n, each = clock.machine, clock.ranks, clock.each
            a, b = clock.node[self.source], clock.node[self.target]
            far, bytes_ = a != b, self.octs * size
            pairs, which = np.unique(a[far] * clock.nodes + b[far], return_inverse=True)
            p, q = pairs // clock.nodes, pairs % clock.nodes
            carried = np.bincount(which, bytes_[far], len(pairs))
            use = carried / m.adapter + m.gap
            load = np.maximum(np.bincount(p, use, clock.nodes)[p],
                              np.bincount(q, use, clock.nodes)[q])
            room = np.minimum(each, n - np.arange(clock.nodes) * each)
            out, come = p * each + q % room[p], q * each + p % room[q]
            self.placed[key] = (out, come,
                                np.maximum(carried / m.adapter, load / 2) + m.latency[1],
                                np.bincount(out, minlength=n), np.bincount(come, minlength=n),
                                np.bincount(self.source[far], bytes_[far], n),
                                np.bincount(self.target[far], bytes_[far], n),
                                np.bincount(self.target, bytes_, n),
                                np.bincount(self.target[far], minlength=n) > 0,
                                bytes_[far].mean() if far.any() else 0)
        return self.placed[key]


class Level:
    """Of each rank: own octs, leaf cells and particles in them, ghosts; and the messages to owners
    of ghosts (`there`) and back."""

    def __init__(self, octs, leaves, parts, source, target, sent):
        self.octs, self.leaves, self.parts = octs, leaves, parts
        self.there, self.back = Links(source, target, sent), Links(target, source, sent)
        self.ghosts = np.bincount(target, sent, len(octs))


def ancestors(mesh, l, base, children=8):
    """Levels below level l of the octs that contain octs of level l: all octs up to the base for a
    level that is not finer, else one for `children` (mean) of each level, on the ranks that have
    octs of level l.
    Messages go between these."""
    if l <= base:
        return mesh
    has, out = mesh[l].octs > 0, {l: mesh[l]}
    for k in range(l - 1, 0, -1):
        m = mesh[k]
        octs = np.minimum(m.octs, np.ceil(out[k + 1].octs / children))
        links, share = m.there, octs.sum() / max(m.octs.sum(), 1)
        both = has[links.source] & has[links.target]
        out[k] = Level(octs, 0 * octs, 0 * octs, links.source[both], links.target[both],
                       links.octs[both] * share)
    return out


def read_links(lines, ranks):
    """Levels by number, from the lines of tests/scale/scale -l."""
    a = np.loadtxt(lines, skiprows=1, ndmin=2)
    levels = {}
    for l in range(1, int(a[:, 1].max()) + 1):
        b = a[a[:, 1] == l]
        own, links = b[b[:, 0] == b[:, 2]], b[b[:, 0] != b[:, 2]]
        columns = [np.bincount(own[:, 0].astype(int), own[:, k], ranks) for k in (3, 4, 5)]
        levels[l] = Level(*columns, links[:, 0].astype(int), links[:, 2].astype(int), links[:, 3])
    return levels


def mesh_on(ranks, what, *options):
    """Levels of a mesh on ranks; options of tests/scale/scale."""
    argv = [PROGRAM, '-l', '-n', str(ranks), *options, what]
    r = subprocess.run(argv, text=True, stdout=subprocess.PIPE)
    if r.returncode:
        sys.exit('%s: exit status %d' % (' '.join(argv), r.returncode))
    return read_links(r.stdout.splitlines(), ranks)


class Clock:
    """Clocks of `ranks` ranks, of which a node has `each`. spent: mean seconds by kind."""

    WHOLE = 16384  # bytes of a parcel that gates do not carry

    def __init__(self, machine, ranks, each, windows=False, gates=False):
        self.machine, self.ranks, self.windows = machine, ranks, windows
        self.gates = gates and 1 < each < ranks  # whether exchanges may go by them
        self.node = np.arange(ranks) // each
        self.nodes = -(-ranks // each)
        self.each = min(each, ranks)
        self.t = np.zeros(ranks)
        self.spent = {'work': 0.0, 'ghosts': 0.0, 'messages': 0.0, 'waits': 0.0}

    def _move(self, t, kind):
        self.spent[kind] += float(np.mean(t - self.t))
        self.t = t

    def work(self, seconds, kind='work'):
        self._move(self.t + seconds, kind)

    def exchange(self, level, size, pack=0.0, between=0.0, back=False, loop=0.0):
        """One message to each receiver, `size` bytes an oct. pack: processor seconds per byte of
        packing, and of unpacking. between: work of each rank while messages are in flight. back:
        from the receivers to the owners. loop: work of each rank for the call."""
        links = level.back if back else level.there
        self.work(loop, 'messages')
        if len(links.source) and self.gates and links.between(self, size)[-1] <= self.WHOLE:
            self._faster(links, size, pack, between)
        else:
            self._direct(links, size, pack, between)

    def _faster(self, links, size, pack, between):
        """By the one of two transports with which the last rank is ready earlier, as the tuner of
        lib/comm finds."""
        t, spent = self.t, dict(self.spent)
        self._direct(links, size, pack, between)
        direct = self.t, self.spent
        self.t, self.spent = t, spent
        self._gated(links, size, pack, between)
        if direct[0].max() <= self.t.max():
            self.t, self.spent = direct

    def _node_last(self, t):
        """The latest of each node."""
        last = np.full(self.nodes, -np.inf)
        np.maximum.at(last, self.node, t)
        return last

    def _gated(self, links, size, pack, between):
        """Ranks copy what leaves the node into their windows; when all have, the gates of the node
        send one message to each node; when these have arrived, ranks copy what they need."""
        m = self.machine
        out, come, flight, sends, receives, leave, enter, received, expects, _ = links.between(
            self, size)
        self.work(leave * (pack + 1 / m.copy), 'ghosts')
        posted = self._node_last(self.t)[self.node] + m.latency[0]
        self.work(between)
        self._move(np.maximum(self.t, posted), 'waits')
        self.work(sends * m.post[1], 'messages')
        self.work(np.bincount(out, flight * 0 + leave.sum() / max(len(out), 1), self.ranks) /
                  m.copy, 'ghosts')
        sent = self.t
        arrived = np.zeros(self.ranks)
        np.maximum.at(arrived, come, sent[out] + flight)
        self._move(np.maximum(self.t, arrived), 'waits')
        self.work(receives * m.post[1], 'messages')
        there = self._node_last(np.where(receives > 0, self.t, -np.inf))[self.node] + m.latency[0]
        self._move(np.maximum(self.t, np.where(expects, there, 0)), 'waits')
        self.work(received * pack + enter / m.copy, 'ghosts')

    def _direct(self, links, size, pack, between):
        if len(links.source):
            before, flight, posts, sent, received = links.place(self, size)
            self.work(sent * pack, 'ghosts')
            arrive = (self.t[links.source] + before + flight)[links.arrivals]
            arrived = np.zeros(self.ranks)
            arrived[links.receivers] = np.maximum.reduceat(arrive, links.cuts)
            self.work(posts, 'messages')
            self.work(between)
            self._move(np.maximum(self.t, arrived), 'waits')
            self.work(received * pack, 'ghosts')
        else:
            self.work(between)

    def _tree(self):
        """Latencies of a walk to all ranks along a tree."""
        m = self.machine
        deep = np.ceil(np.log2(max(self.each, 1))), np.ceil(np.log2(max(self.nodes, 1)))
        return sum(d * (l + 2 * p) for d, l, p in zip(deep, m.latency, m.post))

    def reduce(self, size=8):
        """A reduction over all ranks, of which all wait for the last."""
        if self.ranks > 1:
            self._move(np.full(self.ranks, self.t.max()), 'waits')
            self.work(self._tree() + size / self.machine.copy, 'messages')

    def transpose(self, messages, size, pack, near=False):
        """Each rank sends `size` bytes in all to `messages` ranks, and receives as many; near: to
        ranks of its node."""
        if self.ranks > 1:
            self._move(np.full(self.ranks, self.t.max()), 'waits')
            m, far = self.machine, self.nodes > 1 and not near
            rate = max(size / m.copy, far * self.each * (size / m.adapter + messages * m.gap))
            self.work(2 * size * pack, 'ghosts')
            self.work(2 * messages * m.post[far] + m.latency[far] + rate, 'messages')

    def alltoall(self, size=4):
        """A table with an entry for each rank, by the algorithm of Bruck: as many rounds as a tree
        has levels, each with half of the table."""
        if self.ranks > 1:
            self._move(np.full(self.ranks, self.t.max()), 'waits')
            m, table = self.machine, size * self.ranks / 2
            rounds = np.ceil(np.log2(self.ranks))
            shared = self.each * (table / m.adapter + m.gap)
            far = 0 if self.nodes == 1 else max(m.latency[1], shared)
            self.work(rounds * (2 * m.post[0] + max(m.latency[0], far) + 2 * table / m.copy),
                      'messages')

    @property
    def seconds(self):
        return float(self.t.max())
