"""Bitwise reproducibility of smoothed particles: particles, point masses and energies of a run do
not depend on ranks, threads, domains, transports, or a stop between.

    sph_bits.py CASE VARIANTS   CASE: sod, sedov, disc (point masses that accrete, locally
                                isothermal) or evrard (self-gravity); VARIANTS: few, many, restart
                                or device

Examples of faults caught: neighbours in the order of a rank's own tree, a ghost that is missing or
has an old smoothing length, a sum of doubles over ranks, a restart whose first step takes another
acceleration, particles that two point masses accrete on two ranks.
"""
# test: sedov few tier=quick timeout=60 ranks=3
# test: sod few tier=check timeout=120 ranks=3
# test: disc few tier=check timeout=120 ranks=3
# test: evrard few tier=check timeout=120 ranks=3
# test: sedov many tier=check timeout=240 ranks=8
# test: disc many tier=long timeout=240 ranks=8
# test: evrard many tier=long timeout=240 ranks=8
# test: disc restart tier=check timeout=120 ranks=3
# test: sedov device tier=check timeout=120 ranks=3
# test: disc device tier=check timeout=120 ranks=3
# test: evrard restart tier=check timeout=120 ranks=3
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import smoothed  # noqa: E402

STEPS = 6
CASES = {
    'sedov': dict(setup='sedov', npx=12, balance_every=2),
    'sod': dict(setup='sod', npx=32, kernel='M6', gamma=1.4, balance_every=3),
    'disc': dict(setup='disc', np=1500, boundary='free', eos='locally_isothermal',
                 alpha_switch='disc', cs0=0.05, nsink=2, sink_m=(1.0, 1e-3),
                 sink_x=(0.0, 0.0, 0.0, 4.0, 0.0, 0.0), sink_v=(0.0, 0.0, 0.0, 0.0, 0.5, 0.0),
                 sink_racc=(1.5, 0.5)),
    'evrard': dict(setup='evrard', npx=12, boundary='free', gravity='tree', lattice='cubic'),
}


def text(case, steps=STEPS):
    return smoothed.namelist(steps, STEPS // 2, **CASES[case])


def result(name, run):
    """All that must be equal: bytes of the columns of the last checkpoint, and the energies."""
    with open(os.path.join(name, 'energies.txt')) as f:
        table = f.read()
    return {**{k: a.tobytes() for k, a in smoothed.last(run).items()}, 'energies': table}


def differs(a, b):
    return sorted(k for k in a if a[k] != b.get(k)) + sorted(set(b) - set(a))


def variant(v, case, first, name, ranks=1, threads=1, env=None, settings=()):
    r = smoothed.simulate(text(case), name, ranks=ranks, threads=threads, env=env,
                          settings=settings)
    v.same(name, differs(first, result(name, r)), [])


def few(v, case, first):
    variant(v, case, first, 'threads', threads=2)
    variant(v, case, first, 'ranks2', ranks=2)
    variant(v, case, first, 'ranks3', ranks=3, threads=2,
            settings=['sph_params/balance_every=1'])


def many(v, case, first):
    for ranks in (4, 5, 7, 8):
        variant(v, case, first, 'ranks%d' % ranks, ranks=ranks)
    for t in ptah.transports():
        variant(v, case, first, 'transport_' + t, ranks=3,
                settings=["run_params/exchange_method='%s'" % t,
                          'run_params/exchange_shared=.false.'])


def restart(v, case, first):
    for before, after in ((1, 3), (3, 1)):
        name = 'restart%d%d' % (before, after)
        smoothed.simulate(text(case, STEPS // 2), name, ranks=before)
        r = smoothed.simulate(text(case), name, ranks=after, settings=['run_params/nrestart=2'])
        v.same(name, differs(first, result(name, r)), [])


def device(v, case, first):
    for ranks, seed in ((1, 1), (2, 2), (3, 3)):
        name = 'device%d' % ranks
        r = smoothed.simulate(text(case), name, ranks=ranks, options=(), settings=[
            'sph_params/gpu=.true.', "run_params/gpu_device='host'",
            'run_params/gpu_seed=%d' % seed])
        v.same(name, differs(first, result(name, r)), [])
    if case == 'sedov':
        resident(v)


def resident(v):
    """Columns of a run on one rank stay on the device."""
    moved = []
    for steps in (1, 1 + STEPS):
        r = smoothed.simulate(text('sedov', steps), 'resident%d' % steps, options=(), settings=[
            'sph_params/gpu=.true.', "run_params/gpu_device='host'", 'run_params/gpu_seed=1',
            'sph_params/diag_every=0', 'sph_params/balance_every=1000',
            'output_params/foutput=0'])
        mb = re.search(r'Device: ([0-9.]+) MB to it and ([0-9.]+) MB back', r.out + r.err)
        moved.append(float(mb.group(1)) + float(mb.group(2)))
    v.check('MB that %d more steps move' % STEPS, moved[1] - moved[0], 0.06 * moved[0])


def main():
    _, words = ptah.options(__doc__, '')
    case, variants = (words + ['sedov', 'few'][len(words):])[:2]
    v = ptah.Verdict()
    first = result('first', smoothed.simulate(text(case), 'first'))
    {'few': few, 'many': many, 'restart': restart, 'device': device}[variants](v, case, first)
    v.end()


main()
