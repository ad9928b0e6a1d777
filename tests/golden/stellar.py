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
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

DATA = os.path.join(ptah.ROOT, 'tests', 'data', 'stellar')
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
    shutil.copy(os.path.join(DATA, 'ic_sink'), 'run')
    with open(os.path.join(DATA, 'run.nml')) as f:
        ptah.simulate(f.read(), 'run')
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
