#!/usr/bin/env python3
"""The particles and the rotation curve of two galaxies, for condinit_kind='merger'.

    galaxy.py DIRECTORY [PARTICLES]     default 30000 each

Writes DIRECTORY/Vcirc.dat (radius in kpc, circular velocity in km/s) and ic_part1, ic_part2: rows
of x y z (kpc), velocity (km/s), mass (1e9 solar masses). A galaxy is a halo of dark matter
(Hernquist 1990, the part within four of its radii), whose velocities are isotropic with a third of
the square of the circular velocity in each component, and an exponential disc of stars.
"""
import math
import os
import random
import sys

HALO, A = 60.0, 8.0                # mass (1e9 solar masses) and radius (kpc) of the halo
DISC, RD, ZD = 6.0, 2.0, 0.2       # mass, scale radius and height of the disc of stars
GAS, RG = 1.5, 2.5                 # those of the gas, as the namelist has them
G = 4.30092e-6 * 1e9               # kpc (km/s)^2 / 1e9 solar masses
REACH = 4.0                        # radii of a component that are filled


def circular(r):
    """Circular velocity; discs count as if they were spheres."""
    mass = HALO * (r / (r + A)) ** 2
    for m, rd in ((DISC, RD), (GAS, RG)):
        mass += m * (1 - math.exp(-r / rd) * (1 + r / rd))
    return math.sqrt(G * mass / r) if r > 0 else 0.0


def row(x, v, mass):
    return ' '.join('%.7g' % q for q in (*x, *v, mass)) + '\n'


def halo(rng, n):
    part = (REACH / (1 + REACH)) ** 2
    for _ in range(n):
        q = math.sqrt(rng.random() * part)
        r = A * q / (1 - q)
        way = [rng.gauss(0, 1) for _ in range(3)]
        size = math.sqrt(sum(w * w for w in way))
        sigma = circular(r) / math.sqrt(3)
        yield row([r * w / size for w in way], [rng.gauss(0, sigma) for _ in range(3)],
                  HALO * part / n)


def radius(rng):
    """A radius of the exponential disc: the sum of two exponential deviates."""
    while True:
        r = -math.log((1 - rng.random()) * (1 - rng.random()))
        if r < REACH:
            return RD * r


def disc(rng, n):
    for _ in range(n):
        r, phi = radius(rng), 2 * math.pi * rng.random()
        x = [r * math.cos(phi), r * math.sin(phi), ZD * math.atanh(rng.uniform(-0.98, 0.98))]
        speed = circular(r)
        spread = 0.1 * speed
        yield row(x, [-speed * x[1] / r + rng.gauss(0, spread),
                      speed * x[0] / r + rng.gauss(0, spread), rng.gauss(0, spread)], DISC / n)


def main():
    folder, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30000
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'Vcirc.dat'), 'w') as f:
        f.writelines('%.7g %.7g\n' % (0.2 * i, circular(0.2 * i)) for i in range(500))
    for galaxy in (1, 2):
        rng = random.Random(galaxy)
        with open(os.path.join(folder, 'ic_part%d' % galaxy), 'w') as f:
            f.writelines(halo(rng, n - n // 4))
            f.writelines(disc(rng, n // 4))


if __name__ == '__main__':
    main()
