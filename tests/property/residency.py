"""A box with gas, dark matter and gravity on a device copies at most 2 % of its mesh between host
and device per coarse step, without first copies and outputs: with the base level solved by
multigrid, and in Fourier space (gpu_fft).

    residency.py          on one rank
    residency.py ranks    on two ranks, with one device and with two: messages to and from other
                          ranks (ghosts, particles, shared levels of multigrid) are counted
                          separately; a load balance that keeps the domains copies hardly anything
    residency.py galaxy   gas that cools, dark matter, stars, supernovae, and black holes that
                          accrete and heat the gas, on one rank
    residency.py blasts   the same without black holes, with supernovae that push the gas around
    residency.py bench    the galaxies of tests/bench/cases/galaxy.nml at z = 5, on one rank; needs
                          mpgrafic or its initial conditions
    residency.py radiation  a box with photons of two groups and chemistry, on one level: sums and
                          counts alone

With refined levels, whose octs are created and removed; on the emulated device, which counts the
bytes that a GPU would copy. Examples of faults caught: a multigrid hierarchy or a list of faces
made by the host, all levels of the mesh sent again for a new one, a refinement criterion copied as
a byte per cell; with ranks, a density made by the host, registers copied as a whole, a balance that
copies everything to the host to find that nothing changes, the coarser level copied to the host for
the solve of a level of few octs.
"""
# test: tier=check timeout=240
# test: radiation tier=check timeout=120
# test: galaxy tier=check timeout=240
# test: blasts tier=check timeout=240
# test: ranks tier=check timeout=240 ranks=2
# test: bench tier=check timeout=300
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import digest  # noqa: E402
import ptah  # noqa: E402
import radiating  # noqa: E402

MOST = 2.0  # max percentage of the mesh
SOLVERS = {'multigrid': ['run_params/use_fftw=.false.'],
           'Fourier': ['run_params/use_fftw=.true.', 'run_params/gpu_fft=.true.']}
SETTINGS = ['run_params/gpu_hydro=.true.',
            'run_params/gpu_poisson=.true.', 'run_params/gpu_particles=.true.',
            "run_params/gpu_device='host'", 'run_params/nstepmax=6', 'amr_params/levelmax=6',
            'refine_params/m_refine=2.6', 'output_params/foutput=100']


def run(v, ranks, devices, settings):
    """(log, percentages of the mesh: all copies, messages)"""
    folder = '_'.join([str(ranks), str(devices)] + [s.replace('/', '.') for s in settings])
    os.makedirs(folder)
    os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    os.environ['PTAH_DEVICES'] = str(devices)
    r = ptah.simulate(digest.CASES['cosmo'], folder, ranks, settings=SETTINGS + settings)
    os.environ.pop('PTAH_DEVICES')
    share = re.findall(r'([\d.]+) % (?:of the mesh|messages)', r.err)
    share = [float(x) for x in share]
    v.same('numbers about what a step moves', len(share), 1 if ranks == 1 else 2)
    return r.err, share


def one(v):
    for solver, settings in SOLVERS.items():
        log, share = run(v, 1, 1, settings)
        octs = [int(n) for n in re.findall(r'Level +6 has +(\d+)', log)]
        v.same('the finer level has octs', bool(octs) and octs[-1] > 500, True)
        v.same('%s: %.2f %% of the mesh is at most %g' % (solver, share[0], MOST),
               share[0] <= MOST, True)


# Stars form early, and two sinks are there from the beginning.
GALAXY = digest.edited(digest.CASES['cosmo'], ('hydro=.true.', 'hydro=.true.\nsink=.true.')) + """
&COOLING_PARAMS
cooling=.true.
metal=.true.
self_shielding=.true.
z_reion=20
z_ave=0.01
/
&SF_PARAMS
T2_star=100
g_star=1.6666667
n_star=1e-6
del_star=1.4
eps_star=0.003
m_star=1e-3
/
&FEEDBACK_PARAMS
eta_sn=0.2
yield=0.1
t_sne=5
delayed_cooling=.true.
t_diss=20
/
&SINK_PARAMS
smbh=.true.
agn=.true.
create_sinks=.true.
mass_sink_seed=1e7
mass_smbh_seed=1e7
mass_halo_AGN=1e12
mass_clump_AGN=1e12
accretion_scheme='bondi'
eddington_limit=.true.
n_sink=1
/
&CLUMPFIND_PARAMS
ivar_clump=1
density_threshold=4
saddle_threshold=200
relevance_threshold=3
mass_threshold=10
/
"""
SINKS = ''.join('1e-5 %g %g 0.05 0 0 0 0 0 0 0 0\n' % (x, -x) for x in (-0.2, 0.3))


# Supernovae give momentum to the cells around them.
BLASTS = digest.edited(GALAXY[:GALAXY.index('&SINK_PARAMS')], ('\nsink=.true.', ''),
                       ('t_sne=5', 't_sne=5\nmomentum_feedback=1'),
                       ('delayed_cooling=.true.\n', ''))


def many_stars(folder, text):
    """The log of a run with stars."""
    return ptah.simulate(text, folder, settings=SETTINGS + SOLVERS['Fourier'] + [
        'amr_params/levelmax=14', 'refine_params/q_refine_holdback=.false.',
        'refine_params/m_refine=2.2', 'run_params/nstepmax=7']).err


def moves_little(v, log):
    (share,) = [float(x) for x in re.findall(r'([\d.]+) % of the mesh', log)]
    (table,) = [float(x) for x in re.findall(r'([\d.]+) % the table', log)]
    v.same('stars form and explode',
           (len(re.findall('new stars', log)) > 3, 'Supernovae: ' in log), (True, True))
    v.same('nothing lacks a kernel', re.findall('no kernel', log), [])
    v.same('%.2f %% of the mesh, %.2f %% for the table of rates, is at most %g'
           % (share, table, MOST), share <= MOST, True)


def place(folder):
    os.makedirs(folder)
    os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))


def galaxy(v):
    place('galaxy')
    with open(os.path.join('galaxy', 'ic_sink'), 'w') as f:
        f.write(SINKS)
    log = many_stars('galaxy', GALAXY)
    v.same('sinks accrete', bool(re.search(r'Number of sinks= +2 .* rate= +[1-9.]+E', log)), True)
    moves_little(v, log)


def blasts(v):
    place('blasts')
    moves_little(v, many_stars('blasts', BLASTS))


def bench(v):
    """To z = 5 on the CPU, and a few steps on the device from there."""
    ics = ptah.ics_galaxy()
    if not ics:
        ptah.skip('there is no mpgrafic for the initial conditions')
    with open(os.path.join(ptah.ROOT, 'tests', 'bench', 'cases', 'galaxy.nml')) as f:
        text = f.read()
    os.makedirs(os.path.join('bench', 'ics'))
    os.symlink(ics, os.path.join('bench', 'ics', 'ic_galaxy'))
    ptah.simulate(text, 'bench', settings=['output_params/aout=0.16667'])
    device = [s for s in SETTINGS if s.startswith('run_params/gpu')] + ['run_params/gpu_fft=.true.']
    r = ptah.simulate(text, 'bench', settings=device + [
        'run_params/nrestart=2', 'run_params/nstepmax=43', 'output_params/aout=0.9'])
    (share,) = [float(x) for x in re.findall(r'([\d.]+) % of the mesh', r.err)]
    v.same('stars form', 'new stars' in r.err, True)
    v.same('nothing lacks a kernel', re.findall('no kernel', r.err), [])
    v.same('%.2f %% of the mesh is at most %g' % (share, MOST), share <= MOST, True)


def radiation(v):
    """Nothing of the mesh moves from sub-step to sub-step."""
    text = radiating.namelist(steps=6, every=100, levelmax=5)
    r = ptah.simulate(text, 'radiation', settings=[
        'run_params/gpu_hydro=.true.', "run_params/gpu_device='host'", 'amr_params/levelmin=5',
        'run_params/nsubcycle=1'])
    share = [float(x) for x in re.findall(r'([\d.]+) % of the mesh', r.err)]
    v.same('radiation is there', 'radiation and chemistry run on emulated' in r.err, True)
    v.same('%s %% of the mesh is at most %g' % (share, MOST), share and share[0] <= MOST, True)


def two(v):
    for devices in (1, 2):
        for settings in (['run_params/nremap=0'], ['run_params/nremap=2', 'amr_params/levelmax=5']):
            _, (total, messages) = run(v, 2, devices, SOLVERS['multigrid'] + settings)
            rest = total - messages
            v.same('%d devices, %s: %.2f %% of the mesh without %.2f %% messages is at most %g'
                   % (devices, settings, rest, messages, MOST), rest <= MOST and messages > 0, True)


def main():
    v = ptah.Verdict()
    if sys.argv[1:] == ['radiation']:
        radiation(v)
    else:
        ptah.unpack_ics('.', 'ic_32')
        cases = {'galaxy': galaxy, 'blasts': blasts, 'ranks': two, 'bench': bench}
        cases.get(''.join(sys.argv[1:]), one)(v)
    v.end()


main()
