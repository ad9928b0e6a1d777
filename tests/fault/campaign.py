"""examples/campaign/campaign.sh with stand-ins for Slurm's commands, which note their arguments.

    campaign.py

A campaign records the ids of its jobs; another campaign of the same name is left alone. `stop`
affects all members of an array: running members get a signal, others end when they start, none is
queued again. A member that may not be requeued is queued alone. Names of directories are data:
blanks, quotes, brackets, a dash, a percent sign.

Examples of faults caught: a job that is chosen by its name, a name that is a pattern, or code.
"""
# test: tier=check timeout=120
import os
import shlex
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

SCRIPT = os.path.join(ptah.ROOT, 'examples', 'campaign', 'campaign.sh')
# $0 and its arguments, each on a line of its own, then an empty one
NOTE = """#!/bin/sh
{ basename "$0"; printf '%%s\\n' "$@"; echo; } >>'%s/calls'
"""
STANDS = {
    'sbatch': 'cat "$TOP/next"\nexpr "$(cat "$TOP/next")" + 1 >"$TOP/n"\nmv "$TOP/n" "$TOP/next"\n',
    'squeue': 'cat "$TOP/queue"\n',
    'scancel': '',
    'scontrol': 'exit ${REFUSED:-0}\n',
    'simulate': 'mkdir -p "$2/output_00001"\nexit ${STATUS:-75}\n',
    'inspect': '',
}


class Place:
    def __init__(self, name, **conf):
        self.top = os.path.abspath(name)
        os.makedirs(self.top + '/bin')
        os.makedirs(self.top + '/here')
        for name, text in STANDS.items():
            path = os.path.join(self.top, 'bin', name)
            with open(path, 'w') as f:
                f.write(NOTE % self.top + text)
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        self.put('next', '5\n')
        self.put('queue', '')
        self.put('here/run.nml', '')
        self.put('here/campaign.conf', ''.join('%s=%s\n' % (key, shlex.quote(value))
                                               for key, value in conf.items()))

    def put(self, name, text):
        with open(os.path.join(self.top, name), 'w') as f:
            f.write(text)

    def run(self, word, **env):
        if os.path.exists(self.top + '/calls'):
            os.remove(self.top + '/calls')
        path = os.path.join(self.top, 'bin') + ':' + os.environ['PATH']
        return ptah.run_patiently([SCRIPT, word], cwd=self.top + '/here', text=True, timeout=30,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, 'PATH': path, 'TOP': self.top, **env})

    def calls(self, name):
        """Arguments of each call."""
        if not os.path.exists(self.top + '/calls'):
            return []
        with open(self.top + '/calls') as f:
            calls = [c.split('\n') for c in f.read().split('\n\n')]
        return [c[1:] for c in calls if c[0] == name]

    def text(self, name):
        with open(os.path.join(self.top, 'here', name)) as f:
            return f.read()


def member(n, **more):
    return {'SLURM_ARRAY_JOB_ID': '5', 'SLURM_ARRAY_TASK_ID': str(n),
            'SLURM_JOB_ID': str(100 + n), 'LAUNCH': 'env', **more}


def array(v):
    p = Place('array', SBATCH='--array=1-3', LAUNCH='env', OUT='run')
    p.run('submit')
    v.same('submit: an array', '--array=1-3' in p.calls('sbatch')[0], True)
    for n in 1, 2:
        p.run('run', **member(n))
        v.same('member %d: requeued' % n, p.calls('scontrol'), [['requeue', '5_%d' % n]])
    p.put('queue', '5_1\n5_2\n5_[3]\n55_1\n15_1\n6\n')
    r = p.run('stop')
    v.same('stop: status, signals', (r.returncode, p.calls('scancel')),
           (0, [['--batch', '--signal=USR1', job] for job in ('5_1', '5_2', '5_[3]')]))
    for n in 1, 2, 3:
        r = p.run('run', **member(n))
        v.same('member %d after stop: status, runs, requeued' % n,
               (r.returncode, p.calls('simulate'), p.calls('scontrol')), (0, [], []))
    r = p.run('status')
    v.same('status: all members', [w in r.stdout for w in ('run.1:', 'run.2:', 'run.3:', 'job 5_2',
                                                           'job 55_1')], [True] * 4 + [False])
    p.run('submit')
    r = p.run('run', **member(1))
    v.same('submitted again: it runs', len(p.calls('simulate')), 1)


def forbidden(v):
    """Clusters on which jobs may not be requeued."""
    p = Place('forbidden', SBATCH='--array=1-3', LAUNCH='env')
    p.run('submit')
    p.run('run', **member(2, REFUSED='1'))
    call = p.calls('sbatch')[0]
    arrays = [a for a in call if a.startswith('--array')]
    v.same('a member is queued again, alone', (arrays[-1], '--dependency=afterany:102' in call),
           ('--array=2', True))
    p.put('queue', '6_2\n')
    p.run('stop')
    v.same('the new job is stopped', p.calls('scancel'), [['--batch', '--signal=USR1', '6_2']])


def stopped_while_running(v):
    p = Place('while', LAUNCH='env')
    p.run('submit')
    p.put('bin/simulate', NOTE % p.top + 'touch run/.campaign/stop\nexit 75\n')
    r = p.run('run', SLURM_JOB_ID='5')
    v.same('stopped while it ran: status, requeued', (r.returncode, p.calls('scontrol')), (0, []))


def two(v):
    """Two campaigns whose directories have the same name."""
    p = Place('two', OUT='a/run')
    p.run('submit')
    p.run('submit', OUT='b/run')  # the value in the configuration file wins
    p.put('here/campaign.conf', 'OUT=b/run\n')
    p.run('submit')
    p.put('queue', '5\n6\n7\n')
    p.run('stop')
    v.same('only its own job', [c[-1] for c in p.calls('scancel')], ['7'])
    p.put('queue', '5\n6\n')
    p.run('stop')
    v.same('none of its own: by the job control file',
           (p.calls('scancel'), p.text('jobcontrol.txt')), ([], '0 -1\n'))


NAMES = ['run [a-z]', "it's \"here\"", '$(touch danger)', '-n', '50%j', '*', 'a\\b',
         '`touch danger`', ';touch danger', 'output_00007']


def names(v):
    for i, name in enumerate(NAMES):
        p = Place('names_%d' % i, OUT=name, FOLLOW='follow', LAUNCH='env')
        os.makedirs(p.top + '/here/run a')
        p.put('bin/follow', NOTE % p.top)
        os.chmod(p.top + '/bin/follow', 0o755)
        p.run('submit')
        p.run('run', SLURM_JOB_ID='5')
        call, out = p.calls('sbatch')[0], ('./' if name[0] == '-' else '') + name
        log = '--output=' + out.replace('%', '%%') + '.follow.%j.log'
        command = next(a[7:] for a in call if a.startswith('--wrap='))
        v.same('%s: log, program, word of the command' % name,
               (log in call, p.calls('simulate')[0][1], shlex.split(command)),
               (True, out, ['follow', out + '/output_00001']))
        p.run('run', SLURM_JOB_ID='5')
        v.same('%s: followed once' % name, p.calls('sbatch'), [])
        shutil.rmtree(os.path.join(p.top, 'here', name, 'output_00001'))
        os.remove(os.path.join(p.top, 'here', name, '.campaign', 'followed'))
        p.run('run')  # ends after RETRIES
        v.same('%s: here: followed once' % name, p.calls('follow'), [[out + '/output_00001']])
        v.same('%s: nothing else there' % name, sorted(os.listdir(p.top + '/here')),
               sorted([name, 'campaign.conf', 'run a', 'run.nml']))


    p = Place('lines', OUT='a\nb')
    v.same('several lines: status', p.run('submit').returncode, 2)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    for test in array, forbidden, stopped_while_running, two, names:
        test(verdict)
    verdict.end()
