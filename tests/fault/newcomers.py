"""Mistakes of newcomers: each gives one sentence that says what was expected, status 2; a
note where a run is possible but not what was meant.

Example of a fault caught: a quotient in a namelist whose '/' ends the group, in a message about
paths; a redshift for an expansion factor that --check passes in silence.
"""
# test: tier=check timeout=60
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from handling import one_sentence, run  # noqa: E402

GAS = """&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=3
levelmax=4
/
&INIT_PARAMS
nregion=1
region_type='square'
d_region=1
p_region=1
/
&OUTPUT_PARAMS
foutput=1
/
&HYDRO_PARAMS
gamma=1.4
/
"""


def put(name, *change):
    with open(name, 'w') as f:
        f.write(GAS.replace(*change) if change else GAS)


def check_paths(v, one, two):
    """Files for directories, directories for files, two checkpoints for one."""
    for name in 'info_00001.txt', 'amr_00001.out00001':
        status, out, _ = run('inspect', '-s', os.path.join(one, name))
        v.same('inspect …/%s is inspect of its directory' % name,
               (status, out.splitlines()[1:]), (0, run('inspect', '-s', one)[1].splitlines()[1:]))
    one_sentence(v, 'inspect of a namelist', ('inspect', 'run.nml'), 'is a file',
                 'give the directory output_NNNNN')
    os.mkdir('ics')
    one_sentence(v, 'simulate ics', ('simulate', 'ics'), 'ics: is a directory', 'run.nml',
                 'initfile')
    one_sentence(v, 'simulate -r A B run.nml', ('simulate', '-nq', '-r', one, two, 'run.nml'),
                 two + ': is a checkpoint, the second after -r ' + one)
    for argv in (('inspect', '~/output_00001'), ('simulate', '~/run.nml'), ('pk', '~/output_00001'),
                 ('simulate', '-nq', '-o', '~/out', 'run.nml'),
                 ('simulate', '-q', '-o', '~/out', 'run.nml'),
                 ('simulate', '-nq', '-r', '~/output_00001', 'run.nml')):
        one_sentence(v, ' '.join(argv), argv, "'~' within quotes")


def check_assignments(v):
    one_sentence(v, 'gamma=5/3', ('simulate', '-nq', 'run.nml', 'hydro_params/gamma=5/3'),
                 '5/3 is no number', 'write 1.6666667')
    put('five.nml', 'gamma=1.4', 'gamma=5./3.')
    one_sentence(v, 'gamma=5./3. in a namelist', ('simulate', '-nq', 'five.nml'), 'five.nml:19:',
                 'write 1.6666667')
    for words in ('hydro_params/gamma', '=', '1.5'), ('hydro_params/gamma=', '1.5'), (
            'hydro_params/gamma', '=1.5'):
        one_sentence(v, ' '.join(words), ('simulate', '-nq', 'run.nml', *words),
                     'one word', 'write hydro_params/gamma=1.5')
    put('dollar.nml', '&AMR_PARAMS', '$AMR_PARAMS')
    for name in 'run.nml', 'dollar.nml':
        status, out, err = run('simulate', '-q', '-o', name[:-4], name)
        v.same('%s runs' % name, (status, err), (0, ''))
    v.same('$AMR_PARAMS is &AMR_PARAMS', ptah.digest('dollar/output_00002'),
           ptah.digest('run/output_00002'))
    one_sentence(v, 'a parameter that is nearly one',
                 ('simulate', '-nq', 'run.nml', 'hydro_params/gama=1.4'), "did you mean 'gamma'?")


def check_times(v):
    """Redshifts, and times before the beginning, for expansion factors."""
    ptah.unpack_ics('sets', 'ic_zoom')
    cosmic = ('&RUN_PARAMS\ncosmo=.true.\npic=.true.\npoisson=.true.\n/\n&AMR_PARAMS\nlevelmin=5\n'
              "levelmax=5\n/\n&INIT_PARAMS\nfiletype='grafic'\n"
              "initfile(1)='sets/ics/ic_zoom/level_005'\n/\n&OUTPUT_PARAMS\n%s\n/\n")
    for times, words in (('noutput=3\naout=10,20,30', ['no output lies before today', 'until a=30',
                                                       'aout(1)=10 is a redshift, write 0.09091']),
                         ('noutput=1\naout=0.001', ['the run ends at once']),
                         ('noutput=2\naout=0.5,1', [])):
        with open('cosmic.nml', 'w') as f:
            f.write(cosmic % times)
        status, _, err = run('simulate', '-n', 'cosmic.nml')
        v.same('simulate -n with %s' % times.replace('\n', ', '),
               (status, [w for w in words if w not in err]), (0, []))
        if not words:
            v.same('… says nothing', [w for w in ('today', 'at once') if w in err], [])


def main():
    v = ptah.Verdict()
    put('run.nml')
    run('simulate', '-q', '-o', 'two', 'run.nml')
    check_paths(v, 'two/output_00001', 'two/output_00002')
    check_assignments(v)
    check_times(v)
    v.end()


if __name__ == '__main__':
    main()
