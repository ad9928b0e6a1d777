"""The small runs of property/parameters.py, and the run in which each parameter has an effect.

RUNS: name → (ranks, namelist, function that puts its files into a folder, or None). A run takes a
few tenths of a second.

ACTS: the run in which a parameter, set alone to this value, changes a checkpoint, an output, the
log or the exit status, as `group/name=value` of the command line. A value followed by !N ends the
run with exit status N. A new parameter needs an entry.
"""
import copy
import math
import os
import random

import ptah


def text_of(groups):
    """A namelist from {group: {name: value}}; groups are named as on the command line."""
    def word(x):
        if isinstance(x, bool):
            return '.true.' if x else '.false.'
        if isinstance(x, list):
            return ','.join(map(word, x))
        return "'%s'" % x if isinstance(x, str) else repr(x)
    return ''.join('&%s_PARAMS\n%s/\n' % (g.upper(), ''.join('%s=%s\n' % (n, word(x))
                                                             for n, x in names.items()))
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
ANALYTIC = vary(COLLAPSE, poisson={'gravity_type': 1, 'gravity_params': [0.3, -0.2, 0.1]})
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
GADGET = vary(DARK, 'run/use_fftw', run={'nstepmax': 1}, output={'foutput': 1},
              init={'filetype': 'gadget', 'initfile(1)': 'snapshot'},
              amr={'levelmin': 3, 'levelmax': 3})
NEUTRINOS = vary(DARK, run={'use_neutrino': True},
                 neutrino={'omega_nu': 0.05, 'neutrino_table': 'table'})
EARLY = vary(DARK, run={'use_ede': True})
FIFTH_FR = vary(DARK, run={'use_fr': True})
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
UNFED = vary(SINKS, 'sink', sink={'mass_sink_seed': 1.0})
CLUSTERS = vary(SINKS, 'sink', sink={'mass_sink_seed': 1.0, 'accretion_scheme': 'bondi',
                                     'smbh': True, 'mass_smbh_seed': 1.0})
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
    'airy': (1, AIRY, None),
    'gas': (1, GAS, put('other.txt', '1 -1\n')),
    'dark': (1, DARK, unpack('ic_32')),
    'solver': (1, SOLVER, None),
    'walls': (1, WALLS, None),
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
    'cosmo_mhd': (1, COSMO_MHD, unpack('ic_32')),
    'gadget': (1, GADGET, snapshots('snapshot')),
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
    'boost': (1, BOOST, put('ic_sink', '1 0.1 0.1 0.1  0 0 0  0 0 0 0 0\n')),
    'unfed': (1, UNFED, IC_SINK),
    'clusters': (1, CLUSTERS, FAST),
    'create': (1, CREATE, None),
    'seeds': (1, SEEDS, None)}

ACTS = {
    'sph': """
        sph/setup=lattice sph/init_file=none!2 sph/npx=9 sph/lattice=cubic sph/kernel=M6
        sph/hfact=1.1 sph/htol=1e-3 sph/eos=isothermal!2 sph/gamma=1.5 sph/alpha_switch=mm97
        sph/alpha_min=0.1 sph/alpha_max=2 sph/beta=3 sph/alphau=0.5 sph/sigma_decay=1
        sph/shock_heating=F sph/pdv_heating=F sph/cfl=0.1 sph/dt_fixed=1e-5 sph/vtol=1e-5
        sph/boundary=free!2 sph/rho0=2 sph/diag_every=2 sph/nsink=1 sph/gpu=T""",
    'packed': """
        sph/seed=2 sph/xmin=-0.1,0,0 sph/xmax=1,1.1,1 sph/p0=2 sph/v0=1,0,0 sph/cfl_force=0.01
        sph/ghost_tol=1.5""",
    'sph_isothermal': 'sph/cs0=0.6',
    'ball': 'sph/gravity=none sph/theta=0.9 sph/g=2',
    'disc': """
        sph/np=300 sph/r0=1.001 sph/q_index=0.26 sph/cs0=0.05001 sph/soften=0.1 sph/nsink=1
        sph/sink_m=1.001,2e-3 sph/sink_x=0,0,0,5 sph/sink_v=0,0,0,0,0.6,0 sph/sink_racc=1.6,1.6
        sph/sink_accretion=phantom sph/disc_mass=0.1 sph/disc_rin=1.1 sph/disc_rout=11
        sph/disc_p=0.5 sph/disc_hr=0.05001""",
    'disc2': 'sph/balance_every=1',
    'point': 'sph/gm=2 sph/external=none!2',
    'stencil': """
        stencil/nx=16 stencil/ny=12 stencil/nz=10 stencil/lx=5 stencil/ly=5 stencil/lz=5
        stencil/order=4 stencil/hydro=F!2 stencil/magnetic=F stencil/entropy=T stencil/lorentz=F
        stencil/cs0=2 stencil/rho0=2 stencil/mu0=2 stencil/nu=0.1 stencil/zeta=0.1 stencil/eta=0.1
        stencil/upwind=T stencil/bext=0.1,0.2,0.3 stencil/cshock=1!2 stencil/cdt=0.2
        stencil/cdtv=0.001 stencil/dt_fixed=0.01 stencil/init_u=roberts stencil/init_a=abc
        stencil/init_lnrho=gaussian stencil/amp_u=0.7 stencil/amp_a=0.2 stencil/amp_lnrho=0.2
        stencil/kx_init=2 stencil/abc_init=1,2,3 stencil/seed=2 stencil/init_file=other.h5!2
        stencil/forcing=none stencil/f0=0.2 stencil/kf=2.5 stencil/sigma=0 stencil/diag_every=1
        stencil/slice_every=2!2 stencil/slice_fields=other!2 stencil/precision=single!2
        stencil/gpu=T""",
    'stencil2': 'stencil/parts=1,2,1 stencil/overlap=F',
    'warm': """
        stencil/gamma=1.5 stencil/cp=2 stencil/chi=0.1 stencil/kcond=0.1 stencil/heating=0.1
        stencil/init_s=gaussian stencil/amp_s=0.2 stencil/f_const=0.1,0.2,0.3
        stencil/slice_axis=x stencil/slice_range=0,1""",
    'driven': """
        turb/turb_seed=5 turb/turb_type=3!2 turb/instant_turb=F turb/comp_frac=0.8
        turb/forcing_power_spectrum=power_law turb/turb_t=0.4 turb/turb_ndt=1 turb/turb_rms=2
        turb/turb_min_rho=1.05""",
    'gas': """
        run/pic=T!0 run/poisson=T run/ndim=2 run/ndim=4!2 run/sink=T!2
        run/use_neutrino=T!2 run/unbind=T!2 run/verbose=T run/tracer=T
        run/ncontrol=2 run/nstepmax=2 run/nsubcycle=1,1 run/static=T run/nrestart=1!2
        run/solver=other!2
        run/check_ghosts=T run/jobcontrolfile=other.txt!75 run/gpu_hydro=T run/overload=2!2
        output/noutput=1 output/foutput=3 output/fbackup=1 output/backup_minutes=1e-9
        output/tout=0.01 output/tend=0.01 output/delta_tout=0.01 output/aout=0.5 output/aend=0.5
        output/walltime_hrs=1e-9!75 output/outformat=hdf5 output/longint=T amr/levelmin=4
        amr/levelmax=4 amr/ngridmax=1!2 amr/ngridtot=1!2 amr/nexpand=2,2 amr/boxlen=0.9
        init/filetype=grafic!2 init/nregion=1 init/region_type(2)=point init/x_center(2)=0.4
        init/y_center(2)=0.4 init/z_center(2)=0.4 init/length_x(2)=0.4 init/length_y(2)=0.4
        init/length_z(2)=0.4 init/exp_region(2)=10 init/d_region(2)=4 init/u_region(2)=0.4
        init/v_region(2)=0.4 init/w_region(2)=0.4 init/p_region(2)=4 init/var_region(2,1)=0.4
        hydro/gamma=1.6 hydro/courant_factor=0.4 hydro/smallr=2 hydro/smallc=2 hydro/riemann=llf
        hydro/slope_type=2 hydro/scheme=plmde!2 hydro/difmag=0.1 hydro/pressure_fix=T
        hydro/tile_depth=1 hydro/npassive=1 refine/err_grad_d=0.02 refine/err_grad_p=0.02
        refine/err_grad_u=0.02 refine/floor_d=10 refine/interpol_var=1 refine/interpol_type=0
        refine/r_refine=0.2,0.2 units/units_density=1e-24 units/units_time=1e13
        units/units_length=1e20
        physics/cooling=T physics/nothing=T physics/metal=T physics/isothermal=T physics/t_star=1
        physics/eps_star=1 cooling/barotropic_eos=T boundary/nboundary=1!2""",
    'solver': """
        refine/floor_p=10 hydro/niter_riemann=1 hydro/slope_theta=1.1 hydro/beta_fix=0.1
        refine/x_refine=0.3,0.3 refine/y_refine=0.3,0.3 refine/z_refine=0.3,0.3
        refine/a_refine=2,2 refine/b_refine=2,2 refine/exp_refine=10,10""",
    'walls': """
        refine/floor_u=10 boundary/bound_type(1)=1 boundary/ibound_min(8)=-1
        boundary/ibound_max(7)=1 boundary/jbound_min(10)=-1 boundary/jbound_max(9)=1
        boundary/kbound_min(8)=-1 boundary/kbound_max(7)=1 boundary/d_bound(1)=3
        boundary/u_bound(1)=0.5 boundary/v_bound(1)=0.5 boundary/w_bound(1)=0.5
        boundary/p_bound(1)=1 boundary/var_bound(1,1)=0.7 boundary/no_inflow=T""",
    'mhd': """
        run/mhd=F!2 init/a_region=0.5,0.5 init/b_region=0.5,0.5 init/c_region=0.5,0.5
        hydro/riemann2d=llf hydro/slope_mag_type=0 hydro/eta_mag=0.1 hydro/scheme=induction
        hydro/allow_switch_solver=T hydro/allow_switch_solver2d=T refine/interpol_mag_type=0""",
    'switched': """
        hydro/switch_solv_b=0.1 hydro/switch_solv_dens=1.01 hydro/switch_solv_min_dens=10""",
    'drift': 'hydro/velana=ponomarenko',
    'divergent': 'init/allow_divb=T',
    'steep_a': 'refine/err_grad_a=-1 refine/floor_a=100',
    'steep_b': 'refine/err_grad_b=-1 refine/floor_b=100',
    'steep_c': 'refine/err_grad_c=-1 refine/floor_c=100',
    'steep_b2': 'refine/err_grad_b2=-1 refine/floor_b2=100',
    'field_walls': 'boundary/a_bound(3)=0.2 boundary/b_bound(1)=0.9 boundary/c_bound(1)=0.5',
    'hdf5': 'output/deflate=9 output/keep_last=1',
    'timed': 'output/minutes_dump=600!75',
    'tracers': """
        tracer/mc_tracer=T tracer/tracer_feed_fmt=binary!2 tracer/tracer_mass=2e-3
        tracer/tracer_scheme=first tracer/tracer_seed=3""",
    'fed': 'tracer/tracer_feed=other.txt',
    'device': 'run/gpu_device=none run/gpu_seed=2 run/gpu_auto_tune=T run/n_cuda_streams=2',
    'movie': """
        movie/movie=F movie/movie_format=other!2 movie/levelmax_frame=3 movie/nw_frame=9
        movie/nh_frame=7 movie/ivar_frame(1)=0 movie/varmin_frame(1)=0 movie/varmax_frame(1)=1e24
        movie/xcentre_frame(1)=0.4 movie/ycentre_frame(1)=0.6 movie/zcentre_frame(1)=0.45
        movie/deltax_frame(1)=0.5 movie/deltay_frame(1)=0.5 movie/deltaz_frame(1)=0.1
        movie/zoom_only=T movie/zoom_only_frame(1)=T movie/imovout=5 movie/imov=2
        movie/tstartmov=0.02 movie/tendmov=0.025 movie/proj_axis=x movie/movie_vars_txt(1)=temp
        movie/theta_camera(1)=30 movie/phi_camera(1)=30 movie/dtheta_camera(1)=90
        movie/dphi_camera(1)=90 movie/tstart_theta_camera(1)=0.01
        movie/tstart_phi_camera(1)=0.01 movie/tend_theta_camera(1)=0.005
        movie/tend_phi_camera(1)=0.005 movie/focal_camera(1)=0.7 movie/dist_camera(1)=1.2
        movie/ddist_camera(1)=2 movie/perspective_camera(1)=F movie/smooth_frame(1)=3
        movie/shader_frame(1)=sphere movie/method_frame(1)=max""",
    'cosmo_movie': 'movie/astartmov=0.02 movie/aendmov=0.03',
    'collapse': """
        run/gpu_poisson=T run/use_fftw=T poisson/epsilon=0.1 poisson/gravity_type=1
        poisson/cg_levelmin=4 refine/m_refine=0.1,0.1 refine/mass_sph=0.1
        refine/jeans_refine=20,20""",
    'masked': 'refine/ivar_refine=-1 refine/var_cut_refine=0.05',
    'analytic': 'poisson/gravity_params=1,1,1',
    'both': """
        run/hydro=F run/pic=F run/poisson=F run/gpu_particles=T run/gpu_fft=T run/dump_pk=T
        run/dump_halos=T run/clumpfind=T!2 amr/npartmax=1!2 amr/nparttot=1!2
        poisson/fft_green=spectral poisson/cic_levelmax=3 refine/mass_cut_refine=1e-6
        init/initfile(1)=other""",
    'halos': 'run/halo_link=0.4 run/halo_min=200 run/halo_bound=T run/dump_halos_every=1',
    'clumps': """
        run/clumpfind_every=1 run/dump_pk_every=1
        clumpfind/ivar_clump=1 clumpfind/relevance_threshold=3 clumpfind/density_threshold=1
        clumpfind/saddle_threshold=10 clumpfind/mass_threshold=100 clumpfind/clinfo=T
        unbinding/nmassbins=5 unbinding/logbins=F unbinding/particlebased_clump_output=T
        unbinding/saddle_pot=F unbinding/iter_properties=F unbinding/conv_limit=100
        unbinding/repeat_max=1""",
    'trees': """
        run/make_mergertree=F mergertree/nmost_bound=20 mergertree/max_past_snapshots=1
        mergertree/use_exclusive_mass=F mergertree/make_mock_galaxies=F""",
    'ranks': """
        run/nremap=3 run/remap_thresh=0.001 run/ordering=hilbert run/memory_balance=F
        run/mem_weight_grid=10 run/mem_weight_part=10000 run/time_balance_alpha=1
        run/exchange_method=p2p run/exchange_shared=F run/exchange_letters=0
        poisson/mg_shared_octs=0""",
    'work': 'run/cost_weighting=F',
    'cosmo': """
        run/cosmo=F!2 run/dlna_max=0.01 run/ramses_cosmology=T output/aout=0.021 output/aend=0.021
        output/delta_aout=0.001 init/omega_b=0.03 init/aexp_ini=0.025""",
    'cone': """
        run/lightcone=F lightcone/cone_rule=crossing lightcone/cone_format=hdf5
        lightcone/cone_format=healpix
        lightcone/thetay_cone=0.04 lightcone/thetaz_cone=0.04 lightcone/zmax_cone=10
        lightcone/maxboxr_cone1=1,0.1,0.1 lightcone/maxboxr_cone2=1,0.1,0.1""",
    'cone_maps': 'lightcone/cone_nside=128',
    'cone_box': """
        lightcone/cone_hydro=T
        lightcone/elongated_axis_cone1=-1 lightcone/observer_cone1=0.5,0.5,0.5
        lightcone/minboxr_cone1=0,0.05,0 lightcone/elongated_axis_cone2=1
        lightcone/observer_cone2=0.5,0.5,0.5 lightcone/minboxr_cone2=0,0.05,0""",
    'cosmo_mhd': 'init/b_ave=0.001',
    'gadget': """
        init/gadget_unit=0.5 init/gadget_h0=60 init/gadget_omega_m=0.31 output/gadget_output=T""",
    'dark': 'cpl/w0=-0.9 cpl/wa=0.1 run/use_ede=T run/use_fr=T run/use_ndgp=T',
    'early': 'ede/omega_ede=0.08 ede/z_ede=100 ede/w_ede=0.5',
    'fr': 'fr/fr0=-1e-5 fr/fr_n=2 fr/n_iter_fr=1!2 fr/fr_eps=1e-9',
    'loose': 'run/scalar_solver_strict=T!2',
    'ndgp': 'ndgp/omega_rc=0.5 ndgp/ndgp_branch=-1 ndgp/n_iter_ndgp=1!2 ndgp/ndgp_eps=1e-9',
    'neutrinos': 'neutrino/omega_nu=0.1 neutrino/neutrino_table=other',
    'cooling': """
        physics/haardt_madau=F physics/cooling_method=implicit physics/self_shielding=T
        physics/z_ave=0.1 physics/t2max=1e4 physics/t2_star=1e6 physics/jeans_ncells=400
        cooling/atomic_rates=abel cooling/uv_table=background.txt cooling/cooling_ism=T""",
    'power': 'physics/j21=5 physics/a_spec=2',
    'table': 'physics/grackle_table=other.bin',
    'floor': 'physics/n_star=5 physics/g_star=2',
    'jeans': 'run/ramses_2024=T',
    'ism': 'cooling/mu_gas=2',
    'barotropic': """
        cooling/barotropic_eos_form=custom cooling/polytrope_rho=1e-23 cooling/polytrope_index=2
        cooling/t_eos=1e3""",
    'cosmo_cool': """
        physics/z_reion=20 amr/nlevel_collapse=1 refine/q_refine_holdback=F physics/del_star=50""",
    'stars': """
        physics/m_star=10 physics/sf_virial=T physics/sf_trelax=100 physics/f_w=1
        physics/mass_gmc=1e5 physics/kappa_ir=10 physics/delayed_cooling=T physics/t_sne=1
        physics/yieldtablefilename=hopkins2018!2 sf/sf_log_properties=T sf/sf_imf=T
        feedback/eta_sn=0.1 feedback/yield=0.3 feedback/f_esn=2 feedback/momentum_feedback=1
        stellar/iseed=7""",
    'debris': 'physics/rbubble=20 physics/f_ek=0.2',
    'virial': 'physics/sf_model=1 sf/sf_tdiss=10 sf/sf_compressive=F',
    'single': 'feedback/eta_ssn=0.5 feedback/mass_star_max=1 feedback/mass_sne_min=1e9',
    'delayed': 'physics/t_diss=1',
    'yields': 'physics/eps_sn1=2 physics/eps_sn2=2 physics/tol=0.9',
    'cosmo_stars': 'run/use_proper_time=T',
    'young': 'clumpfind/age_cut_clfind=0.01',
    'horizon': """
        physics/sink_agn=F physics/ragn=0.1 physics/eagn_t=0.5 physics/tagn=1e9
        physics/t2maxagn=1e9 physics/mloadagn=10 physics/x_floor=0.01 physics/r_gal=10
        physics/boost_acc=0 physics/boost_drag=0 physics/mseed=1e4 physics/sigmav_max=1
        physics/f_bondi=0.1 physics/random_jet=T physics/drag=F physics/bondi=F physics/spin_bh=F
        physics/bhspinmerge=F physics/mad_jet=F physics/rmerge=1""",
    'quasars': 'physics/eagn_k=0.5 physics/selfgrav=F physics/vrel_merge=F',
    'sinks': """
        run/sinkprops=T!2 amr/nsinkmax=1!2 refine/sink_refine=F physics/agn=F
        sink/merging_timescale=1 sink/ir_cloud_massive=2 sink/sink_soft=4
        sink/mass_sink_direct_force=1 sink/ir_cloud=2 sink/nlevelmax_sink=4 sink/eddington_limit=T
        sink/acc_sink_boost=10 sink/mass_smbh_seed=1 sink/t2_agn=1e8 sink/t2_min=1e6
        sink/t2_max=1e6 sink/v_max=10 sink/cone_opening=30 sink/agn_fbk_frac_ener=1
        sink/agn_fbk_frac_mom=0.1 sink/epsilon_kin=0.5 sink/agn_fbk_mode_switch_threshold=0.01
        sink/kin_mass_loading=100 sink/bondi_use_vrel=F sink/agn_acc_method=volume
        sink/agn_inj_method=mass sink/accretion_scheme=none""",
    'sinks2': 'run/mem_weight_sink=1000000000',
    'threshold': 'sink/c_acc=0.4 sink/d_sink=0.5',
    'clusters': 'sink/mass_merger_vel_check=1e-9 sink/max_mass_nsc=1e-9 physics/smbh=F',
    'create': """
        sink/create_sinks=F sink/check_energies=F sink/mass_sink_seed=200 sink/rho_sink=1e-17
        physics/n_sink=1e7 clumpfind/n_clfind=1e9 clumpfind/rho_clfind=1e-15""",
    'seeds': """
        sink/clump_core=T sink/mass_halo_agn=1e9 sink/mass_clump_agn=1e9 sink/mass_star_agn=1e9""",
    'boost': 'sink/boost_threshold_density=10'}

# Files or log lines that record a parameter without other effects.
RECORDED = {'refine/mass_sph': r'amr_\d+\.out\d+$', 'sink/acc_sink_boost': r'sink_\d+\.csv',
            'sink/bondi_use_vrel': r'sink_\d+\.csv', 'sink/eddington_limit': r'sink_\d+\.csv|log'}

# Parameters without effect in some runs (or *: many), for which no remark is printed, with the
# reason.
QUIET = {}
