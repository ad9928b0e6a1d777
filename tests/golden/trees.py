"""Merger trees as RAMSES makes them: a cosmological box of 32³ particles, 27 outputs to a = 0.94.

Every row of RAMSES's trees, of which 91 are new clumps, 7 are found again after a gap, 27 have
merged: numbers of clumps, their progenitors and outputs, masses, positions, velocities; the
particle of each galaxy and orphan, and its position. RAMSES restarted from Ptah's outputs 4 and 6
(its own outputs 2 to 4 are the same); its search for the borders of clumps was corrected
(docs/differences.md).

Example of a fault caught: a progenitor that is not a mutual best match, a merged clump that is
forgotten, a tracer that is not among the most bound, a clump that is dissolved too early.
"""
# test: tier=check timeout=300
import collections
import glob
import lzma
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402
import ptah  # noqa: E402

MORE = """
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
RUN = 'ncontrol=1\nclumpfind=.true.\nunbind=.true.\nmake_mergertree=.true.\n'
AEXP = [0.3, 0.35, 0.4, 0.45, 0.5] + [0.52 + 0.02 * k for k in range(22)]
AS_RAMSES = ['run_params/ramses_cosmology=.true.', 'run_params/use_fftw=.false.']


def theirs():
    """(output, kind) → rows of words. T: trees; G: clump, particle and position of galaxies."""
    found = collections.defaultdict(list)
    with lzma.open(os.path.join(ptah.DATA, 'golden', 'trees.txt.xz'), 'rt') as f:
        for line in f:
            output, kind, *words = line.split()
            found[int(output), kind].append(words)
    return found


def mine(outputs):
    found = collections.defaultdict(list)
    for kind, name in (('T', 'mergertree'), ('G', 'galaxies')):
        for path in sorted(glob.glob('*/%s_*.txt*' % name) + glob.glob('*/*/%s_*.txt*' % name)):
            number = int(re.search(r'_(\d{5})\.txt', path).group(1))
            with open(path) as f:
                rows = [line.split() for line in f.readlines()[1:]]
            found[number, kind] += rows if kind == 'T' else [[w[0], w[5], *w[2:5]] for w in rows]
    return found


def main():
    v = ptah.Verdict()
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_dm32.nml')) as f:
        text = f.read()
    text = text.replace('ncontrol=1\n', RUN)
    text = re.sub(r'noutput=\d+\naout=.*', 'noutput=%d\naout=%s' % (
        len(AEXP), ','.join('%g' % a for a in AEXP)), text)
    ptah.unpack_ics('.', *ptah.ics_of(text))
    r = ptah.simulate(text + MORE, '.', 1, 1, AS_RAMSES, ['-q'])
    ours, ramses = mine(r.outputs), theirs()
    v.same('tables', sorted(ours), sorted(ramses))
    kinds = collections.Counter()
    for key in sorted(ramses):
        a, b = ours[key], ramses[key]
        if key[1] == 'G':  # RAMSES lists orphans in the order in which they have merged
            a, b = sorted(a, key=lambda w: int(w[1])), sorted(b, key=lambda w: int(w[1]))
        n = 3 if key[1] == 'T' else 2
        if [w[:n] for w in a] != [w[:n] for w in b]:
            v.same('output %d, %s' % key, [w[:n] for w in a], [w[:n] for w in b])
            continue
        x, y = (np.array([w[n:] for w in t], float) for t in (a, b))
        if key[1] == 'T':
            v.check('output %d: masses' % key[0], abs(x[:, :2] - y[:, :2]).max(), 0)
            v.check('output %d: places, velocities' % key[0], abs(x[:, 2:] - y[:, 2:]).max(), 1e-6)
            for w in a:
                kinds['merged' if int(w[0]) < 0 else 'again' if int(w[1]) < 0 else
                      'new' if int(w[1]) == 0 else 'linked'] += 1
        else:
            v.check('output %d: galaxies' % key[0], abs((x - y + 0.5) % 1 - 0.5).max(), 1e-6)
    v.same('rows', dict(kinds), {'new': 91, 'linked': 994, 'merged': 27, 'again': 7})
    v.end()


if __name__ == '__main__':
    main()
