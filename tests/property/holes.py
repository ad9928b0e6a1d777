"""Black holes of Horizon-AGN: formation, mergers across the periodic boundary, accretion, and
energy release as heat and by jets do not depend on the number of ranks.

    holes.py RANKS   the same digest on RANKS, on 2 threads, in both orderings, and after a restart
                     from both formats on other ranks; mass of gas, holes and radiation is conserved
    holes.py laws    mass and momentum of gas, holes and radiation, and released energy, over a
                     whole run and a restart
    holes.py foreign a checkpoint with only those columns of black holes that cuRAMSES writes is
                     resumed; with CURAMSES_SINKS, the path of one of its own, that one too
    holes.py drawn   power of black holes and stars around them, as printed and drawn by inspect
    holes.py rates   one hole in uniform gas: Bondi's rate; drag at Mach 0.5 and 2 (Ostriker 1999)
    holes.py wrong   wrong parameters: one sentence, status 2; ghosts of a step without changes

Example of a fault caught: a birth that depends on ranks, energy released twice at a restart,
accretion from ghosts, a kernel that a restart forgets, a mass that is lost at a merger.
"""
# test: 2 3 tier=check timeout=600 ranks=3
# test: 1 2 3 5 8 tier=long timeout=900 ranks=3
# test: laws tier=check timeout=200 ranks=2
# test: foreign tier=check timeout=200 ranks=2
# test: drawn tier=check timeout=120
# test: rates tier=check timeout=300
# test: wrong tier=quick timeout=60
import math
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import matplotlib.image  # noqa: E402
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

# Two dense regions on both sides of a face, whose holes merge, and a thinner region far from them.
BOX = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
sink=.true.
nsubcycle=1,2,2
nstepmax=%d
check_ghosts=%s
/
&AMR_PARAMS
levelmin=4
levelmax=6
boxlen=1.0
/
&INIT_PARAMS
nregion=4
region_type(1:4)='square','square','square','square'
x_center=0.5,0.4,0.4,0.8
y_center=0.5,0.55,0.55,0.2
z_center=0.5,0.03,0.97,0.5
length_x=10.0,0.1,0.1,0.1
length_y=10.0,0.1,0.1,0.1
length_z=10.0,0.06,0.06,0.1
exp_region=10.0,10.0,10.0,10.0
d_region=1.0,20.0,20.0,8.0
u_region=0.5,0.5,0.5,0.5
w_region=0.0,0.02,-0.02,0.0
p_region=0.1,0.1,0.1,0.05
/
&OUTPUT_PARAMS
foutput=%d
tout=1e9
outformat='%s'
/
&HYDRO_PARAMS
gamma=1.6666667
/
&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d21
/
&REFINE_PARAMS
m_refine=2*0.5
mass_sph=0.001
/
&PHYSICS_PARAMS
n_star=500.
Mseed=1d5
sink_AGN=.true.
drag=.true.
r_gal=0.012
rmerge=4.
T2maxAGN=1d8
X_floor=10.
mad_jet=.true.
%s
/
"""
STEPS = 8


def box(name, ranks, threads=1, ordering='hilbert', form='original', options=(), settings=(),
        check=False):
    text = BOX % (STEPS, '.true.' if check else '.false.', STEPS // 2, form, '')
    return ptah.simulate(text, name, ranks, threads,
                         ['run_params/ordering=' + ordering, 'run_params/nremap=3', *settings],
                         options)


def holes(path):
    """Rows of the csv file, by column."""
    number = path.rstrip('/')[-5:]
    with open(os.path.join(path, 'sink_%s.csv' % number)) as f:
        lines = [line.split(',') for line in f]
    names = [n.strip(' #\n') for n in lines[0]]
    return [dict(zip(names, map(float, line))) for line in lines[2:]]


def total(path):
    s = read_ramses.load(path)
    return math.fsum([*(s.cell['density'] * s.volume),
                      *(h['msink'] + h['radiated'] for h in holes(path))])


def told(run):
    """Energies in the log: rows of heat, jets, saved, radiated, one per coarse step."""
    rows = [line.replace('=', ' ').split() for line in run.err.splitlines()
            if 'Black holes: heat' in line]
    return [[float(w[k]) for k in (3, 5, 7, 9)] for w in rows]


def number(run, what):
    return sum(int(line.split()[0]) for line in run.err.splitlines() if what in line)


SUN, GAMMA = 1.98841e33, 1.6666667
MASS, VELOCITY = 1.66e-22 * 3e21 ** 3, 3e21 / 3e14  # code units of mass and velocity


def table(v, outputs):
    """inspect --sinks prints the data of the files, in its units."""
    r = ptah.Run([ptah.program('inspect'), '--sinks', '-o', 'sinks.png', *outputs], '.')
    lines = [line.split('\t') for line in r.out.splitlines() if not line.startswith('# ')]
    rows = [dict(zip(lines[0], line)) for line in lines[1:] if line[0] != '#time']
    want = [h for path in outputs for h in holes(path)]
    v.same('inspect --sinks: status, rows, a plot',
           (r.status, len(rows), os.path.exists('sinks.png')), (0, len(want), True))
    for name, column, unit in [('mass', 'msink', MASS / SUN), ('vx', 'vx', VELOCITY / 1e5),
                               ('saved', 'Esave', MASS * VELOCITY ** 2),
                               ('spin', 'spinmag', 1)]:
        off = [abs(float(a[name]) - b[column] * unit) - 1e-8 * abs(b[column] * unit)
               for a, b in zip(rows, want)]
        v.check('inspect --sinks: ' + name, max(off), 0)


def ranks(numbers):
    v = ptah.Verdict()
    whole = box('whole', 1)
    last, rows = whole.outputs[-1], told(whole)
    first = whole.outputs[0]
    born, merged = number(whole, 'holes have formed'), number(whole, 'merged into others')
    print('     %d born, %d merged, heat %g, jets %g, saved %g, radiated %g'
          % (born, merged, *[sum(r[k] for r in rows) for k in (0, 1)], *rows[-1][2:]))
    v.same('births, mergers, and energy of all modes',
           born > 100 and merged > 100 and all(max(r[k] for r in rows) > 0 for k in range(4)), True)
    v.same('a hole for each that was born and did not merge', len(holes(last)), born - merged)
    v.check('mass of gas, holes and radiation',
            abs(total(last) / total(first) - 1), 1e-13)
    v.check('spins', max(abs(h['spinmag']) for h in holes(last)), 0.998)
    table(v, whole.outputs[1:])
    reference = ptah.digest(last)
    for n in numbers:
        ordering = 'ksection' if n % 2 else 'hilbert'
        r = box('on_%d' % n, n, 2 if n == 2 else 1, ordering, check=n == 3)
        v.same('%d ranks, %s: the same digest' % (n, ordering),
               ptah.digest(r.outputs[-1]) == reference, True)
    for form, n in ('original', 2), ('hdf5', 3):
        r = box('half_' + form, n, form=form, settings=['run_params/nstepmax=%d' % (STEPS // 2)])
        rest = box('rest_' + form, 5 - n, ordering='ksection',
                   options=['-r', os.path.abspath(r.outputs[-1])])
        v.same('%s, %d ranks, then %d: the same digest' % (form, n, 5 - n),
               ptah.digest(rest.outputs[-1]) == reference, True)
    v.end()


# BOX with masses so small that gas and holes hardly attract each other, and with accretion and drag
# increased accordingly. The efficiency is 0.1, and all of the energy is released.
WEAK = BOX % (STEPS, '.false.', STEPS // 2, 'original', """boost_acc=4.5
boost_drag=4.5
eAGN_T=1.
eAGN_K=1.
spin_bh=.false.
""")
for strong, light in [('d_region=1.0,20.0,20.0,8.0', 'd_region=1e-14,2e-13,2e-13,8e-14'),
                      ('p_region=0.1,0.1,0.1,0.05', 'p_region=1e-15,1e-30,1e-30,1e-30'),
                      ('mass_sph=0.001', 'mass_sph=1e-17'), ('1.66d-22', '1.66d-8'),
                      ('/\n&UNITS', 'smallr=1e-26\nsmallc=1e-14\n/\n&UNITS'),
                      ('n_star=500.', 'n_star=1e-2'), ('mad_jet=.true.', '')]:
    WEAK = WEAK.replace(strong, light)


def law(path):
    """(mass and momentum of gas, holes and radiation; energy of the gas; energy of the accreted
    mass, released or saved, over c^2)"""
    s, h = read_ramses.load(path), holes(path)
    gas = s.cell['density'] * s.volume
    light2 = (2.99792458e10 * s.info['unit_t'] / s.info['unit_l']) ** 2

    def of(f):
        return math.fsum(f(a) for a in h)
    v = [s.cell['velocity_' + d] for d in 'xyz']
    # the accreted mass is nine times the radiated mass; a part of it is not yet added
    return {'mass': math.fsum([*gas, of(lambda a: a['msink'] + a['radiated'])]),
            'momentum': [math.fsum([*(gas * u), of(lambda a: a['msink'] * a['v' + d] +
                                                   a['radiated_p' + d])])
                         for d, u in zip('xyz', v)],
            'energy': math.fsum(s.cell['pressure'] * s.volume / (GAMMA - 1) +
                                0.5 * gas * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2)),
            'due': 0.1 * of(lambda a: 9 * a['radiated'] - a['dMsmbh']),
            'free': of(lambda a: a['heat_c2'] + a['jets_c2'] + a['Esave'] / light2),
            'saved': of(lambda a: a['Esave'] / light2), 'heat': of(lambda a: a['heat_c2']),
            'jets': of(lambda a: a['jets_c2']), 'light2': light2}


def laws():
    v = ptah.Verdict()
    half = ptah.simulate(WEAK, 'half', 2, settings=['run_params/nstepmax=%d' % (STEPS // 2)])
    rest = ptah.simulate(WEAK, 'rest', settings=['run_params/ordering=ksection'],
                         options=['-r', os.path.abspath(half.outputs[1])])
    a, b, z = [law(path) for path in (*half.outputs, rest.outputs[-1])]
    print('     %d born, %d merged, heat %g, jets %g, saved %g' % (
        number(half, 'holes have formed'), number(half, 'merged into others'), z['heat'], z['jets'],
        z['saved']))
    v.same('births, mergers, heat, jets, saved energy',
           number(half, 'holes have formed') > 20 and number(half, 'merged into others') > 20 and
           min(z[k] for k in ('heat', 'jets', 'saved', 'due')) > 0, True)
    v.check('mass of gas, holes and radiation', abs(z['mass'] / a['mass'] - 1), 1e-13)
    for d in range(3):
        v.check('momentum along ' + 'xyz'[d],
                abs(z['momentum'][d] - a['momentum'][d]) / a['momentum'][0], 1e-13)
    v.check('heat, jets and saved energy over the efficiency times the mass, times c^2',
            abs(z['free'] / z['due'] - 1), 1e-12)
    # without accretion the gas gains the energy that the holes have saved
    quiet = ptah.simulate(WEAK, 'quiet', options=['--change-model', '-r',
                                                  os.path.abspath(half.outputs[1])],
                          settings=['physics_params/bondi=.false.', 'physics_params/drag=.false.',
                                    'physics_params/n_star=1e30'])
    z = law(quiet.outputs[-1])
    given = sum(z[k] - b[k] for k in ('heat', 'jets')) * z['light2']
    v.check('what the gas got beside what they gave',
            abs((z['energy'] - b['energy']) / given - 1), 1e-12)
    expanding(v)
    v.end()


# Two holes in an expanding box, each with more energy than the gas can take.
COSMO = """&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
sink=.true.
nstepmax=5
/
&AMR_PARAMS
levelmin=5
levelmax=11
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
/
&OUTPUT_PARAMS
foutput=2
aout=1.
/
&HYDRO_PARAMS
gamma=1.6666667
/
&PHYSICS_PARAMS
n_star=1e6
spin_bh=.false.
eAGN_T=1.
eAGN_K=1.
X_floor=0.
sink_AGN=.true.
T2maxAGN=5e5
/
"""


def expanding(v):
    """Energy conservation while the unit of energy changes."""
    ptah.unpack_ics('.', 'ic_32')
    with open('ic_sink', 'w') as f:
        f.write('1e-9 0.1 0.1 0 0 0 0 0 0 0 0 0\n1e-9 -0.3 0.1 0.2 0 0 0 0 0 0 0 0\n')
    half = ptah.simulate(COSMO, '.', settings=['run_params/nstepmax=3'])
    rest = ptah.simulate(COSMO, '.', 2, options=['-r', os.path.abspath(half.outputs[-1])])
    z = law(rest.outputs[-1])
    v.same('in a box that expands: heat, saved', min(z['heat'], z['saved']) > 0.1 * z['due'], True)
    v.check('with what is due', abs(z['free'] / z['due'] - 1), 1e-12)


CURAMSES = """idsink msink xsink_1 xsink_2 xsink_3 vsink_1 vsink_2 vsink_3 tsink Esave dMsmbh
dMBH_coarse dMEd_coarse jsink_1 jsink_2 jsink_3 bhspin_1 bhspin_2 bhspin_3 spinmag eps_sink"""


def resumed(v, name, start, settings=()):
    """Runs on 1 and 2 ranks: equal digests, and the holes of the checkpoint. Returns the last
    checkpoint."""
    runs = [ptah.simulate(os.path.abspath('run.nml'), '%s_%d' % (name, n), n,
                          options=['--change-model', '-r', start],
                          settings=[*settings, 'output_params/outformat=original'])
            for n in (1, 2)]
    last = [r.outputs[-1] for r in runs]
    v.same(name + ', 2 ranks: the same digest', ptah.digest(last[1]) == ptah.digest(last[0]), True)
    return last[0]


def foreign():
    import h5py
    v = ptah.Verdict()
    steps = ['run_params/nstepmax=%d' % (STEPS // 2)]
    plain, half = box('plain', 1, settings=steps), box('half', 2, form='hdf5', settings=steps)
    path = os.path.abspath(half.outputs[-1])
    with h5py.File(os.path.join(path, 'data_%s.h5' % path[-5:]), 'r+') as f:
        ours = set(f['sinks']) - set(CURAMSES.split())
        for column in ours:
            del f['sinks'][column]
        v.same('columns of cuRAMSES, others', (len(f['sinks']), len(ours) > 10),
               (len(CURAMSES.split()), True))
    shutil.copy('half/run.nml', 'run.nml')
    last = resumed(v, 'stripped', path)
    first = plain.outputs[-1]
    s = read_ramses.load(first)
    mass = math.fsum([*(s.cell['density'] * s.volume), *(h['msink'] for h in holes(first))])
    v.check('mass of gas, holes and radiation', abs(total(last) / mass - 1), 1e-13)
    v.same('holes are the same', {h['id'] for h in holes(last)} <= {h['id'] for h in holes(first)},
           True)
    if os.environ.get('CURAMSES_SINKS'):
        path = os.path.abspath(os.environ['CURAMSES_SINKS'])
        shutil.copy(os.path.join(path, 'namelist.txt'), 'run.nml')
        last = resumed(v, 'curamses', path,
                       ['run_params/nstepmax=33', 'output_params/foutput=33',
                        'physics_params/yieldtablefilename=hopkins2018'])
        v.same('it still has its hole', [h['id'] for h in holes(last)], [1])
    v.end()


def drawn():
    """A box of 32 kpc with forming stars and two holes."""
    v = ptah.Verdict()
    text = BOX % (4, '.false.', 2, 'original', '/\n&SF_PARAMS\neps_star=1.')
    os.makedirs('run')
    with open('run/ic_sink', 'w') as f:
        f.write('1e-4 -0.1 0.05 -0.46 0 0 0 0 0 0 0 0\n1e-4 0.3 -0.3 0 0 0 0 0 0 0 0 0\n')
    r = ptah.simulate(text.replace('=3d21', '=1d23').replace('=3d14', '=1d16'), 'run')
    argv = [ptah.program('inspect'), '--sinks', '--force', '-o']
    for what in 'mass', 'power', 'stars':
        draw = ptah.Run([*argv, what + '.svg', '--draw', what, *r.outputs], '.')
        v.same('--draw %s: status, drawing' % what,
               (draw.status, os.path.exists(what + '.svg')), (0, True))
    one = ptah.Run([*argv, 'one.png', r.outputs[-1]], '.')
    colours = matplotlib.image.imread('one.png')[..., :3]
    marked = (np.ptp(colours, axis=2) > 0.3).sum()  # squares of 12 pixels, which may overlap
    v.same('a single checkpoint has marks', (one.status, 144 <= marked < 1000), (0, True))
    s, last = read_ramses.load(r.outputs[-1]), holes(r.outputs[-1])
    lines = [line.split('\t') for line in draw.out.splitlines() if not line.startswith('# ')]
    rows = [dict(zip(lines[0], line)) for line in lines if line[0] != '#time'][-len(last):]
    unit = s.info['unit_d'] * s.info['unit_l'] ** 3
    some = 0
    for told, h in zip(rows, last):
        far2 = sum((s.part['position_' + d] - h[d]) ** 2 for d in 'xyz')
        near = (s.part['family'] == 2) & (far2 * s.info['unit_l'] ** 2 < (30 * 3.0856776e21) ** 2)
        want = math.fsum(s.part['mass'][near]) * unit / SUN
        some += 0 < near.sum() < (s.part['family'] == 2).sum()
        v.check('mass of the stars near a hole', abs(float(told['stars']) / want - 1), 1e-8)
        heat = h['heat_c2'] * unit * 2.99792458e10 ** 2
        v.check('energy as heat', abs(float(told['heat']) - heat), 1e-8 * heat)
    v.same('near one there are some stars, not all', some > 0, True)
    v.end()


# sound speed 1; G = 1
ALONE = BOX.split('&INIT_PARAMS')[0] + """&INIT_PARAMS
""" + ptah.UNIFORM + """d_region=1.0
p_region=0.6
/
&OUTPUT_PARAMS
foutput=4
tout=1e9
/
&HYDRO_PARAMS
gamma=1.6666666666666667
/
&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d21
/
&PHYSICS_PARAMS
n_star=1e6
spin_bh=.false.
X_floor=0.
%s
/
"""


def alone(name, law, speed):
    """(mass and velocity along x of a hole of initial mass 1e-3, time, momentum of the gas)"""
    os.makedirs(name)
    with open(os.path.join(name, 'ic_sink'), 'w') as f:
        f.write('1e-3 0.01 0.02 -0.03 %g 0 0 0 0 0 0 0\n' % speed)
    r = ptah.simulate(ALONE % (4, '.false.', law), name)
    h, s = holes(r.outputs[-1])[0], read_ramses.load(r.outputs[-1])
    gas = math.fsum(s.cell['density'] * s.cell['velocity_x'] * s.volume)
    return h['msink'], h['vx'], s.info['time'], gas


def rates():
    v = ptah.Verdict()
    m, _, t, _ = alone('bondi', 'bondi=.true.', 0)
    want = 0.9 * 4 * math.pi * 1e-6 * t  # a tenth is radiated
    v.check('what a hole at rest gains, over that by Bondi\'s rate: %.4f' % ((m - 1e-3) / want),
            abs((m - 1e-3) / want - 1), 0.05)
    m, _, t, _ = alone('passing', 'bondi=.true.', 1)
    want *= 2 ** -1.5
    v.check('of Mach 1: %.4f' % ((m - 1e-3) / want), abs((m - 1e-3) / want - 1), 0.05)
    for mach in 0.5, 2:
        _, free, _, still = alone('free_%g' % mach, 'bondi=.false.', mach)
        _, speed, t, gas = alone('drag_%g' % mach, 'bondi=.false.\ndrag=.true.', mach)
        log = math.log((1 + mach) / abs(1 - mach)) / 2 - mach if mach < 1 else \
            math.log(mach ** 2 - 1) / 2 + 3.2
        want = 4 * math.pi * 1e-3 * log / mach ** 2 * t
        v.check('drag at Mach %g over that of Ostriker: %.4f' % (mach, (free - speed) / want),
                abs((free - speed) / want - 1), 0.05)
        v.check('the gas has what the hole lost', abs((gas - still) / (1e-3 * (free - speed)) - 1),
                1e-3)
    v.end()


def wrong():
    v = ptah.Verdict()
    for law, says in [('Mseed=0.', 'Mseed=0'), ('n_star=0.', 'n_star=0'),
                      ('/\n&SINK_PARAMS\naccretion_scheme=\'bondi\'', 'one kind'),
                      ('rAGN=5.', 'rAGN')]:
        r = ptah.simulate(BOX % (2, '.false.', 100, 'original', law), 'wrong', must_work=False)
        lines = [line for line in r.err.strip().splitlines() if line.startswith('simulate:')]
        v.same('%s: one sentence, status 2' % ' '.join(law.split()),
               (r.status, len(lines), says in ''.join(lines)), (2, 1, True))
    # no hole releases energy: ghosts of the gas must stay valid, as check_ghosts verifies
    quiet = BOX % (2, '.true.', 100, 'original', 'sink_AGN=.false.\nn_star=1e9')
    r = ptah.simulate(quiet, 'quiet', settings=['amr_params/levelmax=4'], must_work=False)
    v.same('a step in which no hole does anything', (r.status, r.err[-200:] if r.status else ''),
           (0, ''))
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'wrong':
        wrong()
    elif sys.argv[1] == 'foreign':
        foreign()
    elif sys.argv[1] == 'drawn':
        drawn()
    elif sys.argv[1] == 'laws':
        laws()
    elif sys.argv[1] == 'rates':
        rates()
    else:
        ranks([int(n) for n in sys.argv[1:]])
