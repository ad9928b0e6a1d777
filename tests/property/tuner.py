"""exchange_method=auto: the log gives the choice and its reason, a checkpoint stores the choice,
and a restart uses it; a forced transport is used without measurement.

Example of a fault caught: choices that a checkpoint does not have, a trial that begins again at a
restart, a forced transport that is ignored.
"""
# test: sedov tier=check timeout=120 ranks=3
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
import digest  # noqa: E402
import ptah  # noqa: E402

RANKS = 3
# The hundredth exchange of gas, which decides, belongs to step 7 or 8.
OUTPUT, STEPS = 12, 13
TOOK = re.compile(r'Exchange (\w+): takes (\w+) \((.*) a call; call (\d+)\)')


def kept(path):
    """Transports in a checkpoint: use: [ranks, transport, interval]."""
    with open(os.path.join(path, 'compilation.txt')) as f:
        rows = re.findall(r'^exchange: (\d+) (\w+) (\w+) (\d+) ([-+.e0-9]+)$', f.read(), re.M)
    return {use: [int(ranks), by, int(calls)] for ranks, use, by, calls, _ in rows}


def coarse_step(path):
    info = os.path.join(path, 'info_%s.txt' % path[-5:])
    with open(info) as f:
        return int(re.search(r'^nstep_coarse= *(\d+)', f.read(), re.M)[1])


def run(folder, settings, options=()):
    os.makedirs(folder, exist_ok=True)
    settings = ['output_params/foutput=%d' % OUTPUT, 'run_params/nstepmax=%d' % STEPS, *settings]
    return ptah.simulate(digest.SEDOV, folder, RANKS, 1, settings, options)


def main():
    v = ptah.Verdict()
    r = run('auto', ['run_params/nremap=3'])
    took = {m[0]: m[1] for m in TOOK.findall(r.out + r.err)}
    print('     chosen: %s' % took)
    v.same('every transport tried is named with its time',
           all('p2p' in m[2] and 'ksection' in m[2] and m[2].count(' us') == 2
               for m in TOOK.findall(r.out + r.err)), True)
    v.same('gas and flags were decided on', {'bulk_dp', 'pair_int'} <= set(took), True)
    # Choices made while octs move for the output, or later, need not be in the checkpoint. A slow
    # disk may delay its message beyond the coarse step.
    log = r.err[:r.err.rindex(' Wrote ')]
    step = re.split(r' Main step= *%d ' % coarse_step(r.outputs[-1]), log)[0]
    before = TOOK.findall(step[:step.rindex(' Main step=')])
    have = {k: x[:2] for k, x in kept(r.outputs[-1]).items()}
    v.same('what the checkpoint keeps', {m[0]: have.get(m[0]) for m in before},
           {m[0]: [RANKS, m[1]] for m in before})
    v.same('gas is among it', 'bulk_dp' in have, True)
    v.same('kept without a decision', set(have) - {m[0] for m in TOOK.findall(log)}, set())
    again = run('auto', ['run_params/nrestart=%d' % len(r.outputs),
                         'run_params/nstepmax=%d' % (STEPS + 2)])
    told = dict(re.findall(r' Exchange (\w+): (\w+), as in the run before ', again.err))
    v.same('what the log says of choices of the run before', told,
           {use: x[1] for use, x in have.items()})
    once_more = {m[0] for m in TOOK.findall(again.out + again.err)}
    v.same('uses decided on twice', once_more & set(have), set())
    forced = run('forced', ['run_params/exchange_method=alltoallv', 'run_params/nremap=3'])
    v.same('forced: lines about choices', TOOK.findall(forced.out + forced.err), [])
    v.same('forced: the log names the transport',
           ' Exchanges: all by alltoallv' in forced.err, True)
    v.same('forced: choices kept', kept(forced.outputs[-1]), {})
    v.same('forced: same digest', ptah.digest(forced.outputs[-1]), ptah.digest(r.outputs[-1]))
    wrong = ptah.simulate(digest.SEDOV, 'forced', RANKS, 1,
                          ['run_params/exchange_method=pigeons'], must_work=False)
    v.same('an unknown transport: exit status', wrong.status, 2)
    v.end()


if __name__ == '__main__':
    main()
