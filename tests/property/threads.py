"""More threads than cores: the log says so once, with what to do, and the run goes on.

Catches: a note on every rank, one where each thread has a core, advice on binding where the whole
machine has too few cores.
"""
# test: tier=check timeout=60
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import blast  # noqa: E402
import ptah  # noqa: E402


def notes(threads, ranks=1):
    """Status of a check of the namelist, and what it says about shared cores."""
    start = [ptah.program('simulate'), '-n', 'blast.nml']
    r = ptah.Run(ptah.mpirun(ranks) + start if ranks > 1 else start, '.',
                 {'OMP_NUM_THREADS': str(threads), 'OMP_PROC_BIND': 'false'})
    return r.status, [x.strip() for x in r.err.splitlines() if ' threads share ' in x]


def main():
    with open('blast.nml', 'w') as f:
        f.write(blast.NAMELIST.format(levelmax=5, end=0.002))
    v, all_cores = ptah.Verdict(), os.sched_getaffinity(0)
    many = os.sysconf('SC_NPROCESSORS_ONLN')
    v.same('as many threads as cores', notes(len(all_cores)), (0, []))
    advice = '2 threads share 1 core: start with mpirun --bind-to none, or --map-by slot:PE=2, ' \
             'or set OMP_NUM_THREADS=1'
    if many > 1:
        os.sched_setaffinity(0, {min(all_cores)})
        v.same('two threads on one core', notes(2), (0, [advice]))
        v.same('the same on two ranks', notes(2, 2), (0, [advice]))
        v.same('one thread on one core', notes(1), (0, []))
        os.sched_setaffinity(0, all_cores)
    if len(all_cores) == many:
        v.same('more threads than the machine has cores', notes(many + 1),
               (0, ['%d threads share %d core%s: set OMP_NUM_THREADS=%d'
                    % (many + 1, many, 's' if many > 1 else '', many)]))
    v.end()


if __name__ == '__main__':
    main()
