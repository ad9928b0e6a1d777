"""One evaluation of smoothed particles beside an independent implementation of the same equations,
by all pairs: 2000 random particles with the kernel M6, and with M4 where a quarter of them is in a
dense group.

    sph.py

tests/data/sph has the particles and the results. From smoothing lengths that are wrong by a factor,
and from the right ones, each value must agree to 1e-12 and 1e-13 of the rms of its field. Example
of a fault caught: a term that is left out, a neighbour that is missed.
"""
# test: tier=quick timeout=60
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

CASES = {'M6': dict(m6=1, gamma=1.4), 'M4_cluster': dict(m6=0, gamma=5 / 3)}
OUT = 'h omega divv alphaloc ax ay az du vsig nneigh'.split()


def evaluated(case, data, h):
    program = os.path.join(ptah.ROOT, 'build', 'tests', 'toy', 'smooth_eval')
    columns = [*data['x'].T, *data['v'].T, data['u'], h, data['alpha'], *data['a_prev'].T]
    names = ['%s=%r' % item for item in dict(case, n=len(h), tol=1e-13).items()]
    r = subprocess.run([program, *names], input=np.array(columns).tobytes(),
                       stdout=subprocess.PIPE, check=True)
    return dict(zip(OUT, np.frombuffer(r.stdout).reshape(len(OUT), len(h))))


def main():
    v = ptah.Verdict()
    for name, case in CASES.items():
        with np.load(os.path.join(ptah.ROOT, 'tests', 'data', 'sph', name + '.npz')) as data:
            want = dict(data, **dict(zip(('ax', 'ay', 'az'), data['acc'].T)))
            for factor, limit in ((1, 1e-13), (0.3, 1e-12), (4, 1e-12)):
                got = evaluated(case, want, want['h'] * factor)
                for field in OUT:
                    rms = np.sqrt(np.mean(want[field].astype(float) ** 2))
                    off = np.abs(got[field] - want[field]).max() / rms
                    v.check('%s, h times %g, %s' % (name, factor, field), off, limit)
    v.end()


if __name__ == '__main__':
    main()
