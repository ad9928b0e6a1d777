"""Wrong parameters of driven turbulence: each ends the program with status 2 and one sentence that
names the parameter, before anything is written.

Example of a fault caught: a spectrum of another name that drives nothing.
"""
# test: tier=check timeout=60
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from parameter_runs import STIRRED, text_of, vary  # noqa: E402

# values of &TURB_PARAMS, other groups, words of the sentence
WRONG = [
    (dict(turb_t=0.0), {}, ['turb_t=0']),
    (dict(turb_ndt=0), {}, ['turb_ndt=0', '1 .. 10000']),
    (dict(comp_frac=1.5), {}, ['comp_frac=1.5']),
    (dict(turb_type=4), {}, ['turb_type']),
    (dict(turb_rule='faulty'), {}, ['turb_rule', 'faulty']),
    (dict(turb_rule='ramses'), dict(run={'ndim': 2}), ['turb_rule', 'ndim=3']),
    (dict(forcing_power_spectrum='flat'), {}, ['forcing_power_spectrum', 'flat', 'parabolic']),
    (dict(initial_turb_spectrum='flat'), {}, ['initial_turb_spectrum', 'flat', 'parabolic']),
    (dict(initial_turb_vrms=0.0), {}, ['initial_turb_vrms=0']),
    (dict(initial_turb_comp_frac=-0.1), {}, ['initial_turb_comp_frac']),
]


def main():
    v = ptah.Verdict()
    for i, (values, more, words) in enumerate(WRONG):
        text = text_of(vary(STIRRED, turb=values, **more))
        r = ptah.simulate(text, str(i), must_work=False)
        lines = [line for line in r.err.splitlines() if line.startswith('simulate: ')]
        good = r.status == 2 and len(lines) == 1 and all(w in lines[0] for w in words)
        v.same(' '.join('%s=%s' % x for x in values.items()), good or (r.status, r.err[-300:]),
               True)
        v.same('nothing is written', [x for x in os.listdir(str(i)) if x.startswith('output')], [])
    v.end()


if __name__ == '__main__':
    main()
