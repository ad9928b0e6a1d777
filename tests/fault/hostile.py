"""Damaged checkpoints: cut at each record of each file, and with random bits flipped. With the list
of checksums each is refused or gives the same digest; without a list, as in checkpoints of RAMSES,
no input may crash the reader, delay it for long or make it allocate absurd amounts of memory.

    hostile.py FLIPS            of each checkpoint: RAMSES binary and HDF5, with the list, without
    hostile.py FLIPS PATH...    those instead, without regard to what is read

One process of inspect reads all checkpoints, as from a pipe. Example of a fault caught: a sum
that is made but not compared.
"""
# test: 700 tier=check timeout=200
# test: 10000 tier=long timeout=3600
import os
import random
import resource
import select
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from inputs import SEDOV, edit  # noqa: E402

SECONDS = 20
MEMORY = 2 << 30
NAMELIST = edit(edit(SEDOV, 'tout=1.0', 'tout=1e9\nfoutput=2'), 'levelmin=3', 'levelmin=2')


class Inspect:
    """inspect -qd -: reads a path per line, and answers with the digest or an error message."""

    def __init__(self):
        self.p = None

    def start(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        self.p = subprocess.Popen([ptah.program('inspect'), '-qd', '-'], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env={**os.environ, 'OMP_NUM_THREADS': '1'}, preexec_fn=limit)

    def heard(self):
        limit = ptah.Limit(SECONDS)
        while not select.select([self.p.stdout], [], [], 1)[0]:
            if limit.over():
                return False
        return True

    def ask(self, path):
        if self.p is None or self.p.poll() is not None:
            self.start()
        self.p.stdin.write(path.encode() + b'\n')
        self.p.stdin.flush()
        answer = b''
        while not answer.endswith(b'\n'):
            if not self.heard():
                self.p.kill()
                self.p.wait()
                return 'HANG'
            more = os.read(self.p.stdout.fileno(), 65536)
            if not more:
                return 'DIED with status %d: %s' % (self.p.wait(), answer.decode(errors='replace'))
            answer += more
        return answer.decode(errors='replace').rstrip('\n')


def records(data):
    """Ends of the Fortran records, or of the lines of a text; for other files, every 512 bytes."""
    cuts, at = [0], 0
    while at + 8 <= len(data):
        n = struct.unpack_from('<i', data, at)[0]
        if n < 0 or at + 8 + n > len(data) or data[at + 4 + n:at + 8 + n] != data[at:at + 4]:
            break
        cuts += [at + 4, at + 4 + n // 2, at + 4 + n, at + 8 + n]
        at += 8 + n
    if at == len(data):
        return sorted(set(cuts))
    if all(c < 128 for c in data):
        return [i + 1 for i, c in enumerate(data) if c == 10]
    return list(range(0, len(data), 512))


def cases(files, flips, rng):
    """(name of a file, its new content, description)"""
    for name in sorted(files):
        for cut in records(files[name]):
            if cut < len(files[name]):
                yield name, files[name][:cut], 'cut at %d' % cut
    for _ in range(flips):
        name = rng.choice([n for n in files if files[n]])
        data = bytearray(files[name])
        bit = rng.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        yield name, bytes(data), 'bit %d of byte %d' % (bit % 8, bit // 8)


def put(folder, name, data):
    path = os.path.join(folder, name)
    os.remove(path)  # a new inode, in case a reader caches files
    with open(path, 'wb') as f:
        f.write(data)


def torment(what, path, flips, protected, reader, rng):
    files = {n: open(os.path.join(path, n), 'rb').read() for n in os.listdir(path)}
    good = reader.ask(path).split()[0]
    count = {'refused': 0, 'same': 0, 'changed': 0}
    failed = 0
    for name, data, how in cases(files, flips, rng):
        put(path, name, data)
        answer = reader.ask(path)
        put(path, name, files[name])
        if answer.startswith('inspect: '):
            kind = 'refused'
        else:
            kind = 'same' if answer.split()[0] == good else 'changed'
        bad = answer.startswith(('HANG', 'DIED')) or 'bug at' in answer
        bad |= protected and kind == 'changed'
        count[kind] += 1
        if bad:
            failed += 1
            print('FAIL %s: %s, %s: %s' % (what, name, how, answer[:500]))
    print('%-4s %-24s %5d cuts and flips: %d refused, %d read the same, %d read as something else' %
          ('FAIL' if failed else 'ok', what, sum(count.values()), count['refused'], count['same'],
           count['changed']))
    return failed


def check_sees(what, path, rng):
    """inspect -c reports a flipped bit in every single file."""
    failed = 0
    for name in sorted(os.listdir(path)):
        data = open(os.path.join(path, name), 'rb').read()
        if not data:
            continue
        at = rng.randrange(len(data))
        put(path, name, data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:])
        r = ptah.Run([ptah.program('inspect'), '-qc', path], '.', timeout=SECONDS)
        put(path, name, data)
        if r.status != 1:
            failed += 1
            print('FAIL %s: inspect -c of a bit in byte %d of %s: exit status %s: %s' %
                  (what, at, name, r.status, r.out + r.err))
    print('%-4s %s: inspect -c tells of a bit in any file' % ('FAIL' if failed else 'ok', what))
    return failed


def main():
    flips, given = int(sys.argv[1]), sys.argv[2:]
    reader, rng, failed = Inspect(), random.Random(1), 0
    for path in given:
        shutil.rmtree('given', ignore_errors=True)
        shutil.copytree(path, 'given')
        failed += torment(path[-24:], os.path.abspath('given'), flips, False, reader, rng)
    for form in [] if given else ['original', 'hdf5']:
        shutil.rmtree(form, ignore_errors=True)
        r = ptah.simulate(NAMELIST, form, settings=['output_params/outformat=' + form],
                          options=['-q'])
        path = os.path.abspath(r.outputs[1])
        failed += torment(form, path, flips, True, reader, rng)
        failed += check_sees(form, path, rng) if form == 'original' else 0
        os.remove(os.path.join(path, 'checksums_00002.txt'))
        failed += torment(form + ', no list', path, flips, False, reader, rng)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
