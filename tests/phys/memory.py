"""Memory does not grow with steps: a dense ball crosses the periodic box on a mesh that follows it,
over 220 coarse steps.

The max memory per oct in the last fifth of the steps, as counted by Ptah, must equal that in the
second fifth, and so must the memory that only the system counts; memory of a single step must be
freed. Example of a fault caught: a list of adapt_refine that is not freed.
"""
# test: 1 2 tier=check timeout=300 ranks=2
import ctypes
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

STEPS = 220
PR_SET_THP_DISABLE = 41  # linux/prctl.h
HELD_LIMIT, BEYOND_LIMIT = 0.02, 0.1  # relative growth; beyond: including buffers of MPI

# names of base/mem for memory of a single step
PASSING = ('mesh scratch', 'mesh births', 'ghost buffers', 'hydro tiles',
           'deposit', 'multigrid', 'balance', 'checkpoint', 'file buffer')

NAMELIST = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
nsubcycle=1
nremap=7
ncontrol=50
nstepmax=%d
/
&AMR_PARAMS
levelmin=4
levelmax=5
nexpand=1
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.5
y_center=0.5,0.5
z_center=0.5,0.5
length_x=10.0,0.3
length_y=10.0,0.3
length_z=10.0,0.3
exp_region=10.0,2.0
d_region=1.0,4.0
u_region=3.0,3.0
v_region=1.0,1.0
p_region=1.0,1.0
/
&OUTPUT_PARAMS
foutput=100
noutput=1
tout=100.0
/
&HYDRO_PARAMS
gamma=1.4
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&REFINE_PARAMS
err_grad_d=0.15
interpol_var=0
interpol_type=1
/
""" % STEPS


def growth(lines, value):
    """Ratio of max value(line) in the last fifth of the run to that in the second fifth."""
    n = len(lines) // 5
    return max(map(value, lines[-n:])) / max(map(value, lines[n:2 * n])) - 1


def main():
    v = ptah.Verdict()
    # The kernel makes huge pages of small ones when it has time, which adds 2 MiB at any step.
    v.same('no huge pages', ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0)
    for ranks in map(int, sys.argv[1:]):
        folder = '%d' % ranks
        r = ptah.simulate(NAMELIST, folder, ranks, options=['-j', 'steps'])
        with open(os.path.join(folder, 'steps')) as f:
            lines = [json.loads(x) for x in f]
        end, lines = lines[-1], lines[:-1]
        octs = [x['octs'] for x in lines]
        print('     %d ranks: %.1f s, %d to %d octs' % (ranks, r.seconds, min(octs), max(octs)))
        v.same('a line a coarse step', len(lines), STEPS)
        v.same('the mesh changes', len(set(octs)) > 20, True)
        v.check('%d ranks: growth of what is held an oct' % ranks,
                growth(lines, lambda x: x['held_bytes'] / x['octs']), HELD_LIMIT)
        v.check('%d ranks: growth of what is resident beyond' % ranks,
                growth(lines, lambda x: x['rss_bytes'] - x['held_bytes']), BEYOND_LIMIT)
        left = {k: x[2] for k, x in end['memory_bytes'].items() if k in PASSING and x[2]}
        v.same('%d ranks: nothing is left of what lives within a step' % ranks, left, {})
        named = sum(x[0] for x in end['memory_bytes'].values())
        v.check('the table by name adds up at the peak',
                abs(named / end['peak_bytes'] - 1), 1e-3 if ranks > 1 else 0)
    v.end()


if __name__ == '__main__':
    main()
