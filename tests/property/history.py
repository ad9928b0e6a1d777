"""A checkpoint names every run that led to it: inspect -p lists them, newest first, through
restarts on other numbers of ranks, another format and repartition.

A one-line fault it catches: a restart that forgets the history of the checkpoint it resumes from.
"""
# test: tier=quick ranks=2
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from digest import SEDOV  # noqa: E402


def run(steps, ranks, job, *settings):
    os.environ['SLURM_JOB_ID'] = job  # as a batch system sets it
    r = ptah.simulate(SEDOV, '.', ranks, settings=['run_params/nstepmax=%d' % steps,
                                                   'run_params/nrestart=-1', *settings])
    return r.outputs[-1]


def history(path):
    r = ptah.Run([ptah.program('inspect'), '-p', path], '.')
    text = r.out.split('\nnamelist:\n')[0]
    return {key: re.findall(r'^%s(.*)$' % words, text, re.M) for key, words in
            [('programs', r'ptah (?=[a-z]+ [0-9])'), ('jobs', 'job: '), ('from', 'from: '),
             ('ranks', 'size: '), ('commits', 'commit: '), ('namelists', 'namelist: checksum ')]}


def main():
    v = ptah.Verdict()
    run(2, 1, '11')
    run(4, 2, '12', 'output_params/foutput=2')
    last = run(6, 1, '13', 'output_params/foutput=2')
    h = history(last)
    v.same('jobs, newest first', h['jobs'], ['Slurm %d' % n for n in (13, 12, 11)])
    v.same('ranks', [line.split(',')[0] for line in h['ranks']], ['1 ranks', '2 ranks', '1 ranks'])
    v.same('restarts', len(h['from']), 2)
    v.same('other namelists have other checksums', len(set(h['namelists'])), 3)
    v.same('a commit, or none known, for each run', len(h['commits']), 3)
    ptah.Run([ptah.program('convert'), '-q', '-f', 'hdf5', '-o', 'one.h5', last], '.')
    ptah.Run([ptah.program('repartition'), '-q', '-n', '3', '-o', 'three', 'one.h5'], '.')
    h = history('three')
    v.same('through convert and repartition', [line.split()[0] for line in h['programs']],
           ['repartition', 'convert', 'simulate', 'simulate', 'simulate'])
    v.end()


if __name__ == '__main__':
    main()
