"""A series of checkpoints with groups of particles whose history is known: they move, merge, pass
through one another, split, vanish and form. Written as RAMSES's binary files, without gas.

    write('out', rng)    out/output_00001…; the particles of a rank's file in a random order,
                         ncpu files each
    groups(k)            {name of the group: ids of its particles} of checkpoint k = 1…OUTPUTS
    LINKS                {(k, name): (checkpoint and name of the descendant, main)}
"""
import os
import re

import numpy as np

import any_ramses
import tiny_ramses
from tiny_ramses import record

OUTPUTS = 6
SCALE = [0.3, 0.36, 0.42, 0.5, 0.6, 0.7]
SIZES = {'A': 300, 'B': 200, 'C': 200, 'D': 330, 'E': 110, 'F': 150, 'G': 120, 'H': 90, 'I': 250,
         'J': 60, 'K': 80, 'L': 70, 'M': 65, 'N': 100, 'P': 210, 'Q': 160, 'R': 85, 'S': 97,
         'Sa': 3, 'T': 320, 'U': 97, 'V': 57, 'Va': 3, 'W': 57}
# where the particles are from a checkpoint on, if not in their own group: None: scattered
HISTORY = {'C': {3: 'B'}, 'E': {4: 'D'}, 'G': {3: 'F'}, 'H': {3: 'F'}, 'J': {3: 'I', 4: 'J'},
           'K': {4: None, 5: 'K'}, 'L': {1: None, 2: 'L'}, 'M': {5: None}, 'N': {3: None, 4: 'P'},
           'R': {1: 'Q', 4: 'R'},
           # a few particles go to a group that is then as large as theirs was
           'S': {4: 'T'}, 'Sa': {1: 'S', 4: 'U'}, 'Va': {1: 'V', 5: 'W'}}
RADIUS, APART = 0.012, 0.06
MPC, MSUN = 3.0856776e24, 1.98841e33
OMEGA_M, HUBBLE, BOX = 0.3, 70.0, 20.0


def whole(k):
    """Group in which the particles of each group are at checkpoint k."""
    out = {}
    for name in SIZES:
        now = name
        for since, where in HISTORY.get(name, {}).items():
            if k >= since:
                now = where
        out[name] = now
    return out


def ids_of(name):
    first = 1 + sum(n for other, n in SIZES.items() if other < name)
    return np.arange(first, first + SIZES[name])


def groups(k):
    out = {}
    for name, now in whole(k).items():
        if now:
            out.setdefault(now, []).append(ids_of(name))
    return {name: np.sort(np.concatenate(x)) for name, x in out.items()}


def links():
    """Descendants. The main progenitor is the group of the same name, which is the heaviest."""
    out = {}
    for k in range(1, OUTPUTS):
        for name in groups(k):
            later = next((j for j in range(k + 1, OUTPUTS + 1) if whole(j)[name]), None)
            if name == 'J' and k == 2:
                later = 4  # it has passed through I
            out[k, name] = None
            if later and later - k <= 2:
                now = whole(later)[name]
                out[k, name] = (later, now, now == name)
    return out


LINKS = links()


def centre(name, k):
    """Groups are at the points of a lattice and move along x, the first through the boundary."""
    at = sorted(SIZES).index(name)
    x = np.array([at % 4, at // 4 % 4, at // 16]) / 4 + 0.1
    x[0] += 0.02 * (k - 1) * (1 if at % 2 else -1)
    if name == 'A':
        x[0] = (0.95 + 0.03 * (k - 1))
    return x % 1


def particles(k, rng):
    """Positions, velocities and ids of checkpoint k; shapes of groups are equal in all of them."""
    shape = np.random.default_rng(5)
    x, v, ids = [], [], []
    now = whole(k)
    centres = np.array([centre(name, k) for name in SIZES])
    for name, n in SIZES.items():
        unit = shape.normal(size=(n, 3))
        unit *= (shape.random(n) ** 0.7 / np.sqrt((unit ** 2).sum(axis=1)))[:, None]
        speed = shape.normal(size=(n, 3)) * 1e-3
        if now[name]:
            x.append(centre(now[name], k) + RADIUS * unit * (n / 200) ** (1 / 3))
        else:
            far = rng.random((40 * n, 3))
            d = far[:, None] - centres[None]
            d = np.sqrt(((d - np.rint(d)) ** 2).sum(axis=2)).min(axis=1)
            x.append(far[d > APART][:n])
        v.append(speed + 0.01)
        ids.append(ids_of(name))
    return np.concatenate(x) % 1, np.concatenate(v), np.concatenate(ids)


def set_header(folder, k, ncpu, a, cosmo):
    """Cosmology, time and units, in the files that any_ramses has written."""
    length = a * BOX / (HUBBLE / 100) * MPC
    second = HUBBLE * 1e5 / MPC
    density = OMEGA_M * 1.88e-29 * (HUBBLE / 100) ** 2 / a ** 3
    time = -3.0 + a if cosmo else a
    for rank in range(1, ncpu + 1):
        path = os.path.join(folder, 'amr_%05d.out%05d' % (k, rank))
        at = tiny_ramses.Records(path)
        tiny_ramses.put(path, at[12][0], 'd', time)
        numbers = [(17, (OMEGA_M, 0.7, 0, 0.045, HUBBLE, 0.01, BOX)), (18, (a, 1, a, 0, 0))]
        for record_, values in numbers if cosmo else ():
            for i, value in enumerate(values):
                tiny_ramses.put(path, at[record_][0] + 8 * i, 'd', value)
    path = os.path.join(folder, 'info_%05d.txt' % k)
    with open(path) as f:
        text = f.read()
    new = {'time': time, 'unit_l': length, 'unit_d': density, 'unit_t': a * a / second}
    if cosmo:
        new.update(aexp=a, H0=HUBBLE, omega_m=OMEGA_M, omega_l=0.7, omega_b=0.045)
    for name, value in new.items():
        text = re.sub(r'(?m)^(%-12s=).*$' % name, lambda m, x=value: '%s%23.15E' % (m[1], x), text)
    with open(path, 'w') as f:
        f.write(text)


def write_particles(folder, k, ncpu, rng, x, v, ids):
    with open(os.path.join(folder, 'part_file_descriptor.txt'), 'w') as f:
        f.write('# version:  1\n# ivar, variable_name, variable_type\n')
        rows = [w + a for w in ('position_', 'velocity_') for a in 'xyz'] + ['mass']
        for i, row in enumerate([*((r, 'd') for r in rows), ('identity', 'i'), ('levelp', 'i'),
                                 ('family', 'b'), ('tag', 'b')]):
            f.write('%2d, %s, %s\n' % (i + 1, *row))
    n = len(ids)
    file = rng.integers(0, ncpu, n)
    for rank in range(ncpu):
        mine = rng.permutation(np.flatnonzero(file == rank))
        path = os.path.join(folder, 'part_%05d.out%05d' % (k, rank + 1))
        with open(path, 'wb') as f:
            for value in (ncpu, 3, len(mine), [-1] * 4, 0):
                record(f, value)
            record(f, 0.0, '<f8')
            record(f, 0.0, '<f8')
            record(f, 0)
            for column in (*x[mine].T, *v[mine].T, np.full(len(mine), 1 / n)):
                record(f, column, '<f8')
            record(f, ids[mine])
            record(f, np.full(len(mine), 2))
            record(f, np.ones(len(mine)), 'i1')
            record(f, np.zeros(len(mine)), 'i1')


def write(folder, rng, ncpu=1, cosmo=True):
    """Returns the paths of the checkpoints."""
    paths = []
    for k in range(1, OUTPUTS + 1):
        path = os.path.join(folder, 'output_%05d' % k)
        any_ramses.write(path, rng, levelmin=2, levelmax=2, ncpu=ncpu, number=k, tame=True)
        set_header(path, k, ncpu, SCALE[k - 1], cosmo)
        write_particles(path, k, ncpu, rng, *particles(k, np.random.default_rng(k)))
        paths.append(path)
    return paths
