"""Wrong parameters and particles of solver='sph': each ends the program with status 2 and one
sentence that names the parameter or the file, on any rank, before anything is written.

Examples of faults caught: a parameter of another solver that is silently ignored, a run of
particles without neighbours, a box of no width, all particles in one place that never ends.
"""
# test: tier=check timeout=240 ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import smoothed  # noqa: E402

# values of &SPH_PARAMS, words of the sentence
WRONG = [
    (dict(nq=3), ['nq']),
    (dict(npx=0), ['npx']),
    (dict(setup='star'), ['setup', 'star']),
    (dict(setup='file'), ['init_file']),
    (dict(setup='file', init_file='none'), ['none']),
    (dict(init_file='x_00000'), ['init_file', "setup='file'"]),
    (dict(kernel='M5'), ['kernel', 'M5']),
    (dict(hfact=-1.0), ['hfact']),
    (dict(htol=0.0), ['htol']),
    (dict(eos='stiff'), ['eos', 'stiff']),
    (dict(gamma=1.0), ['gamma=1']),
    (dict(setup='sedov', eos='isothermal'), ['sedov', 'adiabatic']),
    (dict(eos='locally_isothermal'), ['locally_isothermal', "boundary='free'"]),
    (dict(alpha_min=2.0), ['alpha_min=2', 'alpha_max=1']),
    (dict(cfl=0.0), ['cfl']),
    (dict(dt_fixed=-1.0), ['dt_fixed']),
    (dict(boundary='wall'), ['boundary', 'wall']),
    (dict(xmax=(1.0, 0.0, 1.0)), ['xmin=0', 'xmax=0']),
    (dict(setup='sedov', xmax=(2.0, 2.0, 2.0)), ['sedov', 'xmax']),
    (dict(setup='evrard'), ['evrard', "boundary='free'"]),
    (dict(setup='sod', boundary='free'), ['sod', "boundary='periodic'"]),
    (dict(gravity='tree'), ['gravity', 'free']),
    (dict(gravity='mesh'), ['gravity', 'mesh']),
    (dict(nsink=9), ['nsink']),
    (dict(external='bar'), ['external', 'bar']),
    (dict(rho0=0.0), ['rho0']),
    (dict(npx=2), ['npx=2']),
    (dict(npx=100000), ['1.41e+15 particles', 'memory', 'npx']),
    (dict(xmax=(1.0, 1.0, 1e30)), ['particles', 'memory']),
]
# further lines of the namelist, words
OTHERS = [
    ("&AMR_PARAMS\nlevelmin=3\n/\n", ['levelmin', 'AMR_PARAMS']),
    ("&STENCIL_PARAMS\nnx=3\n/\n", ['nx', "solver='stencil'"]),
    ("&HYDRO_PARAMS\nriemann='hll'\n/\n", ['riemann', 'HYDRO_PARAMS']),
]


def refused(v, what, text, words, ranks, number):
    name = 'r%d_%d' % (number, ranks)
    r = smoothed.simulate(text, name, ranks=ranks, must_work=False, timeout=60)
    said = [line for line in r.err.splitlines() if line.startswith('simulate:')]
    left = [f for f in os.listdir(name) if f.startswith(('output_', 'energies'))]
    lacks = [w for w in words if not any(w.lower() in line.lower() for line in said)]
    v.same('%s, %d ranks' % (what, ranks), (r.status, len(said), lacks, left), (2, 1, [], []))
    if lacks:
        print(r.err[-500:])


def check_forecast(v):
    """simulate -n makes no particles: it needs neither their memory nor their time."""
    text = smoothed.namelist(2, setup='disc', np=2000000000, boundary='free', external='point')
    r = smoothed.simulate(text, 'forecast', options=('-n',), must_work=False, timeout=20)
    v.same('-n of 2e9 particles', r.status == 0 or 'memory' in r.err, True)


def check_eaten(v):
    """Gas of which none is left limits no step; with dt_fixed the run goes on, and resumes."""
    sink = dict(setup='lattice', npx=8, nsink=1, sink_m=1.0, sink_racc=9.0,
                sink_x=(0.5, 0.5, 0.5))
    r = smoothed.simulate(smoothed.namelist(3, **sink), 'eaten', must_work=False)
    v.same('no gas left', (r.status, 'nothing limits the time step' in r.err), (2, True))
    text = smoothed.namelist(3, dt_fixed=1e-4, **sink)
    last = smoothed.simulate(text, 'alone', ranks=2).outputs[-1]
    again = smoothed.namelist(5, dt_fixed=1e-4, **sink)
    r = smoothed.simulate(again, 'resumed', options=('-q', '-r', os.path.abspath(last)))
    v.same('a point mass alone', r.status, 0)


def main():
    ptah.options(__doc__, '')
    v = ptah.Verdict()
    base = dict(setup='lattice', npx=8)
    for i, (values, words) in enumerate(WRONG):
        text = smoothed.namelist(2, **{**base, **values})
        what = ', '.join('%s=%s' % x for x in values.items())
        refused(v, what, text, words, 1 + (i % 4 == 3), i)
    for i, (lines, words) in enumerate(OTHERS):
        refused(v, lines.split()[1], smoothed.namelist(2, **base) + lines, words, 1,
                len(WRONG) + i)
    refused(v, 'octree', "&RUN_PARAMS\nhydro=.true.\n/\n&SPH_PARAMS\nnpx=8\n/\n",
            ['npx', "solver='sph'"], 1, 999)
    r = smoothed.simulate(smoothed.namelist(50, setup='sedov', npx=10, dt_fixed=1.0), 'unstable',
                          must_work=False)
    v.same('an unstable step', (r.status, 'dt_fixed' in r.err), (2, True))
    check_forecast(v)
    check_eaten(v)
    v.end()


main()
