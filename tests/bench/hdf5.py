#!/usr/bin/env python3
"""tests/bench/checkpoint.py of HDF5 checkpoints, by its old name."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, os.path.join(HERE, 'checkpoint.py'), '-f', 'hdf5',
                          *sys.argv[1:]])
