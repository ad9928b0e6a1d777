"""Initial conditions of Gadget and its relatives give the particles that are in the files.

    gadget_ics.py forms     every format, byte order, width, number of files, unit and code gives
                            positions x/L, velocities u a/(100 L), masses that add up to 1, and ids
    gadget_ics.py zoom      several types with masses of their own, on 1 and 3 ranks
    gadget_ics.py export    a run from GRAFIC files, and runs from its first output as files of
                            Gadget: the same to the rounding of the files
    gadget_ics.py split     GRAFIC files split into blocks, on other numbers of ranks: the same bits

The files are written by code of the test (tests/gadget_files.py, tests/grafic.py). Examples of
faults caught: velocities without the root of a; kpc taken for Mpc; rows of a file of several
attributed to another file; an id of four bytes read with its sign.
"""
# test: forms tier=check timeout=180
# test: zoom tier=check timeout=180 ranks=3
# test: export tier=check timeout=180
# test: split tier=check timeout=180 ranks=3
import os
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import gadget_files as files  # noqa: E402
import grafic  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

FILES = """&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
nstepmax=%d
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
/
&INIT_PARAMS
filetype='%s'
initfile(1)='%s'
/
&OUTPUT_PARAMS
foutput=%d
noutput=1
aout=1.0
%s/
"""


def gadget(path, steps=0, level=3, more='', **options):
    text = FILES % (steps, level, level, 'gadget', path, max(steps, 1), more)
    name = 'run_' + os.path.basename(path)
    outputs = ptah.simulate(text, '.', options=['-q', '-o', name], **options).outputs
    return outputs[-1 if steps else 0]


def read(path):
    """Particles by id: positions and velocities [n, 3], ids, masses."""
    p = read_ramses.load(path).part
    return (np.stack([p['position_' + d] for d in 'xyz'], -1),
            np.stack([p['velocity_' + d] for d in 'xyz'], -1), p['identity'], p['mass'])


def apart(a, b):
    """Largest distance along an axis, periodic."""
    d = np.abs(a - b)
    return np.minimum(d, 1 - d).max()


def check(v, name, out, p, rounding):
    x, u, ids, m = (np.concatenate(c) for c in zip(*p.values()))
    order = np.argsort(ids)
    at, vel, found, mass = read(out)
    v.same('%s: ids' % name, np.array_equal(found, ids[order]), True)
    v.check('%s: positions' % name, apart(at, x[order] / files.BOX % 1), rounding)
    expected = u[order] * files.A / (100 * files.BOX)
    v.check('%s: velocities' % name, np.abs(vel - expected).max() / np.abs(expected).max(),
            rounding)
    v.check('%s: masses' % name, np.abs(mass * m.sum() / m[order] - 1).max(), max(rounding, 1e-12))
    v.check('%s: inside' % name, float(np.sum((at < 0) | (at >= 1))), 0)


def forms(v):
    p = files.particles()
    far = {1: (p[1][0], p[1][1], p[1][2] + 2 ** 32, p[1][3])}
    high = {1: (p[1][0], p[1][1], p[1][2] + 2 ** 31, p[1][3])}
    binary = {'plain': {}, 'named': dict(named=True), 'swapped': dict(order='>'),
              'both': dict(named=True, order='>', real='f8', files=2),
              'several': dict(files=3), 'kpc': dict(unit=1e-3),
              'numbered': dict(always=True), 'block': dict(table=False)}
    for name, options in binary.items():
        files.binary(name, p, **options)
        check(v, name, gadget(name), p, 2e-15 if name == 'both' else 2e-7)
    files.binary('wide', far, whole='u8')
    check(v, 'wide', gadget('wide'), far, 2e-7)
    files.binary('high', high)
    check(v, 'high', gadget('high'), high, 2e-7)
    sets = {'g4': {}, 'g4kpc': dict(unit=1e-3), 'g3': dict(code='gadget3', real='f4', whole='u4'),
            'mono': dict(code='monofonic', table=True), 'swift': dict(code='swift'),
            'packed': dict(chunks=100, filters=True, files=2),
            'many': dict(files=3), 'big': dict(order='>')}
    for name, options in sets.items():
        base = files.hdf5(name + '.hdf5', p, **options)
        check(v, name, gadget(base), p, 2e-7 if name == 'g3' else 1e-14)
    # What the files do not tell is in the namelist.
    files.binary('odd', p, unit=0.05)
    out = ptah.simulate(FILES % (0, 3, 3, 'gadget', 'odd', 1, ''), '.', must_work=False)
    v.same('an odd unit is asked for', ('gadget_unit' in out.err, out.status), (True, 2))
    given = gadget('odd', settings=['init_params/gadget_unit=0.05'])
    check(v, 'odd', given, p, 2e-7)


def zoom(v):
    p = files.particles(types=(1, 2, 5))
    files.binary('zoom', p, named=True, real='f8', files=2)
    files.hdf5('zoomed.hdf5', p, files=4)
    digests = []
    for path in ('zoom', 'zoomed'):
        for ranks in (1, 3):
            out = gadget(path, ranks=ranks)
            check(v, '%s on %d' % (path, ranks), out, p, 1e-14)
            digests.append(ptah.digest(out))
            shutil.rmtree('run_' + path)
    v.same('ranks', digests[0], digests[1])
    v.same('ranks, HDF5', digests[2], digests[3])


def export(v):
    ptah.unpack_ics('.', 'ic_32')
    text = FILES % (3, 5, 6, 'grafic', 'ics/ic_32/level_005', 3, 'gadget_output=.true.\n')
    outputs = ptah.simulate(text, '.', options=['-q', '-o', 'grafic']).outputs
    first, last = outputs[0], read(outputs[-1])
    for form, rounding in (('gadget', 1), ('gadget4', 1e-7), ('swift', 1e-7)):
        r = ptah.Run([ptah.program('convert'), '-f', form, '-o', form + '.hdf5', first], '.')
        if r.status:
            sys.exit(r.said())
        compare(v, form, gadget(form + '.hdf5', 3, 5), last, rounding)
    own = os.path.join(first, 'gsnapshot_00001')
    compare(v, 'gadget_output', gadget(own, 3, 5), last, 1)
    broken = os.path.join(first, 'gsnapshot_00001.0')
    v.same('one file of one rank', os.path.exists(broken), True)


def compare(v, name, path, last, rounding):
    """Rounding of positions to 2^-24 of the box grows little in three steps."""
    x, u, ids, m = read(path)
    v.same(name + ': ids', np.array_equal(ids, last[2]), True)
    v.check(name + ': positions', apart(x, last[0]), 3e-7 * rounding)
    v.check(name + ': velocities', np.abs(u - last[1]).max() / np.abs(last[1]).max(),
            2e-6 * max(rounding, 1e-6))
    v.check(name + ': masses', np.abs(m / last[3] - 1).max(), 1e-11)


def cut(folder, name, values, blocks, level):
    """Writes a field as files of blocks (lo, hi) of cells, z y x."""
    where = os.path.join(folder, 'dir_' + name)
    os.makedirs(where)
    for i, (lo, hi) in enumerate(blocks):
        part = values[tuple(slice(a, b) for a, b in zip(lo, hi))]
        grafic.write('%s/ic_%s.%05d' % (where, name, i + 1), part, level, offset=lo[::-1])


def split(v):
    names = ('deltab', 'velcx', 'velcy', 'velcz')
    grafic.make('whole', 4, names)
    # quarters with one cell of padding below, as ranks of RAMSES get them
    blocks = [((max(z - 1, 0), max(y - 1, 0), 0), (z + 8, y + 8, 16))
              for z in (0, 8) for y in (0, 8)]
    shutil.rmtree('split', ignore_errors=True)
    for name in names:
        cut('split', name, grafic.field(name, 16), blocks, 4)
    digests = {}
    for folder in ('whole', 'split'):
        for ranks in (1, 3):
            text = grafic.namelist(folder, 4)
            multiple = '.true.' if folder == 'split' else '.false.'
            out = ptah.simulate(text, '.', ranks=ranks, options=['-q', '-o', 'out'], settings=[
                'init_params/multiple=' + multiple, 'run_params/nstepmax=1',
                'output_params/foutput=1'])
            digests[folder, ranks] = ptah.digest(out.outputs[-1])
            shutil.rmtree('out')
    for key, text in digests.items():
        v.same('%s on %d' % key, text, digests['whole', 1])
    said = {}
    for folder in 'whole', 'split':
        for words in (['pk', '-q', folder], ['genzoom', '-q', '--deep', '-p1', '--sphere',
                                             '0.5,0.5,0.5,0.2', folder]):
            r = ptah.Run([ptah.program(words[0]), *words[1:]], '.')
            v.same(' '.join(words) + ': status', r.status, 0)
            said.setdefault(folder, []).append(r.out.replace(folder, 'DIR'))
        with open(folder + '/ic_pvar_00006', 'rb') as f:
            said[folder].append(f.read())
        os.remove(folder + '/ic_pvar_00006')
    v.same('pk and genzoom: the same of blocks', said['split'] == said['whole'], True)
    v.same('spectrum', len(said['whole'][0].splitlines()) > 8, True)
    os.remove('split/dir_velcy/ic_velcy.00003')
    out = ptah.simulate(grafic.namelist('split', 4), '.', must_work=False)
    v.same('a missing block', ('ic_velcy' in out.err, out.status), (True, 2))
    os.rename('split/dir_velcy/ic_velcy.00004', 'split/dir_velcy/ic_velcy.00003')
    out = ptah.simulate(grafic.namelist('split', 4), '.', must_work=False)
    v.same('a missing cell', ('none of its 3 files' in out.err or 'cells along' in out.err,
                              out.status), (True, 2))


def main():
    v = ptah.Verdict()
    {f.__name__: f for f in (forms, zoom, export, split)}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
