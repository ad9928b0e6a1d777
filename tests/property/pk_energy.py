"""Spectra of the magnetic and the kinetic energy and of helicity by pk, compared with the transform
of cells.

    pk_energy.py mode      a single mode of the field, and of √ρ v: its exact power, in one bin
    pk_energy.py beltrami  fields with curl w = ±k w: helicities are ±2/k, ±2 k times the energy, on
                           any mesh, folded or not; a mean field is named and has no part; walls
    pk_energy.py tree      a random tree of RAMSES; equal bits for any ranks and formats

A cell has one value, so that a mode of the box is that of the cells, times the window of a cell.
Examples of faults caught: a component that is left out, a field of one face, energies without the
half, cells of another level with a wrong weight, the window of another axis, a helicity of the
other sign or with the wave number of the mesh, components of the curl exchanged.
"""
# test: mode tier=check timeout=60
# test: beltrami tier=check timeout=120
# test: tree tier=check timeout=120 ranks=3
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import magnetic  # noqa: E402
import mhd_files as mhd  # noqa: E402
import ptah  # noqa: E402

MESH = 64


def pk(species, path, *options, ranks=1):
    """{spectrum: rows of k, P, shot, sigma, modes}, and the text."""
    r = ptah.Run([*ptah.mpirun(ranks), ptah.program('pk'), '-q', '--species', species, '--mesh',
                  str(MESH), *options, path], '.')
    rows = [line.split('\t') for line in r.out.splitlines() if not line.startswith('#')]
    return r, {name: np.array([[float(x) for x in row[1:]] for row in rows if row[0] == name])
               for name in {row[0] for row in rows}}


def spectrum(fields):
    """Mean of ½ Σ |w_k|² in the bins of one fundamental mode, of cells [z, y, x]."""
    n, top = fields[0].shape[0], 12
    k = np.arange(-top, top + 1)
    waves = np.stack(np.meshgrid(k, k, k, indexing='ij'))
    window = np.prod(np.sinc(waves / n), axis=0)
    power = sum(abs(np.fft.fftn(w)[tuple(waves % n)] / n ** 3 * window) ** 2 for w in fields) / 2
    size = np.sqrt((waves ** 2).sum(axis=0))
    return shells(power, size, top)


def shells(power, size, top):
    return np.array([power[(size >= b - .5) & (size < b + .5)].mean() for b in range(1, top)])


def helicity(fields):
    """Mean of A·B*, A = i k × B/k², likewise."""
    n, top = fields[0].shape[0], 12
    k = np.arange(-top, top + 1)
    waves = np.stack(np.meshgrid(k, k, k, indexing='ij'))  # along z, y, x
    window = np.prod(np.sinc(waves / n), axis=0)
    b = np.array([np.fft.fftn(w)[tuple(waves % n)] / n ** 3 * window for w in fields])
    k2 = (waves ** 2).sum(0)
    a = 1j * np.cross(waves[::-1], b, axis=0) / (2 * np.pi * np.maximum(k2, 1))
    return shells((a * b.conj()).real.sum(0), np.sqrt(k2), top)


def mode():
    v, n = ptah.Verdict(), 16
    z, y, x = np.meshgrid(*3 * [(np.arange(n) + .5) / n], indexing='ij')
    one = np.ones((n, n, n))
    wave = .3 * np.sin(2 * np.pi * 3 * x)
    fields = {'ic_d': 4 * one, 'ic_p': one, 'ic_u': .1 * one, 'ic_v': .2 * one,
              'ic_w': .5 * np.cos(2 * np.pi * 2 * y), 'ic_bxleft': .7 * one,
              'ic_bxright': .7 * one, 'ic_byleft': wave, 'ic_byright': wave}
    for name, values in fields.items():
        mhd.grafic('ics', name, values)
    text = re.sub(r'(?s)nregion=2.*?/\n', "filetype='grafic'\ninitfile(1)='%s'\n/\n"
                  % os.path.abspath('ics'), mhd.namelist(3), count=1)
    path = mhd.run(3, 'run', 1, 'run_params/nstepmax=0', 'amr_params/levelmin=4',
                   'amr_params/levelmax=4', text=text).outputs[0]
    got = pk('B,kinetic', path)[1]
    # two modes, k and -k, of half the amplitude each; w = √ρ v
    for name, k, size in (('B', 3, .3), ('kinetic', 2, 2 * .5)):
        rows = got[name]
        modes = rows[k - 1, 4]
        want = (size * np.sinc(k / n)) ** 2 / 2 / 2 / modes
        v.check('%s: power of the mode' % name, abs(rows[k - 1, 1] / want - 1), 3e-7)
        rest = np.delete(rows[:8], k - 1, axis=0)
        v.check('%s: power of other modes' % name, abs(rest[:, 1]).max() / want, 1e-12)
    r = pk('B', path, '--redshift-space', 'x')[0]
    v.same('no redshift space', (r.status, '--redshift-space' in r.err), (2, True))
    r = pk('BxB', path)[0]
    v.same('no cross spectra', (r.status, 'BxB' in r.err), (2, True))
    v.end()


def beltrami():
    """ABC flows (Dombre et al. 1986): components do not vary along themselves, so that means over
    faces and cells change all by one factor."""
    v, n, mean = ptah.Verdict(), 16, .25
    z, y, x = np.meshgrid(*3 * [(np.arange(n) + .5) / n], indexing='ij')

    def abc(k, sign):
        s, c = (lambda q: np.sin(2 * np.pi * k * q)), (lambda q: sign * np.cos(2 * np.pi * k * q))
        return (s(z) + .6 * c(y), .8 * s(x) + c(z), .6 * s(y) + .8 * c(x))
    b, u = abc(3, 1), abc(2, -1)
    fields = {'ic_d': 4 + 0 * x, 'ic_p': 1 + 0 * x}
    fields.update({'ic_' + d: w for d, w in zip('uvw', u)})
    for i, d in enumerate('xyz'):
        for side in 'left', 'right':
            fields['ic_b%s%s' % (d, side)] = b[i] + mean * (d == 'y')
    for name, values in fields.items():
        mhd.grafic('ics', name, values)
    text = re.sub(r'(?s)nregion=2.*?/\n', "filetype='grafic'\ninitfile(1)='%s'\n/\n"
                  % os.path.abspath('ics'), mhd.namelist(3), count=1)
    path = mhd.run(3, 'run', 1, 'run_params/nstepmax=0', 'amr_params/levelmin=4',
                   'amr_params/levelmax=4', 'amr_params/boxlen=2.', text=text).outputs[0]
    names = 'B,kinetic,helicity,current_helicity,kinetic_helicity'
    for how in [], ['--no-interlace', '--window', 'cic'], ['--mesh', '8', '-k', '4']:
        got = pk(names, path, *how)[1]
        for name, energy, mode, sign, power in (
                ('helicity', 'B', 3, 1, -1), ('current_helicity', 'B', 3, 1, 1),
                ('kinetic_helicity', 'kinetic', 2, -1, 1)):
            rows, e = got[name], got[energy][mode - 1].copy()
            if energy == 'kinetic':
                e[1] /= 4  # of √ρ v
            k = 2 * np.pi * mode / 2
            h = 2 * e[1] * sign * k ** power
            label = ' '.join([name, *how])
            v.check(label, abs(rows[mode - 1, 1] / h - 1), 1e-6)
            rest = abs(np.delete(rows[:8], mode - 1, 0)[:, 1]).max()
            v.check(label + ': of other modes', rest / abs(h), 1e-6)
            # of waves of one sign, and of the mean wave number of the bin
            want = 2 * k ** power * e[1] * np.sqrt(2 / e[4])
            v.check(label + ': error', abs(rows[mode - 1, 3] / want - 1), .1)
    folded(v, path)
    r = pk('helicity', path)[0]
    want = sum(np.mean(w ** 2) * np.sinc(3 / n) ** 2 for w in b) / (3 * np.pi)
    v.check('the sum is the mean of A·B', abs(total(r) / want - 1), 1e-6)
    r = ptah.Run([ptah.program('pk'), '--species', 'helicity', '--mesh', '16', path], '.')
    v.same('the mean is named', [w in r.err for w in ('without its mean', '0.25')], [True, True])
    r = ptah.Run([ptah.program('pk'), '--species', 'current_helicity', '--mesh', '16', path], '.')
    v.same('with a current it is not', 'mean' in r.err, False)
    r = pk('helicity', path, '--redshift-space', 'x')[0]
    v.same('no redshift space', (r.status, '--redshift-space' in r.err), (2, True))
    v.same('no cross spectra', pk('helicityxB', path)[0].status, 2)
    walls(v)
    v.end()


def folded(v, path):
    """Three modes of the box are one of a box that is folded three times, whose modes are half as
    many as the waves of ±k."""
    got = pk('helicity', path, '--fold', '3')[1]['helicity']
    whole = pk('helicity', path)[1]['helicity']
    v.check('folded: modes are three times as far apart', got[0, 0] / (3 * whole[0, 0]) - 1, 1e-12)
    v.check('folded', abs(got[0, 1] * got[0, 4] / (whole[2, 1] * whole[2, 4]) - 1), 1e-6)


def total(r):
    rows = np.array([[float(x) for x in line.split('\t')[1:]] for line in r.out.splitlines()
                     if line.startswith('helicity')])
    return (rows[:8, 1] * rows[:8, 4]).sum() / 8  # P d³k/(2π)³ of a box of 8


def walls(v):
    magnetic.write('walls', 1, 3, magnetic.nothing, walls=True, levelmin=3, levelmax=3)
    r = pk('helicity', 'walls')[0]
    v.same('boundaries', (r.status, 'boundaries' in r.err, len(r.err.splitlines())), (2, True, 1))
    made = magnetic.write('flat', 1, 2, magnetic.nothing, levelmin=3, levelmax=3)
    r = pk('helicity', 'flat')[0]
    v.same('two dimensions', (r.status, len(r.err.splitlines()), bool(made)), (2, 1, True))
    magnetic.write('bad', 1, 3, magnetic.at(3, [2, 5, 0], 4, np.nan), levelmin=3, levelmax=3)
    r = pk('helicity', 'bad')[0]
    v.same('a face of nan', (r.status, 'nan' in r.err, len(r.err.splitlines())), (2, True, 1))
    r = pk('helicity', mhd_less())[0]
    v.same('no field', (r.status, 'has no magnetic field' in r.err), (2, True))
    v.same('but a velocity', pk('kinetic_helicity', mhd_less())[0].status, 0)


def mhd_less():
    text = re.sub(r"riemann.*\n", '', mhd.namelist(3)) + ''
    text = re.sub(r'[ABC]_region.*\n|err_grad_b2.*\n|var_region.*\n', '', text)
    if not os.path.exists('gas'):
        ptah.simulate(text, 'gas', 1, 1, ['run_params/nstepmax=0'])
    return os.path.join('gas', 'output_00001')


def tree():
    v, ndim = ptah.Verdict(), 3
    made = magnetic.write('tree', magnetic.grown(3, 5), 3, magnetic.nothing)
    top = max(made.octs)
    n = 2 ** top
    field = np.zeros((3, n, n, n))
    for l, octs in made.octs.items():
        w = 2 ** (top - l)
        for c, cell in enumerate(magnetic.gas(ndim, magnetic.nothing)(l, octs)):
            for i in np.flatnonzero(~made.split[l][:, c]):
                x, y, z = ((2 * octs[i, d] + (c >> d & 1)) * w for d in range(3))
                field[:, z:z + w, y:y + w, x:x + w] = \
                    ((cell[4:7, i] + cell[7:10, i]) / 2)[:, None, None, None]
    r, got = pk('B', 'tree')
    want = spectrum(field)
    v.check('spectrum of a tree', abs(got['B'][:11, 1] - want).max() / want.max(), 1e-6)
    v.same('on three ranks', pk('B', 'tree', ranks=3)[0].out == r.out, True)
    mhd.made('convert', '-q', '-f', 'hdf5', '-o', 'hdf5', 'tree')
    v.same('of HDF5', pk('B', 'hdf5')[0].out.splitlines()[1:] == r.out.splitlines()[1:], True)
    r, got_h = pk('helicity', 'tree')
    want = helicity(field)
    off = abs(got_h['helicity'][:11, 1] - want).max()
    v.check('helicity of a tree', off / abs(want).max(), 1e-6)
    v.check('its bound', (abs(got_h['helicity'][:, 1]) * (got['B'][:, 0] - np.pi) /
                          (2 * got['B'][:, 1])).max(), 1)
    v.same('on three ranks', pk('helicity', 'tree', ranks=3)[0].out == r.out, True)
    again = pk('helicity', 'hdf5')[0]
    v.same('of HDF5', again.out.splitlines()[1:] == r.out.splitlines()[1:], True)
    both = pk('gas,B,all', 'tree')[1]
    v.same('with spectra of mass', (sorted(both), (both['B'] == got['B']).all()),
           (['B', 'all', 'gas'], True))
    v.end()


if __name__ == '__main__':
    {'mode': mode, 'beltrami': beltrami, 'tree': tree}[sys.argv[1]]()
