"""Sinks of RAMSES do not depend on the number of ranks, and conserve mass with the gas.

    sinks.py ranks N...   gas, gravity and five sinks on three levels, two of which merge across a
                          periodic face, one with direct gravity, feedback in both modes: mass is
                          conserved; the same digest on N ranks, on 2 threads, in both orderings,
                          and after a restart from both formats on other ranks
    sinks.py schemes      threshold accretion and black holes in clusters: mass is conserved, the
                          same digest on 2 ranks; `accretion_scheme='none'` leaves the gas alone
    sinks.py store        holes of clusters that do not accrete: whether they may heat the gas
                          is preserved by a restart, in both formats
    sinks.py walls        a box with boundaries, which one sink leaves
    sinks.py passes       a sink crosses a periodic face and meets another one behind it, while both
                          still belong to their old ranks: they merge on any number of ranks
    sinks.py descent      sinks descend the potential: the same digest on 3 ranks and after restarts
    sinks.py wrong        wrong parameters and files: one sentence, status 2

Example of a fault caught: a sum over a cloud in the order of ranks, a cloud that ends at a
periodic face, a merger that one rank does not see, gas that is taken twice where two clouds
overlap, a column of sinks that a checkpoint lacks.
"""
# test: ranks 3 tier=check timeout=300 ranks=3
# test: ranks 1 2 3 5 8 tier=long timeout=900 ranks=3
# test: schemes tier=check timeout=300 ranks=2
# test: store tier=check timeout=180
# test: walls tier=check timeout=300 ranks=3
# test: passes tier=check timeout=120 ranks=3
# test: descent tier=check timeout=120 ranks=3
# test: wrong tier=quick timeout=60
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'fault'))
import kills  # noqa: E402
import read_ramses  # noqa: E402

BOX = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
sink=.true.
nsubcycle=1,2,2
nremap=2
nstepmax=8
check_ghosts=%s
/
&AMR_PARAMS
levelmin=4
levelmax=6
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.3
y_center=0.5,0.3
z_center=0.5,0.3
length_x=10.0,0.4
length_y=10.0,0.4
length_z=10.0,0.4
exp_region=10.0,2
d_region=1,8
u_region=0,0.2
p_region=1,1
/
&OUTPUT_PARAMS
foutput=4
tend=10
outformat='%s'
/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.6
pressure_fix=.true.
/
&REFINE_PARAMS
m_refine=2*8.
mass_sph=0.0005
sink_refine=.true.
/
&UNITS_PARAMS
units_density=1e-24
units_time=3e13
units_length=3e18
/
&SINK_PARAMS
mass_sink_seed=1
mass_sink_direct_force=6e-3
%s
/
"""
AGN = """smbh=.true.
agn=.true.
accretion_scheme='bondi'
acc_sink_boost=3
T2_min=0
T2_AGN=1e7
cone_opening=90
kin_mass_loading=1e4
AGN_fbk_mode_switch_threshold=-1
AGN_fbk_frac_ener=0.5
AGN_fbk_frac_mom=0.5
"""
# Masses of 1 are 0.0136 solar masses: the second sink is direct. The first two merge beyond x = 0.
SINKS = """0.3 -0.4999 0.1 0.1  -2 0.3 0.1  0 0 0 0 0
0.5 0.49 0.12 0.1  1 0 0  1e-3 0 0 0 0
0.2 -0.2 -0.2 -0.2  1 -1 0.5  0 0 1d-3 0.1 0
0.4,0.2,0.2,-0.31,-1,2,0.5,0,0,0,0,0
0.01 -0.2 -0.2 -0.05  0 0 0.5  0 0 0 0 0
"""


def run(name, n=1, threads=1, ordering='hilbert', form='original', law=AGN, sinks=SINKS, steps=8,
        check=False, options=(), settings=(), **more):
    os.makedirs(name, exist_ok=True)
    with open(os.path.join(name, 'ic_sink'), 'w') as f:
        f.write(sinks)
    return ptah.simulate(BOX % ('.true.' if check else '.false.', form, law), name, n, threads,
                         ['run_params/ordering=' + ordering, 'run_params/nstepmax=%d' % steps,
                          *settings],
                         options, **more)


def table(path):
    """Sinks of a checkpoint: a dict of columns."""
    number = path.rstrip('/')[-5:]
    with open(os.path.join(path, 'sink_%s.csv' % number)) as f:
        names = f.readline().lstrip(' #').strip().split(',')
        rows = [[float(x) for x in line.split(',')] for line in f if '#' not in line]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def fits(path):
    """Whether columns have the widths that RAMSES reads: I10, 21 of ES21.10, I10."""
    with open(os.path.join(path, 'sink_%s.csv' % path.rstrip('/')[-5:])) as f:
        rows = [line for line in f if '#' not in line]
    widths = [10] + 21 * [21] + [10]
    return bool(rows) and all([len(x) for x in line.split(',')[:23]] == widths for line in rows)


def total(path, holes):
    s, t = read_ramses.load(path), table(path)
    return math.fsum(s.cell['density'] * s.volume) + math.fsum(t['msink']) + \
        (math.fsum(t['mbh']) if holes else 0)


def ranks(numbers):
    v = ptah.Verdict()
    whole = run('whole')
    last, first = whole.outputs[-1], whole.outputs[0]
    t, reference = table(last), ptah.digest(last)
    v.same('two of five sinks have merged', (table(first)['id'], t['id']),
           ([1, 2, 3, 4, 5], [1, 3, 4, 5]))
    v.same('all have grown', all(x > 0 for x in t['dmfsink']), True)
    v.check('mass of gas and sinks', abs(total(last, False) / total(first, False) - 1), 1e-13)
    v.same('a file of the widths that RAMSES reads', fits(last), True)
    for n in numbers:
        ordering = 'ksection' if n % 2 else 'hilbert'
        r = run('on_%d' % n, n, 2 if n == 2 else 1, ordering, check=n == 3)
        v.same('%d ranks, %s: the same digest' % (n, ordering),
               ptah.digest(r.outputs[-1]) == reference, True)
    for form, n in ('original', 2), ('hdf5', 3):
        half = run('half_' + form, n, form=form, steps=4)
        rest = run('rest_' + form, 5 - n, 2, 'ksection',
                   options=['-r', os.path.abspath(half.outputs[-1])])
        v.same('%s, %d ranks, then %d: the same digest' % (form, n, 5 - n),
               ptah.digest(rest.outputs[-1]) == reference, True)
    v.end()


def schemes():
    v = ptah.Verdict()
    for name, law, holes in [
            ('threshold', "accretion_scheme='threshold'\nd_sink=0.9\nc_acc=0.2", False),
            ('volume', "accretion_scheme='bondi'\nagn_acc_method='volume'\nacc_sink_boost=2",
             False),
            ('clusters', "accretion_scheme='bondi'\nsmbh=.true.\nmass_smbh_seed=1", True)]:
        one, two = run(name, law=law), run(name + '_2', 2, law=law)
        first, last = one.outputs[0], one.outputs[-1]
        v.same(name + ': sinks have grown', all(x > 0 for x in table(last)['dmfsink']) or
               all(a > b for a, b in zip(table(last)['mbh'][1:], [0.1, 0, 0])), True)
        v.check(name + ': mass of gas and sinks',
                abs(total(last, holes) / total(first, holes) - 1), 1e-13)
        v.same(name + ', 2 ranks: the same digest',
               ptah.digest(two.outputs[-1]) == ptah.digest(last), True)
    r = run('none', law='')
    v.same('none: no sink has grown', table(r.outputs[-1])['dmfsink'], [0] * 4)
    v.end()


def store():
    v = ptah.Verdict()
    for form in 'ramses', 'hdf5':
        settings = ['output_params/outformat=' + form]
        kills.write_ics(form + '/ics')
        whole = ptah.simulate(kills.NAMELIST, form, settings=settings, options=['-o', 'out'])
        held = [table(o)['blast'] for o in whole.outputs] if form == 'ramses' else [[0, 1]]
        v.same(form + ': some hole may, some may not', {0, 1} <= set(sum(held, [])), True)
        for k in 3, 4:
            rest = ptah.simulate(kills.NAMELIST, form, settings=settings, options=[
                '-o', 'from_%d' % k, '-r', os.path.abspath(whole.outputs[k - 1])])
            v.same('%s, from %d: the same digest' % (form, k),
                   ptah.digest(rest.outputs[-1]) == ptah.digest(whole.outputs[-1]), True)
    v.same('both formats: the same digest',
           ptah.digest(whole.outputs[-1]) == ptah.digest('ramses/out/output_00006'), True)
    v.end()


def told(v, name, r, says):
    lines = [x for x in r.err.splitlines() if not x.startswith(' ')]
    v.same('%s: one sentence, status 2' % name, (r.status, len(lines), says in r.err), (2, 1, True))


WALLS = """accretion_scheme='bondi'
/
&BOUNDARY_PARAMS
nboundary=6
no_inflow=.true.
bound_type=2,2,1,1,2,2
ibound_min=-1,1,-1,-1,-1,-1
ibound_max=-1,1,1,1,1,1
jbound_min=0,0,-1,1,-1,-1
jbound_max=0,0,-1,1,1,1
kbound_min=0,0,0,0,-1,1
kbound_max=0,0,0,0,-1,1
"""


def walls():
    """A box with boundaries: one sink leaves it, and clouds end at its faces."""
    v = ptah.Verdict()
    sinks = '0.3 -0.495 0.1 0.1  -3 0.3 0.1  0 0 0 0 0\n' + \
        '0.4 0.2 0.47 -0.31  0 0.2 0  0 0 0 0 0\n0.02 0.2 0.2 0.4  0 0 1  0 0 0 0 0\n'
    one = run('whole', law=WALLS, sinks=sinks)
    last = one.outputs[-1]
    v.same('the first sink has left', (table(one.outputs[0])['id'], table(last)['id']),
           ([1, 2, 3], [2, 3]))
    v.same('the log says so', ' 1 sinks have left the box' in one.err, True)
    v.same('the others have grown', all(x > 0 for x in table(last)['dmfsink']), True)
    for n in 2, 3:
        r = run('on_%d' % n, n, ordering='ksection', law=WALLS, sinks=sinks, check=n == 3)
        v.same('%d ranks: the same digest' % n,
               ptah.digest(r.outputs[-1]) == ptah.digest(last), True)
    v.end()


def passes():
    v = ptah.Verdict()
    sinks = '0.3 -0.497 0.1 0.1  -2 0 0  0 0 0 0 0\n0.5 0.47 0.1 0.1  0 0 0  0 0 0 0 0\n'
    for n in 1, 2, 3:
        r = run('on_%d' % n, n, ordering='ksection', sinks=sinks, steps=3, settings=['foutput=3'])
        merged = re.findall(r'Number of sinks= *(\d+)', r.err)
        reference = ptah.digest(r.outputs[-1]) if n == 1 else reference
        v.same('%d ranks: sinks after each step' % n, merged, ['1', '1', '1'])
        v.same('%d ranks: the same digest' % n, ptah.digest(r.outputs[-1]) == reference, True)
    v.end()


def descent():
    v = ptah.Verdict()
    law = AGN + 'sink_descent=.true.\nfudge_graddescent=2\n'
    whole, still = run('whole', law=law), run('still')
    last = whole.outputs[-1]
    v.same('some sinks have descended', any(x > 0 for x in table(last)['descent']), True)
    v.same('they are elsewhere', table(last)['x'] != table(still.outputs[-1])['x'], True)
    v.same('no more columns without it', 'descent' in table(still.outputs[-1]), False)
    r = run('on_3', 3, ordering='ksection', law=law, check=True)
    v.same('3 ranks: the same digest', ptah.digest(r.outputs[-1]) == ptah.digest(last), True)
    for form in 'original', 'hdf5':
        half = run('half_' + form, form=form, law=law, steps=4)
        rest = run('rest_' + form, 2, law=law, options=['-r', os.path.abspath(half.outputs[-1])])
        v.same('%s, resumed: the same digest' % form,
               ptah.digest(rest.outputs[-1]) == ptah.digest(last), True)
    v.end()


ROW = '%s %s 0 0  0 0 0  0 0 0 %s 0\n'


def wrong():
    v = ptah.Verdict()
    good = ROW % (1, 0.1, 0)
    bondi = "accretion_scheme='bondi'"
    for name, law, sinks, says in [
            ('nan', bondi, good + ROW % (1, 'nan', 0), "ic_sink: line 2: 'nan' is not a number"),
            ('inf', bondi, ROW % (1, '-inf', 0), "ic_sink: line 1: '-inf' is not a number"),
            ('one place', bondi, good + good, 'sinks 1 and 2 of the file have the same position'),
            ('mass 0', bondi, ROW % (0, 0.1, 0), 'line 1: a sink needs a mass above 0'),
            ('hole below 0', bondi, ROW % (1, 0.1, -1), 'must not be negative'),
            ('outside', bondi, ROW % (1, 0.6, 0), 'outside of it'),
            ('short', bondi, '1 2 3\n', 'line 1: needs 12 numbers'),
            ('words', bondi, good.replace('\n', ' x\n'), "line 1: unexpected 'x'"),
            ('nsinkmax', bondi + '\nnsinkmax=1', good + ROW % (1, 0.2, 0), 'nsinkmax=1'),
            ('families', bondi + '\n/\n&PHYSICS_PARAMS\nmseed=1e5', good, 'Horizon-AGN'),
            ('seed', bondi + '\nmass_sink_seed=0', good, 'mass_sink_seed=0'),
            ('flux', "accretion_scheme='flux'", good, "accretion_scheme='flux'"),
            ('threshold', "accretion_scheme='threshold'", good, 'T2_star'),
            ('two thresholds', 'd_sink=1\nn_sink=2', good, 'give only one of them'),
            ('level', 'nlevelmax_sink=7', good, 'nlevelmax_sink=7'),
            ('large', 'ir_cloud=30', good, 'ir_cloud=30')]:
        told(v, name, run('wrong', law=law, sinks=sinks, must_work=False), says)
    out = run('restart', steps=4).outputs[-1]
    with open('restart/ic_sink_restart', 'w') as f:
        f.write(good)
    told(v, 'more sinks', run('restart', options=['-r', os.path.abspath(out)], must_work=False),
         'ic_sink_restart')
    told(v, 'sinkprops', run('wrong', settings=['sinkprops=.true.'], must_work=False),
         'sinkprops=.true.')
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'ranks':
        ranks([int(n) for n in sys.argv[2:]])
    else:
        {'schemes': schemes, 'store': store, 'walls': walls, 'passes': passes,
         'descent': descent, 'wrong': wrong}[sys.argv[1]]()
