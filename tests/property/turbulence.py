"""Driven turbulence of octree runs: results depend on neither ranks, threads, domains, format,
device nor a restart between two fields; momentum and energy are those that the force gives;
initial velocities have the dispersion of the namelist; RAMSES's rule gives RAMSES's cells.

    turbulence.py bits      gas and gravity on three levels
    turbulence.py magnetic  the same of a magnetic gas in two dimensions
    turbulence.py seeds     a seed by the clock, RAMSES's rule and its files, over restarts
    turbulence.py laws      momentum, energy, initial velocities, static and decaying turbulence
    turbulence.py golden    cells of a run of RAMSES on 32^3 cells
    turbulence.py state     a restart from the files of driven turbulence of that run

Example of a fault caught: a force of the time when a step ends instead of when it begins, a lattice
that is overwritten while a coarse level still needs it, a generator that a restart begins anew.
"""
# test: bits tier=check timeout=120 ranks=5
# test: magnetic tier=check timeout=120 ranks=3
# test: seeds tier=check timeout=120 ranks=2
# test: laws tier=check timeout=120
# test: golden tier=check timeout=120
# test: state tier=check timeout=120
import lzma
import math
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
nsubcycle=1,2
nstepmax=4
/
&AMR_PARAMS
levelmin=3
levelmax=5
boxlen=2.0
/
&INIT_PARAMS
nregion=1
region_type='square'
x_center=1.0
y_center=1.0
z_center=1.0
length_x=10.0
length_y=10.0
length_z=10.0
exp_region=10.0
d_region=1.0
p_region=0.05
/
&OUTPUT_PARAMS
foutput=2
/
&HYDRO_PARAMS
riemann='hllc'
gamma=1.4
courant_factor=0.7
/
&REFINE_PARAMS
err_grad_u=0.2
floor_u=0.03
/
&TURB_PARAMS
driven_turb=.true.
turb_seed=7
turb_T=0.3
turb_Ndt=5
turb_rms=4.0
comp_frac=0.4
/
"""


def run(name, settings=(), namelist=NAMELIST, **how):
    return ptah.simulate(namelist, name, settings=settings, **how)


def same(v, what, settings, courses):
    first, middle, last = run('one', settings).outputs
    known = ptah.digest(last)
    v.same('%s: it moves' % what, ptah.digest(middle) == known, False)
    for name, how, more in courses:
        found = run(name, [*settings, *more], **how).outputs
        v.same('%s: %s' % (what, name), ptah.digest(found[-1]), known)
    for name, start, how in (('resumed', '../one/output_00002', {'ranks': 2}),
                             ('resumed from HDF5', '../hilbert/output_00002', {})):
        found = run(name, settings, options=['-r', start], **how).outputs
        v.same('%s: %s' % (what, name), ptah.digest(found[-1]), known)


HILBERT = ('hilbert', {'ranks': 2, 'threads': 2},
           ['run_params/ordering=hilbert', 'output_params/outformat=hdf5'])
CHECKED = ('checked', {'ranks': 3}, ['run_params/check_ghosts=T'])
FIVE = ('five ranks', {'ranks': 5, 'threads': 2}, [])
DEVICE = ('device', {}, ['run_params/gpu_hydro=T', "run_params/gpu_device='host'"])


def bits(v):
    same(v, 'gas', ['run_params/poisson=T'], [HILBERT, CHECKED, FIVE, DEVICE])


def magnetic(v):
    same(v, 'magnetic gas',
         ['run_params/mhd=T', 'run_params/ndim=2', 'hydro_params/riemann=hlld',
          'init_params/a_region=0.1'], [HILBERT, CHECKED, DEVICE])


def seeds(v):
    for name, settings in (('clock', ['turb_params/turb_seed=-1']),
                           ('ramses', ['turb_params/turb_rule=ramses']),
                           ('ramses-2026', ['turb_params/turb_rule=ramses-2026'])):
        settings = [*settings, 'amr_params/levelmax=4', 'turb_params/instant_turb=F']
        last = run(name, settings).outputs[-1]
        known = ptah.digest(last)
        again = run(name + ' resumed', settings, options=['-r', '../%s/output_00002' % name],
                    ranks=2).outputs[-1]
        v.same('%s: resumed' % name, ptah.digest(again), known)
        other = run(name + ' HDF5', [*settings, 'output_params/outformat=hdf5']).outputs
        same_seed = name != 'clock'
        v.same('%s: another run' % name, ptah.digest(other[-1]) == known, same_seed)
        again = run(name + ' from HDF5', settings,
                    options=['-r', '../%s HDF5/output_00002' % name]).outputs[-1]
        v.same('%s: from HDF5' % name, ptah.digest(again), ptah.digest(other[-1]))
    r = run('refused', settings, options=['-r', '../clock/output_00002', '--change-model'],
            must_work=False)
    v.same('RAMSES needs its files', (r.status, 'turb_fields.dat' in r.err), (2, True))


def steps(log):
    """t, dt, kinetic energy, momenta of the coarse steps in a log of -v."""
    fine = [tuple(map(float, m)) for m in re.findall(r'Fine step=.*? t= *(\S+) dt= *(\S+)', log)]
    ekin = [float(m) for m in re.findall(r' ekin= *(\S+)', log)]
    p = [tuple(map(float, m)) for m in re.findall(r'momentum= *(\S+) +(\S+) +(\S+)', log)]
    return fine, ekin, p


def laws(v):
    uniform = ['amr_params/levelmin=4', 'amr_params/levelmax=4', 'run_params/nstepmax=2']
    log = run('uniform', uniform, options=['-v']).err
    fine, ekin, p = steps(log)
    rms = float(re.search(r'turbulent rms: *(\S+)', log).group(1))
    v.check('momentum of uniform gas', max(map(abs, p[0])), 1e-13)
    # without pressure_fix `ekin` has the internal energy, too, which is 1 in this box; gas at rest
    # gets the energy ½ M (a dt)²
    v.check('energy of the first step',
            abs((ekin[0] - 1) / (0.5 * 8 * (rms * fine[0][1])**2) - 1), 0.01)
    log = run('static', [*uniform, 'turb_params/turb_evolving=F', 'run_params/nstepmax=3'],
              options=['-v']).err
    found = {float(x) for x in re.findall(r'turbulent rms: *(\S+)', log)}
    v.same('one field', len(found), 1)
    v.check('its rms', abs(found.pop() / (4 * math.sqrt(3)) - 1), 1e-12)
    for name, more, size in (
            ('initial', ['turb_params/driven_turb=F', 'turb_params/initial_turb=T',
                         'turb_params/initial_turb_vrms=0.6',
                         'turb_params/initial_turb_spectrum=konstandin'], 0.6),
            ('decaying', ['turb_params/turb_type=3', 'turb_params/turb_rms=0.6'],
             0.6 * math.sqrt(3))):
        log = run(name, [*uniform, *more],
                  options=['-v']).err
        v.same('%s: nothing is driven' % name, 'turbulent rms' in log, False)
        first = steps(log)[1][0]
        v.check('%s: dispersion' % name, abs(math.sqrt((first - 1) / 4) / size - 1), 5e-3)


def golden(v):
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = run('ramses', namelist=os.path.join(here, 'data', 'turb32.nml')).outputs[-1]
    r = ptah.Run([ptah.program('inspect'), '--line', found], '.')
    with open(os.path.join(here, 'data', 'turb32_line.tsv')) as f:
        known = f.read()
    table = [[[float(x) for x in line.split()] for line in text.splitlines()
              if line[0] in ' 0123456789'] for text in (r.out, known)]
    v.same('cells', (len(table[0]), len(table[0][0])), (len(table[1]), len(table[1][0])))
    v.same('cells to compare', len(table[1]), 32)
    worst = max(abs(x - y) / (1 + abs(y)) for a, b in zip(*table) for x, y in zip(a, b))
    v.check('cells of RAMSES', worst, 1e-12)


def unpack_state(folder):
    """Writes turb_fields.dat, turb_last.0.dat and turb_next.0.dat of a run of RAMSES: the text, and
    the amplitudes that are not 0, a line each with the index of the mode and six numbers."""
    with lzma.open(os.path.join(ptah.DATA, 'turb32_state.txt.xz'), 'rt') as f:
        text, amplitudes = f.read().split('\n\n')
    with open(os.path.join(folder, 'turb_fields.dat'), 'w') as f:
        f.write(text + '\n')
    modes = 0
    for line in amplitudes.splitlines():
        words = line.split()
        if len(words) == 1:
            path = os.path.join(folder, words[0])
            with open(path, 'wb') as f:
                f.truncate(64**3 * 48)
            continue
        with open(path, 'r+b') as f:
            f.seek(48 * int(words[0]))
            f.write(struct.pack('<6d', *map(float.fromhex, words[1:])))
        modes += 1
    return modes


def line_of(output):
    r = ptah.Run([ptah.program('inspect'), '--line', output], '.')
    return [[float(x) for x in line.split()] for line in r.out.splitlines()
            if line[0] in ' 0123456789']


def state(v):
    namelist = os.path.join(ptah.DATA, 'turb32.nml')
    more = ['output_params/noutput=3', 'output_params/tout=0.02,0.08,0.11']
    *_, begin, end = run('whole', more, namelist).outputs
    shutil.copytree(begin, 'theirs')
    for name in [x for x in os.listdir('theirs') if x.startswith('checksum')]:
        os.remove(os.path.join('theirs', name))
    v.same('modes', unpack_state('theirs'), 172)
    again = run('again', more, namelist, options=['-r', '../theirs']).outputs[-1]
    known, found = line_of(end), line_of(again)
    v.same('cells to compare', (len(known), len(found)), (32, 32))
    v.check('cells after a restart from the state of RAMSES',
            max(abs(x - y) / (1 + abs(y)) for a, b in zip(found, known) for x, y in zip(a, b)),
            1e-11)
    # the state is that of the run, not of one that begins anew
    with open(os.path.join(begin, 'turb_fields.dat')) as a, open('theirs/turb_fields.dat') as b:
        words = [f.read().split()[-4:] for f in (a, b)]
    v.same('generators', words[0], words[1])
    with open('theirs/turb_next.0.dat', 'r+b') as f:
        f.truncate(64**3 * 24)
    r = run('half', more, namelist, options=['-r', '../theirs'], must_work=False)
    v.same('half a file', (r.status, 'turb_next.0.dat' in r.err), (2, True))


def main():
    v = ptah.Verdict()
    {'bits': bits, 'magnetic': magnetic, 'seeds': seeds, 'laws': laws,
     'golden': golden, 'state': state}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
