"""Breaks the code on purpose, one small change at a time, and checks which tests notice.
tests/mutation/table lists the changes.

    mutation.py table                    every change fits one place of the code, its tests exist
    mutation.py run [OPTION...] [WORD...]  makes all changes, or those whose text has one of the
                                           words
        -t named|quick|check   stop after the tests that the change names (quicker; the default),
                               after all quick tests, after all
        -j N                   working copies at a time (1)
        -f N                   the first N of an even sample of the table
        -q                     quick tests only, also of those named
        -o FILE                results are appended to FILE; a change that has one there is not
                               made again, but counted: a run that was stopped is resumed
        -d DIR                 where the copies are (build/mutation)
    mutation.py report FILE    the figures of such a file, and what survives, with its explanation

It works on copies of the tree, which are built step by step, so a change costs seconds. For each
change, the tests that it names are run, quick ones first, then the other tests of the tier; the
first test that fails, or takes ten times as long as before, has caught the change. `check` may take
hours.

Changes that are not caught are explained in the table. Fails if any other change survives, if a
change does not compile, or if less than 60 % are caught by quick tests or less than 95 % by all
(`-t check` only).
"""
# test: table tier=quick timeout=60
# test: run -t check tier=long timeout=36000 ranks=2
import filecmp
import getopt
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import ptah  # noqa: E402

BUILD = os.path.join(ROOT, 'build', 'mutation')
LEAST_QUICK, LEAST_CHECK = 0.60, 0.95
NOT_ASKED = ('lint', 'mutation/', 'bench/')  # text and speed are not behaviour
LONGEST_BUILD = 900
SLACK = 10  # factor by which a passing test may become slower


class Mutation:
    """A change: description; file; function, or None; old and new text; tests; explanation if it
    survives."""

    def __init__(self, what):
        self.what = what
        self.file = self.function = self.survives = None
        self.old, self.new, self.tests = [], [], []


def read_table(path=os.path.join(HERE, 'table')):
    """Reads the changes. Blocks of lines: `# what`, `@ file [function]`, `- old`, `+ new` (several
    of both), `by test`, `survives: why`."""
    mutations = []
    with open(path) as f:
        for number, line in enumerate(f, 1):
            mark, _, rest = line.rstrip().partition(' ')
            if not line.strip() or mark == '//':
                continue
            if mark == '#':
                mutations.append(Mutation(rest))
                continue
            m = mutations[-1]
            if mark == '@':
                m.file, m.function = (rest.split() + [None])[:2]
            elif mark in '-+':
                (m.old if mark == '-' else m.new).append(rest)
            elif mark == 'by':
                m.tests.append(rest)
            elif mark == 'survives:':
                m.survives = rest
            else:
                raise ValueError('%s:%d: %s' % (path, number, line))
    return mutations


def tokens(text):
    return re.findall(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]', text)


def pattern(lines):
    """Pattern for the old text, however it is broken into lines and indented."""
    words = tokens('\n'.join(lines))
    out = re.escape(words[0])
    for a, b in zip(words, words[1:]):
        out += (r'\s+' if re.match(r'\w', b) and re.match(r'\w', a[-1]) else r'\s*') + re.escape(b)
    if re.match(r'\w', words[0]):
        out = r'\b' + out
    return re.compile(out + (r'\b' if re.match(r'\w', words[-1][-1]) else ''))


def function_range(text, name):
    m = re.search(r'^(?![ \t#/*}])[^\n]*\b%s\([^;{]*?\n\{.*?^\}' % re.escape(name), text,
                  re.M | re.S)
    return (m.start(), m.end()) if m else (0, 0)


def sources(root):
    for top in ('lib', 'cmd'):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for f in files:
                if f.endswith(('.c', '.h', '.def')):
                    yield os.path.join(folder, f)


def places(m, path):
    """[(start, end)] of the old text in a file."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    low, high = function_range(text, m.function) if m.function else (0, len(text))
    return [(x.start(), x.end()) for x in pattern(m.old).finditer(text, low, high)]


def find(m, root):
    """(path, start, end), or an error message. Files move: if the named file does not exist, the
    old text must occur once in the whole code."""
    path = os.path.join(root, m.file)
    where = [(path, *p) for p in places(m, path)] if os.path.exists(path) else []
    if not where:
        where = [(f, *p) for f in sources(root) for p in places(m, f)]
    if len(where) == 1:
        return where[0]
    return '%s: fits %d places%s' % (m.file, len(where), ' in ' + m.function if m.function else '')


def check_table():
    mutations, bad = read_table(), 0
    tests = {t.name for t in harness(ROOT).find_tests('long', [])}
    for m in mutations:
        place = find(m, ROOT)
        wrong = [place] if isinstance(place, str) else []
        if m.old == m.new or not m.new:
            wrong.append('changes nothing')
        if not m.tests and not m.survives:
            wrong.append('names no test')
        wrong += ['no such test: ' + t for t in m.tests if t not in tests]
        for w in wrong:
            print('FAIL %s: %s' % (m.what, w))
        bad += len(wrong)
    names = [m.what for m in mutations]
    for twice in sorted({n for n in names if names.count(n) > 1}):
        print('FAIL twice: ' + twice)
        bad += 1
    print('%d changes of %d files' % (len(mutations), len({m.file for m in mutations})))
    sys.exit(1 if bad else 0)


def harness(root):
    """Loads tests/run of a tree."""
    path = os.path.join(root, 'tests', 'run')
    loader = importlib.machinery.SourceFileLoader('tests_run_' + re.sub(r'\W', '_', root), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


# ---- a working copy

def renew(source, path):
    """Copies a file unless the copy is current. A file that was changed and restored keeps its
    later time, so that objects built from the change are rebuilt."""
    if not os.path.isfile(path):
        shutil.copy2(source, path)
    elif not filecmp.cmp(source, path, shallow=False):
        shutil.copy(source, path)


def remove_others(source, path):
    """Removes files and folders that the source lacks."""
    for folder, folders, files in os.walk(path):
        twin = os.path.join(source, os.path.relpath(folder, path))
        for name in files:
            if not os.path.exists(os.path.join(twin, name)):
                os.remove(os.path.join(folder, name))
        for name in [f for f in folders if not os.path.isdir(os.path.join(twin, f))]:
            shutil.rmtree(os.path.join(folder, name))
            folders.remove(name)


def copy_tree(to):
    """Copies the sources and build products, with the times that make compares."""
    os.makedirs(to, exist_ok=True)
    for name in os.listdir(ROOT):
        if name in ('.git', 'build'):
            continue
        source, path = os.path.join(ROOT, name), os.path.join(to, name)
        if os.path.isdir(source):
            shutil.copytree(source, path, copy_function=renew, dirs_exist_ok=True)
            remove_others(source, path)
        else:
            renew(source, path)
    build = os.path.join(to, 'build')
    if not os.path.isdir(build):
        own = shutil.ignore_patterns('mutation', 'tmp', 'venv', 'fuzz', 'sanitized', 'coverage')
        shutil.copytree(os.path.join(ROOT, 'build'), build, symlinks=True, ignore=own)
        venv = os.path.join(ROOT, 'build', 'venv')
        if os.path.exists(venv):
            os.symlink(os.path.realpath(venv), os.path.join(build, 'venv'))


class Worker:
    def __init__(self, number, options):
        self.options = options
        self.root = os.path.join(options['folder'], str(number))
        copy_tree(self.root)
        self.harness = harness(self.root)
        self.runner = self.harness.Runner(1, False, False)
        asked = [t for t in self.harness.find_tests('check', [])
                 if not t.name.startswith(NOT_ASKED)]
        quick = {t.name for t in self.harness.find_tests('quick', [])}
        for t in asked:  # in the quick tier a unit test runs on fewer ranks
            t.tier = 'quick' if t.name in quick else 'check'
        self.tests = {t.name: t for t in asked}
        self.expected = {}  # seconds of a passing test on an idle machine, by name

    def make(self, goals):
        env = {**os.environ, **ptah.ENVIRONMENT}
        # changed files are compiled with little optimisation, on which results do not depend
        r = subprocess.run(['make', '-s', '-j2', 'OPT=-O1 -march=native', *goals], cwd=self.root,
                           env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=LONGEST_BUILD)
        return r.returncode == 0, r.stdout

    def build_for(self, test):
        """A unit test needs only its own program; other tests need all programs."""
        path = os.path.join(self.root, 'build', 'tests', re.split('[@ ]', test.name)[0])
        relative = os.path.relpath(path, self.root)
        source = os.path.join(self.root, relative[6:] + '.c')
        own = os.path.exists(path) or os.path.exists(source)
        return self.make([relative] if own else ['all'])

    def passes(self, test):
        """Whether the test passes, with a time limit many times its usual duration, since a change
        may cause an endless loop."""
        if test.name in self.expected:
            test.timeout = min(test.timeout, SLACK * (2 + self.expected[test.name]))
        result, seconds, _ = self.runner.execute(test)
        if result == 'passed':
            seconds /= ptah.crowd()
            self.expected[test.name] = max(seconds, self.expected.get(test.name, 0))
        return result != 'failed'

    def passes_before(self, m):
        """Whether the tests that the change names pass without it; records their durations."""
        new = [t for t in self.order(m)[:len(m.tests)] if t.name not in self.expected]
        return next((t.name for t in new if not (self.build_for(t)[0] and self.passes(t))), None)

    def order(self, m):
        """Tests to run for a change, in stages."""
        o = self.options
        named = [self.tests[t] for t in m.tests if t in self.tests]
        quick = [t for t in self.tests.values() if t.tier == 'quick']
        rest = [t for t in self.tests.values() if t.tier == 'check']
        stages = [[t for t in named if t.tier == 'quick']]
        if o['tests'] != 'named':
            stages.append(quick)
        if not o['quick']:
            stages.append([t for t in named if t.tier == 'check'])
        if o['tests'] == 'check' and not m.survives and not o['quick']:
            stages.append(rest)
        seen = set()
        return [t for stage in stages for t in stage if not (t.name in seen or seen.add(t.name))]

    def try_one(self, m):
        """(result, name of the test that caught the change)"""
        place = find(m, self.root)
        if isinstance(place, str):
            return 'does not fit', place
        bad = self.passes_before(m)
        if bad:
            return 'does not pass', bad
        path, start, end = place
        with open(path, encoding='utf-8') as f:
            text = f.read()
        try:
            put(path, text[:start] + '\n'.join(m.new) + text[end:])
            result, by = self.ask(m)
        finally:
            put(path, text)
        test = self.tests.get(by)
        # the test has not passed yet: it must pass without the change
        if test and by not in self.expected:
            self.build_for(test)
            if not self.passes(test):
                return 'does not pass', by
        return result, by

    def ask(self, m):
        whole = False
        for n, test in enumerate(self.order(m)):
            if n < len(m.tests):
                good, words = self.build_for(test)
            elif not whole:
                good, words = self.make(['all', 'units'])
                whole = True
            if not good:
                return 'does not compile', next((x for x in words.splitlines() if 'error' in x),
                                                words[-200:])
            if not self.passes(test):
                return test.tier, test.name
        return 'survives', m.survives or ''


def put(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


# ---- all changes

def chosen(words, first):
    mutations = [m for m in read_table() if not words or
                 any(w in ' '.join([m.what, m.file, m.function or '']) for w in words)]
    if first and first < len(mutations):
        mutations = [mutations[i * len(mutations) // first] for i in range(first)]
    return mutations


def read_results(path):
    """{description: (result, test that caught it)} from a file of results; the last result
    counts."""
    found = {}
    if path and os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            for line in f:
                result, by, what = line.rstrip('\n').split('\t')
                found[what] = result, by
    return found


def write_result(path, m, result, by):
    if path:
        with open(path, 'a', encoding='utf-8') as f:
            f.write('%s\t%s\t%s\n' % (result, re.sub(r'\s+', ' ', by), m.what))


def work(worker, queue, lock, results):
    while True:
        with lock:
            if not queue:
                return
            m = queue.pop(0)
        start = time.monotonic()
        try:
            result, by = worker.try_one(m)
        except subprocess.TimeoutExpired:
            result, by = 'does not compile', 'in time'
        with lock:
            results.append((m, result))
            write_result(worker.options['file'], m, result, by)
            print('%-16s %5.0f s  %s: %s  (%s)' %
                  (result, time.monotonic() - start, m.file, m.what, by), flush=True)


def report(results, options):
    count = {}
    for _, result in results:
        count[result] = count.get(result, 0) + 1
    n = len(results)
    caught = count.get('quick', 0), count.get('quick', 0) + count.get('check', 0)
    print(json.dumps(count))
    print('caught by quick tests: %d of %d, %.0f %%; by all asked: %d, %.0f %%'
          % (caught[0], n, 100 * caught[0] / n, caught[1], 100 * caught[1] / n))
    odd = [m.what for m, result in results
           if result.startswith('does not') or (result == 'survives' and not m.survives)]
    for what in odd:
        print('FAIL ' + what)
    for m, result in results:
        if m.survives and result != 'survives':
            print('now caught: ' + m.what)
    full = options['tests'] == 'check' and not options['quick']
    few = full and n > 50 and (caught[0] < LEAST_QUICK * n or caught[1] < LEAST_CHECK * n)
    if few:
        print('FAIL at least %.0f %% and %.0f %%' % (100 * LEAST_QUICK, 100 * LEAST_CHECK))
    return 1 if (odd and not options['quick']) or few else 0


def stop(workers):
    for w in workers:
        w.runner.stop()
    os._exit(1)


def run(arguments):
    given, words = getopt.gnu_getopt(arguments, 't:j:f:qo:d:')
    given = dict(given)
    options = {'tests': given.get('-t', 'named'), 'quick': '-q' in given, 'file': given.get('-o'),
               'folder': os.path.abspath(given.get('-d', BUILD))}
    known = read_results(options['file'])
    asked = chosen(words, int(given.get('-f', 0)))
    queue, lock = [m for m in asked if m.what not in known], threading.Lock()
    results = [(m, known[m.what][0]) for m in asked if m.what in known]
    subprocess.check_call(['make', '-s', '-j2', 'all', 'units'], cwd=ROOT,
                          env={**os.environ, **ptah.ENVIRONMENT})
    workers = [Worker(i, options) for i in range(int(given.get('-j', 1)))]
    signal.signal(signal.SIGTERM, lambda *_: stop(workers))
    threads = [threading.Thread(target=work, args=(w, queue, lock, results)) for w in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return report(results, options) if results else 2


def show(path):
    """Prints the figures of a file of results, and the survivors."""
    known = read_results(path)
    asked = [m for m in read_table() if m.what in known]
    for m in asked:
        if known[m.what][0] not in ('quick', 'check'):
            print('%-9s %s: %s\n          %s' % (known[m.what][0], m.file, m.what,
                                                m.survives or 'no explanation'))
    return report([(m, known[m.what][0]) for m in asked],
                  {'tests': 'named', 'quick': False}) if asked else 2


def main():
    if sys.argv[1:2] == ['table']:
        check_table()
    if sys.argv[1:2] == ['run']:
        sys.exit(run(sys.argv[2:]))
    if sys.argv[1:2] == ['report'] and len(sys.argv) == 3:
        sys.exit(show(sys.argv[2]))
    print(__doc__.strip())
    sys.exit(2)


if __name__ == '__main__':
    main()
