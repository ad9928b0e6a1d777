"""Stars return mass, metals and energy by a table of yields, independent of the number of ranks.

    yields.py thermal RANKS   ejecta heat the cell of the star
    yields.py waves RANKS     supernovae of type II are blast waves (f_w > 0)
                              each: what every star has given back is what the table says; mass,
                              metals and elements of gas and stars add up; an element with the
                              yields of all metals is the metallicity, to the last bit; energy =
                              supernovae x 1e51 erg; the same digest on RANKS, and after a restart
                              from both formats, and after convert
    yields.py wrong           bad tables: one sentence with file and line, status 2

Example of a fault caught: a step counted twice after a restart, metals of the wrong star, a
metallicity off by one row, supernovae that are not in the log, an age in other units, an element in
the place of another, a star that does not inherit its elements.
"""
# test: thermal 2 3 tier=check timeout=300 ranks=3
# test: waves 2 3 tier=check timeout=300 ranks=3
# test: wrong tier=check timeout=120
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from stars import BOX, total  # noqa: E402

STEPS = 10
SUN, GYR = 1.9891e33, 3.15576e16
UNIT_M, UNIT_T = 1.66e-22 * 3e20 ** 3, 3e14
METALS = [0.001, 0.01, 0.04]
ELEMENTS = ['H', 'O', 'all']  # the last element has the yields of all metals
AGES = np.array([2e-6, 5e-6, 2e-5, 1e-4, 1e-2])  # Gyr


def rows(k):
    """Yields of a metallicity: supernovae II, Ia, mass, metals, elements."""
    x = np.array([0.1, 0.3, 0.5, 0.8, 1.0])
    mass = (0.2 + 0.02 * k) * x
    metals = 0.1 * (k + 1) * mass
    return np.array([0.011 * x, 0.001 * x * x, mass, metals, 0.5 * mass, 0.1 * mass * x, metals])


def table(name, change=lambda lines: lines):
    lines = ['3 5 %d' % len(ELEMENTS), ' '.join(ELEMENTS)]
    for k, Z in enumerate(METALS):
        lines.append('# %g' % Z)
        for i, age in enumerate(AGES):
            lines.append(' '.join('%.10e' % x for x in [age, *rows(k)[:, i]]))
    with open(name, 'w') as f:
        f.write('\n'.join(change(lines)) + '\n')


def yields(age, Z):
    """Supernovae II, Ia, mass, metals, elements at ages (Gyr) of stars with metallicity Z."""
    out = []
    for a, z in zip(age, Z):
        at = []
        for k in range(3):
            first = AGES[0]
            if a <= first:
                at.append(rows(k)[:, 0] * max(a, 0) / first)
            else:
                at.append(np.array([np.interp(math.log(a), np.log(AGES), r)
                                    for r in rows(k)]))
        w = np.interp(math.log(max(z, 1e-99)), np.log(METALS), [0, 1, 2])
        k = min(int(w), 1)
        out.append(at[k] + (w - k) * (at[k + 1] - at[k]))
    return np.array(out)


SCALARS = ['init_params/var_region(1:2,%d)=%s' % (k + 1, x) for k, x in
           enumerate(['0.005,0.02', '0.75,0.7', '0.001,0.007', '0.005,0.02'])]


def run(name, ranks, f_w, ordering='hilbert', form='original', options=(), settings=()):
    text = BOX % ('.true.', STEPS, '.true.' if ranks == 3 else '.false.', 3, 5, 3, 0.3, STEPS // 2,
                  form, 0.1, 'eps_star=0.2\nm_star=20.0', '')
    text += ("&PHYSICS_PARAMS\nmetal=.true.\neps_sn1=1.0\neps_sn2=1.0\nf_w=%g\n"
             "yieldtablefilename='../table.txt'\n%s/\n") % (f_w, 'f_ek=0.5\n' if f_w else '')
    return ptah.simulate(text, name, ranks, 2 if ranks == 2 else 1,
                         ['run_params/ordering=' + ordering, 'run_params/nremap=3', *SCALARS,
                          *settings], list(options))


def law(ranks, f_w):
    v = ptah.Verdict()
    table('table.txt')
    whole = run('whole', 1, f_w)
    first, last = whole.outputs[0], whole.outputs[-1]
    a, s = read_ramses.load(first), read_ramses.load(last)
    p = s.part
    born, age, Z = p['birth_mass'], p['yield_age'], p['metallicity']
    v.same('stars to test, of several ages and metallicities', len(born) > 50 and
           len(set(age)) > 3 and ((Z > 0.002) & (Z < 0.008)).any() and (Z > 0.015).any(), True)
    y = yields(age, Z)
    v.check('stars: the mass that they have left', abs(p['mass'] / born - (1 - y[:, 2])).max(),
            1e-12)
    due = (s.info['time'] - p['birth_time']) * UNIT_T / GYR
    late = yields(due, Z)[:, 2] - y[:, 2]
    v.check('stars: no more is due than a coarse step brings', late.max(), 0.2)
    v.same('stars: none is ahead', (age <= due * (1 + 1e-9) + 1e-15).all(), True)
    v.check('mass of gas and stars', abs(total(last) / total(first) - 1), 1e-13)

    def metals(c):
        return math.fsum(c.cell['metallicity'] * c.cell['density'] * c.volume)
    want = metals(a) + math.fsum(born * (y[:, 3] - Z))
    v.check('metals of the gas', abs(metals(s) / want - 1), 1e-12)
    for k, e in enumerate(['element_' + x for x in ELEMENTS]):
        def held(c, e=e):
            return math.fsum(c.cell[e] * c.cell['density'] * c.volume)
        want = held(a) + math.fsum(born * (y[:, 4 + k] - p[e]))
        v.check('%s of the gas' % e, abs(held(s) / want - 1), 1e-13)
    v.same('an element with the yields of the metals is the metallicity',
           bool((s.cell['element_all'] == s.cell['metallicity']).all() and
                (p['element_all'] == Z).all() and Z.max() > 0), True)
    v.same('stars have the elements of their gas', bool(
        (p['element_H'] >= 0.5).all() and (p['element_H'] <= 0.76).all() and
        len(set(p['element_O'])) > 3), True)
    ptah.Run([ptah.program('inspect'), '-m', 'element_O', '-o', 'oxygen.npy', last], '.')
    seen, cells = np.load('oxygen.npy'), s.cell['element_O']
    v.same('a map of an element', bool((seen >= cells.min()).all() and (seen <= cells.max()).all()
                                       and seen.std() > 0), True)
    # the last ones occur after the last checkpoint
    erg = sum(float(x) for x in re.findall(r'Supernovae: .* (\S+) erg', whole.err)[:-1])
    want = math.fsum((y[:, 0] + y[:, 1]) * born * UNIT_M / SUN) * 1e51
    v.check('energy = supernovae x 1e51 erg', abs(erg / want - 1), 1e-8)
    h = ptah.Run([ptah.program('inspect'), '--stars', last], '.').out.splitlines()
    formed = float(h[-1].split()[-1]) * 1.98841e33 / UNIT_M
    v.check('inspect --stars: the mass at birth', abs(formed / math.fsum(born) - 1), 1e-8)
    reference = ptah.digest(last)
    for n in ranks:
        ordering = 'ksection' if n % 2 else 'hilbert'
        r = run('on_%d' % n, n, f_w, ordering)
        v.same('%d ranks, %s: the same digest' % (n, ordering),
               ptah.digest(r.outputs[-1]) == reference, True)
    for form in 'hdf5', 'ramses':
        ptah.Run([ptah.program('convert'), '-f', form, '-o', 'as_' + form, last], '.')
        v.same('as %s: the same digest' % form, ptah.digest('as_' + form) == reference, True)
    for form, n in ('original', 2), ('hdf5', 1):
        half = run('half_' + form, n, f_w, form=form,
                   settings=['run_params/nstepmax=%d' % (STEPS // 2)])
        rest = run('rest_' + form, 3 - n, f_w, 'ksection',
                   options=['-r', os.path.abspath(half.outputs[-1])])
        v.same('%s, %d ranks, then %d: the same digest' % (form, n, 3 - n),
               ptah.digest(rest.outputs[-1]) == reference, True)
    v.end()


def wrong():
    v = ptah.Verdict()

    def with_line(k, text):
        return lambda lines: lines[:k] + [text] + lines[k + 1:]
    cases = [('cut short', lambda lines: lines[:-1], 'line 20'),
             ('no counts', with_line(0, 'three'), 'line 1'),
             ('absurd counts', with_line(0, '3 1000000000 2'), 'line 1'),
             ('no metallicity', with_line(2, '0.001'), 'line 3'),
             ('metallicities descend', with_line(8, '# 1e-4'), 'line 9'),
             ('NaN', with_line(4, '5e-6 nan 0 0 0 0 0 0'), 'line 5'),
             ('a row too short', with_line(4, '5e-6 0.1'), 'line 5'),
             ('ages descend', with_line(4, '1e-6 1 1 0.5 0.1 0 0 0'), 'line 5'),
             ('yields decrease', with_line(4, '5e-6 0 0 0 0 0 0 0'), 'line 5'),
             ('more than the star', with_line(7, '1e-2 1 1 1.5 0.1 0 0 0'), 'line 8'),
             ('a long line', with_line(1, 'x' * 10000), 'line 2'),
             ('two names of three', with_line(1, 'H O'), 'line 3'),
             ('a name twice', with_line(1, 'H O H'), 'line 2'),
             ('a name of 30 letters', with_line(1, 'H O ' + 'x' * 30), 'line 2'),
             ('no name for a field', with_line(1, 'H O ../a'), 'line 2'),
             ('more of an element than ejecta', with_line(7, '1e-2 1 1 0.5 0.1 0.6 0.2 0.1'),
              'line 8'),
             ('less of an element', with_line(7, '1e-2 1 1 0.5 0.1 0.0 0.2 0.1'), 'line 8'),
             ('33 elements', with_line(0, '3 5 33'), 'line 1'),
             ('rows for a larger file', with_line(0, '1000 10000 3'), 'line 1'),
             ('a number too many', with_line(4, '5e-6 0 0 0 0 0 0 0 0'), 'line 5'),
             ('part of a number', with_line(4, '5e-6 0x 0 0 0 0 0 0'), 'line 5'),
             ('a count too many', with_line(0, '3 5 3 7'), 'line 2'),
             ('a zero byte', with_line(4, '5e-6 0 0 0 0 0 0 0\0'), 'line 5'),
             ('a row too many', lambda lines: lines + ['1 1 1 1 1 1 1 1'], 'line 21')]
    for name, change, says in cases:
        table('table.txt', change)
        r = wrong_run()
        v.same('%s: one sentence, status 2' % name,
               (r.status, len(r.err.strip().splitlines()), says in r.err, 'table.txt' in r.err),
               (2, 1, True, True))
    os.remove('table.txt')
    r = wrong_run()
    v.same('no file', (r.status, 'table.txt' in r.err, len(r.err.strip().splitlines())),
           (2, True, 1))
    os.mkdir('table.txt')
    r = wrong_run()
    v.same('a directory', (r.status, 'cannot be read' in r.err, len(r.err.strip().splitlines())),
           (2, True, 1))
    r = wrong_run(['feedback_params/eta_sn=0.1'])
    v.same('two recipes', (r.status, 'eta_sn' in r.err, len(r.err.strip().splitlines())),
           (2, True, 1))
    r = wrong_run(['feedback_params/mass_gmc=1e4'])
    v.same('clouds of the other recipe', (r.status, 'mass_gmc' in r.err), (2, True))
    r = wrong_run(["physics_params/yieldtablefilename='hopkins2018'"], must_work=True)
    v.same('the built-in table', r.status, 0)
    v.end()


def wrong_run(settings=(), must_work=False):
    text = BOX % ('.false.', 1, '.false.', 3, 4, 1, 0, 100, 'original', -1,
                  'eps_star=0.1\nm_star=1', '')
    return ptah.simulate(text, 'wrong', 1, 1,
                         ["physics_params/yieldtablefilename='../table.txt'", *settings],
                         ['-q', '-f'],
                         must_work=must_work)


if __name__ == '__main__':
    if sys.argv[1] == 'wrong':
        wrong()
    else:
        law([int(n) for n in sys.argv[2:]], 2 if sys.argv[1] == 'waves' else 0)
