"""A new format implements its tables, and every program knows it: tests/toy/toy.c, linked into
convert and inspect.

    formats.py toy

Catches a program or a module of the library that knows single formats, or uses more than the table
of a format.
"""
# test: toy tier=check timeout=120
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

NAMELIST = ptah.ascii_box((2, 4), 2, 2, 'm_refine=3*2.5')


def program(name):
    return os.path.join(ptah.ROOT, 'build', 'tests', 'toy', name)


def run(name, *args):
    return ptah.Run([program(name), *args], '.')


def digest(path):
    return sorted(run('inspect', '-d', path).out.splitlines())


def toy():
    v = ptah.Verdict()
    os.makedirs('ics')
    with open(os.path.join('ics', 'ic_part'), 'w') as f:
        f.write('0.1 0.2 0.3 0 0 0 3.0\n.6 .2 .3 0 0 0 3.0\n.1 .7 .3 0.1 0 0 1.0\n')
    made = ptah.simulate(NAMELIST, '.', options=['-q']).outputs[-1]
    for args in (['-f', 'toy', '-o', 'toy', made], ['-f', 'ramses', '-n', '3', '-o', 'back', 'toy'],
                 ['-f', 'toy', '--levelmax', '3', '-o', 'part', 'toy']):
        r = run('convert', *args)
        v.same('convert ' + ' '.join(args), (r.status, r.err), (0, ''))
    v.same('one file, and the list of it',
           sorted(n[:9] for n in os.listdir('toy')), ['checkpoin', 'checksums'])
    v.same('the digest has fields and particles', len(digest(made)) > 15, True)
    v.same('the digest of the toy', digest('toy'), digest(made))
    v.same('the digest of the checkpoint made of it', digest('back'), digest(made))
    v.same('inspect -cc', run('inspect', '-cc', 'toy').status, 0)
    v.same('compared with what it was made of', run('inspect', made, 'toy').status, 0)
    v.same('the summary names its format',
           '  format          toy' in run('inspect', 'toy').out, True)
    v.same('the tree of domains', run('inspect', '-t', 'toy').status, 0)
    v.same('a map', run('inspect', '-m', 'density', '-o', 'map.png', 'toy').status, 0)
    v.same('what is no toy', run('convert', '-f', 'game', '-o', 'x', made).status, 2)
    with open(os.path.join('toy', 'checkpoint.toy'), 'r+b') as f:
        f.truncate(100000)
    v.same('one that ends early', run('inspect', '-d', 'toy').status, 2)
    v.end()


if __name__ == '__main__':
    toy()
