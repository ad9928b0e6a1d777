"""Stellar objects compared with RAMSES (stable, October 2024, 2 ranks), in its test
sink/center-SN with levels 4 and 5 instead of 6 and 7: a sink of 100 solar masses and five small
ones, two of which merge, in uniform gas. The big one makes five objects, the first explodes.

Masses are given, and the objects do not move (Vdisp=0): nothing is random. Compared after twelve
coarse steps, seven of them after the supernova: the table of objects, masses of the sinks, number
of leaf cells, and integrals of density, density², pressure, pressure² and ρv² (measured: 2e-6 of
them; RAMSES's potential has an error of 7e-5).

    stellar.py

Example of a fault caught: another lifetime, an explosion a step later, another radius, momentum by
mass instead of by volume and distance, ejecta that the sink keeps, limits before the ejecta.
"""
# test: tier=check timeout=120
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
pic=.true.
sink=.true.
stellar=.true.
nsubcycle=1,1
/
&INIT_PARAMS
nregion=1
region_type(1)='square'
x_center=125
y_center=125
z_center=125
length_x=250
length_y=250
length_z=250
exp_region=10.0
d_region=1d1
p_region=3300.1987634209013
/
&AMR_PARAMS
levelmin=4
levelmax=5
nexpand=1,1
boxlen=250.
/
&OUTPUT_PARAMS
tend=0.147
foutput=4
/
&HYDRO_PARAMS
gamma=1.666666667
courant_factor=0.8
riemann='hllc'
slope_type=1
pressure_fix=.true.
beta_fix=0.5
/
&UNITS_PARAMS
units_density = 1.66d-24
units_time    = 3.004683525921981d15
units_length  = 3.08567758128200d18
/
&REFINE_PARAMS
jeans_refine=8,8,8
interpol_type=0
interpol_var=1
sink_refine=.true.
/
&SINK_PARAMS
create_sinks=.false.
nsinkmax=10
mass_sink_seed=1
accretion_scheme='bondi'
merging_timescale=1d50
/
&STELLAR_PARAMS
sn_feedback_sink=.true.
nstellarmax=40
stellar_msink_th=300.
mstellarini=100,8,40,50,60
imf_index=-2.35
imf_low=8
imf_high=120
Vsat=300
Tsat=1d5
Vdisp=0
/
"""
SINKS = """20.395,-70,-75,0,-119,0,0,0,0,0,20.395,20.395
20.395,-80,-75,0,119,0,0,0,0,0,20.395,20.395
40.79,-75,75,0,0,0,0,0,0,0,40.79,40.79
40.79,75,-75,0,0,0,0,0,0,0,40.79,40.79
40.79,75,75,0,0,0,0,0,0,0,40.79,40.79
4079,0,0,0,0,0,0,0,0,0,4079,4079
"""
MASS = 6.2598621180E+04
TIME, LEAVES = 0.145548910960678, 32544
OBJECTS = [(6, 3.2627731576E+02, 1.4046022752E-01, 4.3074479365E-01),
           (6, 1.6313865788E+03, 1.4046022752E-01, 5.2823866233E-02),
           (6, 2.0392332235E+03, 1.4046022752E-01, 4.5653556343E-02),
           (6, 2.4470798682E+03, 1.4046022752E-01, 4.1502744830E-02)]
INTEGRALS = {'density': 156191458.93996552, 'density squared': 1567135331.7781886,
             'pressure': 11966505985576.406, 'pressure squared': 2.173740654364448e+20,
             'density velocity squared': 3274040267030.6304}


def rows(path, names):
    with open(path) as f:
        title = f.readline().lstrip(' #').strip().split(',')
        got = [dict(zip(title, map(float, line.split(',')))) for line in f if '#' not in line]
    return [tuple(r[n] for n in names) for r in got]


def main():
    v = ptah.Verdict()
    os.makedirs('run')
    with open('run/ic_sink', 'w') as f:
        f.write(SINKS)
    ptah.simulate(NAMELIST, 'run')
    out = 'run/output_00003'
    s = read_ramses.load(out)
    d, p, vol = s.cell['density'], s.cell['pressure'], s.volume
    v2 = sum(s.cell['velocity_' + a] ** 2 for a in 'xyz')
    v.check('time', abs(s.info['time'] / TIME - 1), 1e-7)
    v.same('leaf cells', len(s.level), LEAVES)
    objects = rows(out + '/stellar_00003.csv', ('id', 'mstellar', 'tform', 'tlife'))
    v.same('objects', [r[0] for r in objects], [r[0] for r in OBJECTS])
    for k, (ours, theirs) in enumerate(zip(objects, OBJECTS)):
        v.check('object %d' % k, max(abs(a / b - 1) for a, b in zip(ours, theirs)), 1e-8)
    sinks = rows(out + '/sink_00003.csv', ('id', 'msink', 'dmfsink'))
    v.same('sinks', [r[0] for r in sinks], [1, 3, 4, 5, 6])
    for name, x in {'density': d, 'density squared': d * d, 'pressure': p,
                    'pressure squared': p * p, 'density velocity squared': d * v2}.items():
        v.check(name, abs((x * vol).sum() / INTEGRALS[name] - 1), 2e-6)
    masses = {r[0]: r[1] for r in sinks}
    v.check('the sink that lost a star', abs(masses[6] / MASS - 1), 1e-6)
    v.end()


if __name__ == '__main__':
    main()
