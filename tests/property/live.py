"""The live line of a run and the time left, and simulate --watch.

    live.py terminal    in a pseudo-terminal, 100 and 40 columns wide, under mpirun, suspended,
                        interrupted, resized; what is no terminal gets no escape code: a pipe, a
                        file, TERM=dumb, a pipe behind mpirun
    live.py watch       a run that ends, stops, fails, dies here and elsewhere, has not begun; and
                        inspect --campaign --follow of such runs
    live.py left        a growing cosmological box and a blast: the work of the second half by the
                        steps of the first, in cell updates, so that no clock matters

Catches: a line wider than the window, a path of a checkpoint printed behind the live line, escape
codes in a log, a run in the background that writes over the shell, the exit status of a dead run,
a table that lacks the last checkpoint.
"""
# test: terminal tier=check timeout=120 ranks=2 waits=yes
# test: watch tier=check timeout=120 waits=yes
# test: left tier=check timeout=240
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import blast  # noqa: E402
import ptah  # noqa: E402

CLEAR = '\r\x1b[K'
SIMULATE = ptah.program('simulate')
SECONDS = 60


def namelist(path, end, levelmax=5):
    with open(path, 'w') as f:
        f.write(blast.NAMELIST.format(levelmax=levelmax, end=end))
    return os.path.abspath(path)


class Terminal:
    """A program in a pseudo-terminal of its own; `text` is what it has written."""

    def __init__(self, argv, columns, env=None):
        self.ours, theirs = pty.openpty()
        self.resize(columns)

        def lead():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.p = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs,
                                  preexec_fn=lead, env={**os.environ, **ptah.ENVIRONMENT,
                                                        'TERM': 'xterm', 'OMP_NUM_THREADS': '1',
                                                        **(env or {})})
        os.close(theirs)
        self.text, self.open = '', True

    def resize(self, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))

    def read(self, seconds):
        if not self.open or not select.select([self.ours], [], [], seconds)[0]:
            return
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            data = b''
        self.open = bool(data)
        self.text += data.decode(errors='replace')

    def until(self, pattern, start=0):
        begin = time.monotonic()
        while self.open and time.monotonic() - begin < SECONDS:
            if re.search(pattern, self.text[start:]):
                return True
            self.read(0.1)
        return bool(re.search(pattern, self.text[start:]))

    def end(self):
        """Exit status after the end of its output."""
        begin = time.monotonic()
        while self.open and time.monotonic() - begin < SECONDS:
            self.read(0.1)
        if self.open:
            self.p.kill()
        os.close(self.ours)
        return self.p.wait()


def live_lines(text):
    """The live lines: what begins with the first column, or a clear, and has no end of line."""
    return [x for x in re.findall(r'(?:^|\n|\r\x1b\[K)((?:step \d|starting)[^\r\n]*)', text) if x]


def screen(text):
    """The lines that stay on the screen."""
    lines = ['']
    for part in re.split(r'(\r\x1b\[K|\r\n|\n)', text):
        if part == CLEAR:
            lines[-1] = ''
        elif part in ('\r\n', '\n'):
            lines.append('')
        else:
            lines[-1] += part
    return lines


# ---- terminals ----

def check_line(v, name, t, columns):
    status, lines = t.end(), live_lines(t.text)
    v.same('%s: status' % name, status, 0)
    v.same('%s: live lines' % name, len(lines) > 1, True)
    if name != 'mpirun':  # its run is short, and the estimate needs some steps
        v.same('%s: some with the time left' % name, any(' in ' in x for x in lines), True)
    whole = [x for x in lines if '/output_' not in x]
    v.same('%s: all are narrower than the window' % name, max(map(len, whole)) < columns, True)
    if name == 'mpirun':  # it may mix both streams, on a machine without a free processor
        return
    stay = [x for x in screen(t.text) if x.startswith('step ')]
    v.same('%s: none stays' % name, stay, [])
    rest = [x for x in screen(t.text) if 'output_00002' in x and 'Wrote' not in x]
    v.same('%s: the path has a line of its own' % name, [x.split('/')[-1] for x in rest],
           ['output_00002'])


def terminals(v):
    blast, short = namelist('blast.nml', 0.06, 6), namelist('short.nml', 0.02)
    check_line(v, '100 columns', Terminal([SIMULATE, '-o', 'wide', blast], 100), 100)
    check_line(v, '40 columns, only the line',
               Terminal([SIMULATE, '-o', 'narrow', '-q', '--live', blast], 40), 40)
    check_line(v, 'mpirun', Terminal([*ptah.mpirun(2), SIMULATE, '-o', 'mpi', short], 60), 60)
    suspended(v)
    silent(v, namelist('brief.nml', 0.002))


def suspended(v):
    """Ctrl-Z, then Ctrl-C; the window becomes narrower meanwhile."""
    t = Terminal([SIMULATE, '-o', 'stopped', namelist('long.nml', 9)], 120)
    v.same('a live line', t.until(r'step \d+[^\r\n]* ends in '), True)
    t.p.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    for _ in range(20):  # lines from before it was stopped
        t.read(0.05)
    t.resize(50)
    t.p.send_signal(signal.SIGCONT)
    start = len(t.text)
    v.same('it goes on', t.until(r'\x1b\[Kstep \d+|\nstep \d+', start), True)
    later = time.monotonic() + 1  # the line is made anew twice a second
    while time.monotonic() < later:
        t.read(0.1)
    start = len(t.text)
    later = time.monotonic() + 0.7
    while time.monotonic() < later:
        t.read(0.1)
    lines = live_lines(t.text[start:])[1:]
    os.write(t.ours, b'\x03')
    v.same('interrupted: status', t.end(), 75)
    v.same('after it was resized: wide lines', [x for x in lines if len(x) >= 50], [])
    told = [x for x in screen(t.text) if 'Signal 2' in x]
    v.same('the message is whole, on a line of its own',
           [bool(re.match(r'(\^C)? Signal 2 \(Interrupt\): a checkpoint follows', x))
            for x in told], [True])
    p = json.load(open('stopped/progress.json'))
    v.same('its file', (p['state'], p['coarse_step'] > 1), ('stopped', True))


def silent(v, blast):
    t = Terminal([SIMULATE, '-o', 'dumb', blast], 80, {'TERM': 'dumb'})
    v.same('TERM=dumb: status, escape codes, live lines',
           (t.end(), '\x1b' in t.text, live_lines(t.text)), (0, False, []))
    t = Terminal([SIMULATE, '-o', 'never', '--no-live', blast], 80)
    v.same('--no-live', (t.end(), '\x1b' in t.text), (0, False))
    r = ptah.Run([SIMULATE, '-o', 'pipe', blast], '.', {'TERM': 'xterm'})
    v.same('pipes: status, escape codes', (r.status, '\x1b' in r.err + r.out, '\r' in r.err),
           (0, False, False))
    command = '%s -o tee %s 2>&1 | cat >tee.log' % (SIMULATE, blast)
    t = Terminal([*ptah.mpirun(2)[:1], '-n', '1', 'sh', '-c', command], 80)
    v.same('a pipe behind mpirun: status', t.end(), 0)
    log = open('tee.log').read()
    v.same('a log behind mpirun: steps, escape codes', ('Main step=' in log, '\x1b' in log),
           (True, False))


# ---- watching ----

def run(folder, blast, *settings, signals=()):
    """Starts a run, and a watch of it; signals it after some steps. Returns status and lines of the
    watch."""
    p = subprocess.Popen([SIMULATE, '-q', '-o', folder, blast, *settings],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1'})
    w = subprocess.Popen([SIMULATE, '--watch', folder], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env={**os.environ, **ptah.ENVIRONMENT})
    for number in signals:
        wait_for_step(folder)
        p.send_signal(number)
    status = p.wait(SECONDS)
    out, err = w.communicate(timeout=SECONDS)
    return status, w.returncode, out.splitlines(), err


def wait_for_step(folder):
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        try:
            if json.load(open(folder + '/progress.json'))['coarse_step'] > 3:
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.05)


def watching(v):
    blast, endless = namelist('blast.nml', 0.002), namelist('long.nml', 9)
    status, seen, lines, err = run('ends', blast)
    v.same('a run that ends', (status, seen, lines[-1].split(',')[0], '\x1b' in ''.join(lines)),
           (0, 0, 'completed', False))
    status, seen, lines, err = run('stops', endless, signals=[signal.SIGTERM])
    v.same('one that stops', (status, seen, lines[-1].split(',')[0]), (75, 75, 'stopped early'))
    status, seen, lines, err = run('dies', endless, signals=[signal.SIGKILL])
    v.same('one that is killed: status of both, the reason',
           (status, seen, 'its process is gone' in err), (-9, 1, True))
    fails(v, blast)
    follows(v, blast)
    elsewhere(v)
    begins(v, blast)


def fails(v, blast):
    os.makedirs('fails')
    r = ptah.Run([SIMULATE, '-q', '-o', 'fails', blast, 'run_params/nrestart=7'], '.')
    w = ptah.Run([SIMULATE, '--watch', 'fails'], '.')
    v.same('one that fails: status, its message', (r.status, w.status, w.err), (2, 2, r.err))
    w = ptah.Run([SIMULATE, '-q', '-o', 'none', blast, 'run_params/nrestart=7'], '.')
    v.same('a directory made for it is gone', (w.status, os.path.exists('none')), (2, False))


def follows(v, blast):
    """inspect --campaign --follow, of a run that begins after it, and of runs that are over."""
    inspect = ptah.program('inspect')
    w = subprocess.Popen([inspect, '--campaign', '--follow', 'followed'], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**os.environ, **ptah.ENVIRONMENT})
    ptah.Run([SIMULATE, '-q', '-o', 'followed', blast, 'output_params/foutput=5'], '.')
    out, err = w.communicate(timeout=SECONDS)
    tables = re.split(r'^#.*\n', out, flags=re.M)[1:]
    lines = [x.count('\n') for x in tables]
    v.same('followed: status, tables grow, the last is that of the end',
           (w.returncode, lines == sorted(set(lines)), tables[-1].count('sound'),
            err.splitlines()[-1].split(',')[0]),
           (0, True, len([x for x in os.listdir('followed') if x.startswith('output_')]),
            'followed: completed'))
    for runs, status in ((['ends'], 0), (['ends', 'stops'], 75), (['stops', 'dies'], 1),
                         (['dies', 'fails', 'ends'], 2)):
        r = ptah.Run([inspect, '--campaign', '--follow', *runs], '.', timeout=SECONDS)
        v.same('follow %s: status' % ', '.join(runs), r.status, status)
    newest = 'ends/' + max(x for x in os.listdir('ends') if x.startswith('output_'))
    for words, says in ((['-'], 'needs directories'), ([newest], 'is a checkpoint')):
        r = ptah.Run([inspect, '--campaign', '--follow', *words], '.', timeout=10)
        v.same('follow %s' % words, (r.status, says in r.err), (2, True))


def elsewhere(v):
    """A file of a run on another machine that has said nothing for an hour; and a damaged one."""
    shutil.copytree('dies', 'other')
    text = open('other/progress.json').read()
    with open('other/progress.json', 'w') as f:
        f.write(re.sub(r'"host":"[^"]*"', '"host":"another"', text))
    old = time.time() - 3600
    os.utime('other/progress.json', (old, old))
    begin = time.monotonic()
    w = subprocess.Popen([SIMULATE, '--watch', 'other'], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    try:
        w.communicate(timeout=4)
        early = True
    except subprocess.TimeoutExpired:
        early = False
        w.kill()
        w.communicate()
    v.same('on another machine it is given more time than %.0f s' % (time.monotonic() - begin),
           early, False)
    with open('other/progress.json', 'w') as f:
        f.write(text[:len(text) // 2])
    t = Terminal([SIMULATE, '--watch', 'other'], 60)
    v.same('a torn file is no run', t.until('no run has begun in other'), True)
    t.p.kill()
    t.end()
    old = time.time() - 60
    os.utime('other/progress.json', (old, old))
    w = subprocess.Popen([SIMULATE, '--watch', 'other'], text=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    said = w.stderr.readline()
    v.same('a damaged file that nobody writes',
           'is damaged, and has not been written for 6' in said, True)
    shutil.copy('ends/progress.json', 'other/progress.json')
    v.same('it is seen when it changes, and was named once',
           (w.wait(SECONDS), w.stderr.read()), (0, ''))
    for place, says in (('blast.nml', 'is a file'), ('', 'needs the directory')):
        w = ptah.Run([SIMULATE, '--watch', place], '.', timeout=10)
        v.same('a watch of %r' % place, (w.status, says in w.err, w.err.count('\n')), (2, True, 1))


def begins(v, blast):
    """The run begins after its watch, in a terminal."""
    t = Terminal([SIMULATE, '--watch', 'later'], 60)
    v.same('nothing yet', t.until('no run has begun in later'), True)
    r = ptah.Run([SIMULATE, '-q', '-o', 'later', blast], '.')
    v.same('then it is seen to its end', (r.status, t.end(), screen(t.text)[0].split(',')[0]),
           (0, 0, 'completed'))
    os.makedirs('later/progress.json2')
    shutil.rmtree('later')
    os.makedirs('later/progress.json')
    r = ptah.Run([SIMULATE, '-o', 'later', blast], '.')
    v.same('a file that cannot be written does not end the run',
           (r.status, r.err.count('cannot be watched')), (0, 1))


# ---- the time left ----

def half(place, path):
    r = ptah.Run([os.path.join(ptah.ROOT, 'build/tests/unit/progress_test'), place, path], '.')
    return float(r.out)


def left(v):
    subprocess.run(['tar', 'xJf', os.path.join(ptah.ROOT, 'tests/data/ics/ic_32.tar.xz')],
                   check=True)
    os.rename('ic_32/level_005', 'ics')
    with open(os.path.join(ptah.ROOT, 'examples/galaxy/galaxy.nml')) as f:
        text = re.sub(r'cooling=.*', 'cooling=.false.', f.read())
    with open('box.nml', 'w') as f:
        f.write(re.sub(r'&SF_PARAMS.*', '', text, flags=re.S))
    ptah.simulate('box.nml', '.', options=['-q', '-j', 'box.json'], settings=[
        'output_params/noutput=1', 'output_params/aout=0.3', 'amr_params/levelmax=8',
        'refine_params/m_refine=10*4.', 'output_params/foutput=1000000'])
    v.check('a growing box: error of the work left at its half', abs(half('aexp', 'box.json') - 1),
            0.2)
    namelist('blast.nml', 0.03, 6)
    ptah.simulate('blast.nml', '.', options=['-q', '-o', 'blast', '-j', 'blast.json'])
    v.check('a blast: error of the work left at its half', abs(half('time', 'blast.json') - 1), 0.2)


if __name__ == '__main__':
    v = ptah.Verdict()
    {'terminal': terminals, 'watch': watching, 'left': left}[sys.argv[1]](v)
    v.end()
