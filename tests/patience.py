"""Time limits that count the time which a machine gives.

A limit is in seconds of an idle machine. The kernel tells how long each process ran and how long it
waited for a processor (/proc/PID/schedstat; Linux, Documentation/scheduler/sched-stats.rst). Time
lost by waiting does not count: not the load average, which follows a change with a delay of a
minute, and which knows neither limits of a container nor priorities. A test that sleeps loses no
time, so that a hang is ended when its limit is over; one that hangs in a loop is ended when it has
had the processor for as long.
"""
import glob
import os
import subprocess
import tempfile
import time

UNKNOWN = 10  # processes per core, where nothing tells how many there are
LEAST = 0.02  # of a second counts at least
KNOWN = os.path.isdir('/proc/self')
TICK = 1 / os.sysconf('SC_CLK_TCK')


def load():
    """Average number of runnable processes; unknown without /proc."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return UNKNOWN * (os.cpu_count() or 1)


def crowd():
    """Number of runnable processes per core, at least 1."""
    return max(1, load() / (os.cpu_count() or 1))


def words_of(path):
    """The words of a file of /proc after the name of the program; [] if the process has ended."""
    try:
        with open(path) as f:
            return f.read().rpartition(')')[2].split()
    except OSError:
        return []


def family(session):
    """The processes of a session and all their descendants: process number → the words of
    /proc/PID/stat that follow the name."""
    every = {int(path[6:-5]): words_of(path) for path in glob.glob('/proc/[0-9]*/stat')}
    members = {p for p, words in every.items() if words and int(words[3]) == session}
    more = members
    while more:
        more = {p for p, words in every.items() if words and int(words[1]) in more} - members
        members = members | more
    return {p: every[p] for p in members}


class Clock:
    """Counts the time of a session."""

    def __init__(self, session):
        self.session = session
        self.at = time.monotonic()
        self.used, self.each = self.look()

    def look(self):
        """Seconds of processor time that the session has used, those of ended children included,
        and for each process the nanoseconds of running and of waiting."""
        found = family(self.session)
        used = TICK * sum(int(w) for words in found.values() for w in words[11:15])
        each = {p: words_of('/proc/%d/schedstat' % p) for p in found}
        return used, {p: [int(x) for x in words[:2]] for p, words in each.items() if words}

    def share(self, each):
        """The part of the time in which a process could run that it ran, since the last look."""
        if not each:
            return 1 / crowd()
        ran, waited = (sum(now[i] - self.each.get(p, [0, 0])[i] for p, now in each.items())
                       for i in (0, 1))
        return max(ran / (ran + waited), LEAST) if waited > 0 else 1

    def passed(self):
        """Seconds since the last call that count. Processes share caches and memory with others
        too: with many of these a second of a processor does less, down to half."""
        used, each = self.look()
        now = time.monotonic()
        whole, share = now - self.at, self.share(each)
        busy = min(whole, max(0, used - self.used) / share) if KNOWN else whole
        self.at, self.used, self.each = now, used, each
        return max((whole - busy) + busy * share * (1 + share) / 2, LEAST * whole)


class Limit:
    """A limit in seconds that count, for the processes of a session (default: that of the caller).
    """

    def __init__(self, seconds, session=None):
        self.session, self.left, self.clock = session or os.getsid(0), seconds, None

    def over(self):
        """Whether the time is used up, counted from the first call. Looks once in a second, or when
        the rest might be over."""
        if not self.clock:
            self.clock = Clock(self.session)
        elif self.left > 0 and time.monotonic() - self.clock.at >= min(1, self.left):
            self.left -= self.clock.passed()
        return self.left <= 0


def wait_patiently(wait, seconds, session=None):
    """wait(timeout) in slices; raises subprocess.TimeoutExpired when the limit is over."""
    limit = Limit(seconds, session)
    while True:
        try:
            return wait(min(1, max(limit.left, 0.05)))
        except subprocess.TimeoutExpired:
            if limit.over():
                raise


def run(argv, timeout, input=None, capture_output=False, **how):
    """subprocess.run with such a limit. The input is a file: communicate sends what is left of it
    only in its first call, which may end before the program has read all."""
    with tempfile.TemporaryFile() as given:
        if input is not None:
            given.write(input.encode() if isinstance(input, str) else input)
            given.seek(0)
            how['stdin'] = given
        if capture_output:
            how['stdout'] = how['stderr'] = subprocess.PIPE
        with subprocess.Popen(argv, **how) as p:
            try:
                out, err = wait_patiently(lambda s: p.communicate(timeout=s), timeout)
            except BaseException:
                p.kill()
                raise
    return subprocess.CompletedProcess(argv, p.returncode, out, err)
