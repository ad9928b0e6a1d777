"""Adjacent cells differ by at most one level, for any refinement criterion: each run checks this
after every refinement (check_ghosts), and has the digest of one rank.

    graded.py zoom           a zoom whose base level has nexpand=0, and whose thresholds fall
    graded.py NUMBER SEED    boxes drawn at random: clusters of fast particles and blasts,
                             thresholds of mass that fall from level to level, or a criterion of
                             gradients; nexpand 0 or 1, one or two sub-steps, 3 or 4 levels below
                             the base

Example of a fault caught: a flag of a finer level that is kept although the coarser one is held
between its sub-steps; an oct with children that is removed because it is held.
"""
# test: zoom tier=check timeout=200 ranks=3
# test: 5 8 tier=check timeout=300 ranks=3
# test: 60 100 tier=long timeout=3600 ranks=3
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

ZOOM = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=2
nsubcycle=2,2,2
use_fftw=.false.
/
&AMR_PARAMS
levelmin=5
levelmax=8
nexpand=0,1,1,1
/
&INIT_PARAMS
filetype='grafic'
omega_b=0.047
initfile(1)='ics/ic_zoom/level_005'
initfile(2)='ics/ic_zoom/level_006'
initfile(3)='ics/ic_zoom/level_007'
/
&OUTPUT_PARAMS
foutput=2
aout=1.0
/
&REFINE_PARAMS
m_refine=3.0,0.9,0.5,0.3
ivar_refine=6
var_cut_refine=0.01
mass_cut_refine=2e-05
/
&HYDRO_PARAMS
gamma=1.6666667
/
"""

BOX = """
&RUN_PARAMS
hydro=.true.
pic=.true.
poisson=.true.
nsubcycle=%(nsubcycle)s
nstepmax=5
/
&AMR_PARAMS
levelmin=%(levelmin)d
levelmax=%(levelmax)d
nexpand=%(nexpand)s
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='.'
nregion=2
region_type(1:2)=2*'square'
x_center=0.5,0.4
y_center=0.5,0.6
z_center=0.5,0.55
length_x=10.0,0.1
length_y=10.0,0.1
length_z=10.0,0.1
exp_region=10.0,2.0
d_region=1.0,%(density).3f
p_region=0.1,%(pressure).1f
/
&OUTPUT_PARAMS
foutput=5
tout=1e9
/
&HYDRO_PARAMS
gamma=1.4
slope_type=1
/
&REFINE_PARAMS
m_refine=%(m_refine)s
mass_sph=%(mass_sph)g
%(gradient)s
/
"""


def words(values):
    return ','.join(str(x) for x in values)


def draw(seed, folder):
    """A namelist; its particles, in folder/ic_part, form three clusters that cross a base cell in
    about a step."""
    r = random.Random(seed)
    levelmin = r.choice([3, 4])
    depth = r.randint(3, 4)
    first = r.choice([1.0, 3.0, 6.0])
    with open(os.path.join(folder, 'ic_part'), 'w') as f:
        for _ in range(3):
            x, v = [r.random() for _ in range(3)], [r.gauss(0, 3) for _ in range(3)]
            for _ in range(20):
                f.write('%.9g %.9g %.9g %.6g %.6g %.6g 0.001\n' % (
                    *((c + r.gauss(0, 0.02)) % 1 for c in x), *(c + r.gauss(0, 0.3) for c in v)))
    return BOX % {
        'nsubcycle': words(r.choice([1, 2, 2, 2]) for _ in range(depth + 1)),
        'levelmin': levelmin, 'levelmax': levelmin + depth,
        'nexpand': words(r.choice([0, 0, 0, 1]) for _ in range(depth + 1)),
        'density': r.uniform(0.5, 30), 'pressure': r.choice([0.1, 100, 1e4]),
        'm_refine': words(round(first * 0.4 ** i, 4) for i in range(depth + 1)),
        'mass_sph': r.choice([2e-3, 0.1]),
        'gradient': r.choice(['', '', 'err_grad_p=0.1', 'err_grad_d=0.2'])}


def check(v, name, text, folder):
    digest = None
    for ranks in (1, 3):
        out = os.path.join(folder, str(ranks))
        os.makedirs(out)
        for what in ('ics', 'ic_part'):
            if os.path.exists(os.path.join(folder, what)):
                os.symlink(os.path.join('..', what), os.path.join(out, what))
        r = ptah.simulate(text, out, ranks, 1, ['run_params/check_ghosts=.true.'])
        digest = digest or ptah.digest(r.outputs[-1])
        v.same('%s, %d ranks: lines of the digest that differ' % (name, ranks),
               ptah.changed(ptah.digest(r.outputs[-1]), digest), [])


def main():
    v = ptah.Verdict()
    if sys.argv[1] == 'zoom':
        os.mkdir('zoom')
        ptah.unpack_ics('zoom', 'ic_zoom')
        check(v, 'zoom', ZOOM, 'zoom')
    else:
        for seed in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[1])):
            folder = 'draw_%d' % seed
            os.mkdir(folder)
            check(v, 'draw %d' % seed, draw(seed, folder), folder)
    v.end()


if __name__ == '__main__':
    main()
