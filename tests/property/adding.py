"""Each recipe of docs/adding.md works: applied to a copy of the tree it touches as many files as the page says, the copy
builds, and what was added can be used.

A one-line fault it catches: a second list of what a table has.
"""
# test: program tier=check timeout=300
# test: parameter tier=long timeout=900
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

PROGRAM = r'''/* count: the number of leaf cells in a checkpoint. */
#include <stdio.h>

#include "base/opt.h"

enum { DONE = 0, TROUBLE = 2 };

static const struct opt ROWS[] = {
    {'h', "help", NULL, "print a short help"}, {'V', "version", NULL, "print the version"}, {0}};

int main(int argc, char **argv)
{
    struct opt_scan s;
    opt_begin(&s, argc, argv, ROWS);
    for (int c; (c = opt_next(&s)) != 0;) switch (c) {
        case 'h':
            opt_usage(stdout, "count [options] DIR", "Counts arguments.", ROWS);
            return DONE;
        case 'V':
            puts("ptah count 0.1");
            return DONE;
        default:
            return TROUBLE;
        }
    printf("%d\n", argc - s.index);
    return DONE;
}
'''

PAGE = r'''.TH COUNT 1 "" "Ptah" "Ptah"
.SH NAME
count \- counts arguments
.SH SYNOPSIS
.B count
.IR DIR ...
.SH DESCRIPTION
Prints the number of arguments.
.SH OPTIONS
.TP
\fB\-V\fR, \fB\-\-version\fR
Print the version.
.TP
\fB\-h\fR, \fB\-\-help\fR
Print a short help.
'''

PARAMETER = 'INT(run, patience, 3, RANGE(1, 9), "coarse steps", RUN, HONOURED, "an example")\n'

# heading of the page: {file: text of a new file, or (text before which to insert, text)}
RECIPES = {
    'program': {'cmd/count/count.c': PROGRAM, 'man/count.1': PAGE},
    'parameter': {'lib/param/core.def': ('INT(run, ncontrol,', PARAMETER)},
}


def copy_tree(to):
    files = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ptah.ROOT, text=True,
                           stdout=subprocess.PIPE).stdout.split('\n')
    for name in filter(None, files):
        path = os.path.join(ptah.ROOT, name)
        if name.startswith('tests/data/') or not os.path.isfile(path):
            continue
        os.makedirs(os.path.join(to, os.path.dirname(name)), exist_ok=True)
        shutil.copy2(path, os.path.join(to, name))
    for name in ('build/lib', 'build/cmd', 'bin'):
        shutil.copytree(os.path.join(ptah.ROOT, name), os.path.join(to, name))
    shutil.copy2(os.path.join(ptah.ROOT, 'build', 'libptah.a'), os.path.join(to, 'build'))


def apply(recipe, tree):
    for name, change in recipe.items():
        path = os.path.join(tree, name)
        if isinstance(change, str):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            text = change
        else:
            with open(path) as f:
                text = f.read()
            before, new = change
            if text.count(before) != 1:
                print('%s: %d places %r; mend the recipe' % (name, text.count(before), before))
                sys.exit(1)
            text = text.replace(before, new + before)
        with open(path, 'w') as f:
            f.write(text)


def stated(name):
    with open(os.path.join(ptah.ROOT, 'docs', 'adding.md')) as f:
        m = re.search(r'^## An? %s\n\nFiles: (\d+)' % name, f.read(), re.M)
    return int(m.group(1)) if m else None


def use_program(v, tree):
    r = ptah.Run(['python3', 'tests/property/manual.py'], tree)
    v.same('manual.py', (r.status, 'count -V' in r.out), (0, True))
    r = ptah.Run(['bin/count', 'a', 'b'], tree)
    v.same('count', (r.status, r.out), (0, '2\n'))
    r = ptah.Run(['scripts/lint', 'layers', 'man'], tree)
    v.same('lint', r.out, 'lint: 0 findings\n')


def use_parameter(v, tree):
    r = ptah.Run(['bin/simulate', '-p'], tree)
    v.same('simulate -p lists it', len(re.findall(r'^  patience +integer +default 3', r.out, re.M)), 1)
    namelist = os.path.join(ptah.DATA, 'golden', 'sedov3d.nml')
    for value, answer in (('4', 0), ('10', 2)):
        r = ptah.Run(['bin/simulate', '-n', namelist, 'run/patience=' + value], tree)
        v.same('patience=' + value, r.status, answer)


def main():
    v, name, tree = ptah.Verdict(), sys.argv[1], os.path.abspath('tree')
    ptah.program('simulate')
    copy_tree(tree)
    apply(RECIPES[name], tree)
    v.same('files, as docs/adding.md says', len(RECIPES[name]), stated(name))
    r = ptah.Run(['make', '-j2', 'all'], tree)
    print(r.out[-2000:], r.err[-2000:])
    v.same('it builds', r.status, 0)
    if r.status == 0:
        globals()['use_' + name](v, tree)
    v.end()


if __name__ == '__main__':
    main()
