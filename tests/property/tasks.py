r"""The commands in pages of docs work as described, one after the other in one directory.
tasks.py PAGE            all of docs/PAGE.md     tasks.py PAGE --show     prints the page with what
the commands print now  In a block of the page, `$ ` begins a command and `> ` continues it; the
lines that follow are its output on both streams, and `[2]` is its exit status if it is not 0. `…`
in a line stands for any text, `…` as a line for any lines. A command without lines after it may
print anything.  Example of a fault caught: an option that was renamed, a message that no longer
names its file. """
# test: tasks tier=check timeout=900 ranks=2
# test: from-ramses tier=check timeout=300 ranks=2
# test: first-galaxy tier=check timeout=300 ranks=2
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

# page: min number of numbered headings, min number of commands below "Wrong ways"
PAGES = {'tasks': (60, 40), 'from-ramses': (0, 0), 'first-galaxy': (8, 0)}
BLOCK = '    '


class Command:
    def __init__(self, task, line):
        self.task, self.lines, self.expected, self.status = task, [line], [], 0

    def text(self):
        return '\n'.join(self.lines)

    def run(self):
        r = ptah.run_patiently(['bash', '-c', self.text()], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace',
                               env={**os.environ, **ptah.ENVIRONMENT, 'PTAH': ptah.ROOT,
                                    'PATH': ':'.join([os.path.dirname(ptah.program('inspect')),
                                                      os.path.dirname(sys.executable),
                                                      os.environ['PATH']])}, timeout=300)
        return r.stdout.splitlines(), r.returncode

    def fits(self, out):
        if not self.expected:
            return True
        parts = ['(?:.*\n)*' if line.strip() == '…' else
                 '.*'.join(map(re.escape, line.split('…'))) + '\n' for line in self.expected]
        return re.fullmatch(''.join(parts), ''.join(line + '\n' for line in out)) is not None


def commands(page):
    """Each line of the page with its command; None outside of blocks."""
    task, command = '', None
    for line in page.splitlines():
        if line.startswith('#'):
            task = line.lstrip('# ')
        if not line.startswith(BLOCK):
            command = None
            yield line, None
            continue
        line = line[len(BLOCK):]
        if line.startswith('$ '):
            command = Command(task, line[2:])
        elif line.startswith('> ') and command and not command.expected:
            command.lines.append(line[2:])
        elif re.fullmatch(r'\[\d+\]', line):
            command.status = int(line[1:-1])
        else:
            command.expected.append(line)
        yield line, command


def distinct(page):
    seen = []
    for _, c in commands(page):
        if c and c not in seen:
            seen.append(c)
    return seen


def show(page):
    last = None
    for line, c in list(commands(page)):
        if not c:
            print(line)
        elif c is not last:
            out, status = c.run()
            print('\n'.join([BLOCK + ('$ ' if i == 0 else '> ') + x for i, x in enumerate(c.lines)]
                            + [BLOCK + x for x in out] + [BLOCK + '[%d]' % status] * (status > 0)),
                  flush=True)
        last = c or last


def main():
    name = sys.argv[1]
    with open(os.path.join(ptah.ROOT, 'docs', name + '.md')) as f:
        page = f.read()
    if '--show' in sys.argv:
        show(page)
        return
    v = ptah.Verdict()
    found = distinct(page)
    for c in found:
        out, status = c.run()
        if not v.same('%s: %s' % (c.task, c.lines[0]), (status, c.fits(out)), (c.status, True)):
            print('expected:\n%s\nprinted:\n%s' % ('\n'.join(c.expected), '\n'.join(out[:40])))
    tasks, wrong = PAGES[name]
    v.same('tasks', len({c.task for c in found if c.task[:1].isdigit()}) >= tasks, True)
    v.same('wrong ways', sum(c.task.startswith('Wrong') for c in found) >= wrong, True)
    v.end()


if __name__ == '__main__':
    main()
