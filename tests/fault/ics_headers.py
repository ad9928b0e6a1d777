#!/usr/bin/env python3
"""The headers of a level's files: simulate, simulate -n, pk and genzoom refuse files that do not
belong together, in the same words; take omega_b from headers of 48 bytes; need no ic_deltab for
dark matter alone; mask files have the header of the others.

Example of a fault caught: a reader that looks at the header of one file only, omega_b of the
header against that of the namelist.
"""
# test: tier=check timeout=240 ranks=2
import glob
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import grafic  # noqa: E402
import ptah  # noqa: E402

LEVEL, N = 3, 8
DX = grafic.MPC / N
ZERO = np.zeros((N, N, N))
BAD = [('offset', {'shift': (5 * DX, 0, 0)}, 'has the offset 12.5 along x where ic_deltab has 0'),
       ('half a cell', {'shift': (0, 0, DX / 2)}, 'has the offset 1.25 along z where'),
       ('time', {'astart': 0.05}, 'astart, omega_m, omega_v, h0 = 0.05, '),
       ('omega_m', {'omega_m': 0.9}, 'astart, omega_m, omega_v, h0 = 0.02, 0.9, '),
       ('omega_l', {'omega_l': 0.69}, 'has another cosmology or time'),
       ('h0', {'h0': 71.0}, 'has another cosmology or time'),
       ('cell', {'dx': 1.01 * DX}, 'has cells of 2.525 Mpc where ic_deltab has 2.5')]
FILES = ('velcx', 'velcz', 'velbx', 'velby', 'poscx', 'poscy', 'poscz', 'tempb', 'pvar_00001',
         'refmap', 'massc', 'particle_ids')


def write(name, **change):
    values = np.arange(1, N ** 3 + 1, dtype='i4').reshape(N, N, N) if name[:4] == 'part' else ZERO
    grafic.write('ics/ic_' + name, values, LEVEL, **change)


def programs(hydro=True, *more):
    """(program, status, message) of each program on the set ics."""
    with open('run.nml', 'w') as f:
        f.write(grafic.namelist('ics', LEVEL, hydro))
    for what, argv in (('simulate -n', ['simulate', '-n', 'run.nml', *more]),
                       ('simulate', ['simulate', '-q', '--force', '-o', 'o', 'run.nml', *more]),
                       ('pk', ['pk', '--species', 'dm', 'ics']),
                       ('genzoom', ['genzoom', '-q', '-n', '--sphere', '.5,.5,.5,.3', 'ics'])):
        r = ptah.Run([ptah.program(argv[0]), *argv[1:]], '.', timeout=60)
        yield what, r.status, r.err


def check_refused(v):
    for name in FILES:
        for what, change, text in BAD if name == 'velcx' else BAD[:1] + BAD[2:4]:
            grafic.make('ics', LEVEL)
            write(name, **change)
            for program, status, said in programs():
                lines = said.splitlines()
                good = status == 2 and re.search('ics/ic_%s: ' % name, lines[-1]) and \
                    text in lines[-1]
                v.same('%s, another %s of ic_%s%s' % (program, what, name,
                                                      '' if good else ': ' + said),
                       bool(good), True)
    grafic.make('ics', LEVEL)
    for name in FILES:
        write(name)
    for program, status, said in programs():
        v.same('%s: a good set %s' % (program, said[-300:] if status else ''), status, 0)


def omega_b(path):
    with open(glob.glob(path + '/info_*.txt')[0]) as f:
        return float(re.search(r'omega_b *= *(\S+)', f.read())[1])


def check_baryons(v):
    grafic.make('ics', LEVEL, omega_b=0.05)
    for program, status, said in programs():
        v.same('%s: headers of 48 bytes %s' % (program, said[-300:] if status else ''), status, 0)
    v.check('omega_b of the headers', abs(omega_b('o/output_00001') - 0.05), 1e-7)
    r = ptah.Run([ptah.program('simulate'), '--force', '-o', 'o', 'run.nml'], '.')
    v.same('it is said', ' omega_b=0.05 is taken from the initial conditions\n' in r.err, True)
    r = ptah.Run([ptah.program('simulate'), '--force', '-o', 'o', 'run.nml',
                  'init_params/omega_b=0.04'], '.')
    v.same('the namelist wins, and it is said', (omega_b('o/output_00001'), r.err.count(
        ' omega_b=0.04 of the namelist is used; the initial conditions have omega_b=0.05\n')),
        (0.04, 1))
    r = ptah.Run([ptah.program('genzoom'), '--sphere', '.5,.5,.5,.3', 'ics'], '.')
    v.same('genzoom ' + r.err, (r.status, 'omega_b=0.0500000007\n' in r.out), (0, True))
    v.same('the mask has the header of the others', grafic.head_of('ics/ic_pvar_00006'),
           grafic.head_of('ics/ic_deltab'))
    v.same('and its length', os.path.getsize('ics/ic_pvar_00006'),
           os.path.getsize('ics/ic_deltab'))
    r = ptah.Run([ptah.program('genzoom'), '--deep', '-n', '-q', '--omega-b', '0.03', '--sphere',
                  '.5,.5,.5,.3', 'ics'], '.')
    v.same('and is read again ' + r.err, (r.status, 'omega_b=0.03\n' in r.out), (0, True))
    grafic.make('ics', LEVEL)
    ptah.Run([ptah.program('simulate'), '-q', '--force', '-o', 'o', 'run.nml'], '.')
    v.same('without it', omega_b('o/output_00001'), 0.045)


def check_dark(v):
    """The digest of dark matter does not depend on the presence of ic_deltab."""
    digests = []
    for fields in (grafic.FIELDS, ('velcx', 'velcy', 'velcz')):
        grafic.make('ics', LEVEL, fields)
        for program, status, said in programs(False):
            v.same('%s: %d files %s' % (program, len(fields), said * (status > 0)), status, 0)
        digests.append(ptah.digest('o/output_00001'))
    v.same('digest without ic_deltab', ptah.changed(*digests), [])
    two = ptah.simulate(grafic.namelist('../ics', LEVEL, False), 'two', 2,
                        options=['--force']).outputs[0]
    v.same('and on 2 ranks', ptah.changed(digests[1], ptah.digest(two)), [])
    for name in ('velcy', 'velcz'):
        grafic.make('ics', LEVEL, ('velcx', 'velcy', 'velcz'))
        write(name, astart=0.05)
        for program, status, said in programs(False):
            v.same('%s: another time of ic_%s' % (program, name),
                   (status, 'where ic_velcx has' in said), (2, True))
    grafic.make('ics', LEVEL, ('velcx', 'velcy', 'velcz'))
    program, status, said = next(programs(True))
    v.same('with gas: ' + said, (status, 'ics/ic_deltab: cannot open' in said), (2, True))


def main():
    v = ptah.Verdict()
    check_refused(v)
    check_baryons(v)
    check_dark(v)
    v.end()


if __name__ == '__main__':
    main()
