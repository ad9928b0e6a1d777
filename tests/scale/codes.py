"""What two codes do in a coarse step: work, exchanges and reductions, level by level, on the clocks
of tests/scale/network.py. Seconds are those of a core of the machine of docs/scaling.md and are
divided by the speed of another. Those of an oct were measured there with one rank, or eight
(docs/scaling.md says how); numbers of calls are those of the codes' sources, of RAMSES as of May
2026.
"""
from dataclasses import dataclass

import numpy as np

from network import ancestors

CELLS = 8
REAL, INT = 8 * CELLS, 4 * CELLS  # bytes of an oct in a message


@dataclass
class Case:
    """A run: its mesh on ranks, levels from `base` on, with `cycles`[l] steps of level l + 1 in a
    step of level l."""
    mesh: dict
    base: int
    cycles: tuple
    gas: bool
    parts: bool
    expand: int = 1      # cells by which flags are widened
    remap: int = 10      # steps between balances
    cycles_mg: int = 4   # V-cycles of a solve
    patch: int = 3       # levels below a refined one until its mask is empty
    children: float = 8  # octs of a level in one that has any, below refined levels

    def __post_init__(self):
        levels = self.mesh if self.parts else {}
        self.below = {l: ancestors(self.mesh, l, self.base, self.children) for l in levels}

    @property
    def finest(self):
        return max(self.mesh)

    def bottom(self, l):
        """The coarsest level of multigrid for level l."""
        return 1 if l <= self.base else max(1, l - self.patch)

    def steps_in(self, l):
        return self.cycles[min(l - self.base, len(self.cycles) - 1)]


class Ramses:
    """RAMSES, one thread a rank: an exchange for each array, over loops of all ranks."""
    ORDER = ('-d', 'hilbert', '-c', 'ramses')
    PACK = 0.6e-9        # a byte
    LOOP = 15e-9         # the four loops over ranks of an exchange, for each rank
    GODUNOV, FLAG, UPDATE = 5.0e-6, 0.70e-6, 0.55e-6      # an own oct
    AUTHORIZE, BUILD, FLAG_GHOST = 1.5e-6, 0.3e-6, 0.2e-6  # a ghost
    BALANCE, BALANCE_GHOST = 4e-6, 4e-6
    SWEEP, RESIDUAL, SOLVE, RHO, FORCE = 0.14e-6, 0.11e-6, 2.3e-6, 0.9e-6, 0.25e-6
    PARTICLE = 0.16e-6   # a kick, or a drift

    def __init__(self, clock, case):
        self.c, self.case, self.speed = clock, case, clock.machine.speed
        self.loop = self.LOOP * clock.ranks / self.speed

    def work(self, seconds, kind='work'):
        self.c.work(seconds / self.speed, kind)

    def send(self, l, times=1, size=REAL, back=False, mesh=None):
        for _ in range(times):
            self.c.exchange((mesh or self.case.mesh)[l], size, self.PACK / self.speed, back=back,
                            loop=self.loop)

    def answer(self, l, times=1):
        """make_virtual_reverse: on levels 1 to 3 ranks answer one after the other, so that the
        owner's messages are handshakes."""
        self.send(l, times, back=True)
        if l <= 3:
            self.send(l, 2 * times, size=0, back=True)

    def arrays(self, l):
        """All arrays of a level: gas, or potential and force."""
        self.send(l, (5 if self.case.gas else 0) + (4 if self.case.parts else 0))

    def build(self, l):
        """build_comm, cpu_map, and the ghosts of all arrays."""
        if l > 1:
            self.answer(l - 1)
            self.send(l - 1, size=INT)
        self.c.alltoall()
        self.send(l, size=4)
        self.send(l, size=INT)
        m = self.case.mesh[l]
        self.work(self.BUILD * m.ghosts, 'ghosts')

    def refine(self, l):
        m = self.case.mesh[l]
        if l == self.case.finest:
            return
        self.work(self.AUTHORIZE * m.ghosts, 'ghosts')
        self.send(l, size=INT)
        self.c.work(10 * self.loop / 4, 'messages')  # loops over all ranks
        for _ in range(4):
            self.c.reduce()

    def flag(self, l, whole=True):
        if l == self.case.finest:
            return
        m = self.case.mesh[l]
        self.work(self.FLAG * m.octs * (1 if whole else 0.3) + self.FLAG_GHOST * m.ghosts)
        self.send(l, 2 + 3 * (1 + self.case.expand) if whole else 1, size=INT)

    def coarse_step(self):
        for l in range(1, self.case.base + 1):
            self.build(l)
            self.arrays(l)
            if l < self.case.base:
                self.refine(l)
        self.step(self.case.base, True)
        for l in range(self.case.base - 1, 0, -1):
            self.arrays(l)
            self.flag(l, False)
        self.c.reduce()

    def balance(self):
        """A balance: three passes of flags, refinements and communicators over all levels."""
        for l in self.case.mesh:
            m = self.case.mesh[l]
            self.work(self.BALANCE * m.octs)
            self.work(self.BALANCE_GHOST * m.ghosts, 'ghosts')
            for _ in range(2):
                self.flag(l, False)
                self.refine(l)
                self.build(l)
            self.build(l)
            self.send(l, 2, size=INT)
            self.arrays(l)
        self.c.reduce()

    def step(self, l, refining):
        case, m = self.case, self.case.mesh[l]
        if refining:
            for i in range(l, case.finest + 1):
                if i > case.base:
                    self.build(i)
                    self.arrays(i)
                self.refine(i)
        if case.parts:
            self.gravity(l)
        self.work(0.3 * self.UPDATE * m.octs)
        for _ in range(5):
            self.c.reduce()
        if l < case.finest:
            for k in range(case.steps_in(l)):
                self.step(l + 1, k > 0)
        if case.gas:
            self.work(self.GODUNOV * m.octs)
            self.answer(l, 5)
            self.work(0.7 * self.UPDATE * m.octs)
            self.send(l, 5)
        if case.parts:
            self.work(self.PARTICLE * m.parts)
        self.flag(l)

    def gravity(self, l):
        case, m = self.case, self.case.mesh[l]
        self.work(self.RHO * (m.octs + m.ghosts))
        self.answer(l, 2)
        self.send(l, 2)
        for _ in range(2):  # particles that leave
            self.c.alltoall()
            self.send(l)
        self.work(self.PARTICLE * m.parts)
        self.multigrid(l)
        self.work(self.FORCE * m.octs)
        self.send(l, 3)

    def multigrid(self, l):
        mesh = self.case.below[l]
        self.work(self.SOLVE * self.case.mesh[l].octs)
        self.send(l, 2)
        for k in range(l, self.case.bottom(l), -1):  # communicators of parents, masks
            for _ in range(2):
                self.c.alltoall()
                self.send(k, 3, size=4, mesh=mesh)
            self.send(k - 1, back=True, mesh=mesh)
            self.send(k - 1, mesh=mesh)
            self.c.reduce()
        for _ in range(self.case.cycles_mg):
            self.cycle(l, mesh, self.case.bottom(l))
            self.c.reduce()

    def cycle(self, l, mesh, bottom):
        """A V-cycle: two sweeps of red and black cells before and after the correction."""
        octs = mesh[l].octs
        for half in range(2):
            for _ in range(4):
                self.work(self.SWEEP / 2 * octs)
                self.send(l, mesh=mesh)
            if half == 0:
                self.work(self.RESIDUAL * octs)
                self.send(l, mesh=mesh)
                if l > bottom:
                    self.send(l - 1, back=True, mesh=mesh)
                    self.cycle(l - 1, mesh, bottom)
                self.work(self.RESIDUAL * octs)
                self.send(l, mesh=mesh)


class Ptah:
    """Ptah: one message for all that a phase needs, windows within a node, the base level by
    Fourier transforms, levels of few octs solved by every rank."""
    ORDER = ('-d', 'ksection', '-c', 'memory')
    PACK = 0.4e-9        # a byte
    GODUNOV, COURANT, FLAG, REFINE = 0.61e-6, 0.09e-6, 0.09e-6, 0.045e-6  # an own oct
    GHOST, MOVE = 0.05e-6, 1.0e-6  # a ghost that is refined; an oct or ghost in a balance
    SWEEP, RHO, FORCE, FOURIER = 0.011e-6, 0.03e-6, 0.025e-6, 0.4e-6
    DEPOSIT, KICK = 0.02e-6, 0.027e-6  # a particle
    SHARED = 2048        # octs of a multigrid level that every rank solves, below another level

    def __init__(self, clock, case):
        self.c, self.case, self.speed = clock, case, clock.machine.speed

    def work(self, seconds, kind='work'):
        self.c.work(seconds / self.speed, kind)

    def send(self, l, size, back=False, mesh=None):
        self.c.exchange((mesh or self.case.mesh)[l], size, self.PACK / self.speed, back=back)

    def coarse_step(self):
        self.c.reduce(256)  # signals, the balance, the next refinement
        self.step(self.case.base, True)

    def balance(self):
        """New domains (49 reductions of histograms of all ranks), octs that move, new ghosts."""
        for l in range(self.case.base, self.case.finest + 1):
            m = self.case.mesh[l]
            self.work(self.MOVE * m.octs)
            self.work(self.MOVE * m.ghosts, 'ghosts')
            self.send(l, 5 * REAL)
            self.send(l, 16)
        for _ in range(30):
            self.c.reduce(24 * self.c.ranks)

    def step(self, l, refining):
        case, m = self.case, self.case.mesh[l]
        if refining:
            for i in range(l, case.finest):
                n = case.mesh[i + 1]
                self.work(self.REFINE * n.octs)
                self.work(self.GHOST * n.ghosts, 'ghosts')
                if case.parts:  # new octs are computed everywhere: from the density of ghosts
                    self.send(i, REAL)
        if case.parts:
            self.gravity(l)
        self.work(self.COURANT * m.octs)
        self.c.reduce(256)
        if l < case.finest:
            for k in range(case.steps_in(l)):
                self.step(l + 1, k > 0)
        if case.gas:  # registers of l + 1 travel with the gas
            self.work(self.GODUNOV * m.octs)
            self.send(l, 5 * REAL)
        if case.parts:
            self.work(self.KICK * m.parts / 4)
            self.send(l, CELLS)
        self.work(self.FLAG * m.octs)
        if l < case.finest:
            self.flags(l)

    def flags(self, l):
        for _ in range(2 + self.case.expand):
            self.send(l, CELLS)

    def gravity(self, l):
        m = self.case.mesh[l]
        self.work(self.RHO * m.octs + self.DEPOSIT * m.parts)
        self.send(l, REAL, back=True)
        if l == self.case.base:
            self.fourier(l)
        else:
            self.multigrid(l)
        self.work(self.FORCE * m.octs + self.KICK * m.parts)
        self.send(l, 3 * REAL)

    def fourier(self, l):
        """To pencils and back, and two transposes each way, one of them among consecutive ranks;
        slabs up to a quarter of the cube's side."""
        n, ranks = 2 ** l, self.c.ranks
        self.work(self.FOURIER * (n ** 3 / CELLS / ranks))
        to = ranks if ranks <= n / 4 else int(np.ceil(np.sqrt(ranks)))
        for k in range(6):
            self.c.transpose(min(to, 27) if k in (0, 5) else to, 8 * n ** 3 / ranks,
                             self.PACK / self.speed, k in (1, 4) and to <= self.c.each)

    def multigrid(self, l):
        mesh, octs = self.case.below[l], self.case.mesh[l].octs.sum()
        if octs <= self.SHARED / 2:
            self.everywhere(octs, self.case.cycles_mg)
            return
        self.send(l, REAL)
        for _ in range(self.case.cycles_mg):
            self.cycle(l, mesh)
        self.c.reduce(64)

    def everywhere(self, octs, cycles):
        """Cycles of a level that every rank solves, from what all ranks have of it."""
        self.c.reduce(REAL * octs)
        self.work(7 * cycles * self.SWEEP * octs)

    def cycle(self, l, mesh):
        """At most five exchanges a level: two sweeps before and two after the correction, and the
        residual. The norm of the residual travels with the level that every rank solves."""
        octs = mesh[l].octs
        if octs.sum() <= self.SHARED or l == 1:
            self.everywhere(octs.sum(), 1)
            return
        for half in range(2):
            for _ in range(2):
                self.work(self.SWEEP * octs)
                self.send(l, REAL / 2, mesh=mesh)
            self.work(1.5 * self.SWEEP * octs)
            if half == 0:
                self.send(l - 1, REAL / 8, back=True, mesh=mesh)
                self.cycle(l - 1, mesh)


def coarse_step(code):
    """Mean seconds of a coarse step with its share of the balances, and by kind."""
    clock, case = code.c, code.case
    code.coarse_step()
    seconds, spent = clock.seconds, dict(clock.spent)
    if case.remap and clock.ranks > 1:
        code.balance()
        seconds += (clock.seconds - seconds) / case.remap
        spent = {k: v + (clock.spent[k] - v) / case.remap for k, v in spent.items()}
    return seconds, spent
