#!/usr/bin/env python3
"""An animated GIF of the pictures in a directory, in the order of their names.

    film.py DIRECTORY FILM.gif

Needs Pillow, which comes with matplotlib.
"""
import glob
import os
import sys

from PIL import Image


def main():
    directory, film = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(directory, '*.png')))
    frames = [Image.open(path).convert('RGB') for path in paths]
    palette = frames[-1].quantize(255, dither=Image.Dither.NONE)
    frames = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
    frames[0].save(film, save_all=True, append_images=frames[1:], duration=120, loop=0)


if __name__ == '__main__':
    main()
