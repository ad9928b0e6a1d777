"""Ionised regions: Strömgren's sphere, and tests 0 to 4 of Iliev et al. (2006), whose namelists
are in examples/radiation.

    radiation.py sphere|clump|cell|test1|test2|test4

sphere: radius of the ionised volume in gas of constant temperature against r_S (1 -
e^(-t/t_rec))^(1/3), with the full speed of light (2 %) and a hundredth of it (5 %); the photons
at the end. clump: test 3, with half its resolution: the front is trapped, the shadow stays
neutral, and has no temperature but its own. cell: test 0, against the equilibrium of ionisation
and recombination, and then recombination alone. test1, test2, test4: as published, against the
spread of the codes of the paper (docs/method/rt-tests.md).

Example of a fault caught: photons that vanish in the front, fluxes of another speed of light,
beams that spread into the shadow, cross sections of other groups, recombination of case A.
"""
# test: sphere tier=check timeout=300
# test: clump tier=check timeout=300
# test: cell tier=check timeout=120
# test: test1 tier=long timeout=3000 ranks=2
# test: test2 tier=long timeout=3000 ranks=2
# test: test4 tier=long timeout=3000 ranks=2
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

KPC, MYR, LIGHT = 3.0857e21, 3.1556926e13, 2.99792458e10
BOLTZMANN, MASS = 1.380649e-16, 1.6605390e-24  # erg/K, g: of a unit of density
CASE_B = 2.59e-13                              # cm^3/s, at 1e4 K
# cm^2: ionisation rate over flux of photons
FLUX = (3.007e-18 * 0.44708, 5.687e-19 * 0.49447, 7.889e-20 * 0.05845)


def case_b(temperature):
    """Recombination coefficient of case B (Hui & Gnedin 1997)."""
    y = 315614 / temperature
    return 2.753e-14 * y ** 1.5 / (1 + (y / 2.74) ** 0.407) ** 2.242


def example(number):
    path = os.path.join(ptah.ROOT, 'examples', 'radiation', 'test%d.nml' % number)
    with open(path) as f:
        return f.read()


class Gas:
    """Leaf cells: time (s), positions (code units), volumes (cm^3), density, x_HII,
    temperature (K)."""

    def __init__(self, path, length=KPC):
        s = read_ramses.load(path)
        c = s.cell
        self.time, self.path = s.info['time'] * MYR, path
        self.at = s.centres() * s.info['boxlen']
        self.volume = s.volume * length ** 3
        self.density = c['density']
        self.x = c['x_HII'] if 'x_HII' in c else c['scalar_00']
        self.temperature = (c['pressure'] / c['density'] * (length / MYR) ** 2 * MASS / BOLTZMANN
                            / (1 + self.x))

    def ionised(self):
        return (self.x * self.volume).sum()

    def profile(self, values, radius, width):
        r = np.sqrt((self.at ** 2).sum(0))
        return values[np.abs(r - radius) < width].mean()


def run(number, folder, settings, **more):
    return ptah.simulate(example(number), folder, settings=settings, **more).outputs


def expected(time, rate, density):
    """Radius of the ionised sphere with infinite speed of light, cm."""
    end = (3 * rate / (4 * np.pi * CASE_B * density ** 2)) ** (1 / 3)
    return end * (1 - np.exp(-time * CASE_B * density)) ** (1 / 3)


def radii(v, outputs, rate, density, limits):
    for path, limit in zip(outputs, limits):
        g = Gas(path)
        want = expected(g.time, rate, density)
        got = (6 * g.ionised() / np.pi) ** (1 / 3)
        v.check('radius at %.3g Myr: %.4f kpc, %+.2f %%' % (g.time / MYR, got / KPC,
                                                          100 * (got / want - 1)),
                abs(got / want - 1), limit)


def sphere(v):
    """At the full speed of light the gas is so dense that light crosses the sphere in a twentieth
    of the time of recombination."""
    density, end = 100, 0.0188 * KPC
    rate = 4 / 3 * np.pi * end ** 3 * CASE_B * density ** 2
    times = [k / (CASE_B * density * MYR) for k in (1, 2)]
    level = ['amr_params/levelmin=4', 'amr_params/levelmax=4']
    out = run(1, 'full', [*level, 'amr_params/boxlen=0.025', 'init_params/d_region=%g' % density,
                          'init_params/p_region=8.69869e-3', 'rt_params/rt_c_fraction=1',
                          'rt_params/rt_n_source=%g' % rate, 'output_params/noutput=2',
                          'output_params/tout=%r,%r' % tuple(times)])
    radii(v, out[-2:], rate, density, (0.02, 0.02))
    out = run(1, 'hundredth', [*level, 'amr_params/boxlen=0.3', 'init_params/d_region=0.1',
                               'init_params/p_region=8.69869e-6', 'rt_params/rt_c_fraction=0.01',
                               'output_params/noutput=2',
                               'output_params/tout=0.4,1.0'])
    radii(v, out[-2:], 5e48, 0.1, (0.05, 0.05))


def test1(v):
    radii(v, run(1, '.', [], ranks=2)[1:], 5e48, 1e-3, (0.1, 0.05, 0.05, 0.05, 0.05))


def test2(v):
    outputs = run(2, '.', [], ranks=2)
    radii(v, outputs[2:], 5e48, 1e-3, (0.1, 0.1, 0.2))
    g = Gas(outputs[-1])
    inner, outer = (g.profile(g.temperature, r, 0.3) for r in (1.0, 6.3))
    v.check('temperature within: %.0f K' % inner, abs(np.log(inner / 1.8e4)), np.log(1.5))
    v.check('the front is heated before it arrives: %.0f K' % outer, 2000 / outer, 1)


def axis(g):
    """Positions and fractions along the line through the clump."""
    near = (np.abs(g.at[1] - 3.3) < 0.21) & (np.abs(g.at[2] - 3.3) < 0.21)
    at = np.unique(g.at[0][near])
    return at, np.array([g.x[near & (g.at[0] == a)].mean() for a in at])


def front(at, x):
    """Where the fraction falls below a half."""
    k = np.argmax(x < 0.5)
    return at[k - 1] + (x[k - 1] - 0.5) / (x[k - 1] - x[k]) * (at[k] - at[k - 1])


def clump(v):
    outputs = run(3, '.', ['amr_params/levelmin=4', 'amr_params/levelmax=5',
                          'rt_params/rt_src_x_center=3*0.20625',
                          'rt_params/rt_src_length_x=3*0.4125'])
    places = []
    for path in outputs[-2:]:
        g = Gas(path)
        places.append(front(*axis(g)))
        shadow = (np.hypot(g.at[1] - 3.3, g.at[2] - 3.3) < 0.35) & (g.at[0] > 6)
        beside = (np.hypot(g.at[1] - 3.3, g.at[2] - 3.3) > 1.5) & (g.at[0] > 6)
        print('     %.3g Myr: front at %.3f, x in the shadow %.4f, beside it %.4f'
              % (g.time / MYR, places[-1], g.x[shadow].mean(), g.x[beside].mean()))
        v.check('shadow at %.3g Myr' % (g.time / MYR), g.x[shadow].mean(), 0.1)
        v.check('light beside it', 1 - g.x[beside].mean(), 0.05)
    v.check('front at 3 Myr in the clump', abs(places[0] - 4.6), 0.4)
    v.check('front at 15 Myr near its centre', abs(places[1] - 5.2), 0.4)


def cell(v):
    outputs = run(0, '.', [])
    g = Gas(outputs[-1], length=2.4e17)
    hot = g.temperature[0]
    v.check('temperature: %.0f K' % hot, abs(hot / 3.7e4 - 1), 0.1)
    neutral = case_b(hot) * g.x[0] ** 2 / (1e12 * sum(FLUX))
    v.check('neutral fraction in equilibrium: %.3e' % neutral,
            abs((1 - g.x[0]) / neutral - 1), 0.02)
    times = np.geomspace(0.503, 5, 25)
    dark = run(0, '.', ['rt_params/rt_n_source=3*0.',
                        'output_params/noutput=25',
                        'output_params/tout=' + ','.join('%.6f' % t for t in times)],
               options=['-r', outputs[-1], '--change-model'])
    after = [Gas(path, length=2.4e17) for path in dark]
    v.same('outputs in the dark', len(after), len(times))
    t, x = np.array([g.time for g in after]), np.array([g.x[0] for g in after])
    rate = case_b(np.array([g.temperature[0] for g in after]))
    gain = ((rate[1:] + rate[:-1]) / 2 * np.diff(t)).sum()
    print('     after 5 Myr: x_HII %.4f, %.0f K' % (x[-1], after[-1].temperature[0]))
    v.check('recombination', abs((1 / x[-1] - 1 / x[0]) / gain - 1), 0.03)
    v.check('the gas cools', after[-1].temperature[0] / 1e4, 1)


def test4(v):
    """The densest gas, which has the sources, is ionised first."""
    shares = []
    for path in run(4, '.', [], ranks=2)[1:]:
        g = Gas(path)
        mass = g.density * g.volume
        shares.append((g.ionised() / g.volume.sum(), (g.x * mass).sum() / mass.sum()))
        print('     %.3g Myr: ionised %.3f of the volume, %.3f of the mass'
              % (g.time / MYR, *shares[-1]))
    v.check('mass before volume', max(a / b for a, b in shares[:3]), 1)
    v.check('ionised volume at the end', abs(shares[-1][0] - 0.478), 0.05)
    v.check('ionised mass at the end', abs(shares[-1][1] - 0.514), 0.05)


CASES = {'sphere': sphere, 'clump': clump, 'cell': cell, 'test1': test1, 'test2': test2,
         'test4': test4}


def main():
    v = ptah.Verdict()
    CASES[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
