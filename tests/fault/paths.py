"""Every argument and parameter of every program that takes a path is given an unsuitable file: a
FIFO without writer or reader, a directory, an endless device, files that are empty or contain a
zero byte or a line of 10^5 characters. Each program ends within five seconds with one sentence and
status 2, except where the manual allows the file (ALLOWED).

    paths.py options        the options and operands of all programs, from their --help
    paths.py parameters     the parameters that `simulate -p` calls a file or a directory
    paths.py files          files with fixed names: initial conditions, those of a checkpoint

The places are found, not listed: a new option or parameter that this test does not know fails it.

Example of a fault caught: a file that is opened by fopen, which waits for a FIFO; a reader that
stops at a zero byte.
"""
# test: options tier=check timeout=300
# test: parameters tier=quick timeout=100
# test: files tier=check timeout=300
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import inputs  # noqa: E402
import ptah  # noqa: E402

SECONDS = 5
LONG = 100000
THINGS = {
    'fifo': os.mkfifo,
    'directory': os.mkdir,
    'device': lambda path: os.symlink('/dev/zero', path),
    'empty': lambda path: inputs.put(path, b''),
    'zero byte': lambda path: inputs.put(path, b'1 2 \0 3\n4 5\n'),
    'long word': lambda path: inputs.put(path, b'x' * LONG),
    'long line': lambda path: inputs.put(path, b'1 ' * (LONG // 2)),
    'missing': lambda path: None,
    'dangling': lambda path: os.symlink('nowhere', path)}
GIVEN = 'run/output_00001'
READABLE = ['empty', 'zero byte', 'long word', 'long line']

# Words for arguments of options that are not paths. Any other word stands for a path.
NO_PATHS = set('''N M X B F L R W D K G LO,HI NAME LIST SIZE AXIS HOW WHAT FIELD FORMAT FILES ORDER
YEAR RANKS LEVEL REGION MYR NAME=VALUE G,P,S L,M,N Z,… X,Y,Z X,Y,Z,R X,Y,Z,LX,LY,LZ
X,Y,Z,… NAME,…'''.split())

# Options that need more arguments: (program, option) → arguments after it, and the extension of
# its file. Without a row: the option and OPERAND.
COMPANY = {
    ('simulate', '--like'): (['-n', 'run.nml'], ''),
    ('inspect', '--members'): (['--halos', GIVEN], ''),
    ('inspect', '--plot'): (['--halos', GIVEN], '.png'),
    ('inspect', '--consistent'): (['--trees', GIVEN], '.dat'),
    ('inspect', '--camera'): (['--film', '-m', 'dens', '-o', 'out.png', GIVEN], ''),
    ('inspect', '--html'): (['--campaign', 'run'], ''),
    ('inspect', '--output'): (['-m', 'density', GIVEN], '.png'),
    ('pk', '--plot'): (['--mesh', '8', GIVEN], '.png'),
    ('pk', '--output'): (['--mesh', '8', GIVEN], ''),
    ('simulate', '--watch'): ([], ''),
    ('inspect', '--data'): (['--profile', '.5,.5,.5,.1', GIVEN], '.tsv'),
    ('pk', '--data'): (['--mesh', '8', GIVEN], '.tsv'),
    ('convert', '--output'): ([GIVEN], ''),
    ('repartition', '--output'): ([GIVEN], ''),
    ('genzoom', '--trace'): (['--center', '.5,.5,.5', '--radius', '.2', '-n', 'ics'], ''),
    ('genzoom', '--from'): (['--trace', GIVEN, '--center', '.5,.5,.5', '--radius', '.2', '-n',
                             'ics'], ''),
    ('genzoom', '--points'): (['-n', 'ics'], ''),
    ('genzoom', '--output'): (['--trace', GIVEN, '--from', GIVEN, '--center', '.5,.5,.5',
                               '--radius', '.4', 'ics'], '')}
OPERAND = {'simulate': 'run.nml', 'genzoom': 'ics'}  # operands; for other programs: a checkpoint
MORE = [('convert', ['-f', 'gadget'], '--output', [GIVEN], ''),
        ('convert', ['--cooling-table', '--points', '4,4,8'], '--output of a table', [GIVEN], ''),
        ('inspect', ['--phase'], '--output', [GIVEN], '.tsv'),
        ('inspect', ['--phase'], '--output', [GIVEN], '.svg'),
        ('inspect', ['--map', 'density'], '--output', [GIVEN], '.npy')]
# Operands by program: arguments before them.
OPERANDS = {
    'simulate': [[], ['-n']],
    'inspect': [[], ['-d'], ['-t'], ['-p'], ['-c'], ['-cc'], ['-m', 'dm'], ['--phase'],
                ['--stars'], ['--sinks'], ['--halos'], ['--clumps'], ['--campaign'],
                ['--contamination'], ['--profile', '.5,.5,.5,.1'], ['--line'], ['--trees'],
                ['--trees', '--by', 'clumps'], ['--film', '-o', 'out.png'], ['--cone'],
                [GIVEN]],
    'convert': [['-o', 'out'], ['-f', 'gadget', '-o', 'out'],
                ['--cooling-table', '--points', '4,4,8', '-o', 'out']],
    'repartition': [[], ['-o', 'out']],
    'genzoom': [['-n', '--sphere', '.5,.5,.5,.2']],
    'pk': [['--mesh', '8']]}

# Exceptions in the manual: (program or parameter, option, file) → reason.
ALLOWED = {
    ('simulate', '', 'fifo'): 'the namelist may be a pipe: it waits for the writer',
    ('genzoom', '--points', 'fifo'): 'points may come from a pipe: it waits for the writer',
    ('simulate', '--json', 'device'): 'lines are appended to a device',
    ('simulate', '--watch', 'directory'): 'it waits for a run',
    ('simulate', '--watch', 'missing'): 'it waits for a run',
    ('simulate', '--watch', 'dangling'): 'it waits for a run',
    ('simulate', '--output', 'directory'): 'checkpoints are written into it',
    ('pk', '--output', 'directory'): 'tables are written into it',
    ('inspect', '--campaign', 'directory'): 'a directory without checkpoints has no lines',
    ('jobcontrolfile', '', 'empty'): 'a file without orders',
    ('jobcontrolfile', '', 'missing'): 'no orders',
    ('jobcontrolfile', '', 'dangling'): 'no orders',
    ('ic_sink', '', 'missing'): 'no sinks',
    ('ic_sink', '', 'empty'): 'no sinks',
    ('ic_part', '', 'empty'): 'no particles',
    ('tracer_feed', '', 'empty'): 'no tracers',
    ('ic_velcy of a set', '', 'missing'): 'a zoom needs ic_deltab only'}
for _thing in [*READABLE, 'missing', 'dangling']:
    ALLOWED['simulate', '--json', _thing] = 'lines are appended to a file'
for _program in 'simulate', 'pk', 'convert', 'repartition', 'inspect', 'genzoom':
    ALLOWED[_program, '--output', 'missing'] = 'it is created'
for _writer in [('inspect', '--output'), ('inspect', '--members'), ('inspect', '--plot'),
                ('inspect', '--html'), ('inspect', '--consistent'), ('inspect', '--data'),
                ('pk', '--plot'), ('pk', '--data'),
                ('genzoom', '--output'), ('convert', '--output of a table')]:
    ALLOWED[(*_writer, 'missing')] = 'it is created'
    ALLOWED[(*_writer, 'device')] = 'a device is written to directly'


def thing(kind, path):
    for old in path, 'out':
        if os.path.isdir(old) and not os.path.islink(old):
            shutil.rmtree(old)
        elif os.path.lexists(old):
            os.remove(old)
    THINGS[kind](path)


def run(argv, given=None):
    """(status, None after five seconds; standard error), with input from the given path."""
    f = os.open(given or '/dev/null', os.O_RDONLY)
    try:
        p = subprocess.Popen([ptah.program(argv[0]), *argv[1:]], stdin=f, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace',
                             env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'})
        _, err = ptah.wait_patiently(lambda s: p.communicate(timeout=s), SECONDS)
        return p.returncode, err
    except subprocess.TimeoutExpired:
        p.kill()
        return None, p.communicate()[1]
    finally:
        os.close(f)


def judge(v, who, option, kind, argv, given=None, name=None):
    """Expects one sentence and status 2 in time; where the manual allows the file also status 0."""
    status, err = run(argv, given)
    said = [s for s in err.splitlines() if s.startswith(argv[0] + ':')]
    culprit = name or ('standard input' if given else 'thing')
    why = ALLOWED.get((who, option, kind))
    found = (status, len(said), culprit in ''.join(said))
    if why and 'waits' in why:
        v.same('%s (%s)' % (' '.join(argv), why), (status, len(said) > 1), (None, False))
    elif why:
        v.same('%s (%s)' % (' '.join(argv), why), status in (0, 2) and
               (status == 0 or len(said) == 1), True)
    elif not v.same('%s: %s' % (kind, ' '.join(argv)), found, (2, 1, True)):
        print(err[-500:])


def prepare():
    inputs.good_ics()
    os.mkdir('level_003')
    for name in os.listdir('ics'):
        os.rename('ics/' + name, 'level_003/' + name)
    os.rename('level_003', 'ics/level_003')
    inputs.put('run.nml', inputs.edit(inputs.COSMO, "'ics'", "'ics/level_003'").encode())
    ptah.simulate(os.path.abspath('run.nml'), '.', options=['-q', '-o', 'run'])


# options


def options_of(program):
    """[(long name, word for the argument)]"""
    r = ptah.Run([ptah.program(program), '--help'], '.')
    return re.findall(r'^  (?:-\w, |    )--([\w-]+) (\S+)  ', r.out, re.M)


def options(v):
    programs = sorted(os.listdir(os.path.join(ptah.ROOT, 'cmd')))
    v.same('operands of all programs are known', sorted(OPERANDS), programs)
    for program in programs:
        found = options_of(program)
        v.same('%s --help has options' % program, len(found) > 1, True)
        for name, word in found:
            if word in NO_PATHS:
                continue
            after, ending = COMPANY.get((program, '--' + name),
                                        ([OPERAND.get(program, GIVEN)], ''))
            for kind in THINGS:
                path = 'thing' + ending
                thing(kind, path)
                judge(v, program, '--' + name, kind, [program, '--' + name, path, *after])
    for program, before, option, after, ending in MORE:
        for kind in THINGS:
            thing(kind, 'thing' + ending)
            judge(v, program, option, kind,
                  [program, *before, '--output', 'thing' + ending, *after])
    for program in programs:
        operands(v, program)


def operands(v, program):
    for before in OPERANDS[program]:
        for kind in THINGS:
            thing(kind, 'thing')
            option = '--campaign' if '--campaign' in before else ''
            judge(v, program, option, kind, [program, *before, 'thing'])
    if program == 'genzoom':
        return
    for kind in 'directory', 'device', 'zero byte', 'long word', 'long line':
        thing(kind, 'thing')
        before = ['-o', 'out'] if program in ('convert', 'repartition') else []
        judge(v, program, 'standard input', kind, [program, *before, '-'], 'thing')
        if program == 'simulate':
            judge(v, program, 'standard input', kind, [program, '-r', '-', 'run.nml'], 'thing')


# parameters


GAS = inputs.SEDOV + """&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d21
/
"""
STENCIL = """&RUN_PARAMS
solver='stencil'
nstepmax=1
/
&STENCIL_PARAMS
nx=8
ny=8
nz=8
dt_fixed=0.01
/
"""
PARTICLES = """&RUN_PARAMS
solver='sph'
nstepmax=1
/
&SPH_PARAMS
setup='file'
/
"""
LISTS = ('slice_fields',)  # texts that are lists of names
GALAXY = ["init_params/condinit_kind='merger'", "merger_params/vcirc_dat_file1='curve'",
          'merger_params/gal_center2=0.1,0,0']
# Settings and namelist that make a run read the file; with its group where several have the name.
with open(os.path.join(ptah.ROOT, 'tests', 'data', 'radiation', 'still.nml')) as f:
    RADIATION = f.read()
READ_BY = {
    'jobcontrolfile': (GAS, []),
    'initfile': (inputs.COSMO, []),
    'uv_table': (GAS, ['physics_params/cooling=.true.']),
    'grackle_table': (GAS, ['physics_params/cooling=.true.',
                            "physics_params/cooling_method='exact'"]),
    'yieldtablefilename': (GAS, ['run_params/pic=.true.', 'run_params/poisson=.true.',
                                 'physics_params/eps_star=0.1', 'physics_params/n_star=0.1',
                                 'physics_params/metal=.true.']),
    'rt_params/sed_dir': (RADIATION, ['rt_params/rt_star=.true.']),
    'rt_params/uv_file': (RADIATION, ['physics_params/cooling=.true.',
                                      'physics_params/haardt_madau=.true.']),
    'stencil_params/init_file': (STENCIL, []),
    'tracer_feed': (GAS, ['run_params/tracer=.true.']),
    'sph_params/init_file': (PARTICLES, []),
    'neutrino_table': (inputs.edit(inputs.COSMO, "'ics'", "'ics/level_003'"),
                       ['run_params/use_neutrino=.true.', 'run_params/use_fftw=.true.',
                        'neutrino_params/omega_nu=0.001']),
    'vcirc_dat_file1': (GAS, GALAXY),
    'vcirc_dat_file2': (GAS, GALAXY)}


def key(group, name):
    return name if name in READ_BY else '%s/%s' % (group, name)


def parameters(v):
    r = ptah.Run([ptah.program('simulate'), '-p'], '.')
    inputs.put('curve', b'0 0\n100 100\n')
    group, paths = '', []
    for line, text in re.findall(r'^(&.*|  \w.*)\n(.*)', r.out, re.M):
        if line.startswith('&'):
            group = line.split()[0][1:].lower()
            line = text
        m = re.match(r"  (\w+) +text\S* +default '[^']*'(?: \[(\w+)\])?$", line)
        if m and m[2]:
            paths.append((group, m[1]))
        elif m and text.endswith('honoured') and m[1] not in LISTS:
            v.same('%s names a file, or has choices' % m[1], m[2], 'file')
    v.same('parameters are known', sorted(key(*path) for path in paths), sorted(READ_BY))
    for group, name in paths:
        namelist, settings = READ_BY.get(key(group, name), (GAS, []))
        inputs.put('other.nml', namelist.encode())
        for kind in THINGS:
            thing(kind, 'thing')
            argv = ['simulate', '-q', '-o', 'out', 'other.nml', *settings,
                    "%s/%s='thing'" % (group, name)]
            judge(v, name, '', kind, argv)
            if kind == 'fifo':
                judge(v, name, '', kind, [argv[0], '-n', *argv[1:]])


# files


SINKS = """&SINK_PARAMS
accretion_scheme='bondi'
mass_sink_seed=1.0
/
"""


def files(v):
    os.mkdir('ascii')
    particles = inputs.edit(inputs.ASCII, "'ics'", "'ascii'")
    sinks = ptah.ascii_box((3, 4), 1, 1, 'm_refine=8.', ics='ascii')
    sinks = inputs.edit(sinks, 'pic=', 'sink=.true.\npic=') + SINKS
    for name, namelist in ('ic_part', particles), ('ic_sink', sinks):
        inputs.put('other.nml', namelist.encode())
        inputs.put('ascii/ic_part', b'0.1 0.1 0.1 0 0 0 1.0\n')
        for kind in THINGS:
            thing(kind, 'ascii/' + name)
            judge(v, name, '', kind, ['simulate', '-q', '-o', 'out', 'other.nml'], name=name)
    inputs.put('other.nml', inputs.edit(inputs.COSMO, "'ics'", "'ics/level_003'").encode())
    for kind in THINGS:
        thing(kind, 'ics/level_003/ic_velcy')
        judge(v, 'ic_velcy', '', kind, ['simulate', '-q', '-o', 'out', 'other.nml'],
              name='ic_velcy')
        judge(v, 'ic_velcy of a set', '', kind,
              ['genzoom', '-n', '--sphere', '.5,.5,.5,.2', 'ics'], name='ic_velcy')
    for name in sorted(os.listdir(GIVEN)):
        for argv in (['inspect', '-cc'], ['inspect', '-d'], ['inspect', '-p'],
                     ['convert', '-f', 'hdf5', '-o', 'out'], ['simulate', '-q', 'run.nml', '-r']):
            shutil.rmtree('copy', ignore_errors=True)
            shutil.copytree(GIVEN, 'copy')
            thing('fifo', 'copy/' + name)
            status, err = run([*argv, 'copy'])
            v.same('%s, a FIFO: %s: in time' % (name, ' '.join(argv)),
                   status in (0, 1, 2) and 'Sanitizer' not in err, True)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    prepare()
    {'options': options, 'parameters': parameters, 'files': files}[sys.argv[1]](verdict)
    verdict.end()
