"""Small libraries of spectra of stars in each layout, and a file of the ultraviolet background.

The spectra are black bodies that cool and fade with age, in L_sun/Å of a solar mass. `change`
alters the lines or records before they are written.
"""
import math
import os
import struct

METALS, AGES = [0.001, 0.02], [0.0] + [10 ** (6 + 0.1 * i) for i in range(24)]
WAVES = [50 * 60 ** (i / 59) for i in range(60)]
SHIFTS = [0.0, 3.0, 6.0, 9.0]


def light(wave, age, metal, factor=1.0):
    T = 6e4 / (1 + age / 1e8) ** 0.3
    return factor * 1e-3 / (1 + 50 * metal) * (wave / 500) ** -5 / (
        math.expm1(min(1.438777e8 / (wave * T), 700))) / (1 + age / 3e6)


def write(path, data):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def record(kind, *values):
    data = struct.pack('<%d%s' % (len(values), kind), *values)
    return struct.pack('<i', len(data)) + data + struct.pack('<i', len(data))


def bins(values):
    return '%8d\n' % len(values) + ''.join('%14.6e\n' % v for v in values)


def ramses(folder, change=None, factor=1.0, metals=METALS, ages=AGES):
    """Layout of RAMSES-RT. change(records): lists of (kind, values)."""
    rows = [('i', [len(WAVES), 0]), ('d', list(WAVES))]
    rows += [('d', [light(w, a, z, factor) for w in WAVES]) for z in metals for a in ages]
    rows = change(rows) if change else rows
    write(folder + '/metallicity_bins.dat', bins(metals))
    write(folder + '/age_bins.dat', bins(ages))
    write(folder + '/all_seds.dat', b''.join(record(k, *v) for k, v in rows))


def bpass(folder, change=None):
    """Layout of BPASS, which has 10^6 solar masses. change(rows): lists of numbers."""
    for z in METALS:
        rows = [[w] + [1e6 * light(w, a, z) for a in AGES[1:]] for w in [1.0] + WAVES + [1e5]]
        rows = change(rows) if change and z == METALS[0] else rows
        write('%s/spectra-bin-imf135_300.z%03d.dat' % (folder, round(1000 * z)),
              ''.join(' '.join('%.6e' % x for x in row) + '\n' for row in rows))


def bc03(folder, change=None):
    """Layout of Bruzual & Charlot. change(words): lines."""
    for z in METALS:
        lines = [str(len(AGES))] + ['%.6e' % a for a in AGES]
        lines += ['0.1 100. 0', '    Padova 1994 tracks, Z=%g, X=0.7' % z]
        lines += ['%d %s' % (len(WAVES), ' '.join('%.6e' % w for w in WAVES))]
        lines += ['%d %s 2 0. 0.' % (len(WAVES), ' '.join('%.6e' % light(w, a, z) for w in WAVES))
                  for a in AGES]
        lines = change(lines) if change and z == METALS[0] else lines
        write('%s/ssp_z%g.ised_ASCII' % (folder, z), '\n'.join(lines) + '\n')


# ---- the files as they are published, with `L(wave, age, metal)` per solar mass

def fortran(x, width=16, digits=7):
    """A number by Fortran's format E16.7, which has no E before exponents of three digits."""
    if x == 0:
        return ('0.%sE+00' % ('0' * digits)).rjust(width)
    mantissa, power = ('%.*e' % (digits - 1, x)).split('e')
    power = int(power) + 1
    sign, digit = '-' if x < 0 else '', mantissa.lstrip('-').replace('.', '')
    end = '%s%02d' % ('E+' if power >= 0 else 'E-', abs(power))
    return (sign + '0.' + digit + (end if abs(power) < 100 else '%+04d' % power)).rjust(width)


def bpass_published(folder, L, longest=1300):
    """BPASS v2.2.1: a row for each Å from 1 on (to 100000; here to `longest`), in 52 columns of
    E16.7, of 10^6 solar masses at 51 ages."""
    ages = [10 ** (6 + 0.1 * i) for i in range(51)]
    for name, z in (('zem5', 1e-5), ('zem4', 1e-4), ('z001', 1e-3), ('z020', 0.02)):
        rows = (''.join(fortran(x) for x in [w] + [1e6 * L(w, a, z) for a in ages]) + '\n'
                for w in range(1, longest + 1))
        write('%s/spectra-bin-imf135_300.%s.dat' % (folder, name), ''.join(rows))


# Wavelengths of the low-resolution models, 91 Å to 160 μm, and ages.
GALAXEV_WAVES = [91 * (1.6e6 / 91) ** (i / 1220) for i in range(1221)]
GALAXEV_AGES = [0.0] + [10 ** (5 + 5.30103 * i / 219) for i in range(220)]


def galaxev_published(folder, L, lines=5):
    """GALAXEV 2003: the ages, in one line; five lines about the model (six of Salpeter's initial
    mass function), of which the last ones name the metallicity; the wavelengths; a line for the
    spectrum of each age and one for its 52 indices; and twelve lines with tables of all ages."""
    def vector(values):
        return '%12d ' % len(values) + ' '.join('%.5E' % x for x in values)
    for name, z in (('m22', 1e-4), ('m42', 4e-3), ('m62', 0.02)):
        title = ' Padova 1994 + BaSeL 3.1, Chabrier IMF, X=0.7000, Y=0.2800, Z=%.4f' % z
        text = [vector(GALAXEV_AGES), '   1.00000E-01   1.00000E+02   2   2.75000E+00',
                ' 0.0 0.0 0 F -1.0 0.0 0.0'] + [title] * (lines - 2) + [vector(GALAXEV_WAVES)]
        for a in GALAXEV_AGES:
            text += [vector([L(w, a, z) for w in GALAXEV_WAVES]), vector([-0.5] * 52)]
        text += [vector([1.0] * len(GALAXEV_AGES))] * 12
        write('%s/bc2003_lr_%s_chab_ssp.ised_ASCII' % (folder, name), '\n'.join(text) + '\n')


def background(path, change=None, factor=1.0):
    """The ultraviolet background, photons/cm²/s/Å/sr. change(records): lists of (kind, values)."""
    flux = [factor * 10 * (w / 912) ** 0.5 / (1 + z) for z in SHIFTS for w in WAVES]
    rows = [('i', [len(SHIFTS)]), ('d', list(SHIFTS)), ('i', [len(WAVES)]), ('d', list(WAVES)),
            ('d', flux)]
    rows = change(rows) if change else rows
    write(path, b''.join(record(k, *v) for k, v in rows))
