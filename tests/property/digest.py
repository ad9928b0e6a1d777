"""Bitwise reproducibility: the digest of a checkpoint does not depend on ranks, threads, tile
sizes, or domains.

    digest.py CASE VARIANTS     CASE: sedov (gas, 4 levels), cosmo (gas, particles, gravity, 4
                                levels), dark (the same without gas), cooling (with it), cool (by
                                what devices have kernels for), collapse (gas and gravity, 3
                                levels), finer (particles on a base mesh of eight cells each), field
                                (sedov with a magnetic field and pressure_fix), magnetic (gas with
                                a magnetic field, 3 levels), galaxy (gas that cools, stars,
                                supernovae, black holes), blasts, momentum and yields (other
                                supernovae) or criteria (galaxy with the Jeans criterion);
                                VARIANTS: few, short, tiles, ghosts, transports, windows, device,
                                devices, choice, full, mixed, fft or all

short: 1, 2, 3, 5, 7 and 8 ranks, one and two threads, both orderings, all transports, in few runs.

device: gas, gravity and particles on an emulated device (gpu_hydro, gpu_poisson, gpu_particles),
whose orders come from several seeds, on one to three ranks; with seeds other than 0 also with
check_ghosts: no phase reads a stale copy of a field. tests/gpu/run uses a GPU instead.

full: the emulated device has memory for the first levels only: the log reports it, and the run
continues on the CPU.

fft: with gpu_fft, on ranks and threads without a device, and with one.

choice: as device, but device or CPU is drawn from the seed for each phase and rank; a last run
chooses by time (gpu_auto_tune).

mixed: rank 0 has no device, the others have one: messages must not differ.

devices: as device, on 1, 2 and 3 ranks of a node that has one or two devices.

windows: ranks of a node that read each other's memory, nodes of two or three ranks, and none.

transports: each transport, both orderings, 2 to 7 ranks, some with groups of unequal sizes (up to
12 ranks: tests/unit/walk_test.c).

ghosts: on 3 ranks with check_ghosts: no phase of the step reads a stale ghost, a source term that
does nothing changes nothing, and the digest is that of one rank.

Example of a fault caught: a sum over cells with MPI_Allreduce in doubles, a ghost that is one
exchange old, a loop order that follows the particles' arrival.
"""
# test: sedov few tier=quick timeout=60 ranks=2
# test: sedov all tier=check timeout=300 ranks=2
# test: sedov tiles tier=check timeout=120
# test: cosmo tiles tier=check timeout=120
# test: sedov device tier=check timeout=120 ranks=3
# test: field device tier=check timeout=240 ranks=3
# test: field choice tier=check timeout=240 ranks=3
# test: field full tier=check timeout=240 ranks=2
# test: sedov devices tier=check timeout=300 ranks=3
# test: cosmo device tier=check timeout=240 ranks=3
# test: collapse device tier=check timeout=240 ranks=3
# test: dark device tier=check timeout=120 ranks=3
# test: dark fft tier=check timeout=240 ranks=3
# test: cosmo fft tier=check timeout=300 ranks=3
# test: cool device tier=check timeout=240 ranks=3
# test: galaxy device tier=check timeout=240 ranks=3
# test: blasts device tier=check timeout=240 ranks=3
# test: momentum device tier=check timeout=240 ranks=3
# test: yields device tier=check timeout=240 ranks=3
# test: blasts mixed tier=check timeout=240 ranks=3
# test: momentum mixed tier=check timeout=240 ranks=3
# test: blasts full tier=check timeout=240 ranks=2
# test: momentum full tier=check timeout=240 ranks=2
# test: criteria device tier=check timeout=240 ranks=3
# test: galaxy choice tier=check timeout=240 ranks=3
# test: galaxy full tier=check timeout=240 ranks=2
# test: sedov choice tier=check timeout=120 ranks=2
# test: cosmo choice tier=check timeout=240 ranks=3
# test: collapse choice tier=check timeout=240 ranks=3
# test: cool choice tier=check timeout=240 ranks=2
# test: sedov full tier=check timeout=240 ranks=2
# test: dark full tier=check timeout=240 ranks=2
# test: collapse full tier=check timeout=240 ranks=3
# test: cosmo full tier=check timeout=240 ranks=3
# test: cosmo mixed tier=check timeout=240 ranks=3
# test: sedov ghosts tier=quick timeout=60 ranks=3
# test: cosmo ghosts tier=check timeout=120 ranks=3
# test: sedov transports tier=check timeout=300 ranks=3
# test: sedov windows tier=check timeout=300 ranks=3
# test: cosmo windows tier=long timeout=900 ranks=3
# test: cosmo transports tier=long timeout=900 ranks=3
# test: cooling ghosts tier=check timeout=180 ranks=3
# test: cooling few tier=check timeout=180 ranks=2
# test: magnetic short tier=check timeout=300 ranks=3
# test: finer few tier=check timeout=120 ranks=2
# test: cosmo few tier=long timeout=300 ranks=2
# test: cosmo all tier=check timeout=600 ranks=2
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import yields  # noqa: E402


def edited(text, *changes):
    """The text with other parts: each of these must be there once."""
    for what, to in changes:
        if text.count(what) != 1:
            raise SystemExit('%r is %d times in a namelist' % (what, text.count(what)))
        text = text.replace(what, to)
    return text


SEDOV = """
&RUN_PARAMS
hydro=.true.
nsubcycle=1,1,2,2
nstepmax=9
/
&AMR_PARAMS
levelmin=4
levelmax=7
nexpand=1
boxlen=0.5
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.25,0.21
y_center=0.25,0.27
z_center=0.25,0.22
length_x=10.0,0.05
length_y=10.0,0.06
length_z=10.0,0.07
exp_region=10.0,2.0
d_region=1.0,1.0
u_region=0.1,0.3
p_region=1e-2,4e2
/
&OUTPUT_PARAMS
foutput=8
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
err_grad_p=0.1
interpol_var=1
interpol_type=1
/
"""

# The base level is solved by Fourier transforms, finer ones by multigrid. The criterion splits
# cells much earlier than usual, so that four levels are in use by a = 0.06.
COSMO = """
&RUN_PARAMS
cosmo=.true.
use_fftw=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,1,2,2
nstepmax=13
/
&OUTPUT_PARAMS
foutput=12
noutput=1
aout=1.0
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
/
&AMR_PARAMS
levelmin=5
levelmax=8
nexpand=1
/
&POISSON_PARAMS
epsilon=1d-4
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
pressure_fix=.true.
beta_fix=0.5
/
&REFINE_PARAMS
m_refine=4.0,0.9,0.3
interpol_var=1
interpol_type=0
/
"""

# COSMO with gas that cools, metals and a temperature floor, after reionisation.
COOLING = COSMO + """
&COOLING_PARAMS
cooling=.true.
metal=.true.
z_ave=0.1
z_reion=40
self_shielding=.true.
/
&SF_PARAMS
T2_star=10.
n_star=1.
/
"""

# Collapse of gas, partly at the boundary of a refined level.
COLLAPSE = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
nsubcycle=1,1,2
nstepmax=5
/
&AMR_PARAMS
levelmin=4
levelmax=7
nexpand=1
/
&INIT_PARAMS
nregion=3
region_type(1)='square'
region_type(2)='square'
region_type(3)='square'
x_center=0.5,0.53,0.6
y_center=0.5,0.48,0.45
z_center=0.5,0.51,0.5
length_x=10.0,0.3,0.12
length_y=10.0,0.3,0.12
length_z=10.0,0.3,0.12
exp_region=10.0,2.0,2.0
d_region=0.01,1.0,8.0
p_region=0.001,0.001,0.001
/
&OUTPUT_PARAMS
foutput=4
noutput=1
tout=100.0
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&POISSON_PARAMS
epsilon=1d-5
mg_shared_octs=64
/
&REFINE_PARAMS
m_refine=2.0,2.0,0.4
mass_sph=6.103515625e-5
interpol_var=1
interpol_type=0
/
"""

# Dark matter alone, on a base mesh finer than the files.
FINER = edited(COSMO, ('m_refine=4.0,0.9,0.3', 'm_refine=0.7,1.0,1.0'), ('\nhydro=.true.', ''),
               ('levelmin=5', 'levelmin=6'))

# A blast in a magnetic field.
FIELD = edited(SEDOV, ('levelmax=7', 'levelmax=6'), ('nstepmax=9', 'nstepmax=6'),
               ('foutput=8', 'foutput=5'), ('hydro=.true.', 'hydro=.true.\nmhd=.true.'),
               ("riemann='hllc'", "riemann='hlld'\nriemann2d='hlld'"),
               ('d_region', 'a_region=0.4,0.4\nb_region=-0.7,-0.7\nc_region=0.2,0.2\nd_region'))

# Gas that cools, stars and their supernovae, and black holes that grow and heat the gas.
GALAXY = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
pic=.true.
sink=.true.
nsubcycle=1,2,2
nstepmax=3
/
&AMR_PARAMS
levelmin=3
levelmax=5
boxlen=1.0
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.4
y_center=0.5,0.55
z_center=0.5,0.3
length_x=10.0,0.3
length_y=10.0,0.3
length_z=10.0,0.3
exp_region=10.0,10.0
d_region=1.0,4.0
u_region=0.0,0.3
p_region=0.1,0.1
/
&OUTPUT_PARAMS
foutput=2
tout=1e9
/
&HYDRO_PARAMS
gamma=1.6666667
slope_type=1
riemann='hllc'
pressure_fix=.true.
beta_fix=0.5
/
&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d20
/
&REFINE_PARAMS
err_grad_d=0.4
mass_sph=1e-6
interpol_var=1
interpol_type=0
/
&COOLING_PARAMS
cooling=.true.
metal=.true.
self_shielding=.true.
z_ave=0.3
/
&SF_PARAMS
T2_star=100
g_star=1.6666667
n_star=10.0
eps_star=0.2
m_star=20.0
sf_log_properties=.true.
/
&FEEDBACK_PARAMS
eta_sn=0.2
yield=0.1
t_sne=0.05
delayed_cooling=.true.
t_diss=20
/
&SINK_PARAMS
create_sinks=.true.
smbh=.true.
agn=.true.
mass_sink_seed=1e2
mass_smbh_seed=1e2
mass_halo_AGN=1e3
mass_clump_AGN=1e2
accretion_scheme='bondi'
eddington_limit=.true.
n_sink=1
ir_cloud=2
T2_min=0
/
&CLUMPFIND_PARAMS
ivar_clump=1
density_threshold=2
saddle_threshold=200
relevance_threshold=1.01
mass_threshold=1
/
"""

# Stars whose debris become blast waves; others push the gas around, or return mass by a table.
BLASTS = edited(GALAXY, ('sink=.true.\n', ''), ('nstepmax=3', 'nstepmax=5'),
                ('foutput=2', 'foutput=4'), ('t_sne=0.05', 't_sne=0.02\nf_w=2.0\nf_ek=0.7'),
                ('delayed_cooling=.true.', 'rbubble=6.0'))
MOMENTUM = edited(BLASTS, ('f_w=2.0\nf_ek=0.7', 'momentum_feedback=1\nmass_gmc=1e3'))
YIELDS = edited(BLASTS, ('eta_sn=0.2\nyield=0.1\nt_sne=0.02\nf_w=2.0\nf_ek=0.7\n', ''),
                ('rbubble=6.0\nt_diss=20\n/\n', """rbubble=6.0
/
&PHYSICS_PARAMS
eps_sn1=1.0
eps_sn2=1.0
f_w=2.0
f_ek=0.7
yieldtablefilename='../table.txt'
/
"""))

# Criteria of gas alone: the Jeans length, gradients.
CRITERIA = edited(GALAXY, ('err_grad_d=0.4', 'err_grad_d=1.15\njeans_refine=6.0,7.0'))

CASES = {'galaxy': GALAXY, 'blasts': BLASTS, 'momentum': MOMENTUM, 'yields': YIELDS,
         'criteria': CRITERIA, 'magnetic': FIELD, 'sedov': SEDOV, 'cosmo': COSMO,
         'cooling': COOLING, 'collapse': COLLAPSE, 'finer': FINER}
# tests/gpu/run sets cuda
DEVICE = os.environ.get('PTAH_TEST_DEVICE', 'host')
# Dark matter alone, with two levels of cells.
DARK = edited(COSMO, ('hydro=.true.', 'hydro=.false.'), ('levelmax=8', 'levelmax=6'),
              ('m_refine=4.0,0.9,0.3', 'm_refine=1.5'), ('nstepmax=13', 'nstepmax=7'),
              ('foutput=12', 'foutput=6'))
CASES['dark'] = DARK
CASES['field'] = edited(
    SEDOV, ('hydro=.true.', 'hydro=.true.\nmhd=.true.'),
    ("slope_type=1\nriemann='hllc'",
     "slope_type=2\nriemann='hlld'\nriemann2d='hlld'\npressure_fix=.true.\nbeta_fix=0.5"),
    ('p_region=1e-2,4e2',
     'p_region=1e-2,4e2\nA_region=0.3,0.3\nB_region=0.2,0.2\nC_region=-0.1,-0.1'))
# Gas that cools by terms with device kernels.
CASES['cool'] = edited(COOLING, ('self_shielding=.true.', 'self_shielding=.false.'),
                       ('n_star=1.', 'n_star=1.\ng_star=2.'))
# (ranks, threads, ordering, nremap, tile_depth[, transport[, windows]]); the first variant is the
# reference. windows: ranks of a node, 0: all, or off (exchange_shared)
VARIANTS = {
    'few': [(1, 1, 'ksection', 0, 0), (3, 1, 'ksection', 2, 0), (2, 1, 'hilbert', 2, 0),
            (1, 2, 'ksection', 0, 0)],
    'tiles': [(1, 1, 'ksection', 0, 0), (1, 1, 'ksection', 0, 1), (1, 1, 'ksection', 0, 2),
              (1, 1, 'ksection', 0, 3), (1, 2, 'ksection', 0, 4)],
    'ghosts': [(1, 1, 'ksection', 0, 0), (3, 1, 'ksection', 2, 0), (3, 1, 'hilbert', 2, 0)],
    # in addition to the variants of few, ghosts and device
    'all': [(1, 1, 'ksection', 0, 0), (1, 2, 'hilbert', 2, 0), (2, 2, 'ksection', 2, 0),
            (3, 2, 'hilbert', 3, 0), (5, 1, 'ksection', 2, 0), (5, 1, 'hilbert', 2, 0),
            (8, 1, 'ksection', 2, 0)],
}
# number of ranks, then the seed
VARIANTS['device'] = [(1, 1, 'ksection', 0, 0)] + [
    (ranks, 1, 'ksection', 2, 0, 'p2p', 0, seed)
    for ranks, seed in ((1, 0), (1, 1), (2, 2), (3, 3))]
VARIANTS['fft'] = VARIANTS['device'][:1] + [
    (1, 2, 'ksection', 0, 0), (2, 2, 'hilbert', 2, 0), (3, 1, 'ksection', 2, 0)
] + VARIANTS['device'][1:]
# ranks: device memory in kB; some ranks run out of memory before others, or alone
FULL = {'sedov': {1: '7000', 2: '5000'}, 'field': {1: '25000', 2: '23000'},
        'dark': {1: '6300', 2: '3800'}, 'galaxy': {1: '7000', 2: '4500'},
        'blasts': {1: '7000', 2: '4500'}, 'momentum': {1: '7000', 2: '4500'},
        'collapse': {2: '5000', 3: '2600'}, 'cosmo': {2: '9000', 3: '8000'}}
VARIANTS['mixed'] = [v for v in VARIANTS['device'] if len(v) < 8 or v[0] > 1]
# with the number of devices
VARIANTS['devices'] = [(1, 1, 'ksection', 0, 0)] + [
    (ranks, 1, 'ksection', 2, 0, 'p2p', 0, seed, devices)
    for ranks, seed, devices in ((1, 4, 2), (2, 0, 1), (2, 5, 2), (3, 6, 1), (3, 0, 2))]
# seed 0: by time
VARIANTS['choice'] = [(1, 1, 'ksection', 0, 0)] + [
    (ranks, 1, 'ksection', 2, 0, 'p2p', 0, seed)
    for ranks, seed in ((1, 1), (2, 2), (3, 3), (2, 0))]
VARIANTS['transports'] = [(1, 1, 'ksection', 0, 0)] + [
    (ranks, 1, ordering, 2, 0, transport) for transport in ptah.transports()
    for ranks, ordering in ((2, 'hilbert'), (5, 'hilbert'), (7, 'ksection'))]
VARIANTS['windows'] = [(1, 1, 'ksection', 0, 0)] + [
    (ranks, 1, 'ksection', 2, 0, 'p2p', windows) for ranks, windows in
    ((2, 0), (3, 0), (3, 'off'), (5, 0), (5, 2), (8, 3), (8, 'off'))] + [
    (5, 1, 'hilbert', 2, 0, 'alltoallv', 2), (5, 1, 'hilbert', 2, 0, 'ksection', 2),
    (6, 1, 'ksection', 2, 0, 'nodes', 2), (6, 1, 'hilbert', 2, 0, 'nodes', 3)]


# all transports, both orderings, up to 8 ranks, with threads
VARIANTS['short'] = [(1, 1, 'ksection', 0, 0), (1, 2, 'hilbert', 2, 2)] + [
    (ranks, threads, ordering, 2, 0, transport) for (ranks, threads, ordering), transport in zip(
        ((2, 2, 'hilbert'), (3, 1, 'ksection'), (5, 2, 'ksection'), (7, 1, 'hilbert'),
         (8, 1, 'ksection')), 2 * ptah.transports())]


# mixed: device memory of rank 0, kB
ALONE = 500


def starved(folder):
    """Folder of a `simulate` whose rank 0 has hardly any device memory."""
    path = os.path.join(os.path.abspath(folder), 'simulate')
    with open(path, 'w') as f:
        f.write('#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ] || '
                'export PTAH_DEVICE_KB=%d\nexec "%s" "$@"\n' % (ALONE, ptah.program('simulate')))
    os.chmod(path, 0o755)
    return os.path.dirname(path)


# cases in which stars must explode
EXPLODE = ('galaxy', 'blasts', 'momentum', 'yields')


def without_jeans(reference):
    """Whether the reference has cells that only the Jeans criterion refines."""
    text = edited(CRITERIA, ('jeans_refine=6.0,7.0\n', ''))
    r = ptah.simulate(text, 'without', 1, 1, ['run_params/nremap=0'])
    return ptah.digest(r.outputs[-1]) != reference


def run_variant(case, variant, which):
    """(digests of the checkpoints, last checkpoint, seconds)"""
    ranks, threads, ordering, nremap, tiles, *transport = variant
    devices = transport.pop() if len(transport) == 4 else 1
    seed = transport.pop() if len(transport) == 3 else None
    windows = transport.pop() if len(transport) == 2 else 0
    folder = '_'.join([case] + [str(x) for x in variant])
    os.makedirs(folder)
    if 'initfile' in CASES[case]:
        os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    settings = ['run_params/ordering=' + ordering, 'run_params/nremap=%d' % nremap,
                'hydro_params/tile_depth=%d' % tiles]
    settings += ['run_params/exchange_method=' + t for t in transport]
    settings += ['run_params/exchange_shared=.false.'] if windows == 'off' else []
    env = {'PTAH_DEVICES': str(devices)}
    if windows not in (0, 'off'):
        env['PTAH_NODE_RANKS'] = str(windows)
    if seed is not None:
        settings += ['run_params/gpu_hydro=.true.', 'run_params/gpu_poisson=.true.',
                     'run_params/gpu_particles=.true.',
                     "run_params/gpu_device='%s'" % DEVICE,
                     'run_params/gpu_seed=%d' % seed,
                     'run_params/n_cuda_streams=%d' % (4 - seed % 4)]
    if seed:
        settings += ['run_params/check_ghosts=.true.']
    settings += ['run_params/gpu_fft=.true.'] if which == 'fft' else []
    if which == 'choice' and seed == 0:
        settings += ['run_params/gpu_auto_tune=.true.']
    elif which == 'choice' and seed:
        env['PTAH_DEVICE_CHOICE'] = str(seed)
    if which == 'ghosts':
        settings += ['run_params/check_ghosts=.true.',
                     'physics_params/nothing=%s' % ('.true.' if ranks > 1 else '.false.')]
    if which == 'full' and case == 'dark':
        settings += ['run_params/use_fftw=.false.']
    if which == 'full' and seed is not None:
        env['PTAH_DEVICE_KB'] = FULL[case][ranks]
    bin_before = os.environ.get('PTAH_TEST_BIN')
    if which == 'mixed' and seed is not None:
        os.environ['PTAH_TEST_BIN'] = starved(folder)
    r = ptah.simulate(CASES[case], folder, ranks, threads, settings, env=env)
    if case in EXPLODE and 'Supernovae: ' not in r.err:
        raise SystemExit('no star explodes')
    # only for runs that are long enough
    timed = which == 'choice' and seed == 0 and case in ('sedov', 'cosmo')
    if timed and not re.search(r'^ gpu_auto_tune: all: .* with it on the device, ', r.err, re.M):
        raise SystemExit('nothing was compared')
    os.environ.pop('PTAH_TEST_BIN', None)
    if bin_before is not None:
        os.environ['PTAH_TEST_BIN'] = bin_before
    if which == 'mixed' and seed is not None and 'everything runs on the CPU' not in r.err:
        raise SystemExit('rank 0 has a device')
    if seed is not None and 'Device: ' not in r.err:
        raise SystemExit('nothing ran on the device')
    if DEVICE == 'host' and devices > 1 and ' 0 of %d' % devices not in r.err:
        raise SystemExit('there are not %d devices' % devices)
    return [ptah.digest(o) for o in r.outputs], r.outputs[-1], r.seconds


def main():
    case, which = sys.argv[1:]
    VARIANTS['full'] = [v for v in VARIANTS['device']
                        if len(v) < 8 or (v[7] and v[0] in FULL.get(case, ()))]
    if 'initfile' in CASES[case]:
        ptah.unpack_ics('.', 'ic_32')
    if case == 'yields':
        yields.table('table.txt')
    v = ptah.Verdict()
    reference = None
    for variant in VARIANTS[which]:
        name = '%d ranks, %d threads, %s, nremap %d, tile_depth %d' % variant[:5]
        name += ''.join(', %s' % x for x in variant[5:])
        digests, path, seconds = run_variant(case, variant, which)
        print('     %s: %.1f s' % (name, seconds))
        if reference is None:
            reference = digests
            octs = read_ramses.load(path).octs
            levels = [l for l in octs if octs[l] and 8 ** (l - 1) != octs[l]]
            print('     octs a level %s' % octs)
            fewer = {'finer': 1, 'dark': 1, 'magnetic': 2, 'galaxy': 1, 'blasts': 1, 'momentum': 1,
                     'yields': 1, 'criteria': 1}
            v.same('partial levels in use', len(levels) >= fewer.get(case, 3), True)
            v.same('checkpoints', len(digests), 2)
            v.same('the digests of the checkpoints differ', digests[0] != digests[1], True)
            if case == 'criteria':
                v.same('the Jeans criterion refines cells', without_jeans(digests[-1]), True)
            continue
        for number, (a, b) in enumerate(zip(digests, reference), 1):
            v.same('%s: lines of digest %d that differ' % (name, number), ptah.changed(a, b), [])
    v.end()


if __name__ == '__main__':
    main()
