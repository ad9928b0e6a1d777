#!/usr/bin/env python3
"""Velocity and magnetic field against time, from time_series.txt.

    series.py [TABLE [PICTURE]]     default time_series.txt, series.png

Needs matplotlib.
"""
import sys

import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402


def columns(path):
    with open(path) as f:
        names = f.readline().strip('#-\n').split('--')
        rows = [[float(word) for word in line.split()] for line in f]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def main():
    table, picture = (sys.argv[1:] + ['time_series.txt', 'series.png'][len(sys.argv) - 1:])[:2]
    s = columns(table)
    figure, axes = plt.subplots(figsize=(6, 3.6), layout='constrained')
    axes.semilogy(s['t'][1:], s['urms'][1:], label='velocity', color='0.5')
    axes.semilogy(s['t'][1:], s['brms'][1:], label='magnetic field', color='C3')
    axes.set(xlabel='time', ylabel='root mean square', xlim=(0, s['t'][-1]))
    axes.legend(frameon=False, loc='lower right')
    figure.savefig(picture, dpi=100)


if __name__ == '__main__':
    main()
