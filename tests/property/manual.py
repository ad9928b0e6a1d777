"""Programs and man pages agree: a man page has exactly the options of --help, in their order and
under their headings, and examples parse. A letter means one option in all programs. -h fits a
screen and has only options of --help. `inspect MODE --help` lists exactly the options that this
mode accepts, and `inspect -h` all modes; each has a manual page. `ptah help` finds tasks.

Example of a fault caught: an option that was added to a program and not to its page; a letter
that another program has for another option; an option whose row names one mode too many; so many
common options that -h scrolls.
"""
# test: tier=quick timeout=60
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402


OPTION = r'^ *(?:-(\w), )?--([\w-]+)'


SCREEN = (24, 80)  # lines and columns of a terminal


def outline(text):
    """Headings, and letter and long name of each option, in order."""
    return re.findall(r'^(\w.*):$|' + OPTION, text, re.M)


def options_of(text):
    return [(letter, name) for heading, letter, name in outline(text) if not heading]


def text_of_page(page):
    """Options of a man page in the format of --help."""
    text = page.partition('\n.SH OPTIONS\n')[2].partition('\n.SH ')[0]
    text = re.sub(r'\\f[BRI]', '', text).replace('\\-', '-')
    lines = re.findall(r'^\.(SS .*|TP\n.*)', text, re.M)
    return '\n'.join(s[3:] + ':' if s.startswith('SS') else s[3:] for s in lines)


def help_of(*args, option='--help'):
    r = ptah.Run([ptah.program('inspect'), *args, option], '.')
    return r.out if r.status == 0 else r.err


def check_short(v, what, short, whole):
    """-h fits a screen; what it leaves out is in --help, and it says so."""
    lines = short.splitlines()
    v.same('%s: lines and columns' % what, (len(lines) <= SCREEN[0],
                                            [s for s in lines if len(s) > SCREEN[1]]), (True, []))
    v.same('%s: options that --help lacks' % what, set(options_of(short)) - set(options_of(whole)),
           set())
    v.same('%s: names --help' % what, short == whole or '--help' in lines[-1], True)


def check_modes(v):
    """The help of each mode lists the options that the mode accepts, as shown by trying all
    options."""
    whole = help_of()
    modes = [(letter, name) for letter, name in options_of(whole.partition('\nOptions of')[0])]
    told = {name: {n for _, n in options_of(help_of(name))} for _, name in modes}
    told['compare'] = {n for _, n in options_of(help_of('compare'))}
    told['film'].remove('map')  # a mode, but also the option that names the field of a film
    overview = help_of(option='-h')
    v.same('inspect -h: lines', len(overview.splitlines()) <= SCREEN[0], True)
    named = {s[i:i + 13].strip() for s in overview.splitlines() for i in (2, 41)}
    for name in told:
        v.same('inspect -h has %s' % name, name in named, True)
        check_short(v, 'inspect %s -h' % name, help_of(name, option='-h'), help_of(name))
    takes = {name: set() for name in told}
    short = dict(modes)
    for _, name in options_of(whole.partition('\nOptions of')[2]):
        value = re.search(r'--%s ([A-Z]\S*)' % name, whole)
        right = {'LO,HI': '1,2', 'X,Y,Z': '0,0,0', 'X,Y,Z,R': '0,0,0,.1', 'AXIS': 'x', 'B': '1',
                 'SIZE': '1M', 'FORMAT': 'png', 'NAME': 'grey', 'WHAT': 'mass', 'HOW': 'mass',
                 'STATES': '1,0,1,1,0,1', 'VECTOR': 'B', 'GROUPS': 'halos'}
        given = [right.get(value[1], '1')] if value else []
        refused = set()
        for mode in '-d', '-t':
            r = ptah.Run([ptah.program('inspect'), mode, '--' + name, *given, 'x'], '.')
            m = re.search(r'only (.*) takes this option: --%s ' % name, r.err)
            refused.add(m[1] if m else '')
        v.same('--%s: one answer' % name, len(refused), 1)
        words = min(refused)
        of = set(told) if not words else {
            short.get(m[2]) or m[1] or {'a summary': 'summary'}.get(w, 'compare')
            for w in words.split(' or ') for m in [re.search(r'--(\w+)|-(\w)\b|$', w)]}
        for mode in of:
            takes[mode].add(name)
    for mode in told:
        v.same('inspect %s --help' % mode, told[mode] ^ takes[mode], set())
    for letter, name in modes:
        for args in ((name,), ('--' + name,), ('-' + letter,) if letter else (name,)):
            v.same('inspect %s --help: one text' % args[0], help_of(*args), help_of(name))
    v.same('inspect -m density -h', help_of('-m', 'density', option='-h'),
           help_of('map', option='-h'))
    v.same('inspect map density -h', help_of('map', 'density', option='-h'),
           help_of('map', option='-h'))


def check_pages(v):
    """The manual page of each mode has its options, a description, an example at its beginning, and
    no error of roff."""
    r = ptah.Run([os.path.join(ptah.ROOT, 'packaging', 'modepages'), ptah.program('inspect'),
                  os.path.abspath('pages'), 'ptah-'], ptah.ROOT)
    v.same('modepages', (r.status, r.err), (0, ''))
    for path in sorted(glob.glob('pages/*')):
        mode = re.search(r'inspect-(\w+)\.1$', path)[1]
        with open(path) as f:
            page = f.read()
        v.same('man inspect-%s: options' % mode,
               {name for _, name in options_of(text_of_page(page))},
               {name for _, name in options_of(help_of(mode))})
        part = dict(re.findall(r'^\.SH (.*)\n((?:(?!\.SH ).*\n)*)', page, re.M))
        v.same('man inspect-%s: description' % mode, len(part['DESCRIPTION']) > 100, True)
        r = ptah.Run(['groff', '-man', '-Tutf8', '-P-cbou', '-ww', path], '.')
        head = r.out.splitlines()[:SCREEN[0]]
        v.same('man inspect-%s: an example on the first screen' % mode, (r.status, r.err, any(
            s.startswith('       inspect %s ' % mode) for s in head)), (0, '', True))


def check_help(v):
    """`ptah help` lists all tasks of docs/tasks.md; each is found by the words of its title."""
    with open(os.path.join(ptah.ROOT, 'docs', 'tasks.md')) as f:
        titles = re.findall(r'^### (.*)$', f.read().partition('\n## Wrong')[0], re.M)
    tool = os.path.join(ptah.ROOT, 'scripts', 'ptah')
    for words in ('[', '.*', '-- é'):
        none = ptah.Run(['sh', tool, 'help', *words.split()], '.')
        v.same('ptah help ' + words, (none.status, none.out, none.err.count('\n')), (2, '', 1))
    r = ptah.Run(['sh', tool, 'help'], '.')
    v.same('ptah help', [s for s in titles if '  %s\n' % s not in r.out], [])
    for words, title in (('resume', '17.'), ('continue', '17.'), ('kill', '15.'), ('movie', '63.'),
                         ('black holes', '69.'), ('draw a picture', '31.'), ('corrupted', '27.'),
                         ('merger trees', '66.'), ('how many cores', '6.'), ('ytree', '42.')):
        r = ptah.Run(['sh', tool, 'help', *words.split()], '.')
        found = re.search(r'^%s .*\n    \$ ' % re.escape(title), r.out, re.M)
        v.same('ptah help %s: task %s and a command' % (words, title),
               (r.status, found is not None), (0, True))
    r = ptah.Run(['sh', tool, 'help', 'xyzzy'], '.')
    v.same('ptah help xyzzy', (r.status, r.out, r.err.count('\n')), (2, '', 1))


def check_letters(v, tables):
    """tables: letters and long names of the options of each program. A letter has one long name in
    all programs, except -c, --check, of inspect and -n, --check, of others: both check and write
    nothing."""
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
        short = ptah.Run([ptah.program(name), '-h'], '.')
        r = ptah.Run([ptah.program(name), '--help'], '.')
        v.same('%s -h, --help: exit status' % name, (short.status, r.status), (0, 0))
        v.same('%s -h, --help: words on stderr' % name, short.err + r.err, '')
        if name != 'inspect':
            check_short(v, name + ' -h', short.out, r.out)
        v.same('%s: options and headings of --help and of the page' % name,
               outline(text_of_page(page)), outline(r.out))
        tables[name] = [(letter, long) for letter, long in options_of(r.out) if letter]
        r = ptah.Run([ptah.program(name), '-V'], '.')
        v.same('%s -V: one line' % name, (r.status, len(r.out.splitlines())), (0, 1))
        r = ptah.Run([ptah.program(name), '-vV'], '.')
        v.same('%s -vV: more lines' % name, (r.status, len(r.out.splitlines()) > 1), (0, True))
    check_letters(v, tables)
    check_modes(v)
    check_pages(v)
    check_help(v)
    v.end()


if __name__ == '__main__':
    main()
