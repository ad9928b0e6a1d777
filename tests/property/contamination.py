"""inspect --contamination against brute force: every particle is tested for a masked cell or the
sphere, and for its distance from each masked cell; in the zoom of the golden run as it is, and with
its particles scattered over the box.

Example of a fault caught: particles looked up in the mask of the wrong axis, a distance that is
not taken around the box, a heavy particle that counts as light.
"""
# test: tier=check timeout=120 ranks=2
import json
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import tiny_ramses as tiny  # noqa: E402

RUN = ['run_params/nstepmax=1', 'output_params/foutput=1']
VARIABLE, CUT = 6, 0.01
PAIRS = 8000000


def inspect(*argv):
    r = ptah.Run([ptah.program('inspect'), '--contamination', '-j', *argv], '.')
    return r.status, json.loads(r.out) if r.out else r.err


class Checkpoint:
    def __init__(self, path):
        s = read_ramses.load(path)
        self.x = np.column_stack([s.part['position_' + a] for a in 'xyz']) % 1
        self.m = s.part['mass']
        self.heavy = self.m > np.sqrt(8) * self.m.min()
        inside = s.cell['scalar_00'] > CUT
        self.level = s.level[inside]
        place = read_ramses.starts(s.level)[inside] >> (3 * (read_ramses.CURVE_LEVELS - self.level))
        self.corner = np.array([self.coordinates(p, l)
                                for p, l in zip(place.tolist(), self.level.tolist())])
        self.size = 0.5 ** self.level.astype(float)
        self.volume = float((self.size ** 3).sum())

    @staticmethod
    def coordinates(key, level):
        return [sum((key >> (3 * b + d) & 1) << b for b in range(level)) for d in range(3)]

    def in_mask(self):
        found = np.zeros(len(self.x), bool)
        for l in np.unique(self.level):
            n = 1 << int(l)
            cells = np.zeros((n, n, n), bool)
            cells[tuple(self.corner[self.level == l].T)] = True
            found |= cells[tuple(np.floor(self.x * n).astype(int).T)]
        return found

    def far_from_mask(self, who):
        """Min distance of some particles from all masked cells. Only particles are tested whose
        distance from the bounding box of these cells, a lower bound, is small enough."""
        x, best = self.x[who], np.inf
        around = lambda d: np.abs((d + 0.5) % 1 - 0.5)  # noqa: E731
        first = self.corner[0] * self.size[0]
        d = (self.corner * self.size[:, None] - first + 0.5) % 1 - 0.5
        lo, hi = d.min(0), (d + self.size[:, None]).max(0)
        d = np.maximum(around(x - first - (lo + hi) / 2) - (hi - lo) / 2, 0)
        bound = np.sqrt((d ** 2).sum(1))
        order = np.argsort(bound)
        asked = PAIRS // len(self.corner)
        for i in order[:asked]:
            size = self.size[:, None]
            d = np.maximum(around(x[i] - (self.corner + 0.5) * size) - size / 2, 0)
            best = min(best, np.sqrt((d ** 2).sum(1).min()))
        assert len(order) <= asked or bound[order[asked]] >= best
        return best

    def far_from(self, c):
        return np.sqrt((((self.x - c + 0.5) % 1 - 0.5) ** 2).sum(1))


def compare(v, what, path, c, options, inside, nearest):
    status, mine = inspect(*options, path)
    v.same(what + ': exit status', status, int((inside & c.heavy).any()))
    v.same(what + ': light and heavy', (mine['light'], mine['heavy']),
           (int((inside & ~c.heavy).sum()), int((inside & c.heavy).sum())))
    v.same(what + ': particles', sum(m['particles'] for m in mine['masses']), len(c.x))
    v.same(what + ': heavy ones', mine['heavy_in_box'], int(c.heavy.sum()))
    v.check(what + ': their mass', abs(mine['heavy_mass'] - c.m[inside & c.heavy].sum()), 1e-12)
    v.check(what + ': nearest, %.4f' % nearest, abs(mine['nearest'] - nearest), 1e-12)
    return mine


def check(v, name, path, c):
    inside = c.in_mask()
    mine = compare(v, name + ', mask', path, c, [], inside,
                   0.0 if (inside & c.heavy).any() else c.far_from_mask(c.heavy))
    v.check(name + ', mask: volume', abs(mine['volume'] / c.volume - 1), 1e-12)
    for at, radius in (((0.5, 0.5, 0.5), 0.1), ((0.98, 0.01, 0.5), 0.2), ((0.5, 0.52, 0.47), 0.02)):
        far = c.far_from(np.array(at))
        compare(v, '%s, sphere %s' % (name, at), path, c,
                ['--sphere', '%g,%g,%g,%g' % (*at, radius)], far <= radius, far[c.heavy].min())


def scatter(source, name, move):
    """A copy with moved particles; move: function from old positions to new ones."""
    name = os.path.join(name, os.path.basename(source))
    shutil.copytree(source, name)
    for f in sorted(os.listdir(name)):
        path = os.path.join(name, f)
        if f.startswith(('exact', 'checksum')):
            os.remove(path)
        if f.startswith('part_') and '.out' in f:
            r = tiny.Records(path)
            at = [k for k in range(1, len(r)) if r[k][1] == 8 * tiny.get(path, r[3][0], 'i')][:3]
            n = r[at[0]][1] // 8
            old = np.column_stack([np.fromfile(path, '<f8', n, offset=r[k][0]) for k in at])
            new = move(old)
            with open(path, 'r+b') as out:
                for d, k in enumerate(at):
                    out.seek(r[k][0])
                    out.write(np.ascontiguousarray(new[:, d]).tobytes())
    return name


def refusals(v, path):
    for what, argv, status, word in (
            ('a sphere of three numbers', ['--contamination', '--sphere', '1,1,1', path], 2,
             'a sphere must be'),
            ('too large a sphere', ['--contamination', '--sphere', '.5,.5,.5,.6', path], 2,
             'a sphere must be'),
            ('a sphere alone', ['--sphere', '.5,.5,.5,.1', path], 2,
             'only --halos or --contamination takes'),
            ('two questions', ['--contamination', '-d', path], 2, 'exclude each other'),
            ('nothing there', ['--contamination', 'nowhere'], 2, 'nowhere')):
        r = ptah.Run([ptah.program('inspect'), *argv], '.')
        v.same('%s: %s' % (what, r.err.strip()[:90]),
               (r.status, word in r.err, r.out), (status, True, ''))
    os.remove(os.path.join(path, 'namelist.txt'))
    r = ptah.Run([ptah.program('inspect'), '--contamination', path], '.')
    v.same('no namelist: ' + r.err.strip()[:90], (r.status, 'give --sphere' in r.err), (2, True))


CORNER = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=1
/
&OUTPUT_PARAMS
foutput=1
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
/
&AMR_PARAMS
levelmin=5
levelmax=6
/
&REFINE_PARAMS
m_refine=8.
ivar_refine=6
var_cut_refine=0.01
/
"""


def corner(v):
    """A mask close to two faces of the box and across a third one, with particles whose nearest
    cell is across these faces."""
    ptah.unpack_ics('.', 'ic_32')
    at, rng = np.array([0.85, 0.03, 0.86]), np.random.default_rng(2)
    sphere = '%g,%g,%g,0.1' % tuple(at)
    ptah.Run([ptah.program('genzoom'), '-q', '-i', '1', '--sphere', sphere, 'ics/ic_32'], '.')
    r = ptah.simulate(CORNER, os.getcwd(), options=['-o', 'corner'])
    path = scatter(r.outputs[-1], 'moved', lambda x: (at + 0.3 + 0.05 * rng.random(x.shape)) % 1)
    c, (status, mine) = Checkpoint(path), inspect(path)
    v.same('corner: exit status, particles of one mass',
           (status, mine['heavy_in_box'], mine['nearest']), (0, 0, None))
    want = c.far_from_mask(~c.heavy)
    v.check('corner: nearest light one, %.4f' % want,
            abs(mine['masses'][0]['nearest'] - want), 1e-12)


def main():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_zoom')
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_zoom.nml')) as f:
        text = f.read()
    r = ptah.simulate(text, os.getcwd(), ranks=2, options=['-o', 'out'], settings=RUN)
    path = r.outputs[-1]
    c = Checkpoint(path)
    check(v, 'as it is', path, c)
    natural = inspect(path)[1]
    ptah.Run([ptah.program('convert'), '-q', '-o', 'hdf5', path], '.')
    v.same('HDF5: the same', {**inspect('hdf5')[1], 'path': ''} == {**natural, 'path': ''}, True)
    rng = np.random.default_rng(1)
    far = scatter(path, 'scattered', lambda x: rng.random(x.shape))
    check(v, 'scattered', far, Checkpoint(far))
    corner(v)
    refusals(v, far)
    v.end()


if __name__ == '__main__':
    main()
