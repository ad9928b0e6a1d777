"""Each parameter has an effect, or the log says that it has none.

    parameters.py acts          each parameter alone in a run in which it has an effect: a
                                checkpoint, an output, the log or the exit status changes, and no
                                line of the log says that it has no effect; what is not supported
                                ends in a sentence
    parameters.py vain          each parameter that acts under a condition, where that does not
                                hold: a line of the log says so, with the condition, and nothing
                                changes
    parameters.py wide [RUN…]   each parameter in each run: either a line says that it has no
                                effect, and nothing changes, or something does

The parameters are listed by `simulate -p`; tests/parameter_runs.py has the runs, and
tests/parameter_acts.py the run in which each parameter has an effect. Example of a fault caught: a
parameter that is read and not used, or is used under another condition than its row says; a
condition that is text alone.
"""
# test: acts tier=check timeout=600 ranks=2
# test: vain tier=check timeout=600 ranks=2
# test: wide tier=long timeout=7200 ranks=2
import concurrent.futures
import hashlib
import itertools
import os
import re
import shutil
import sys
import threading

import h5py

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from parameter_acts import ACTS, QUIET, RECORDED  # noqa: E402
from parameter_runs import RUNS, text_of  # noqa: E402

WORKERS = 2
# log lines that differ between two equal runs: times, memory, files written by a thread, fastest
# transport
FLEETING = re.compile(r'mem=\d+ MB|\d+\.\d+ s\b|^ (Time elapsed|Observer |Used memory|Ranks'
                      r'|Total elapsed|Wrote|Exchange \w+: takes)\b.*|^ +[\d.]+ +[\d.]+ .*')
# files that name the parameters given to a run, or its times
PROVENANCE = re.compile(
    r'(^|/)(run\.nml|log|namelist\.txt|compilation\.txt|checksums_\d+\.txt|progress\.json)$')
VAIN = re.compile(r'^ ((?:\w+/\w+(?:, )?)+) ha(?:s|ve) no effect(.*)')


# ---- the parameters

class Row:
    def __init__(self, group, line, more):
        self.group, (self.name, self.type, *_) = group, line.split()
        self.key = group + '/' + self.name
        self.default = re.search(r" default ('[^']*'|\S+)", line)[1]
        self.choice = re.search(r"\('[^']*', '([^']*)'", line)
        self.refused = 'not supported' in more
        unless, never = [re.search(r'no effect%s(.*?)(?:; changes no result)?$' % x, more)
                         for x in (' unless ', ': ')]
        self.useless = bool(never)
        self.told = ' unless ' + unless[1] if unless else ': ' + never[1] if never else None

    def other(self):
        """A value other than the default."""
        if self.type.startswith('logical'):
            return '.true.' if self.default == '.false.' else '.false.'
        if self.type.startswith('text'):
            return self.choice[1] if self.choice else 'something'
        return '3' if self.type.startswith('integer') else '0.75'


def listed():
    """Rows by group/name. never: rows of unsupported switches."""
    rows, group = {}, None
    lines = ptah.Run([ptah.program('simulate'), '-p'], '.').out.splitlines()
    for line, more in itertools.zip_longest(lines, lines[1:], fillvalue=''):
        if line.startswith('&'):
            group = line.split()[0][1:].lower().replace('_params', '')
        elif re.match(r'  \w', line):
            row = Row(group, line, more)
            rows[row.key] = row
    refused = {r.name for r in rows.values() if r.refused}
    for r in rows.values():
        switch = re.match(r' unless (\w+)=', r.told or '')
        r.never = r.useless or bool(switch and switch[1] in refused) or \
            'which no parameter enables' in (r.told or '')
    return rows


class Setting:
    """An entry of ACTS: group/name=value!status."""

    def __init__(self, word):
        word, _, status = word.partition('!')
        group, name, value = re.match(r'(\w+)/([^=]+)=(.*)', word).groups()
        value = {'T': '.true.', 'F': '.false.'}.get(value, value)
        self.key = group + '/' + name.partition('(')[0]
        self.text, self.status = '%s/%s=%s' % (group, name, value), int(status or 0)


def settings(rows):
    """Settings by group/name: from ACTS, else a value other than the default."""
    out = {}
    for words in ACTS.values():
        for s in map(Setting, words.split()):
            out.setdefault(s.key, []).append(s)
    for key, row in rows.items():
        out.setdefault(key, [Setting('%s=%s' % (key, row.other()))])
    return out


# ---- results of a run

def content(path):
    """Content of a file; for HDF5 the data and their storage properties."""
    if not path.endswith('.h5'):
        with open(path, 'rb') as f:
            return hashlib.sha1(f.read()).hexdigest()
    out = {}

    def look(name, d):
        if isinstance(d, h5py.Dataset) and not re.match('ptah/|history$|parameters$', name):
            out[name] = (d.compression, hashlib.sha1(d[()].tobytes()).hexdigest())
    with h5py.File(path) as f:
        f.visititems(look)
    return out


class Seen:
    """Exit status, log, paths of outputs, files; vain: {parameter: reason why it has no effect}."""

    def __init__(self, r, folder):
        self.status, self.out, self.vain, self.log = r.status, r.out, {}, []
        for line in r.err.splitlines():
            told = VAIN.match(line)
            for key in told[1].split(', ') if told else []:
                self.vain[key] = told[2]
            line = FLEETING.sub('', line)
            if line and not told:
                self.log.append(line)
        self.files = {}
        for base, folders, names in os.walk(folder):
            folders[:] = [x for x in folders if not os.path.islink(os.path.join(base, x))]
            for name in names:
                path = os.path.relpath(os.path.join(base, name), folder)
                if not PROVENANCE.search(path):
                    self.files[path] = content(os.path.join(base, name))

    def told(self, key):
        """Reason why a parameter has no effect, named by any group; None: not reported."""
        name = key.split('/')[1]
        return next((why for k, why in self.vain.items() if k.split('/')[1] == name), None)

    def changed(self, base):
        """Differences from the run without the parameter, as words."""
        out = [x for x in ('status', 'log', 'out') if getattr(self, x) != getattr(base, x)]
        return out + sorted(x for x in self.files.keys() | base.files.keys()
                            if self.files.get(x) != base.files.get(x))


class Runs:
    """Runs settings, several at a time."""

    def __init__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        self.number = itertools.count()
        self.bases, self.folders = {}, {}
        self.lock = {name: threading.Lock() for name in RUNS}
        os.environ.pop(ptah.RUNS_ON, None)  # the reference runs without it
        ptah.unpack_ics('.', 'ic_32', 'ic_zoom')

    def folder(self, name):
        path = '%s.%d' % (name, next(self.number))
        os.makedirs(path)
        with open(os.path.join(path, 'run.nml'), 'w') as f:
            f.write(text_of(RUNS[name][1]))
        if RUNS[name][2]:
            RUNS[name][2](path)
        return path

    def run(self, name, given):
        path = self.folder(name)
        # every run gets one setting, so that all record their parameters in the same way
        r = ptah.simulate('run.nml', path, RUNS[name][0], 1, ['run/geom=2', *given], timeout=100,
                          must_work=False)
        seen = Seen(r, path)
        shutil.rmtree(path)
        return seen

    def base(self, name):
        with self.lock[name]:
            if name not in self.bases:
                self.bases[name] = self.run(name, [])
            return self.bases[name]

    def check(self, name, setting):
        """Messages before a run; nothing is written, so that one folder serves all."""
        with self.lock[name]:
            if name not in self.folders:
                self.folders[name] = self.folder(name)
        return Seen(ptah.simulate('run.nml', self.folders[name], 1, 1, [setting.text],
                                  ['-n', '--ranks', str(RUNS[name][0])], must_work=False), '')

    def alone(self, name, setting):
        return self.pool.submit(self.run, name, [setting.text])

    def in_vain(self, name, given):
        """The settings that change the run, each with its changes. All are set together first, then
        in halves if anything changes."""
        seen = self.run(name, [s.text for s in given])
        changed = seen.changed(self.base(name))
        if len(given) == 1:
            noted = RECORDED.get(given[0].key)
            changed = [x for x in changed if not noted or not re.search(noted, x)]
        if not changed or len(given) == 1:
            return [(s, changed) for s in given if changed]
        last = [s for s in given if s.key in RECORDED]
        rest = [s for s in given if s.key not in RECORDED]
        first, last = (rest, last) if rest and last else (
            given[:len(given) // 2], given[len(given) // 2:])
        return self.in_vain(name, first) + self.in_vain(name, last)


class Verdict:
    def __init__(self):
        self.done = self.failed = 0

    def check(self, good, text):
        self.done += 1
        self.failed += not good
        if not good:
            print('FAIL ' + text, flush=True)

    def end(self, what):
        print('%d %s, %d failed' % (self.done, what, self.failed))
        sys.exit(1 if self.failed else 0)


# ---- acts

def acts():
    v, rows, runs = Verdict(), listed(), Runs()
    known = {s.key for words in ACTS.values() for s in map(Setting, words.split())}
    for key in sorted(known - rows.keys()):
        v.check(False, '%s: ACTS has it, simulate -p has not' % key)
    for key, row in rows.items():
        v.check(key in known or row.never or row.refused,
                '%s: say in tests/parameter_acts.py in which run it acts' % key)
    twice = [(name, runs.pool.submit(runs.run, name, [])) for name in ACTS]
    jobs = [(name, s, runs.alone(name, s))
            for name in ACTS for s in map(Setting, ACTS[name].split()) if s.key in rows]
    refused = [(s, runs.pool.submit(runs.check, 'gas', s))
               for key, (s, *_) in settings(rows).items() if rows[key].refused]
    for name, again in twice:
        v.check(again.result().changed(runs.base(name)) == [],
                '%s: two equal runs: %s' % (name, again.result().changed(runs.base(name))))
    for name, s, job in jobs:
        seen = job.result()
        v.check(seen.changed(runs.base(name)), '%s: %s changes nothing' % (name, s.text))
        v.check(seen.status == s.status, '%s: %s: exit status %d, not %d'
                % (name, s.text, seen.status, s.status))
        v.check(seen.told(s.key) is None or s.status == 2,
                '%s: %s is said to have no effect%s' % (name, s.text, seen.told(s.key)))
    for s, job in refused:
        seen = job.result()
        says = [line for line in seen.log if line.startswith('simulate: ')]
        v.check(seen.status == 2 and len(says) == 1 and s.key.split('/')[1] in says[0],
                '%s: not refused by one sentence: %s' % (s.text, seen.log[-2:]))
    v.end('checks of %d settings in %d runs' % (len(jobs) + len(refused), len(ACTS)))


# ---- vain

def find_vain(runs, row, given):
    """The first run in which the log gives the reason why a parameter has no effect."""
    told = None
    for name in RUNS:
        seen = runs.check(name, given)
        told = seen.told(row.key)
        if seen.status == 0 and told and (told == row.told or not row.told):
            return name, told
    return None, told


def of_fields(row):
    """Whether RAMSES has a parameter only where the gas has a magnetic field: without, it is
    refused, since the run would be another problem."""
    if row.group == 'dice' or row.name == 'allow_divb':
        return False
    return row.told and 'mhd=.true.' in row.told


def of_solver(row):
    """Whether a parameter belongs to a solver, whose group is refused in runs of others."""
    return row.group in ('stencil', 'sph')


def vain():
    """For a row without condition, a line is required if its group is not read in all runs."""
    v, rows, runs = Verdict(), listed(), Runs()
    jobs = []
    refused = [(s, runs.pool.submit(runs.check, 'gas', s))
               for key, (s, *_) in settings(rows).items() if of_fields(rows[key])]
    for s, job in refused:
        seen = job.result()
        v.check(seen.status == 2 and seen.log and 'SOLVER=mhd' in seen.log[-1],
                '%s: not refused without a magnetic field: %s' % (s.text, seen.log[-2:]))
    others = [(s, runs.pool.submit(runs.check, 'gas', s))
              for key, (s, *_) in settings(rows).items() if of_solver(rows[key])]
    for s, job in others:
        seen = job.result()
        v.check(seen.status == 2 and seen.log and
                re.search("solver='(stencil|sph)'|not supported|not implemented", seen.log[-1]),
                '%s: not refused in a run of another solver: %s' % (s.text, seen.log[-2:]))
    for key, given in settings(rows).items():
        row = rows[key]
        if row.refused or not (row.told or row.group in CONDITIONAL):
            continue
        allowed = [s for s in given if s.status != 2] or [Setting('%s=%s' % (key, row.default))]
        jobs.append((row, allowed[0], runs.pool.submit(find_vain, runs, row, allowed[0])))
    by_run = {}
    for row, s, job in jobs:
        name, told = job.result()
        v.check(name or of_fields(row),
                '%s: no run says that it has no effect%s' % (s.text, row.told or ''))
        if name:
            by_run.setdefault(name, []).append(s)
    for name, job in [(n, runs.pool.submit(runs.in_vain, n, g)) for n, g in by_run.items()]:
        for s, changed in job.result():
            v.check(False, '%s: %s is said to have no effect, but changes %s'
                    % (name, s.text, ' '.join(changed)))
    print(', '.join('%s: %d' % (n, len(g)) for n, g in by_run.items()))
    v.end('parameters without effect')


# groups that RAMSES reads under a condition
CONDITIONAL = ('hydro', 'refine', 'clumpfind', 'unbinding', 'sink', 'cosmo')


# ---- wide

def is_there(name, setting, row):
    """Whether the run has this value already."""
    given = dict(re.findall(r'(?m)^(\w+(?:\([\d,]*\))?)=(.*)', text_of(RUNS[name][1])))
    what, value = setting.text.split('/')[1].split('=')
    return given.get(what, row.default) in (value, "'%s'" % value)


def wide(names):
    v, rows, runs = Verdict(), listed(), Runs()
    given = settings(rows)
    never = [s for key, (s, *_) in given.items() if rows[key].never]
    for name in names or RUNS:
        tried = [(s, runs.pool.submit(runs.check, name, s)) for key in given for s in given[key]
                 if not rows[key].never and not rows[key].refused and
                 not is_there(name, s, rows[key])]
        silent, active = [], []
        for s, job in tried:
            told = job.result().told(s.key)
            if told is None and job.result().status == 0:
                active.append(s)
            elif told:
                silent.append(s)
        v.check(not runs.base(name).changed(runs.run(name, [])), name + ': two equal runs differ')
        for s, changed in [x for k in (silent, never) if k for x in runs.in_vain(name, k)]:
            v.check(False, '%s: %s is said to have no effect, but changes %s'
                    % (name, s.text, ' '.join(changed)))
        quiet = []
        for s, job in [(s, runs.alone(name, s)) for s in active]:
            seen = job.result()
            if seen.changed(runs.base(name)):
                continue
            quiet.append(s.key)
            v.check(name in QUIET.get(s.key, {}) or '*' in QUIET.get(s.key, {}),
                    '%s: %s changes nothing, and nothing is said' % (name, s.text))
        print('%s: %d change something, %d do not, %d are said to have no effect' % (
            name, len(active) - len(quiet), len(quiet), len(silent) + len(never)), flush=True)
    v.end('checks')


if __name__ == '__main__':
    if sys.argv[1] == 'wide':
        wide(sys.argv[2:])
    else:
        {'acts': acts, 'vain': vain}[sys.argv[1]]()
