"""Common mistakes on command lines: names that end with a slash, a namelist from a pipe, a full
disk, an unknown option. Each gives one sentence with the true reason.

Example of a fault caught: an error of standard output that is reported where it happens and again
at the end of the program.
"""
# test: tier=quick timeout=60
import json
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

BLOCK = 4096


def run(*argv, out=subprocess.PIPE, most=None, text=''):
    """max: largest file size allowed (bytes). text: standard input, a pipe."""
    def limit():
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    p = ptah.run_patiently([ptah.program(argv[0]), *argv[1:]], stdout=out, stderr=subprocess.PIPE,
                           input=text, text=True, timeout=20, preexec_fn=limit,
                           env={**os.environ, **ptah.ENVIRONMENT})
    return p.returncode, p.stdout, p.stderr


def slashes(v, one):
    for argv, there in ((('simulate', '-q', '-o', 'a/', 'run.nml'),
                         'a/output_00001\na/output_00002'),
                        (('convert', '-q', '-o', 'b//', one + '/'), 'b'),
                        (('convert', '-q', '-o', 'c/', one, 'two/output_00001'),
                         'c/output_00001\nc/output_00002'),
                        (('repartition', '-q', '--ranks', '2', '-o', 'd/', one), 'd')):
        status, out, err = run(*argv)
        v.same(' '.join(argv), (status, '\n'.join(sorted(out.split())), err), (0, there, ''))


def one_sentence(v, what, argv, *words, **how):
    status, _, err = run(*argv, **how)
    v.same(what, (status, err.count('\n'), [w for w in words if w not in err]), (2, 1, []))
    if err.count('\n') != 1:
        print(err)


def sentences(v, one):
    for program in ('simulate', 'repartition', 'convert', 'inspect', 'genzoom', 'pk'):
        status, _, err = run(program, '--absent')
        v.same('%s --absent' % program, (status, err),
               (2, "%s: there is no option '--absent' (see %s -h)\n" % (program, program)))
    one_sentence(v, 'an integer of twenty digits',
                 ('simulate', 'run.nml', 'run_params/nstepmax=99999999999999999999'), 'too large')
    for ranks in ('0', '-1', 'two', '2x'):
        one_sentence(v, 'a forecast for %s ranks' % ranks,
                     ('simulate', '-n', '--ranks', ranks, 'run.nml'), 'ranks', 'not ' + ranks)
    with open('/dev/full', 'w') as full:
        for form in ('png', 'npy'):
            one_sentence(v, 'a map into a full device, ' + form,
                         ('inspect', '-q', '-m', 'density', '-f', form, '-o', '-', one),
                         'standard output: cannot write: No space left', out=full)
    one_sentence(v, 'a page that does not fit', ('inspect', '-q', '--campaign', '--html', 'p.html',
                                                 'two'), 'p.html: ', 'File too large', most=BLOCK)
    v.same('it leaves nothing', [n for n in os.listdir('.') if n.startswith('p.html')], [])


def piped(v):
    """The namelist from standard input, also with several ranks, or from a FIFO whose writer is
    slow."""
    with open('run.nml') as f:
        text = f.read()
    v.same('from standard input', run('simulate', '-q', '-o', 'p', '-', text=text)[:2],
           (0, 'p/output_00001\np/output_00002\n'))
    v.same('its state', run('inspect', 'p/output_00002', 'two/output_00002')[0], 0)
    p = ptah.run_patiently(ptah.mpirun(2) + [ptah.program('simulate'), '-q', '-o', 'q', '-',
                                             'run_params/nstepmax=1'], input=text, text=True,
                           stdout=subprocess.PIPE, timeout=50,
                           env={**os.environ, **ptah.ENVIRONMENT})
    v.same('of two ranks', (p.returncode, p.stdout.split()[-1:]), (0, ['q/output_00002']))
    os.mkfifo('fifo')
    with subprocess.Popen(['sh', '-c', '(head -c 40; sleep 0.2; cat) >fifo'],
                          stdin=open('run.nml')):
        v.same('from a FIFO', run('simulate', '-nq', 'fifo')[::2], (0, ''))
    one_sentence(v, 'an unknown name', ('simulate', '-'), 'standard input:2: ', 'hidro',
                 text='&RUN_PARAMS\nhidro=.true.\n/\n')
    one_sentence(v, 'too long', ('simulate', '-'), 'standard input', 'more than',
                 text='!' * (1 << 24) + '\n')
    one_sentence(v, 'a folder', ('simulate', '.'), '.: is a directory')
    one_sentence(v, 'both', ('simulate', '-r', '-', '-'), 'namelist', 'resume', 'both')


def twice(v):
    with open('run.nml') as f, open('twice.nml', 'w') as out:
        out.write(f.read().replace('levelmin=2', 'levelmin=3 levelmin=2'))
    err = run('simulate', '-o', 'e', 'twice.nml')[2]
    v.same('a parameter twice in a line', 'line 6 of the namelist sets levelmin twice' in err, True)


def files_of_checkpoints(v):
    """The path of a file in a checkpoint stands for the checkpoint, in all programs."""
    run('convert', '-q', '-o', 'h', 'two/output_00002')
    digest = run('inspect', '-qd', 'h')[1]
    for path in ('h/data_00002.h5', 'h/info_00002.txt', 'two/output_00002/amr_00002.out00001',
                 'two/output_00002/namelist.txt', 'two/output_00002/header_00002.txt'):
        v.same('inspect ' + path, run('inspect', '-qd', path)[::2], (0, ''))
        v.same('its digest', run('inspect', '-qd', path)[1].split()[0], digest.split()[0])
    v.same('repartition of files', run('repartition', '-q', '-o', 'i', 'h/data_00002.h5',
                                       'two/output_00001/amr_00001.out00001'),
           (0, 'i/h\ni/output_00001\n', ''))
    v.same('a restart from a file', run('simulate', '-q', '-r', 'h/data_00002.h5', '-o', 'k',
                                        'run.nml', 'run_params/nstepmax=2')[::2], (0, ''))
    one_sentence(v, 'a restart into it', ('simulate', '-q', '-r', 'h/data_00002.h5', '-o', 'h/in',
                                          'run.nml', 'run_params/nstepmax=2'), 'lies in', 'h')
    v.same('its spectrum', run('pk', '-q', '--mesh', '8', 'h/data_00002.h5')[::2], (0, ''))
    v.same('a check', run('inspect', '-c', 'h/data_00002.h5')[0], 0)
    os.makedirs('grouped/group_00001')
    for name in os.listdir('two/output_00002'):
        os.link('two/output_00002/' + name, 'grouped/group_00001/' + name)
    v.same('a file of a group', run('inspect', '-q', 'grouped/group_00001/amr_00002.out00001')[0],
           run('inspect', '-q', 'grouped')[0])
    out = run('convert', '-qj', '-o', 'json', 'two/output_00001', 'h')[1].splitlines()
    v.same('convert -j', [list(json.loads(line).values()) for line in out],
           [['two/output_00001', 'json/output_00001', 'hdf5'],
            ['h', 'json/output_00002', 'ramses']])
    err = run('convert', '--force', '-o', 'h.h5', 'two/output_00002')[2]
    v.same('a directory with the name of a file', 'h.h5 is a directory' in err, True)
    one_sentence(v, 'another file', ('inspect', 'run.nml'), 'run.nml: is a file')


def looked_at_first(v):
    """Programs that write nothing if one of the paths is no checkpoint; other programs continue
    with the next path."""
    for argv in (('inspect', '-d'), ('pk', '--mesh', '8')):
        alone = run(*argv, 'two/output_00001')[1]
        one_sentence(v, argv[0] + ' goes on', (*argv, 'new', 'two/output_00001'), 'new: ')
        v.same('its output', alone in run(*argv, 'new', 'two/output_00001')[1], True)
    for argv, words in ((('convert', 'two/output_00001', 'new'), ('-o new',)),
                        (('repartition', 'two/output_00001', 'new'), ('-o new',)),
                        (('convert', '-o', 'new', 'two/output_00001', 'run.nml'), ('run.nml: ',)),
                        (('repartition', '4', 'two/output_00001'), ('--ranks 4',)),
                        (('convert', 'two', 'two/output_00001'), ('output_00002',)),
                        (('inspect', 'two'), ('two: ', 'output_00001, output_00002')),
                        (('pk', 'zoom'), ('zoom: ', 'level_006, level_007'))):
        os.makedirs('zoom/level_006', exist_ok=True)
        os.makedirs('zoom/level_007', exist_ok=True)
        before = sorted(os.listdir('.'))
        one_sentence(v, ' '.join(argv), argv, *words)
        v.same('it prints and leaves nothing', (run(*argv)[1], sorted(os.listdir('.'))),
               ('', before))
    many = ['many/output_%05d' % i for i in range(1, 10)]
    for path in many:
        os.makedirs(path)
    one_sentence(v, 'many outputs', ('inspect', 'many'),
                 'output_00001, output_00002, …, output_00008, output_00009')


def suggestions(v, one):
    for word, name in (('vx', 'velocity_x'), ('Density', 'density'), ('rho', 'density'),
                       ('T', 'temperature'), ('presure', 'pressure')):
        one_sentence(v, 'a map of ' + word, ('inspect', '-m', word, one),
                     '(did you mean %s?)' % name)
    err = run('inspect', '-m', 'entropy', one)[2]
    v.same('no suggestion', ('did you mean' in err, 'there are: density' in err), (False, True))
    for argv, words in ((('-m', 'density', '-o', 'x.jpg'), 'png, svg, pdf or npy'),
                        (('-m', 'density', '--bare', '-o', 'x.jpg'), 'png or npy'),
                        (('--phase', '-f', 'npy'), 'png, svg, pdf or tsv'),
                        (('--stars', '-o', 'x.jpg'), 'png, svg, pdf or h5')):
        one_sentence(v, 'formats: ' + ' '.join(argv), ('inspect', *argv, one), words)
    v.same('American and British', run('inspect', '-q', '-m', 'density', '--colors', 'grey',
                                       '--centre', '0.5,0.5,0.5', '-o', 'c.png', one)[::2], (0, ''))
    for argv, words in ((('simulate', one), ('-r ' + one, 'run.nml')),
                        (('simulate', 'run.nml', one), ('-r ' + one,))):
        one_sentence(v, ' '.join(argv), argv, *words)


def many_ranks(v, one):
    """A launcher for another MPI: every process runs alone, and the first one reports it."""
    for number, rank, size in (('PMI_SIZE', 'PMI_RANK', 3), ('OMPI_COMM_WORLD_SIZE',
                                                             'OMPI_COMM_WORLD_RANK', 1)):
        for k in (0, 1):
            env = {**os.environ, **ptah.ENVIRONMENT, number: str(size), rank: str(k)}
            r = ptah.run_patiently([ptah.program('inspect'), '-q', one], env=env, text=True,
                                   capture_output=True, timeout=30)
            v.same('%s=%d %s=%d' % (number, size, rank, k),
                   (r.returncode, 'counts 1 rank' in r.stderr and '3' in r.stderr),
                   (0, size > 1 and k == 0))


def campaign(v):
    """An unreadable checkpoint has the number from its name, and no position in time."""
    os.remove('two/output_00001/amr_00001.out00001')
    lines = run('inspect', '--campaign', 'two')[1].splitlines()
    v.same('campaign of what cannot be read', lines[1].split('\t')[:2], ['00001', '-'])


def main():
    v = ptah.Verdict()
    with open('run.nml', 'w') as f:
        f.write(ptah.gas_box('original'))
    status, out, _ = run('simulate', '-q', '-o', 'two', 'run.nml')
    one = out.split()[-1]
    v.same('a run of two checkpoints', (status, one), (0, 'two/output_00002'))
    slashes(v, one)
    sentences(v, one)
    piped(v)
    twice(v)
    files_of_checkpoints(v)
    looked_at_first(v)
    suggestions(v, one)
    many_ranks(v, one)
    campaign(v)
    v.end()


if __name__ == '__main__':
    main()
