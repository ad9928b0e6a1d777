"""Strömgren spheres compared with RAMSES-RT (October 2024), every cell of a sixth of the octant,
whose three axes are alike: 'still', hydrogen of fixed temperature in gas at rest (Iliev et al.
2006, test 1), and 'moved', three groups of photons, helium, and gas that is heated and pushed.
Levels 4 and 5 follow the front; 98 steps; rt_rule='ramses'. tests/data/radiation has, in Morton
order of the leaf cells, their level, x_HII, x_HeII, T/mu, and of each group c N and the x component
of the flux.

'hll' is 'still' with the other fluxes, by a RAMSES that restricts the gas also with static_gas (it
does not, so that cells whose octs are removed have the gas of long ago).

In 'field' gas in a magnetic field cools beside refined gas: the field on a face that a cell shares
with finer ones changes before the cell cools.

    radiation.py

Measured: the same leaf cells; 2e-7 of the maximum of each field. Then the photons of our own rule:
emitted = absorbed + left + in the box, to the digits of the log; and equal digests on two ranks.

Example of a fault caught: registers of fine levels added twice, sub-steps doubled too early, ghosts
of another time, energies of other groups, photons that push the wrong way, gas that cools before
it has the field of finer cells.
"""
# test: tier=check timeout=120
import lzma
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import radiating  # noqa: E402
import read_ramses  # noqa: E402

DATA = os.path.join(ptah.ROOT, 'tests', 'data', 'radiation')
BUILD = 'NDIM=3 RT=1 NGROUPS=3 NIONS=3'
TIME = 0.403626031497065
FIELDS = ['x_HII', 'x_HeII', 'T/mu'] + ['photon_flux_0%d%s' % (g, a)
                                        for g in (1, 2, 3) for a in ('', '_x')]
SETTINGS = {'hll': ["rt_params/rt_flux_scheme='hll'"]}
# pressures of the leaf cells of level 3 after two steps of 'field'
PRESSURES = np.array([5990.3439633235421, 5990.3969041934297, 5990.3982107991305,
                      5990.4004089029149, 5990.4010471240426, 5990.4262410622123,
                      5990.4268943626912, 5990.4275476625762])
LIMIT = 1e-6   # of the maximum of a field
MEAN = 1e-7    # mean difference over mean


def cells(path):
    """Levels and fields of the leaf cells with x <= y <= z, in Morton order."""
    gas, light = read_ramses.load(path), radiating.photons_of(path)
    x = gas.centres()
    sixth = (x[0] <= x[1]) & (x[1] <= x[2])
    names = {'scalar_00': 'x_HII', 'scalar_01': 'x_HeII'}
    out = {names.get(n, n): f[sixth] for n, f in {**gas.cell, **light.cell}.items()}
    out['T/mu'] = out['pressure'] / out['density']  # code units
    return gas.info['time'], gas.level[sixth], out


def stored(case):
    with lzma.open(os.path.join(DATA, case + '.txt.xz'), 'rt') as f:
        table = np.loadtxt(f)
    return table[:, 0].astype(int), dict(zip(FIELDS, table[:, 1:].T))


def namelist(case):
    with open(os.path.join(DATA, case + '.nml')) as f:
        return f.read()


def compare(v, case):
    ptah.simulate(namelist('still' if case == 'hll' else case), case, options=['--build', BUILD],
                  settings=['rt_params/rt_rule=ramses', *SETTINGS.get(case, ())])
    time, level, got = cells(case + '/output_00002')
    want_level, want = stored(case)
    v.check(case + ': time', abs(time / TIME - 1), 1e-13)
    if not v.same(case + ': leaf cells', bool(np.array_equal(level, want_level)), True):
        return
    for name in FIELDS:
        top = np.abs(want[name]).max()
        if top < 1e-15:
            continue  # nothing but the lowest value
        d = np.abs(got[name] - want[name])
        v.check('%s: %s' % (case, name), d.max() / top, LIMIT)
        v.check('%s: mean of %s' % (case, name), d.mean() / np.abs(want[name]).mean(), MEAN)


def field(v):
    """Each pressure is one of RAMSES's, and each of those is there."""
    ptah.simulate(namelist('field'), 'field', options=['--build', BUILD + ' SOLVER=mhd'],
                  settings=['rt_params/rt_rule=ramses'])
    s = read_ramses.load('field/output_00002')
    v.same('field: leaf cells', len(s.level), 1800)
    got = s.cell['pressure'][s.level == 3]
    off = np.abs(got[:, None] / PRESSURES - 1)
    v.check('field: pressures', off.min(axis=1).max(), 1e-12)
    v.check('field: all pressures', off.min(axis=0).max(), 1e-12)


def balance(v, log):
    """Photons of all coarse steps of a log: what is missing, of those emitted."""
    rows = re.findall(r'group 1: emitted (\S+), absorbed (\S+), left (\S+), in the box (\S+),', log)
    sums = np.array(rows, float)
    emitted, absorbed, left = sums[:, :3].sum(axis=0)
    v.check('photons', abs(emitted - absorbed - left - sums[-1, 3]) / emitted, 1e-13)


def main():
    v = ptah.Verdict()
    compare(v, 'still')
    compare(v, 'moved')
    compare(v, 'hll')
    field(v)
    short = {'options': ['--build', BUILD],
             'settings': ['output_params/tout=0.05', 'rt_params/rt_nsubcycle=3',
                          'rt_params/rt_smooth=.false.']}
    one = ptah.simulate(namelist('still'), 'one', **short)
    ptah.simulate(namelist('still'), 'two', ranks=2, **short)
    balance(v, one.err)
    v.same('digest on two ranks', ptah.digest('two/output_00002'), ptah.digest('one/output_00002'))
    v.end()


if __name__ == '__main__':
    main()
