"""Time limits of tests/run on a crowded core: a test that works is not ended by its limit, whether
it is one process or hundreds of short ones, although it takes many times as long; one that hangs is
ended, soon if it sleeps, and later if it loops.

Examples of faults caught: limits of the wall clock; a share of the core that is taken from the load
average, which lags; ended processes that are forgotten.
"""
# test: tier=check timeout=200
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import patience  # noqa: E402
import ptah  # noqa: E402

OTHERS = 5
LOOP = 'while True: pass'
# 0.6 s of work in one process, and in many
WORK = 'import time\nwhile time.process_time() < 0.6: pass'
SHORT = '''
while [ "$(awk '{ print ($14 + $15 + $16 + $17 >= 60) }' /proc/$$/stat)" = 0 ]; do
    seq 30000 | wc -l >file
done
'''


def runner():
    """tests/run as a module."""
    loader = importlib.machinery.SourceFileLoader('tests_run',
                                                  os.path.join(ptah.ROOT, 'tests', 'run'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('tests_run', loader))
    loader.exec_module(module)
    module.TMP = os.path.abspath('tmp')
    return module


def main():
    if not patience.KNOWN or not hasattr(os, 'sched_setaffinity'):
        ptah.skip('no /proc, or no choice of a core')
    v, run = ptah.Verdict(), runner()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    # each in a session of its own: the kernel may share a core equally between sessions
    others = [subprocess.Popen([sys.executable, '-c', LOOP], start_new_session=True)
              for _ in range(OTHERS)]
    try:
        took = {}
        for name, argv, limit, result in (
                ('one process', [sys.executable, '-c', WORK], 1.2, 'passed'),
                ('many processes', ['bash', '-c', SHORT], 1.2, 'passed'),
                ('asleep', ['sleep', '100'], 1.2, 'failed'),
                ('in a loop', [sys.executable, '-c', LOOP], 0.2, 'failed')):
            t = run.Test(name, argv, {'timeout': str(limit)})
            found, took[name], text = run.Runner(1, False, False).execute(t)
            print('%s: %.1f s of a limit of %.1f s' % (name, took[name], limit))
            v.same(name, (found, 'timed out after' in text), (result, result == 'failed'))
        v.same('its time on this core exceeds the limit', took['one process'] > 2, True)
        v.check('seconds until the sleeping one is ended', took['asleep'], 6)
        v.check('seconds until the loop is ended', took['in a loop'], 40)
    finally:
        for p in others:
            p.kill()
            p.wait()
    v.end()


main()
