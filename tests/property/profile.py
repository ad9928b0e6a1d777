"""inspect --profile compared with known profiles: particles with density r^-2 and radial infall in
a moving frame, shells of gas; across a face of the periodic box; equal numbers in both formats and
from any number of files; masses in physical units; damage is reported.

Examples of faults caught: a bin off by one, a shell whose inner sphere is not subtracted, a
velocity that keeps the bulk motion, a distance across the box, a mass without its power of the
length.
"""
# test: tier=check timeout=120 ranks=2
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

PAIRS, R, INFALL = 6000, 0.3, 0.5
CENTRE = np.array([0.02, 0.5, 0.97])  # close to faces of the box
DRIFT = np.array([0.2, -0.1, 0.3])
# a sphere in a box: (density, pressure) inside and outside; radius
INNER, OUTER, EDGE = (8.0, 4.0), (1.0, 1.0), 0.15
GAS = """nregion=9
region_type=%s
%sexp_region=%s
d_region=%s
u_region=%s
v_region=%s
w_region=%s
p_region=%s
"""


def regions():
    """A sphere in each image of the box that it overlaps, since regions are not periodic."""
    places = [(0.5, 0.5, 0.5)] + [tuple(CENTRE + np.array(s)) for s in
                                  ((0, 0, 0), (1, 0, 0), (0, 0, -1), (1, 0, -1))]
    n = len(places)
    lines = ''.join('%s_center=%s\nlength_%s=%s\n' % (
        k, ','.join('%.6f' % p[d] for p in places), k, ','.join(['10'] + ['%g' % (2 * EDGE)] *
                                                                (n - 1)))
        for d, k in enumerate('xyz'))
    text = GAS.replace('nregion=9', 'nregion=%d' % n)
    return text % (','.join(["'square'"] * n), lines, ','.join(['10'] + ['2'] * (n - 1)),
                   ','.join(['%g' % OUTER[0]] + ['%g' % INNER[0]] * (n - 1)),
                   *(','.join(['%g' % u] * n) for u in DRIFT),
                   ','.join(['%g' % OUTER[1]] + ['%g' % INNER[1]] * (n - 1)))


def particles():
    """Mass within r proportional to r; velocity of the frame plus -r/2 along the radius."""
    k = np.arange(PAIRS) + 0.5
    r, z, phi = R * k / PAIRS, 1 - 2 * (k * 0.6180339887498949 % 1), 2 * np.pi * k * 0.7548776662
    s = np.sqrt(1 - z * z)
    x = np.array([s * np.cos(phi), s * np.sin(phi), z]).T * r[:, None]
    both = np.concatenate([x, -x])
    os.makedirs('ics')
    np.savetxt('ics/ic_part', np.hstack([(CENTRE + both) % 1 - 0.5, DRIFT - INFALL * both,
                                         np.full((2 * PAIRS, 1), 0.5 / PAIRS)]), '%.15g')


def make():
    particles()
    head, _, tail = ptah.ascii_box((6, 6), 1, 1, '').partition("initfile(1)='ics'\n")
    text = head + "initfile(1)='ics'\n" + regions() + tail[tail.index('/\n'):]
    text += '&UNITS_PARAMS\nunits_density=1.66e-24\nunits_time=3e13\nunits_length=3e20\n/\n'
    return ptah.simulate(text, '.', 2, options=['-q']).outputs[0]


def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *argv], '.')


def profile(path, *options, radius=R):
    at = ','.join('%.9g' % x for x in (*CENTRE, radius))
    r = inspect('--profile', at, '-j', *options, path)
    if r.status:
        print(r.err)
    j = json.loads(r.out)
    return j, {k: np.array([b[k] for b in j['bins']], float) for k in j['bins'][0]}


def checks(v, p, how):
    a, b = p['from'], p['to']
    v.same(how + ': bins touch', (a[1:] == b[:-1]).all() and a[0] == 0 and b[-1] == R, True)
    within = 2 * np.floor(b / R * PAIRS + 0.5) * 0.5 / PAIRS
    v.check(how + ': mass within r', abs(p['dm_mass'] - within).max(), 3 / PAIRS)
    many = p['dm_count'] > 50
    want = 3 * (b - a) / R / (4 * np.pi * (b ** 3 - a ** 3))
    v.check(how + ': density of r^-2', abs(p['dm_density'] / want - 1)[many].max(), 0.05)
    mean = (a + b) / 2
    v.check(how + ': velocity inwards', abs(p['dm_vr'] / (-INFALL * mean) - 1)[many].max(), 0.02)
    v.check(how + ': dispersion', abs(p['dm_sigma'] * 3 / INFALL / (a * a + a * b + b * b) ** 0.5 -
                                     1)[many].max(), 0.02)
    cell = 1 / 64
    inside, outside = b < EDGE - 2 * cell, a > EDGE + 2 * cell
    t = p['temperature']
    for where, (d, pressure) in (inside, INNER), (outside, OUTER):
        v.same(how + ': bins of gas', where.sum() > 0, True)
        v.check(how + ': density of gas', abs(p['gas_density'][where] / d - 1).max(), 1e-12)
        v.check(how + ': temperature', abs(t[where] / (t[-1] * (pressure / d) /
                                                       (OUTER[1] / OUTER[0])) - 1).max(), 1e-12)
    v.check(how + ': gas at rest in the moving frame', abs(p['gas_vr']).max(), 1e-12)
    mass = 4 * np.pi / 3 * np.where(b < EDGE, INNER[0] * b ** 3,
                                    INNER[0] * EDGE ** 3 + OUTER[0] * (b ** 3 - EDGE ** 3))
    far = b > 2 * cell
    v.check(how + ': mass of gas within r', abs(p['gas_mass'] / mass - 1)[far].max(), 0.02)
    v.same(how + ': no stars', (p['star_count'].sum(), p['star_mass'].sum()), (0, 0))


def main():
    v = ptah.Verdict()
    path = make()
    j, p = profile(path)
    checks(v, p, 'log')
    v.check('bulk velocity', abs(np.array(j['bulk']) - DRIFT).max(), 1e-3)
    checks(v, profile(path, '--linear', '-n', '15')[1], 'linear')
    j, q = profile(path, '-u')
    i = read_ramses.read_info(path)
    v.check('-u: masses', abs(q['dm_mass'] / p['dm_mass'] /
                              (i['unit_d'] * i['unit_l'] ** 3 / 1.98841e33) - 1).max(), 1e-12)
    v.check('-u: lengths', abs(q['to'] / p['to'] / (i['unit_l'] / 3.0856776e21) - 1).max(), 1e-12)
    v.same('-u: units', [j['units'][k] for k in ('to', 'gas_density', 'temperature', 'dm_vr',
                                                 'dm_mass')],
           ['kpc', 'g/cm^3', 'K', 'km/s', 'Msun'])
    ptah.Run([ptah.program('repartition'), '-q', '-n', '5', '-o', 'five', path], '.')
    v.same('five files', profile('five')[1]['dm_vr'].tolist() == p['dm_vr'].tolist() and
           profile('five')[1]['gas_mass'].tolist() == p['gas_mass'].tolist(), True)
    at = ','.join('%.9g' % x for x in (*CENTRE, R))
    r = inspect('--profile', at, '-o', 'p.svg', path)
    rows = [line for line in r.out.splitlines() if line[0] != '#']
    v.same('table and plot', (len(rows), open('p.svg').read(5)), (30, '<?xml'))
    r = inspect('--profile', at, '-o', 'p.svg', path)
    v.same('the plot is kept', (r.status, 'exists' in r.err), (2, True))
    for value in '0.5,0.5,0.5', '0.5,0.5,0.5,0.6', '0.5,0.5,2,0.1', 'a,b,c,d':
        r = inspect('--profile', value, path)
        v.same(value, (r.status, r.err.count('\n')), (2, 1))
    v.end()


if __name__ == '__main__':
    main()
