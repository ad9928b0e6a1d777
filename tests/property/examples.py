"""The examples run as they stand, and leave what they say.

A one-line fault it catches: an option that a program no longer has.
"""
# test: zoom tier=long timeout=600 ranks=2
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

LEAVES = {'zoom': ['points.txt', 'zoom.nml', 'zoom.png', 'zoom/output_00002']}


def main():
    v, name = ptah.Verdict(), sys.argv[1]
    ptah.program('genzoom')
    r = ptah.Run([os.path.join(ptah.ROOT, 'examples', name, 'run.sh'), os.path.join(os.getcwd(), 'work')], '.')
    print(r.out[-3000:], r.err[-3000:])
    v.same('exit status', r.status, 0)
    for path in LEAVES[name]:
        v.same(path, os.path.exists(os.path.join('work', path)), True)
    v.end()


if __name__ == '__main__':
    main()
