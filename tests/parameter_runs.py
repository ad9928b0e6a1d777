"""The small runs of property/parameters.py.

RUNS: name → (ranks, namelist, function that puts its files into a folder, or None). A run takes a
few tenths of a second.
"""
import copy
import math
import os
import random

import ptah
import spectra


def text_of(groups):
    """A namelist from {group: {name: value}}; groups are named as on the command line."""
    def word(x):
        if isinstance(x, bool):
            return '.true.' if x else '.false.'
        if isinstance(x, list):
            return ','.join(map(word, x))
        return "'%s'" % x if isinstance(x, str) else repr(x)
    return ''.join('&%s\n%s/\n' % (g.upper() + ('' if g == 'rt_groups' else '_PARAMS'),
                                   ''.join('%s=%s\n' % (n, word(x)) for n, x in names.items()))
                   for g, names in groups.items())


def vary(base, *without, **groups):
    """A copy with changed values, and without some ('group/name' or 'group')."""
    out = copy.deepcopy(base)
    for name in without:
        g, _, n = name.partition('/')
        if n:
            del out[g][n]
        else:
            del out[g]
    for g, names in groups.items():
        out.setdefault(g, {}).update(names)
    return out


# ---- files

def put(name, text):
    def make(folder):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
    return make


def each(*makers):
    def make(folder):
        for m in makers:
            m(folder)
    return make


def unpack(*names):
    """Makes initial conditions, shared by all runs."""
    def make(folder):
        os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    make.ics = names
    return make


def snapshots(*names):
    """Makes files of Gadget, each with other particles."""
    def make(folder):
        import gadget_files
        for i, name in enumerate(names):
            gadget_files.binary(os.path.join(folder, name), gadget_files.particles(seed=i))
    return make


def galaxy(folder):
    """A galaxy for &MERGER_PARAMS, and files of galaxies with other names and formats."""
    import galaxies
    galaxies.merger(folder, 100, 100)
    galaxies.merger(folder, 80, 80, seed=2, name='other')
    galaxies.curve(os.path.join(folder, 'other.dat'), last=50.0)
    t = galaxies.dice_types(400, 100, 100)
    for name in 'primary.g2', 'primary.g2.1', 'primary.g2.2', 'other.g2':
        galaxies.dice(os.path.join(folder, 'ics', name), t if name == 'primary.g2' else
                      galaxies.dice_types(300, 80, 80))


def particles(n, clumps=1):
    """Particles: some in the background, most in clumps; one of five is fast; three masses."""
    r, lines = random.Random(3), []
    for i in range(n):
        c, fast = i % 9 % (clumps + 1), i % 5 == 0
        x = [((0.13 * c * (d + 1) + r.gauss(0, 0.03)) % 1 if c else r.random()) - 0.5
             for d in range(3)]
        v = [r.gauss(0, 3 if fast else 0.7) for _ in x]
        lines.append('%.9g %.9g %.9g %.6g %.6g %.6g %.6g\n' % (*x, *v, (1 + i % 3) * 0.3 / n))
    return put('ics/ic_part', ''.join(lines))


def flights():
    """Groups of particles that fly freely: one passes through another, two are close."""
    r, lines = random.Random(3), []
    for n, x, v in ((300, (0.0, 0.0), 0), (100, (-0.3, 0.0), 1), (100, (0.1, 0.3), 0),
                    (60, (0.2, 0.3), 0)):
        lines += ['%.9g %.9g %.9g %g 0 0 1e-3\n' % (r.gauss(x[0], 0.015), r.gauss(x[1], 0.015),
                                                   r.gauss(0, 0.015), v) for _ in range(n)]
    return put('ics/ic_part', ''.join(lines))


def response(name, value):
    """Writes a table of neutrinos."""
    return put(name, '# R(k, a)\n2 2\n1e-3 10\n0.01 1\n# the matrix\n' + 2 * ('%g %g\n' %
                                                                            (value, value)))


BACKGROUND = put('background.txt', ''.join(
    '%g 1e-12 1e-12 1e-14 1e-23 1e-23 1e-25\n' % math.log10(1 + z) for z in (0, 1, 3, 60)))


def cooling_tables(folder):
    """Writes two cooling tables of different resolution."""
    run = text_of(vary(COOLING, 'output', run={'nstepmax': 0}, output={'foutput': 1}))
    first = ptah.simulate(run, os.path.join(folder, 'model')).outputs[0]
    for name, points in (('grackle_multi_z.bin', '9,2,33'), ('other.bin', '9,2,17')):
        ptah.Run([ptah.program('convert'), '--cooling-table', '--redshifts', '0', '--points',
                  points, '-o', name, os.path.abspath(first)], folder)


# ---- gas

GAS = {
    'run': {'hydro': True, 'nsubcycle': [1, 2], 'nstepmax': 4},
    'amr': {'levelmin': 3, 'levelmax': 5, 'nexpand': [1, 1]},
    'init': {'nregion': 2, 'x_center': [0.5, 0.45], 'y_center': [0.5, 0.55],
             'z_center': [0.5, 0.47], 'length_x': [10.0, 0.3], 'length_y': [10.0, 0.3],
             'length_z': [10.0, 0.3], 'exp_region': [10.0, 2.0], 'd_region': [1.0, 3.0],
             'u_region': [0.1, 0.3], 'v_region': [0.0, 0.1], 'w_region': [0.0, 0.2],
             'p_region': [0.1, 2.0]},
    'hydro': {'courant_factor': 0.6, 'riemann': 'hllc'},
    'refine': {'err_grad_d': 0.2},
    'output': {'foutput': 2, 'tout': [0.02, 0.045]}}
SCALARS = {'init': {'var_region(1,1)': 0.1, 'var_region(2,1)': 0.7}, 'hydro': {'npassive': 1}}
SOLVER = vary(GAS, 'refine/err_grad_d',
              hydro={'riemann': 'exact', 'slope_type': 8, 'pressure_fix': True, 'beta_fix': 0.5},
              init={'u_region': [1.5, -2.0]},
              refine={'err_grad_p': 0.2, 'r_refine': [0.7, 0.4], 'x_refine': [0.45, 0.45],
                      'y_refine': [0.55, 0.5], 'z_refine': [0.5, 0.5]})
# Faces of all kinds; four boundary regions of edges, each of which becomes a face if one of its
# ends moves.
WALLS = vary(vary(GAS, 'refine/err_grad_d', **SCALARS), init={'v_region': [0.2, 0.3]},
             refine={'err_grad_u': 0.5, 'floor_u': 0.1}, boundary={
    'nboundary': 10, 'bound_type': [3, 2, 2, 1, 1, 3, 2, 1, 2, 1],
    'ibound_min': [-1, 1, -1, -1, -1, -1, -1, 1, -1, -1],
    'ibound_max': [-1, 1, 1, 1, 1, 1, -1, 1, 1, 1],
    'jbound_min': [0, 0, -1, 1, -1, -1, -1, -1, -1, 1],
    'jbound_max': [0, 0, -1, 1, 1, 1, 1, 1, -1, 1],
    'kbound_min': [0, 0, 0, 0, -1, 1, -1, 1, -1, 1],
    'kbound_max': [0, 0, 0, 0, -1, 1, -1, 1, -1, 1],
    'd_bound': [2.0, 0, 0, 0, 0, 1.0], 'u_bound': [1.0, 0, 0, 0, 0, 0.2],
    'p_bound': [0.5, 0, 0, 0, 0, 1.0], 'var_bound(1,1)': 0.4})
# A non-thermal energy that alone jumps where the regions meet.
ENERGIES = vary(GAS, 'refine/err_grad_d', run={'nener': 2, 'ndim': 2},
                init={'p_region': [0.5, 0.5], 'd_region': [1.0, 1.0], 'u_region': [0.1, 0.1],
                      'v_region': [0.0, 0.0], 'w_region': [0.0, 0.0], 'prad_region(1,1)': 0.4,
                      'prad_region(2,1)': 0.1, 'prad_region(1,2)': 0.1, 'prad_region(2,2)': 0.4},
                refine={'err_grad_prad': [0.1, 0.1]},
                boundary={'nboundary': 2, 'bound_type': [3, 2], 'ibound_min': [-1, 1],
                          'ibound_max': [-1, 1], 'd_bound': [1.0], 'u_bound': [0.1],
                          'p_bound': [0.5], 'prad_bound(1,1)': 0.4, 'prad_bound(1,2)': 0.1})
# The thresholds of the switches would change each face and edge if the switches were on.
MHD = vary(GAS, 'refine/err_grad_d', amr={'levelmax': 4},
           run={'mhd': True, 'nstepmax': 3},
           init={'a_region': [0.7, 0.7], 'b_region': [0.4, 0.4], 'c_region': [-0.3, -0.3]},
           hydro={'riemann': 'hlld', 'riemann2d': 'hlld', 'slope_type': 1,
                  'switch_solv_min_dens': 10.0},
           refine={'err_grad_p': 0.2}, output={'foutput': 1})
SWITCHED = vary(MHD, 'hydro/switch_solv_min_dens',
                hydro={'allow_switch_solver': True, 'allow_switch_solver2d': True})
DRIFT = vary(MHD, hydro={'scheme': 'induction'})
DIVERGENT = vary(MHD, init={'a_region': [0.7, 0.2]})
# Each component jumps along an axis that is not its own.
STEEP = vary(MHD, 'refine/err_grad_p', 'output/tout', run={'ndim': 2, 'nstepmax': 3},
             init={'length_y': [10.0, 20.0], 'length_x': [10.0, 0.3], 'exp_region': [10.0, 10.0],
                   'u_region': [0.1, 0.1], 'a_region': [0.7, 0.7], 'b_region': [0.4, 0.9],
                   'c_region': [-0.3, 0.5]})
STEEP_A = vary(STEEP, init={'length_x': [10.0, 20.0], 'length_y': [10.0, 0.3],
                            'a_region': [0.7, 0.2], 'b_region': [0.4, 0.4]},
               refine={'err_grad_a': 0.05})
FIELD_WALLS = vary(MHD, 'output/tout', run={'ndim': 2}, init={'v_region': [0.2, 0.3]}, boundary={
    'nboundary': 4, 'bound_type': [3, 2, 3, 2], 'ibound_min': [-1, 1, -1, -1],
    'ibound_max': [-1, 1, 1, 1], 'jbound_min': [0, 0, -1, 1], 'jbound_max': [0, 0, -1, 1],
    'd_bound': [1.0, 0, 1.0], 'u_bound': [1.0, 0, 0.1], 'v_bound': [0, 0, 1.0],
    'p_bound': [0.5, 0, 0.5], 'a_bound': [0.7, 0, 0.7], 'b_bound': [0.4, 0, 0.4],
    'c_bound': [-0.3, 0, -0.3]})
HDF5 = vary(GAS, output={'outformat': 'hdf5', 'foutput': 1})
TRACERS = vary(GAS, run={'tracer': True}, tracer={'tracer_feed_fmt': 'inplace',
                                                  'tracer_mass': 1e-3})
FED = vary(TRACERS, tracer={'tracer_feed_fmt': 'ascii', 'tracer_feed': 'tracers.txt'})
DEVICE = vary(GAS, run={'gpu_hydro': True, 'gpu_device': 'host'})

# A camera that has every law; the cut of zooms leaves nothing.
MOVIE = vary(vary(GAS, 'output/tout', **SCALARS), run={'nstepmax': 3},
             refine={'ivar_refine': 6, 'var_cut_refine': 2.0},
             movie={'movie': True, 'imovout': 3, 'tendmov': 0.03, 'nw_frame': 12, 'nh_frame': 10,
                    'movie_vars_txt': ['dens'], 'deltax_frame': [0.9, 0.0],
                    'deltay_frame': [0.8, 0.0], 'deltaz_frame': [1.2, 0.0], 'ivar_frame': [1],
                    'varmin_frame': [6e23], 'dtheta_camera': [40.0], 'dphi_camera': [20.0],
                    'perspective_camera': [True], 'focal_camera': [1.0], 'dist_camera': [1.5],
                    'ddist_camera': [0.2]})

# ---- gravity

COLLAPSE = vary(GAS, 'output/tout', 'refine/err_grad_d', run={'poisson': True, 'nstepmax': 3},
                init={'d_region': [0.1, 8.0], 'p_region': [0.01, 0.01],
                      'var_region(1,1)': 0.1, 'var_region(2,1)': 0.7},
                hydro={'npassive': 1},
                refine={'m_refine': [2.0, 2.0], 'mass_sph': 2e-3})
CORE = {
    'run': {'hydro': True, 'poisson': True, 'mhd': True, 'nstepmax': 1},
    'amr': {'levelmin': 3, 'levelmax': 3, 'boxlen': 4.0},
    'init': {'condinit_kind': 'collapse', 'delta_rho': 0.1, 'crit_dense_core': 0.1},
    'output': {'foutput': 1},
    'hydro': {'riemann': 'hlld', 'riemann2d': 'hlld', 'slope_type': 1},
    'units': {'units_length': 2e16, 'units_density': 1e-18, 'units_time': 3.872e12}}
JEANS_CORE = vary(CORE, amr={'levelmax': 4},
                  refine={'jeans_refine': [6.0], 'collapse_jeans_refine': True,
                          'collapse_jeans_tfloor': 3.0,
                          'collapse_jeans_rho_low': 1e-20, 'collapse_jeans_rho_high': 1e-16})
STIR = put('init_turb.data', '2 0 0 0 0\n' + ''.join('0 0 0 %d %d %d\n' % (i, i % 3, -i)
                                                     for i in range(8)))
ANALYTIC = vary(COLLAPSE, poisson={'gravity_type': 1, 'gravity_params': [0.3, -0.2, 0.1]})
PULLED = vary(COLLAPSE, poisson={
    'gravity_rho_ana_type': 2, 'gravity_rho_ana_params': [0.1, 0.5, 0.5, 0.5],
    'gravity_force_ana_type': 1, 'gravity_force_ana_params': [0.3, -0.2, 0.1]})
HASTY = vary(COLLAPSE, poisson={'mg_maxiter': 1, 'epsilon': 1e-12})
JEANS_LENGTH = vary(COLLAPSE, 'refine/m_refine', refine={'jeans_refine': [20.0, 20.0]})
BOTH = vary(COLLAPSE, run={'pic': True, 'use_fftw': True}, init={'initfile(1)': 'ics'},
            refine={'m_refine': [2.0, 1.0], 'mass_sph': 2e-3})
NBODY = vary(BOTH, 'init', 'hydro', 'refine', run={'hydro': False},
             init={'initfile(1)': 'ics'}, refine={'m_refine': [2.0, 1.0], 'mass_sph': 2e-3})
FREE = vary(NBODY, 'run/use_fftw', 'refine', run={'poisson': False})
HALOS = vary(NBODY, output={'foutput': 1}, run={'nstepmax': 2, 'dump_halos': True, 'halo_min': 10})
CLUMPS = vary(BOTH, run={'nstepmax': 1, 'clumpfind': True, 'unbind': True, 'dump_pk': True},
              output={'foutput': 1},
              clumpfind={'ivar_clump': 0, 'density_threshold': 0.05, 'relevance_threshold': 1.2,
                         'saddle_threshold': 0.5, 'mass_threshold': 3.0},
              unbinding={'nmassbins': 20, 'conv_limit': 1e-6})
ONCE = vary(CLUMPS, unbinding={'iter_properties': False})
TREES = {'run': {'pic': True, 'clumpfind': True, 'make_mergertree': True, 'nstepmax': 40},
         'amr': {'levelmin': 5, 'levelmax': 5},
         'init': {'filetype': 'ascii', 'initfile(1)': 'ics'},
         'output': {'tout': [0.01, 0.1, 0.26, 0.29, 0.31, 0.34, 0.4, 0.5]},
         'clumpfind': {'ivar_clump': 0, 'density_threshold': 5.0, 'relevance_threshold': 1.5,
                       'saddle_threshold': 10.0, 'mass_threshold': 10.0}}
RANKS = vary(BOTH, run={'nstepmax': 2, 'nremap': 1})

# ---- cosmology

COSMO = {
    'run': {'cosmo': True, 'pic': True, 'poisson': True, 'hydro': True, 'nsubcycle': [1, 2],
            'nstepmax': 2},
    'output': {'foutput': 2},
    'init': {'filetype': 'grafic', 'initfile(1)': 'ics/ic_32/level_005', 'omega_b': 0.047},
    'amr': {'levelmin': 5, 'levelmax': 6, 'nexpand': [1]},
    'hydro': {'gamma': 1.6666667, 'riemann': 'hllc', 'pressure_fix': True},
    'refine': {'m_refine': [2.6]}}
COSMO_MHD = vary(COSMO, run={'mhd': True}, hydro={'riemann': 'hlld'}, refine={'m_refine': [8]})
DARK = vary(COSMO, 'init/omega_b', 'hydro', 'refine', 'run/nsubcycle', 'amr/nexpand',
            run={'hydro': False, 'use_fftw': True}, amr={'levelmax': 5},
            output={'outformat': 'hdf5'})
CONE = vary(DARK, 'run/use_fftw', run={'lightcone': True, 'nstepmax': 4},
            output={'outformat': 'ramses', 'foutput': 4},
            lightcone={'thetay_cone': 0.02, 'thetaz_cone': 0.02, 'zmax_cone': 60.0})
CONE_MAPS = vary(CONE, lightcone={'cone_format': 'healpix'})
CONE_BOX = vary(COSMO, run={'lightcone': True, 'nstepmax': 4},
                output={'foutput': 4},
                lightcone={'zmax_cone': 60.0, 'maxboxr_cone1': [1, 0.1, 0.1],
                           'maxboxr_cone2': [1, 0.1, 0.1]})
CONE_SINKS = vary(CONE_BOX, run={'sink': True}, amr={'levelmax': 12},
                  refine={'m_refine': [1e6] * 8},
                  sink={'mass_sink_seed': 1.0, 'accretion_scheme': 'bondi', 'ir_cloud': 1},
                  lightcone={'maxboxr_cone1': [1, 1, 1]})
GADGET = vary(DARK, 'run/use_fftw', run={'nstepmax': 1}, output={'foutput': 1},
              init={'filetype': 'gadget', 'initfile(1)': 'snapshot'},
              amr={'levelmin': 3, 'levelmax': 3})
DUE = vary(DARK, output={'aout': [0.0200001, 0.3]})
GALAXIES = {
    'run': {'pic': True, 'poisson': True, 'hydro': True, 'nstepmax': 1},
    'output': {'foutput': 1, 'tout': 50.0},
    'init': {'condinit_kind': 'merger', 'initfile(1)': 'ics'},
    'amr': {'levelmin': 4, 'levelmax': 4, 'boxlen': 40.0},
    'cooling': {'metal': True, 'z_ave': 1.0},
    'merger': {'mgas_disk1': 2.0, 'mgas_disk2': 1.0, 'gal_center1': [-6, 0, 0],
               'gal_center2': [6, 0, 0], 'typ_height1': 1.0, 'typ_height2': 1.0,
               'cut_height1': 3.0, 'cut_height2': 3.0, 'vcirc_dat_file1': 'Vcirc1.dat',
               'vcirc_dat_file2': 'Vcirc1.dat', 'ic_part_file_gal2': 'ic_part1'}}
DICE = vary(GALAXIES, 'merger', 'init/condinit_kind', init={'filetype': 'dice'},
            amr={'boxlen': 100.0},
            units={'units_density': 6.77e-23, 'units_time': 4.704e14, 'units_length': 3.0857e21},
            sf={'eps_star': 0.01, 'n_star': 1e30},
            dice={'ic_file': 'primary.g2', 'ic_format': 'Gadget2'})
DICE_FIELD = vary(DICE, run={'mhd': True}, dice={'ic_mag_scale_b': 0.1})
DICE_MASK = vary(DICE, amr={'levelmax': 5}, refine={'ivar_refine': 7, 'm_refine': [8.0]},
                 dice={'ic_mask_ivar': 1, 'ic_mask_min': 1e-4, 'ic_mask_max': 1e9})
NEUTRINOS = vary(DARK, run={'use_neutrino': True},
                 neutrino={'omega_nu': 0.05, 'neutrino_table': 'table'})
EARLY = vary(DARK, run={'use_ede': True})
FIFTH_FR = vary(DARK, run={'use_fr': True}, fr={'fr_eps': 1e-9})
FIFTH_LOOSE = vary(FIFTH_FR, run={'scalar_solver_strict': False}, fr={'n_iter_fr': 1})
FIFTH_NDGP = vary(DARK, run={'use_ndgp': True})
ZOOM = vary(COSMO, 'init/initfile(1)', run={'nstepmax': 1}, output={'foutput': 1},
            amr={'levelmax': 8, 'nexpand': [1]},
            init={'initfile(%d)' % (l - 4): 'ics/ic_zoom/level_%03d' % l for l in (5, 6, 7)},
            refine={'m_refine': [8.0, 8.0, 8.0], 'ivar_refine': 0, 'var_cut_refine': 0.01,
                    'mass_cut_refine': 2e-6})

# ---- cooling

COOLING = vary(GAS, 'output/tout', run={'nstepmax': 2},
               units={'units_density': 1.66e-24, 'units_time': 3.15576e13,
                      'units_length': 3.0857e20},
               physics={'cooling': True, 'haardt_madau': True, 'z_ave': 1.0})
MASKED = vary(COLLAPSE, refine={'m_refine': [0.09, 0.09], 'ivar_refine': 6,
                                'var_cut_refine': 0.2})
POWER = vary(COOLING, physics={'haardt_madau': False, 'j21': 0.5})
TABLE = vary(COOLING, physics={'cooling_method': 'exact'})
FLOOR = vary(COOLING, sf={'t2_star': 1e5, 'n_star': 0.5, 'g_star': 1.5})
JEANS = vary(COOLING, sf={'jeans_ncells': 400.0})
ISM = vary(COOLING, 'physics/haardt_madau', cooling={'cooling_ism': True, 'mu_gas': 1.4})
BAROTROPIC = vary(COOLING, 'physics', cooling={
    'barotropic_eos': True, 'barotropic_eos_form': 'double_polytrope', 't_eos': 1e4, 'mu_gas': 1.22,
    'polytrope_rho': 1e-24, 'polytrope_index': 1.4})
COSMO_COOL = vary(COSMO, amr={'levelmax': 7, 'nlevel_collapse': 0}, refine={'m_refine': [2.4, 0.5]},
                  physics={'cooling': True, 'haardt_madau': True, 'z_reion': 60.0},
                  sf={'t2_star': 1e4, 'n_star': 1e-9, 'del_star': 0.5})

# ---- stars

STARS = {
    'run': {'hydro': True, 'poisson': True, 'nsubcycle': [1, 2], 'nstepmax': 5},
    'amr': {'levelmin': 3, 'levelmax': 5},
    'init': {'nregion': 2, 'x_center': [0.5, 0.4], 'y_center': [0.5, 0.55], 'z_center': [0.5, 0.3],
             'length_x': [10.0, 0.3], 'length_y': [10.0, 0.3], 'length_z': [10.0, 0.3],
             'exp_region': [10.0, 10.0], 'd_region': [1.0, 3.0], 'u_region': [0.3, 0.0],
             'p_region': [0.1, 0.1], 'var_region(1,1)': 0.02, 'var_region(2,1)': 0.02},
    'output': {'foutput': 5},
    'hydro': {'gamma': 1.6666667},
    'units': {'units_density': 1.66e-22, 'units_time': 3e14, 'units_length': 3e20},
    'refine': {'err_grad_d': 0.1, 'mass_sph': 1e-6},
    'sf': {'n_star': 10.0, 'eps_star': 0.2, 'm_star': 20.0},
    'feedback': {'eta_sn': 0.2, 'yield': 0.1, 't_sne': 0.15},
    'physics': {'metal': True}}
BY_MEAN = vary(STARS, sf={'randomize_sf': False})
DEBRIS = vary(STARS, feedback={'f_w': 2.0, 'f_ek': 0.7, 'rbubble': 6.0})
MOMENTUM = vary(STARS, feedback={'momentum_feedback': 1})
VIRIAL = vary(STARS, sf={'sf_virial': True, 'sf_model': 2, 'sf_compressive': True,
                         'sf_tdiss': 1.0})
SINGLE = vary(STARS, sf={'sf_imf': True})
DELAYED = vary(STARS, physics={'cooling': True, 'haardt_madau': True},
               feedback={'delayed_cooling': True})
YIELDS = vary(STARS, 'feedback', units={'units_time': 3e17},
              physics={'yieldtablefilename': 'hopkins2018'})
COSMO_STARS = vary(COSMO, run={'nstepmax': 3},
                   sf={'n_star': 1e-9, 'del_star': 1.4, 'eps_star': 0.5, 'm_star': 1e-3},
                   feedback={'eta_sn': 0.2, 't_sne': 5.0})
BOOST = vary(STARS, run={'sink': True}, sink={'mass_sink_seed': 1.0, 'accretion_scheme': 'bondi',
                                               'acc_sink_boost': -2.0})
YOUNG = vary(STARS, run={'use_proper_time': True, 'clumpfind': True},
             clumpfind={'ivar_clump': -1, 'density_threshold': 0.1, 'age_cut_clfind': 10.0})

# ---- sinks

HORIZON = {
    'run': {'hydro': True, 'poisson': True, 'sink': True, 'nsubcycle': [1, 2], 'nstepmax': 4},
    'amr': {'levelmin': 4, 'levelmax': 5},
    'init': {'nregion': 4, 'x_center': [0.5, 0.4, 0.4, 0.8], 'y_center': [0.5, 0.55, 0.55, 0.2],
             'z_center': [0.5, 0.03, 0.97, 0.5], 'length_x': [10.0, 0.1, 0.1, 0.1],
             'length_y': [10.0, 0.1, 0.1, 0.1], 'length_z': [10.0, 0.06, 0.06, 0.1],
             'exp_region': 4 * [10.0], 'd_region': [1.0, 20.0, 20.0, 8.0],
             'u_region': 4 * [0.5], 'w_region': [0.0, 0.02, -0.02, 0.0],
             'p_region': [0.1, 0.1, 0.1, 0.05]},
    'output': {'foutput': 4},
    'hydro': {'gamma': 1.6666667},
    'units': {'units_density': 1.66e-22, 'units_time': 3e14, 'units_length': 3e21},
    'refine': {'m_refine': [0.5], 'mass_sph': 0.001},
    'physics': {'n_star': 500.0, 'mseed': 1e5, 'sink_agn': True, 'drag': True, 'r_gal': 0.012,
                'rmerge': 4.0, 't2maxagn': 1e8, 'x_floor': 10.0, 'mad_jet': True}}
QUASARS = vary(HORIZON, init={'w_region': [0.0, 5.0, -5.0, 0.0]}, units={'units_length': 3e22},
               physics={'mseed': 1e9, 'mad_jet': False})
SINKS = {
    'run': {'hydro': True, 'poisson': True, 'sink': True, 'nsubcycle': [1, 2], 'nstepmax': 4},
    'amr': {'levelmin': 4, 'levelmax': 5},
    'init': {'nregion': 2, 'x_center': [0.5, 0.3], 'y_center': [0.5, 0.3], 'z_center': [0.5, 0.3],
             'length_x': [10.0, 0.4], 'length_y': [10.0, 0.4], 'length_z': [10.0, 0.4],
             'exp_region': [10.0, 2.0], 'd_region': [1.0, 8.0], 'u_region': [0.0, 0.2],
             'p_region': [1.0, 1.0]},
    'output': {'foutput': 4},
    'hydro': {'gamma': 1.6666667, 'courant_factor': 0.6, 'pressure_fix': True},
    'refine': {'m_refine': [8.0], 'mass_sph': 0.0005, 'sink_refine': True},
    'units': {'units_density': 1e-24, 'units_time': 3e13, 'units_length': 3e18},
    'sink': {'mass_sink_seed': 1.0, 'mass_sink_direct_force': 6e-3, 'smbh': True, 'agn': True,
             'accretion_scheme': 'bondi', 'acc_sink_boost': 3.0, 't2_min': 0.0, 't2_agn': 1e7,
             'cone_opening': 90.0, 'kin_mass_loading': 1e4, 'agn_fbk_mode_switch_threshold': -1.0,
             'agn_fbk_frac_ener': 0.5, 'agn_fbk_frac_mom': 0.5}}
IC_SINK = put('ic_sink', """0.3 -0.4999 0.1 0.1  -2 0.3 0.1  0 0 0 0 0
0.5 0.49 0.12 0.1  1 0 0  1e-3 0 0 0 0
0.2 -0.2 -0.2 -0.2  1 -1 0.5  0 0 1d-3 0.1 0
0.4,0.2,0.2,-0.31,-1,2,0.5,0,0,0,0,0
0.01 -0.2 -0.2 -0.05  0 0 0.5  0 0 0 0 0
""")
FAST = put('ic_sink', '1e-3 0.1 0.1 0.1  -2 0.3 0.1  0 0 0 0 0\n'
                      '1e-3 0.101 0.1 0.1  2 0 0  0 0 0 0 0\n')
THRESHOLD = vary(SINKS, 'sink', sink={'mass_sink_seed': 1.0, 'accretion_scheme': 'threshold',
                                      'd_sink': 0.9, 'c_acc': 0.2})
CAPPED = vary(SINKS, sink={'eddington_limit': True})
UNFED = vary(SINKS, 'sink', sink={'mass_sink_seed': 1.0})
CLUSTERS = vary(SINKS, 'sink', sink={'mass_sink_seed': 1.0, 'accretion_scheme': 'bondi',
                                     'smbh': True, 'mass_smbh_seed': 1.0})
DESCENT = vary(SINKS, sink={'sink_descent': True})
STELLAR = vary(SINKS, 'sink', run={'stellar': True}, sink={
    'mass_sink_seed': 1.0, 'accretion_scheme': 'bondi', 'acc_sink_boost': 30.0}, stellar={
    'nstellarmax': 100, 'stellar_msink_th': 3e-6, 'imf_index': -2.35, 'imf_low': 1e-6,
    'imf_high': 2e-5, 'lt_t0': 3e-4, 'lt_m0': 2e-5, 'sn_feedback_sink': True, 'sn_e_ref': 2e40,
    'sn_p_ref': 5e35, 'vdisp': 200.0})
GROWN = put('ic_sink', """0.3 -0.4 0.1 0.1  -2 0.3 0.1  0 0 0 0 0.001
0.2 0.2 -0.2 -0.2  1 -1 0.5  0 0 1d-3 0 0.0015
""")
CREATE = {
    'run': {'hydro': True, 'poisson': True, 'sink': True, 'nsubcycle': [1, 2], 'nstepmax': 2},
    'amr': {'levelmin': 4, 'levelmax': 5, 'boxlen': 2.0},
    'init': {'nregion': 6, 'x_center': [1, 0.63, 0.66, 0.68, 1.41, 1.45],
             'y_center': [1, 0.71, 0.73, 0.72, 1.33, 1.30],
             'z_center': [1, 0.57, 0.56, 0.53, 1.43, 1.46],
             'length_x': [10, 0.7, 0.42, 0.22, 0.6, 0.3],
             'length_y': [10, 0.6, 0.40, 0.20, 0.7, 0.32],
             'length_z': [10, 0.7, 0.38, 0.24, 0.6, 0.28], 'exp_region': [10, 2, 2, 2, 2, 2],
             'd_region': [0.3, 5, 15, 40, 6, 22], 'u_region': [0, 0, 0, 0, 0.3, 0.3],
             'v_region': [0, 0.2, 0.2, 0.2, 0, 0],
             'p_region': [0.03, 0.03, 0.05, 0.1, 60, 120]},
    'output': {'foutput': 2},
    'hydro': {'gamma': 1.666667, 'courant_factor': 0.8, 'riemann': 'hllc'},
    'refine': {'m_refine': [8.0], 'mass_sph': 3e-4},
    'units': {'units_density': 1.50492957435e-20, 'units_time': 3.1556926e13,
              'units_length': 3.0857e18},
    'sf': {'t2_star': 10.0, 'n_star': 1e3},
    'sink': {'create_sinks': True, 'ir_cloud': 2, 'ir_cloud_massive': 2, 'mass_sink_seed': 2.0,
             'accretion_scheme': 'bondi'},
    'clumpfind': {'relevance_threshold': 1.5}}
SEEDS = vary(CREATE, sink={'smbh': True, 'mass_smbh_seed': 1.0, 'mass_halo_agn': 100.0,
                           'mass_clump_agn': 20.0, 'd_sink': 60.0},
             clumpfind={'saddle_threshold': 2.0, 'density_threshold': 1.0, 'ivar_clump': 0},
             sf={'eps_star': 0.5, 'm_star': 0.01, 'n_star': 2e4, 't2_star': 1.0})

# ---- the stencil solver

STENCIL = {
    'run': {'solver': 'stencil', 'nstepmax': 4},
    'stencil': {'nx': 12, 'ny': 10, 'nz': 8, 'nu': 0.01, 'eta': 0.01, 'init_u': 'abc',
                'amp_u': 0.5, 'init_lnrho': 'random', 'amp_lnrho': 0.1, 'init_a': 'random',
                'amp_a': 0.3, 'forcing': 'helical', 'f0': 0.1, 'diag_every': 2},
    'output': {'foutput': 2}}
WARM = vary(STENCIL, stencil={'entropy': True, 'init_s': 'random', 'amp_s': 0.1, 'kcond': 0.01,
                              'forcing': 'constant', 'slice_every': 2, 'slice_fields': 'ux'})
AIRY = vary(STENCIL, 'stencil/eta', 'stencil/init_a', 'stencil/amp_a',
            stencil={'magnetic': False})
DRIVEN = vary(STENCIL, stencil={'forcing': 'turb', 'dt_fixed': 0.05},
              turb={'turb_t': 0.2, 'turb_ndt': 2})

# ---- driven turbulence

STIRRED = vary(GAS, run={'nstepmax': 2}, amr={'levelmax': 3},
               turb={'driven_turb': True, 'turb_seed': 3, 'turb_t': 0.1, 'turb_ndt': 3,
                     'turb_rms': 5.0, 'initial_turb': True, 'initial_turb_vrms': 0.5})

# ---- smoothed particles

SPH = {
    'run': {'solver': 'sph', 'nstepmax': 3},
    'sph': {'setup': 'sedov', 'npx': 8},
    'output': {'foutput': 3}}
PACKED = vary(SPH, sph={'setup': 'lattice', 'v0': [0.5, 0.0, 0.0], 'lattice': 'random', 'cfl': 0.1})
ISOTHERMAL = vary(PACKED, sph={'eos': 'isothermal', 'cs0': 0.5, 'dt_fixed': 0.001})
BALL = vary(SPH, sph={'setup': 'evrard', 'boundary': 'free', 'gravity': 'tree'})
DISC = vary(SPH, 'sph/npx', sph={
    'setup': 'disc', 'np': 400, 'boundary': 'free', 'eos': 'locally_isothermal',
    'alpha_switch': 'disc', 'cs0': 0.05, 'nsink': 2, 'sink_m': [1.0, 1e-3],
    'sink_x': [0.0, 0.0, 0.0, 4.0, 0.0, 0.0], 'sink_v': [0.0, 0.0, 0.0, 0.0, 0.5, 0.0],
    'sink_racc': [1.5, 1.5]})
POINT = vary(DISC, 'sph/nsink', 'sph/sink_m', 'sph/sink_x', 'sph/sink_v', 'sph/sink_racc',
             sph={'external': 'point', 'eos': 'adiabatic'})


def resumes(groups):
    """Writes the checkpoint from which a run resumes: that of these parameters."""
    def make(folder):
        name = os.path.join(folder, 'run.nml')
        with open(name) as f:
            text = f.read()
        ptah.simulate(text_of(groups), folder)
        with open(name, 'w') as f:
            f.write(text)
    return make


SCALAR = vary(GAS, 'output/tout', init=SCALARS['init'], hydro={'npassive': 2}, run={'nstepmax': 1},
              output={'foutput': 1})
RESUMED = vary(SCALAR, run={'nrestart': 2, 'nstepmax': 2})
REBORN = vary(COSMO_STARS, run={'nrestart': 2, 'nstepmax': 5, 'use_proper_time': True})

# ---- radiation

RAYS = {
    'run': {'hydro': True, 'rt': True, 'ndim': 2, 'nstepmax': 2},
    'amr': {'levelmin': 3, 'levelmax': 4, 'boxlen': 1.0},
    'refine': {'interpol_type': 1},
    'init': {'nregion': 2, 'region_type(1)': ['square', 'square'], 'x_center': [0.5, 0.75],
             'y_center': [0.5, 0.75], 'length_x': [10.0, 0.5], 'length_y': [10.0, 0.5],
             'exp_region': [10.0, 10.0], 'd_region': [0.1, 0.2], 'p_region': [8.7e-6, 2e-5]},
    'output': {'foutput': 1},
    'units': {'units_length': 3.09e21, 'units_density': 1.66e-24, 'units_time': 3.1556926e13},
    'physics': {'cooling': True, 'metal': True},
    'rt': {'x': 0.9, 'y': 0.0, 'rt_c_fraction': 0.002, 'rt_err_grad_n': 0.8, 'rt_floor_n': 1e-5,
           'rt_nsource': 2, 'rt_source_type': ['square', 'point'],
           'rt_src_x_center': [0.2, 0.6], 'rt_src_y_center': [0.2, 0.6],
           'rt_src_length_x': [0.3, 0.0], 'rt_src_length_y': [0.3, 0.0],
           'rt_n_source': [1e6, 2e28], 'rt_u_source': [0.5, 0.1], 'rt_v_source': [0.5, 0.1],
           'rt_src_group': [1, 1], 'rt_exp_source': [2.0, 2.0]},
    'rt_groups': {'group_egy': [18.85, 35.0, 65.0]}}
RAYS3 = vary(RAYS, run={'ndim': 3, 'nstepmax': 1}, amr={'levelmax': 3},
             rt={'rt_src_z_center': [0.2, 0.6], 'rt_src_length_z': [0.3, 0.0],
                 'rt_w_source': [0.5, 0.1], 'rt_nregion': 1, 'rt_region_type': ['square'],
                 'rt_reg_x_center': [0.7], 'rt_reg_y_center': [0.7], 'rt_reg_z_center': [0.7],
                 'rt_reg_length_x': [0.3], 'rt_reg_length_y': [0.3], 'rt_reg_length_z': [0.3],
                 'rt_n_region': [1e-3], 'rt_u_region': [0.2], 'rt_v_region': [0.2],
                 'rt_w_region': [0.2], 'rt_reg_group': [1], 'rt_exp_region': [2.0]})
LIT = vary(RAYS3, run={'nstepmax': 1},
           boundary={'nboundary': 6, 'ibound_min': [-1, 1, -1, -1, -1, -1],
                     'ibound_max': [-1, 1, 1, 1, 1, 1], 'jbound_min': [0, 0, -1, 1, -1, -1],
                     'jbound_max': [0, 0, -1, 1, 1, 1], 'kbound_min': [0, 0, 0, 0, -1, 1],
                     'kbound_max': [0, 0, 0, 0, -1, 1], 'bound_type': [3, 2, 2, 2, 2, 2],
                     'd_bound': [0.1], 'p_bound': [8.7e-6]},
           rt={'rt_n_bound': [1e-4], 'rt_u_bound': [0.5], 'rt_v_bound': [0.1],
               'rt_w_bound': [0.1]})
ALL_CASES = vary(RAYS, run={'ngroups': 3}, rt={'rt_otsa': False})
FRONTS = vary(RAYS, 'rt/rt_err_grad_n', 'rt/rt_floor_n',
              rt={'rt_err_grad_xhii': 0.3, 'rt_floor_xhii': 1e-3})
BEAMS = vary(RAYS, 'rt/rt_err_grad_n', 'rt/rt_floor_n',
             rt={'rt_err_grad_cn': [0.8], 'rt_floor_cn': [1e-5]})
TAILS = vary(RAYS, 'rt/rt_err_grad_n', 'rt/rt_floor_n',
             rt={'rt_err_grad_xhi': 0.3, 'rt_floor_xhi': 1e-3})
# photons that are absorbed soon: their mesh is removed
FADING = vary(RAYS, run={'nstepmax': 3},
              rt={'rt_nsource': 0, 'rt_nregion': 1, 'rt_region_type': ['square'],
                  'rt_reg_x_center': [0.4], 'rt_reg_y_center': [0.4], 'rt_reg_length_x': [0.4],
                  'rt_reg_length_y': [0.4], 'rt_n_region': [0.05], 'rt_reg_group': [1]})
DUST = vary(RAYS, run={'nener': 1}, rt={'rt_isIR': True, 'rt_src_group': [2, 2]},
            init={'d_region': [3e3, 6e3], 'p_region': [0.1, 0.1], 'var_region(1,1)': 0.02,
                  'var_region(2,1)': 0.02},
            rt_groups={'groupL0': [0.1, 13.6], 'groupL1': [1.0, 0.0], 'group_egy': [1.0, 18.85],
                       'kappaAbs': [10.0, 1000.0], 'kappaSc': [10.0, 0.0]})
IRRADIATED = vary(DUST, rt={'is_kIR_T': True})
SUNS = vary(STARS, run={'rt': True, 'nstepmax': 3}, amr={'levelmax': 4},
            rt={'rt_star': True, 'sed_dir': 'library', 'rt_c_fraction': 1e-3,
                'rt_nsubcycle': 20, 'x': 1.0, 'y': 0.0, 'isHe': False})
HOLES = vary(SINKS, run={'rt': True, 'nstepmax': 3},
             rt={'rt_AGN': True, 'rt_c_fraction': 1e-3, 'rt_nsubcycle': 20},
             rt_groups={'group_egy_AGNfrac': [0.5, 0.3, 0.1]})
OBJECTS = vary(STELLAR, run={'rt': True}, stellar={'hii_t': 10.0},
               rt={'rt_sink': True, 'rt_c_fraction': 1e-3, 'rt_nsubcycle': 20})
DAWN = vary(RAYS, physics={'haardt_madau': True},
            rt={'uv_file': 'uv.dat', 'rt_UVsrc_nHmax': 0.15, 'nUVgroups': 1})


def libraries(folder):
    spectra.ramses(folder + '/library')
    spectra.ramses(folder + '/brighter', factor=2)


def backgrounds(folder):
    spectra.background(folder + '/uv.dat')
    spectra.background(folder + '/brighter.dat', factor=2)


UNLIT = vary(RAYS, 'rt', 'rt_groups', run={'rt': False}, physics={'neq_chem': True},
             init={'p_region': [2e-8, 2e-8]})

RUNS = {
    'sph': (1, SPH, None),
    'packed': (1, PACKED, None),
    'sph_isothermal': (1, ISOTHERMAL, None),
    'ball': (1, BALL, None),
    'disc': (1, DISC, None),
    'disc2': (2, DISC, None),
    'point': (1, POINT, None),
    'stencil': (1, STENCIL, None),
    'stencil2': (2, STENCIL, None),
    'warm': (1, WARM, None),
    'driven': (1, DRIVEN, None),
    'stirred': (1, STIRRED, None),
    'airy': (1, AIRY, None),
    'gas': (1, GAS, put('other.txt', '1 -1\n')),
    'dark': (1, DARK, unpack('ic_32')),
    'solver': (1, SOLVER, None),
    'walls': (1, WALLS, None),
    'energies': (1, ENERGIES, None),
    'mhd': (1, MHD, None),
    'drift': (1, DRIFT, None),
    'switched': (1, SWITCHED, None),
    'divergent': (1, DIVERGENT, None),
    'steep_a': (1, STEEP_A, None),
    'steep_b': (1, vary(STEEP, refine={'err_grad_b': 0.05}), None),
    'steep_c': (1, vary(STEEP, refine={'err_grad_c': 0.05}), None),
    'steep_b2': (1, vary(STEEP, refine={'err_grad_b2': 0.05}), None),
    'field_walls': (1, FIELD_WALLS, None),
    'hdf5': (1, HDF5, None),
    'timed': (1, vary(GAS, output={'walltime_hrs': 10.0}), None),
    'device': (1, DEVICE, None),
    'tracers': (1, TRACERS, None),
    'fed': (1, FED, each(put('tracers.txt', '0.5 0.5 0.5\n'), put('other.txt', '0.4 0.5 0.5\n'))),
    'movie': (1, MOVIE, None),
    'cosmo_movie': (1, vary(COSMO, movie={
        'movie': True, 'imovout': 30, 'aendmov': 0.025, 'nw_frame': 8, 'nh_frame': 8,
        'movie_vars_txt': ['dm'], 'deltax_frame': [1.0, 0.0], 'deltaz_frame': [1.0, 0.0]}),
                    unpack('ic_32')),
    'collapse': (1, COLLAPSE, None),
    'pulled': (1, PULLED, None),
    'hasty': (1, HASTY, None),
    'jeans_length': (1, JEANS_LENGTH, None),
    'resumed': (1, RESUMED, resumes(SCALAR)),
    'reborn': (1, REBORN, each(unpack('ic_32'), resumes(COSMO_STARS))),
    'due': (1, DUE, unpack('ic_32')),
    'by_mean': (1, BY_MEAN, None),
    'capped': (1, CAPPED, IC_SINK),
    'core': (1, CORE, None),
    'turbulent_core': (1, vary(CORE, init={'mach': 1.0}), STIR),
    'jeans_core': (1, JEANS_CORE, None),
    'masked': (1, MASKED, None),
    'analytic': (1, ANALYTIC, None),
    'both': (1, BOTH, each(particles(2000), put('other/ic_part', '0 0 0 0 0 0 0.1\n'))),
    'nbody': (1, NBODY, particles(2000)),
    'free': (1, FREE, particles(200)),
    'halos': (1, HALOS, particles(2000)),
    'clumps': (1, CLUMPS, particles(2000, 8)),
    'trees': (1, TREES, flights()),
    'once': (1, ONCE, particles(2000, 8)),
    'ranks': (2, RANKS, particles(500)),
    'work': (2, vary(RANKS, run={'memory_balance': False}), particles(500)),
    'cosmo': (1, COSMO, unpack('ic_32')),
    'cone': (1, CONE, unpack('ic_32')),
    'cone_maps': (1, CONE_MAPS, unpack('ic_32')),
    'cone_box': (1, CONE_BOX, unpack('ic_32')),
    'cone_sinks': (1, CONE_SINKS, each(unpack('ic_32'), put(
        'ic_sink', '1e-9 0.1 0.1 -0.2 0 0 0 0 0 0 0 0\n1e-9 -0.3 0.1 0.2 0 0 0 0 0 0 0 0\n'))),
    'cosmo_mhd': (1, COSMO_MHD, unpack('ic_32')),
    'gadget': (1, GADGET, snapshots('snapshot')),
    'galaxies': (1, GALAXIES, galaxy),
    'dice': (1, DICE, galaxy),
    'dice_field': (1, DICE_FIELD, galaxy),
    'dice_mask': (1, DICE_MASK, galaxy),
    'neutrinos': (1, NEUTRINOS, each(unpack('ic_32'), response('table', 0.5),
                                     response('other', 0.9))),
    'early': (1, EARLY, unpack('ic_32')),
    'fr': (1, FIFTH_FR, unpack('ic_32')),
    'loose': (1, FIFTH_LOOSE, unpack('ic_32')),
    'ndgp': (1, FIFTH_NDGP, unpack('ic_32')),
    'zoom': (1, ZOOM, unpack('ic_zoom')),
    'cooling': (1, COOLING, BACKGROUND),
    'power': (1, POWER, BACKGROUND),
    'table': (1, TABLE, cooling_tables),
    'floor': (1, FLOOR, None),
    'jeans': (1, JEANS, None),
    'ism': (1, ISM, None),
    'barotropic': (1, BAROTROPIC, None),
    'cosmo_cool': (1, COSMO_COOL, unpack('ic_32')),
    'stars': (1, STARS, None),
    'debris': (1, DEBRIS, None),
    'momentum': (1, MOMENTUM, None),
    'virial': (1, VIRIAL, None),
    'single': (1, SINGLE, None),
    'delayed': (1, DELAYED, None),
    'yields': (1, YIELDS, None),
    'cosmo_stars': (1, COSMO_STARS, unpack('ic_32')),
    'young': (1, YOUNG, None),
    'horizon': (1, HORIZON, None),
    'quasars': (1, QUASARS, None),
    'sinks': (1, SINKS, IC_SINK),
    'sinks2': (2, SINKS, IC_SINK),
    'threshold': (1, THRESHOLD, IC_SINK),
    'descent': (1, DESCENT, IC_SINK),
    'stellar': (1, STELLAR, GROWN),
    'boost': (1, BOOST, put('ic_sink', '1 0.1 0.1 0.1  0 0 0  0 0 0 0 0\n')),
    'unfed': (1, UNFED, IC_SINK),
    'clusters': (1, CLUSTERS, FAST),
    'create': (1, CREATE, None),
    'seeds': (1, SEEDS, None),
    'rays': (1, RAYS, None),
    'rays3': (1, RAYS3, None),
    'lit': (1, LIT, None),
    'case_a': (1, ALL_CASES, None),
    'fronts': (1, FRONTS, None),
    'fading': (1, FADING, None),
    'beams': (1, BEAMS, None),
    'dust': (1, DUST, None),
    'tails': (1, TAILS, None),
    'unlit': (1, UNLIT, None),
    'irradiated': (1, IRRADIATED, None),
    'suns': (1, SUNS, libraries),
    'holes': (1, HOLES, IC_SINK),
    'objects': (1, OBJECTS, GROWN),
    'dawn': (1, DAWN, backgrounds)}
