"""Tracers of both kinds, in a blast on two levels that refine: results depend on neither ranks,
threads, domains, format nor a restart; files of positions give what they say.

    tracers.py classical
    tracers.py monte_carlo
    tracers.py dark         among dark matter in an expanding box, on four levels
    tracers.py feeds        the same tracers from a text and both Fortran files; masses; damage

Example of a fault caught: ids or random numbers that depend on ranks, a tracer that moves twice or
not at all where ranks meet, or by a force of nothing where it lies among dark matter, a column that
a format loses, a file read four bytes off.
"""
# test: classical tier=check timeout=120 ranks=3
# test: monte_carlo tier=check timeout=120 ranks=3
# test: dark tier=check timeout=120 ranks=3
# test: feeds tier=check timeout=120 ranks=2
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
tracer=.true.
nsubcycle=1,2
nstepmax=6
/
&AMR_PARAMS
levelmin=4
levelmax=6
boxlen=2.0
/
&INIT_PARAMS
nregion=3
region_type='square','square','point'
x_center=1.0,0.7,0.9
y_center=1.0,1.1,0.3
z_center=1.0,1.2,0.9
length_x=10.0,0.5,1.0
length_y=10.0,0.5,1.0
length_z=10.0,0.5,1.0
exp_region=10.0,2.0,10.0
d_region=1.0,3.0,0.0
u_region=0.3,-0.4,0.0
p_region=0.1,0.5,0.1
/
&OUTPUT_PARAMS
foutput=3
/
&HYDRO_PARAMS
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=0.15
err_grad_p=0.3
/
&TRACER_PARAMS
tracer_feed_fmt='inplace'
tracer_mass=1e-3
/
"""


def run(name, settings, **how):
    return ptah.simulate(NAMELIST, name, settings=settings, **how).outputs


def same(v, what, settings):
    """The last of three checkpoints, after any course."""
    first, middle, last = run('one', settings)
    v.same('%s: it moves' % what, ptah.digest(middle) == ptah.digest(last), False)
    known = ptah.digest(last)
    for name, how, more in (('three', {'ranks': 3}, ['run_params/nremap=2']),
                            ('hilbert', {'ranks': 2, 'threads': 2},
                             ['run_params/ordering=hilbert', 'output_params/outformat=hdf5']),
                            ('checked', {'ranks': 2}, ['run_params/check_ghosts=T'])):
        found = run(name, [*settings, *more], **how)
        v.same('%s: %s, start' % (what, name), ptah.digest(found[0]), ptah.digest(first))
        v.same('%s: %s' % (what, name), ptah.digest(found[-1]), known)
    for name, start, how in (('resumed', '../three/output_00002', {'ranks': 2}),
                             ('resumed from HDF5', '../hilbert/output_00002', {})):
        found = run(name, settings, options=['-r', start], **how)
        v.same('%s: %s' % (what, name), ptah.digest(found[-1]), known)
    s = read_ramses.load(last)
    v.same('%s: all tracers are there' % what, len(s.part['identity']),
           len(read_ramses.load(first).part['identity']))
    r = ptah.Run([ptah.program('inspect'), '-cc', last], '.')
    v.same('%s: the checkpoint is sound' % what, r.status, 0)
    return s


def classical(v):
    s = same(v, 'classical', [])
    v.same('no column of another kind', 'partp' in s.part, False)


def monte_carlo(v):
    s = same(v, 'Monte-Carlo', ['tracer_params/mc_tracer=T'])
    v.same('column partp', 'partp' in s.part, True)


# files of positions

DARK = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
tracer=.true.
nstepmax=9
nsubcycle=1,2,2
/
&AMR_PARAMS
levelmin=5
levelmax=8
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='../ics/ic_32/level_005'
/
&OUTPUT_PARAMS
foutput=9
/
&HYDRO_PARAMS
riemann='hllc'
/
&REFINE_PARAMS
m_refine=1.,1.,1.
ivar_refine=0
/
&TRACER_PARAMS
mc_tracer=.true.
tracer_feed_fmt='inplace'
tracer_mass=1e-6
/
"""


def dark(v):
    ptah.unpack_ics('.', 'ic_32')
    one = ptah.simulate(DARK, 'one', 1).outputs[-1]
    three = ptah.simulate(DARK, 'three', 3).outputs[-1]
    v.same('three ranks', ptah.digest(three), ptah.digest(one))


def record(data):
    return struct.pack('<i', len(data)) + data + struct.pack('<i', len(data))


def feeds(v):
    x = np.random.default_rng(5).random((50, 3))
    head = record(struct.pack('<i', 50)) + record(struct.pack('<d', 0.25))
    files = {'ascii': ''.join('%.17g %.17g, %.17g\n' % tuple(r) for r in x).encode(),
             'binary2': head + record(x.tobytes()),
             'binary': head + b''.join(record(x[:, d].tobytes()) for d in range(3))}
    start = ['run_params/nstepmax=0', 'tracer_params/tracer_mass=-1']
    for kind, data in files.items():
        with open(kind, 'wb') as f:
            f.write(data)
        feed = ['tracer_params/tracer_feed_fmt=' + kind, 'tracer_params/tracer_feed=../' + kind]
        (path,) = run('of_' + kind, start + feed, ranks=2)
        s = read_ramses.load(path)
        there = np.array([s.part['position_' + c] for c in 'xyz']).T
        v.same('%s: ids' % kind, s.part['identity'].tolist(), list(range(1, 51)))
        v.check('%s: positions' % kind, np.abs(there - 2 * x).max(), 1e-15)
        mass = 0.25 if kind != 'ascii' else (s.cell['density'] * s.volume).sum() / 50
        v.check('%s: mass' % kind, abs(s.part['mass'] / mass - 1).max(), 1e-12)
    damaged = {'short': ('binary2', files['binary2'][:-40], 'is longer than the rest'),
               'few': ('binary', head, 'too few for the 50 tracers'),
               'nan': ('ascii', b'0.1 nan 0.2\n', "'nan' is not a number"),
               'far': ('ascii', b'0.1 0.2 0.3\n0.1 1.5 0.2\n', 'line 2: a tracer at 1.5 along y'),
               'inf': ('binary2', head + record(np.full(150, np.inf).tobytes()), 'number 1: a tr'),
               'light': ('binary2', head.replace(struct.pack('<d', 0.25), struct.pack('<d', -1))
                         + record(x.tobytes()), 'must be above 0')}
    for name, (kind, data, words) in damaged.items():
        with open(name, 'wb') as f:
            f.write(data)
        feed = ['tracer_params/tracer_feed_fmt=' + kind, 'tracer_params/tracer_feed=../' + name]
        r = ptah.simulate(NAMELIST, 'bad', ranks=2, must_work=False, timeout=60,
                          settings=start + feed)
        v.same('%s: refused with its place' % name, (r.status, words in r.err, name in r.err),
               (2, True, True))
    for settings, words in (
            (['tracer_params/tracer_mass=1e-14'], 'raise tracer_mass'),
            (['run_params/hydro=F', 'tracer_params/mc_tracer=T'], 'set hydro=.true.')):
        r = ptah.simulate(NAMELIST, 'bad', must_work=False, timeout=60, settings=settings)
        v.same('%s: refused' % settings[0], (r.status, words in r.err), (2, True))


def main():
    v = ptah.Verdict()
    {'classical': classical, 'monte_carlo': monte_carlo, 'dark': dark,
     'feeds': feeds}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
