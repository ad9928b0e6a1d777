"""A campaign under a real Slurm, as examples/campaign/campaign.sh runs it: two virtual nodes on
this machine, with separate daemons, keys, ports and folders. Whatever happens, the final digest
equals that of an uninterrupted run, no job is repeated without progress, and the last checkpoint
names every job.

    walltime    jobs that end before the run does are queued again; keep_last=2
    signals     scancel --signal=TERM, with srun and with mpirun
    node        a node dies: its daemon and its ranks are killed; a rank dies
    damage      the disk is full and is freed; the newest checkpoint has a flipped bit; another
                number of ranks and another format midway
    array       two members: stop ends both, and neither is queued again; submitted again both
                complete; meanwhile another campaign of the same name runs on; odd names
    tools       programs with srun of one task, with and without PMIx

Example of a fault caught: a launcher's variables of a single task that start MPI.
"""
# test: walltime tier=check timeout=240 ranks=2 waits=yes
# test: signals tier=check timeout=300 ranks=2 waits=yes
# test: node tier=check timeout=240 ranks=2 waits=yes
# test: damage tier=check timeout=300 ranks=2 waits=yes
# test: array tier=check timeout=300 ranks=2 waits=yes
# test: tools tier=check timeout=120 ranks=2 waits=yes
import glob
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
from digest import SEDOV  # noqa: E402

SCRIPT = os.path.join(ptah.ROOT, 'examples', 'campaign', 'campaign.sh')
STEPS, EVERY = 24, 4
# a rank that dies, even in MPI_Init, ends the job step
SRUN = 'srun --wait=5 --mpi=pmix -n 2'
NODES = ('n1', 'n2')
DAEMONS = ('munged', 'slurmctld', 'slurmd')
CONF = """ClusterName=ptah
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={top}/munge/socket,cred_expire=5
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool.%n
TmpFS={top}/tmp.%n
SlurmctldPidFile={top}/slurmctld.pid
SlurmdPidFile={top}/slurmd.%n.pid
SlurmctldLogFile={top}/slurmctld.log
SlurmdLogFile={top}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=6
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=1000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=1000
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 State=UP
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(('127.0.0.1', 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """Slurm daemons with a separate folder; processes with its SLURM_CONF belong to them."""

    def __init__(self):
        self.top = os.path.abspath('slurm')
        self.conf = os.path.join(self.top, 'slurm.conf')
        for name in ('munge', 'state', *('%s.%s' % (a, n) for a in ('spool', 'tmp')
                                         for n in NODES)):
            os.makedirs(os.path.join(self.top, name), mode=0o700)
        with open(self.conf, 'w') as f:
            f.write(CONF.format(host=socket.gethostname(), top=self.top, ports=free_ports(3)))
        key = os.path.join(self.top, 'munge', 'key')
        with open(key, 'wb') as f:
            f.write(os.urandom(64))
        os.chmod(key, 0o400)
        os.environ['SLURM_CONF'] = self.conf
        self.pids = []
        m = os.path.join(self.top, 'munge')
        self.start('munged', '--key-file=' + key, '--socket=%s/socket' % m, '--force',
                   '--pid-file=%s/pid' % m, '--log-file=%s/log' % m, '--seed-file=%s/seed' % m)
        self.start('slurmctld', '-c', '-f', self.conf)
        for n in NODES:
            self.start_node(n)
        self.wait_for('idle', 2, 60)

    def start(self, *argv):
        r = subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if r.returncode != 0:
            self.skip('%s: %s' % (argv[0], r.stdout))

    def skip(self, why):
        """Ends the daemons that have started."""
        self.end()
        ptah.skip(why)

    def start_node(self, node):
        self.start('slurmd', '-f', self.conf, '-N', node)

    def wait_for(self, state, nodes, seconds):
        end = time.monotonic() + seconds
        while self.ask('sinfo', '-h', '-N', '-o', '%t').split().count(state) < nodes:
            if time.monotonic() > end:
                self.skip('no two virtual nodes of Slurm on this machine')
            time.sleep(0.3)

    def ask(self, *argv):
        return subprocess.run(argv, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def processes(self, node=None):
        """(pid, command) of the processes that this cluster has started on a node."""
        found = []
        for path in glob.glob('/proc/[0-9]*/environ'):
            try:
                with open(path, 'rb') as f:
                    words = f.read().split(b'\0')
                with open(os.path.join(os.path.dirname(path), 'comm')) as f:
                    command = f.read().strip()
            except OSError:
                continue
            pid = int(path.split('/')[2])
            if b'SLURM_CONF=' + self.conf.encode() not in words or pid == os.getpid():
                continue
            if not node or b'SLURMD_NODENAME=' + node.encode() in words:
                found.append((pid, command))
        return found

    def daemon(self, name):
        with open(os.path.join(self.top, name + '.pid')) as f:
            return int(f.read())

    def end(self):
        self.ask('scancel', '-u', 'root')
        for name in ['slurmd.' + n for n in NODES] + ['slurmctld', 'munge/pid']:
            try:
                path = os.path.join(self.top, name if '/' in name else name + '.pid')
                with open(path) as f:
                    os.kill(int(f.read()), signal.SIGTERM)
            except (OSError, ValueError):
                pass
        time.sleep(1)
        for pid, _ in self.processes():
            if pid != os.getppid():
                end_process(pid)


def end_process(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


class Campaign:
    def __init__(self, cluster, name, launch='', settings=(), out='run', **more):
        self.cluster, self.folder = cluster, os.path.abspath(name)
        self.run = os.path.join(self.folder, out)
        os.makedirs(self.folder)
        with open(os.path.join(self.folder, 'run.nml'), 'w') as f:
            f.write(SEDOV.replace('nstepmax=9', 'nstepmax=%d' % STEPS))
        self.configure(launch, settings, **more)

    def configure(self, launch='', settings=(), ranks=2, nodes=2, before=''):
        with open(os.path.join(self.folder, 'campaign.conf'), 'w') as f:
            f.write('RANKS=%d\nNODES=%d\nTIME=10\nLAUNCH="%s"\nBIN=%s/\nSETTINGS="%s"\n%s\n'
                    % (ranks, nodes, launch, os.path.join(ptah.ROOT, 'bin'),
                       ' '.join(['output_params/foutput=%d' % EVERY, *settings]), before))

    def command(self, word):
        return subprocess.run([SCRIPT, word], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, **ptah.ENVIRONMENT})

    def history(self):
        path = os.path.join(self.run, '.campaign', 'history')
        if not os.path.exists(path):
            return ''
        with open(path) as f:
            return f.read()

    def checkpoints(self):
        return sorted(glob.glob(os.path.join(glob.escape(self.run), 'output_[0-9]*[0-9]')))

    def log(self):
        with open(os.path.join(self.run, 'log')) as f:
            return f.read()

    def wait(self, done, seconds=200):
        limit = ptah.Limit(seconds)
        while not done() and not limit.over():
            time.sleep(0.2)
        return done()

    def wait_end(self):
        return self.wait(lambda: re.search(r' (complete|stops|stopped)', self.history()))

    def wait_checkpoint(self, n):
        return self.wait(lambda: len(self.checkpoints()) >= n)

    def wait_idle(self):
        return self.wait(lambda: not self.cluster.ask('squeue', '-h').strip(), 60)


def check_result(v, what, campaign, expected):
    if not v.same(what + ': it is complete', bool(campaign.wait_end()) and
                  ' complete' in campaign.history(), True):
        print(campaign.history())
        return
    last = campaign.checkpoints()[-1]
    v.same(what + ': digest', ptah.digest(last).split()[0], expected)
    starts = re.findall(r' (\d+) starts from checkpoint (\w+)', campaign.history())
    v.same(what + ': jobs that began where another had begun',
           len(starts) - len({at for _, at in starts}) <= campaign.history().count('try 2'), True)
    text = ptah.Run([ptah.program('inspect'), '-p', last], '.').out
    named = re.findall(r'^job: Slurm (\d+)', text, re.M)
    useful = useful_jobs(campaign)
    v.same(what + ': jobs that the last checkpoint names, newest first', named, useful[::-1])


def useful_jobs(campaign):
    """Jobs that wrote a checkpoint later than the one from which they started."""
    starts = re.findall(r' (\d+) starts from checkpoint (\w+)', campaign.history())
    reached = [at for _, at in starts[1:]] + [campaign.checkpoints()[-1][-5:]]
    return [job for (job, at), end in zip(starts, reached) if at != end]


def reference():
    start = time.monotonic()
    r = ptah.simulate(SEDOV.replace('nstepmax=9', 'nstepmax=%d' % STEPS), 'reference')
    return ptah.digest(r.outputs[-1]).split()[0], time.monotonic() - start


def test_walltime(v, cluster):
    expected, seconds = reference()
    limit = 'output_params/walltime_hrs=%.6f' % (seconds / 3 / 3600)
    c = Campaign(cluster, 'walltime',
                 settings=[limit, 'output_params/minutes_dump=0', 'output_params/keep_last=2',
                           'output_params/noutput=2', 'output_params/tout=2e-4,1e9'])
    c.command('submit')
    check_result(v, 'walltime', c, expected)
    v.same('jobs ended in time and were queued again', c.history().count('status 75') >= 1, True)
    left = [int(p[-5:]) for p in c.checkpoints()]
    v.same('keep_last=2 leaves the first, the listed one, two and the last',
           (left[0], len(left) <= 5), (1, True))
    v.same('status: exit status', c.command('status').returncode, 0)


def test_signals(v, cluster):
    expected, _ = reference()
    for launch, batch in ((SRUN, []), ('mpirun -n 2', ['--batch'])):
        what = launch.split()[0]
        c = Campaign(cluster, what, launch)
        c.command('submit')
        c.wait_checkpoint(2)
        job = cluster.ask('squeue', '-h', '-o', '%A').split()
        if v.same(what + ': a job runs', len(job), 1):
            cluster.ask('scancel', *batch, '--signal=TERM', job[0])
        check_result(v, what, c, expected)
        v.same(what + ': it ended with a checkpoint', 'status 75' in c.history(), True)
        v.same(what + ': the log says why', bool(re.search(r'Signal \d+ \(\w', c.log())), True)
        v.same(what + ': Slurm told the end of the job',
               'The batch system ends this job' in c.log(), True)
        c.wait_idle()


def test_node(v, cluster):
    expected, _ = reference()
    c = Campaign(cluster, 'node', SRUN)
    c.command('submit')
    c.wait_checkpoint(2)
    for pid in [cluster.daemon('slurmd.n2')] + [p for p, _ in cluster.processes('n2')]:
        end_process(pid)
    for pid, name in cluster.processes():
        if name.startswith('slurmstepd') and b'n2' in environment(pid):
            end_process(pid)
    c.wait(lambda: 'down' in cluster.ask('sinfo', '-h', '-N', '-n', 'n2', '-o', '%t'), 120)
    cluster.start_node('n2')
    check_result(v, 'a dead node', c, expected)
    c = Campaign(cluster, 'rank', SRUN)
    c.command('submit')
    c.wait_checkpoint(2)
    end_process(max(pid for pid, name in cluster.processes('n2') if name == 'simulate'))
    check_result(v, 'a dead rank', c, expected)


def environment(pid):
    try:
        with open('/proc/%d/environ' % pid, 'rb') as f:
            return f.read()
    except OSError:
        return b''


def flip_bit(checkpoint):
    """Flips a bit in the middle of the largest file."""
    path = max(glob.glob(os.path.join(checkpoint, '*')), key=os.path.getsize)
    with open(path, 'r+b') as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)[0]
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte ^ 1 << random.randrange(8)]))


def test_damage(v, cluster):
    expected, _ = reference()
    c = Campaign(cluster, 'damage', before='ulimit -f 300')
    c.command('submit')
    v.same('a full disk: it stops with a sentence', bool(c.wait_end()) and
           bool(re.search(r'stops: simulate: .*(large|space|last good)', c.history())), True)
    c.wait_idle()
    first = len(c.checkpoints())
    c.configure(settings=['run_params/nstepmax=%d' % (STEPS // 2)])
    restart(c)
    v.same('freed: it goes on', ' complete' in c.history() and len(c.checkpoints()) > first, True)
    flip_bit(c.checkpoints()[-1])
    c.configure(settings=["output_params/outformat=hdf5"], ranks=3)
    restart(c)
    v.same('the log names the damaged checkpoint', 'Skipped a checkpoint' in c.log(), True)
    last = c.checkpoints()[-1]
    v.same('after a full disk, a flipped bit, 3 ranks, HDF5: digest',
           ptah.digest(last).split()[0], expected)
    v.same('the last is HDF5', 'HDF5' in ptah.Run([ptah.program('inspect'), last], '.').out, True)


def restart(c):
    os.rename(os.path.join(c.run, '.campaign', 'history'),
              os.path.join(c.run, '.campaign', 'before.%d' % time.monotonic_ns()))
    c.command('submit')
    c.wait_end()
    c.wait_idle()


ODD = "it's [1-9] % run"


class Member(Campaign):
    """A member of an array."""

    def __init__(self, campaign, number):
        self.cluster, self.folder = campaign.cluster, campaign.folder
        self.run = '%s.%d' % (campaign.run, number)


def test_array(v, cluster):
    expected, _ = reference()
    conf = dict(ranks=1, nodes=1, out=ODD)
    c = Campaign(cluster, 'array', before='SBATCH=--array=1-2\nOUT=%s' % shlex.quote(ODD), **conf)
    other = Campaign(cluster, 'other', before='OUT=%s' % shlex.quote(ODD), **conf)
    members = [Member(c, n) for n in (1, 2)]
    for one in c, other:
        one.command('submit')
    began = all(m.wait_checkpoint(1) for m in (*members, other))
    r = c.command('stop')
    v.same('stop: all had begun, status', (began, r.returncode), (True, 0))
    v.same('the members end', [bool(m.wait_end()) for m in members], [True, True])
    v.same('as requested, in time', [m.history().count('stopped as requested') for m in members],
           [1, 1])
    v.same('with a checkpoint of their own', ['status 75' in m.history() for m in members],
           [True, True])
    check_result(v, 'the other of that name', other, expected)
    v.same('nothing is queued again', bool(c.wait_idle()), True)
    v.same('logs of jobs', len([n for n in os.listdir(c.folder) if n.startswith(ODD) and
                                n.endswith('.log')]), 2)
    c.command('submit')
    for m in members:
        m.wait(lambda m=m: ' complete' in m.history())
        v.same('submitted again: complete, digest',
               (' complete' in m.history(), ptah.digest(m.checkpoints()[-1]).split()[0]),
               (True, expected))
    r = c.command('status')
    v.same('status: both', (r.returncode, [r.stdout.count('run.%d:' % n) for n in (1, 2)]),
           (0, [1, 1]))


def test_tools(v, cluster):
    """Inside a job: without launcher, with srun of one task, srun of two tasks with PMIx, and
    mpirun."""
    r = ptah.simulate(SEDOV, '.', settings=['run_params/nstepmax=1'])
    inspect, last = ptah.program('inspect'), os.path.abspath(r.outputs[-1])
    ways = ['', 'srun -N 1 -n 1', 'srun --mpi=pmix -n 2', 'mpirun -n 2']
    with open('job', 'w') as f:
        f.write('#!/bin/sh\n' + ''.join('%s %s -dq %s >way.%d 2>said.%d; echo $? >>way.%d\n'
                                        % (way, inspect, last, i, i, i)
                                        for i, way in enumerate(ways)) + 'touch done\n')
    ptah.run_patiently(['sbatch', '-W', '-n', '2', '-N', '2', '-o', 'out', 'job'],
                       stdout=subprocess.DEVNULL, timeout=100,
                       env={**os.environ, **ptah.ENVIRONMENT})
    expected = ptah.digest(last).split()[0]
    for i, way in enumerate(ways):
        # srun itself may say that it waits for the step before
        with open('way.%d' % i) as f, open('said.%d' % i) as said:
            words, said = f.read().split(), said.read()
        if not v.same('inspect by %s' % (way or 'itself'), words[:1] + words[-1:],
                      [expected, '0']):
            print(said)


def main():
    if os.geteuid() != 0 or not all(map(shutil.which, DAEMONS)):
        ptah.skip('needs root and Slurm: %s' % ', '.join(DAEMONS))
    v = ptah.Verdict()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a test that times out ends its daemons
    cluster = Cluster()
    try:
        globals()['test_' + sys.argv[1]](v, cluster)
    finally:
        cluster.end()
    v.end()


if __name__ == '__main__':
    main()
