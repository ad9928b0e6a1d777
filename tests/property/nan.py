#!/usr/bin/env python3
"""Undefined values are printed as nan in every table and message, without a sign, which depends on
the machine; as null in JSON. Tested with halos whose members are at one position, and with NaNs of
either sign in a checkpoint.

Example of a fault caught: a table that prints its numbers by itself.
"""
# test: tier=check timeout=120
import json
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import grafic  # noqa: E402
import ptah  # noqa: E402
import tiny_ramses  # noqa: E402

MINUS_NAN = struct.unpack('<d', struct.pack('<Q', 0xfff8000000000000))[0]
COLUMNS = ('x', 'vx', 'm')


def make_run():
    os.makedirs('ics', exist_ok=True)
    with open('ics/ic_part', 'w') as f:
        f.write('0.1 0.1 0.1 0 0 0 0.001\n' * 25 + '-0.3 0.2 -0.1 0 0 0 0.001\n')
    text = ptah.ascii_box((3, 3), 0, 1, '', ics='../ics')
    return ptah.output(ptah.simulate(text.replace('poisson=.true.', 'poisson=.false.'), 'run',
                                     options=['--force']), 1)


def run(v, what, *argv, nan=None):
    """The output has no signed nan. nan: whether an unsigned one is expected."""
    r = ptah.Run([ptah.program(argv[0]), *argv[1:]], '.', timeout=60)
    text = r.out + r.err
    v.same('%s: -nan' % what, [line for line in text.splitlines() if '-nan' in line.lower()], [])
    if nan is not None:
        v.same('%s: nan' % what, 'nan' in text.lower(), nan)
    if '-j' in argv and r.status == 0:
        json.loads(r.out, parse_constant=lambda c: v.same('%s: %s in JSON' % (what, c), c, 'null'))
    return r


def wrong(name):
    def change(column):
        column[name][0] = MINUS_NAN
    return change


def main():
    v = ptah.Verdict()
    path = make_run()
    run(v, 'halos', 'inspect', '--halos', path, nan=True)
    run(v, 'halos, JSON', 'inspect', '--halos', '-j', path)
    run(v, 'profile', 'inspect', '--profile', '.5,.5,.5,.01', path, nan=True)
    run(v, 'profile, JSON', 'inspect', '--profile', '.5,.5,.5,.01', '-j', path)
    for name in ('mass', 'position_x', 'velocity_y'):
        tiny_ramses.alter_particles(path, 'f', wrong(name))
        run(v, name + ': -cc', 'inspect', '-cc', 'f', nan=True)
        run(v, name + ': summary', 'inspect', '-s', 'f', nan=name == 'mass')
        run(v, name + ': summary, JSON', 'inspect', '-s', '-j', 'f')
        run(v, name + ': comparison', 'inspect', path, 'f')
        run(v, name + ': halos', 'inspect', '--halos', 'f')
        run(v, name + ': profile', 'inspect', '--profile', '.5,.5,.5,.2', 'f')
        run(v, name + ': map', 'inspect', '-m', 'dm', '-o', 'm.png', '--force', 'f')
        run(v, name + ': pk', 'pk', '--species', 'dm', '--mesh', '8', 'f')
        run(v, name + ': pk, JSON', 'pk', '-j', '--species', 'dm', '--mesh', '8', 'f')
        run(v, name + ': convert', 'convert', '-f', 'gadget', '--force', '-o', 'snap', 'f')
        run(v, name + ': simulate', 'simulate', '--force', '-o', 'o', '-r', 'f', 'run/run.nml')
    grafic.make('ics', 3)
    grafic.write('ics/ic_velcx', np.full((8, 8, 8), MINUS_NAN), 3)
    with open('run.nml', 'w') as f:
        f.write(grafic.namelist('ics', 3))
    run(v, 'initial conditions', 'simulate', '--force', '-o', 'o', 'run.nml', nan=True)
    run(v, 'a set', 'genzoom', '--deep', '-n', '--sphere', '.5,.5,.5,.3', 'ics', nan=True)
    v.end()


if __name__ == '__main__':
    main()
