"""Merger trees of groups of particles that fly freely: their histories are known.

    trees.py same      one group passes through another, two meet, one stays alone: the rows of all
                       outputs; the same files on 1, 2, 3 ranks, in both formats, after a restart of
                       each on other ranks; the state is that of a run without trees
    trees.py wrong     damaged, missing and foreign files of progenitors, wrong parameters

Example of a fault caught: a tracer that is sought on its own rank only, a restart that forgets
merged clumps, a galaxy without the particle's id, a file that is read beyond its end.
"""
# test: same tier=check timeout=120 ranks=3
# test: wrong tier=check timeout=90 ranks=2
import collections
import glob
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

# number, spread, position and velocity of each group; ids are 1–600, 601–750, and so on
GROUPS = ((600, 0.018, (0.5, 0.5, 0.5), (0, 0, 0)), (150, 0.012, (0.2, 0.5, 0.5), (1, 0, 0)),
          (100, 0.015, (0.5, 0.15, 0.8), (0, 0.1, 0)), (140, 0.015, (0.75, 0.8, 0.25), (0, 0, 0)),
          (90, 0.012, (0.93, 0.8, 0.25), (-0.3, 0, 0)))
TREES = """
&CLUMPFIND_PARAMS
ivar_clump=0
density_threshold=10.0
relevance_threshold=1.6
saddle_threshold=60.0
mass_threshold=20
/
&MERGERTREE_PARAMS
nmost_bound=40
/
"""
RUN = 'clumpfind=.true.\nmake_mergertree=.true.\n'
FILES = 'progenitorcount.dat', 'progenitor_data.dat', 'past_merged_progenitors.dat'


def box(run=RUN, more=TREES):
    draw = random.Random(3)
    os.makedirs('ics', exist_ok=True)
    with open('ics/ic_part', 'w') as f:
        for n, spread, place, velocity in GROUPS:
            for _ in range(n):
                x = [(c + draw.gauss(0, spread)) % 1 for c in place]
                f.write(' '.join('%.12g' % y for y in [*x, *velocity, 1e-3]) + '\n')
    text = ptah.ascii_box((4, 6), 1000, 0, 'm_refine=4*8.', gas='', ics='../ics')
    text = text.replace('poisson=.true.\n', '').replace('foutput=0\ntout=1e9', 'noutput=8\ntout='
                                                        + ','.join('%g' % (0.08 * k + 1e-9)
                                                                   for k in range(8)))
    return text.replace('pic=.true.\n', 'pic=.true.\n' + run) + more


def rows(output):
    out = []
    for path in sorted(glob.glob(os.path.join(output, 'mergertree_*.txt*'))):
        with open(path) as f:
            out += [line.split() for line in f.readlines()[1:]]
    return out


def contents(output):
    """All files of trees of an output, those of all ranks one after the other."""
    data = b''
    for kind in 'mergertree', 'galaxies':
        for path in sorted(glob.glob(os.path.join(output, kind + '_*.txt*'))):
            with open(path, 'rb') as f:
                data += b''.join(f.readlines()[1:])
    for name in FILES:
        with open(os.path.join(output, name), 'rb') as f:
            data += f.read()
    return data


def galaxies(output):
    """Group of each clump of an output, by the particle of its galaxy; 0: an orphan."""
    of = {}
    last = [sum(g[0] for g in GROUPS[:k + 1]) for k in range(len(GROUPS))]
    for path in sorted(glob.glob(os.path.join(output, 'galaxies_*.txt*'))):
        with open(path) as f:
            for w in (line.split() for line in f.readlines()[1:]):
                group = next(k for k, n in enumerate(last) if int(w[5]) <= n)
                of.setdefault(int(w[0]), []).append(group)
    return of


def members(output):
    """Clump of each particle, by id, from the files of unbinding and of particles."""
    columns = read_ramses.read_descriptor(os.path.join(output, 'part_file_descriptor.txt'))
    at, of = [name for name, _ in columns].index('identity'), {}
    for path in sorted(glob.glob(os.path.join(output, 'part_*.out*'))):
        f = read_ramses.Records(path)
        f.skip(8 + at)
        clumps = read_ramses.Records(path.replace('part_', 'unbinding_'))
        of.update(zip(f.read(), clumps.read(), strict=True))
        if not clumps.ended():
            raise IOError(path)
    return of


def check_history(v, outputs):
    """The chain of each group, by the particles of the galaxies."""
    found = [galaxies(o) for o in outputs]
    v.same('groups of the first output', sorted(g for k in found[0].values() for g in k),
           [0, 1, 2, 3, 4])
    v.same('the first output has no links', rows(outputs[0]), [])
    merged, jumped = [], []
    for k, output in enumerate(outputs[1:], 1):
        for w in rows(output):
            clump, progenitor, when = int(w[0]), int(w[1]), int(w[2])
            was = found[when - 1].get(abs(progenitor), [None])[0]
            if clump < 0:
                merged.append((k + 1, was, found[k][-clump][0]))
            elif progenitor < 0:
                jumped.append((k + 1, when, was, found[k][clump][0]))
            elif progenitor == 0 or (was != found[k][clump][0] and {was, found[k][clump][0]}
                                     != {3, 4}):
                v.same('output %d: %s' % (k + 1, ' '.join(w[:3])), 'a wrong chain', '')
    v.same('mergers: output, group, into group', sorted(m[:2] for m in merged), [(4, 1), (4, 4)])
    v.same('found again: output, last seen, group', [j[:3] for j in jumped], [(8, 3, 1)])
    v.same('as the same group', [j[3] for j in jumped], [1])
    v.same('orphans before and after', (sorted(found[5][0]), found[7][0]), ([1, 4], [4]))


def resume(name, of, number, ranks):
    """A run in a new folder from a copy of the first outputs of another one."""
    for k in range(1, number + 1):
        shutil.copytree(os.path.join(of, 'output_%05d' % k), os.path.join(name, 'output_%05d' % k))
    return ptah.simulate(box(), name, ranks, 1, ['run_params/nrestart=%d' % number], ['-q'])


def same(v):
    one = ptah.simulate(box(), 'one', 1, 1, (), ['-q']).outputs
    check_history(v, one)
    whole = [contents(o) for o in one]
    of = [members(o) for o in one]
    v.same('members of clumps', [sorted(float(n) for k, n in collections.Counter(m.values()).items()
                                        if k) for m in of[1:]],
           [sorted(float(w[4]) for w in rows(o) if w[4] != '0') for o in one[1:]])
    for name, ranks, how in (('two', 2, ('run_params/ordering=hilbert',)),
                             ('three', 3, ('output_params/outformat=hdf5',))):
        r = ptah.simulate(box(), name, ranks, 1, how, ['-q'])
        v.same('%s ranks: all files' % name, [contents(o) for o in r.outputs] == whole, True)
        if name == 'two':
            v.same('members by id', [members(o) for o in r.outputs] == of, True)
    for name, of, number, ranks in (('again', 'three', 5, 2), ('later', 'two', 7, 1)):
        r = resume(name, of, number, ranks)
        v.same('resumed on %d ranks: all files' % ranks,
               [contents(o) for o in r.outputs] == whole[number:], True)
    r = ptah.simulate(box(), 'particles', 1, 1, ['output_params/noutput=2',
                      'unbinding_params/particlebased_clump_output=.true.'], ['-q'])
    with open(os.path.join(r.outputs[1], 'clump_00002.txt00001')) as f:
        v.same('unbinding is implied, and its parameters are read', 'halo' in f.readline(), False)
    r = ptah.simulate(box('', ''), 'without', 1, 1, (), ['-q'])
    v.same('the state is that of a run without', ptah.digest(r.outputs[-1]), ptah.digest(one[-1]))
    v.same('the checkpoints are sound',
           ptah.Run([ptah.program('inspect'), '-cc', *one], '.').status, 0)


def wrong(v):
    one = ptah.simulate(box(), 'one', 1, 1, ('output_params/noutput=5',), ['-q']).outputs[-1]
    number = int(one[-5:])

    def again(name, change, word, works=False):
        shutil.copytree('one/output_%05d' % number, '%s/output_%05d' % (name, number))
        change('%s/output_%05d/' % (name, number))
        r = ptah.simulate(box(), name, 2 if works else 1, 1, ['run_params/nrestart=%d' % number],
                          [] if works else ['-q'], must_work=works)
        v.same(name, (r.status, word in r.out + r.err), (0 if works else 2, True))
        if word not in r.out + r.err:
            print(r.out[-500:], r.err)
        if not works:
            v.same(name + ': one sentence', (r.err.count('\n'), 'coarse step' in r.err), (1, False))

    def cut(folder):
        os.truncate(folder + FILES[1], 99)

    def flip(folder):
        with open(folder + FILES[1], 'r+b') as f:
            f.write(b'\xff\xff\xff\xff')

    def drop(folder):
        for name in FILES:
            os.remove(folder + name)

    def drop_one(folder):
        os.remove(folder + FILES[2])

    def empty(folder):
        os.truncate(folder + FILES[0], 0)

    again('a file that is cut', cut, FILES[1])
    again('a wrong number of a clump', flip, FILES[1])
    again('a file is missing', drop_one, FILES[2])
    again('an empty file of counts', empty, FILES[0])
    again('no files', drop, 'the trees begin anew', works=True)
    for run, word in (('make_mergertree=.true.\n', 'clumpfind'),
                      (RUN.replace('true', 'false', 1), 'clumpfind')):
        r = ptah.simulate(box(run), 'alone', options=['-q'], must_work=False)
        v.same('without clumpfind', (r.status, word in r.err), (2, True))
    for setting in 'nmost_bound=0', 'max_past_snapshots=-1':
        r = ptah.simulate(box(), 'alone', settings=['mergertree_params/' + setting],
                          options=['-q'], must_work=False)
        v.same(setting, (r.status, setting.split('=')[0] in r.err), (2, True))


def main():
    v = ptah.Verdict()
    {'same': same, 'wrong': wrong}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
