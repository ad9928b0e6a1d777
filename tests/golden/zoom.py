"""A zoom end to end: initial conditions without masks are refused at once, genzoom writes the
masks, and the run that follows has the octs of the reference run, the mask region alone refined,
and the same digest on any number of ranks.

Example of a fault caught: a mask of the wrong level, offset or order of the axes; a mass cut that
lets heavy particles count.
"""
# test: tier=check timeout=400 ranks=5
import glob
import json
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import golden  # noqa: E402
import read_ramses  # noqa: E402

OCTS_LIMIT = 5e-3
SECONDS = 20
STEPS = ['output_params/foutput=6', 'run_params/nstepmax=7']
BASE = 5
# base cells by which refinement exceeds the mask: at the start (nexpand, graded levels), at the end
START, END = 3, 5


def namelist(zoom):
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_zoom.nml')) as f:
        text = f.read()
    for name in ('ivar_refine', 'mass_cut_refine', 'var_cut_refine'):
        text = re.sub(r'\n%s=.*' % name, '\n%s=%s' % (name, zoom['namelist'][name]), text)
    return text


def make_masks(v):
    ptah.unpack_ics('.', 'ic_zoom')
    first = {}
    for path in glob.glob('ics/ic_zoom/level_*/ic_pvar_00001'):
        with open(path, 'rb') as f:
            first[os.path.dirname(path)] = f.read()
        os.remove(path)
    values = {'ivar_refine': 11, 'mass_cut_refine': -1, 'var_cut_refine': 0.01}
    files = ["init_params/initfile(%d)='../ics/ic_zoom/level_%03d'" % (i + 1, BASE + i)
             for i in range(3)]
    refused = ptah.simulate(namelist({'namelist': values}), 'refused', settings=files,
                            timeout=SECONDS, must_work=False)
    v.same('without masks: exit status', refused.status, 2)
    v.same('without masks: a sentence',
           len(re.findall(r'^simulate: .*level_005: has no ic_pvar_00006', refused.err, re.M)), 1)
    r = ptah.Run([ptah.program('genzoom'), '-j', '--omega-b', '0.047', 'ics/ic_zoom'], '.')
    v.same('genzoom: exit status', (r.status, r.err), (0, ''))
    for folder, data in first.items():  # the masks of MUSIC, which the reference run had
        with open(os.path.join(folder, 'ic_pvar_00006'), 'rb') as f:
            v.same('mask of %s as the reference run had it' % os.path.basename(folder),
                   f.read() == data, True)
    return json.loads(r.out)


def base_cells(s):
    """Whether each cell of the base level is refined, in [z, y, x]."""
    place = read_ramses.starts(s.level) >> 3 * (read_ramses.CURVE_LEVELS - BASE)
    refined = np.zeros(8 ** BASE, bool)
    refined[place[s.level > BASE]] = True
    n = 2 ** BASE
    z, y, x = np.indices((n, n, n)).reshape(3, -1)
    return refined[read_ramses.morton(np.array([x, y, z]), BASE)].reshape(n, n, n)


def check_region(v, zoom, s, growth):
    base = zoom['levels'][0]
    lo, hi = np.array(base['mask_first'])[::-1], np.array(base['mask_last'])[::-1]
    refined = base_cells(s)
    inside = refined[lo[0]:hi[0] + 1, lo[1]:hi[1] + 1, lo[2]:hi[2] + 1]
    v.same('all of the mask is refined', bool(inside.all()), True)
    at = np.argwhere(refined)
    v.check('refined base cells from the mask', max((lo - at).max(), (at - hi).max()), growth)


def main():
    v = ptah.Verdict()
    zoom = make_masks(v)
    text, digests = namelist(zoom), {}
    theirs, _ = golden.read(os.path.join(ptah.DATA, 'golden', 'cosmo_zoom_00002.xz'))
    r = ptah.simulate(text, os.getcwd(), options=['-o', 'out'])
    print('%.1f s' % r.seconds)
    check_region(v, zoom, read_ramses.load(ptah.output(r, 1)), START)
    mine = read_ramses.load(ptah.output(r, 2))
    check_region(v, zoom, mine, END)
    v.check('base cells refined here or there only',
            float((base_cells(mine) != base_cells(theirs)).mean()), OCTS_LIMIT)
    for l, n in sorted(theirs.octs.items()):
        v.check('octs on level %d, of %d' % (l, n), abs(mine.octs.get(l, 0) - n) / n, OCTS_LIMIT)
    v.same('levels', sorted(mine.octs), sorted(theirs.octs))
    for ranks in (1, 3, 5):  # first steps: refinement beyond the files, load balance
        shutil.rmtree('out', ignore_errors=True)
        r = ptah.simulate(text, os.getcwd(), ranks=ranks, options=['-o', 'out'], settings=STEPS)
        digests[ranks] = ptah.digest(ptah.output(r, 2))
        v.same('digest on %d ranks, %d lines' % (ranks, digests[1].count('\n')),
               digests[ranks] == digests[1], True)
    v.end()


if __name__ == '__main__':
    main()
