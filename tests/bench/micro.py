"""The microbenchmarks of Kim (2026, section 8.6) with functions of simulate, on real ranks.

    micro.py [-p PREFIX] [-r REPEATS] [ghost] [balance] [poisson] [blast] [holes] [check]

ghost: one exchange of all variables of a uniform mesh (ghost.c). balance: the balancer over 20
clusters (balance.c). poisson: one solve (poisson.c). blast: supernovae whose cells are found
through bins, and by testing all cells for each (blast.c), which takes minutes; holes: energy
release by black holes, likewise. collectives is tests/bench/collectives.py. Tables on stdout,
tab-separated; reference: times of the program of cuRAMSES in the same set-up on the machine of its
logs, with ghosts one cell wide and without corners. -p: a command put before mpirun, as `chrt -r
10` on a machine that others use. check: small cases alone.
"""
# test: ghost balance poisson check tier=check timeout=120 ranks=4
# test: blast holes check tier=check timeout=300
# test: blast holes tier=long timeout=900
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

FOLDER = os.path.join(ptah.ROOT, 'build', 'tests', 'bench')
# (ranks, N, variables): milliseconds of cuRAMSES by (domains, transport).
GHOST = {
    (2, 128, 11): {'ksection': (3.5, 2.8, 21.0), 'hilbert': (13.0, 10.2, 22.8)},
    (4, 128, 11): {'ksection': (13.0, 9.7, 68.0), 'hilbert': (22.8, 20.9, 76.3)},
    (2, 64, 5): {'ksection': (0.2, 0.2, 1.3), 'hilbert': (0.4, 1.2, 3.2)},
    (3, 64, 5): {'ksection': (0.9, 0.4, 3.9), 'hilbert': (3.7, 4.0, 6.2)},
    (4, 64, 5): {'ksection': (0.5, 0.8, 7.2), 'hilbert': (2.1, 1.7, 7.4)},
    (6, 64, 5): {'ksection': (0.8, 1.1, 7.7), 'hilbert': (5.1, 0.9, 9.3)},
    (12, 64, 5): {'ksection': (3.6, 2.7, 16.1), 'hilbert': (8.8, 5.5, 38.2)}}
TRANSPORTS = ('p2p', 'alltoallv', 'ksection')
# (ranks, N): imbalance of equal volumes, which the program of cuRAMSES does not change.
BALANCE = {
    (2, 64): {'ksection': 1.035, 'hilbert': 1.035},
    (3, 64): {'ksection': 1.354, 'hilbert': 1.239},
    (4, 64): {'ksection': 1.243, 'hilbert': 1.243},
    (6, 64): {'ksection': 1.605, 'hilbert': 1.350},
    (12, 64): {'ksection': 2.518, 'hilbert': 2.188},
    (4, 128): {'ksection': 1.243, 'hilbert': 1.243}}
POISSON = {(2, 64): 7.3, (4, 64): 8.8}  # ms of the conjugate gradient solver
IMBALANCE = 1.08  # limit after load balance: planes of 64 octs cannot be divided
IMBALANCE_BEFORE = 0.001


def table(prefix, ranks, program, *arguments):
    argv = prefix + ptah.mpirun(ranks) + [os.path.join(FOLDER, program), *map(str, arguments)]
    r = ptah.Run(argv, '.', {'OMP_NUM_THREADS': '1'})
    if r.status != 0:
        sys.exit('%s: exit status %d: %s' % (' '.join(argv), r.status, r.err[-2000:]))
    with open('table.tsv', 'w') as f:
        f.write(r.out)
    return ptah.read_tsv('table.tsv')


class Printer:
    """Rows of one program; column names are printed once."""

    def __init__(self):
        self.names = None

    def add(self, row):
        if self.names is None:
            self.names = list(row)
            print('\t'.join(self.names))
        print('\t'.join(str(row[n]) for n in self.names), flush=True)


def ghost(prefix, repeats, cases):
    out = Printer()
    for (ranks, n, variables), want in cases.items():
        for d in table(prefix, ranks, 'ghost', n, variables, repeats):
            d['reference_ms'] = dict(zip(TRANSPORTS, want[d['domains']])).get(d['transport'], '')
            out.add(d)


def balance(prefix, repeats, cases, v):
    out = Printer()
    for (ranks, n), want in cases.items():
        for d in table(prefix, ranks, 'balance', n, repeats):
            d['reference_imbalance'] = want[d['domains']]
            out.add(d)
            if v:
                name = '%d ranks, %s: imbalance ' % (ranks, d['domains'])
                v.check(name + 'of equal volumes',
                        abs(d['imbalance_before'] - want[d['domains']]), IMBALANCE_BEFORE)
                v.check(name + 'after', d['imbalance'], IMBALANCE)


def poisson(prefix, repeats, cases):
    out = Printer()
    for (ranks, n), want in cases.items():
        for d in table(prefix, ranks, 'poisson', n, repeats):
            d['reference_cg_ms'] = want
            out.add(d)


def blast(cases, faster, v):
    """cases: levelmin, blasts, whether to run without bins too. Through bins, time grows no faster
    than the number of blasts."""
    out = Printer()
    for level, n, brute in cases:
        for d in table([], 1, 'blast', level, n, *['brute'][:brute]):
            out.add(d)
            if brute:
                v.check('%d blasts: reciprocal of the speed-up' % n, 1 / d['ratio'], 1 / faster)


def holes(levelmin, n, v):
    """Compares both passes over the cells, each without bins, with the time with bins: 30 times
    slower for the sums, 14 times for the release, as Kim (2026) measured."""
    for d in table([], 1, 'blast', levelmin, n, 'holes'):
        Printer().add(d)
        v.check('%d holes: reciprocal of the speed-up of sums' % n, 1 / d['sums_ratio'], 1 / 30)
        v.check('of the release', 1 / d['release_ratio'], 1 / 14)


def main():
    options, words = ptah.options(__doc__, 'p:r:')
    prefix, repeats = options.get('-p', '').split(), int(options.get('-r', 30))
    if not os.access(os.path.join(FOLDER, 'ghost'), os.X_OK):
        ptah.skip('%s is not built' % FOLDER)
    checking, v = 'check' in words, ptah.Verdict()
    words = [w for w in words if w != 'check'] or ['ghost', 'balance', 'poisson']
    if checking:
        repeats = 3
    for w in words:
        if w == 'ghost':
            small = {(3, 32, 5): {'ksection': (), 'hilbert': ()}}
            ghost(prefix, repeats, small if checking else GHOST)
        elif w == 'balance':
            cases = {k: BALANCE[k] for k in ((3, 64), (4, 64))} if checking else BALANCE
            balance(prefix, repeats if checking else 5, cases, v if checking else None)
        elif w == 'poisson':
            poisson(prefix, repeats, {(3, 32): ''} if checking else POISSON)
        elif w == 'blast' and checking:
            blast([(6, 1000, True)], 30, v)
        elif w == 'blast':
            blast([(7, 1, False), (7, 1000, False), (7, 4000, False), (7, 2000, True)], 200, v)
        elif w == 'holes':
            holes(6, 3000 if checking else 32000, v)
        else:
            sys.exit('micro: %s: ghost, balance, poisson, blast or holes' % w)
    v.end()


if __name__ == '__main__':
    main()
