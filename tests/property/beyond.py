#!/usr/bin/env python3
"""Positions at and beyond the faces of the box. In a box with boundaries RAMSES keeps particles
that have left: they are not damage; a run that resumes drops and counts them, on any number of
ranks, from either format, as does inspect --clumps. In a periodic box rounding may put particles on
the far face; further out they are damage, and a run reports how many it wraps.

Example of a fault caught: a particle beyond a boundary that is wrapped, or taken for damage.
"""
# test: tier=check timeout=240 ranks=3
import json
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import tiny_ramses  # noqa: E402

COUNT = 200
WALLS = """&BOUNDARY_PARAMS
nboundary=%d
bound_type=2,2,2,2,2,2
ibound_min=-1,1,-1,-1,-1,-1
ibound_max=-1,1,1,1,1,1
jbound_min=0,0,-1,1,-1,-1
jbound_max=0,0,-1,1,1,1
kbound_min=0,0,0,0,-1,1
kbound_max=0,0,0,0,-1,1
/
"""
CLUMPS = ['--clumps', *(w for name in ('density_threshold=0.01', 'ivar_clump=0',
                                        'relevance_threshold=1') for w in ('--set', name))]


def namelist(walls, steps):
    text = ptah.ascii_box((3, 4), steps, 1, 'm_refine=8*1e9', ics='../ics')
    return text.replace('poisson=.true.', 'poisson=.false.') + (WALLS % walls if walls else '')


def make_run(walls):
    rng = np.random.default_rng(3)
    os.makedirs('ics', exist_ok=True)
    x = rng.uniform(-0.45, 0.45, (COUNT, 3))
    np.savetxt('ics/ic_part', np.hstack([x, np.zeros((COUNT, 3)), np.full((COUNT, 1), 1e-4)]))
    run = ptah.simulate(namelist(walls, 0), 'run', options=['--force'])
    return ptah.output(run, 1)


def move(path, to, places):
    """places: positions of the first particles, an {axis: value} each."""
    def change(column):
        for i, place in enumerate(places):
            at = np.flatnonzero(column['identity'] == i + 1)[0]
            for axis, value in place.items():
                column['position_' + axis][at] = value
    tiny_ramses.alter_particles(path, to, change)


def check(path):
    r = ptah.Run([ptah.program('inspect'), '-ccj', path], '.')
    c = json.loads(r.out)
    return r.status, c['verdict'], c['damages'], c['beyond']


def restart(walls, path, ranks=1, where='resumed', name=None):
    """(log, particles one step later)"""
    shutil.rmtree(where, ignore_errors=True)
    options = ['-r', os.path.join('..', path)]
    settings = []
    if name:  # newest checkpoint
        shutil.copytree(path, os.path.join(where, name))
        options, settings = ['--force'], ['run_params/nrestart=-1']
    r = ptah.simulate(namelist(walls, 2), where, ranks, options=options, settings=settings,
                      must_work=False)
    return r


def lost_in(log):
    m = re.findall(r' (\d+) particles have left the box through its boundaries, (\d+) in all', log)
    return [(int(a), int(b)) for a, b in m]


def massless(column):
    column['mass'][column['identity'] <= len(LEFT)] = 0


def clumps(path):
    """Lines of the table of clumps."""
    r = ptah.Run([ptah.program('inspect'), *CLUMPS, path], '.')
    if r.status != 0:
        sys.exit(r.said())
    lines = [line for line in r.out.splitlines() if line[0] != '#']
    if len(lines) < 3:
        sys.exit('%s: only %d clumps' % (path, len(lines)))
    return lines


LEFT = [{'x': -0.003}, {'y': 1.0}, {'z': 1.9, 'x': -0.2}, {'y': -0.99}, {'x': 1.0000001}]


def check_walls(v):
    path = make_run(6)
    move(path, 'output_00001', LEFT)
    tiny_ramses.alter_particles(path, 'inside', massless)
    convert = [ptah.program('convert'), '-f', 'hdf5', '--force', '-o', 'h', 'output_00001']
    v.same('convert', ptah.Run(convert, '.').status, 0)
    digests = []
    for what in ('output_00001', 'h'):
        v.same(what + ': inspect -cc', check(what), (0, 'sound', 0, len(LEFT)))
        for ranks in (1, 3):
            r = restart(6, what, ranks)
            v.same('%s: restart on %d ranks' % (what, ranks), (r.status, lost_in(r.err)),
                   (0, [(len(LEFT), len(LEFT))]))
            p = read_ramses.load(r.outputs[-1]).part
            v.same('%s: who stays' % what, p['identity'].tolist(),
                   list(range(len(LEFT) + 1, COUNT + 1)))
            digests.append(ptah.digest(r.outputs[-1]))
        v.same('%s: clumps' % what, clumps(what) == clumps('inside'), True)
    v.same('digests', len(set(digests[:2])), 1)
    v.same('digests from HDF5', len(set(digests[2:])), 1)
    r = restart(6, 'output_00001', name='output_00001')
    v.same('the newest checkpoint', (r.status, lost_in(r.err)), (0, [(len(LEFT), len(LEFT))]))
    os.remove('output_00001/namelist.txt')
    v.same('without namelist', check('output_00001'), (0, 'sound', 0, len(LEFT)))
    v.same('without namelist: clumps', clumps('output_00001') == clumps('inside'), True)
    for place in ({'x': -1.01}, {'z': 2.5}, {'y': 1e30}, {'y': float('inf')}):
        move(path, 'far', LEFT + [place])
        v.same('at %s' % place, check('far'), (1, 'damaged', 1, len(LEFT)))


def check_mixed(v):
    """A box with boundaries along x only."""
    path = make_run(2)
    move(path, 'output_00001', [{'x': -0.3}, {'y': 1.0}, {'y': -1e-17}])
    v.same('one axis: inspect -cc', check('output_00001'), (0, 'sound', 0, 1))
    r = restart(2, 'output_00001', 3)
    v.same('one axis: restart', (r.status, lost_in(r.err), 'brought back' in r.err),
           (0, [(1, 1)], False))
    move(path, 'output_00001', [{'x': 1.3}, {'z': 1.25}])
    v.same('one axis: beyond a periodic face', check('output_00001'), (1, 'damaged', 1, 1))
    r = restart(2, 'output_00001')
    said = ' 1 particles of the checkpoint lie up to 0.25 outside of the periodic box: they are'
    v.same('one axis: it is brought back', (r.status, said in r.err, lost_in(r.err)),
           (0, True, [(1, 1)]))
    move(path, 'output_00001', [{'x': 1.3}, {'z': 2.25}])
    r = restart(2, 'output_00001')
    v.same('one axis: too far ' + r.err.splitlines()[-1],
           (r.status, 'particle 2: its position_z is 2.25' in r.err), (2, True))


def check_periodic(v):
    path = make_run(0)
    far = [{'x': 1.0}, {'y': 1.0, 'z': 1.0}, {'z': -1e-17}]
    move(path, 'output_00001', far)
    v.same('periodic: rounding', check('output_00001'), (0, 'sound', 0, 0))
    r = restart(0, 'output_00001', 3)
    v.same('periodic: rounding is silent', (r.status, 'brought back' in r.err), (0, False))
    p = read_ramses.load(r.outputs[-1]).part
    v.same('periodic: the near face', [p['position_x'][0], p['position_y'][1], p['position_z'][1]],
           [0, 0, 0])
    move(path, 'output_00001', far + [{'x': 1.0000001}, {'y': -0.25}])
    v.same('periodic: further out', check('output_00001'), (1, 'damaged', 2, 0))
    for ranks in (1, 3):
        r = restart(0, 'output_00001', ranks)
        said = ' 2 particles of the checkpoint lie up to 0.25 outside of the periodic box: they are'
        v.same('periodic: brought back, %d ranks' % ranks, (r.status, said in r.err), (0, True))
        p = read_ramses.load(r.outputs[-1]).part
        v.same('periodic: all are there', (len(p['identity']), p['position_y'][4]), (COUNT, 0.75))
    move(path, 'output_00001', [{'x': 2.5}])
    r = restart(0, 'output_00001')
    v.same('periodic: too far', (r.status, 'particle 1: its position_x is 2.5' in r.err), (2, True))


def check_text(v):
    """Particles in a text file: errors give the file and the line, counting blank lines."""
    for walls, line, status in ((6, '0.6 0 0 0 0 0 1', 2), (0, '0.6 0 0 0 0 0 1', 0),
                                (0, '0 0 1.6 0 0 0 1', 2)):
        with open('ics/ic_part', 'w') as f:
            f.write('0 0 0 0 0 0 1\n\n0.1 0 0 0 0 0 1\n%s\n' % line)
        for ranks in (1, 2):
            r = ptah.simulate(namelist(walls, 0), 'text', ranks, options=['--force'],
                              must_work=False)
            said = 'ic_part: line 4: particle at' if status else \
                '/ic_part lie up to 0.1 outside of the periodic box: they are brought back'
            v.same('text, %d boundaries, %d ranks: %s' % (walls, ranks, r.err.splitlines()[-1]),
                   (r.status, said in r.err), (status, True))


def main():
    v = ptah.Verdict()
    check_walls(v)
    check_mixed(v)
    check_periodic(v)
    check_text(v)
    v.end()


if __name__ == '__main__':
    main()
