#!/usr/bin/env python3
"""Writes spectra of stars in the layout of RAMSES: black bodies, for a first try.

    spectra.py DIRECTORY

Real spectra are those of BPASS or of Bruzual & Charlot, which sed_dir takes as they are published.
Here a population is a black body of 50 000 K, with the ionising photons of young stars, some 4000 for
each of its baryons, most of them in the first 5 million years.
"""
import math
import os
import struct
import sys

H, C, EV, K, SUN, MASS = (6.6260702e-27, 2.9979246e10, 1.6021766e-12, 1.380649e-16, 3.828e33,
                          1.9891e33)
PHOTONS = 4000 * MASS / 1.67e-24  # ionising photons of a solar mass of stars
FADES = 3e6  # years
TEMPERATURE = 5e4


def black_body(wave):
    """A spectrum per wavelength in Å, of any unit."""
    return (wave / 500) ** -5 / math.expm1(min(H * C * 1e8 / (wave * K * TEMPERATURE), 700))


def fade(age):
    return 1 / (1 + (age / FADES) ** 3)


def norm(waves, ages):
    """The factor with which the spectra have the photons."""
    rate = total = 0
    for a, b in zip(waves, waves[1:]):
        if b < H * C * 1e8 / (13.6 * EV):
            rate += (b - a) * (a * black_body(a) + b * black_body(b)) / 2 * 1e-8 / (H * C) * SUN
    for a, b in zip(ages, ages[1:]):
        total += (b - a) * 3.15576e7 * (fade(a) + fade(b)) / 2 * rate
    return PHOTONS / total


def record(f, data):
    f.write(struct.pack('<i', len(data)) + data + struct.pack('<i', len(data)))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    waves = [30 * 10 ** (i / 300) for i in range(601)]
    ages = [0] + [10 ** (4 + 0.1 * i) for i in range(62)]
    scale = norm(waves, ages)
    for name, values in (('metallicity', [0.02]), ('age', ages)):
        with open(os.path.join(folder, name + '_bins.dat'), 'w', encoding='utf-8') as f:
            f.write('%8d\n' % len(values) + ''.join('%14.6e\n' % v for v in values))
    with open(os.path.join(folder, 'all_seds.dat'), 'wb') as f:
        record(f, struct.pack('<2i', len(waves), 0))
        record(f, struct.pack('<%dd' % len(waves), *waves))
        for age in ages:
            values = [scale * fade(age) * black_body(w) for w in waves]
            record(f, struct.pack('<%dd' % len(values), *values))


main()
