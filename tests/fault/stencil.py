"""Wrong parameters of the stencil solver: each ends the program with status 2 and one sentence that
names the parameter, on any rank, before anything is written.

Examples of faults caught: a parameter of the octree that is silently ignored, a wave that no mesh
has, a division of the mesh among ranks that leaves parts narrower than the halo, a start that ends
in NaN.
"""
# test: tier=check timeout=240 ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import uniform  # noqa: E402

TURB = dict(forcing='turb', magnetic=False)
# values of &STENCIL_PARAMS, words of the sentence
WRONG = [
    (dict(nq=3), ['nq']),
    (dict(nx=0), ['nx']),
    (dict(nx=70000), ['nx']),
    (dict(lx=0.0), ['lx']),
    (dict(lz=-1.0), ['lz']),
    (dict(order=5), ['order=5', '2, 4, 6 or 8']),
    (dict(order=10), ['order']),
    (dict(hydro=False, magnetic=False), ['hydro=.true. or magnetic=.true.']),
    (dict(cs0=0.0), ['cs0']),
    (dict(rho0=-1.0), ['rho0']),
    (dict(nu=-1.0), ['nu']),
    (dict(entropy=True, gamma=1.0), ['gamma=1']),
    (dict(cshock=1.0), ['cshock']),
    (dict(cdt=0.0), ['cdt']),
    (dict(dt_fixed=-1.0), ['dt_fixed']),
    (dict(precision='single'), ['precision', 'single']),
    (dict(init_u='whirl'), ['init_u', 'whirl']),
    (dict(init_a='sound'), ['init_a', 'sound']),
    (dict(init_u='roberts', kx_init=9), ['kx_init=9', 'nx=16']),
    (dict(init_a='alfven'), ['init_a', 'bext(1)']),
    (dict(init_file='none.h5'), ['none.h5']),
    (dict(forcing='wind'), ['forcing', 'wind']),
    (dict(forcing='helical', kf=30.0), ['kf=30']),
    (dict(forcing='helical', kf=0.2), ['kf=0.2']),
    (dict(forcing='helical', sigma=2.0), ['sigma']),
    (dict(forcing='helical', hydro=False), ['forcing', 'hydro=.false.']),
    (dict(turb={'comp_frac': 2.0}, **TURB), ['comp_frac=2']),
    (dict(turb={'turb_T': 0.0}, **TURB), ['turb_t']),
    (dict(turb={'turb_Ndt': 0}, **TURB), ['turb_ndt']),
    (dict(turb={'turb_type': 2}, **TURB), ['turb_type=2']),
    (dict(turb={'forcing_power_spectrum': 'flat'}, **TURB), ['flat', 'parabolic']),
    (dict(parts=(5, 5, 5)), ['parts']),
    (dict(slice_every=1, slice_fields='speed,spleen'), ['spleen']),
    (dict(nx=65536, ny=65536, nz=65536), ['memory', 'GiB']),
]
# further lines of the namelist, words
OTHERS = [
    ("&AMR_PARAMS\nlevelmin=3\n/\n", ['levelmin', 'AMR_PARAMS']),
    ("&HYDRO_PARAMS\nriemann='hll'\n/\n", ['riemann', 'HYDRO_PARAMS']),
    ("&INIT_PARAMS\nnregion=1\n/\n", ['nregion', 'INIT_PARAMS']),
]


def refused(v, what, text, words, ranks, number):
    name = 'r%d_%d' % (number, ranks)
    r = uniform.simulate(text, name, ranks=ranks, must_work=False, timeout=60)
    said = [line for line in r.err.splitlines() if line.startswith('simulate:')]
    left = [f for f in os.listdir(name) if f.startswith(('output_', 'time_series', 'slices'))]
    lacks = [w for w in words if not any(w.lower() in line.lower() for line in said)]
    v.same('%s, %d ranks' % (what, ranks), (r.status, len(said), lacks, left), (2, 1, [], []))
    if lacks:
        print(r.err[-500:])


def again(v, base):
    """A second run into the directory of a first is refused, and leaves its time series."""
    first = uniform.namelist(4, dt_fixed=0.1, diag_every=1, init_u='random', **base)
    uniform.simulate(first, 'twice')
    with open('twice/time_series.txt') as f:
        before = f.read()
    r = uniform.simulate(uniform.namelist(4, dt_fixed=0.05, **base), 'twice', must_work=False)
    with open('twice/time_series.txt') as f:
        v.same('a second run', (r.status, 'exists already' in r.err, f.read() == before),
               (2, True, True))


def main():
    ptah.options(__doc__, '')
    v = ptah.Verdict()
    base = dict(nx=16, ny=16, nz=16)
    for i, (values, words) in enumerate(WRONG):
        text = uniform.namelist(2, **{**base, **values})
        what = ', '.join('%s=%s' % x for x in values.items())
        refused(v, what, text, words, 1 + (i % 4 == 3), i)
    for i, (lines, words) in enumerate(OTHERS):
        refused(v, lines.split()[1], uniform.namelist(2, **base) + lines, words, 1,
                len(WRONG) + i)
    refused(v, 'octree', "&RUN_PARAMS\nhydro=.true.\n/\n&STENCIL_PARAMS\nnx=8\n/\n",
            ["nx", "solver='stencil'"], 1, 999)
    r = uniform.simulate(uniform.namelist(2, forcing='helical', kf=90.0, **base), 'expect',
                         options=['-n'], must_work=False)
    v.same('simulate -n', (r.status, 'kf=90' in r.err), (2, True))
    r = uniform.simulate(uniform.namelist(50, dt_fixed=20.0, init_u='random', **base), 'unstable',
                         must_work=False)
    v.same('an unstable step', (r.status, 'dt_fixed' in r.err), (2, True))
    again(v, base)
    v.end()


main()
