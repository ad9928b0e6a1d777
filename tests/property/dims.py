"""One digest in one and two dimensions, and with a magnetic field in any, with refinement and
boundaries, whatever the number of ranks and threads, the ordering and the format, on a device or
not, and after a restart.

    dims.py CASE [small|all]    a case of tests/data/golden; cases of gravity get the particles of
                                d1_part or d2_part; small: few steps, a few of the variants

Example of a fault caught: a sum over the eight numbers of an oct where it has two or four cells,
ghosts that look across a missing axis, a format that loses the velocities of missing axes,
particles deposited in the order of ranks, an electromotive force of the rank's own fine octs only,
a kernel that adds the forces at an edge in another order.
"""
# test: d1_grav_iso small tier=quick timeout=60 ranks=2
# test: t_sod-tube tier=check timeout=120 ranks=2
# test: d2_channel tier=check timeout=120 ranks=2
# test: d1_grav_iso tier=check timeout=300 ranks=2
# test: d2_grav_iso tier=check timeout=300 ranks=2
# test: d2_sedov tier=long timeout=600 ranks=2
# test: d1_grav_refl all tier=long timeout=1800 ranks=2
# test: d1_part all tier=long timeout=900 ranks=2
# test: d2_grav_iso all tier=long timeout=1800 ranks=2
# test: d2_grav_per all tier=long timeout=1800 ranks=2
# test: d2_grav_cg all tier=long timeout=1800 ranks=2
# test: d2_part all tier=long timeout=900 ranks=2
# test: d1_gas_part tier=check timeout=120 ranks=2
# test: d2_gas_part tier=check timeout=120 ranks=2
# test: d2_isolated tier=long timeout=120 ranks=2
# test: m2_bnda_imp small tier=quick timeout=60 ranks=2
# test: m1_bw_refl tier=check timeout=120 ranks=2
# test: m2_bnda_imp tier=check timeout=120 ranks=2
# test: m3_amr_hlld tier=check timeout=200 ranks=2
# test: m3_amr_pfix tier=check timeout=200 ranks=2
# test: m2_bnda_refl all tier=long timeout=900 ranks=2
# test: m3_amr_iv1 all tier=long timeout=900 ranks=2
import lzma
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

THERE = ["run_params/gpu_device='host'", *('run_params/gpu_%s=.true.' % part
                                           for part in ('hydro', 'poisson', 'particles'))]
# The solver of ranks, not the one of few octs.
APART = 'poisson_params/mg_shared_octs=8'
# folder: ranks, threads, ordering, format, further settings
SMALL = {'two': (2, 1, 'hilbert', 'original', ()), 'threads': (1, 2, 'ksection', 'original', ()),
         'hdf5': (3, 1, 'ksection', 'hdf5', ()), 'there': (1, 1, 'hilbert', 'original', THERE)}
SOME = {**SMALL, 'three': (3, 1, 'ksection', 'original', (APART,)),
        'five': (5, 1, 'hilbert', 'original', ()),
        'there_two': (2, 1, 'hilbert', 'hdf5', (*THERE, 'run_params/check_ghosts=.true.')),
        'there_three': (3, 1, 'ksection', 'original', (*THERE, APART))}
ALL = {**SOME, 'eight': (8, 1, 'ksection', 'original', (APART,)),
       'both': (3, 2, 'hilbert', 'hdf5', ()), 'one_hdf5': (1, 1, 'ksection', 'hdf5', ()),
       'there_eight': (8, 1, 'hilbert', 'hdf5', THERE),
       'there_threads': (2, 2, 'ksection', 'original',
                         (*THERE, APART, 'run_params/gpu_seed=5'))}
# Walls for three dimensions: reflecting, outflow, and an imposed state with a field.
WALLS = ['boundary_params/' + x for x in (
    'nboundary=4', 'ibound_min=-1,1,-1,-1', 'ibound_max=-1,1,1,1', 'jbound_min=0,0,-1,1',
    'jbound_max=0,0,-1,1', 'bound_type=1,2,3,1', 'd_bound=1,1,1.5,1', 'p_bound=1,1,0.3,1',
    'v_bound=0,0,0.4,0', 'a_bound=0,0,0.5,0', 'b_bound=0,0,0.5,0', 'c_bound=0,0,0.2,0')]
AGAIN = ('two', 'hdf5', 'there', 'there_three')


def with_particles(case):
    """Settings that give a case of gravity the particles of a golden run of as many dimensions."""
    if '_grav_' not in case:
        return []
    os.makedirs('ics', exist_ok=True)
    with lzma.open(os.path.join(ptah.DATA, 'golden', case[:2] + '_part.ic_part.xz')) as f:
        with open('ics/ic_part', 'wb') as copy:
            copy.write(f.read())
    return ['run_params/pic=.true.', "init_params/filetype='ascii'",
            "init_params/initfile='%s'" % os.path.abspath('ics')]


def with_walls(case):
    """Settings of the cases in three dimensions, which have no walls of their own."""
    return WALLS if case.startswith('m3') else []


def run(case, steps, folder, ranks, threads, ordering, form, further, options=()):
    settings = ['run_params/ndim=%d' % (int(case[1]) if case[1].isdigit() else 1),
                'run_params/mhd=.%s.' % ('true' if case[0] == 'm' else 'false'),
                'run_params/ordering=' + ordering, 'output_params/outformat=' + form,
                'run_params/nremap=3', 'run_params/nstepmax=%d' % steps,
                'output_params/foutput=%d' % (steps // 2), 'output_params/noutput=1',
                'output_params/tout=1e9', *further]
    ptah.unpack_particles(case, folder)
    r = ptah.simulate(os.path.join(ptah.DATA, 'golden', case + '.nml'), folder, ranks, threads,
                      settings, options)
    if THERE[0] in further:
        ptah.check_device(r.err)
    return r.outputs


def main():
    case, how = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ''
    heavy = '_grav_' in case or '_part' in case
    steps = 4 if heavy or case.startswith(('m1', 'm3')) else 12
    variants = {'small': SMALL, 'all': ALL}.get(how, SOME)
    always = with_particles(case) + with_walls(case)
    always += ['amr_params/levelmax=%d' % (7 if case.startswith('d1') else 6)
               ] if heavy and (how != 'all' or case.startswith('d1_grav')) else []
    v = ptah.Verdict()
    plain = (1, 1, 'ksection', 'original')
    first = run(case, steps, 'one', *plain, always)
    want = ptah.digest(first[-1])
    v.same('the digests of two outputs differ', want != ptah.digest(first[-2]), True)
    other = run(case, steps, 'other', *plain, [*always, 'hydro_params/courant_factor=0.79',
                                               'poisson_params/epsilon=1e-2'])
    v.same('the digest of another run differs', want != ptah.digest(other[-1]), True)
    for name, (*variant, further) in variants.items():
        found = run(case, steps, name, *variant, [*always, *further])
        v.same('%s: lines of the digest that differ' % name,
               ptah.changed(ptah.digest(found[-1]), want), [])
        if name in AGAIN:
            again = run(case, steps, name + '_again', 3 if variant[0] == 2 else 2, 1, 'ksection',
                        'original', [*always, *further], ['-r', os.path.abspath(found[-2])])
            v.same('%s: restart: lines that differ' % name,
                   ptah.changed(ptah.digest(again[-1]), want), [])
    v.end()


if __name__ == '__main__':
    main()
