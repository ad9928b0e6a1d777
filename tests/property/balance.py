"""Domains balance the memory of ranks; a rank that dies ends the run, but leaves its checkpoints.

    balance.py clusters BASE RANKS...  20 clusters of particles and gas on a base of 2^BASE cells
                                       per side, refined: max/min of the bytes held by the ranks
    balance.py particles RANKS         nearly all memory is particles, in one corner: peak to mean,
                                       with domains of equal volume and with balanced ones
    balance.py outputs RANKS           a balance and an output in each step: octs travel to the
                                       layout of the output, and from there to the new domains
    balance.py killed RANKS            SIGKILL for one rank: the others end within seconds, with one
                                       message, and the last checkpoint is good

Bytes are those counted by the program after a coarse step, as in its log. Catches: particles
charged to no oct, or with a few bytes each; ranks left waiting for a dead one.
"""
# test: clusters 5 2 tier=check timeout=300 ranks=2
# test: clusters 7 2 4 8 12 tier=long timeout=7200 ranks=2
# test: particles 4 tier=check timeout=120 ranks=2 device=check
# test: outputs 2 tier=check timeout=120 ranks=2
# test: killed 3 tier=check timeout=120 ranks=3
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

SPREAD, PEAK, PEAK_BEFORE = 1.05, 1.15, 1.9
SECONDS = 20  # time from the death of a rank to the end of the run, on a loaded machine


def held(run):
    """(min, mean, max) of MB held by the ranks after the last coarse step."""
    lines = re.findall(r'Ranks \(min,mean,max\): held ([\d.]+) ([\d.]+) ([\d.]+) MB', run.err)
    return tuple(map(float, lines[-1]))


def particles(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.writelines('%.6f %.6f %.6f 0 0 0 %.9e\n' % (*x, 1 / len(rows)) for x in rows)


def clustered(n):
    """A third of n points at random in the box, the others in 20 clusters (Kim 2026, 8.6.3)."""
    r = random.Random(1)
    rows = [[r.random() - 0.5 for _ in range(3)] for _ in range(n // 3)]
    centre = [[r.random() - 0.5 for _ in range(3)] for _ in range(20)]
    weight = [10 + 4273 * i % 90 for i in range(1, 21)]
    for i in r.choices(range(20), weight, k=n - len(rows)):
        width = (0.02 + 0.001 * (5381 * (i + 1) % 80)) / 2
        rows.append([(c + r.gauss(0, width) + 0.5) % 1 - 0.5 for c in centre[i]])
    return rows


def clusters(v, base, ranks):
    particles('ics/ic_part', clustered(min(3 * 8 ** base, 400000)))
    # 16 of these are twice the mean mass of gas and particles in a cell
    refine = 'm_refine=10*8.0\nmass_sph=%.9e' % (2 / 8 ** base / 2)
    box = ptah.ascii_box((base, base + 2), 1, 1000, refine, ics='../ics')
    for n in ranks:
        for order in ('ksection', 'hilbert'):
            r = ptah.simulate(box, '%s-%d' % (order, n), n,
                              settings=['run_params/ordering=' + order])
            low, mean, high = held(r)
            print('     %s, %d ranks: %.1f %.1f %.1f MB' % (order, n, low, mean, high))
            v.check('%s, %d ranks: max/min - 1 of what is held' % (order, n),
                    high / low - 1, SPREAD - 1)
    v.end()


def corner(v, ranks):
    r = random.Random(2)
    particles('ics/ic_part',
              [[r.random() ** 2.1 * 0.9 - 0.5 for _ in range(3)] for _ in range(260000)])
    box = ptah.ascii_box((4, 4), 1, 1000, 'm_refine=10*8.0', ics='../ics')
    peak = {}
    for nremap in 0, 1:
        settings = ['run_params/nremap=%d' % nremap,
                    # outputs in other formats balance the domains themselves
                    'output_params/outformat=hdf5',
                    # shared windows take up to 2 MiB per rank
                    'run_params/exchange_shared=.false.']
        low, mean, high = held(ptah.simulate(box, 'nremap%d' % nremap, ranks, settings=settings))
        print('     nremap %d: %.1f %.1f %.1f MB' % (nremap, low, mean, high))
        peak[nremap] = high / mean
    v.same('equal volumes: peak to mean above %g' % PEAK_BEFORE, peak[0] > PEAK_BEFORE, True)
    v.check('balanced: peak to mean - 1', peak[1] - 1, PEAK - 1)
    v.end()


def outputs(v, ranks):
    """A format that needs no other layout shows that domains change; also gives the reference
    state."""
    r = random.Random(3)
    particles('ics/ic_part', [[r.random() ** 2 - 0.5 for _ in range(3)] for _ in range(30000)])
    box = ptah.ascii_box((4, 5), 3, 1, 'm_refine=10*8.0', ics='../ics')
    phases, states = {}, {}
    for form in 'ramses', 'hdf5':
        r = ptah.simulate(box, form, ranks, options=['-j', 'profile'],
                          settings=['run_params/nremap=0', 'run_params/remap_thresh=0.02',
                                    'output_params/outformat=' + form])
        with open(os.path.join(form, 'profile')) as f:
            phases[form] = json.loads(f.readlines()[-1])['phases_s']
        states[form] = [ptah.digest(path) for path in r.outputs]
    moved = {form: 'balance: octs' in p for form, p in phases.items()}
    v.same('octs moved by a balance', moved, {'ramses': False, 'hdf5': True})
    v.same('the states are the same', states['ramses'] == states['hdf5'], True)
    v.same('outputs', len(states['hdf5']), 4)
    v.end()


def children(pid):
    found = []
    for p in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % p) as f:
                if int(f.read().rsplit(')', 1)[1].split()[1]) == pid:
                    found.append(int(p))
        except OSError:
            pass
    return found


def alive(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def killed(v, ranks):
    particles('ics/ic_part', clustered(2000))
    with open('run.nml', 'w') as f:
        f.write(ptah.ascii_box((3, 4), 100000, 1, 'm_refine=10*8.0', ics='ics'))
    run = subprocess.Popen(ptah.mpirun(ranks) + [ptah.program('simulate'), 'run.nml'], text=True,
                           env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'},
                           stdout=subprocess.PIPE, stderr=open('log', 'w'))
    good = [run.stdout.readline().strip() for _ in range(2)][-1]
    ours = children(run.pid)
    v.same('ranks', len(ours), ranks)
    begin = time.monotonic()
    os.kill(ours[1], signal.SIGKILL)
    more, _ = ptah.wait_patiently(lambda s: run.communicate(timeout=s), 100)
    took = time.monotonic() - begin
    good = ([good] + more.split())[-1]
    with open('log') as f:
        said = [x for x in f if 'signal 9' in x or 'simulate:' in x]
    v.check('seconds until the run ended', took, SECONDS)
    v.same('its status says so', run.returncode != 0, True)
    v.same('one message', len(said), 1)
    while any(map(alive, ours)) and time.monotonic() < begin + SECONDS:
        time.sleep(0.1)
    v.same('no rank is left', list(filter(alive, ours)), [])
    v.same('%s is good' % good, ptah.Run([ptah.program('inspect'), '-cc', good], '.').status, 0)
    again = ptah.simulate('run.nml', '.', 1, options=['-r', good, '-o', 'again'],
                          settings=['run_params/nstepmax=%d' % (int(good[-5:]) + 1)])
    v.same('a run resumes from it', len(again.outputs) > 0, True)
    v.end()


def main():
    v = ptah.Verdict()
    case, numbers = sys.argv[1], list(map(int, sys.argv[2:]))
    if case == 'clusters':
        clusters(v, numbers[0], numbers[1:])
    elif case == 'particles':
        corner(v, numbers[0])
    elif case == 'outputs':
        outputs(v, numbers[0])
    else:
        killed(v, numbers[0])


if __name__ == '__main__':
    main()
