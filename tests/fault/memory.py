"""Each memory request of every program is refused in turn, alone or with all later ones: the
program reports it in one sentence and ends with status 2, or does without the memory and completes;
no checkpoint, map or table is half written.

    memory.py sample PROGRAM...   some ten requests of each command
    memory.py all PROGRAM...      up to 400 of each
    memory.py libraries PROGRAM   some ten requests of libraries (HDF5, FFTW, GSL, zlib, C)

Example of a fault caught: an allocation that is not checked, an output that has its name before
it is whole; malloc of lib/base/alloc that returns NULL.
"""
# test: sample simulate inspect tier=check timeout=240
# test: sample convert repartition pk genzoom tier=check timeout=240
# test: libraries simulate inspect tier=check timeout=240
# test: libraries convert repartition pk genzoom tier=check timeout=240
# test: all simulate tier=long timeout=7200
# test: all inspect pk tier=long timeout=7200
# test: all convert repartition genzoom tier=long timeout=7200
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'fault'))
import zoom_sets  # noqa: E402

SHIM = os.path.abspath('alloc.so')
SECONDS, SAMPLE, MOST = 60, 10, 400

COSMOLOGY = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
use_fftw=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=3
levelmax=4
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='%s'
/
&OUTPUT_PARAMS
aout=1.0
/
"""


def commands(binary, five):
    """PROGRAM: [(arguments, path of the result)]; checkpoints of both formats exist."""
    both, out = (binary, five), ['-q', '-o', 'new/output_00002']
    starts = [['run.nml', 'output_params/outformat=' + form] for form in ('original', 'hdf5')]
    restarts = [['-r', path, 'run.nml', 'run_params/nstepmax=3'] for path in both]
    starts.append(['cosmo.nml', 'output_params/foutput=1'])
    looks = (['-d'], ['-j'], ['-cc'], ['-t'], ['-m', 'density', '-o', 'new/map.png'])
    makes_new = {
        'simulate': [['-q', '-o', 'new', *how] for how in starts + restarts],
        'inspect': [[*look, path] for path in both for look in looks] + [[binary, five]],
        'convert': [[*out, '-f', 'hdf5', binary], [*out, '-f', 'ramses', five]],
        'repartition': [[*out, '-n', '3', path] for path in both],
        'pk': [['-n', '16', '-s', 'dm,gas', path] for path in both],
    }
    result = {program: [(argv, 'new') for argv in argvs] for program, argvs in makes_new.items()}
    result['genzoom'] = [(['-q', '--sphere', '0.5,0.5,0.5,0.05', 'set'], 'set')]
    return result


def prepare():
    source = os.path.join(ptah.ROOT, 'tests', 'fault', 'alloc.c')
    subprocess.check_call(['cc', '-shared', '-fPIC', '-O1', '-o', SHIM, source])
    os.makedirs('ics', exist_ok=True)
    with open('ics/ic_part', 'w') as f:
        for i in range(200):
            f.write('%g %g %g 0 0 0 0.005\n' % (i * 0.37 % 1, i * 0.73 % 1, i * 0.19 % 1))
    for name in ('ic_deltab', 'ic_velcx', 'ic_velcy', 'ic_velcz'):
        with open('ics/' + name, 'wb') as f:
            f.write(zoom_sets.grafic(3, 0, 8))
    ics = os.path.abspath('ics')
    texts = {'run.nml': ptah.ascii_box((3, 5), 2, 1, 'm_refine=2*0.001', ics=ics),
             'cosmo.nml': COSMOLOGY % ics}
    for name, text in texts.items():
        with open(name, 'w') as f:
            f.write(text)
    for form in ('original', 'hdf5'):
        setting = 'output_params/outformat=' + form
        r = ptah.Run([ptah.program('simulate'), '-q', '-o', form, 'run.nml', setting], '.')
        if r.status != 0:
            print(r.err)
            sys.exit(1)
    return 'original/output_00002', 'hdf5/output_00002'


def run(argv, made, **env):
    shutil.rmtree(made, ignore_errors=True)
    if made == 'set':
        zoom_sets.good()
    else:
        os.makedirs(made)
    env = {'LD_PRELOAD': SHIM, 'OMP_NUM_THREADS': '1', 'ALLOC_FROM': FROM, **env}
    return ptah.Run(argv, '.', env, SECONDS)


def broken(made):
    """Names of incomplete checkpoints; of a set's new files, unless all of them exist."""
    if made == 'set':
        new = glob.glob('set/*/ic_pvar_00???')
        return new if len(new) not in (0, len(zoom_sets.GOOD)) else []
    there = [os.path.join(made, n) for n in sorted(os.listdir(made))
             if n.startswith('output_') and not n.endswith('.tmp')]
    return [path for path in there
            if ptah.Run([ptah.program('inspect'), '-qc', path], '.').status != 0]


def trouble(r, made, whole):
    if r.timed_out:
        return 'still running after %d s' % SECONDS
    if broken(made):
        return 'not whole: %s' % broken(made)
    if r.status == whole.status and r.out == whole.out:
        return None  # the program completed without the memory
    usual = whole.err.splitlines()
    if r.status != 2 or len([line for line in r.err.splitlines() if line not in usual]) != 1:
        return 'status %d: %s' % (r.status, r.err[-400:])
    return None


def check(v, program, arguments, made, most):
    argv = [ptah.program(program), *arguments]
    whole = run(argv, made, ALLOC_LOG=os.path.abspath('count'))
    with open('count') as f:
        n = int(f.read())
    what = program + ' ' + ' '.join(arguments)
    if not v.same(what + ': works', whole.status in (0, 1), True):
        print(whole.err)
        return
    step = max(1, n / most)
    places = sorted({int(1 + i * step) for i in range(int(n / step))} | {n})
    wrong = []
    for at in places:
        for last in '1' if most < MOST and at % 2 else '01':
            t = trouble(run(argv, made, ALLOC_AT=str(at), ALLOC_LAST=last), made, whole)
            if t:
                wrong.append('request %d%s: %s' % (at, ' and all later' if last == '1' else '', t))
    v.same('%s: %d of %d requests refused' % (what, len(places), n), wrong[:10], [])


def main():
    v = ptah.Verdict()
    binary, five = prepare()
    for program in sys.argv[2:]:
        for arguments, made in commands(binary, five)[program]:
            check(v, program, arguments, made, MOST if sys.argv[1] == 'all' else SAMPLE)
    v.end()


FROM = 'libraries' if sys.argv[1] == 'libraries' else 'program'
if __name__ == '__main__':
    main()
