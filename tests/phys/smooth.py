"""Laws of gas and particles in one and two dimensions, from states that no regions describe: gas at
rest is written, replaced in the file, and the run continues from there.

    smooth.py vortex    an isentropic vortex (Shu 1998) that crosses a periodic box diagonally: the
                        L1 error of density falls with order 2 +- 0.1 over three resolutions
    smooth.py noh2      gas that falls on the axis of a cylinder (Noh 1987, gamma = 5/3): 16 behind
                        the shock, less the heated core, 1 + t/r before it, shock at t/3
    smooth.py jeans     waves of self-gravitating gas in one dimension: the frequency, and the rate
                        of growth, of omega^2 = c^2 k^2 - 4 pi G rho to 0.3 %
    smooth.py sheets    sheets of particles in one dimension: each moves as in a uniform repulsive
                        background, s'' = 4 pi G rho s, until it meets another; a collapse through
                        many crossings conserves energy

Example of a fault caught: a transverse predictor of the wrong sign or axis (order 1), a corner that
is no mirror (noh2), a source 4 pi G of another dimension, forces of cells as if in a cube.
"""
# test: vortex tier=check timeout=120
# test: noh2 tier=check timeout=120
# test: jeans tier=check timeout=60
# test: sheets tier=check timeout=60
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
{run}
/
&AMR_PARAMS
levelmin={level}
levelmax={level}
boxlen={box}
/
&BOUNDARY_PARAMS
{walls}
/
&INIT_PARAMS
nregion=1
d_region=1.0
p_region=1.0
/
&OUTPUT_PARAMS
noutput={outputs}
tout={times}
/
&HYDRO_PARAMS
gamma={gamma}
courant_factor={courant}
slope_type={slope}
riemann='{riemann}'
/
"""
# two mirrors meet in the corner at 0; gas flows in at the upper sides
CORNER = """nboundary=4
ibound_min=-1,1,-1,-1
ibound_max=-1,1,1,1
jbound_min=0,0,-1,1
jbound_max=0,0,-1,1
bound_type=1,2,1,2"""


def replace_gas(folder, ndim, state):
    """Replaces the gas of the checkpoint folder, of one rank, in all octs: state(x[ndim, n]) gives
    the variables at positions in units of the box. Sums kept beside the gas are removed."""
    number = folder[-5:]
    for name in ('checksums_%s.txt', 'exact_%s.out00001'):
        if os.path.exists(os.path.join(folder, name % number)):
            os.remove(os.path.join(folder, name % number))
    amr = read_ramses.Records(os.path.join(folder, 'amr_%s.out00001' % number))
    gas = read_ramses.Records(os.path.join(folder, 'hydro_%s.out00001' % number))
    s = read_ramses.Snapshot({'ndim': ndim})
    numbl, numbb, corner = read_ramses.read_amr_header(s, amr)
    gas.skip(6)
    for l in range(1, len(numbl) + 1):
        for domain, n in enumerate(list(numbl[l - 1]) + list(numbb[l - 1])):
            gas.skip(2)
            if n == 0:
                continue
            amr.skip(3)
            x = np.array([amr.read('<f8') for _ in range(ndim)]) - corner[:, None]
            amr.skip(1 + 2 * ndim + 3 * 2 ** ndim)
            for k in range(2 ** ndim):
                half = np.array([[(k >> d & 1) - 0.5] for d in range(ndim)]) * 0.5 ** l
                for v in state(x + half):
                    if domain == 0:
                        gas.data[gas.at + 4:gas.at + 4 + 8 * n] = \
                            np.broadcast_to(v, n).astype('<f8').view(np.uint8)
                    gas.skip()
    gas.data.tofile(gas.path)


def evolve(name, ndim, state, **words):
    """(checkpoints, log) of a run that begins with a state."""
    words = {'run': '', 'box': 1.0, 'walls': '', 'courant': 0.8, 'slope': 2, 'riemann': 'hllc',
             **words}
    shutil.rmtree(name, ignore_errors=True)
    times = words['times']
    text = NAMELIST.format(**{**words, 'outputs': 1, 'times': '0.0'})
    setting = ['run_params/ndim=%d' % ndim]
    ptah.simulate(text, name, settings=[*setting, 'run_params/nstepmax=0'])
    replace_gas(os.path.join(name, 'output_00001'), ndim, state)
    shutil.rmtree(os.path.join(name, 'output_00002'), ignore_errors=True)
    text = NAMELIST.format(**{**words, 'outputs': len(times) + 1,
                              'times': ','.join('%.15g' % t for t in [0.0, *times])})
    r = ptah.simulate(text, name, settings=setting, options=['-r', 'output_00001'])
    s = [read_ramses.load(p) for p in r.outputs]
    print('     %s: %d steps, %.1f s' % (name, s[-1].info['nstep_coarse'], r.seconds))
    return s, r.err


def vortex(v):
    """A vortex that moves with the gas, in time 1 by a twentieth of the box along both axes."""
    box, strength, gamma, drift = 10.0, 5.0, 1.4, 0.5

    def state(x, moved=0.0):
        d = box * ((x - drift * moved / box) % 1.0 - 0.5)
        speed = strength / (2 * np.pi) * np.exp(0.5 * (1 - (d ** 2).sum(0)))
        t = 1 - (gamma - 1) / (2 * gamma) * speed ** 2
        rho = t ** (1 / (gamma - 1))
        return rho, drift - speed * d[1], drift + speed * d[0], rho * t

    errors = []
    for level in (6, 7, 8):
        (s,), _ = evolve('vortex%d' % level, 2, state, level=level, gamma=gamma, box=box,
                         times=[1.0], slope=1)
        rho = state(s.centres(), s.info['time'])[0]
        errors.append(np.abs(s.cell['density'] - rho).mean())
    for k, (a, b) in enumerate(zip(errors, errors[1:])):
        order = np.log2(a / b)
        print('     error %.3e, order %.3f' % (b, order))
        v.check('order of the error, %d to %d cells, from 2' % (64 << k, 128 << k),
                abs(order - 2), 0.1)


def noh2(v):
    def state(x):
        r = np.sqrt((x ** 2).sum(0))
        return 1.0, -x[0] / r, -x[1] / r, 1e-6

    (s,), _ = evolve('noh2', 2, state, level=7, gamma=5 / 3, walls=CORNER, times=[0.6], slope=1,
                     riemann='hll')
    t, r, rho = s.info['time'], np.sqrt((s.centres() ** 2).sum(0)), s.cell['density']
    shock = t / 3
    behind, before = (r > 0.4 * shock) & (r < 0.85 * shock), (r > 1.3 * shock) & (r < 0.38)
    v.check('mean density behind the shock, from 16', abs(rho[behind].mean() / 16 - 1), 0.05)
    v.check('spread there', np.ptp(rho[behind]) / 16, 0.05)
    v.check('density before it, from 1 + t/r',
            np.abs(rho[before] / (1 + t / r[before]) - 1).max(), 0.02)
    area = (s.volume * (rho > 0.5 * (16 + 4))).sum()
    v.check('radius of the shock', abs(np.sqrt(4 * area / np.pi) - shock) * 128, 2.0, ' cells')
    v.check('density of the heated core, of that behind the shock',
            rho[r < 0.1 * shock].mean() / rho[behind].mean(), 0.97)


def mode(s):
    """Amplitude of the cosine of the box in density."""
    return 2 * (s.cell['density'] * np.cos(2 * np.pi * s.centres()[0])).mean()


def jeans(v):
    """Waves that begin at rest have the amplitude cos(omega t), with an imaginary omega below the
    Jeans wavenumber. The frequency is that of the best fit."""
    small, gamma = 1e-5, 5 / 3
    for name, sound2 in (('oscillates', 1.0), ('grows', 0.2)):
        def state(x):
            wave = 1 + small * np.cos(2 * np.pi * x[0])
            return wave, 0 * wave, sound2 / gamma * wave ** gamma
        snaps, _ = evolve(name, 1, state, run='poisson=.true.', level=7, gamma=gamma,
                          times=np.arange(1, 26) * 0.05)
        t = np.array([0] + [s.info['time'] for s in snaps])
        a = np.array([small] + [mode(s) for s in snaps]) / small
        expected = sound2 * 4 * np.pi ** 2 - 4 * np.pi
        trial = expected * np.linspace(0.9, 1.1, 2001)
        fits = [np.cos(np.sqrt(complex(w)) * t).real for w in trial]
        best = trial[np.argmin([((a - f) ** 2 / (1 + f ** 2)).sum() for f in fits])]
        v.check('%s: omega of omega^2 = %.3f' % (name, expected),
                abs(np.sqrt(best / expected) - 1), 0.003)
        v.check('%s: amplitude' % name, np.abs(a - np.cos(np.sqrt(complex(expected)) * t).real)
                .max() / np.abs(a).max(), 0.003)
        v.same('%s: the amplitude changes its sign' % name, bool((a < 0).any()), expected > 0)


SHEETS = """
&RUN_PARAMS
poisson=.true.
pic=.true.
{run}
/
&AMR_PARAMS
levelmin={level}
levelmax={finest}
nexpand=4
npartmax=10000
/
&INIT_PARAMS
filetype='ascii'
initfile='ics'
/
&OUTPUT_PARAMS
noutput=2
tout=0.0,{time}
/
&REFINE_PARAMS
m_refine=10*0.3
/
&POISSON_PARAMS
epsilon=1e-8
/
"""


def sheets_run(name, x, velocity, **words):
    """(first, last checkpoint, log) of sheets of the same mass, 1 in all."""
    os.makedirs(os.path.join(name, 'ics'))
    with open(os.path.join(name, 'ics', 'ic_part'), 'w') as f:
        for a, b in zip(x, velocity):
            f.write('%.15e 0 0 %.15e 0 0 %.15e\n' % (a - 0.5, b, 1 / len(x)))
    r = ptah.simulate(SHEETS.format(**{'run': '', **words}), name,
                      settings=['run_params/ndim=1'])
    first, last = (read_ramses.load(ptah.output(r, k)) for k in (1, 2))
    print('     %s: %d steps, %.1f s' % (name, last.info['nstep_coarse'], r.seconds))
    return first, last, r.err


def sheets(v):
    count, rng = 16, np.random.default_rng(5)
    site = (np.arange(count) + 0.5) / count
    x0 = site + rng.uniform(-0.1, 0.1, count) / count
    v0 = rng.uniform(-0.3, 0.3, count) / count
    x0, v0 = x0 - (x0 - site).mean(), v0 - v0.mean()  # the box moves and pulls nothing
    rate = np.sqrt(4 * np.pi)
    # refined levels take their boundary potential from the coarser one
    for name, finest, limit in (('uniform', 12, 2e-4), ('refined', 14, 0.02)):
        first, last, _ = sheets_run(name, x0, v0, level=12, finest=finest, time=0.25)
        t = last.info['time']
        exact = site + (x0 - site) * np.cosh(rate * t) + v0 / rate * np.sinh(rate * t)
        v.same('%s: no sheet comes within 8 cells' % name, bool((np.diff(exact) * 4096 > 8).all()),
               True)
        moved = np.abs(exact - x0).max()
        v.check('%s: positions, of the largest way' % name,
                np.abs(last.part['position_x'] - exact).max() / moved, limit)
        speed = (x0 - site) * rate * np.sinh(rate * t) + v0 * np.cosh(rate * t)
        v.check('%s: velocities, half a step behind' % name,
                np.abs(last.part['velocity_x'] - speed).max() / np.abs(speed).max(), 0.02)
    count = 512
    site = (np.arange(count) + 0.5) / count
    _, last, log = sheets_run('collapse', site + 0.05 * np.sin(2 * np.pi * site), 0 * site,
                              level=8, finest=8, time=2.0)
    crossed = (np.diff(last.part['position_x']) < 0).sum()
    v.check('collapse: pairs of neighbours not yet crossed', count - crossed, 0.9 * count)
    errors = [abs(float(x)) for x in re.findall(r'econs= *(\S+)', log)]
    v.check('collapse: largest error of the energy in the log', max(errors), 0.02)


def main():
    v = ptah.Verdict()
    {'vortex': vortex, 'noh2': noh2, 'jeans': jeans, 'sheets': sheets}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
