"""Pictures: a map with axes shows the bare map pixel by pixel; every file has the format of its
name; units follow from the header; a picture replaces another only if forced; values of both signs
have two colours with 0 between them; a single cell does not darken a map.

Examples of faults caught: a map upside down or shifted by a pixel in its frame, a bar of colours
from high to low, a unit without a power of the length, a file replaced without --force, colours
that are not centred on 0, a range that is cut without saying so.
"""
# test: tier=quick timeout=60
import json
import os
import sys
import xml.etree.ElementTree

import matplotlib.image
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

# gas with a gradient on levels 4 and 5, and units
BOX = """&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=4
levelmax=5
boxlen=2.0
/
&INIT_PARAMS
nregion=3
region_type='square','square','point'
x_center=1.0,0.6,1.5
y_center=1.0,0.4,1.7
z_center=1.0,0.4,1.1
length_x=10.0,0.8,1.0
length_y=10.0,0.5,1.0
length_z=10.0,0.4,1.0
exp_region=10.0,10.0,10.0
d_region=1.0,3.0,0.0
u_region=0.1,0.3,0.0
p_region=1.0,2.0,5.0
/
&OUTPUT_PARAMS
foutput=1
/
&REFINE_PARAMS
err_grad_d=0.1
/
&UNITS_PARAMS
units_density=1.66e-24
units_time=3e13
units_length=3e20
/
"""
LEFT, TOP, SIDE = 2 * 96, 2 * 44, 800  # frame of a map of 32 pixels, in pixels of the PNG


def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *argv], '.')


def picture(path):
    return np.rint(matplotlib.image.imread(path)[..., :3] * 255).astype(int)


def drawn(v, path):
    v.same('bare', inspect('-m', 'density', '-n', '32', '--bare', '-o', 'b.png', path).status, 0)
    inspect('-m', 'density', '-n', '32', '-o', 'd.png', path)
    bare, whole = picture('b.png'), picture('d.png')
    v.same('bare: a pixel for each of the map', bare.shape, (32, 32, 3))
    inside = whole[TOP:TOP + SIDE, LEFT:LEFT + SIDE]
    large = bare.repeat(SIDE // 32, 0).repeat(SIDE // 32, 1)
    edge = slice(20, -20)  # without the ticks
    v.same('the map in its frame', (inside[edge, edge] == large[edge, edge]).all(), True)
    inspect('-m', 'density', '-n', '32', '-o', 'd.npy', path)
    values = np.load('d.npy')[::-1]  # rows of a picture go down
    v.check('the densest pixel has the last colour', abs(
        bare[np.unravel_index(values.argmax(), (32, 32))] - [252, 255, 164]).max(), 0)
    v.same('it has an up and a down', (values[::-1] == values).all(), False)
    bar = whole[TOP:TOP + SIDE, LEFT + SIDE + 2 * 16 + 18]
    v.check('its bar: the last colour at the top', abs(bar[10] - [252, 255, 164]).max(), 20)
    v.check('its bar: the first colour at the bottom', abs(bar[-10] - [0, 0, 4]).max(), 20)
    white = (whole == 255).all(axis=2)
    v.same('white outside, numbers and names', (white[:, :20].mean() > 0.9,
                                                (~white[TOP:, :LEFT]).sum() > 500), (True, True))
    inspect('-m', 'density', '-n', '32', '--linear', '-o', 'l.png', path)
    v.same('another scale, another map', (picture('l.png') == whole).all(), False)


def formats(v, path):
    for end, magic in ('png', b'\x89PNG'), ('svg', b'<?xml'), ('pdf', b'%PDF-'):
        name = 'f.' + end
        v.same(name + ': status', inspect('-m', 'density', '-n', '32', '-o', name, path).status, 0)
        with open(name, 'rb') as f:
            data = f.read()
        v.same(name, data[:len(magic)], magic)
    root = xml.etree.ElementTree.parse('f.svg').getroot()
    v.same('SVG', root.tag, '{http://www.w3.org/2000/svg}svg')
    r = inspect('-m', 'density', '-n', '32', '-f', 'svg', '-o', '-', path)
    v.same('SVG on standard output', r.out[:5], '<?xml')
    v.same('bare SVG is refused', inspect('-m', 'density', '--bare', '-f', 'svg', path).status, 2)


def units(v, path):
    info = read_ramses.read_info(path)
    length, density, time = info['unit_l'], info['unit_d'], info['unit_t']
    for field, unit, factor, how in (
            ('density', 'g/cm^2', density * length, []),
            ('density', 'g/cm^3', density, ['--weight', 'volume']),
            ('velocity_x', 'km/s', length / time / 1e5, []),
            ('pressure', 'erg/cm^3', density * (length / time) ** 2, []),
            ('pressure', 'erg/cm^3 cm', density * (length / time) ** 2 * length,
             ['--weight', 'column']), ('temperature', 'K', 1, []), ('level', '', 1, [])):
        name = field + ''.join(how)
        both = []
        for option in [], ['-u']:
            r = inspect('-m', field, '-n', '32', '-j', *option, *how, '--force', '-o', 'u.npy',
                        path)
            both.append(np.load('u.npy'))
        v.same(name + ': unit', json.loads(r.out)['unit'], unit)
        v.check(name + ': -u', abs(both[1] / (both[0] * factor) - 1).max(), 1e-12)
    plain, physical = (json.loads(inspect('-sj', *o, path).out) for o in ([], ['-u']))
    v.same('-s -u: units', [f.get('unit') for f in physical['fields']][:2], ['g/cm^3', 'km/s'])
    v.check('-s -u: density', abs(physical['fields'][0]['max'] / plain['fields'][0]['max'] /
                                  density - 1), 1e-12)
    v.check('-s -u: mass in solar masses', abs(physical['gas_mass'] / plain['gas_mass'] /
                                               (density * length ** 3 / 1.98841e33) - 1), 1e-12)


def kept(v, path):
    for argv in (['-m', 'density', '-o', 'k.png'], ['-m', 'density', '-o', 'k.npy'],
                 ['--phase', '-o', 'k.svg'], ['--phase', '-o', 'k.tsv'],
                 ['-m', 'density', '--bare', '-o', 'k2.png']):
        name = argv[-1]
        v.same(name + ': made', inspect(*argv, path).status, 0)
        with open(name, 'w') as f:
            f.write('mine')
        r = inspect(*argv, path)
        with open(name) as f:
            v.same('%s: kept' % name, (r.status, 'exists; --force' in r.err, f.read()),
                   (2, True, 'mine'))
        v.same(name + ': replaced', (inspect(*argv, '--force', path).status,
                                     os.path.getsize(name) > 100), (0, True))
    inspect('-m', 'density', path)
    r = inspect('-m', 'density', path)
    v.same('a name that was not given, too', (r.status, 'density_00002.png: exists' in r.err),
           (2, True))
    v.same('nothing half written', [f for f in os.listdir('.') if f.endswith('.part')], [])


def draw(field, path, *argv):
    """(pixels, answer, array) of a bare map."""
    r = inspect('-m', field, *argv, '-n', '32', '-j', '--bare', '--force', '-o', 's.png', path)
    said = inspect('-m', field, *argv, '-n', '32', '--bare', '--force', '-o', 's.png', path).err
    inspect('-m', field, *argv, '-n', '32', '--force', '-o', 's.npy', path)
    return picture('s.png'), json.loads(r.out), np.load('s.npy')[::-1], said


def signs(v, path):
    rgb, r, values, _ = draw('velocity_x', path)
    lo, hi = r['range']
    v.same('both signs: 0 in the middle', (lo < 0, hi), (True, -lo))
    v.same('both signs: min and max', (r['min'], r['max']), (values.min(), values.max()))
    warm = rgb[..., 0] > rgb[..., 2]
    strong = abs(values) > 0.1 * hi
    v.same('both signs: there are both', sorted(set(values[strong] > 0)), [False, True])
    v.same('both signs: blue below, red above', (warm == (values > 0))[strong].all(), True)
    rgb, r, _, _ = draw('velocity_x', path, '--range=-1,2')
    v.same('a given range', r['range'], [-1, 2])
    v.same('a given range has sequential colours', (rgb[..., 2] > 200).any(), False)
    rgb, r, _, _ = draw('velocity_x', path, '--colours', 'grey')
    v.same('given colours', ((rgb[..., 0] == rgb[..., 2]).all(), r['range'][1] == -r['range'][0]),
           (True, False))
    rgb, r, _, _ = draw('density', path)
    v.same('one sign: sequential colours', (rgb[..., 2] > 200).any(), False)


def cut(v, path):
    """A cell or two with most of the energy, at most a hundredth of the map."""
    rgb, r, values, said = draw('pressure', path, '--linear', '--weight', 'max')
    lo, hi = r['range']
    v.same('an outlier is there', values.max() > 2 * np.percentile(values, 99), True)
    v.same('the colours end before it', (lo >= r['min'], hi < r['max']), (True, True))
    v.check('not before all others', (values > hi).mean(), 0.01)
    v.same('the line says it', '--range full' in said and '%.9g' % r['max'] in said, True)
    rgb, r, values, said = draw('pressure', path, '--linear', '--weight', 'max', '--range', 'full')
    v.same('the full range', r['range'], [values.min(), values.max()])
    v.same('nothing is left to say', '--range full' in said, False)
    r = inspect('--phase', '--range', 'full', '-o', 'p.png', path)
    v.same('not of a phase diagram', (r.status, 'for maps' in r.err), (2, True))


def main():
    v = ptah.Verdict()
    path = ptah.simulate(BOX, '.', options=['-q']).outputs[-1]
    drawn(v, path)
    formats(v, path)
    units(v, path)
    signs(v, path)
    cut(v, path)
    kept(v, path)
    v.end()


if __name__ == '__main__':
    main()
