"""Times of group finding: N points, half of them uniform and half in groups of four, by all pairs,
the radix tree and the hash grid (tests/bench/tree.c), in processor time of one thread.

    tree.py [check]

reference: milliseconds of cuRAMSES (Kim 2026), all pairs and its tree. check: up to 10^4 points;
fails if the tree is not 40 times faster than all pairs at 10^4, if it needs more than 100 bytes a
point, or if the methods find different numbers of groups.
"""
# test: check tier=check timeout=120
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

TOOL = os.path.join(ptah.ROOT, 'build', 'tests', 'bench', 'tree')
REFERENCE = {1000: (2.19, 0.81), 10000: (218, 11.8), 100000: (22585, 163)}
FASTER, BYTES = 40, 100


def measure(n, link=0.2, kind='half', options=()):
    """method -> seconds to build, to find groups, bytes a point, groups"""
    r = ptah.Run([TOOL, *options, str(n), str(link), kind], '.', {'OMP_NUM_THREADS': '1'})
    if r.status:
        sys.exit('%s: %s' % (TOOL, r.err))
    lines = [line.split('\t') for line in r.out.splitlines() if line[0] != '#']
    return {line[0]: [line[1]] + [float(x) for x in line[2:]] for line in lines}


def main():
    check = 'check' in sys.argv[1:]
    failed = 0
    print('points\tlink\tkind\tmethod\tbuild [ms]\tgroups [ms]\tbytes\treference [ms]')
    cases = [(n, 0.2, 'half') for n in sorted(REFERENCE) if n <= 10000 or not check]
    if not check:
        cases += [(262144, 0.2, 'uniform'), (10000000, 0.2, 'half'), (10000000, 0.2, 'place')]
    for n, link, kind in cases:
        t = measure(n, link, kind)
        for method, (took, build, groups, size, _) in t.items():
            where = {'brute force': 0, 'radix tree': 1}.get(method)
            known = '%g' % REFERENCE[n][where] if n in REFERENCE and where is not None else ''
            print('%d\t%g\t%s\t%s\t%.3f\t%.3f\t%.0f\t%s' % (
                n, link, kind, method if method != 'auto' else 'auto: ' + took, 1e3 * build,
                1e3 * groups, size, known), flush=True)
        if len({row[4] for row in t.values()}) > 1:
            print('FAILED: the methods find different groups')
            failed += 1
        if 'brute force' in t:
            ratio = [sum(t['brute force'][1:3]) / sum(t[m][1:3]) for m in t if m != 'brute force']
            print('# all pairs take %.0f times as long as auto, %.0f as the tree, %.0f as the '
                  'grid' % tuple(ratio))
            if check and n == 10000 and ratio[1] < FASTER:
                print('FAILED: the tree should be %d times faster than all pairs' % FASTER)
                failed += 1
        if n >= 10000 and max(row[3] for row in t.values()) > BYTES:
            print('FAILED: more than %d bytes a point' % BYTES)
            failed += 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
