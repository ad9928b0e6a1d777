"""Files of BPASS v2.2.1 and of Bruzual & Charlot (2003) in the layout in which they are published.

Stars are black bodies whose light depends on the metallicity alone for 2·10^7 years. The photons
per solar mass and their energy that the log of a run has for each group are those of other
integrals, at the lowest metallicity of each library; a library with six lines about the model is
read, too.
Compressed files give a sentence that says so.

Example of a fault caught: exponents without E, ages from the second column on, a line about the
model that is taken for wavelengths, indices taken for luminosities, metallicities in the order of
names.
"""
# test: tier=check timeout=90
import math
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import spectra  # noqa: E402
from parameter_runs import SUNS, text_of, vary  # noqa: E402

H, C, EV, K = 6.6260702e-27, 2.9979246e10, 1.6021766e-12, 1.380649e-16
SUN, YEAR = 3.828e33, 3.15576e7
BOUNDS = [(13.60, 24.59), (24.59, 54.42), (54.42, 130)]  # eV; photons above are few
TEMPERATURE = 6e4
TEXT = text_of(vary(SUNS, run={'nstepmax': 1, 'ngroups': 3},
                    rt_groups={'groupL0': [b[0] for b in BOUNDS],
                               'groupL1': [b[1] for b in BOUNDS]}))


def light(wave, age, metal):
    """L_sun/Å/M_sun."""
    x = 1e8 * H * C / (wave * K * TEMPERATURE)
    fades = 1 if age < 2e7 else 1e-3
    return fades * 1e-3 / (1 + 50 * metal) * (wave / 500) ** -5 * math.exp(-x) / -math.expm1(-x)


def expected(metal):
    """Photons per solar mass in 10 Myr of each group, and their mean energy."""
    out = []
    for low, high in BOUNDS:
        eV = np.linspace(low, high, 2001)
        wave = 1e8 * H * C / (eV * EV)
        y = np.array([light(w, 0, metal) for w in wave]) * SUN * wave / eV  # erg/s/eV
        w = np.ones_like(eV)
        w[1:-1:2], w[2:-1:2] = 4, 2
        w *= (eV[1] - eV[0]) / 3
        photons, energy = np.sum(w * y / (eV * EV)), np.sum(w * y) / EV
        out.append((photons * 1e7 * YEAR, energy / photons))
    return out


def check(v, name, make, metal, **more):
    make(name + '/library', light, **more)
    r = ptah.simulate(TEXT, name)
    found = re.findall(r'group \d: +(\S+) photons per solar mass in 10 Myr, mean energy +(\S+) eV',
                       r.err)
    v.same(name + ': groups', len(found), 3)
    for g, (got, want) in enumerate(zip(found, expected(metal))):
        v.check('%s: photons of group %d' % (name, g + 1), abs(float(got[0]) / want[0] - 1), 3e-3)
        v.check('%s: energy of group %d' % (name, g + 1), abs(float(got[1]) / want[1] - 1), 1e-3)
    shutil.rmtree(name)


def main():
    v = ptah.Verdict()
    check(v, 'bpass', spectra.bpass_published, 1e-5)
    check(v, 'galaxev', spectra.galaxev_published, 1e-4)
    check(v, 'salpeter', spectra.galaxev_published, 1e-4, lines=6)
    os.makedirs('packed/library')
    spectra.write('packed/library/spectra-bin-imf135_300.z020.dat.gz', b'\x1f\x8b')
    r = ptah.simulate(TEXT, 'packed', must_work=False)
    v.same('compressed', (r.status, 'uncompress' in r.err), (2, True))
    v.end()


main()
