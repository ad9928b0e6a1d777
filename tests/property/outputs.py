"""Times of outputs and of the end of a run, and their messages in the log.

    outputs.py [CASE…]

Example of a fault caught: a run that ends without its last state, an output at a time that lies
beyond the end, times that a restart writes again or leaves out, an output though foutput=0, a
request that is refused with foutput=0.
"""
# test: tier=check timeout=240 ranks=2
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from parameter_runs import COSMO, GAS, text_of, vary  # noqa: E402

# Steps of 0.012 or less each, and of a few per cent of a.
BOX = text_of(vary(GAS, 'output', 'run/nstepmax', run={'nremap': 0}))
UNIVERSE = text_of(vary(COSMO, 'output', 'run/nstepmax'))


def run(name, *settings, text=BOX, **more):
    os.makedirs(name, exist_ok=True)
    if text == UNIVERSE and not os.path.exists(name + '/ics'):
        os.symlink(os.path.abspath('ics'), name + '/ics')
    return ptah.simulate(text, name, settings=['output/' + s if '/' not in s else s
                                               for s in settings], **more)


def info(path, name):
    with open(os.path.join(path, 'info_%s.txt' % path.rstrip('/')[-5:])) as f:
        return float(re.search(r'%s *= *(\S+)' % name, f.read())[1])


def numbers(r):
    return [int(p.rstrip('/')[-5:]) for p in r.outputs]


def said(r, text):
    return [line for line in r.err.splitlines() if text in line]


def ends(v, name, unit, first, end, late, text):
    """Outputs at the start, at `first`, and at `end`; the log names the entry of the list beyond
    `end`; a run resumed from the middle gives the same outputs."""
    given = ['%s=%r,%r' % (unit[0] + 'out', first, late), '%s=%r' % (unit[0] + 'end', end)]
    whole = run(name, *given, text=text)
    at = [info(p, unit) for p in whole.outputs]
    v.same(name + ': outputs', numbers(whole), [1, 2, 3])
    v.same(name + ': the last is at the end, not at the entry beyond',
           (first <= at[1] < end <= at[2] < late, at[0] < first), (True, True))
    v.same(name + ': the log names the entry beyond', len(said(
        whole, ' output/%sout: the last 1 entry lies beyond %send=%g, where the run ends'
        % (unit[0], unit[0], end))), 1)
    v.same(name + ': nothing is lost', said(whole, 'are in no checkpoint'), [])
    rest = run(name + '_rest', *given, text=text,
               options=['-r', os.path.abspath(whole.outputs[1])])
    v.same(name + ', resumed: the outputs that are left', numbers(rest), [3])
    v.same(name + ', resumed: the same digest',
           ptah.digest(rest.outputs[-1]) == ptah.digest(whole.outputs[-1]), True)


def times(v):
    ends(v, 'tend', 'time', 0.02, 0.04, 0.9, BOX)


def expansion(v):
    ptah.unpack_ics('.', 'ic_32')
    ends(v, 'aend', 'aexp', 0.021, 0.023, 0.9, UNIVERSE)


def noutput(v):
    r = run('noutput', 'tout=0.01,0.02,0.9', 'noutput=2')
    v.same('noutput: outputs', numbers(r), [1, 2, 3])
    v.same('noutput: the run ends with the last that counts', info(r.outputs[-1], 'time') < 0.04,
           True)
    v.same('noutput: the log names the rest', len(said(
        r, ' output/tout has 3 entries, but noutput=2: entries from tout(3)=0.9 on are not '
        'used')), 1)
    r = run('more', 'tout=0.01', 'noutput=3')
    v.same('more than given: outputs', (r.status, numbers(r)), (0, [1, 2]))
    v.same('more than given: the log', len(said(
        r, ' output/noutput=3, but output/tout has 1 entry, which alone count')), 1)


def nstepmax(v):
    for every, written, line in [
            (1000, [1], 'coarse steps after 0 are in no checkpoint'),
            (2, [1, 2], 'coarse steps after 2 are in no checkpoint'), (3, [1, 2], '')]:
        r = run('steps_%d' % every, 'run/nstepmax=3', 'foutput=%d' % every)
        lost = [x for x in said(r, 'nstepmax=3 has ended the run') if line in x]
        v.same('nstepmax=3, foutput=%d: outputs, lines of what is lost' % every,
               (numbers(r), len(lost)), (written, bool(line)))
    whole = run('steps_2', 'run/nstepmax=3', 'foutput=2', options=['--force'])
    rest = run('steps_rest', 'run/nstepmax=3', 'foutput=1000',
               options=['-r', os.path.abspath(whole.outputs[-1])])
    v.same('nstepmax=3, resumed: what is lost',
           len(said(rest, 'coarse steps after 2 are in no checkpoint')), 1)


def order(v):
    for name in 'tout', 'aout':
        r = run('order', '%s=0.3,0.1' % name, must_work=False)
        lines = said(r, 'simulate: ')
        v.same(name + ' in wrong order: one sentence, status 2',
               (r.status, len(lines), '%s(2)=0.1' % name in r.err, 'ascending order' in r.err),
               (2, 1, True, True))


QUIET = ['foutput=0', 'tout=0.01,0.9', 'delta_tout=0.01']


def silent(v):
    r = run('never', *QUIET, 'tend=0.03')
    v.same('foutput=0: status, outputs, folders', (r.status, r.outputs, [
        x for x in os.listdir('never') if x.startswith('output')]), (0, [], []))
    v.same('foutput=0: the log says so',
           len(said(r, ' foutput=0: outputs are written on request only')), 1)
    whole = run('often', 'foutput=1', 'tend=0.03')
    v.same('foutput=1: the same steps', said(r, ' Main step=') == said(whole, ' Main step='), True)
    r = run('steps', *QUIET, 'run/nstepmax=4', 'fbackup=2')
    v.same('foutput=0, fbackup=2: outputs', (r.status, [info(p, 'nstep_coarse')
                                                           for p in r.outputs]), (0, [2, 4]))
    for action, status, most in ('1', 0, 4), ('-1', 75, 2):
        os.makedirs('file' + action)
        with open('file%s/jobcontrol.txt' % action, 'w') as f:
            f.write('2 %s\n' % action)
        r = run('file' + action, *QUIET, 'run/nstepmax=4', must_work=False)
        v.same('foutput=0, jobcontrol.txt, action %s: status, outputs' % action,
               (r.status, numbers(r)), (status, [1]))
        v.same('foutput=0, jobcontrol.txt, action %s: the state of step 2' % action,
               info(r.outputs[0], 'nstep_coarse'), 2)
        v.same('foutput=0, jobcontrol.txt, action %s: steps' % action,
               len(said(r, ' Main step=')) <= most, True)


def signalled(v):
    """SIGUSR1 during the run: a checkpoint, from which the run resumes."""
    os.makedirs('signal')
    with open('signal/run.nml', 'w') as f:
        f.write(BOX)
    with open('signal/log', 'w') as log:
        p = subprocess.Popen([ptah.program('simulate'), 'run.nml', 'output/foutput=0',
                              'output/tend=1e9'], cwd='signal', stderr=log, text=True,
                             stdout=subprocess.PIPE, env={**os.environ, 'OMP_NUM_THREADS': '1'})
        for _ in range(600):
            with open('signal/log') as f:
                if ' Main step=      3 ' in f.read():
                    break
            time.sleep(0.1)
        p.send_signal(signal.SIGUSR1)
        out = ptah.wait_patiently(lambda s: p.communicate(timeout=s), 60)[0].split()
    v.same('foutput=0, SIGUSR1: status, outputs', (p.returncode, [x[-5:] for x in out]),
           (75, ['00001']))
    r = run('signal', 'foutput=0', 'run/nstepmax=%d' % (info('signal/' + out[0],
                                                             'nstep_coarse') + 1),
            options=['-r', os.path.abspath('signal/' + out[0])])
    v.same('foutput=0, resumed: status, outputs', (r.status, r.outputs), (0, []))


def taken(v):
    """A request would have to replace an existing checkpoint: the run reports this at its start."""
    first = run('taken', 'foutput=1000', 'run/nstepmax=1')
    r = run('taken', 'foutput=0', 'run/nstepmax=1', must_work=False)
    v.same('foutput=0 where output_00001 exists: status, sentence',
           (len(first.outputs), r.status, 'output_00001 exists already' in r.err), (1, 2, True))


CASES = {'times': times, 'expansion': expansion, 'noutput': noutput, 'nstepmax': nstepmax,
         'order': order, 'silent': silent, 'signalled': signalled, 'taken': taken}


def main():
    v = ptah.Verdict()
    for name in sys.argv[1:] or CASES:
        CASES[name](v)
    v.end()


if __name__ == '__main__':
    main()
