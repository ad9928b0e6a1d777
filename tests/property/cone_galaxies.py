#!/usr/bin/env python3
"""Galaxies on light cones: a box of 32^3 particles to z = 2.3, with clumps, sub-clumps and merged
ones at its outputs.

    cone_galaxies.py    each galaxy of an output's table is on the cone exactly where and as often
                        as its particle is, with the masses of the tables; the same bytes on 1 and
                        3 ranks; both observers in a run that resumes on 2 ranks, in the files of
                        RAMSES; a slice that cannot be written; inspect --cone counts them

Examples of faults caught: a galaxy on each rank that has a replica of it; the mass of a main clump
without its sub-clumps; positions of the output in place of those of the event; an orphan that has
the clump of another one; the record behind the second velocity is missing.
"""
# test: tier=check timeout=200 ranks=3
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cone  # noqa: E402
import cones  # noqa: E402
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

CLUMPS = """cone_rule='crossing'
thetay_cone=0.12
thetaz_cone=0.12
zmax_cone=3
/
&CLUMPFIND_PARAMS
relevance_threshold=1.1
density_threshold=15
saddle_threshold=20
mass_threshold=10
ivar_clump=0
/
&MERGERTREE_PARAMS
nmost_bound=20
use_exclusive_mass=.false.
"""
TEXT = cone.BOX % ('clumpfind=.true.\nmake_mergertree=.true.', '0.3', '', CLUMPS)
HDF5 = ["lightcone_params/cone_format='hdf5'"]
BOXES = ['lightcone_params/%s%d=%s' % (name, n, value) for n, edge in ((1, 3), (2, -2))
         for name, value in (('elongated_axis_cone', edge), ('observer_cone', '0.5,0.5,0.5'),
                             ('maxboxr_cone', '1,1,1'))]
RAW = ('position', 'velocity', 'redshift', 'replica')


def table(output, kind):
    path = '%s/%s_%s.txt00001' % (output, kind, output[-5:])
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [line.split() for line in f.readlines()[1:]]


def group(path, name):
    with h5py.File(path) as f:
        out = {k: f[name + '/' + k][:] for k in f[name]} if name in f else {}
        return out, f['header'].attrs['box_mpc']


def members(output):
    """Clump of each particle, by identity."""
    columns = read_ramses.read_descriptor(output + '/part_file_descriptor.txt')
    at, of = [name for name, _ in columns].index('identity'), {}
    for path in sorted(glob.glob(output + '/part_*.out*')):
        f = read_ramses.Records(path)
        f.skip(8 + at)
        of.update(zip(f.read(), read_ramses.Records(path.replace('part_', 'unbinding_')).read()))
    return of


def check_slice(v, output, path):
    """The galaxies of a slice against the tables of its output and the particles of the cone."""
    mine, _ = group(path, 'galaxies')
    parts, _ = group(path.replace('cone_gal_', 'cone_'), 'particles')
    rows = table(output, 'galaxies')
    want = sorted((tuple(parts['replica'][i]), int(w[5]), w) for w in rows
                  for i in np.flatnonzero(parts['identity'] == int(w[5])))
    found = sorted((tuple(mine['replica'][i]), mine['identity'][i], i)
                   for i in range(len(mine['identity'])))
    v.same(path + ': each once', [f[:2] for f in found], [w[:2] for w in want])
    at = {(tuple(r), i): k for k, (r, i) in enumerate(zip(parts['replica'], parts['identity']))}
    heavy = {int(w[0]): float(w[3]) for w in table(output, 'mergertree')}
    clumps = members(output) if found else {}
    for (replica, who, w), (_, _, i) in zip(want, found):
        k, orphan = at[replica, who], w[0] == '0'
        v.same('where its particle is', [np.array_equal(mine[x][i], parts[x][k]) for x in RAW],
               [True] * 4)
        v.check('stars', abs(mine['stellar_mass'][i] / float(w[1]) - 1), 6e-12)
        v.same('an orphan', (mine['kind'][i] == 3, orphan), (orphan, orphan))
        v.same('clump', mine['clump'][i], clumps[who])
        if mine['kind'][i] == 1:
            unit = parts['mass'][k] * 32 ** 3
            v.check('mass of a main clump',
                    abs(mine['mass'][i] / unit / heavy[int(w[0])] - 1), 1e-9)
    return list(mine['kind'])


def data(folder):
    return {p[len(folder):]: open(p, 'rb').read()
            for p in sorted(glob.glob(folder + '/**/cone_gal_*.*', recursive=True))
            if os.path.isfile(p)}


def check_records(v, folder, number):
    """The files of RAMSES of an observer against its HDF5 files of another run."""
    n = 0
    for path in sorted(glob.glob('box/light_cone/cone_gal_*/observer%d/*.h5' % number)):
        mine, box = group(path, 'galaxies')
        name = path.replace('box/', folder + '/').replace('.h5', '.out00001')
        if len(mine['mass']) == 0:
            v.same(name + ': no file', os.path.exists(name), False)
            continue
        r = cones.records(name)
        v.same('head', [int.from_bytes(b, 'little') for b in r[:3]][:2], [1, 65536])
        x = [np.frombuffer(b, '<f4') for b in r[3:]]
        v.same('records', len(x), 10)
        with open(name + '.txt') as f:
            v.same('number', int(f.read().split()[2]), len(x[0]))
        v.same('values', [np.array_equal(x[3 * d], (mine['position'][:, d] / box).astype('f4'))
                          for d in range(3)] + [np.array_equal(x[9], mine['redshift'].astype('f4')),
                                                np.array_equal(x[5], mine['kind']),
                                                np.array_equal(x[8], mine['clump'])], [True] * 6)
        v.check('masses', np.ptp(x[2] / mine['mass'] * mine['mass'][0] / x[2][0]), 1e-6)
        n += len(x[0])
    v.same('observer %d has galaxies' % number, n > 3, True)


def main():
    v = ptah.Verdict()
    often = ['output_params/foutput=4']
    whole = cone.run('one', TEXT, settings=HDF5 + often)
    of = {read_ramses.read_info(o)['nstep_coarse']: o for o in whole.outputs}
    kinds = []
    for path in sorted(glob.glob('one/cone_gal_*/*.h5')):
        kinds += check_slice(v, of[int(path[-8:-3])], path)
    v.same('kinds', sorted(set(kinds)), [1, 2, 3])
    print('# galaxies by kind', [kinds.count(k) for k in (1, 2, 3)])
    cone.run('three', TEXT, ranks=3, settings=HDF5 + often)
    v.same('the same on 3 ranks', data('three') == data('one'), True)
    start = of[sorted(of)[-4]]
    last = [k for k in data('one') if k > '/cone_gal_%05d~' % sorted(of)[-4]]
    # a slice that cannot be written ends the run; resumed, it writes it
    for name, how in (('late', HDF5), ('box', HDF5 + BOXES), ('files', BOXES)):
        cone.begin(name)
        ranks = 1 if name == 'box' else 2
        block = name + last[0].split('/cone_gal_0')[0] + '/cone_gal_' + last[0][10:15]
        if name == 'late':
            with open(block, 'w') as f:
                f.write('in the way')
            r = ptah.simulate(TEXT, name, ranks=ranks, settings=how + often, must_work=False,
                              options=['-r', os.path.abspath(start)])
            v.same('in the way', (r.status, 'the galaxies on the light cone' in r.err), (2, True))
            os.remove(block)
        ptah.simulate(TEXT, name, ranks=ranks, settings=how + often,
                      options=['-r', os.path.abspath(start)])
    got = data('late')
    v.same('after a restart', (sorted(got), [got[k] == data('one')[k] for k in last]),
           (last, [True] * len(last)))
    for number in 1, 2:
        check_records(v, 'files', number)
    shutil.copytree('one', 'gal', ignore=lambda d, names: [n for n in names if 'gal' not in n
                                                           and not n.endswith('.h5')])
    v.same('inspect --cone', cone.count('gal')['galaxies'], len(kinds))
    v.end()


if __name__ == '__main__':
    main()
