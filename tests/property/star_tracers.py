"""Monte-Carlo tracers follow gas into stars and out of supernovae: in a box on three levels that
forms stars, as many star tracers as the mass of stars asks for, each exactly at its star; the same
on any ranks and after a restart.

    star_tracers.py FEEDBACK    thermal, momentum

Example of a fault caught: a tracer that is kicked twice or not at all, that misses its star on
another rank, a probability of the mass after the birth instead of before, a release without cell.
"""
# test: thermal tier=check timeout=120 ranks=3
# test: momentum tier=check timeout=120 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import stars  # noqa: E402

MASS = 1e-4
SETTINGS = ['run_params/tracer=T', 'tracer_params/mc_tracer=T',
            'tracer_params/tracer_mass=%g' % MASS,
            'tracer_params/tracer_feed_fmt=inplace', 'sf_params/eps_star=1.0']


def run(feedback, name, ranks, options=(), check=False):
    return stars.galaxy(feedback, name, ranks, options=options, check=check,
                        settings=SETTINGS).outputs


def off(s):
    """Numbers of star tracers without their star, and of those that are away from it."""
    p = s.part
    star, tracer = p['family'] == 2, p['family'] == -2
    order = np.argsort(p['identity'][star])
    ids = p['identity'][star][order]
    at = np.minimum(np.searchsorted(ids, p['partp'][tracer]), len(ids) - 1)
    apart = np.zeros(tracer.sum(), bool)
    for c in 'xyz':
        for kind in ('position_', 'velocity_'):
            apart |= p[kind + c][tracer] != p[kind + c][star][order][at]
    return int((ids[at] != p['partp'][tracer]).sum()), int(apart.sum())


def numbers(v, s, n):
    p = s.part
    star, tracer, gas = (p['family'] == f for f in (2, -2, 0))
    v.same('number of tracers', tracer.sum() + gas.sum(), n)
    v.same('star tracers without a star, or away from it', off(s), (0, 0))
    want = p['mass'][star].sum() / MASS
    v.check('star tracers %d, by mass %.1f: in 3 sqrt' % (tracer.sum(), want),
            abs(tracer.sum() - want) / np.sqrt(want), 3)
    v.check('enough of them', 50 / max(tracer.sum(), 1), 1)


def main():
    feedback = sys.argv[1]
    v = ptah.Verdict()
    first, middle, last = run(feedback, 'one', 1)
    s = read_ramses.load(last)
    numbers(v, s, (read_ramses.load(first).part['family'] <= 0).sum())
    known = ptah.digest(last)
    others = (2, 3) if feedback == 'thermal' else (2,)
    for ranks in others:
        found = run(feedback, 'on_%d' % ranks, ranks, check=ranks == 2)[-1]
        v.same('%d ranks' % ranks, ptah.digest(found), known)
    found = run(feedback, 'resumed', 2, ['-r', '../one/output_00002'])[-1]
    v.same('resumed', ptah.digest(found), known)
    dead = (s.part['family'] == 2) & (s.part['tag'] == 1)
    v.check('stars that have exploded', 1 / max(dead.sum(), 1), 1)
    v.end()


if __name__ == '__main__':
    main()
