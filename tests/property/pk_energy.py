"""Spectra of the magnetic and of the kinetic energy by pk, compared with the transform of cells.

    pk_energy.py mode      a single mode of the field, and of √ρ v: its exact power, in one bin
    pk_energy.py tree      a random tree of RAMSES; equal bits for any ranks and formats

A cell has one value, so that a mode of the box is that of the cells, times the window of a cell.
Examples of faults caught: a component that is left out, a field of one face, energies without the
half, cells of another level with a wrong weight, the window of another axis.
"""
# test: mode tier=check timeout=60
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
    return np.array([power[(size >= b - .5) & (size < b + .5)].mean() for b in range(1, top)])


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
    both = pk('gas,B,all', 'tree')[1]
    v.same('with spectra of mass', (sorted(both), (both['B'] == got['B']).all()),
           (['B', 'all', 'gas'], True))
    v.end()


if __name__ == '__main__':
    mode() if sys.argv[1] == 'mode' else tree()
