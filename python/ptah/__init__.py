"""Checkpoints of adaptive-mesh cosmology as numpy arrays.

Any checkpoint that the programs of Ptah read: those of Ptah, RAMSES and cuRAMSES, snapshots of
Gadget and SWIFT, dumps of Phantom.

>>> import ptah
>>> with ptah.open('output_00002') as c:
...     gas = c.cells(['density', 'dx'])
...     dark = c.particles(['mass'], family='dm')
>>> mass = (gas['density'] * gas['dx']**3).sum() + dark['mass'].sum()
>>> print('%.6f' % mass)  # the mass of a cosmological box is 1
1.000000

All numbers are in code units, lengths and places too, in which the box is `c.boxlen` wide.
`c.units` has the code units in cgs, `c.unit(name)` the factor to a common unit of a value. Errors
are exceptions with the sentence that the programs print.
"""
from ptah._library import (Error, FileError, FormatError, LimitError, ParameterError, release,
                           threads)
from ptah.campaign import Campaign, campaign
from ptah.checkpoint import Checkpoint, Map, Table, box, sphere

__all__ = ['Campaign', 'Checkpoint', 'Error', 'FileError', 'FormatError', 'LimitError', 'Map',
           'ParameterError', 'Table', 'box', 'campaign', 'load_ptah', 'open', 'release', 'sphere',
           'threads']


def open(path):
    """Opens a checkpoint of any format, given as a directory or a file in it: a Checkpoint."""
    return Checkpoint(path)


def load_ptah(path, fields=None, native=True):
    """A checkpoint of any format as a data set of yt: see ptah.yt."""
    from ptah.yt import load_ptah as load
    return load(path, fields, native)
