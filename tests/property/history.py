"""A checkpoint names every run that led to it: inspect -p lists them, newest first, through
restarts on other numbers of ranks, another format and repartition.

Examples of faults caught: a restart that forgets the history of the checkpoint it resumes from, a
job whose name has a tab.
"""
# test: tier=quick ranks=2
import json
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


def history(path, folder='.'):
    r = ptah.Run([ptah.program('inspect'), '-p', path], folder)
    text = r.out.split('\nnamelist:\n')[0]
    return {key: re.findall(r'^%s(.*)$' % words, text, re.M) for key, words in
            [('programs', r'ptah (?=[a-z]+ [0-9])'), ('jobs', 'job: '), ('from', 'from: '),
             ('commits', 'commit: '), ('namelists', 'namelist: checksum ')]}


def check_odd_words(v):
    """Names of jobs and directories with tabs and newlines do not break lines."""
    os.environ['SLURM_JOB_ID'] = '1\t2\njob: Slurm 3\033[2J'
    odd = 'o\tdd\nfrom: here'
    ptah.simulate(SEDOV, '.', settings=['run_params/nstepmax=1'], options=['-o', odd])
    ptah.Run([ptah.program('convert'), '-q', '-o', odd + '/output_00007', odd + '/output_00001'],
             '.')
    h = history('output_00007', odd)
    v.same('odd words: jobs, sources', (h['jobs'], [line.split(' (')[0] for line in h['from']]),
           (['Slurm 1?2?job: Slurm 3?[2J'] * 2, ['o?dd?from: here/output_00001']))
    r = ptah.Run([ptah.program('inspect'), '--campaign', odd], '.')
    rows = [line.split('\t') for line in r.out.splitlines()]
    v.same('odd words: columns of the campaign', [len(row) for row in rows[1:]], [10] * 2)
    r = ptah.Run([ptah.program('inspect'), '--campaign', '-j', odd], '.')
    v.same('odd words: JSON', {json.loads(line)['job'] for line in r.out.splitlines()},
           {'Slurm 1?2?job: Slurm 3?[2J'})


def check_campaign(v):
    """inspect --campaign: a line for each checkpoint, and the verdict when one is damaged."""
    r = ptah.Run([ptah.program('inspect'), '--campaign', '.'], '.')
    rows = [line.split('\t') for line in r.out.splitlines()[1:]]
    v.same('campaign: status, outputs', (r.status, [row[0] for row in rows]),
           (0, sorted(f[7:] for f in os.listdir('.') if re.fullmatch(r'output_\d+', f))))
    v.same('campaign: coarse steps and jobs of the first and the last',
           [(row[2], row[8]) for row in (rows[0], rows[-1])],
           [('0', 'Slurm 11'), ('6', 'Slurm 13')])
    v.same('campaign: verdicts', {row[9] for row in rows}, {'sound'})
    path = 'output_%s/hydro_%s.out00001' % (rows[-1][0], rows[-1][0])
    with open(path, 'r+b') as f:
        f.seek(5000)
        byte = f.read(1)[0]
        f.seek(5000)
        f.write(bytes([byte ^ 1]))
    r = ptah.Run([ptah.program('inspect'), '--campaign', '.'], '.')
    v.same('campaign: a flipped bit', (r.status, r.out.count('damaged: ')), (1, 1))
    r = ptah.Run([ptah.program('inspect'), '--campaign', '-j', '-q', '.'], '.')
    v.same('campaign: JSON, not looked at', (r.status, len(r.out.splitlines())), (0, len(rows)))


def main():
    v = ptah.Verdict()
    run(2, 1, '11')
    run(4, 2, '12', 'output_params/foutput=2')
    last = run(6, 1, '13', 'output_params/foutput=2')
    h = history(last)
    v.same('jobs, newest first', h['jobs'], ['Slurm %d' % n for n in (13, 12, 11)])
    v.same('restarts', len(h['from']), 2)
    v.same('other namelists have other checksums', len(set(h['namelists'])), 3)
    v.same('a commit, or none known, for each run', len(h['commits']), 3)
    ptah.Run([ptah.program('convert'), '-q', '-f', 'hdf5', '-o', 'one.h5', last], '.')
    ptah.Run([ptah.program('repartition'), '-q', '-n', '3', '-o', 'three', 'one.h5'], '.')
    h = history('three')
    v.same('through convert and repartition', [line.split()[0] for line in h['programs']],
           ['repartition', 'convert', 'simulate', 'simulate', 'simulate'])
    check_campaign(v)
    check_odd_words(v)
    v.end()


if __name__ == '__main__':
    main()
