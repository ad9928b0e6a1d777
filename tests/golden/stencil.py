"""A step of the stencil solver from white noise beside an independent implementation of the same
equations in extended precision, whose result was rounded once to doubles: all orders and sets of
equations, boxes whose sides differ, rows shorter than a vector.

    stencil.py

tests/data/fd/steps.npz has the initial state, and for each case three planes along z of the fields
that change. A value may differ by two units in the last place of the largest absolute value of its
field, after ten steps by ten. Example of a fault caught: a term that is left out, a coefficient
that is off by 1e-10.
"""
# test: tier=quick timeout=60
import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

NAMES = 'lnrho ux uy uz s ax ay az'.split()


def number(x):
    return float(Fraction(x)) if isinstance(x, str) else float(x)


def arguments(case):
    par, box = case['par'], case['box']
    a = {'order': par['order'], 'steps': case['steps'], 'dt': number(case['dt']),
         'flow': par.get('hydro', True), 'entropy': par.get('entropy', True),
         'magnetic': par.get('magnetic', True), 'lorentz': par.get('lorentz', True),
         'upwind': par.get('upwind', False), 'k': number(par['K']),
         'heat': number(par['H']) - number(par['C'])}
    for name in 'nu eta zeta chi rho0 cs0 cp mu0 gamma'.split():
        a[name] = number(par[name])
    for i, axis in enumerate('xyz'):
        a['n' + axis], a['b' + axis] = box[i], number(par['bext'][i])
        a['d' + axis] = par['L'][i] / box[i]
    return ['%s=%r' % (k, float(x)) for k, x in a.items()]


def advanced(case, initial):
    program = os.path.join(ptah.ROOT, 'build', 'tests', 'toy', 'fd_steps')
    nx, ny, nz = case['box']
    start = np.ascontiguousarray(initial[:, :nz, :ny, :nx], dtype=np.float64)
    r = subprocess.run([program, *arguments(case)], input=start.tobytes(), stdout=subprocess.PIPE,
                       check=True)
    return start, np.frombuffer(r.stdout)[:start.size].reshape(start.shape)


def compare(v, name, case, initial, is_):
    start, end = advanced(case, initial)
    limit = max(2, case['steps'])
    for k, field in enumerate(case['fields']):
        one = 2.0 ** (np.floor(np.log2(np.abs(is_[k]).max())) - 52)
        off = np.abs(end[field][case['planes']] - is_[k]).max() / one
        v.check('%s, %s' % (name, NAMES[field]), off, limit)
    for field in set(range(8)) - set(case['fields']):
        parts = {0: 'hydro', 4: 'entropy', 5: 'magnetic'}
        part = parts[max(f for f in parts if f <= field)]
        frozen = case['par'].get(part, True) or part == 'hydro'
        if frozen:  # has an array
            v.same('%s, %s stays' % (name, NAMES[field]),
                   bool(np.array_equal(end[field], start[field])), True)


def main():
    v = ptah.Verdict()
    with np.load(os.path.join(ptah.ROOT, 'tests', 'data', 'fd', 'steps.npz')) as data:
        cases = json.loads(str(data['meta']))
        for name, case in cases.items():
            compare(v, name, case, data['f0'], data[name])
    v.same('cases', len(cases) > 9, True)
    v.end()


if __name__ == '__main__':
    main()
