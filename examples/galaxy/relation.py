#!/usr/bin/env python3
"""Surface density of star formation against that of the gas, from two maps of a checkpoint.

    relation.py CHECKPOINT [PIXELS]     default 512 a side

inspect makes the maps: the column of hydrogen, and the stars born in the last 100 Myr. Prints a
table for bins of a quarter of a decade: pixels, those with young stars, mean surface densities,
the ratio to the observed relation 2.5e-4 (gas/(solar mass/pc^2))^1.4 solar masses/yr/kpc^2
(Kennicutt 1998). Needs numpy.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

HYDROGEN = 1.6605390e-24 / 0.76       # g of gas for a hydrogen nucleus
SOLAR, PARSEC = 1.98841e33, 3.0856776e18
BIN = 0.25


def draw(checkpoint, pixels, folder, *field):
    path = os.path.join(folder, field[0] + '.npy')
    subprocess.run(['inspect', '-q', '--force', '-m', *field, '-n', pixels, '-o', path, checkpoint], check=True,
                   stdout=subprocess.DEVNULL)
    return np.load(path)


def main():
    checkpoint, pixels = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '512'
    with tempfile.TemporaryDirectory() as folder:
        gas = draw(checkpoint, pixels, folder, 'nH', '--weight', 'column')
        stars = draw(checkpoint, pixels, folder, 'sfr')
    gas *= HYDROGEN * PARSEC ** 2 / SOLAR
    print('| gas, M☉/pc² | pixels | with young stars | stars, M☉/yr/kpc² | to Kennicutt |')
    print('|---|---|---|---|---|')
    at = np.floor(np.log10(gas) / BIN)
    for k in np.unique(at[(stars > 0) & (gas > 1)]):
        here = at == k
        x, y = gas[here].mean(), stars[here].mean()
        print('| %.3g | %d | %.0f %% | %.2g | %.2g |' %
              (x, here.sum(), 100 * (stars[here] > 0).mean(), y, y / (2.5e-4 * x ** 1.4)))
    both = (gas > 10) & (stars > 0)
    slope = np.polyfit(np.log10(gas[both]), np.log10(stars[both]), 1)[0]
    print('slope of pixels with stars above 10 M☉/pc²: %.2f' % slope)


if __name__ == '__main__':
    main()
