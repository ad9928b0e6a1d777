"""A magnetic field in an expanding universe.

    mhd_cosmology.py uniform   a uniform field falls with a^-2, and nothing else changes
    mhd_cosmology.py wave      a standing Alfven wave in an Einstein-de Sitter universe
    mhd_cosmology.py bits      a run with refinement: ranks, restarts, sound faces
    mhd_cosmology.py faces     files of the field: both sides of a face

In the units of the run (super-comoving: Martel & Shapiro 1998) the field grows with sqrt(a). A wave
of the velocity u and the field b across a field B, both along the wave, follows du/dt = B b' / rho
and db/dt = B u' + H b / 2. With H = a^(1/2) and dt = a^(-3/2) da it is integrated here.

Examples of faults caught: a field that does not grow, or grows twice where a finer level takes two
steps, an energy without the growth of that of the field, forces at edges of a finer level that do
not grow, ghosts that lag behind; velocities of the wrong files, faces with two values.
"""
# test: uniform tier=quick timeout=60
# test: faces tier=quick timeout=60
# test: wave tier=check timeout=120
# test: bits tier=check timeout=240 ranks=3
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'golden'))
import grafic  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

FLAT = {'omega_m': 1.0, 'omega_l': 0.0}  # Einstein & de Sitter 1932
GAUSS = np.sqrt(4 * np.pi)


def ics(level, fields, **head):
    os.makedirs('ics')
    zero = np.zeros(3 * (2 ** level,))
    for name in grafic.FIELDS:
        grafic.write('ics/ic_' + name, fields.get(name, zero), level, **head)


def namelist(level, levelmax, b, aend, more='', subcycle='10*1'):
    return """&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=%s
%s/
&AMR_PARAMS
levelmin=%d
levelmax=%d
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='%s'
omega_b=0.2
B_ave=%r
/
&OUTPUT_PARAMS
aend=%g
foutput=2
/
&HYDRO_PARAMS
gamma=1.6666666666666667
riemann='hlld'
riemann2d='hlld'
slope_type=2
pressure_fix=.true.
/
&REFINE_PARAMS
m_refine=10*1.2
interpol_var=1
interpol_type=1
/
""" % (subcycle, more, level, levelmax, os.path.abspath('ics'), b, aend)


def run(folder, text, ranks=1, *settings, restart=None):
    options = ['-r', restart] if restart else ['--build', 'SOLVER=mhd']
    return ptah.simulate(text, folder, ranks, 1, list(settings), options).outputs


def uniform():
    v, b = ptah.Verdict(), 1e-3
    ics(3, {}, **FLAT)
    paths = run('one', namelist(3, 3, b, .05))
    first, last = read_ramses.load(paths[0]), read_ramses.load(paths[-1])
    grown = np.sqrt(last.info['aexp'] / first.info['aexp'])
    v.same('the universe expands', grown > 1.5, True)
    for side in ('left', 'right'):
        for d in 'xyz':
            want = grown * b if d == 'z' else 0
            v.check('B_%s_%s' % (d, side),
                    np.abs(last.cell['B_%s_%s' % (d, side)] - want).max() / b, 1e-14)
    for name in ('density', 'pressure'):
        v.check(name, np.abs(last.cell[name] / first.cell[name] - 1).max(), 1e-10)
    g = [s.cell['B_z_left'].max() * GAUSS * np.sqrt(s.info['unit_d']) * s.info['unit_l']
         / s.info['unit_t'] * s.info['aexp'] ** 2 for s in (first, last)]
    v.check('field in Gauss by a^-2', abs(g[1] / g[0] - 1), 1e-10)
    r = ptah.Run([ptah.program('inspect'), '-cc', paths[-1]], '.')
    v.same('sound', (r.status, 'magnetic faces' in r.out), (0, True))
    v.end()


def amplitudes(s, n):
    """Of the velocity along x and the field along x, as functions of z."""
    at = np.floor(s.centres()[2] * n).astype(int)
    u = np.bincount(at, s.cell['velocity_x'], n) / n ** 2
    b = np.bincount(at, .5 * (s.cell['B_x_left'] + s.cell['B_x_right']), n) / n ** 2
    z = 2 * np.pi * (np.arange(n) + .5) / n
    return 2 * np.mean(u * np.cos(z)), 2 * np.mean(b * np.sin(z))


def expected(a0, a1, u, b, rho):
    """Amplitudes at a1 of a wave u cos(2 pi z) of the velocity at a0."""
    k, field, steps = 2 * np.pi, 0.0, 20000

    def slope(a, y):
        strong = b * np.sqrt(a / a0)
        change = strong * k * y[1] / rho, -strong * k * y[0] + .5 * a ** .5 * y[1]
        return np.array(change) / a ** 1.5

    y, h = np.array([u, field]), (a1 - a0) / steps
    for i in range(steps):
        a = a0 + i * h
        one = slope(a, y)
        two = slope(a + h / 2, y + h / 2 * one)
        three = slope(a + h / 2, y + h / 2 * two)
        y = y + h / 6 * (one + 2 * two + 2 * three + slope(a + h, y + h * three))
    return y


def wave():
    v, b, level = ptah.Verdict(), .06, 5
    n = 2 ** level
    z = (np.arange(n) + .5) / n
    ics(level, {'velcx': 10 * np.cos(2 * np.pi * z)[:, None, None] * np.ones((n, n, n))}, **FLAT)
    paths = run('one', namelist(level, level, b, .05), 1, 'output_params/foutput=1000')
    first, last = read_ramses.load(paths[0]), read_ramses.load(paths[-1])
    u0, b0 = amplitudes(first, n)
    u1, b1 = amplitudes(last, n)
    want = expected(first.info['aexp'], last.info['aexp'], u0, b, first.cell['density'].mean())
    print('     amplitudes %.4f %.4f, expected %.4f %.4f, of the initial velocity'
          % (u1 / u0, b1 / u0, *(want / u0)))
    v.check('velocity', abs(u1 - want[0]) / abs(u0), .02)
    v.check('field', abs(b1 - want[1]) / abs(u0), .02)
    v.end()


def bits():
    v, level = ptah.Verdict(), 4
    rng = np.random.default_rng(3)
    n = 2 ** level
    ics(level, {'deltab': rng.normal(0, .3, (n, n, n)),
                **{'velc' + d: rng.normal(0, 200, (n, n, n)) for d in 'xyz'}})
    text = namelist(level, level + 2, .02, .9, 'nstepmax=6\n', '10*2')
    paths = run('one', text)
    want = ptah.digest(paths[-1])
    s = read_ramses.load(paths[-1])
    v.same('levels', len(np.unique(s.level)) > 1, True)
    r = ptah.Run([ptah.program('inspect'), '-cc', paths[-1]], '.')
    v.same('sound', (r.status, 'magnetic faces' in r.out), (0, True))
    three = run('three', text, 3, 'run_params/check_ghosts=.true.')
    v.same('three ranks: lines that differ', ptah.changed(ptah.digest(three[-1]), want), [])
    again = run('again', text, 2, restart=os.path.abspath(three[1]))
    v.same('restart: lines that differ', ptah.changed(ptah.digest(again[-1]), want), [])
    v.end()


def faces():
    v, n = ptah.Verdict(), 8
    rng = np.random.default_rng(1)
    b = {'bxleft': rng.normal(0, 1, (n, n, n)), 'bxright': rng.normal(0, 1, (n, n, n))}
    text = namelist(3, 3, 1e-3, .9, 'nstepmax=0\n')
    ics(3, {})
    for name, values in b.items():
        r = ptah.simulate(text, 'none', 1, 1, [], ['--build', 'SOLVER=mhd'], must_work=False)
        v.same('without ic_%s: status, message' % name,
               (r.status, 'has ic_bxleft but no ic_bxright' in r.err),
               (0, False) if name == 'bxleft' else (2, True))
        grafic.write('ics/ic_' + name, values, 3)
    r = ptah.simulate(text, 'two', 1, 1, [], ['--build', 'SOLVER=mhd'], must_work=False)
    v.same('two fields of a face', (r.status, 'they are one face' in r.err), (2, True))
    grafic.write('ics/ic_bxright', np.roll(b['bxleft'], -1, 2), 3)
    r = ptah.simulate(text, 'open', 1, 1, [], ['--build', 'SOLVER=mhd'], must_work=False)
    v.same('a divergence', (r.status, 'add up to nothing' in r.err), (2, True))
    grafic.write('ics/ic_bxright', b['bxright'], 3)
    for ranks in 1, 2:
        path = run('kept%d' % ranks, text, ranks, 'init_params/allow_divb=.true.')[0]
        s = read_ramses.load(path)
        x, y, z = np.floor(s.centres() * n).astype(int)
        left = b['bxleft'].astype('f4')
        v.check('the field below', np.abs(s.cell['B_x_left'] - left[z, y, x]).max(), 1e-15)
        v.check('the field above is that of the next cell',
                np.abs(s.cell['B_x_right'] - left[z, y, (x + 1) % n]).max(), 1e-15)
        v.check('along z', np.abs(s.cell['B_z_right'] - 1e-3).max(), 1e-15)
    v.end()


if __name__ == '__main__':
    {'uniform': uniform, 'wave': wave, 'bits': bits, 'faces': faces}[sys.argv[1]]()
