"""Machine failures are not damage: inspect -cc of a sound checkpoint whose k-th read fails ends
with status 2 and the true reason.

Reads (open, pread, opendir, readdir) fail from the k-th on with EIO, EMFILE or EACCES, by a library
that is preloaded; k is drawn at random. Example of a fault caught: an error of a file that
counts as a finding.
"""
# test: tier=check timeout=240
import errno
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

SAMPLES = 14


def run(shim, path, at, code):
    trouble = {'LD_PRELOAD': shim, 'TROUBLE_DIR': path, 'TROUBLE_AT': str(at),
               'TROUBLE_ERRNO': str(code), 'TROUBLE_COUNT': 'count'}
    r = ptah.Run([ptah.program('inspect'), '-cc', path], '.', trouble, timeout=60)
    with open('count') as f:
        return r, int(f.read())


def main():
    v, seed = ptah.Verdict(), int(os.environ.get('SEED') or int.from_bytes(os.urandom(3), 'little'))
    print('seed', seed)
    rng, shim = random.Random(seed), os.path.abspath('readshim.so')
    source = os.path.join(ptah.ROOT, 'tests', 'fault', 'readshim.c')
    subprocess.check_call(['gcc', '-shared', '-fPIC', '-o', shim, source, '-ldl'])
    for form in ('original', 'hdf5'):
        path = ptah.simulate(ptah.gas_box(form), form, options=['-q']).outputs[0]
        good, count = run(shim, path, 0, 0)
        v.same('%s: sound, %d reads' % (form, count), (good.status, count > 10), (0, True))
        for at in [1] + sorted(rng.sample(range(2, count + 1), min(SAMPLES, count - 1))):
            code = rng.choice([errno.EIO, errno.EMFILE, errno.EACCES])
            r = run(shim, path, at, code)[0]
            said = r.err.splitlines()
            good = (r.status == 2 and len(said) == 1 and os.strerror(code) in said[0] and
                    'damaged' not in r.out)
            v.same('%s: read %d fails: %s' % (form, at, os.strerror(code)), good, True)
            if not good:
                print('  status %s: %s%s' % (r.status, r.out, r.err))
    v.end()


main()
