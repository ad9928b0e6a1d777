"""Runs that are killed at any time, with clumps, halos, spectra and sinks at their outputs: each is
resumed by nrestart=-1, by itself, until it is complete.

    kills.py NUMBER [SEED]     NUMBER: kills in all; without a seed a new one is drawn

The kill is of one rank, or of all at once and mpirun. It comes at a time that is drawn, or some
milliseconds after a checkpoint has been begun; the disk is slow in some runs, so that checkpoints
are on their way for longer. Formats, ranks (1 to 3) and keep_last are drawn, too. At the end the
digest, the tables beside the checkpoints and the names that are there must be those of a run that
nobody disturbed, and every checkpoint must be sound.

Examples of faults caught: a name that the table of files does not know, tables that a killed run
has not written and nobody writes, an unfinished file that stays.
"""
# test: 8 1 tier=check timeout=400 ranks=3
# test: 200 tier=long timeout=7200 ranks=3
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import faults  # noqa: E402
import ptah  # noqa: E402

SECONDS = 120  # timeout of an undisturbed run
STEPS = 5
NAMELIST = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
pic=.true.
sink=.true.
nsubcycle=1,2
nstepmax=%d
clumpfind=.true.
dump_halos=.true.
dump_pk=.true.
halo_min=5
/
&AMR_PARAMS
levelmin=3
levelmax=4
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='ics'
nregion=2
region_type(1:2)='square','square'
x_center=0.5,0.55
y_center=0.5,0.45
z_center=0.5,0.5
length_x=10.0,0.4
length_y=10.0,0.4
length_z=10.0,0.4
exp_region=10.0,10.0
d_region=1.0,30.0
p_region=0.1,0.1
/
&OUTPUT_PARAMS
foutput=1
tout=1e9
/
&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d21
/
&REFINE_PARAMS
m_refine=2*0.5
mass_sph=0.02
/
&SINK_PARAMS
create_sinks=.true.
mass_sink_seed=1e5
smbh=.true.
agn=.true.
mass_smbh_seed=1e5
n_sink=500.
ir_cloud=1
accretion_scheme='bondi'
mass_halo_agn=0.0
mass_clump_agn=0.0
/
&CLUMPFIND_PARAMS
density_threshold=4.0
saddle_threshold=20.0
ivar_clump=1
/
""" % STEPS


def write_ics(folder):
    """60 particles, some of them in a halo, and two sinks."""
    r = random.Random(60)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'ic_part'), 'w') as f:
        for i in range(60):
            x = [r.uniform(-0.5, 0.5) if i % 3 else r.gauss(0.2, 0.01) for _ in range(3)]
            v = [r.gauss(0, 0.3) for _ in range(3)]
            f.write(' '.join('%.9g' % q for q in [*x, *v, 0.005]) + '\n')
    with open(os.path.join(folder, 'ic_sink'), 'w') as f:
        f.write('0.0071753661 0.122 -0.456 -0.391 -1.28 -1.32 0.225 0 0 0 0 0\n'
                '0.014403307 0.363 -0.046 -0.49 -0.475 0.219 -1.39 0 0 0.1 0 0\n')


def settings_of(form, keep):
    return ['output_params/outformat=' + form, 'output_params/keep_last=%d' % keep]


def tables(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, '*.tsv')):
        with open(path) as f:
            found[os.path.basename(path)] = f.read()
    return found


class Expected:
    """Results of an undisturbed run."""

    def __init__(self, form, keep):
        self.folder = os.path.abspath('undisturbed_%s_%d' % (form, keep))
        start = time.monotonic()
        r = ptah.simulate(NAMELIST, self.folder, 1, settings=settings_of(form, keep),
                          options=['-q', '-o', 'out'], timeout=SECONDS)
        self.seconds = time.monotonic() - start
        self.digest = ptah.digest(r.outputs[-1]).split()[0]
        self.names = sorted(os.listdir(self.folder + '/out'))
        self.tables = tables(self.folder + '/out')


# ---- processes that this test has started

def children(pid):
    """All descendants of a process."""
    parents = {}
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path) as f:
                text = f.read()
        except OSError:
            continue
        fields = text[text.rindex(')') + 2:].split()
        parents[int(path.split('/')[2])] = int(fields[1])
    found = [pid]
    for one in found:
        found += [p for p, parent in parents.items() if parent == one]
    return found[1:]


def ranks_of(pid):
    found = []
    for p in [pid, *children(pid)]:
        try:
            with open('/proc/%d/comm' % p) as f:
                if f.read().strip() == 'simulate':
                    found.append(p)
        except OSError:
            pass
    return found


def kill(pids):
    for p in pids:
        try:
            os.kill(p, signal.SIGKILL)
        except OSError:
            pass


def is_there(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            return f.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def wait_gone(pids):
    limit = ptah.Limit(SECONDS)
    while any(map(is_there, pids)) and not limit.over():
        time.sleep(0.01)
    return not any(map(is_there, pids))


class Attempt:
    """A run that may be killed. killed: number of ranks that it had then; 0: it completed."""

    def __init__(self, r, campaign, expected):
        self.ranks = r.choice([1, 1, 2, 3])
        self.all = r.random() < 0.5
        self.biased = r.random() < 0.6
        slow = r.random() < 0.5
        self.delay = (r.uniform(0, 0.15 if slow else 0.03) if self.biased else
                      r.uniform(0.05, 1.3 * expected.seconds * (1 if self.ranks == 1 else 2)))
        self.after = r.randrange(1, 3)  # number of checkpoints begun before the kill
        env = {'OMP_NUM_THREADS': '1'}
        if slow:
            env.update(LD_PRELOAD=faults.SHIM, FAULT_DIR=campaign.out, FAULT_SLOW='0.01')
        argv = [ptah.program('simulate'), '-q', '-o', campaign.out, 'run.nml',
                'run_params/nrestart=-1', *campaign.settings]
        log = os.path.join(campaign.folder, 'log')
        with open(log, 'w') as err:
            self.run = subprocess.Popen(ptah.mpirun(self.ranks) + argv, cwd=campaign.folder,
                                        stdout=subprocess.DEVNULL, stderr=err,
                                        stdin=subprocess.DEVNULL,
                                        env={**os.environ, **ptah.ENVIRONMENT, **env})
        self.killed = self.wait_and_kill(r, campaign.out)
        with open(log) as f:
            self.said = f.read()

    def wait_and_kill(self, r, out):
        limit, begun, end = ptah.Limit(SECONDS), set(), None
        if not self.biased:
            end = time.monotonic() + self.delay
        while self.run.poll() is None:
            if end is None:
                begun.update(glob.glob(out + '/output_*.tmp'))
                if len(begun) >= self.after:
                    end = time.monotonic() + self.delay
            elif time.monotonic() >= end:
                return self.strike(r)
            if limit.over():
                self.strike(r)
                sys.exit('still running after %d s' % SECONDS)
            time.sleep(0.001)
        return 0

    def strike(self, r):
        pids = ranks_of(self.run.pid)
        family = [self.run.pid, *children(self.run.pid)]
        victims = family if self.all or not pids else [r.choice(pids)]
        kill(victims)
        try:
            ptah.wait_patiently(lambda s: self.run.wait(timeout=s), 15)
        except subprocess.TimeoutExpired:  # mpirun 4.1.4 may wait for ranks that have ended
            kill([self.run.pid])
            self.run.wait()
        if not wait_gone(family):
            kill(family)
            sys.exit('ranks that outlive the one that was killed')
        return self.ranks

    def __str__(self):
        how = 'after a checkpoint was begun' if self.biased else 'from the start'
        return '%d rank%s, %s, %.3f s %s' % (self.ranks, 's' if self.ranks > 1 else '',
                                             'all' if self.all else 'one', self.delay, how)


class Campaign:
    """A directory of outputs, and the runs in it that are killed and resumed."""

    def __init__(self, r, number, expected):
        self.form, self.keep = r.choice(sorted(expected))
        self.settings = settings_of(self.form, self.keep)
        self.folder = os.path.abspath('campaign_%d' % number)
        self.out = self.folder + '/out'
        os.makedirs(self.folder)
        write_ics(self.folder + '/ics')
        with open(self.folder + '/run.nml', 'w') as f:
            f.write(NAMELIST)

    def check(self, v, expected):
        names = sorted(os.listdir(self.out))
        last = max(n for n in names if re.fullmatch(r'output_\d{5}', n))
        wrong = []
        if self.keep == 0 and names != expected.names:
            wrong.append('names %s' % (sorted(set(names) ^ set(expected.names))))
        wrong += [n for n in names if not re.fullmatch(r'output_\d{5}|\w+\.tsv|progress\.json', n)]
        digest = ptah.digest(os.path.join(self.out, last)).split()[0]
        wrong += ['digest of %s' % last] if digest != expected.digest else []
        wrong += ['table %s' % n for n, text in tables(self.out).items()
                  if text != expected.tables.get(n)]
        for n in names:
            if n.startswith('output_'):
                r = ptah.Run([ptah.program('inspect'), '-qc', os.path.join(self.out, n)], '.')
                wrong += [r.out + r.err] if r.status else []
        return wrong


def main():
    number = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    print('seed %d' % seed)
    r, v = random.Random(seed), ptah.Verdict()
    faults.build_shim()
    os.makedirs('ics', exist_ok=True)
    expected = {}
    for form in 'ramses', 'hdf5':
        for keep in 0, 2:
            write_ics('undisturbed_%s_%d/ics' % (form, keep))
            expected[form, keep] = Expected(form, keep)
    v.same('digests of all formats', len({e.digest for e in expected.values()}), 1)
    kills = done = unfinished = 0
    while kills < number:
        c = Campaign(r, done, expected)
        history, deaths = [], 0
        while True:
            a = Attempt(r, c, expected[c.form, c.keep])
            history.append(str(a))
            if not a.killed:
                break
            kills += 1
            deaths += 1
            unfinished += bool(glob.glob(c.out + '/*.tmp') + glob.glob(c.out + '/*part*'))
        wrong = ([] if a.run.returncode == 0 else
                 ['status %s: %s' % (a.run.returncode, a.said[-1000:])])
        wrong = wrong or c.check(v, expected[c.form, c.keep])
        v.same('%s, keep_last=%d, %d kills' % (c.form, c.keep, deaths), wrong, [])
        if wrong:
            print('     ' + '\n     '.join(history))
        else:
            shutil.rmtree(c.folder)
        done += 1
    print('%d kills in %d campaigns; %d left something unfinished' % (kills, done, unfinished))
    v.end()


if __name__ == '__main__':
    main()
