"""The output directory is removed, or its disk is too small.

    place.py

The directory of outputs is removed during the run: the run reports it, creates it again, and
writes; it does not report a removed checkpoint as good. If the directory is removed while a
checkpoint is being synced to a slow disk, the next coarse step writes another. If tables beside a
checkpoint cannot be written, the run ends, but the checkpoint gets its name first. A limit on the
size of files (ulimit -f) is one sentence and exit status 2 in every program that writes, no death
by a signal. Exports find out before they write whether their file has room. A run that is refused
leaves no empty directory. Nothing writes into the checkpoint that it reads.

Example of a fault caught: SIGXFSZ left as it is, a lost directory taken for a disk that is full.
"""
# test: tier=check timeout=120
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import faults  # noqa: E402
import ptah  # noqa: E402
import stop  # noqa: E402


def vanishing(v, form):
    """The run writes every 20 steps; its directory is removed after the first checkpoint."""
    folder = 'gone_' + form
    os.makedirs(folder)
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(stop.ENDLESS)
    settings = ['output_params/foutput=20', 'run_params/nstepmax=20',
                'output_params/outformat=' + form]
    os.makedirs(os.path.join(folder, 'a'))
    p = subprocess.Popen([ptah.program('simulate'), '-o', 'a/out', 'run.nml', *settings],
                         cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**os.environ, **ptah.ENVIRONMENT})
    first = p.stdout.readline().strip()
    shutil.rmtree(os.path.join(folder, first.split('/')[0]))
    out, err = ptah.wait_patiently(lambda s: p.communicate(timeout=s), 60)
    last = out.split()[-1:]
    v.same(form + ': status', p.returncode, 0)
    v.same(form + ': said', 'had disappeared: it is created again' in err, True)
    v.same(form + ': written', [os.path.exists(os.path.join(folder, o)) for o in last], [True])


def read(path):
    with open(path) as f:
        return f.read()


def vanishing_late(v):
    folder = 'late'
    os.makedirs(folder)
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(stop.ENDLESS)
    out = os.path.abspath(folder + '/out')
    slow = {'LD_PRELOAD': faults.SHIM, 'FAULT_DIR': out, 'FAULT_SLOW': '0.1'}
    with open('late/log', 'w') as log:
        p = subprocess.Popen([ptah.program('simulate'), '-o', out, 'run.nml',
                              'run_params/nstepmax=2'], cwd=folder, text=True,
                             stdout=subprocess.PIPE, stderr=log,
                             env={**os.environ, **ptah.ENVIRONMENT, **slow})
    while p.poll() is None and 'Fine step=' not in read('late/log'):  # the run continues
        time.sleep(0.01)
    shutil.rmtree(out)
    told = ptah.wait_patiently(lambda s: p.communicate(timeout=s), 60)[0]
    err = read('late/log')
    v.same('gone on its way: status', p.returncode, 0)
    v.same('gone on its way: said', err.count('had disappeared: it is created again'), 1)
    v.same('gone on its way: written and told of', told.split(), [out + '/output_00002'])


def ended_on_its_way(v):
    os.makedirs('beside/pk_00001.tsv')
    r = ptah.simulate(stop.ENDLESS, 'beside', must_work=False,
                      settings=['run_params/nstepmax=2', 'run_params/dump_pk=.true.'])
    v.same('its spectra cannot be written: status, checkpoints',
           (r.status, [os.path.basename(o) for o in r.outputs]), (2, ['output_00001']))
    ends = r.err.splitlines()[-1]
    v.same('the sentence is about the spectra, and the last',
           ends.startswith('simulate: ') and 'pk_00001.tsv' in ends, True)


def limited(argv, blocks):
    return ptah.Run(['sh', '-c', 'ulimit -f %d; exec "$0" "$@"' % blocks, *argv], '.')


def too_large(v):
    r = ptah.simulate(stop.ENDLESS, 'made', settings=['run_params/nstepmax=1'])
    made, out = r.outputs[-1], ['-o', 'small']
    run = [ptah.program('simulate'), '-q', *out, 'made/run.nml', 'run_params/nstepmax=1']
    for argv in (run, run + ['output_params/outformat=hdf5'],
                 [ptah.program('convert'), '-f', 'hdf5', *out, made],
                 [ptah.program('convert'), '-f', 'ramses', *out, made],
                 [ptah.program('repartition'), '-n', '2', *out, made],
                 [ptah.program('inspect'), '-m', 'density', '-n', '2048', '-o', 'map.png', made]):
        r = limited(argv, 8)
        name = ' '.join([os.path.basename(argv[0]), *argv[-2:]])
        said = [s for s in r.err.splitlines() if s.startswith(os.path.basename(argv[0]) + ':')]
        v.same('files of 4 KiB at most, %s: status, sentences' % name,
               (r.status, len(said)), (2, 1))
        if len(said) != 1:
            print(r.err[-500:])
        shutil.rmtree('small', ignore_errors=True)


def refused_first(v):
    """An output directory that is not writable is detected before the initial state is built."""
    with open('file', 'w') as f:
        f.write('x')
    os.makedirs('read')
    with open('read/run.nml', 'w') as f:
        f.write(stop.ENDLESS)
    for place, word in (('no/where', 'parent directory'), ('file', 'not a directory'),
                        ('file/x', 'Not a directory'), ('/proc', 'no files can be created')):
        for options in [], ['-n']:
            r = ptah.Run([ptah.program('simulate'), *options, '-o', place, 'read/run.nml'], '.')
            v.same(' '.join(['-o', place, *options]),
                   (r.status, word in r.err or 'cannot be created' in r.err,
                    'Building' in r.err, r.err.count('simulate: ')), (2, True, False, 1))
    r = ptah.Run([ptah.program('simulate'), '-n', '-o', 'new', 'read/run.nml'], '.')
    v.same('-n makes no directory', (r.status, os.path.exists('new'),
                                     [f for f in os.listdir('.') if f.startswith('.ptah')]),
           (0, False, []))
    os.makedirs('there')
    for place in 'new', 'there':
        for what, wrong in (('a profile', ['-j', 'no/where']), ('no checkpoint', ['-r', 'no'])):
            r = ptah.Run([ptah.program('simulate'), '-q', '-o', place, *wrong, 'read/run.nml'],
                         '.')
            v.same('%s, -o %s: status, sentences, an empty directory' % (what, place),
                   (r.status, r.err.count('\n'), os.path.exists(place)), (2, 1, place == 'there'))


def inside(v):
    """Nothing is written into the checkpoint that is read."""
    more = ['in/run.nml', 'run_params/nstepmax=2']
    r = ptah.simulate(stop.ENDLESS, 'in', settings=['run_params/nstepmax=1'])
    made = r.outputs[-1]
    files = sorted(os.listdir(made))
    for argv in (['simulate', '-q', '-r', made, '-o', made, *more],
                 ['simulate', '-q', '-r', made, '-o', made + '/x', *more],
                 ['convert', '-q', '-o', made + '/x', made],
                 ['convert', '-q', '-f', 'gadget', '--gas', '-o', made + '/x', made],
                 ['repartition', '-q', '-o', made + '/x', made]):
        r = ptah.Run([ptah.program(argv[0]), *argv[1:]], '.')
        v.same('into the checkpoint: ' + ' '.join(argv[:4]),
               (r.status, r.err.count('\n'), 'lies in the checkpoint' in r.err,
                sorted(os.listdir(made)) == files), (2, 1, True, True))


def no_room(v):
    """A file that does not fit is refused before its first value is written."""
    made = ptah.simulate(stop.ENDLESS, 'room', settings=['run_params/nstepmax=1']).outputs[-1]
    free = {'LD_PRELOAD': faults.SHIM, 'FAULT_ROOM': '100000'}
    for argv, name in ((['-f', 'vtk'], 'x.htg'), (['-f', 'vtk'], 'x.vtu'),
                       (['-f', 'npy', '--level', '8'], 'x.npy'),
                       (['-f', 'vti', '--level', '8'], 'x.vti')):
        r = ptah.Run([ptah.program('convert'), '-q', *argv, '-o', name, made], '.', env=free)
        v.same('no room for ' + name, (r.status, r.err.count('\n'), 'has 9.8' in r.err,
                                       os.path.exists(name)), (2, 1, True, False))


def main():
    v = ptah.Verdict()
    faults.build_shim()
    no_room(v)
    refused_first(v)
    inside(v)
    vanishing(v, 'original')
    vanishing(v, 'hdf5')
    vanishing_late(v)
    ended_on_its_way(v)
    too_large(v)
    v.end()


if __name__ == '__main__':
    main()
