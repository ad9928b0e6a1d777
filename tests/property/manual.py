"""Program, man page and listing say the same: every option of -h is in the man page and the
reverse, and examples parse. A letter means the same option in all programs.

A one-line fault it catches: an option that was added to a program and not to its page; a letter
that another program has for another option.
"""
# test: tier=quick timeout=60
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402


def options_of_help(text):
    return set(re.findall(r'^ +-(\w), --([\w-]+)', text, re.M))


def options_of_page(page):
    text = page.replace('\\-', '-').replace('\\fB', '').replace('\\fR', '').replace('\\fI', '')
    return set(re.findall(r'^-(\w), --([\w-]+)', text, re.M))


def check_letters(v, tables):
    """tables: of each program its letters and long names. A letter has one long name in all
    programs. So has -c, --check, of inspect beside -n, --check: both check and write nothing."""
    names = {}
    for tool, rows in tables.items():
        for letter, name in rows:
            names.setdefault(letter, {}).setdefault(name, []).append(tool)
    for letter, found in sorted(names.items()):
        v.same('-%s means one option' % letter, len(found), 1)
        if len(found) > 1:
            print('     %s' % found)


def main():
    v = ptah.Verdict()
    tables = {}
    for folder in sorted(glob.glob(os.path.join(ptah.ROOT, 'cmd', '*', ''))):
        name = os.path.basename(folder.rstrip('/'))
        path = os.path.join(ptah.ROOT, 'man', name + '.1')
        if not v.same('%s: a man page' % name, os.path.exists(path), True):
            continue
        with open(path) as f:
            page = f.read()
        r = ptah.Run([ptah.program(name), '-h'], '.')
        v.same('%s -h: exit status' % name, r.status, 0)
        v.same('%s -h: words on stderr' % name, r.err, '')
        v.same('%s: options in one place only' % name,
               options_of_help(r.out) ^ options_of_page(page), set())
        tables[name] = options_of_help(r.out)
        r = ptah.Run([ptah.program(name), '-V'], '.')
        v.same('%s -V: one line' % name, (r.status, len(r.out.splitlines())), (0, 1))
        r = ptah.Run([ptah.program(name), '-vV'], '.')
        v.same('%s -vV: more lines' % name, (r.status, len(r.out.splitlines()) > 1), (0, True))
    check_letters(v, tables)
    v.end()


if __name__ == '__main__':
    main()
