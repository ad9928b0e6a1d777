"""What shells, disks and hands do to command lines: names that end with a slash, a namelist from a
pipe, a file that does not fit, an option that is not there. One sentence each, with the true
reason.

A one-line fault it catches: an error of standard output that is reported where it happens and again
at the end of the program.
"""
# test: tier=quick timeout=60
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

BLOCK = 4096


def run(*argv, out=subprocess.PIPE, most=None, text=''):
    """most: no file may be larger than this (bytes). text: standard input, a pipe."""
    def limit():
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    p = subprocess.run([ptah.program(argv[0]), *argv[1:]], stdout=out, stderr=subprocess.PIPE,
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
    """The namelist from standard input, of several ranks too, or a FIFO whose writer is slow."""
    with open('run.nml') as f:
        text = f.read()
    v.same('from standard input', run('simulate', '-q', '-o', 'p', '-', text=text)[:2],
           (0, 'p/output_00001\np/output_00002\n'))
    v.same('its state', run('inspect', 'p/output_00002', 'two/output_00002')[0], 0)
    p = subprocess.run(ptah.mpirun(2) + [ptah.program('simulate'), '-q', '-o', 'q', '-',
                                         'run_params/nstepmax=1'], input=text, text=True,
                       stdout=subprocess.PIPE, timeout=50, env={**os.environ, **ptah.ENVIRONMENT})
    v.same('of two ranks', (p.returncode, p.stdout.split()[-1:]), (0, ['q/output_00002']))
    os.mkfifo('fifo')
    with subprocess.Popen(['sh', '-c', '(head -c 40; sleep 0.2; cat) >fifo'],
                          stdin=open('run.nml')):
        v.same('from a FIFO', run('simulate', '-nq', 'fifo')[::2], (0, ''))
    one_sentence(v, 'an unknown name', ('simulate', '-'), 'standard input:2: ', 'hidro',
                 text='&RUN_PARAMS\nhidro=.true.\n/\n')
    one_sentence(v, 'too long', ('simulate', '-'), 'standard input', 'more than',
                 text='!' * (1 << 24) + '\n')
    one_sentence(v, 'a folder', ('simulate', '.'), '.: ', 'Is a directory')
    one_sentence(v, 'both', ('simulate', '-r', '-', '-'), 'namelist', 'resume', 'both')


def twice(v):
    with open('run.nml') as f, open('twice.nml', 'w') as out:
        out.write(f.read().replace('levelmin=2', 'levelmin=3 levelmin=2'))
    err = run('simulate', '-o', 'e', 'twice.nml')[2]
    v.same('a parameter twice in a line', 'line 6 of the namelist sets levelmin twice' in err, True)


def campaign(v):
    """A checkpoint that cannot be read has the number of its name, and no place in time."""
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
    campaign(v)
    v.end()


main()
