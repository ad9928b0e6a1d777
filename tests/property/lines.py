"""inspect --line: the cells along an axis are those of an independent reader, in one, two and
three dimensions; the exact solution of --riemann agrees with Toro's tests, with
tests/phys/riemann.py and, with vacuum, with conservation; the L1 error of a shock tube falls as
cells double. --mesh draws each oct once. Output has the same bytes from any number of ranks and
files and in both formats.

    lines.py tube     one dimension
    lines.py plane    two and three dimensions

Examples of faults caught: a cell beside the line, the upper side of a face taken for the lower one,
a shock in place of a rarefaction, a mirrored wave with the wrong sign, an error without the width
of its cells, an oct of another plane.
"""
# test: tube tier=check timeout=120 ranks=3
# test: plane tier=check timeout=120 ranks=3
import json
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'phys'))
import read_ramses  # noqa: E402
import riemann  # noqa: E402

GAMMA = 1.4
NAMES = ('density', 'velocity_x', 'pressure')
# states left and right; pressure and velocity between the waves, densities there (Toro 2009, tables
# 4.1 to 4.3); time
TORO = [((1, 0, 1), (.125, 0, .1), .30313, .92745, .42632, .26557, .15),
        ((1, -2, .4), (1, 2, .4), .00189, 0, .02185, .02185, .15),
        ((1, 0, 1000), (1, 0, .01), 460.894, 19.5975, .57506, 5.99924, .012),
        ((1, 0, .01), (1, 0, 100), 46.0950, -6.19633, 5.99242, .57511, .012),
        ((5.99924, 19.5975, 460.894), (5.99242, -6.19633, 46.0950), 1691.64, 8.68975, 14.2823,
         31.0426, .012)]
# of gas that leaves a vacuum behind, or expands into one
VACUUM = [((1, -8, 1), (.5, 9, .4)), ((1, 1, 1), (0, 0, 0)), ((0, 0, 0), (.5, -2, .4))]
TUBE = """&RUN_PARAMS
hydro=.true.
ndim=1
nsubcycle=10*1
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
boxlen=2.0
/
&BOUNDARY_PARAMS
nboundary=2
ibound_min=-1,1
ibound_max=-1,1
bound_type=2,2
/
&INIT_PARAMS
nregion=2
region_type='square','square'
x_center=0.5,1.5
length_x=1.0,1.0
exp_region=10.0,10.0
d_region=1.0,0.125
p_region=1.0,0.1
/
&OUTPUT_PARAMS
noutput=2
tout=0.012,0.15
/
&HYDRO_PARAMS
gamma=1.4
slope_type=2
/
&REFINE_PARAMS
err_grad_d=0.05
/
&UNITS_PARAMS
units_density=1.66e-24
units_time=3e13
units_length=3e20
/
"""
BOX = """&RUN_PARAMS
hydro=.true.
ndim=%d
nstepmax=1
/
&AMR_PARAMS
levelmin=4
levelmax=6
/
&INIT_PARAMS
nregion=2
region_type='square','point'
x_center=0.5,0.3
y_center=0.5,0.6
z_center=0.5,0.55
length_x=10.0,1.0
length_y=10.0,1.0
length_z=10.0,1.0
exp_region=10.0,10.0
d_region=1.0,0.0
u_region=0.1,0.0
p_region=1.0,5.0
/
&OUTPUT_PARAMS
foutput=1
/
&REFINE_PARAMS
err_grad_p=0.1
/
"""


def inspect(*argv, ranks=1, feed=None):
    argv = ptah.mpirun(ranks) + [ptah.program('inspect'), *argv]
    if feed is not None:
        argv = ['sh', '-c', 'printf "%s\\n" "$0" | "$@"', feed, *argv]
    return ptah.Run(argv, '.', timeout=60)


def table(*argv):
    """Columns of the table by name, from its JSON, and the rest of it."""
    r = inspect('--line', '-j', *argv)
    if r.status:
        sys.exit(r.err)
    j = json.loads(r.out)
    return {k: np.array([c[k] for c in j['cells']], float) for k in j['cells'][0]}, j


def states(left, right):
    return ','.join('%.9g' % x for x in (*left, *right))


def solver(v, path):
    for k, (left, right, p, u, rho_l, rho_r, t) in enumerate(TORO, 1):
        c, j = table('--riemann', states(left, right), path[t])
        got, time = j['riemann'], j['time']
        name = 'Toro %d: ' % k
        v.check(name + 'pressure', abs(got['pressure'] / p - 1), 3e-3 if p < .01 else 1e-5)
        v.check(name + 'velocity', abs(got['velocity'][0] - u), 1e-5 * max(1, abs(u)))
        for rho in rho_l, rho_r:
            v.check(name + 'density %g' % rho, abs(c['exact_density'] / rho - 1).min(), 2e-4)
        x = (c['x'] - .5) * 2
        for q, want in zip(NAMES, riemann.solve(x, time, left, right, GAMMA)):
            v.check(name + q, abs(c['exact_' + q] - want).max() / abs(want).max(), 1e-9)
            v.check('%sL1 of %s' % (name, q),
                    abs(got['l1'][q] / (abs(c[q] - want) * .5 ** c['level']).sum() - 1), 1e-9)


def conserved(rho, u, p):
    return np.array([rho, rho * u, p / (GAMMA - 1) + .5 * rho * u * u])


def flux(rho, u, p):
    return np.array([rho * u, rho * u * u + p, u * (GAMMA / (GAMMA - 1) * p + .5 * rho * u * u)])


def vacuum(v, path):
    """Sums over the box change by the fluxes at its ends, which no wave has reached."""
    for left, right in VACUUM:
        c, j = table('--riemann', states(left, right), path)
        cells = conserved(*(c['exact_' + q] for q in NAMES))
        total = (cells * 2 * .5 ** c['level']).sum(1)
        want = (conserved(*left) + conserved(*right) +
                j['time'] * (flux(*map(float, left)) - flux(*map(float, right))))
        v.check('vacuum: sums for %s' % states(left, right), abs(total - want).max() /
                abs(cells).max(), 2e-4)
        v.same('vacuum: no pressure', (j['riemann']['pressure'], c['exact_density'].min()), (0, 0))
        for side, (rho, u, p), got in zip((1, -1), (left, right), j['riemann']['velocity']):
            if rho == 0:
                v.same('vacuum: no front', got, None)
                continue
            front = u + side * 2 * (GAMMA * p / rho) ** .5 / (GAMMA - 1)
            v.check('vacuum: front at %g' % front, abs(got / front - 1), 1e-14)


def errors(v):
    before = None
    for level in 6, 7, 8:
        r = ptah.simulate(TUBE % (level, level), 'tube%d' % level, options=['-q'])
        now = table('--riemann', states(*TORO[0][:2]), r.outputs[-1])[1]['riemann']['l1']
        for q in NAMES if before else ():
            v.check('%d cells: L1 of %s by that of half of them' % (2 ** level, q),
                    now[q] / before[q], .65)
        before = now


def against(v, what, path, axis, point, *options):
    """The table along an axis through a point is that of an independent reader."""
    s = read_ramses.load(path)
    at, half = s.centres(), .5 ** (s.level.astype(float) + 1)
    on = np.ones(len(s.level), bool)
    for d in range(s.info['ndim']):
        if d != axis:
            on &= (at[d] - half <= point[d]) & (point[d] < at[d] + half)
    order = np.flatnonzero(on)[np.argsort(at[axis][on])]
    c, _ = table('-a', 'xyz'[axis], *options, path)
    v.same(what + ': columns', list(c), ['xyz'[axis], 'level', *s.cell, 'temperature'])
    v.same(what + ': cells', len(c['level']), len(order))
    for q, want in {'xyz'[axis]: at[axis], 'level': s.level, **s.cell}.items():
        v.same('%s: values of %s that differ' % (what, q), (c[q] != want[order]).sum(), 0)


def bytes_of(v, what, path, *argv):
    """Output of one rank, of three, of three files and of HDF5 (where programs have it)."""
    whole = {}
    places = {'three ranks': path}
    for name, tool, options in (('three files', 'repartition', ['-n', '3']),
                                ('HDF5', 'convert', ['-f', 'hdf5'])):
        if tool == 'convert' and 'libhdf5' not in ptah.Run(['ldd', ptah.program(tool)], '.').out:
            continue
        places[name] = os.path.join(what, name.replace(' ', '_'), 'run', os.path.basename(path))
        os.makedirs(os.path.dirname(places[name]), exist_ok=True)
        r = ptah.Run([ptah.program(tool), '-q', *options, '-o', places[name], path], '.')
        if r.status:
            sys.exit(r.err)
    for name, place in [('one', path), *places.items()]:
        r = inspect(*argv, '--force', '-o', 'b.svg', place, ranks=3 if 'ranks' in name else 1)
        with open('b.svg') as f:
            whole[name] = r.status, r.out.replace(place, ''), f.read()
    for name in places:
        v.same('%s: %s' % (what, name), whole[name] == whole['one'], True)


def refused(v, path):
    for value in ('1,0,1', '1,0,1,-1,0,1', '0,0,1,1,0,1', '1,0,-1,1,0,1', '1,0,1,1,0,inf', 'a'):
        r = inspect('--line', '--riemann', value, path)
        v.same(value, (r.status, r.err.count('\n'), r.out), (2, 1, ''))
    r = inspect('-m', 'density', path)
    v.same('a map of one dimension', (r.status, r.err.count('\n'), 'use --line' in r.err),
           (2, 1, True))
    r = inspect('--line', '-a', 'y', path)
    v.same('no axis y', (r.status, r.err.count('\n')), (2, 1))


def tube(v):
    r = ptah.simulate(TUBE % (10, 10), 'fine', options=['-q'])
    solver(v, {.012: r.outputs[1], .15: r.outputs[2]})
    vacuum(v, r.outputs[1])
    errors(v)
    r = ptah.simulate(TUBE % (4, 7), 'run', 3, options=['-q'])
    path = r.outputs[-1]
    against(v, 'tube', path, 0, (0,))
    both = states(*TORO[0][:2])
    bytes_of(v, 'tube', path, '--line', '--riemann', both)
    words = both.split(',')
    left, right = ','.join(words[:3]), ','.join(words[3:])
    one = inspect('--line', '--riemann', both, path)
    for argv in ([left, right, path], [left, path, right]):
        two = inspect('--line', '--riemann', *argv)
        v.same('states in two words', (two.status, two.out == one.out), (0, True))
    v.same('one state', inspect('--line', '--riemann', left, path).status, 2)
    plain, physical = (table('--riemann', both, *o, path)[0] for o in ([], ['-u']))
    for q in 'density', 'exact_density':
        v.check('-u: ' + q, abs(physical[q] / plain[q] / 1.66e-24 - 1).max(), 1e-12)
    v.check('-u: position', abs(physical['x'] / plain['x'] / (2 * 3e20 / 3.0856776e18) - 1).max(),
            1e-6)
    r = inspect('--line', '-', feed='\n'.join([path, path]))
    one = inspect('--line', path)
    v.same('a pipe', (r.status, r.out == 2 * one.out), (0, True))
    first = table('--riemann', both, os.path.join(os.path.dirname(path), 'output_00001'))[1]
    v.check('at time 0', max(first['riemann']['l1'].values()), 1e-14)
    aside, j = table('--riemann', both, '--center', '0.25,0,0', path)
    want = riemann.solve((aside['x'] - .25) * 2, j['time'], *TORO[0][:2], GAMMA)[0]
    v.check('the discontinuity is at the centre', abs(aside['exact_density'] - want).max(), 1e-9)
    r = inspect('--campaign', '-q', '--html', 'run.html', 'run')
    with open('run.html') as f:
        text = f.read()
    v.same('a page has lines in place of maps', (r.status, text.count('Gas, output'),
                                                 '--line' in text), (0, 3, False))
    refused(v, path)


def outlines(name):
    """Outlines of octs in a drawing: width, height and number."""
    with open(name) as f:
        return len(re.findall(r'stroke-width:0\.5;', f.read()))


def plane(v):
    r = ptah.simulate(BOX % 2, 'run', 3, options=['-q'])
    path = r.outputs[-1]
    against(v, 'plane', path, 0, (.5, .5))
    against(v, 'plane, y', path, 1, (.3, 0), '--center', '0.3,0,0')
    against(v, 'plane, upper face', path, 0, (0, 1 - 1e-9), '--center', '0,1,0')
    n = 64
    inspect('-q', '-m', 'pressure', '--weight', 'volume', '-n', str(n), '-o', 'p.npy', path)
    c, _ = table('--center', '0.5,0.61,0', path)
    row = np.concatenate([np.full(int(n * .5 ** l), p) for l, p in zip(c['level'], c['pressure'])])
    v.check('plane: the row of a map', abs(row - np.load('p.npy')[int(.61 * n)]).max(), 1e-12)
    bytes_of(v, 'plane', path, '--line')
    bytes_of(v, 'mesh', path, '-m', 'density', '-n', '64', '--mesh')
    s = read_ramses.load(path)
    inspect('-m', 'density', '-n', '64', '--mesh', '-o', 'm.svg', path)
    v.same('mesh: octs', outlines('m.svg'), sum(s.octs.values()))
    inspect('-m', 'density', '-n', '64', '-o', 'n.svg', path)
    v.same('no mesh', outlines('n.svg'), 0)
    r = ptah.simulate(BOX % 3, 'space', 1, options=['-q'])
    path = r.outputs[-1]
    against(v, 'space', path, 2, (.3, .61, 0), '--center', '0.3,0.61,0')
    s = read_ramses.load(path)
    inspect('-m', 'dm' if s.part else 'density', '-n', '64', '--mesh', '--center', '0.5,0.5,0.56',
            '-o', 's.svg', path)
    at, octs = s.centres(), set()
    for l in range(1, s.level.max() + 1):
        lower = np.floor(at[:, s.level >= l] * 2 ** (l - 1)).astype(int)
        cut = lower[2] == int(.56 * 2 ** (l - 1))
        octs |= {(l, x, y) for x, y in lower[:2, cut].T}
    v.same('mesh of a slice: octs', outlines('s.svg'), len(octs))
    for options in (['--bare'], ['-o', 'm.npy']):
        v.same('--mesh with %s' % options[0],
               inspect('-m', 'density', '--mesh', *options, path).status, 2)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    {'tube': tube, 'plane': plane}[sys.argv[1]](verdict)
    verdict.end()
