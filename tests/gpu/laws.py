"""Laws of the model of tests/gpu/devices, whatever its coefficients: one device has its work alone;
more devices never have more work each; without a network and with long launches the speed-up is
ideal; streams that overlap never make a step slower.

Examples of faults caught: octs of a level counted on one rank twice, launches that become cheaper
than a launch, a second stream that hides work which others wait for, messages that are free.
"""
# test: tier=check timeout=60
import importlib.machinery
import importlib.util
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
LOADER = importlib.machinery.SourceFileLoader('devices', os.path.join(HERE, 'devices'))
devices = importlib.util.module_from_spec(importlib.util.spec_from_loader('devices', LOADER))
LOADER.exec_module(devices)

import ptah  # noqa: E402
from network import Level, replace  # noqa: E402

LAUNCHES = [('godunov_minmod', 16, 24, 384), ('gas_courant', 512, 8, 4096),
            ('gas_kick', 512, 4, 2048), ('gas_steep', 512, 4, 2048), ('gas_deposit', 512, 8, 4096),
            ('remap_keys', 64, 4, 256), ('parts_deposit', 512, 4, 2048),
            ('parts_kick', 512, 4, 2048), ('phi_force', 512, 4, 2048), ('fourier_rows', 64, 2, 128),
            ('stage_mg_half', 512, 64, 32768), ('mg_cycles', 8, 4, 32), ('stage_mg_low', 1, 8, 8)]
PTX = {name.removeprefix('stage_'): (400, 200) for name, *_ in LAUNCHES}
BUS = ('waits 10 copies 20 put 1000 got 1000 gas 400000000 steps 2 inner 4 arrays 9 host 4000')
GAS = {'base': 3, 'cycles': (1, 2), 'gas': True, 'parts': False, 'remap': 0}
BOX = dict(GAS, parts=True)


def ring(ranks, octs):
    """Five levels of a mesh that is divided evenly, on ranks with two neighbours each, as long as
    each has octs: an oct is not divided."""
    levels = {}
    for l in range(1, 6):
        n = min(8 ** (l - 1) if l < 3 else octs, octs)
        own = np.diff(np.floor(np.linspace(0, n, ranks + 1) + 1e-9))
        has = np.flatnonzero(own)
        next_ = np.roll(has, -1)
        both = (np.concatenate([has, next_]), np.concatenate([next_, has]))
        if len(has) == 1:
            both = has[:0], has[:0]
        sent = np.minimum(own[both[0]], 5.0)
        levels[l] = Level(own, 4 * own, 8 * own, *both, sent)
    return levels


def rates_of(case, octs):
    with open('log', 'w') as f:
        f.write(''.join(' Device: launch %s %d %d %d\n' % row for row in LAUNCHES))
        f.write(' Device: bus %s\n' % BUS)
    return devices.Rates('log', PTX, devices.Case(ring(1, octs), **case), 'H100')


def law_of_one(v, name, case):
    """One device: no messages, and the time of the launches that the log has, at most in stages."""
    rates = rates_of(case, 2.0 ** 20)
    for way in ('host', 'direct', 'overlap'):
        one = devices.predict(ring(1, 2.0 ** 20), 1, case, rates, way)
        v.check('%s, one device, %s: no messages' % (name, way),
                sum(one.spent[k] for k in ('ghosts', 'messages', 'waits')), 0)
    work = 0
    for (phase, kernel), (count, blocks) in rates.rows.items():
        if devices.counts(rates.case, phase, rates.cycles)[0]:
            least, seconds, _ = rates.kernel(kernel, count, blocks)
            work += max(count * least, seconds)
    low = 0 if name == 'gas' else 4 * devices.steps.LOW * sum(
        (1, 1, 2)[l - 3] for l in (4, 5))  # the levels under 2048 octs of each solve
    # coarse levels of multigrid have short launches, which count with their least time
    v.check('%s: work of the log' % name, abs((one.spent['work'] - low) / work - 1),
            0.1 if case['parts'] else 0.02)


def law_of_work(v, name, case):
    """More devices never have more work each, and their work falls as 1/n until launches are
    short; a cheaper message is never slower."""
    rates, before = rates_of(case, 2.0 ** 20), np.inf
    for n in (1, 2, 4, 8, 16, 32, 64):
        mesh = ring(n, 2.0 ** 20)
        host, direct, overlap = (devices.predict(mesh, n, case, rates, way)
                                 for way in ('host', 'direct', 'overlap'))
        free = devices.predict(mesh, n, case, rates, 'direct', True)
        v.check('%s, %d devices: work of each' % (name, n), direct.most - before, 1e-12)
        v.check('of which launches have their least', -direct.most, -len(LAUNCHES) * 4e-6 / 2)
        before = direct.most
        v.check('direct after host', direct.seconds - host.seconds, 0)
        v.check('overlap after direct', overlap.seconds - direct.seconds, 1e-12)
        v.check('no network first', free.seconds - overlap.seconds, 1e-4)
        v.check('work is not lost', direct.mean - overlap.seconds, 0)


def law_of_ideal(v, name, case):
    """With long launches and no network n devices take an n-th of the work."""
    octs = 2.0 ** 30
    rates = rates_of(case, 2.0 ** 20)
    one = devices.predict(ring(1, octs), 1, case, rates, 'direct', True)
    eight = devices.predict(ring(8, octs), 8, case, rates, 'direct', True)
    v.check('%s: ideal' % name, abs(8 * eight.mean / one.mean - 1), 0.03)
    v.check('no waits of an even mesh', eight.spent['waits'], 1e-3 * eight.seconds)
    v.check('kinds add up', abs(sum(eight.spent.values()) / np.mean(eight.t) - 1), 1e-9)


def law_of_steps(v):
    """Levels 3, 4, 5 have 1, 1, 2 steps; 4 and 5 are refined in each step of the level below."""
    case = devices.Case(ring(1, 64.0), **GAS)
    v.same('steps of levels', devices.counts(case, 'GODUNOV', 4), (4, 4 * 64.0))
    v.same('steps with a refinement', devices.counts(case, 'REFINE', 4), (2, 2 * 64.0))
    v.same('octs of a rank', devices.counts(devices.Case(ring(4, 64.0), **GAS), 'FLAG', 4, 1),
           (4, 64.0))


def law_of_exchange(v):
    """On a free network: launches, a wait and copies of an exchange; and the inside of a domain
    after its surface of 1 %, at the same time."""
    level = ring(8, 8000.0)[5]
    for way, seconds in (('direct', 18e-6), ('host', 26e-6)):
        clock = devices.DeviceClock(devices.NETWORK.ideal(), 8, way)
        clock.exchange(level, 64)
        v.check('an exchange, %s' % way, abs(clock.t - seconds).max(), 1e-12)
    clock = devices.DeviceClock(devices.NETWORK.ideal(), 8, 'overlap')
    clock.work(1e-3)
    v.check('work without an exchange', abs(clock.seconds - 1e-3), 1e-12)
    clock.work(1e-3)
    clock.exchange(level, 64)
    v.check('an exchange beside work', abs(clock.seconds - 2e-3 - devices.steps.LAUNCH), 1e-12)
    slow = replace(devices.NETWORK.ideal(), latency=(1e-3, 1e-3))
    clock = devices.DeviceClock(slow, 8, 'overlap')
    clock.work(1e-4)
    clock.exchange(ring(8, 160.0)[5], 64)  # half of the octs are sent
    v.check('the surface comes first', abs(clock.seconds - 5e-5 - 18e-6 - 1e-3), 1e-12)


def law_of_balance(v, case):
    """A level on one device of eight takes what it takes on one."""
    mesh, rates = ring(8, 2.0 ** 24), rates_of(case, 2.0 ** 20)
    even = devices.predict(mesh, 8, case, rates, 'direct').seconds
    octs = mesh[5].octs
    octs[:] = np.where(np.arange(8) == 3, octs.sum(), 0)
    skew = devices.predict(mesh, 8, case, rates, 'direct')
    v.check('a level on one device', 1.5 * even - skew.seconds, 0)
    v.check('others wait for it', 0.1 * skew.seconds - skew.spent['waits'], 0)


def main():
    v = ptah.Verdict()
    for name, case in (('gas', GAS), ('box', BOX)):
        law_of_one(v, name, case)
        law_of_work(v, name, case)
        law_of_ideal(v, name, case)
    law_of_steps(v)
    law_of_exchange(v)
    law_of_balance(v, GAS)
    v.end()


if __name__ == '__main__':
    main()
