"""How costs grow: exponents p of cost ~ size^p, in processor time, as a table.

    growth.py [-s SIZES] [-r ROUNDS] [cells|particles|levels|ranks|outputs]…

cells: a step of gas on a uniform mesh of N^3 cells (sedov_uniform) · particles: a step of N^3
particles of dark matter with their gravity on N^3 cells · levels: an update of a cell in a blast
wave on levels 5 to L (sedov_amr), L = 6 to 12; the exponent is that of the cost in L ·
ranks: 64 to 4096 ranks of 4096 octs each (tests/scale/scale, clusters): partners, messages and
kilobytes of an exchange of a rank · outputs: a checkpoint of N^3 cells of gas.

SIZES: default 32,64,128,256. The cost of a step is the processor time of a run less that of a run
with fewer steps, over the difference of their steps; the median of ROUNDS (default 5) in which the
sizes take turns. Exponents are slopes of a straight line through the logarithms. One core. `make
bench BENCH=growth` runs all, `make bench BENCH='growth -r 3 cells'` one. The case 256^3 needs 3 GB
of memory and of disk. check: small sizes, and that all exponents and costs are sensible.
"""
# test: check tier=long timeout=600
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import grafic  # noqa: E402
import ptah  # noqa: E402

SCALE = os.path.join(ptah.ROOT, 'build', 'tests', 'scale', 'scale')
# steps of the shorter and the longer run, for a size: the finer, the fewer
STEPS = {32: (5, 305), 64: (3, 43), 128: (2, 12), 256: (1, 4)}
OUTPUTS = {32: 100, 64: 30, 128: 6, 256: 2}
LEVELS = range(6, 13)
BLAST_STEPS = (60, 90)
RANKS = {64: 64, 512: 128, 4096: 256}  # number of ranks: side of the mesh of clusters
LIMITS = {'cells': 1.02, 'particles': 1.02, 'outputs': 1.02, 'ranks': 0.05}
LEVELS_SPREAD = 1.1 / 0.9  # within 10 % of the middle


def seconds_of(argv, folder):
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = ptah.Run(argv, folder, {'OMP_NUM_THREADS': '1'})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.status != 0:
        sys.exit('growth: %s: %s' % (' '.join(argv), r.said()[-2000:]))
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def simulate(folder, steps, *settings):
    """(processor seconds, updates of cells)"""
    shutil.rmtree(os.path.join(folder, 'out'), ignore_errors=True)
    if os.path.exists(os.path.join(folder, 'profile')):
        os.remove(os.path.join(folder, 'profile'))
    seconds = seconds_of([ptah.program('simulate'), '-q', '-j', 'profile', '-o', 'out',
                    'run.nml', 'run_params/nstepmax=%d' % steps, *settings], folder)
    with open(os.path.join(folder, 'profile')) as f:
        return seconds, json.loads(f.readlines()[-1])['updates']


def put(folder, text):
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(text)


def case(name):
    with open(os.path.join(HERE, 'cases', name + '.nml')) as f:
        return re.sub(r'^ngridmax=.*\n', '', f.read(), flags=re.M)


def level_of(n):
    return int(math.log2(n))


# ---- what is measured: (unit, sizes, cost of a size in a folder of its own) ----

def one_mesh(n):
    return ['amr_params/levelmin=%d' % level_of(n), 'amr_params/levelmax=%d' % level_of(n)]


def step_cost(folder, n, settings):
    few, many = STEPS[n]
    a, b = simulate(folder, few, *settings)[0], simulate(folder, many, *settings)[0]
    return (b - a) / (many - few)


def cells(folder, n):
    put(folder, case('sedov_uniform'))
    return step_cost(folder, n, one_mesh(n))


def particles(folder, n):
    if not os.path.isdir(os.path.join(folder, 'ics')):
        # cells of one size, so that particles of all sizes of box pass as many
        grafic.make(os.path.join(folder, 'ics'), level_of(n), dx=grafic.MPC / 64,
                    fields=('velcx', 'velcy', 'velcz'))
    put(folder, grafic.namelist('ics', level_of(n), hydro=False)
        .replace('nstepmax=1', 'nstepmax=1\nnremap=0').replace('foutput=1', 'foutput=0'))
    return step_cost(folder, n, ())


def levels(folder, levelmax):
    """Seconds of an update, from a step at which all levels exist."""
    put(folder, case('sedov_amr').replace('1,1,2,2,2', '1,1,1,1,1,1,1,1'))
    few, many = (simulate(folder, s, 'amr_params/levelmax=%d' % levelmax) for s in BLAST_STEPS)
    return (many[0] - few[0]) / (many[1] - few[1])


def outputs(folder, n):
    """Steps with a checkpoint after each, less steps with none."""
    put(folder, case('sedov_uniform'))
    plain = simulate(folder, OUTPUTS[n], *one_mesh(n))[0]
    full = simulate(folder, OUTPUTS[n], 'output_params/foutput=1', *one_mesh(n))[0]
    return (full - plain) / OUTPUTS[n]


def ranks(_, n):
    r = subprocess.run([SCALE, '-d', 'hilbert', '-n', str(n), '-s', '512',
                        'clusters:%d' % RANKS[n]], text=True, stdout=subprocess.PIPE, check=True)
    names, values = (line.split('\t') for line in r.stdout.splitlines())
    d = dict(zip(names, values))
    return {'partners': float(d['partners']), 'messages': float(d['p2p']),
            'kB': float(d['bytes']) / 1000}


MEASURES = {'cells': ('a step, s', cells), 'particles': ('a step, s', particles),
            'levels': ('an update, s', levels), 'outputs': ('a checkpoint, s', outputs),
            'ranks': ('a rank', ranks)}


# ---- the table ----

def exponent(cost):
    """Slope of the line through the logarithms of size and cost."""
    x, y = [math.log(n) for n in cost], [math.log(c) for c in cost.values()]
    mx, my = statistics.mean(x), statistics.mean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def measure(name, sizes, rounds):
    """Median cost of each size; the sizes take turns."""
    seen = {n: [] for n in sizes}
    with tempfile.TemporaryDirectory(prefix='growth.', dir=os.getcwd()) as top:
        for _ in range(1 if name == 'ranks' else rounds):
            for n in sizes:
                folder = os.path.join(top, str(n))
                os.makedirs(folder, exist_ok=True)
                seen[n].append(MEASURES[name][1](folder, n))
                print('# %s %s %s' % (name, n, seen[n][-1]), file=sys.stderr, flush=True)
    return seen


def rows_of(name, seen):
    """(quantity, {size: cost}) for exponents; sizes are numbers of cells, particles, ranks."""
    if name == 'ranks':
        return [(k, {n: v[0][k] for n, v in seen.items()}) for k in ('partners', 'messages', 'kB')]
    power = 1 if name == 'levels' else 3
    return [(MEASURES[name][0], {n ** power: statistics.median(v) for n, v in seen.items()})]


def tell(name, seen):
    out = []
    for quantity, cost in rows_of(name, seen):
        p, least = exponent(cost), min(cost.values())
        sizes = list(seen)
        label = name if name in ('levels', 'ranks') else name + ', N³'
        print('| %s | %s | %s | %s | %.3f | %.2f |' % (
            label, ', '.join(map(str, sizes)), quantity,
            ', '.join('%.4g' % c for c in cost.values()), p, max(cost.values()) / least),
            flush=True)
        out.append((quantity, p, max(cost.values()) / least))
    return out


def check():
    v = ptah.Verdict()
    v.check('exponent of x^1.5', abs(exponent({n: 7 * n ** 1.5 for n in (2, 4, 32)}) - 1.5), 1e-12)
    for name, sizes in (('cells', (32, 64)), ('outputs', (64, 128)), ('ranks', (64, 512))):
        for quantity, p, _ in tell(name, measure(name, sizes, 3)):
            want = 0 if name == 'ranks' else 1
            v.check('%s, %s: exponent' % (name, quantity), abs(p - want), 0.35)
    v.end()


def main():
    options, names = ptah.options(__doc__, 's:r:')
    if names == ['check']:
        check()
        return
    sizes = [int(n) for n in options.get('-s', '32,64,128,256').split(',')]
    print('| cost by | sizes | of | cost | exponent | largest over smallest |\n|' + '---|' * 6)
    for name in names or list(MEASURES):
        own = {'levels': LEVELS, 'ranks': RANKS}.get(name, sizes)
        for quantity, p, spread in tell(name, measure(name, own, int(options.get('-r', 5)))):
            if p > LIMITS.get(name, math.inf) or name == 'levels' and spread > LEVELS_SPREAD:
                print('# %s, %s: more than the goal' % (name, quantity), flush=True)


if __name__ == '__main__':
    main()
