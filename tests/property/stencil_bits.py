"""Bitwise reproducibility of the stencil solver: fields and time series of a run do not depend on
ranks, threads, the division of the mesh, the transport of halos, or a stop between.

    stencil_bits.py CASE VARIANTS   CASE: all (all terms, helical force), turb (order 8, isothermal,
                                    Ornstein-Uhlenbeck force), flat (order 2, a plane of cells) or
                                    narrow (a mesh narrower than its halo); VARIANTS: few,
                                    divisions, transports, restart or device

device: fields and substeps on an emulated device, whose orders come from seeds.

Examples of faults caught: a cell at the surface of a brick that another loop computes with other
roundings, a corner of the halo that is not filled, a sum of doubles over ranks, random numbers that
follow the rank, a time step of the run that stopped.
"""
# test: all few tier=quick timeout=60 ranks=3
# test: turb few tier=check timeout=120 ranks=3
# test: flat few tier=check timeout=120 ranks=3
# test: narrow few tier=check timeout=120 ranks=3
# test: all divisions tier=check timeout=240 ranks=8
# test: all transports tier=check timeout=240 ranks=4
# test: all device tier=check timeout=180 ranks=3
# test: narrow device tier=check timeout=120 ranks=3
# test: turb device tier=check timeout=120 ranks=3
# test: all restart tier=check timeout=120 ranks=3
# test: turb restart tier=check timeout=120 ranks=3
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import uniform  # noqa: E402

STEPS = 8
CASES = {
    'all': dict(nx=16, ny=12, nz=20, ly=4.0, entropy=True, upwind=True, nu=0.02, zeta=0.01,
                eta=0.01, chi=0.01, kcond=0.01, heating=0.1, bext=(0.1, 0.2, 0.3),
                init_u='gaussian', init_a='random', init_lnrho='random', init_s='random',
                amp_u=0.2, amp_a=0.1, amp_lnrho=0.2, amp_s=0.1, forcing='helical', f0=0.1,
                kf=1.5, sigma=0.5),
    'turb': dict(nx=16, ny=16, nz=12, order=8, nu=0.05, eta=0.05, init_a='random', amp_a=0.1,
                 forcing='turb', turb={'turb_rms': 0.5, 'turb_T': 0.3, 'turb_Ndt': 7}),
    'flat': dict(nx=24, ny=18, nz=1, order=2, nu=0.02, eta=0.02, init_u='orszag-tang',
                 init_a='orszag-tang', forcing='constant', f_const=(0.1, 0.2, 0.3)),
    'narrow': dict(nx=20, ny=2, nz=3, order=8, nu=0.05, eta=0.05, init_u='random', amp_u=0.1,
                   init_a='random', amp_a=0.1),
}


def text(case, steps=STEPS):
    return uniform.namelist(steps, STEPS // 2, diag_every=2, **CASES[case])


def result(name, run):
    """All that must be equal: bytes of the fields of the last checkpoint, and the time series."""
    with open(os.path.join(name, 'time_series.txt')) as f:
        table = f.read()
    return {**{k: a.tobytes() for k, a in uniform.last(run).items()}, 'series': table}


def differs(a, b):
    return sorted(k for k in a if a[k] != b.get(k)) + sorted(set(b) - set(a))


def variant(v, case, first, name, ranks=1, threads=1, env=None, settings=()):
    r = uniform.simulate(text(case), name, ranks=ranks, threads=threads, env=env,
                         settings=settings)
    v.same(name, differs(first, result(name, r)), [])


def parts(*p):
    return ['stencil_params/parts=%d,%d,%d' % p]


def few(v, case, first):
    variant(v, case, first, 'threads', threads=2)
    variant(v, case, first, 'ranks2', ranks=2)
    variant(v, case, first, 'ranks3', ranks=3, threads=2)


def divisions(v, case, first):
    for ranks in (4, 5, 7, 8):
        variant(v, case, first, 'ranks%d' % ranks, ranks=ranks)
    for p in ((1, 1, 4), (1, 4, 1), (4, 1, 1), (2, 1, 2), (1, 2, 3), (2, 2, 2), (1, 1, 1)):
        variant(v, case, first, 'parts%d%d%d' % p, ranks=max(2, p[0] * p[1] * p[2]),
                settings=parts(*p))


def transports(v, case, first):
    variant(v, case, first, 'overlap', ranks=4, settings=['stencil_params/overlap=.false.'])
    variant(v, case, first, 'nodes', ranks=4, env={'PTAH_NODE_RANKS': '2'})
    variant(v, case, first, 'windows', ranks=4, settings=['run_params/exchange_shared=.false.'])
    for t in ptah.transports():
        variant(v, case, first, 'transport_' + t, ranks=4,
                settings=["run_params/exchange_method='%s'" % t,
                          'run_params/exchange_shared=.false.'])


def device(v, case, first):
    for ranks, seed, more in ((1, 1, ()), (2, 2, ()), (3, 3, ['stencil_params/overlap=.false.'])):
        name = 'device%d' % ranks
        r = uniform.simulate(text(case), name, ranks=ranks, options=(), settings=[
            'stencil_params/gpu=.true.', "run_params/gpu_device='host'",
            'run_params/gpu_seed=%d' % seed, *more])
        v.same(name, differs(first, result(name, r)), [])
        v.same(name + ' is used', 'the fields are on' in r.err, True)


def restart(v, case, first):
    for before, after in ((1, 3), (3, 1), (2, 2)):
        name = 'restart%d%d' % (before, after)
        uniform.simulate(text(case, STEPS // 2), name, ranks=before)
        r = uniform.simulate(text(case), name, ranks=after, settings=['run_params/nrestart=2'])
        v.same(name, differs(first, result(name, r)), [])


def main():
    _, words = ptah.options(__doc__, '')
    case, variants = (words + ['all', 'few'][len(words):])[:2]
    v = ptah.Verdict()
    first = result('first', uniform.simulate(text(case), 'first'))
    {'few': few, 'divisions': divisions, 'transports': transports,
     'restart': restart, 'device': device}[variants](v, case, first)
    v.end()


main()
