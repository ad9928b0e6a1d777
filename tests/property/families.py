#!/usr/bin/env python3
"""One particle near a halo, of each family in turn, in all programs: particles with mass count
once, never as gas; tracers do not count. Families with names, and others; both formats.

Example of a fault caught: particles that are taken for gas, tracers with mass, a family that a
Gadget snapshot lacks.
"""
# test: tier=check timeout=240
import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import tiny_ramses  # noqa: E402

DARK, LIGHT, HEAVY = 40, 1e-3, 0.5
CELLS = 512
NAMES = {-5: 'other_tracer', -4: 'debris_tracer', -3: 'cloud_tracer', -2: 'star_tracer',
         -1: 'dm_tracer', 0: 'gas_tracer', 1: 'dm', 2: 'star', 3: 'cloud', 4: 'debris', 5: 'other'}
# Gadget types of families other than dark matter; other families: 3, or none
GADGET = {2: 4, 4: 3, 5: 3}
FAMILIES = [*range(-6, 7), 100, 126, 127, -128]


def make_run():
    """A halo of dark matter in the middle of a box of gas, with a heavy particle."""
    rng = random.Random(1)
    os.makedirs('ics', exist_ok=True)
    with open('ics/ic_part', 'w') as f:
        for i in range(DARK + 1):
            x = [0.01 * rng.gauss(0, 1) for _ in range(3)]
            f.write('%.9f %.9f %.9f 0 0 0 %g\n' % (*x, HEAVY if i == DARK else LIGHT))
    text = ptah.ascii_box((3, 3), 0, 1, '', 'd_region=1.0\np_region=1.0', '../ics')
    text = text.replace('poisson=.true.', 'poisson=.false.')
    return ptah.output(ptah.simulate(text, 'run', options=['--force']), 1)


def set_family(path, to, family):
    def change(column):
        column['family'][column['mass'].argmax()] = family
    tiny_ramses.alter_particles(path, to, change)


def run(program, *words):
    r = ptah.Run([ptah.program(program), *words], '.', timeout=60)
    if r.status != 0:
        sys.exit(r.said())
    return r


def told(*words):
    return json.loads(run('inspect', *words).out)


def species(family):
    return None if family <= 0 else {1: 'dm', 2: 'star'}.get(family, 'other')


def check_summary(v, path, family):
    s = told('-sj', path)
    kind = species(family)
    want = {'dm': [DARK, DARK * LIGHT]}
    name = NAMES.get(family, 'undefined')
    row = want.setdefault(name, [0, 0])
    row[0] += 1
    row[1] += HEAVY if kind else 0
    found = {p['family']: [p['count'], round(p['mass'], 12)] for p in s['particles']}
    v.same('%d: inspect -s' % family, found, {k: [n, round(m, 12)] for k, (n, m) in want.items()})
    all_mass = DARK * LIGHT + (HEAVY if kind else 0)
    v.check('%d: mass of particles' % family, abs(s['particle_mass'] - all_mass), 1e-12)


def check_halos(v, path, family, star):
    """star: the halo if the particle is a star."""
    r = run('inspect', '--halos', path).out
    bodies = [line.split('\t') for line in r.splitlines() if line.startswith('# bodies')]
    kind = species(family)
    want = {'dark matter': DARK + (kind == 'dm'), 'stars': int(kind == 'star'),
            'cells of gas': CELLS}
    if kind == 'other':
        want['other particles'] = 1
    v.same('%d: bodies' % family, {b[2]: int(b[1]) for b in bodies}, want)
    halo = told('--halos', '-j', path)['halos'][0]
    if kind is None:
        v.same('%d: a tracer is no part of a halo' % family, halo['m200m'] is None or
               halo['m200m'] < 0.5 * star['m200m'], True)
        return halo
    if kind == 'dm':
        return halo
    v.same('%d: m200m' % family, halo['m200m'], star['m200m'])
    v.same('%d: gas' % family, halo['gas'], star['gas'])
    v.same('%d: stars' % family, halo['stars'], star['stars'] if kind == 'star' else 0)
    v.same('%d: other' % family, halo['other'], star['stars'] if kind == 'other' else 0)
    return halo


def check_profile(v, path, family, dark):
    p = told('--profile', '.5,.5,.5,.2', '-j', path)['bins'][-1]
    heavy = species(family)
    v.same('%d: profile, gas' % family, p['gas_mass'], dark['gas_mass'])
    for name in ('dm', 'star', 'other'):
        want = (DARK * LIGHT if name == 'dm' else 0) + (HEAVY if heavy == name else 0)
        v.check('%d: profile, %s' % (family, name), abs(p[name + '_mass'] - want), 1e-12)


def check_map(v, path, family):
    for name in ('dm', 'star', 'other'):
        r = run('inspect', '-m', name, '-j', '-o', 'map.png', '--force', path)
        m = json.loads(r.out)
        want = (DARK * LIGHT if name == 'dm' else 0) + (HEAVY if species(family) == name else 0)
        total = next(m[k] for k in ('total', 'sum') if k in m)
        v.check('%d: map of %s' % (family, name), abs(total - want), 1e-9)


def check_pk(v, path, family):
    kind = species(family)
    for name in ('star', 'other'):
        r = ptah.Run([ptah.program('pk'), '--species', name, '--mesh', '8', path], '.')
        v.same('%d: pk of %s' % (family, name), (r.status, 'has no ma' in r.err),
               (0, False) if kind == name else (2, True))


def check_gadget(v, path, family):
    r = run('convert', '-f', 'gadget', '--force', '-o', 'snap', path)
    with open('snap', 'rb') as f:
        head = f.read(4 + 256)[4:]
    count = list(struct.unpack('<6i', head[:24]))
    want = [0, DARK, 0, 0, 0, 0]
    left = family <= 0 or family == 3
    if not left:
        want[5 if family == 1 else GADGET.get(family, 3)] += 1
    v.same('%d: Gadget' % family, count, want)
    reason = 'they stand for sinks' if family == 3 else 'have no mass'
    said = r.err if left else reason + r.err
    name = NAMES.get(family, 'undefined')
    v.same('%d: what is said: %s' % (family, r.err), (reason in said, name in said or not left,
                                                     bool(r.err)), (True, True, left))


def main():
    v = ptah.Verdict()
    path = make_run()
    set_family(path, 'f', 2)
    star = told('--halos', '-j', 'f')['halos'][0]
    dark = told('--profile', '.5,.5,.5,.2', '-j', 'f')['bins'][-1]
    for family in FAMILIES:
        set_family(path, 'f', family)
        run('convert', '-f', 'hdf5', '--force', '-o', 'h', 'f')
        check_summary(v, 'f', family)
        check_summary(v, 'h', family)
        check_halos(v, 'f', family, star)
        check_profile(v, 'f', family, dark)
        check_map(v, 'f', family)
        check_pk(v, 'f', family)
        check_gadget(v, 'f', family)
        run('convert', '-f', 'ramses', '--force', '-o', 'r', 'h')
        c = ptah.Run([ptah.program('inspect'), '-c', 'r'], '.')
        v.same('%d: inspect -c of it' % family, c.status, 0)
    v.end()


if __name__ == '__main__':
    main()
