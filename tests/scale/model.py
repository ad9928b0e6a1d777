"""Model of the time of a coarse step from work, data and messages: fitted on a few real ranks,
extrapolated to many.

    model.py [-p PREFIX] [-n RANKS,…] [-s STEPS] [-k ROUNDS] [-o FILE]
             CHECKPOINT NAMELIST [SETTING…]
    model.py -w W [-t TILE] [-n RANKS,…] [-l LATENCY] [-b BANDWIDTH] [-u PACKING]
             [-e EXCHANGES] [-v VALUES] [-r REDUCTIONS] CHECKPOINT [NSUBCYCLE,…]
    model.py synthetic

The first measures: a run is resumed from the checkpoint on each number of ranks (default 1 to 8)
for STEPS coarse steps (default 5, the first of which does not count) without remaps, with one
thread each. The load of a rank comes from tests/scale/scale for this checkpoint, not from the run:
W: octs, times the steps of their level in a coarse step; G: octs sent as ghosts, likewise; M:
messages, likewise, if each step of a level had one exchange. On C cores R ranks take

    T = max(1, R / C) (w max W + g max G + m max M + c)

c: constant work of a rank: collectives, and levels that all ranks solve. w, g, m, c >= 0 are fitted
to medians by least squares of relative errors. `left out` is the prediction of the fit to the other
numbers of ranks. -k: rounds over all numbers of ranks (default 3). -p: a command put before mpirun,
as `chrt -r 10` on a machine that others use.

The second form predicts the time of ranks with a core each and a network, from w alone:

    T = w max W + max G 64 VALUES (1 / BANDWIDTH + PACKING) + EXCHANGES max M LATENCY
        + REDUCTIONS LATENCY log2 R

VALUES per cell and EXCHANGES are totals of one step of a level (defaults: counts of
tests/bench/collectives.py), BANDWIDTH is per core (default: 64 cores share 100 Gb/s), PACKING is
the time of tests/bench/ghost.c per byte. Nothing overlaps. Units: seconds and bytes. synthetic: the
fit finds the coefficients that times were made with, and leaves none below zero.
"""
# test: synthetic tier=check timeout=20
import getopt
import itertools
import json
import math
import os
import re
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

PROGRAM = os.path.join(ptah.ROOT, 'build', 'tests', 'scale', 'scale')
NAMES = ('w', 'g', 'm', 'c')
CELLS = 8


def scale(checkpoint, ranks, subcycle, tile=0, sample=1024):
    r = ptah.Run([PROGRAM, '-d', 'ksection', '-n', ','.join(map(str, ranks)), '-u', subcycle,
                  '-t', str(tile), '-s', str(sample), checkpoint], '.')
    if r.status != 0:
        sys.exit(r.err)
    with open('scale.tsv', 'w') as f:
        f.write(r.out)
    return {d['ranks']: d for d in ptah.read_tsv('scale.tsv')}


def subcycle_of(namelist):
    m = re.search(r'^\s*nsubcycle\s*=\s*([0-9, ]+)', namelist, re.M)
    return m[1].replace(' ', '').strip(',') if m else '2'


def measure(prefix, checkpoint, namelist, ranks, steps, settings):
    """Seconds of each coarse step."""
    folder = tempfile.mkdtemp(prefix='model.', dir='.')
    ptah.unpack_ics(folder, *ptah.ics_of(namelist))
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(namelist)
    profile = os.path.join(os.path.abspath(folder), 'profile')
    argv = prefix + ptah.mpirun(ranks) + [
        ptah.program('simulate'), '-r', os.path.abspath(checkpoint), '-o',
        'out', '-j', profile, 'run.nml',
        'run_params/nstepmax=%d' % (steps + step_of(checkpoint)), 'run_params/nremap=0',
        'run_params/ordering=ksection', 'output_params/foutput=1000000', 'amr_params/ngridmax=0',
        'amr_params/npartmax=0', *settings]
    r = ptah.Run(argv, folder, {'OMP_NUM_THREADS': '1'})
    if r.status != 0:
        sys.exit('%s: %s' % (' '.join(argv), r.err[-2000:]))
    with open(profile) as f:
        wall = [json.loads(line)['wall_s'] for line in f if '"step"' in line]
    shutil.rmtree(folder)
    return [b - a for a, b in zip(wall, wall[1:])]


def step_of(checkpoint):
    """Number of coarse steps so far."""
    r = ptah.Run([ptah.program('inspect'), '-j', checkpoint], '.')
    return int(json.loads(r.out)['nstep_coarse'])


# ---- the model ----

def parts_of(d, cores):
    """Terms of (w, g, m, c) for one number of ranks."""
    share = max(1, d['ranks'] / cores)
    return [share * d['work_max'], share * d['step_ghosts_max'], share * d['step_msgs_max'], share]


def solve(a, b):
    """Least squares by normal equations, or None."""
    n = len(a[0])
    m = [[sum(r[i] * r[j] for r in a) for j in range(n)] + [sum(r[i] * y for r, y in zip(a, b))]
         for i in range(n)]
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(m[k][i]))
        if abs(m[p][i]) < 1e-12 * max(abs(x) for r in a for x in r) ** 2 * 1e-6:
            return None
        m[i], m[p] = m[p], m[i]
        for k in range(n):
            if k != i:
                q = m[k][i] / m[i][i]
                m[k] = [x - q * y for x, y in zip(m[k], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def fit(rows):
    """rows: (terms, seconds). Coefficients >= 0 with the smallest sum of squares of relative
    errors, found by trying all subsets."""
    best, least = None, math.inf
    for k in range(1, len(NAMES) + 1):
        for subset in itertools.combinations(range(len(NAMES)), k):
            a = [[t[i] / y for i in subset] for t, y in rows]
            x = solve(a, [1.0] * len(rows)) if k <= len(rows) else None
            if x is None or min(x) < 0:
                continue
            full = [0.0] * len(NAMES)
            for i, value in zip(subset, x):
                full[i] = value
            error = sum((predict(full, t) / y - 1) ** 2 for t, y in rows)
            if error < least:
                best, least = full, error
    return best


def predict(coefficients, terms):
    return sum(f * t for f, t in zip(coefficients, terms))


def compare(seconds, shares, cores):
    """Coefficients, and a row per number of ranks: measured, fitted, left out."""
    rows = {n: (parts_of(shares[n], cores), s) for n, s in seconds.items()}
    x = fit(list(rows.values()))
    out = []
    for n, (terms, s) in rows.items():
        others = fit([r for k, r in rows.items() if k != n])
        out.append({'ranks': n, 'seconds': s, 'fitted': predict(x, terms),
                    'left_out': predict(others, terms)})
    return x, out


# ---- many ranks ----

def tell(options, checkpoint, subcycle):
    w, latency, band = (float(options.get(k, v)) for k, v in
                        (('-w', 0), ('-l', 2e-6), ('-b', 12.5e9 / 64)))
    packing, exchanges, values, reductions = (float(options.get(k, v)) for k, v in
                                              (('-u', 1.1e-9), ('-e', 37), ('-v', 35), ('-r', 14)))
    ranks = [int(n) for n in options.get('-n', '64,128,256,512,1024,2048').split(',')]
    print('ranks\tocts\tseconds\tefficiency\timbalance\twork\tdata\tmessages\treductions')
    for n, d in scale(checkpoint, ranks, subcycle, int(options.get('-t', 0)), 4096).items():
        data = d['step_ghosts_max'] * 8 * CELLS * values
        terms = [w * d['work_max'], data * (1 / band + packing),
                 exchanges * d['step_msgs_max'] * latency, reductions * latency * math.log2(n)]
        print('%d\t%.0f\t%.5g\t%.3f\t%.3f\t%.4g\t%.4g\t%.4g\t%.4g' % (
            n, d['octs'], sum(terms), w * d['work'] / sum(terms), d['work_max'] / d['work'],
            *terms), flush=True)


def run(options, checkpoint, namelist, settings):
    cores = os.cpu_count()
    ranks = [int(n) for n in options.get('-n', '1,2,3,4,5,6,7,8').split(',')]
    with open(namelist) as f:
        text = f.read()
    shares = scale(checkpoint, ranks, subcycle_of(text))
    prefix, steps = options.get('-p', '').split(), int(options.get('-s', 5))
    seen = {n: [] for n in ranks}
    for _ in range(int(options.get('-k', 3))):
        for n in ranks:
            seen[n] += measure(prefix, checkpoint, text, n, steps, settings)
    seconds = {n: statistics.median(x) for n, x in seen.items()}
    x, rows = compare(seconds, shares, cores)
    print('# ' + ', '.join('%s = %.4g s' % p for p in zip(NAMES, x)))
    print('ranks\tseconds\tfitted\terror\tleft_out\terror_left_out')
    for d in rows:
        print('%d\t%.4f\t%.4f\t%.3f\t%.4f\t%.3f' % (
            d['ranks'], d['seconds'], d['fitted'], d['fitted'] / d['seconds'] - 1, d['left_out'],
            d['left_out'] / d['seconds'] - 1))
    if '-o' in options:
        with open(options['-o'], 'w') as f:
            json.dump({'coefficients': dict(zip(NAMES, x)), 'subcycle': subcycle_of(text),
                       'rows': rows}, f, indent=1)
    return rows


def synthetic():
    v = ptah.Verdict()
    shares = {n: {'ranks': n, 'work': 1e5 / n, 'work_max': 1.02e5 / n,
                  'step_msgs_max': 4.0 * (n - 1) ** 2,
                  'step_ghosts_max': 0 if n == 1 else 3000.0 + 400 * n} for n in range(1, 9)}
    for truth in ([2e-5, 1e-5, 1e-3, 0.02], [2e-5, 0, 1e-3, 0]):
        x, rows = compare({n: predict(truth, parts_of(d, 2)) for n, d in shares.items()}, shares, 2)
        for name, a, b in zip(NAMES, x, truth):
            v.check('coefficient %s' % name, abs(a - b), 1e-6 * b if b else 1e-3 * truth[0])
        v.check('left out', max(abs(d['left_out'] / d['seconds'] - 1) for d in rows), 0.03)
    shrinking = {n: (parts_of(d, 8), 2 / n) for n, d in shares.items()}
    v.check('none below zero', -min(fit(list(shrinking.values()))), 0)
    v.end()


def main():
    options, words = getopt.gnu_getopt(sys.argv[1:], 'hp:n:s:k:o:w:t:l:b:u:e:v:r:')
    options = dict(options)
    if '-h' in options or not words:
        sys.exit(__doc__.strip())
    if words == ['synthetic']:
        synthetic()
    elif '-w' in options:
        tell(options, words[0], words[1] if len(words) > 1 else '2')
    else:
        run(options, words[0], words[1], words[2:])


if __name__ == '__main__':
    main()
