"""Galaxies for tests: an exponential disc of stars in a halo (Hernquist 1990), as text files of
&MERGER_PARAMS and as files of Gadget in the manner of DICE, with gas. Units: kpc, 1e9 solar
masses, km/s. Everything follows from the seed."""
import os
import struct

import numpy as np

import gadget_files

V_UNIT = 3.085677581282e16 / 0.470430312423675e15  # km/s: kpc over RAMSES's unit of time
HALO, A = 100.0, 10.0  # mass and scale radius of the halo
DISC, RD, ZD = 5.0, 2.0, 0.2  # mass, scale radius and height of the disc of stars


def circular(r):
    """Circular velocity, km/s, of the halo and of the disc as if it were a sphere."""
    r = np.maximum(r, 1e-9)
    disc = DISC * (1 - np.exp(-r / RD) * (1 + r / RD))
    return V_UNIT * np.sqrt((HALO * r ** 2 / (r + A) ** 2 + disc) / r)


def exponential(rng, n, rd, zd, most):
    """Positions of an exponential disc with a sech² height, cut off at `most` scale radii."""
    u = np.linspace(0, most, 4001)
    mass = 1 - np.exp(-u) * (1 + u)
    r = rd * np.interp(rng.random(n) * mass[-1], mass, u)
    phi, z = rng.random(n) * 2 * np.pi, zd * np.arctanh(rng.uniform(-0.98, 0.98, n))
    return r, np.stack([r * np.cos(phi), r * np.sin(phi), z], -1), phi


def rotating(r, phi, speed):
    return np.stack([-speed * np.sin(phi), speed * np.cos(phi), 0 * phi], -1)


def components(stars, halo, seed=1):
    """((x, v, mass of each), …) of the stars and of the halo, cut off at four scale radii."""
    rng = np.random.default_rng(seed)
    r, x, phi = exponential(rng, stars, RD, ZD, 5)
    v = rotating(r, phi, circular(r)) + rng.normal(0, 8, (stars, 3))
    q = np.sqrt(rng.random(halo) * 0.64)
    s = A * q / (1 - q)
    way = rng.normal(0, 1, (halo, 3))
    way /= np.sqrt((way ** 2).sum(1))[:, None]
    w = rng.normal(0, 1, (halo, 3)) * (circular(s) / np.sqrt(3.0))[:, None]
    return (x, v, DISC / stars), (s[:, None] * way, w, 0.64 * HALO / halo)


def rows(parts):
    return ''.join('%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n' % (*p, *q, m)
                   for x, v, m in parts for p, q in zip(x, v))


def curve(path, last=100.0, n=400):
    r = np.linspace(0, last, n)
    with open(path, 'w') as f:
        f.write(''.join('%.9g %.9g\n' % (a, b) for a, b in zip(r, circular(r))))


def merger(folder, stars=600, halo=1500, seed=1, name='ic_part1'):
    """Writes Vcirc1.dat and ics/ic_part1."""
    os.makedirs(os.path.join(folder, 'ics'), exist_ok=True)
    curve(os.path.join(folder, 'Vcirc1.dat'))
    with open(os.path.join(folder, 'ics', name), 'w') as f:
        f.write(rows(components(stars, halo, seed)))


# ---- DICE

def dice_types(gas=2000, halo=1500, stars=600, seed=1, mass=2.0):
    """{type: {name: array}}: gas, dark matter and stars, in kpc, km/s and 1e10 solar masses; the
    energies of the gas, km²/s², its metals and theirs of the stars, their births, Myr."""
    rng = np.random.default_rng(seed + 100)
    r, x, phi = exponential(rng, gas, RD, ZD, 4)
    v = rotating(r, phi, circular(r))
    (xs, vs, ms), (xh, vh, mh) = components(stars, halo, seed)
    out = {0: dict(x=x, v=v, m=np.full(gas, mass / 10 / gas), u=rng.uniform(100, 200, gas),
                   z=rng.uniform(0.01, 0.03, gas)),
           1: dict(x=xh, v=vh, m=np.full(halo, mh / 10)),
           2: dict(x=xs, v=vs, m=np.full(stars, ms / 10), z=rng.uniform(0, 0.02, stars),
                   age=-rng.uniform(1, 5000, stars))}
    first = 11
    for t in out.values():
        t['id'] = first + np.arange(len(t['m']))
        first += len(t['m'])
    return out


def dice(path, types, form=2, names=None, order='<', standard=False):
    """Writes one file; form 1: blocks in the order of RAMSES's reader of DICE (u before the
    masses), or of Gadget. names: of blocks, by those of this function."""
    here = {t: len(c['m']) for t, c in types.items()}
    head = gadget_files.header(here, here, {}, 1, order, 1.0, time=0.0, redshift=0.0, box=0.0,
                               omega_m=0.0, omega_l=0.0, h=0.0)
    blocks = [('HEAD', head)]

    def block(label, name, dtype):
        data = [np.asarray(c[name]) for t, c in sorted(types.items()) if name in c]
        if data:
            blocks.append((label, np.concatenate(data).astype(order + dtype).tobytes()))
    block('POS ', 'x', 'f4')
    block('VEL ', 'v', 'f4')
    block('ID  ', 'id', 'u4')
    if form == 1 and not standard:
        block('U   ', 'u', 'f4')
        block('MASS', 'm', 'f4')
    else:
        block('MASS', 'm', 'f4')
        block('U   ', 'u', 'f4')
    block('Z   ', 'z', 'f4')
    block('AGE ', 'age', 'f4')
    with open(path, 'wb') as f:
        for label, data in blocks:
            label = (names or {}).get(label, label)
            if form == 2:
                f.write(gadget_files.record(order, label.encode()
                                            + struct.pack(order + 'i', len(data) + 8)))
            f.write(gadget_files.record(order, data))
