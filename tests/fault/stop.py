"""Stopping: on SIGTERM, SIGUSR1, Ctrl-C, the job control file, the end of the job and a closed
stdout; backups by the clock.

    stop.py RANKS

SIGUSR1, SIGTERM, SIGHUP, SIGINT: the run logs the signal, finishes its step, writes and announces a
complete checkpoint, and exits with status 75. A second SIGINT ends it at once. A closed terminal
counts as SIGHUP; under nohup the run continues. Under mpirun SIGTERM leaves a checkpoint if mpirun
is told to wait. During the construction of the initial mesh: the run ends before its first step,
with a sentence and status 75. A full stdout: the run continues to its end, then exits with status
2.
"""
# test: 1 tier=quick timeout=120
# test: 2 tier=check timeout=120 ranks=2
import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import faults  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

SECONDS = 60
ENDLESS = """
&RUN_PARAMS
hydro=.true.
/
&AMR_PARAMS
levelmin=4
levelmax=5
boxlen=1.0
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.5
y_center=0.5,0.5
z_center=0.5,0.5
length_x=10.0,0.4
length_y=10.0,0.4
length_z=10.0,0.4
exp_region=10.0,10.0
d_region=1.0,2.0
p_region=1.0,3.0
/
&OUTPUT_PARAMS
noutput=1
tout=1e9
/
&REFINE_PARAMS
err_grad_p=0.05
/
"""


def heed_hangup():
    """The tests themselves may have been started with nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def run_until(number, ranks, folder, words='Main step=      3', settings=(), again=None):
    """Sends the signal once the log has these words, i.e. after a few steps; and again after
    further words. Returns (status, stdout lines)."""
    os.makedirs(folder)
    with open(os.path.join(folder, 'run.nml'), 'w') as f:
        f.write(ENDLESS)
    log = os.path.join(folder, 'log')
    with open(log, 'w') as err:
        p = subprocess.Popen(ptah.mpirun(ranks) + [ptah.program('simulate'), 'run.nml', *settings],
                             cwd=folder, text=True, stdout=subprocess.PIPE, stderr=err,
                             preexec_fn=heed_hangup,
                             env={**os.environ, **ptah.ENVIRONMENT})
        limit, sent = ptah.Limit(SECONDS), False
        while p.poll() is None and not limit.over():
            time.sleep(0.01)
            with open(log) as f:
                text = f.read()
            if not sent and words in text:
                p.send_signal(number)
                sent = True
            elif sent and again and again in text:
                p.send_signal(number)
                again = None
        if p.poll() is None:
            p.kill()
    return p.returncode, p.communicate()[0].split()


def check_signal(v, name, ranks):
    number = getattr(signal, name)
    status, outputs = run_until(number, ranks, name)
    v.same('%s: exit status' % name, status, 75)
    if v.same('%s: checkpoints' % name, len(outputs) > 1, True):
        s = read_ramses.load(os.path.join(name, outputs[-1]))
        v.same('%s: the last is of step 4 or later' % name, s.info['nstep_coarse'] >= 4, True)
    with open(os.path.join(name, 'log')) as f:
        v.same('%s: sentences about it' % name, f.read().count(' Signal %d (' % number), 1)
    left = [f for f in os.listdir(name)
            if f not in ('run.nml', 'log', 'progress.json') and not f.startswith('output_')]
    v.same('%s: files left over' % name, left, [])


def check_interrupted_twice(v):
    """A second signal arrives while the first is being handled."""
    settings = ['amr_params/levelmin=7', 'amr_params/levelmax=7']
    status, outputs = run_until(signal.SIGINT, 1, 'twice', settings=settings, again=' Signal 2 (')
    v.same('Ctrl-C twice: exit status, checkpoints', (status, len(outputs)),
           (-signal.SIGINT, 1))


def check_hangup(v):
    """A closed terminal; SIGHUP ignored on entry."""
    for name in 'terminal', 'nohup':
        os.makedirs(name)
        with open(name + '/run.nml', 'w') as f:
            f.write(ENDLESS)
    ours, theirs = pty.openpty()

    def lead():
        heed_hangup()
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    p = subprocess.Popen([ptah.program('simulate'), 'run.nml'], cwd='terminal', preexec_fn=lead,
                         stdin=theirs, stdout=theirs, stderr=theirs,
                         env={**os.environ, **ptah.ENVIRONMENT})
    os.close(theirs)
    said = b''
    while b'Main step=      3' not in said:
        said += os.read(ours, 4096)
    os.close(ours)
    v.same('a closed terminal: status', ptah.wait_patiently(lambda s: p.wait(timeout=s), SECONDS),
           75)
    last = max(f for f in os.listdir('terminal') if f.startswith('output_'))
    v.same('a closed terminal: a checkpoint of step 3 or later',
           read_ramses.load('terminal/' + last).info['nstep_coarse'] >= 3, True)
    p = subprocess.Popen(['nohup', ptah.program('simulate'), 'run.nml', 'run_params/nstepmax=9'],
                         cwd='nohup', text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         env={**os.environ, **ptah.ENVIRONMENT})
    said = ''
    for line in p.stderr:
        said += line
        if 'Main step=      3' in line:
            p.send_signal(signal.SIGHUP)
    v.same('nohup: status, told of a signal, completed',
           (p.wait(), ' Signal ' in said, 'Run completed' in said), (0, False, True))


def check_patient_mpirun(v, ranks):
    os.environ['OMPI_MCA_odls_base_sigkill_timeout'] = '6'
    status, _ = run_until(signal.SIGTERM, ranks, 'patient')  # afterwards mpirun prints nothing
    outputs = [f for f in os.listdir('patient') if f.startswith('output_')]
    del os.environ['OMPI_MCA_odls_base_sigkill_timeout']
    v.same('SIGTERM to a patient mpirun: exit status, checkpoints', (status, len(outputs)), (1, 2))


def check_clock(v):
    """The run stops before the end of the job; backups are written at time intervals."""
    r = ptah.simulate(ENDLESS, 'clock', must_work=False, timeout=SECONDS,
                      settings=['output_params/walltime_hrs=%.6f' % (6 / 3600),
                                'output_params/minutes_dump=0',
                                'output_params/backup_minutes=%.6f' % (1 / 60)])
    v.same('walltime: exit status', r.status, 75)
    v.same('walltime: the log says why', r.err.count(' The job ends in '), 1)
    v.same('backup_minutes: 1 s each in 6 s, first and last', 3 <= len(r.outputs) <= 9, True)


def check_slow_disk(v):
    """Where a checkpoint waits for a slow disk over several coarse steps, the time that the disk
    takes still counts when the run decides to stop before the end of the job."""
    faults.build_shim()
    slow = 0.1  # seconds for each file, of which a checkpoint has ten and more
    r = ptah.simulate(ENDLESS, 'slow', must_work=False, timeout=2 * SECONDS,
                      settings=['output_params/walltime_hrs=%.6f' % (6 / 3600),
                                'output_params/minutes_dump=0',
                                'output_params/backup_minutes=%.6f' % (1 / 60)],
                      options=['-o', os.path.abspath('slow')],
                      env={'LD_PRELOAD': faults.SHIM, 'FAULT_DIR': os.path.abspath('slow'),
                           'FAULT_SLOW': str(slow)})
    said = re.search(r' The job ends in .* a checkpoint ([0-9.]+) s', r.err)
    v.same('slow disk: exit status, the log says why', (r.status, bool(said)), (75, True))
    files = min(len(os.listdir(o)) for o in r.outputs)
    v.check('slow disk: time of the disk over the expected time of a checkpoint',
            files * slow / max(float(said[1]), 1e-3) if said else 9, 1.1)


def check_start(v, ranks):
    settings = ['amr_params/levelmin=7', 'amr_params/levelmax=9']
    status, outputs = run_until(signal.SIGUSR1, ranks, 'start', 'Building initial', settings)
    with open('start/log') as f:
        log = f.read()
    v.same('construction: exit status, checkpoints', (status, outputs), (75, []))
    v.same('construction: sentences, steps',
           (log.count('simulate: stopped early'), 'Main step' in log), (1, False))


def check_job_control(v, ranks):
    os.makedirs('job')
    with open('job/jobcontrol.txt', 'w') as f:
        f.write('2 1\n4 -1\n0 -1\n')  # 0 means now, but only if the file changes during the run
    os.utime('job/jobcontrol.txt', (1e9, 1e9))
    r = ptah.simulate(ENDLESS, 'job', ranks, must_work=False, timeout=SECONDS)
    v.same('job control: exit status', r.status, 75)
    steps = [read_ramses.load(o).info['nstep_coarse'] for o in r.outputs]
    v.same('job control: steps of the checkpoints', steps, [0, 2, 4])
    os.makedirs('now')
    with open('now/jobcontrol.txt', 'w') as f:
        f.write('0 -1\n')
    os.utime('now/jobcontrol.txt', (4e9, 4e9))  # the latest possible modification time
    r = ptah.simulate(ENDLESS, 'now', ranks, must_work=False, timeout=SECONDS)
    v.same('job control: step 0 is now', (r.status, len(r.outputs)), (75, 1))


def check_full_stdout(v):
    os.makedirs('full')
    with open('full/run.nml', 'w') as f:
        f.write(ENDLESS)
    with open('/dev/full', 'w') as full:
        p = ptah.run_patiently([ptah.program('simulate'), '-q', 'run.nml', 'run_params/nstepmax=3'],
                               cwd='full', stdout=full, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **ptah.ENVIRONMENT}, timeout=SECONDS)
    v.same('a full stdout: exit status, sentences',
           (p.returncode, p.stderr.count('simulate:')), (2, 1))
    r = ptah.simulate(ENDLESS, 'heard', settings=['run_params/nstepmax=3'])
    v.same('a full stdout: checkpoints',
           sorted(f for f in os.listdir('full') if f.startswith('output')),
           [os.path.basename(o) for o in r.outputs])


def main():
    ranks = int(sys.argv[1])
    v = ptah.Verdict()
    check_signal(v, 'SIGUSR1', ranks)
    if ranks == 1:  # on SIGTERM mpirun ends its ranks soon after forwarding the signal
        check_signal(v, 'SIGTERM', ranks)
        check_signal(v, 'SIGHUP', ranks)
        check_signal(v, 'SIGINT', ranks)
        check_hangup(v)
        check_interrupted_twice(v)
        check_full_stdout(v)
        check_clock(v)
        check_slow_disk(v)
    else:
        check_patient_mpirun(v, ranks)
    check_job_control(v, ranks)
    check_start(v, ranks)
    v.end()


if __name__ == '__main__':
    main()
