"""Invalid numbers in environment variables for a device; device parameters in a run without a
device.

    environment.py

PTAH_DEVICES, PTAH_DEVICE_KB and PTAH_DEVICE_CHOICE must be whole numbers from 1: other texts give
one sentence that names the variable and its text, and exit status 2, even if only one rank has it.
The log names n_cuda_streams, gpu_auto_tune, gpu_device and gpu_seed where nothing is to run on a
device.

Example of a fault caught: strtol whose end pointer is not checked.
"""
# test: tier=quick ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import stop  # noqa: E402

SETTINGS = ['run_params/nstepmax=1', 'run_params/gpu_hydro=.true.',
            "run_params/gpu_device='host'"]


def run(ranks, name, text, only=''):
    """Runs with the variable on all ranks, or on one rank of Open MPI."""
    with open('run.nml', 'w') as f:
        f.write(stop.ENDLESS)
    command = '[ "${OMPI_COMM_WORLD_RANK:-0}" = "${ONLY:-${OMPI_COMM_WORLD_RANK:-0}}" ] || ' \
              'unset %s; exec "$0" "$@"' % name
    argv = ptah.mpirun(ranks) + ['sh', '-c', command, ptah.program('simulate'), '-o',
                                 'out_' + name, 'run.nml', *SETTINGS]
    return ptah.Run(argv, '.', {name: text, 'ONLY': only})


def main():
    v = ptah.Verdict()
    for name in ('PTAH_DEVICES', 'PTAH_DEVICE_KB', 'PTAH_DEVICE_CHOICE'):
        for text in ('0', 'abc', '', '-1', '2x', '1.5', '99999999999999999999'):
            r = run(1, name, text)
            said = [s for s in r.err.splitlines() if s.startswith('simulate:')]
            v.same('%s=%r: status, sentences' % (name, text),
                   (r.status, len(said), "%s='%s'" % (name, text) in ''.join(said)), (2, 1, True))
        r = run(2, name, '0', only='1')
        v.same('%s=0 on rank 1: status' % name, (r.status, name in r.err), (2, True))
        v.same('%s=100000: status' % name, run(1, name, '100000').status, 0)
    given = ['n_cuda_streams=4', 'gpu_auto_tune=.true.', "gpu_device='host'", 'gpu_seed=3']
    r = ptah.simulate(stop.ENDLESS, 'idle', settings=['run_params/nstepmax=1'] + [
        'run_params/' + s for s in given])
    vain = [line for line in r.err.splitlines() if ' no effect unless ' in line]
    for name in (s.split('=')[0] for s in given):
        v.same(name + ' is named', any('run/' + name in line for line in vain), True)
    v.end()


if __name__ == '__main__':
    main()
