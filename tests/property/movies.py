"""Frames of movies depend on the state alone, and have what laws demand.

    movies.py same     gas and particles, five cameras of all kinds: the same bits on 1, 2, 3, 5
                       and 8 ranks and 3 threads, after a restart from either format, on an
                       emulated device; sub-steps draw frames too; none twice, none lost
    movies.py stars    particles of all kinds: each pixel beside the sum over those of the output
                       of the same time, on 1 and 3 ranks; luminosities of young and old stars;
                       the table of sinks beside that of the output
    movies.py laws     sums and extremes of maps against the state; P; full turns; frames without
                       anything; two dimensions; a magnetic field

Example of a fault caught: a sum in the order of ranks or threads, a frame that a restart draws
again, a place of digits that is not shared by ranks, velocities in place of momenta,
stars that shine as at the start of the step, tracers with the mass of gas.
"""
# test: same tier=check timeout=300 ranks=8
# test: stars tier=check timeout=200 ranks=3
# test: laws tier=check timeout=200 ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import movies  # noqa: E402
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402
from parameter_runs import (  # noqa: E402
    BOTH, GAS, MHD, SCALARS, STARS, particles, text_of, vary)  # noqa: E402


def each(x, n=5):
    return [x] * n


CAMERAS = {
    'movie': True, 'imovout': 40, 'tendmov': 0.04, 'nw_frame': 37, 'nh_frame': 29,
    'proj_axis': 'zyxzz', 'movie_vars_txt': ['dens', 'temp', 'vx', 'P', '|v|', 'var6', 'dm'],
    'deltax_frame': [1.0, 0.0] * 5, 'deltay_frame': [0.9, 0.0] * 5,
    'deltaz_frame': [0.7, 0.0] * 5, 'xcentre_frame': [0.5, 0.3, 0.0, 0.0] + [0.0] * 16,
    'theta_camera': [0.0, 0.0, 0.0, 35.0, 10.0], 'dphi_camera': [0.0, 0.0, 0.0, 0.0, 70.0],
    'shader_frame': ['square', 'sphere', 'square', 'cube', 'cube'],
    'method_frame': ['mean_mass', 'mean_dens', 'max', 'mean_vol', 'sum'],
    'perspective_camera': [False, False, False, False, True],
    'focal_camera': each(0.8), 'dist_camera': each(1.2), 'smooth_frame': [1.0, 1.0, 1.0, 1.5, 1.0]}
BOX = vary(BOTH, 'output', 'run/nstepmax', run={'nstepmax': 6}, output={'foutput': 3},
           movie=CAMERAS)


def box(name, ranks=1, threads=1, settings=(), text=None, options=(), **more):
    os.makedirs(name, exist_ok=True)
    particles(2000)(name)
    return ptah.simulate(text or text_of(BOX), name, ranks, threads, settings, options, **more)


def frames(r):
    return [line.split()[2] for line in r.err.splitlines() if ' Writing frame' in line]


def same():
    v = ptah.Verdict()
    first = box('one')
    all_maps = movies.digest('one')
    numbers = sorted(set(frames(first)))
    v.same('maps and a text of five cameras', len(all_maps), 5 * 8 * len(numbers))
    v.same('more frames than coarse steps', len(numbers) > 7, True)
    for ranks, threads in (2, 1), (3, 3), (5, 1), (8, 1):
        name = 'ranks%d' % ranks
        box(name, ranks, threads, ['run/nremap=1'])
        v.same(name, movies.digest(name) == all_maps, True)
    box('device', 1, 1, ['run/gpu_hydro=.true.', 'run/gpu_poisson=.true.',
                         'run/gpu_particles=.true.', 'run/gpu_device=host'])
    v.same('device', movies.digest('device') == all_maps, True)
    for form in 'ramses', 'hdf5':
        name = 'half_' + form
        half = box(name, 2, 1, ['run/nstepmax=3', 'output/outformat=' + form])
        rest = box(name, 3, 1, ['output/outformat=' + form], options=[
            '-r', os.path.abspath(half.outputs[-1])])
        v.same(name + ': none twice, none lost', sorted(set(frames(half))) +
               sorted(set(frames(rest))), numbers)
        v.same(name + ': same bits', movies.digest(name) == all_maps, True)
        again = box(name + '_again', 1, 1, ['run/nstepmax=7'], options=[
            '-r', os.path.abspath(rest.outputs[-1])])
        v.same(name + ': no frame of the past', [f for f in frames(again) if f in numbers], [])
    v.end()


# ---- laws

def camera(**more):
    return {'movie': True, 'imovout': 1, 'tendmov': 1e-9, 'nw_frame': 64, 'nh_frame': 64,
            'deltax_frame': [1.0, 0.0] * 5, 'deltay_frame': [1.0, 0.0] * 5,
            'deltaz_frame': [1.0, 0.0] * 5, **more}


def drawn(name, base, **movie):
    """Maps of frame 1, in the first step of the first level that begins after the start."""
    text = text_of(vary(base, 'output/tout', run={'nstepmax': 2}, output={'foutput': 2},
                        movie=camera(**movie)))
    os.makedirs(name, exist_ok=True)
    particles(2000)(name)
    ptah.simulate(text, name, 2, 1, [], ['-q'])
    return {k[:-10].replace('/', ' '): movies.read(p)[1].astype('f8')
            for k, p in movies.maps(name).items() if '_00001' in k}


def near(v, what, a, b, limit=3e-7):
    v.check(what, abs(a - b).max() / max(abs(b).max(), 1e-300), limit)


def main_laws():
    v = ptah.Verdict()
    gas = vary(GAS, **SCALARS)
    turned = drawn('turns', gas, proj_axis='zzxyz', movie_vars_txt=['dens', 'P', 'temp', 'var5'],
                   theta_camera=[0.0, 360.0, 0.0, 90.0, 720.0],
                   phi_camera=[0.0, -360.0, 0.0, 0.0, 360.0])
    v.same('full turns change no bit', np.array_equal(turned['movie1 P'], turned['movie2 P']) and
           np.array_equal(turned['movie1 dens'], turned['movie5 dens']), True)
    near(v, 'a quarter about z: along y is along x, mirrored', turned['movie4 dens'],
         turned['movie3 dens'])
    v.same('variable 5 is the pressure', np.array_equal(turned['movie1 P'],
                                                        turned['movie1 var5']), True)
    v.check('density between the regions', max(turned['movie1 dens'].max() / 3.6,
                                               0.9 / turned['movie1 dens'].min()), 1)
    ways = drawn('ways', gas, proj_axis='zzzzz', movie_vars_txt=['dens'],
                 method_frame=['min', 'mean_vol', 'mean_mass', 'max', 'sum'])
    a = [ways['movie%d dens' % c] for c in range(1, 6)]
    v.same('min <= by volume <= by mass <= max <= sum',
           [bool((x <= y * (1 + 1e-6)).all()) for x, y in zip(a, a[1:])], [True] * 4)
    v.same('they differ', [bool((x < y).any()) for x, y in zip(a, a[1:])], [True] * 4)
    v.check('all mass: the mean by volume', abs(a[1].mean() - (1 + 2 * mass_excess())), 0.02)
    wide, close = ([1.0, 0.0], [0.31, 0.0])
    shared = drawn('shared', gas, proj_axis='zz', movie_vars_txt=['dens', 'P'],
                   deltax_frame=wide + close, deltay_frame=wide + close)
    alone = drawn('alone', gas, proj_axis='z', movie_vars_txt=['dens', 'P'],
                  deltax_frame=close, deltay_frame=close)
    v.same('a close-up whose columns are those of the whole box',
           [np.array_equal(shared['movie2 ' + k], alone['movie1 ' + k]) for k in ('dens', 'P')],
           [True, True])
    away = drawn('away', gas, proj_axis='zz', xcentre_frame=[7.0, 0.0, 0.0, 0.0] * 2,
                 movie_vars_txt=['dens'], method_frame=['mean_mass', 'max'])
    v.same('frames of nothing are 0', [float(abs(x).max()) for x in away.values()], [0.0, 0.0])
    flat = drawn('flat2', vary(GAS, run={'ndim': 2}), proj_axis='zz',
                 theta_camera=[0.0, 45.0], movie_vars_txt=['dens', 'vy'])
    v.same('two dimensions', sorted(flat), ['movie1 dens', 'movie1 vy', 'movie2 dens',
                                            'movie2 vy'])
    v.check('two dimensions: density', max(flat['movie1 dens'].max() / 3.6,
                                           0.9 / flat['movie1 dens'].min()), 1)
    field = drawn('field', vary(MHD, amr={'levelmax': 3}), movie_vars_txt=['pmag', 'P'])
    v.check('magnetic pressure', abs(field['movie1 pmag'].mean() / 0.37 - 1), 0.05)
    v.end()


# ---- particles of all kinds

FOREST = vary(STARS, init={'filetype': 'ascii', 'initfile(1)': 'ics'},
              run={'pic': True, 'sink': True, 'tracer': True, 'nstepmax': 6},
              output={'foutput': 6},
              sink={'mass_sink_seed': 1.0, 'accretion_scheme': 'bondi', 'ir_cloud': 1},
              tracer={'tracer_feed_fmt': 'inplace', 'tracer_mass': 0.002},
              movie={'movie': True, 'imovout': 90000, 'tendmov': 1.0, 'nw_frame': 48,
                     'nh_frame': 40, 'movie_vars_txt': ['dm', 'stars', 'lum', 'tracers'],
                     'deltax_frame': [1.0, 0.0, 0.3, 0.0], 'deltay_frame': [0.8, 0.0, 0.0, 0.0],
                     'deltaz_frame': [1.0, 0.0, 0.5, 0.0], 'proj_axis': 'zx',
                     'xcentre_frame': [0.5, 0.0, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0],
                     'ycentre_frame': [0.5, 0.0, 0.0, 0.0, 0.55, 0.0, 0.0, 0.0],
                     'zcentre_frame': [0.5, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0]})
SUN, MSUN, C, YEAR = 3.828e33, 1.98841e33, 2.99792458e10, 3.15576e7
FAMILY = {'dm': 1, 'stars': 2, 'lum': 2, 'tracers': 0}


def shine(s, unit_time):
    """Luminosity of each star over c², NaN between 1 Myr and 1 Gyr."""
    years = (s.info['time'] - s.part['birth_time']) * unit_time / YEAR
    log = np.log10(np.maximum(years, 1))
    power = np.where(years < 1e6, 3.2, np.where(years > 1e9, 9.08855 - 0.979362 * log, np.nan))
    return s.part['mass'] * 10 ** power * SUN / MSUN / C ** 2 * unit_time


def pixels(s, name, camera, value):
    """Sums of a value over the particles of each pixel, as movie_NAME has them."""
    x = [s.part['position_' + c] for c in ('xyz', 'yzx')[camera]]
    middle, wide = ([0.5, 0.5, 0.5], [1, 0.8, 1]), ([0.55, 0.3, 0.4], [0.3 * 40 / 48, 0.5, 0.3])
    middle, wide = (middle, wide)[camera]
    own = s.part['family'] == FAMILY[name]
    for q, m, w in zip(x, middle, wide):
        own &= (q >= m - w / 2) & (q < m + w / 2)
    n, at = (48, 40), []
    for q, m, w, k in zip(x[:2], middle, wide, n):
        at.append(np.minimum(((q[own] - m + w / 2) / (w / k)).astype(int), k - 1))
    out = np.zeros((40, 48))
    np.add.at(out, (at[1], at[0]), value[own])
    return out


def last_maps(folder, time):
    """The maps of a time, {'movieC NAME': pixels}, and their number."""
    out, number = {}, None
    for key, path in movies.maps(folder).items():
        head, x = movies.read(path)
        if abs(head[0] / time - 1) < 1e-14:
            number = key[-9:-4]
            out[key[:-10].replace('/', ' ')] = x.astype('f8')
    return out, number


def grown(v, name, unit_time):
    text = text_of(vary(FOREST, 'feedback', units={'units_time': unit_time}))
    for ranks in 1, 3:
        folder = '%s%d' % (name, ranks)
        os.makedirs(folder)
        particles(2000)(folder)
        with open(folder + '/ic_sink', 'w') as f:
            f.write('1e-4 0.1 0.05 -0.26 0 0 0 0 0 0 0 0\n1e-4 0.3 -0.3 0 1 0 0 0 0 0 0 0\n')
        r = ptah.simulate(text, folder, ranks, 1, [], ['-q'])
        if ranks == 3:
            v.same('3 ranks: the same frames', movies.digest(folder) == movies.digest(name + '1'),
                   True)
            return
        s = read_ramses.load(r.outputs[-1])
        maps, number = last_maps(folder, s.info['time'])
        light = shine(s, unit_time)
        v.same('maps of the time of the output', len(maps), 8)
        own = s.part['family'] == 2
        known = np.isfinite(light[own])
        v.same('dark matter, stars, tracers', min(np.bincount(s.part['family'][
            s.part['family'] >= 0], minlength=3)[:3]) > 200, True)
        print('      stars:', own.sum(), 'of known luminosity:', known.sum())
        v.same('stars whose luminosity is known', known.mean() > 0.3, True)
        for key, x in sorted(maps.items()):
            what, camera = key.split()[1], int(key[5]) - 1
            value = {'lum': light, 'tracers': np.ones(len(light))}.get(what, s.part['mass'])
            want = pixels(s, what, camera, value)
            sure = np.isfinite(want)
            v.same(key + ': has pixels', (want[sure] > 0).sum() > 8, True)
            v.check(key, np.abs(x - want)[sure].max() / want[sure].max(), 1e-6)
        with open('%s/movie1/sink_%s.txt' % (folder, number), 'rb') as f:
            a = f.read()
        with open(r.outputs[-1] + '/sink_%s.csv' % r.outputs[-1][-5:], 'rb') as f:
            v.same('the table of sinks', (a == f.read(), len(a.splitlines())), (True, 4))


def forest():
    v = ptah.Verdict()
    grown(v, 'young', 3e14)
    grown(v, 'old', 3e18)
    v.end()


def mass_excess():
    """Volume of the ellipsoid of exponent 2 and sides 0.3 in GAS."""
    return 4 / 3 * np.pi * 0.15 ** 3


if __name__ == '__main__':
    {'same': same, 'stars': forest, 'laws': main_laws}[sys.argv[1]]()
