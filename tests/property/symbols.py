"""Names of functions and data in the libraries.

No two objects of libptah.a define the same name: a program that needs both would not link, and
which programs do changes with every call. libptah.so exports the functions that lib/api/ptah.h
declares, and nothing else.

Examples of faults caught: a second table_end in another module; a function missing in
packaging/symbols.
"""
# test: tier=quick
import collections
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

BUILD = os.path.join(ptah.ROOT, 'build')


def defined(library, kinds, *options):
    """Global names that a library defines; weak ones may be defined several times."""
    r = subprocess.run(['nm', '--defined-only', *options, os.path.join(BUILD, library)], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    fields = (line.split() for line in r.stdout.splitlines())
    return [f[2] for f in fields if len(f) == 3 and f[1] in kinds]


def main():
    v = ptah.Verdict()
    count = collections.Counter(defined('libptah.a', 'TDBR'))
    twice = sorted(name for name, n in count.items() if n > 1)
    v.same(f'{len(count)} names in libptah.a: defined twice', twice, [])
    with open(os.path.join(ptah.ROOT, 'lib', 'api', 'ptah.h')) as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    declared = set(re.findall(r'\b(ptah_\w+)\(', text))
    exported = set(defined('libptah.so', 'T', '-D'))
    v.same(f'{len(exported)} functions in libptah.so: in it or in ptah.h alone',
           sorted(declared ^ exported), [])
    v.end()


if __name__ == '__main__':
    main()
