"""What a box with gas, dark matter and gravity on a device moves between host and device in a
coarse step is at most 2 % of its mesh, first copies and outputs aside: with the base level by
multigrid, and in Fourier space (gpu_fft).

On one rank, with refined levels, whose octs come and go; by the emulated device, which counts what
a GPU would move. One-line faults it catches: a hierarchy of multigrid or a list of faces that the
host makes, all levels of the mesh sent again for one that is new, a criterion of refinement that
comes as a byte a cell.
"""
# test: tier=check timeout=240
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import digest  # noqa: E402
import ptah  # noqa: E402

MOST = 2.0  # % of the mesh
SOLVERS = {'multigrid': ['run_params/use_fftw=.false.'],
           'Fourier': ['run_params/use_fftw=.true.', 'run_params/gpu_fft=.true.']}
SETTINGS = ['run_params/gpu_hydro=.true.',
            'run_params/gpu_poisson=.true.', 'run_params/gpu_particles=.true.',
            "run_params/gpu_device='host'", 'run_params/nstepmax=6', 'amr_params/levelmax=6',
            'refine_params/m_refine=2.6', 'output_params/foutput=100']


def main():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    for solver, settings in SOLVERS.items():
        r = ptah.simulate(digest.CASES['cosmo'], '.', settings=SETTINGS + settings,
                          options=['--force'])
        octs = [int(n) for n in re.findall(r'Level +6 has +(\d+)', r.err)]
        share = [float(x) for x in re.findall(r'([\d.]+) % of the mesh', r.err)]
        v.same('lines about what a step moves', len(share), 1)
        v.same('the finer level has octs', bool(octs) and octs[-1] > 500, True)
        v.same('%s: %.2f %% of the mesh is at most %g' % (solver, share[0], MOST),
               share[0] <= MOST, True)
    v.end()


main()
