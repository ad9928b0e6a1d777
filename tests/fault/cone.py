#!/usr/bin/env python3
"""Light cones with impossible parameters, places that cannot be written, and damaged slices.

    cone.py parameters  each is a sentence, and exit status 2
    cone.py place       a slice that cannot be written ends the run, which says so; when it resumes,
                        the slice is there
    cone.py damage      cut and changed files: inspect --cone ends with a sentence
    cone.py full        a full disk, or the end of the run, at calls that write galaxies: nothing
                        has a name, and a run that resumes writes them

Examples of faults caught: a search of 1e12 replicas, an angle of 0, a run that goes on without a
slice, a count of cells taken from a damaged file.
"""
# test: parameters tier=check timeout=200
# test: place tier=check timeout=200
# test: damage tier=check timeout=200
# test: full tier=check timeout=200
import glob
import os
import random
import shutil
import sys
import tarfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, 'property')]
import cone_galaxies  # noqa: E402
import faults  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
lightcone=.true.
/
&OUTPUT_PARAMS
foutput=4
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
/
&AMR_PARAMS
levelmin=5
levelmax=5
/
&LIGHTCONE_PARAMS
cone_rule='crossing'
thetay_cone=0.05
thetaz_cone=0.05
zmax_cone=40
/
"""

WRONG = [
    (['lightcone_params/thetay_cone=0'], 'thetay_cone'),
    (['lightcone_params/thetaz_cone=-3'], 'thetaz_cone'),
    (['lightcone_params/thetaz_cone=91'], 'thetaz_cone'),
    (['lightcone_params/thetay_cone=NaN'], 'thetay_cone'),
    (['lightcone_params/zmax_cone=NaN'], 'zmax_cone'),
    (['lightcone_params/zmax_cone=0'], 'zmax_cone'),
    (['lightcone_params/zmax_cone=-1'], 'zmax_cone'),
    (["lightcone_params/cone_rule='both'"], 'cone_rule'),
    (["lightcone_params/cone_format='fits'"], 'cone_format'),
    (['lightcone_params/observer_cone1=1.5,0,0'], 'observer_cone1'),
    (['lightcone_params/elongated_axis_cone1=4'], 'elongated_axis_cone1'),
    (['lightcone_params/minboxr_cone2=0,0,0.2', 'lightcone_params/maxboxr_cone2=1,1,0.9',
      'lightcone_params/elongated_axis_cone2=3'], 'minboxr_cone2(3)=0'),
    (['lightcone_params/thetay_cone=90', 'lightcone_params/thetaz_cone=90'], 'replicas of the box'),
    (['run_params/pic=F', 'run_params/hydro=T'], 'set pic=.true.'),
    (['run_params/cosmo=F'], 'set cosmo=.true.'),
    (['run_params/hydro=T', 'lightcone_params/cone_hydro=T'], "cone_format='hdf5'"),
    (['run_params/hydro=T', 'run_params/sink=T', 'amr_params/levelmax=6',
      'sink_params/mass_sink_seed=1',
      "sink_params/accretion_scheme='bondi'", 'lightcone_params/cone_sink=T'], 'have no sinks'),
]


def one_line(text):
    lines = [line for line in text.splitlines() if line.startswith(('simulate:', 'inspect:'))]
    return lines[0] if len(lines) == 1 else text[-600:]


def parameters(v):
    ptah.unpack_ics('.', 'ic_32')
    for settings, part in WRONG:
        late = part == 'replicas of the box'
        r = ptah.simulate(BOX, '.', settings=settings + ['run_params/nstepmax=1'],
                          options=[] if late else ['-n'], must_work=False)
        v.same('%s: status' % ' '.join(settings), r.status, 2)
        v.same('the sentence has ' + part, part in one_line(r.err) or one_line(r.err), True)
    r = ptah.simulate(BOX, '.', settings=['lightcone_params/zmax_cone=1000',
                                          'run_params/nstepmax=1'],
                      options=['--force'])
    v.same('beyond the start', 'is beyond the start of the run at z=49' in r.err, True)


def place(v):
    ptah.unpack_ics('.', 'ic_32')
    how = ['run_params/nstepmax=12', "lightcone_params/cone_format='hdf5'"]
    os.makedirs('whole')
    os.symlink('../ics', 'whole/ics')
    ptah.simulate(BOX, 'whole', settings=how)
    with open('cone_00010', 'w') as f:
        f.write('in the way')
    r = ptah.simulate(BOX, '.', settings=how, must_work=False)
    said = one_line(r.err)
    v.same('status', r.status, 2)
    v.same('it says which slice, and what to do', 'coarse step 10' in said and 'resumed' in said or
           said, True)
    v.same('later slices are not there', os.path.exists('cone_00011'), False)
    os.remove('cone_00010')
    ptah.simulate(BOX, '.', settings=how + ['run_params/nrestart=-1'])
    names = sorted(glob.glob('whole/cone_?????/*.h5'))
    v.same('slices', len(names) > 8, True)
    for name in names:
        mine = name[6:]
        v.same(mine, os.path.exists(mine) and open(mine, 'rb').read() == open(name, 'rb').read(),
               True)
    v.same('nothing unfinished is left', glob.glob('*.tmp'), [])


def full(v):
    """The disk is full, or the run is killed, at calls that write the galaxies of a slice."""
    faults.build_shim()
    start = cone_galaxies.cone.run('run', cone_galaxies.TEXT, options=['-q'],
                                   settings=['output_params/aout=0.285']).outputs[-1]
    how = ['output_params/foutput=1', 'run_params/nstepmax=%d' % (
        read_ramses.read_info(start)['nstep_coarse'] + 1)]
    resume = ['-q', '-r', os.path.abspath(start)]

    def again(name, **env):
        os.makedirs(name, exist_ok=True)
        env = {'LD_PRELOAD': faults.SHIM, 'FAULT_DIR': './cone_gal', **env} if env else None
        r = ptah.simulate(cone_galaxies.TEXT, name, settings=how, options=resume, env=env,
                          must_work=False)
        files = {os.path.relpath(p, name): open(p, 'rb').read()
                 for p in sorted(glob.glob(name + '/cone_gal_*/*'))}
        return r, files

    r, want = again('whole', FAULT_AT='0', FAULT_LOG=os.path.abspath('calls'))
    v.same('there are galaxies', (r.status, len(want)), (0, 2))
    with open('calls') as f:
        calls = [line.split()[1] for line in f]
    v.same('calls', ('write' in calls, 'rename' in calls), (True, True))
    for kind, call in (('ENOSPC', 'write'), ('ENOSPC', 'rename'), ('kill', 'rename')):
        name = kind + call
        r, found = again(name, FAULT_KIND=kind, FAULT_AT=str(calls.index(call) + 1),
                         FAULT_LAST='1' if kind == 'ENOSPC' else '0')
        v.same(name + ': nothing has a name', [p for p in found if '.tmp' not in p], [])
        if kind == 'ENOSPC':
            v.same('status, a sentence', (r.status, r.err.count('\n'), 'galaxies' in r.err and
                   'No space' in r.err or r.err), (2, 1, True))
        v.same('no output', glob.glob(name + '/output_*[0-9]'), [])
        r, found = again(name)
        v.same('and again', (r.status, found == want), (0, True))


def damaged(v, path, kinds):
    """Tries many damages of a file; kinds: whether the run of --cone may succeed."""
    with open(path, 'rb') as f:
        good = f.read()
    draw = random.Random(5)
    wrong = fails = 0
    for k in range(24):
        data = bytearray(good)
        if k % 3 == 0:
            data = data[:draw.randrange(len(data))]
        else:
            for _ in range(1 + k % 5):
                at = draw.randrange(len(data)) if k % 2 else draw.randrange(min(len(data), 3000))
                data[at] ^= 1 << draw.randrange(8)
        with open(path, 'wb') as f:
            f.write(data)
        r = ptah.Run([ptah.program('inspect'), '--cone', os.path.dirname(path)], '.', timeout=20)
        good_end = r.status == 0 or (r.status == 2 and len(r.err.strip().splitlines()) == 1)
        wrong += not good_end
        fails += r.status == 2
    with open(path, 'wb') as f:
        f.write(good)
    v.same('%s: each damage ends in a sentence or a table' % path, wrong, 0)
    v.same('most are noticed', fails >= kinds, True)


def damage(v):
    ptah.unpack_ics('.', 'ic_32')
    ptah.simulate(BOX, '.', settings=['run_params/nstepmax=8',
                                      "lightcone_params/cone_format='hdf5'"])
    with tarfile.open(os.path.join(ptah.DATA, 'golden', 'cone_narrow.tar.xz')) as t:
        t.extractall('.')
    damaged(v, sorted(glob.glob('cone_?????/*.h5'))[-1], 8)
    damaged(v, 'cone_narrow/cone_00087/cone_00087.out00001', 8)
    damaged(v, 'cone_narrow/cone_00087/cone_00087.out00001.txt', 4)
    os.makedirs('alone')
    shutil.copy('cone_narrow/cone_00087/cone_00087.out00001.txt', 'alone')
    os.makedirs('empty')
    shutil.copy('cone_narrow/cone_00087/cone_00087.out00001', 'empty')
    for path, part in (('alone', 'is missing'), ('empty', '.txt'), ('ics', 'no slices'),
                       ('nowhere', 'nowhere'),
                       ('run.nml', 'is no file of a light cone')):
        r = ptah.Run([ptah.program('inspect'), '--cone', path], '.')
        v.same(path, r.status == 2 and part in r.err or r.err, True)


def main():
    v = ptah.Verdict()
    {'parameters': parameters, 'place': place, 'damage': damage, 'full': full}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
