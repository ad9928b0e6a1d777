"""Ten steps of smoothed particles from dumps of Phantom (2026), beside Phantom's own ten steps from
there: a blast wave (M4, periodic) and a shock tube (M6, fixed particles at its ends).

    sph_phantom.py sedov|sod

Phantom keeps the viscosity, gradients and Omega in single precision. It repeats its corrector where
the square of a change, over the root mean square velocity, is above its tolerance, which here is
never: vtol is as large.

Examples of faults caught: the viscosity of the step before or after, a kernel of another width, a
switch that reads other accelerations, forces at other velocities than the predicted ones, particles
at the ends that move.
"""
# test: sedov tier=check timeout=60
# test: sod tier=check timeout=60
import os
import sys
import tarfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import smoothed  # noqa: E402

CASES = {'sedov': ('sedov', dict(dt_fixed=1e-4)),
         'sod': ('shock', dict(dt_fixed=1e-3, kernel='M6', gamma=1.4))}
# largest and root mean square difference, over the size of the box, the root mean square velocity,
# and the root mean square of other columns
LIMITS = {'sedov': {'x': (4e-12, 3e-13), 'v': (1.5e-7, 1e-8), 'u': (1e-8, 5e-10),
                    'h': (1.2e-7, 6e-8), 'alpha': (5e-7, 2e-8)},
          'sod': {'x': (2.5e-8, 3e-9), 'v': (1.3e-4, 1.5e-5), 'u': (1e-7, 1e-8),
                  'h': (3e-7, 6e-8), 'alpha': (2e-3, 1.5e-4)}}


def unpack():
    with tarfile.open(os.path.join(ptah.ROOT, 'tests', 'data', 'sph', 'phantom.tar.xz')) as t:
        t.extractall('.')


def differences(ours, theirs, column):
    names = {'x': 'xyz', 'v': ('vx', 'vy', 'vz')}.get(column, (column,))
    gas = ours['type'] == 1
    a, b = (np.array([s[k][gas] for k in names], float) for s in (ours, theirs))
    size = np.ptp(b, axis=1).max() if column == 'x' else np.sqrt((b**2).sum(0).mean())
    d = np.sqrt(((a - b)**2).sum(0)) / size
    return d.max(), np.sqrt((d**2).mean())


def from_gadget(v, text, name, ours):
    """A snapshot of Gadget-4 that is made of the dump begins the same run, from another corner."""
    snapshot = os.path.abspath('snapshot.hdf5')
    r = ptah.Run([ptah.program('convert'), '-q', '-f', 'gadget4', '-o', snapshot, name + '_00000'],
                 '.')
    v.same('convert', r.status, 0)
    theirs = smoothed.last(smoothed.simulate(text.replace(os.path.abspath(name + '_00000'),
                                                          snapshot), 'gadget'))
    for column in 'v', 'u':
        v.check('from a snapshot, %s' % column, differences(ours, theirs, column)[0], 1e-10)


def main():
    _, words = ptah.options(__doc__, '')
    case = (words + ['sedov'])[0]
    name, values = CASES[case]
    v = ptah.Verdict()
    unpack()
    text = smoothed.namelist(10, init_file=os.path.abspath(name + '_00000'), htol=1e-9, vtol=1e3,
                             **values)
    ours = smoothed.last(smoothed.simulate(text, 'run'))
    theirs = smoothed.dump(name + '_00010')
    v.same('ids', np.array_equal(ours['id'], theirs['iorig']), True)
    for column, (most, usual) in LIMITS[case].items():
        got = differences(ours, theirs, column)
        v.check('%s, largest' % column, got[0], most)
        v.check('%s, rms' % column, got[1], usual)
    if case == 'sedov':
        from_gadget(v, text, name, ours)
    v.end()


main()
