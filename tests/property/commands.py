"""`inspect NAME` does what the option of the mode does: the same bytes on standard output, the same
status and files; the argument of a mode is the operand before the checkpoints, or is given by its
option, or is the usual one; a directory with the name of a mode opens as ./NAME or after --. The
examples of `inspect NAME -h` parse.

Example of a fault caught: a sub-command that takes the first checkpoint for its argument.
"""
# test: tier=check timeout=60
import os
import re
import shlex
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from digest import SEDOV  # noqa: E402

ARGUMENTS = {'map': 'pressure', 'pdf': 'u', 'profile': '0.5,0.5,0.5,0.3'}
MORE = {'clumps': ['--set', 'density_threshold=0.5'], 'film': ['-m', 'density'],
        'trees': ['--min', '5'], 'contamination': ['--sphere', '0.5,0.5,0.5,0.1']}


def modes():
    """Names of all modes, in the order of the table, and whether they have an option."""
    with open(os.path.join(ptah.ROOT, 'cmd', 'inspect', 'modes.def')) as f:
        return re.findall(r'^MODE\(\w+, (?:0|\'\w\'), "(\w+)"', f.read(), re.M)


def inspect(*words):
    """Status, output and files of a call in an empty folder beside the checkpoints."""
    shutil.rmtree('out', ignore_errors=True)
    os.mkdir('out')
    r = ptah.Run([ptah.program('inspect'), *words], 'out')
    files = {}
    for name in sorted(os.listdir('out')):
        with open(os.path.join('out', name), 'rb') as f:
            files[name] = f.read()
    return r.status, r.out, r.err, files


def check_same(v, a, b):
    one, two = inspect(*a), inspect(*b)
    v.same('%s as %s' % (shlex.join(a), shlex.join(b)), (one[0], one == two), (two[0], True))
    return one


def check_modes(v, old, new):
    for name in modes():
        more, given = MORE.get(name, []), [ARGUMENTS[name]] if name in ARGUMENTS else []
        paths = [os.path.dirname(new)] if name == 'campaign' else [new]
        if name == 'compare':
            check_same(v, [name, old, new], [old, new])
            continue
        check_same(v, [name, *given, *more, *paths], ['--' + name, *given, *more, *paths])
        if given:
            check_same(v, [name, '-q', *given, *paths], ['-q', '--' + name, *given, *paths])
            check_same(v, [name, '--' + name, *given, *paths], ['--' + name, *given, *paths])
        r = ptah.Run([ptah.program('inspect'), name, '-h'], '.')
        example = shlex.split(re.search(r'^Example: inspect (.*)$', r.out, re.M)[1])
        said = inspect(*example)[2]
        v.same('inspect ' + shlex.join(example), '(see inspect' in said, False)


def check_arguments(v, old, new):
    check_same(v, ['map', new], ['-m', 'density', new])
    check_same(v, ['map', old, new], ['-m', 'density', old, new])
    check_same(v, ['check', '--deep', new], ['-cc', new])
    for words, part in ((['map', 'density'], 'no checkpoint is given'),
                        (['profile', new], 'the argument is missing, as in inspect profile 0'),
                        (['compare', new], 'needs two checkpoints (see inspect compare -h)'),
                        (['mpa', new], 'did you mean inspect map?'),
                        (['map', '--widht', '1', new], "'--widht'; did you mean --width? (see "
                         "inspect map -h)"),
                        (['map', 'densty', new], 'did you mean density?'),
                        (['map', old, 'density'], 'there is no checkpoint density; if it is a '
                         'field, give it as -m density, or before'),
                        (['film', 'temperature', new], 'if it is a field, give it as -m temp'),
                        (['map', '-o', new + '/a.png', new], 'lies in the checkpoint'),
                        (['profile', '0.5,0.5,0.5,0.3', '--data', new + '/a.tsv', new],
                         'lies in the checkpoint'),
                        (['map', '-d', new], 'exclude each other')):
        status, _, err, _ = inspect(*words)
        v.same('inspect ' + shlex.join(words), (status, part in err, err.count('\n')), (2, True, 1))


def check_name(v, new):
    """A checkpoint in a directory that has the name of a mode."""
    shutil.copytree(new, 'tree')
    for words in ['./tree'], ['--', 'tree']:
        r = ptah.Run([ptah.program('inspect'), *words], '.')
        v.same('inspect %s' % shlex.join(words), (r.status, r.out.splitlines()[0]), (0, words[-1]))
    r = ptah.Run([ptah.program('inspect'), 'tree', 'tree'], '.')
    v.same('inspect tree tree', 'octs' in r.out, True)


def main():
    v = ptah.Verdict()
    run = ptah.simulate(SEDOV, 'run', settings=['run_params/nstepmax=2', 'amr_params/levelmax=5',
                                                'output_params/foutput=1'])
    old, new = [os.path.abspath(p) for p in run.outputs[-2:]]
    check_modes(v, old, new)
    check_arguments(v, old, new)
    check_name(v, new)
    v.end()


if __name__ == '__main__':
    main()
