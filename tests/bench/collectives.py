"""Counts the MPI calls of a coarse step of bin/simulate: messages, rounds and collectives by kind,
through MPI's profiling interface (tests/unit/mpicount.h). A table on stdout, tab-separated: one
line per run and kind of coarse step.

    collectives.py [-n RANKS,…] [-s STEPS] [-e NAMELIST] [GROUP/NAME=VALUE…]

-n: numbers of ranks, default 2,3,4,8. -s: coarse steps, default 12. Other words are settings of the
run; GROUP/NAME=A,B,… runs each value (run_params/ordering=hilbert,ksection). -e: a namelist in
place of the box of 32^3 with gas.

check: rounds and sends agree. most: the last four steps, on three levels with gas, particles and a
Poisson solve each, stay below the limits for point-to-point exchange. five: limits for the last
four steps, with five or more level steps per coarse step. nine: limits for the last seven steps,
with nine level steps per coarse step. gas: limits for the last 13 steps of a blast wave on four
levels, of one step each: as many rounds whether levels are refined or not.

steady: the median step between remaps, on the rank with most calls. remap: the step with most
calls. start: all calls before the second step.
"""
# test: -n 2,3 -s 7 check tier=check timeout=240 ranks=3
# test: -n 2,3 -s 25 most tier=check timeout=400 ranks=3
# test: -n 3 -s 29 five tier=check timeout=400 ranks=3
# test: -n 3 -s 36 nine tier=check timeout=400 ranks=3
# test: -n 2,3 -s 30 gas tier=check timeout=240 ranks=3
import itertools
import os
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

CASE = os.path.join(ptah.ROOT, 'tests', 'bench', 'cases', 'cosmo32.nml')
BLAST = os.path.join(ptah.ROOT, 'tests', 'bench', 'official', 'sedov-amr.nml')
NUMBERS = ['sends', 'bytes', 'partners', 'rounds', 'allreduce', 'alltoall', 'allgather', 'neighbor',
           'barrier', 'scan', 'bcast', 'reduce', 'gather']


def count(namelist, ranks, steps, settings):
    """Counts of one run: a dict for each interval, with the max over ranks of each number."""
    folder = tempfile.mkdtemp(prefix='collectives.', dir='.')
    ptah.unpack_ics(folder, *ptah.ics_of(namelist))
    table = os.path.join(folder, 'table.tsv')
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(namelist)
    settings = ['run_params/nstepmax=%d' % steps, *settings]
    argv = ptah.mpirun(ranks) + [ptah.program('simulate'), 'run.nml', *settings]
    r = ptah.Run(argv, folder, {'OMP_NUM_THREADS': '1', **ptah.mpicount(table)})
    if r.status != 0:
        sys.exit('%s: %s' % (' '.join(argv), r.err[-2000:]))
    lines = ptah.read_tsv(table)
    shutil.rmtree(folder)
    last = max(d['interval'] for d in lines)
    return [{k: max(d[k] for d in lines if d['interval'] == i) for k in NUMBERS}
            for i in range(last)]  # the last mark only ends an interval


# Kinds of coarse steps: number of steps examined, and limits of calls. most: one refinement, and
# one step of each of three levels. five: one step of levels 5, 6, 7 and two of level 8, in the last
# coarse step also of level 9. nine: two steps of level 8 and four of level 9, with multigrid on
# levels 5, 6 and, in the last two coarse steps, 7. gas: 14 or 15 rounds in most steps, if octs that
# are created, or ghosts of theirs, are sent.
MOST = {'most': (4, {'alltoall': 0, 'allgather': 0, 'allreduce': 17, 'rounds': 62}),
        'five': (4, {'alltoall': 0, 'allgather': 0, 'allreduce': 26, 'rounds': 75}),
        'nine': (7, {'alltoall': 0, 'allgather': 0, 'allreduce': 30, 'rounds': 110}),
        'gas': (13, {'alltoall': 0, 'allgather': 0, 'allreduce': 5, 'rounds': 12})}


def check_most(namelist, ranks, steps, last, most):
    """Catches a reduction for each sum and time step, a gather in multigrid, an exchange for an
    array, one for each pass over flags, one for the keys of ghosts after a refinement, one for flux
    registers alone, and gas that is sent after each of its kicks."""
    # One balance before the counted steps: domains then fit the mesh. As with many ranks, no empty
    # messages are sent. No checkpoint is written: a slow disk lets it be published in a counted
    # step.
    intervals = count(namelist, ranks, steps, ['run_params/exchange_method=p2p',
                                               'run_params/exchange_letters=0',
                                               'output_params/foutput=0',
                                               'run_params/nremap=%d' % (steps - last - 1)])
    for d in intervals[-last:]:
        print('\t'.join('%s %d' % (k, d[k]) for k in most), flush=True)
        over = [k for k in most if d[k] > most[k]]
        if over:
            sys.exit('on %d ranks more than %s: %s' % (ranks, most, over))


def kinds(intervals):
    """Start, steady and remap of a run."""
    steps = intervals[2:]
    busiest = max(steps, key=lambda d: d['alltoall'] + d['allreduce'] + d['sends'])
    return {'start': {k: intervals[0][k] + intervals[1][k] for k in NUMBERS},
            'steady': {k: int(statistics.median_low([d[k] for d in steps])) for k in NUMBERS},
            'remap': busiest}


def variants(words):
    """All combinations of the values of the settings."""
    names = [w.partition('=')[0] for w in words]
    choices = [w.partition('=')[2].split(',') for w in words]
    return [list(map('='.join, zip(names, values))) for values in itertools.product(*choices)]


def main():
    options, words = ptah.options(__doc__, 'n:s:e:')
    checking, limited = 'check' in words, [w for w in words if w in MOST]
    words = [w for w in words if w != 'check' and w not in MOST]
    with open(options.get('-e', BLAST if 'gas' in limited else CASE)) as f:
        namelist = f.read()
    print('\t'.join(['ranks', 'settings', 'step'] + NUMBERS))
    for ranks in map(int, options.get('-n', '2,3,4,8').split(',')):
        if limited:
            check_most(namelist, ranks, int(options.get('-s', 12)), *MOST[limited[0]])
            continue
        for settings in variants(words):
            intervals = count(namelist, ranks, int(options.get('-s', 12)), settings)
            for kind, d in kinds(intervals).items():
                row = [ranks, ' '.join(settings), kind] + [d[k] for k in NUMBERS]
                print('\t'.join(map(str, row)), flush=True)
                if checking and not 0 < d['rounds'] <= d['sends'] * ranks:
                    sys.exit('rounds and sends do not go together: %s' % d)


if __name__ == '__main__':
    main()
