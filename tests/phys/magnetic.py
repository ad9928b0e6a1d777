"""Laws of gas with a magnetic field. Initial states are checkpoints whose gas is replaced: the mesh
is the one that simulate makes, the field the curl of a potential.

    magnetic.py linear          waves of amplitude 1e-6 (Stone et al. 2008), 64 cells
    magnetic.py alfven [long]   circularly polarised Alfven waves: errors when cells are halved, on
                                static meshes with finer regions
    magnetic.py tubes           shock tubes of Brio & Wu (1988), Ryu & Jones (1995): convergence
    magnetic.py symmetry        the vortex of Orszag & Tang (1979), the rotor of Balsara & Spicer
                                (1999), blasts: symmetric to the last bit, also on meshes that adapt
                                (not with riemann='roe', which adds waves from left to right)
    magnetic.py loop            an advected loop (Gardiner & Stone 2005) keeps much of its energy,
                                and gets no field along its axis from a velocity along it
    magnetic.py moving [long]   meshes that move: div B, copies of faces, energy, also after convert
                                and repartition
    magnetic.py walls           finer regions at walls: div B and copies of faces

Examples of faults caught: a force at an edge of the wrong sign or of the wrong fine oct, a slope of
the field that lags half a step, a sum of corners that depends on their order.
"""
# test: linear tier=check timeout=60
# test: alfven tier=check timeout=120
# test: alfven long tier=long timeout=900
# test: tubes tier=check timeout=120
# test: symmetry tier=check timeout=120
# test: loop tier=check timeout=120
# test: moving tier=check timeout=120 ranks=3
# test: walls tier=check timeout=120 ranks=2
# test: moving long tier=long timeout=600 ranks=3
import json
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import any_ramses  # noqa: E402
import ptah  # noqa: E402
import golden  # noqa: E402
import read_ramses  # noqa: E402

B_NAMES = ['B_%s_%s' % (d, side) for side in ('left', 'right') for d in 'xyz']
NAMES = ['density', 'velocity_x', 'velocity_y', 'velocity_z', *B_NAMES, 'pressure']
EVERYWHERE = {'nregion': 1, 'region_type(1)': "'square'", 'exp_region': 10,
              'x_center': 0.5, 'y_center': 0.5, 'z_center': 0.5,
              'length_x': 10, 'length_y': 10, 'length_z': 10, 'd_region': 1, 'p_region': 1}

# ---- runs from a state ----


def text_of(**groups):
    return ''.join('&%s_PARAMS\n%s/\n' % (g.upper(), ''.join('%s=%s\n' % x for x in names.items()))
                   for g, names in groups.items())


def namelist(ndim, levels, gas, end, refine=None, init=None, run=None):
    """levels: levelmin, levelmax; end: time of the last output."""
    return text_of(
        run={'hydro': '.true.', 'mhd': '.true.', 'ndim': ndim, 'nsubcycle': '20*2',
             'ncontrol': 1, **(run or {})},
        amr={'levelmin': levels[0], 'levelmax': levels[1], 'nexpand': 1},
        init=init or EVERYWHERE, output={'noutput': 1, 'tout': repr(float(end))},
        hydro={'gamma': 5 / 3, 'courant_factor': 0.8, 'slope_type': 2, 'riemann': "'hlld'",
               'riemann2d': "'hlld'", **gas},
        refine=refine or {'m_refine': '20*-1'})


def coarser(a, axes):
    """Means over two cells along these axes."""
    for d in axes:
        lower, upper = (np.take(a, range(k, a.shape[d], 2), d) for k in (0, 1))
        a = 0.5 * (lower + upper)
    return a


def faces(ndim, top, potential, missing, mean):
    """{level: [field on lower faces]}, along missing axes in cells. potential(d, x): at the middle
    of edges; missing(d, x): components along missing axes; mean: added to all."""
    n, h = 2 ** top, 0.5 ** top
    shape = [n if d < ndim else 1 for d in range(3)]

    def at(shift):
        return np.meshgrid(*[(np.arange(shape[d]) + shift[d]) * h for d in range(3)], indexing='ij')

    def along(d, k):
        """Derivative along axis k of component d of the potential, at the lower faces."""
        if k >= ndim:
            return 0
        shift = [0.5 if e == d and e < ndim else 0.0 for e in range(3)]
        a = potential(d, at(shift))
        return (np.roll(a, -1, k) - a) / h
    b = {top: []}
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        b[top].append(mean[d] + (along(f, e) - along(e, f) if d < ndim else
                                 missing(d, at([0.5] * 3))) + np.zeros(shape))
    for l in range(top - 1, 0, -1):
        b[l] = []
        for d in range(3):
            a = b[l + 1][d]
            if d < ndim:
                a = np.take(a, range(0, a.shape[d], 2), d)
            b[l].append(coarser(a, [k for k in range(ndim) if k != d]))
    return b


def replace_gas(path, to, state, b):
    """Copies a checkpoint of one rank; state(x): density, velocities and pressure at centres
    [3][n]; b: field on faces. Checksums and exact values are not copied."""
    shutil.copytree(path, to, ignore=shutil.ignore_patterns('exact*', 'checksums*', 'header_*'))
    s = read_ramses.Snapshot(read_ramses.read_info(path))
    name = os.path.join(to, '%s_' + s.info['number'] + '.out00001')
    amr = read_ramses.Records(name % 'amr')
    numbl, _, _ = read_ramses.read_amr_header(s, amr)
    ndim = s.info['ndim']
    size = 2 ** ndim
    with open(name % 'hydro', 'rb') as f:
        head = f.read(5 * 12 + 16)  # five integers and gamma
    with open(name % 'hydro', 'wb') as f:
        f.write(head)
        for l, (n,) in enumerate(numbl, 1):
            any_ramses.record(f, l)
            any_ramses.record(f, n)
            if not n:
                continue
            amr.skip(3)
            x = np.array([amr.read('<f8') for _ in range(ndim)])
            amr.skip(1 + 2 * ndim + 3 * size)
            for c in range(size):
                i = np.array([np.floor(x[d] * 2 ** l + 0.5 * (c >> d & 1) - 0.25) if d < ndim else
                              0 * x[0] for d in range(3)]).astype(int)
                for values in cell_values(ndim, l, i, state, b[l]):
                    any_ramses.record(f, values, '<f8')


def cell_values(ndim, l, i, state, b):
    density, *velocity, pressure = state((i + 0.5) * 0.5 ** l)
    out, one = [density, *velocity], np.ones(i.shape[1])
    for high in (0, 1):
        for d in range(3):
            j = i.copy()
            if d < ndim:
                j[d] = (j[d] + high) % 2 ** l
            out.append(b[d][tuple(j)])
    return [v * one for v in (*out, pressure)]


def evolve(folder, text, ndim, levelmax, state, potential, missing=None, mean=(0, 0, 0)):
    """The run from a state: its outputs, and the state as an output."""
    first = ptah.simulate(text, folder, settings=['run_params/nstepmax=1'])
    b = faces(ndim, levelmax, potential, missing, mean)
    start = os.path.join(folder, 'start', 'output_00001')
    os.makedirs(os.path.dirname(start))
    replace_gas(ptah.output(first, 1), start, state, b)
    r = ptah.simulate(text, os.path.join(folder, 'run'), options=['-r', os.path.abspath(start)])
    r.start = start
    return r


def conserved(s, gamma=5 / 3):
    """[8][cells]: density, momenta, energy, field at centres."""
    c = s.cell
    v = np.array([c['velocity_' + d] for d in 'xyz'])
    b = np.array([0.5 * (c['B_%s_left' % d] + c['B_%s_right' % d]) for d in 'xyz'])
    return conserved_of(c['density'], v, b, c['pressure'], gamma)


def conserved_of(rho, v, b, p, gamma):
    energy = p / (gamma - 1) + 0.5 * rho * (v ** 2).sum(0) + 0.5 * (b ** 2).sum(0)
    return np.array([rho + 0 * p, *(rho * v), energy, *b])


def load(r):
    return read_ramses.load(r.outputs[-1])


def centres(s):
    x = np.zeros((3, len(s.level)))
    x[:s.info['ndim']] = s.centres()
    return x


# ---- linear waves ----

MEAN_B = np.array([1.0, np.sqrt(2), 0.5])
# Speeds, and errors of 64 cells allowed after a period: the root of the sum of squares of the L1
# errors of all conserved variables.
WAVES = {'fast': (2.0, 2.5e-8), 'alfven': (1.0, 1.7e-8), 'slow': (0.5, 2.8e-8),
         'entropy': (1.0, 2.2e-8)}


def eigenvector(wave):
    """Change of the conserved variables by a wave to the right (Gardiner & Stone 2005)."""
    q, t = 1 / (6 * np.sqrt(5)), np.sqrt(2)
    return {'fast': q * np.array([6, 12, -4 * t, -2, 27, 0, 8 * t, 4]),
            'slow': q * np.array([12, 6, 8 * t, 4, 9, 0, -4 * t, -2]),
            'alfven': np.array([0, 0, 1, -2 * t, 0, 0, -1, 2 * t]) / 3,
            'entropy': np.array([2, 2, 0, 0, 1, 0, 0, 0]) / 2}[wave]


def wave_state(wave, x, t, amplitude):
    """Conserved variables [8][n]."""
    moving = 1.0 if wave == 'entropy' else 0.0
    one = np.ones_like(x)
    base = conserved_of(one, np.array([moving * one, 0 * x, 0 * x]), MEAN_B[:, None] * one,
                        0.6 * one, 5 / 3)
    return base + amplitude * np.outer(eigenvector(wave),
                                       np.cos(2 * np.pi * (x - WAVES[wave][0] * t)))


def linear():
    v = ptah.Verdict()
    for wave, (speed, limit) in WAVES.items():
        def state(x, wave=wave):
            u = wave_state(wave, x[0], 0, 1e-6)
            kinetic = 0.5 * (u[1:4] ** 2).sum(0) / u[0] + 0.5 * (u[5:] ** 2).sum(0)
            return [u[0], *(u[1:4] / u[0]), 2 / 3 * (u[4] - kinetic)]
        r = evolve(wave, namelist(1, (6, 6), {'slope_type': 2}, 1 / speed), 1, 6, state,
                   lambda d, x: 0,
                   lambda d, x, wave=wave: (wave_state(wave, x[0].ravel(), 0, 1e-6)[5 + d] -
                                            MEAN_B[d]).reshape(x[0].shape),
                   MEAN_B)
        s = load(r)
        error = np.abs(conserved(s) - wave_state(wave, centres(s)[0], s.info['time'], 1e-6))
        v.check('%s wave' % wave, np.sqrt((error.mean(1) ** 2).sum()), limit)
        v.check('%s wave: periods' % wave, abs(s.info['time'] * speed - 1), 0.02)
    v.end()


# ---- circularly polarised waves ----

WAY = {1: (1, 0, 0), 2: (1, 2, 0), 3: (1, 1, 1)}


class Circular:
    """A wave of finite amplitude, an exact solution, that moves along its wave vector."""

    def __init__(self, ndim):
        k = np.array(WAY[ndim], float)
        self.k = 2 * np.pi * k
        self.size = np.sqrt((self.k ** 2).sum())
        n = self.k / self.size
        e1 = np.array([-n[1], n[0], 0]) if ndim > 1 else np.array([0, 1, 0])
        self.n, self.e1 = n, e1 / np.sqrt((e1 ** 2).sum())
        self.e2 = np.cross(n, self.e1)

    def across(self, x, t):
        phase = sum(k * y for k, y in zip(self.k, x)) - self.size * t
        return 0.1 * (np.multiply.outer(self.e1, np.sin(phase)) +
                      np.multiply.outer(self.e2, np.cos(phase)))

    def state(self, x):
        return [1.0, *(-self.across(x, 0)), 0.1]

    def potential(self, d, x):
        return self.across(x, 0)[d] / self.size

    def missing(self, d, x):
        return self.across(x, 0)[d]

    def error(self, s):
        x, t = centres(s), s.info['time']
        b = self.across(x, t)
        want = conserved_of(1.0, -b, b + self.n[:, None], 0.1 + 0 * x[0], 5 / 3)
        return (np.abs(conserved(s) - want) * s.volume).sum(1)


def circular(v, ndim, levelmins, finer, limit=0.35, gas=None):
    wave, errors = Circular(ndim), []
    for l in levelmins:
        levels = l, l + finer
        refine = {'m_refine': '20*1e-9', 'r_refine': '0.25', 'exp_refine': '20*10',
                  **{d + '_refine': '20*0.5' for d in 'xyz'}} if finer else None
        text = namelist(ndim, levels, {'slope_theta': 1.5, **(gas or {})},
                        2 * np.pi / wave.size, refine)
        s = load(evolve('a%d_%d_%d' % (ndim, *levels), text, ndim, levels[1], wave.state,
                        wave.potential, wave.missing, wave.n))
        found = sorted({int(x) for x in s.level})
        v.same('%d-D: levels of the leaf cells' % ndim, found, sorted({*levels}))
        errors.append(np.sqrt((wave.error(s) ** 2).sum()))
    for l, a, b in zip(levelmins[1:], errors, errors[1:]):
        v.check('%d-D, levels %d to %d: ratio of errors' % (ndim, l, l + finer), b / a, limit)
        print('     errors %.3e %.3e' % (a, b))


def alfven(how=''):
    v = ptah.Verdict()
    circular(v, 1, (5, 6, 7), 0)
    circular(v, 1, (5, 6, 7), 1)
    circular(v, 2, (5, 6, 7) if how else (5, 6), 1)
    circular(v, 3, (4, 5, 6) if how else (4, 5), 1)
    v.end()


# ---- shock tubes ----

ROOT = np.sqrt(4 * np.pi)
# left and right: density, velocities, pressure, By, Bz; Bx, γ, end
TUBES = {'brio-wu': ((1, 0, 0, 0, 1, 1, 0), (0.125, 0, 0, 0, 0.1, -1, 0), 0.75, 2.0, 0.08),
         'ryu-jones': ((1.08, 1.2, 0.01, 0.5, 0.95, 3.6 / ROOT, 2 / ROOT),
                       (1, 0, 0, 0, 1, 4 / ROOT, 2 / ROOT), 2 / ROOT, 5 / 3, 0.16)}


def tube(name, level):
    left, right, bx, gamma, end = TUBES[name]
    init = {'nregion': 2, 'region_type': "'square','square'", 'x_center': '0.25,0.75',
            'length_x': '0.5,0.5', 'a_region': '%r,%r' % (float(bx), float(bx))}
    for key, k in zip(('d', 'u', 'v', 'w', 'p', 'b', 'c'), range(7)):
        init[key + '_region'] = '%r,%r' % (float(left[k]), float(right[k]))
    text = namelist(1, (level, level), {'gamma': gamma, 'courant_factor': 0.7}, end, init=init)
    walls = text_of(boundary={'nboundary': 2, 'ibound_min': '-1,1', 'ibound_max': '-1,1',
                              'bound_type': '2,2'})
    s = load(ptah.simulate(text + walls, '%s_%d' % (name, level)))
    return conserved(s, gamma), s.info['time']


def widened(u, ratio, n):
    """Means of n cells of a solution that is `ratio` times as old; it is a function of x/t."""
    total = np.insert(np.cumsum(u, 1), 0, 0, 1) / u.shape[1]
    x = np.linspace(0, 1, u.shape[1] + 1)
    at = 0.5 + (np.linspace(0, 1, n + 1) - 0.5) / ratio
    return n * ratio * np.diff([np.interp(at, x, t) for t in total], axis=1)


def tubes():
    """Errors against a much finer run; outputs are a part of a step apart."""
    v = ptah.Verdict()
    for name in TUBES:
        fine, age = tube(name, 12)
        errors = []
        for level in (8, 9, 10):
            found, t = tube(name, level)
            error = np.abs(found - widened(fine, t / age, 2 ** level))
            errors.append(error[:, 2 ** level // 8:-2 ** level // 8].mean())
        for a, b in zip(errors, errors[1:]):
            v.check('%s: ratio of errors' % name, b / a, 0.6)
        print('     errors ' + ' '.join('%.3e' % e for e in errors))
    v.end()


# ---- symmetry ----

def even(f, x):
    return 0.5 * (f(x) + f(1 - x))


def odd(f, x):
    return 0.5 * (f(x) - f(1 - x))


def swapped(name):
    return name.replace('left', 'LEFT').replace('right', 'left').replace('LEFT', 'right')


def mirrored(v, name, s, axes, sign, limit=0):
    """Mirrors the leaf cells along these axes: gas stays as it is, velocities along them change
    their sign, and components k of the field are multiplied by sign[k]."""
    x = np.rint(s.centres() * 2.0 ** (s.level + 1)).astype(int)
    place = {key: i for i, key in enumerate(zip(s.level, *x))}
    for d in axes:
        x[d] = 2 ** (s.level.astype(int) + 1) - x[d]
    other = [place.get(key) for key in zip(s.level, *x)]
    if not v.same(name + ': leaf cells without a counterpart', other.count(None), 0):
        return
    largest = 0
    for key, a in s.cell.items():
        factor, counterpart = 1, key
        if key.startswith('velocity') and 'xyz'.index(key[-1]) in axes:
            factor = -1
        if key.startswith('B_'):
            factor = sign['xyz'.index(key[2])]
            counterpart = swapped(key) if 'xyz'.index(key[2]) in axes else key
        largest = max(largest, np.abs(a - factor * s.cell[counterpart][other]).max())
    v.check('%s, %d cells: largest difference' % (name, len(other)), largest, limit)


def turned(v, name, s, sign):
    """A point reflection multiplies the field in the plane by sign."""
    mirrored(v, name, s, (0, 1), (sign, sign, -sign))


def blasts(v):
    """Blasts in a field along x, and finer cells around them: the same bits in mirrors along each
    axis, if the sign of the field is chosen so that its mean stays."""
    for ndim, levels, end in ((2, (5, 7), 0.1), (3, (4, 6), 0.02)):
        for solver, edge, var in (('hlld', 'hlld', 0), ('hll', 'hlla', 1)):
            refine = {'err_grad_p': 0.2, 'interpol_type': 2 if var else 1, 'interpol_var': var}
            init = {**BLAST, **{k: '0,0' for k in ('u_region', 'v_region', 'w_region', 'b_region',
                                                   'c_region')},
                    **{d + '_center': '0.5,0.5' for d in 'xyz'},
                    **{'length_' + d: '10,%g' % w for d, w in zip('xyz', (0.2, 0.3, 0.25))}}
            name = '%d-D blast %s' % (ndim, solver)
            s = load(ptah.simulate(namelist(ndim, levels, {'riemann': repr(solver),
                                                           'riemann2d': repr(edge)}, end, refine,
                                            init), 'mirror%d_%s' % (ndim, solver)))
            v.same(name + ': levels', sorted({int(l) for l in s.level})[-1], levels[1])
            for d in range(ndim):
                sign = [(-1 if k == d else 1) * (-1 if d == 0 else 1) for k in range(3)]
                # hlld takes the sign of a field that is 0, and of its mirror image, for +1
                mirrored(v, '%s along %s' % (name, 'xyz'[d]), s, (d,), sign,
                         1e-20 if solver == 'hlld' else 0)


def symmetry():
    v = ptah.Verdict()
    refine = {'err_grad_p': 0.15, 'err_grad_b2': 0.3, 'interpol_type': 2}
    t = 2 * np.pi

    def vortex(x):
        return [25 / (36 * np.pi), -odd(lambda y: np.sin(t * y), x[1]),
                odd(lambda y: np.sin(t * y), x[0]), 0.0, 5 / (12 * np.pi)]

    def winding(d, x):
        return (even(lambda y: np.cos(2 * t * y), x[0]) / (2 * t) +
                even(lambda y: np.cos(t * y), x[1]) / t) / ROOT
    for solver, edge in (('hlld', 'hlld'), ('llf', 'llf'), ('hll', 'hlla')):
        gas = {'riemann': repr(solver), 'riemann2d': repr(edge)}
        for levels in ((6, 6), (5, 7)):
            name = 'vortex %s %d' % (solver, levels[1])
            r = evolve(name, namelist(2, levels, gas, 0.25, refine), 2, levels[1], vortex, winding,
                       lambda d, x: 0 * x[0])
            turned(v, name, load(r), -1)

    def rotor(x):
        dx, dy = x[0] - 0.5, x[1] - 0.5
        r = np.sqrt(dx * dx + dy * dy)
        inside = np.clip((0.115 - r) / 0.015, 0, 1)
        speed = 20 * np.where(r < 0.1, 1, inside * 0.1 / np.maximum(r, 1e-3))
        return [1 + 9 * inside, -dy * speed, dx * speed, 0.0, 1.0]
    for slope in (1, 2):
        gas = {'gamma': 1.4, 'slope_type': slope, 'riemann2d': "'hlla'"}
        for levels in ((6, 6), (5, 7)):
            name = 'rotor slope_type=%d %d' % (slope, levels[1])
            r = evolve(name, namelist(2, levels, gas, 0.1, refine), 2, levels[1], rotor,
                       lambda d, x: 0 * x[0], lambda d, x: 0 * x[0], (5 / ROOT, 0, 0))
            turned(v, name, load(r), 1)
    blasts(v)
    v.end()


# ---- the loop ----

def loop():
    v = ptah.Verdict()

    def state(x):
        return [1.0, 1.0, 1.0, 1.0, 1.0]

    def potential(d, x):
        r = np.sqrt((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2)
        return 1e-3 * np.maximum(0.3 - r, 0) * (d == 2)
    for ndim, levels in ((2, (6, 6)), (2, (5, 7)), (3, (4, 4)), (3, (4, 5))):
        refine = {'err_grad_b2': 0.2, 'floor_b2': 1e-7, 'interpol_type': 2}
        name = '%d-D, levels %d to %d' % (ndim, *levels)
        r = evolve('loop%d_%d' % (ndim, levels[1]),
                   namelist(ndim, levels, {'slope_type': 2}, 1.0, refine), ndim, levels[1], state,
                   potential, lambda d, x: 0 * x[0])
        s, first = load(r), read_ramses.load(r.start)

        def energy(q):
            return ((conserved(q)[5:] ** 2).sum(0) * q.volume).sum()
        v.check(name + ': energy lost', 1 - energy(s) / energy(first), 0.2 if ndim < 3 else 0.6)
        v.check(name + ': energy gained', energy(s) / energy(first) - 1, 0)
        v.check(name + ': field along the axis of the loop',
                np.abs(s.cell['B_z_left']).max() / np.abs(s.cell['B_x_left']).max(),
                1e-13 if levels[0] == levels[1] else 0.01)
    v.end()


# ---- moving meshes ----

BLAST = {'nregion': 2, 'region_type': "'square','square'", 'exp_region': '10,2',
         'd_region': '1,3', 'p_region': '0.3,9', 'u_region': '0.9,0.9', 'v_region': '0.4,0.4',
         'w_region': '0.3,0.3', 'a_region': '0.8,0.8', 'b_region': '0.5,0.5', 'c_region': '0.3,0.3',
         **{d + '_center': '0.5,%g' % x for d, x in zip('xyz', (0.4, 0.45, 0.55))},
         **{'length_' + d: '10,0.2' for d in 'xyz'}}


def copies_differ(s):
    """Number of faces between leaf cells of equal size whose copies differ, and of all."""
    x = np.rint(s.centres() * 2.0 ** (s.level + 1)).astype(int)
    place = {key: i for i, key in enumerate(zip(s.level, *x))}
    bad = faces_found = 0
    for d in range(s.info['ndim']):
        y = x.copy()
        y[d] = (y[d] + 2) % 2 ** (s.level.astype(int) + 1)
        pairs = np.array([(i, place[key]) for i, key in enumerate(zip(s.level, *y))
                          if key in place]).T
        lower, upper = ('B_%s_%s' % ('xyz'[d], side) for side in ('left', 'right'))
        bad += int((s.cell[upper][pairs[0]] != s.cell[lower][pairs[1]]).sum())
        faces_found += pairs.shape[1]
    return bad, faces_found


def faces_hold(v, name, path):
    r = ptah.Run([ptah.program('inspect'), '-cc', '-j', path], '.')
    found = json.loads(r.out)
    v.same(name + ': findings', found['damages'], 0)
    v.check(name + ': means of finer faces', found['face_copies'], 1e-15)  # round-off in new octs
    v.check(name + ': div B', found['div_B'], 1e-13)
    return found['octs']


def moving(how=''):
    v = ptah.Verdict()
    for ndim, levels, steps in ((2, (4, 6 + bool(how)), 20), (3, (3, 5 + bool(how)), 8)):
        refine = {'err_grad_p': 0.25, 'err_grad_b2': 0.3, 'interpol_type': 1}
        text = namelist(ndim, levels, {'gamma': 1.4, 'slope_type': 1}, 1e9, refine, BLAST,
                        {'nstepmax': steps})
        r = ptah.simulate(text, 'moving%d' % ndim, 2,
                          settings=['output_params/foutput=%d' % (steps // 4)])
        octs = [faces_hold(v, '%d-D, output %s' % (ndim, p[-1]), p) for p in r.outputs]
        for p in r.outputs:
            bad, n = copies_differ(read_ramses.load(p))
            v.same('%d-D, output %s: copies of %d faces that differ' % (ndim, p[-1], n), bad, 0)
        v.same('%d-D: meshes differ' % ndim, len({*octs}) > 2, True)
        lines = golden.read_log(r.err)['main']
        v.check('%d-D: mass in the log' % ndim, max(abs(float(x['mcons'])) for x in lines), 1e-13)
        v.check('%d-D: energy in the log' % ndim, max(abs(float(x['econs'])) for x in lines), 1e-13)
        s = [read_ramses.load(p) for p in (r.outputs[0], r.outputs[-1])]
        before, after = ((conserved(q, 1.4)[:5] * q.volume).sum(1) for q in s)
        v.check('%d-D: sums over cells of mass, momenta, energy' % ndim,
                np.abs(after / before - 1).max(), 1e-13)
        last, want = r.outputs[-1], ptah.digest(r.outputs[-1])
        for program, options in (('convert', ['-f', 'hdf5']), ('repartition', ['-n', '3'])):
            made = '%s%d' % (program, ndim)
            done = ptah.Run([ptah.program(program), *options, '-o', made, last], '.')
            v.same('%d-D: %s: status' % (ndim, program), done.status, 0)
            faces_hold(v, '%d-D: %s' % (ndim, program), made)
            v.same('%d-D: %s: lines of the digest that differ' % (ndim, program),
                   ptah.changed(ptah.digest(made), want), [])
    v.end()


CLOSED = text_of(boundary={
    'nboundary': 4, 'ibound_min': '-1,1,-1,-1', 'ibound_max': '-1,1,1,1',
    'jbound_min': '0,0,-1,1', 'jbound_max': '0,0,-1,1', 'bound_type': '1,1,1,1'})


def closed(v):
    """Within reflecting walls without a field through them nothing is lost. A field through a wall,
    of which RAMSES's rule is no mirror image, gives a warning."""
    state = {**BLAST, 'w_region': '0,0', 'c_region': '0.9,0.9'}
    for name, field, warns in (('along', {'a_region': '0,0', 'b_region': '0,0'}, False),
                               ('through', {}, True)):
        text = namelist(2, (4, 6), {'gamma': 1.4}, 1e9, {'err_grad_p': 0.25, 'interpol_type': 1},
                        {**state, **field}, {'nstepmax': 12})
        r = ptah.simulate(text + CLOSED, 'closed_' + name, 2,
                          settings=['output_params/foutput=12'])
        v.same('field %s walls: a warning' % name, 'through a reflecting wall' in r.err, warns)
        first, last = (read_ramses.load(p) for p in (r.outputs[0], r.outputs[-1]))
        mass = [(s.cell['density'] * s.volume).sum() for s in (first, last)]
        v.same('field %s walls: steps' % name, last.info['time'] > first.info['time'], True)
        if warns:
            continue
        v.check('field along walls: mass', abs(mass[1] / mass[0] - 1), 1e-13)
        x, half = last.centres(), 0.5 ** (last.level.astype(float) + 1)
        for d, (at, side) in enumerate((('left', -1), ('right', 1)) * 2):
            k = d // 2
            wall = np.abs(x[k] + side * half - (side > 0)) < 1e-9
            v.same('field through wall %d' % d,
                   float(np.abs(last.cell['B_%s_%s' % ('xy'[k], at)][wall]).max()), 0.0)


def walls():
    v = ptah.Verdict()
    closed(v)
    corner = {d + '_center': '0.5,%g' % x for d, x in zip('xyz', (0.1, 0.88, 0.1))}
    for ndim, steps in ((2, 16), (3, 6)):
        for kinds in ('1,1,1,1', '2,2,2,2', '1,2,3,1'):
            refine = {'err_grad_p': 0.25, 'interpol_type': 1}
            text = namelist(ndim, (4, 6) if ndim < 3 else (3, 5), {'gamma': 1.4, 'slope_type': 1},
                            1e9, refine, {**BLAST, **corner}, {'nstepmax': steps})
            text += text_of(boundary={
                'nboundary': 4, 'ibound_min': '-1,1,-1,-1', 'ibound_max': '-1,1,1,1',
                'jbound_min': '0,0,-1,1', 'jbound_max': '0,0,-1,1', 'bound_type': kinds,
                'd_bound': '1,1,1.2,1', 'p_bound': '1,1,0.4,1', 'v_bound': '0,0,0.4,0',
                'a_bound': '0,0,0.8,0', 'c_bound': '0,0,0.3,0'})
            name = '%d-D, walls %s' % (ndim, kinds)
            r = ptah.simulate(text, name.replace(' ', '_'), 2,
                              settings=['output_params/foutput=%d' % (steps // 2)])
            for p in r.outputs:
                faces_hold(v, '%s, output %s' % (name, p[-1]), p)
            s = read_ramses.load(r.outputs[-1])
            x, edge = s.centres(), 0.5 ** (s.level.astype(float) + 1)
            fine = s.level == s.level.max()
            touching = [bool((np.abs(x[d] - at) <= edge)[fine].any()) for d, at in ((0, 0), (1, 1))]
            v.same(name + ': the finest cells touch walls', touching, [True, True])
    v.end()


LAWS = {f.__name__: f for f in (linear, alfven, tubes, symmetry, loop, moving, walls)}


if __name__ == '__main__':
    LAWS[sys.argv[1]](*sys.argv[2:])
