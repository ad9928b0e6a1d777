"""Bitwise reproducibility of any run: namelists are drawn at random, and each is run in many ways:
ranks, threads, domains, transports, tiles, devices, stopped and resumed from either format on other
ranks. All digests must equal that of one rank with one thread.

    any_run.py NUMBER [SEED [KIND]]   NUMBER namelists (0: until stopped), the first from SEED;
                                      without one they are new ones each time
    any_run.py show SEED [KIND]       print the namelist, and the ways of running it

KIND is any (boxes and universes), galaxies: stars, a recipe of feedback, sinks or black holes,
clumps and cooling together, or magnetic: boxes in one to three dimensions with a magnetic field.

A draw that simulate refuses is reported and not counted. Failed draws stay in the folder draw_SEED.

Example of a fault caught: a loop that follows the order of arrival, in whatever part of the code.
"""
# test: 3 20 tier=check timeout=400 ranks=3
# test: 1 3 galaxies tier=check timeout=200 ranks=3
# test: 4 6 magnetic tier=check timeout=300 ranks=3
# test: 40 tier=long timeout=3600 ranks=3
# test: 20 1 galaxies tier=long timeout=3600 ranks=3
# test: 30 1 magnetic tier=long timeout=3600 ranks=3
import itertools
import os
import random
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

STEPS, EVERY = 6, 2  # number of coarse steps, and of those between outputs


def text_of(groups):
    """A namelist from {group: {name: value}}."""
    def word(x):
        if isinstance(x, bool):
            return '.true.' if x else '.false.'
        if isinstance(x, (list, tuple)):
            return ','.join(map(word, x))
        return "'%s'" % x if isinstance(x, str) else repr(x)
    return ''.join('&%s\n%s/\n' % (g, ''.join('%s=%s\n' % (n, word(x)) for n, x in names.items()))
                   for g, names in groups.items() if names)


def some(r, low, high, n):
    return [round(r.uniform(low, high), 3) for _ in range(n)]


def mesh(r, levelmin, deepest):
    levelmax = r.randint(levelmin, deepest)
    return {'levelmin': levelmin, 'levelmax': levelmax,
            'nexpand': [r.randint(0, 2) for _ in range(levelmax - levelmin + 1)]}


def gas(r):
    return {'gamma': r.choice([1.4, 1.6666667, 1.1]),
            'courant_factor': round(r.uniform(0.2, 0.8), 2),
            'riemann': r.choice(['llf', 'hll', 'hllc', 'exact', 'acoustic']),
            'slope_type': r.choice([0, 1, 2, 3, 7, 8]),
            'slope_theta': round(r.uniform(1, 2), 2),
            'pressure_fix': r.random() < 0.4, 'beta_fix': r.choice([0.0, 0.1, 0.5]),
            'difmag': r.choice([0.0, 0.0, 0.1])}


def refinement(r, levels, kind):
    """Refinement criteria of levels; thresholds fall with the level, so that several levels are in
    use."""
    out = {'interpol_var': r.randint(0, 2)}
    out['interpol_type'] = r.randint(0, 4 if out['interpol_var'] == 2 else 3)
    ways = ['mass'] if kind == 'particles' else ['mass', 'steep', 'both']
    way = r.choice(ways)
    if way != 'steep' or kind == 'cosmo':
        first = r.choice([1.5, 3.0]) if kind in ('particles', 'cosmo') else 2.0
        out['m_refine'] = [round(first * r.choice([0.4, 0.6, 1.0]) ** i, 4) for i in range(levels)]
    if way != 'mass' and kind not in ('particles', 'cosmo'):
        out['err_grad_' + r.choice('pdu')] = r.choice([0.03, 0.1, 0.3])
    if r.random() < 0.2 and kind == 'gravity':
        out['jeans_refine'] = [r.choice([4.0, 16.0, -1.0]) for _ in range(levels)]
    if r.random() < 0.2 and kind != 'cosmo':
        out.update(r_refine=[round(r.uniform(0.3, 1.5), 2) for _ in range(levels)],
                   x_refine=some(r, 0.2, 0.8, levels), y_refine=some(r, 0.2, 0.8, levels),
                   z_refine=some(r, 0.2, 0.8, levels), a_refine=some(r, 0.5, 2, levels),
                   exp_refine=[r.choice([1.0, 2.0, 10.0]) for _ in range(levels)])
    return out


def regions(r, passive):
    """A background and a few clouds, one of which may be a point; velocities of a few sound
    speeds."""
    n = r.randint(2, 4)
    kinds = ['square'] * (n - 1) + [r.choice(['square', 'point'])]
    out = {'nregion': n}
    out.update(('region_type(%d)' % (i + 1), k) for i, k in enumerate(kinds))
    for axis in 'xyz':
        out[axis + '_center'] = [0.5, *some(r, 0.1, 0.9, n - 1)]
        out['length_' + axis] = [10.0] + [1.0 if k == 'point' else round(r.uniform(0.08, 0.4), 3)
                                          for k in kinds[1:]]
    out['exp_region'] = [10.0] + [r.choice([1.0, 2.0, 10.0]) for _ in kinds[1:]]
    point = kinds[-1] == 'point'
    for speed in 'uvw':
        out[speed + '_region'] = some(r, -1, 1, n)
    out['d_region'] = [1.0, *some(r, 0.1, 8, n - 1)]
    out['p_region'] = [0.1, *[round(10 ** r.uniform(-2, 2), 4) for _ in range(n - 1)]]
    if point:
        out['d_region'][-1], out['p_region'][-1] = 0.0, 0.1
    for i in range(passive):
        out['var_region(1,%d)' % (i + 1)] = round(r.random(), 3)
        out['var_region(2,%d)' % (i + 1)] = round(r.random(), 3)
    return out


def walls(r, passive):
    """Boundaries along one, two or all axes; boundaries of later axes cover the edges."""
    axes = sorted(r.sample('ijk', r.randint(1, 3)))
    out = {'nboundary': 2 * len(axes)}
    rows = {e + 'bound_' + m: [] for e in 'ijk' for m in ('min', 'max')}
    kinds = []
    for axis, end in itertools.product(axes, (-1, 1)):
        kinds.append(r.choice([1, 2, 3]))
        for e in 'ijk':
            low, high = (end, end) if e == axis else (-1, 1) if e in axes and e < axis else (0, 0)
            rows[e + 'bound_min'].append(low)
            rows[e + 'bound_max'].append(high)
    n = len(kinds)
    out.update(rows, bound_type=kinds, d_bound=some(r, 0.5, 2, n), u_bound=some(r, -1, 1, n),
               v_bound=some(r, -1, 1, n), w_bound=some(r, -1, 1, n), p_bound=some(r, 0.05, 1, n),
               no_inflow=r.random() < 0.3)
    for i in range(passive):
        out['var_bound(1,%d)' % (i + 1)] = round(r.random(), 3)
    return out


def gravity(r, levels, fftw):
    return {'epsilon': r.choice([1e-3, 1e-4, 1e-6]), 'mg_shared_octs': r.choice([0, 8, 64, 1024]),
            'cg_levelmin': r.choice([999, 999, levels[0], levels[1]]),
            'cic_levelmax': r.choice([0, 0, 0, levels[0], levels[1]]),
            'fft_green': r.choice(['discrete', 'spectral']) if fftw else 'discrete'}


def subcycles(r):
    return [r.choice([1, 1, 2]) for _ in range(2)] + [2]


def box(r, deepest=6):
    """Gas, particles or both in a box of side 1; with or without gravity and boundaries."""
    kind = r.choice(['gas', 'gas', 'gravity', 'particles', 'all'])
    hydro, poisson, pic = kind != 'particles', kind != 'gas', kind in ('particles', 'all')
    a, passive = mesh(r, r.randint(2, 4), deepest), r.choice([0, 0, 1, 3]) if hydro else 0
    levels = a['levelmax'] - a['levelmin'] + 1
    run = {'hydro': hydro, 'poisson': poisson, 'pic': pic, 'nstepmax': STEPS,
           'nsubcycle': subcycles(r), 'use_fftw': r.random() < 0.5}
    initial = regions(r, passive) if hydro else {}
    count = 0
    if pic:
        count = r.choice([7, 300, 3000])
        initial.update(filetype='ascii')
        initial['initfile(1)'] = 'ics'
    groups = {'RUN_PARAMS': run, 'AMR_PARAMS': a, 'INIT_PARAMS': initial,
              'OUTPUT_PARAMS': {'foutput': EVERY, 'tout': 1e9}}
    if hydro:
        groups['HYDRO_PARAMS'] = {**gas(r), 'npassive': passive}
    if poisson:
        groups['POISSON_PARAMS'] = gravity(r, (a['levelmin'], a['levelmax']), run['use_fftw'])
        if not pic and r.random() < 0.15:
            groups['POISSON_PARAMS'].update(gravity_type=r.choice([1, 2]),
                                            gravity_params=[0.3, -0.2, 0.1, 0.5])
    if levels > 1:
        groups['REFINE_PARAMS'] = refinement(r, levels, 'particles' if kind == 'particles' else
                                             'gas' if kind == 'gas' else 'gravity')
        groups['REFINE_PARAMS']['mass_sph'] = \
            round((1.0 if hydro else 0.3) * 8.0 ** -a['levelmin'], 9)
    if r.random() < 0.4:
        groups['BOUNDARY_PARAMS'] = walls(r, passive)
    return groups, count


def magnetic(r):
    """A box of gas with a uniform field, which its clouds wind up."""
    ndim = r.choice([1, 2, 3, 3])
    groups, count = box(r, 8 - ndim)
    while not groups['RUN_PARAMS']['hydro'] or (ndim < 3 and 'BOUNDARY_PARAMS' in groups):
        groups, count = box(r, 8 - ndim)
    groups['RUN_PARAMS'].update(mhd=True, ndim=ndim)
    strength = r.choice([0.1, 1.0])
    b = [strength * x for x in some(r, -1, 1, 3)]
    initial = groups['INIT_PARAMS']
    for i in range(initial['nregion']):
        if initial['region_type(%d)' % (i + 1)] == 'point':
            initial['region_type(%d)' % (i + 1)] = 'square'
            initial['length_x'][i], initial['d_region'][i] = 0.2, 1.0
    initial.update((x + '_region', [value] * initial['nregion']) for x, value in zip('abc', b))
    slopes = [0, 1, 2, 7, 8] if ndim == 3 else [0, 1, 2]
    groups['HYDRO_PARAMS'].update(
        riemann=r.choice(['llf', 'hll', 'hlld', 'hlld', 'roe', 'upwind']), difmag=0.0,
        riemann2d=r.choice(['llf', 'hll', 'hlla', 'hlld', 'hlld', 'roe', 'upwind']),
        slope_mag_type=r.choice(slopes))
    if 'REFINE_PARAMS' in groups:
        groups['REFINE_PARAMS'].update(interpol_var=r.randint(0, 1), interpol_type=r.randint(0, 3),
                                       interpol_mag_type=r.choice([-1, 0, 1, 2, 3, 6]),
                                       err_grad_b2=r.choice([-1.0, 0.1, 0.3]))
    walls = groups.get('BOUNDARY_PARAMS')
    if walls:
        walls.update((x + '_bound', some(r, -1, 1, walls['nboundary'])) for x in 'abc')
    return groups, count


def universe(r):
    """A cosmological box of 32^3 cells, with or without gas and its physics."""
    hydro, fftw = r.random() < 0.75, r.random() < 0.5
    a = mesh(r, 5, 7)
    levels = a['levelmax'] - 4
    groups = {'RUN_PARAMS': {'cosmo': True, 'pic': True, 'poisson': True, 'hydro': hydro,
                             'nstepmax': STEPS, 'nsubcycle': subcycles(r),
                             'use_fftw': fftw, 'dlna_max': r.choice([0.1, 0.05])},
              'AMR_PARAMS': a,
              'INIT_PARAMS': {'filetype': 'grafic', 'initfile(1)': 'ics/ic_32/level_005',
                              'omega_b': 0.047},
              'OUTPUT_PARAMS': {'foutput': EVERY, 'aout': 1.0},
              'POISSON_PARAMS': {**gravity(r, (5, a['levelmax']), fftw), 'cg_levelmin': 999}}
    if hydro:
        groups['HYDRO_PARAMS'] = {**gas(r), 'gamma': 1.6666667}
        cooling = r.random() < 0.5
        groups['PHYSICS_PARAMS'] = {
            'cooling': cooling, 'metal': r.random() < 0.5,
            'cooling_method': r.choice(['original', 'implicit']),
            'self_shielding': r.random() < 0.3, 'z_reion': 60.0, 'haardt_madau': True,
            'z_ave': r.choice([0.0, 0.1]), 't2_star': r.choice([0.0, 10.0]),
            'g_star': r.choice([1.6, 2.0]), 'n_star': 1.0}
        if r.random() < 0.4:
            groups['PHYSICS_PARAMS'].update(eps_star=0.5, n_star=1e-4, del_star=0.5, m_star=0.05,
                                            eta_sn=0.2, t_sne=0.1, f_w=r.choice([0.0, 1.0]))
    if levels > 1:
        groups['REFINE_PARAMS'] = refinement(r, levels, 'cosmo')
        groups['REFINE_PARAMS']['m_refine'] = [3.0, 0.9, 0.3][:levels]
    return groups, 0


def stars(r):
    """Star formation and feedback, as parameters of &PHYSICS_PARAMS and others."""
    out = {'n_star': r.choice([10.0, 60.0]), 'm_star': r.choice([1.0, 5.0]),
           't2_star': r.choice([0.0, 100.0]), 'g_star': r.choice([1.6, 2.0]),
           'metal': r.random() < 0.7, 'sf_virial': r.random() < 0.3, 't_sne': 0.1}
    out.update({'eps_star': 0.5} if r.random() < 0.7 else {'t_star': 0.05})
    law = {'sf_log_properties': r.random() < 0.5}
    if out['sf_virial']:
        out['sf_model'] = r.randint(0, 5)
        law['sf_compressive'] = r.random() < 0.5
    recipe = r.choice(['thermal', 'debris', 'momentum', 'single'])
    back = {'eta_sn': 0.2, 'yield': 0.1, 'f_w': 1.0 if recipe == 'debris' else 0.0,
            'momentum_feedback': 2 if recipe == 'momentum' else 0,
            'delayed_cooling': r.random() < 0.4}
    if recipe == 'thermal':
        back.update(mass_gmc=r.choice([-1.0, 1e4]), kappa_ir=r.choice([0.0, 10.0]))
    law['sf_imf'] = recipe == 'single'
    return out, law, back


def holes(r):
    """Parameters of the sinks of RAMSES or of Horizon-AGN."""
    if r.random() < 0.5:
        return {'mseed': 1e5, 'sink_agn': r.random() < 0.8, 'drag': r.random() < 0.5,
                'r_gal': 0.012, 'rmerge': 4.0, 't2maxagn': 1e8, 'mad_jet': r.random() < 0.5,
                'spin_bh': r.random() < 0.7, 'random_jet': r.random() < 0.3,
                'x_floor': r.choice([0.01, 10.0])}, {}, {}
    sink = {'create_sinks': True, 'mass_sink_seed': 10.0, 'n_sink': 500.0, 'ir_cloud': 2,
            'accretion_scheme': r.choice(['none', 'bondi', 'threshold']),
            'check_energies': r.random() < 0.5, 'merging_timescale': r.choice([-1.0, 1e6]),
            'mass_sink_direct_force': r.choice([-1.0, 0.0])}
    if r.random() < 0.5:
        sink.update(smbh=True, agn=True, mass_smbh_seed=1e5, mass_sink_seed=1e5,
                    mass_halo_agn=0.0, mass_clump_agn=0.0, agn_fbk_frac_mom=0.5,
                    agn_fbk_frac_ener=0.5, eddington_limit=r.random() < 0.5)
    return {}, sink, {'density_threshold': 4.0, 'saddle_threshold': 20.0, 'ivar_clump': 1}


def galaxy(r):
    """A kiloparsec of dense clouds that collapse, form stars and black holes, and are blown
    apart."""
    a, n = mesh(r, 4, 6), r.randint(3, 5)
    a['levelmax'] = max(a['levelmax'], 5)
    law, sf, back = stars(r)
    black, sink, clumps = holes(r) if r.random() < 0.75 else ({}, {}, {})
    cooling = r.random() < 0.6
    clouds = {'nregion': n, 'exp_region': [10.0, *[2.0] * (n - 1)],
              'd_region': [1.0, *some(r, 8, 40, n - 1)], 'p_region': [0.1] * n}
    clouds.update(('region_type(%d)' % (i + 1), 'square') for i in range(n))
    for axis, speed in zip('xyz', 'uvw'):
        clouds[axis + '_center'] = [0.5, *some(r, 0, 1, n - 1)]
        clouds['length_' + axis] = [10.0, *some(r, 0.1, 0.3, n - 1)]
        clouds[speed + '_region'] = [0.0, *some(r, -0.3, 0.3, n - 1)]
    groups = {
        'RUN_PARAMS': {'hydro': True, 'poisson': True, 'sink': bool(black or sink),
                       'clumpfind': r.random() < 0.3 and bool(clumps),
                       'nstepmax': STEPS, 'nsubcycle': subcycles(r)},
        'AMR_PARAMS': a, 'INIT_PARAMS': clouds, 'OUTPUT_PARAMS': {'foutput': EVERY, 'tout': 1e9},
        'HYDRO_PARAMS': {**gas(r), 'gamma': 1.6666667}, 'POISSON_PARAMS': {'epsilon': 1e-4},
        'UNITS_PARAMS': {'units_density': 1.66e-22, 'units_time': 3e14, 'units_length': 3e21},
        'REFINE_PARAMS': {'m_refine': [0.5, 0.3], 'mass_sph': 1e-3, 'interpol_var': 1,
                          'interpol_type': r.randint(0, 3), 'sink_refine': r.random() < 0.5},
        'PHYSICS_PARAMS': {**law, **black, 'cooling': cooling, 'self_shielding': cooling,
                           'cooling_method': r.choice(['original', 'implicit']),
                           'haardt_madau': True, 'z_ave': 0.1},
        'SF_PARAMS': sf, 'FEEDBACK_PARAMS': back, 'SINK_PARAMS': sink, 'CLUMPFIND_PARAMS': clumps}
    return groups, 0


def particles(r, n, folder):
    """Writes ic_part of n particles: some in a clump, one on a face of cells, some identical."""
    os.makedirs(os.path.join(folder, 'ics'))
    with open(os.path.join(folder, 'ics', 'ic_part'), 'w') as f:
        for i in range(n):
            middle, width = ((0.1, -0.2, 0.15), 0.08) if i % 2 else ((0, 0, 0), 0.49)
            x = [m + r.uniform(-width, width) for m in middle]
            if i == 2:
                x = [0.25, 0.0, -0.125]
            v = [r.gauss(0, 0.3) for _ in x]
            f.write('%.9g %.9g %.9g %.6g %.6g %.6g %.6g\n' % (*x, *v, 0.3 / n))


def draw(seed, kind):
    r = random.Random(seed)
    if kind == 'magnetic':
        groups, count = magnetic(r)
        return groups, count, r
    makes = galaxy if kind == 'galaxies' else universe if r.random() < 0.25 else box
    groups, count = makes(r)
    return groups, count, r


def manner(r, resume):
    """A way of running: ranks, threads, settings, environment."""
    device = r.random() < 0.5
    settings = ['run_params/ordering=' + r.choice(['ksection', 'hilbert']),
                'run_params/nremap=%d' % r.choice([0, 1, 2, 5]),
                'run_params/exchange_method=' + r.choice(['auto', *ptah.transports()]),
                'run_params/memory_balance=' + r.choice(['.true.', '.false.']),
                'run_params/exchange_shared=' + r.choice(['.true.', '.false.']),
                'run_params/check_ghosts=' + r.choice(['.true.', '.false.', '.false.']),
                'output_params/outformat=' + r.choice(['original', 'hdf5'])]
    env = {'PTAH_NODE_RANKS': str(r.randint(1, 4))} if r.random() < 0.3 else {}
    if device:
        parts = [p for p in ptah.NO_KERNEL if r.random() < 0.75]
        settings += ["run_params/gpu_device='host'", 'run_params/gpu_seed=%d' % r.randint(0, 99)]
        settings += ['run_params/%s=.true.' % p for p in parts]
        env['PTAH_DEVICES'] = str(r.randint(1, 2))
        if r.random() < 0.2:
            env['PTAH_DEVICE_KB'] = str(r.choice([300, 2000, 6000]))
    ranks = r.choice([1, 1, 2, 3]) if device else r.choice([1, 2, 3, 5, 7])
    return ranks, r.choice([1, 1, 2]), settings, env, resume


def ways(r, run):
    out = [manner(r, i > 2) for i in range(5)]
    for way in out if run['hydro'] else []:
        way[2].append('hydro_params/tile_depth=%d' % r.randint(0, 4))
    return out


def told(way):
    ranks, threads, settings, env, resume = way
    return '%s%d ranks, %d threads, %s' % (
        'resumed, ' if resume else '', ranks, threads,
        ' '.join([s.split('/')[1] for s in settings] + ['%s=%s' % e for e in env.items()]))


def run(folder, way, options=()):
    ranks, threads, settings, env, _ = way
    return ptah.simulate('run.nml', folder, ranks, threads, settings, ['-q', *options],
                         timeout=300, must_work=False, env=env)


def numbered(r):
    return {p.rstrip('/')[-5:]: ptah.digest(p) for p in r.outputs}


def attempt(seed, kind):
    """None if the draw is refused; else the ways whose digests differ."""
    groups, count, r = draw(seed, kind)
    folder = 'draw_%d' % seed
    os.makedirs(folder)
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(text_of(groups))
    if groups['RUN_PARAMS'].get('cosmo'):
        os.symlink(os.path.abspath('ics'), os.path.join(folder, 'ics'))
    elif count:
        particles(r, count, folder)
    first = run(folder, (1, 1, [], {}, False))
    if first.status == 2:
        print('     %d refused: %s' % (seed, first.err.strip()[-200:]))
        shutil.rmtree(folder)
        return None
    if first.status != 0:
        return ['one rank: status %d\n%s' % (first.status, first.err[-2000:])]
    expected, bad = numbered(first), []
    for i, way in enumerate(ways(r, groups['RUN_PARAMS'])):
        options = ['-o', 'way%d' % i]
        if way[4]:  # from the output after EVERY steps, in the format of this way
            source = 'output_00002'
            if r.random() < 0.5:
                source = 'way%d.source' % i
                form = r.choice(['hdf5', 'ramses'])
                ptah.Run([ptah.program('convert'), '-f', form, '-o', source, 'output_00002'],
                         folder)
            options += ['-r', source]
        result = run(folder, way, options)
        if result.status != 0:
            bad.append('%s: status %d\n%s' % (told(way), result.status, result.err[-2000:]))
            continue
        found = numbered(result)
        if way[4]:
            found = {'00001': expected['00001'], '00002': expected['00002'], **found}
        for name in expected:
            different = ptah.changed(found.get(name, 'nothing'), expected[name])
            if different:
                bad.append('%s: digest of output %s: %s' % (told(way), name, '; '.join(different)))
                break
    if not bad:
        shutil.rmtree(folder)
    return bad


def show(seed, kind='any'):
    groups, count, r = draw(seed, kind)
    print(text_of(groups) + '%d particles' % count)
    if count:
        particles(r, count, os.path.join('shown_%d' % seed))
    for way in ways(r, groups['RUN_PARAMS']):
        print(told(way))


def main():
    if sys.argv[1] == 'show':
        return show(int(sys.argv[2]), *sys.argv[3:])
    number = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10 ** 8)
    kind = sys.argv[3] if len(sys.argv) > 3 else 'any'
    ptah.unpack_ics('.', 'ic_32')
    done = refused = failed = 0
    while not number or done < number:
        start = time.monotonic()
        bad = attempt(seed, kind)
        if bad is None:
            refused += 1
        else:
            done, failed = done + 1, failed + bool(bad)
            print('%-4s seed %d, %.1f s' % ('FAIL' if bad else 'ok', seed,
                                            time.monotonic() - start), *bad, sep='\n     ',
                  flush=True)
        if refused > 10 + done:
            sys.exit('more draws are refused than run')
        seed += 1
    print('%d runs, %d refused, %d failed' % (done, refused, failed))
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
