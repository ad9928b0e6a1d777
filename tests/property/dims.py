"""One digest in one and two dimensions, with refinement and boundaries, whatever the number of
ranks and threads, the ordering and the format, and after a restart.

    dims.py CASE    a case of tests/data/golden

Example of a fault caught: a sum over the eight numbers of an oct where it has two or four cells,
ghosts that look across a missing axis, a format that loses the velocities of missing axes,
particles deposited in the order of ranks.
"""
# test: t_sod-tube tier=check timeout=120 ranks=2
# test: d2_channel tier=check timeout=120 ranks=2
# test: d1_gas_part tier=check timeout=120 ranks=2
# test: d2_gas_part tier=check timeout=120 ranks=2
# test: d2_isolated tier=long timeout=120 ranks=2
# test: d2_sedov tier=long timeout=300 ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

STEPS = 12
# folder: ranks, threads, ordering, format
VARIANTS = {'two': (2, 1, 'hilbert', 'original'), 'three': (3, 1, 'ksection', 'original'),
            'five': (5, 1, 'hilbert', 'original'), 'threads': (1, 2, 'ksection', 'original'),
            'hdf5': (1, 1, 'ksection', 'hdf5')}


def run(case, folder, ranks, threads, ordering, form, options=(), further=()):
    settings = ['run_params/ndim=%d' % (2 if case.startswith('d2') else 1),
                'run_params/ordering=' + ordering, 'output_params/outformat=' + form,
                'run_params/nremap=3', 'run_params/nstepmax=%d' % STEPS,
                'output_params/foutput=%d' % (STEPS // 2), 'output_params/noutput=1',
                'output_params/tout=1e9', *further]
    ptah.unpack_particles(case, folder)
    r = ptah.simulate(os.path.join(ptah.DATA, 'golden', case + '.nml'), folder, ranks, threads,
                      settings, options)
    return r.outputs


def main():
    case = sys.argv[1]
    v = ptah.Verdict()
    first = run(case, 'one', 1, 1, 'ksection', 'original')
    want = ptah.digest(first[-1])
    v.same('the digests of two outputs differ', want != ptah.digest(first[-2]), True)
    other = run(case, 'other', 1, 1, 'ksection', 'original',
                further=['hydro_params/courant_factor=0.79'])
    v.same('the digest of another run differs', want != ptah.digest(other[-1]), True)
    for name, variant in VARIANTS.items():
        found = run(case, name, *variant)
        v.same('%s: lines of the digest that differ' % name,
               ptah.changed(ptah.digest(found[-1]), want), [])
        if name in ('two', 'hdf5'):
            again = run(case, name + '_again', 3, 1, 'ksection', 'original',
                        ['-r', os.path.abspath(found[-2])])
            v.same('%s: restart: lines that differ' % name,
                   ptah.changed(ptah.digest(again[-1]), want), [])
    v.end()


if __name__ == '__main__':
    main()
