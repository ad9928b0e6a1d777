"""genzoom compared with dd: a set of 1024^3 effective cells is masked at half the streaming rate of
the disk or faster, within 64 MiB of memory.

Example of a fault caught: a level held in memory as a whole, a write a row.
"""
# test: tier=long timeout=300
import glob
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

LEVELS = {7: (0, 128), 8: (64, 128), 9: (160, 192), 10: (352, 320)}  # offset, cells: 180 MB
RATE_LEAST, MIB_MOST, ROUNDS = 0.5, 64, 5


def write(path, level, offset, n, region):
    dx = 100 / 2 ** level
    with open(path, 'wb') as f:
        head = struct.pack('<3i8f', n, n, n, dx, *[offset * dx] * 3, 0.02, 0.3, 0.7, 70.0)
        mark = struct.pack('<i', 4 * n * n)
        f.write(struct.pack('<i', 44) + head + struct.pack('<i', 44))
        row = struct.pack('<%df' % n, *(abs(i - n / 2) < region for i in range(n)))
        for k in range(n):
            f.write(mark + b''.join(row if abs(k - n / 2) < region > abs(j - n / 2)
                                    else bytes(4 * n) for j in range(n)) + mark)


def main():
    v = ptah.Verdict()
    for level, (offset, n) in LEVELS.items():
        folder = 'set/level_%03d' % level
        os.makedirs(folder)
        write(folder + '/ic_deltab', level, offset, n, 0)
        if level == 7:
            write(folder + '/ic_refmap', level, offset, n, 12)
    ratios = []
    for _ in range(ROUNDS):
        mine = ptah.Run([ptah.program('genzoom'), '-q', '--force', 'set'], '.')
        v.same('exit status', mine.status, 0)
        masks = glob.glob('set/*/ic_pvar_00006')
        size = sum(os.path.getsize(p) for p in masks)
        for p in masks:
            os.remove(p)
        disk = ptah.Run(['dd', 'if=/dev/zero', 'of=stream', 'bs=1M', 'count=%d' % (size >> 20),
                         'conv=fsync'], '.')
        os.remove('stream')
        ratios.append(disk.seconds / mine.seconds)
        print('%.0f MB: genzoom %.2f s, dd %.2f s, peak %.0f MiB' %
              (size / 1e6, mine.seconds, disk.seconds, mine.peak_mib))
        v.check('peak', mine.peak_mib, MIB_MOST, ' MiB')
    v.check('time over that of dd, best of %d' % ROUNDS, 1 / max(ratios), 1 / RATE_LEAST)
    v.end()


if __name__ == '__main__':
    main()
