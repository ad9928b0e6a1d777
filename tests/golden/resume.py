"""Resumes from a checkpoint of the reference code, stored in tests/data/restart, and compares the
results with the next checkpoints of the reference code (tests/data/golden), with the limits of
compare.py.

    resume.py CASE

Example of a fault caught: the old time step of a level not taken over, the potential of the
checkpoint not used as first guess and in the first kick, particles' levels lost, an output time
that the checkpoint does not know taken for 0.
"""
# test: nbody4096 tier=check timeout=240
# test: selfgrav_jeans tier=check timeout=120
# test: m2_loop tier=check timeout=120
# test: m2_ot_hll_hlla tier=check timeout=120
# test: m2_ot_uni tier=check timeout=120
# test: m2_otu_s3 tier=check timeout=120
import glob
import os
import re
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import compare  # noqa: E402
import golden  # noqa: E402
import read_ramses  # noqa: E402


def main():
    case = sys.argv[1]
    with tarfile.open(os.path.join(ptah.DATA, 'restart', case + '.tar.xz')) as t:
        t.extractall('.')
    start = glob.glob(os.path.join(case, 'output_*'))[0]
    ndim = read_ramses.read_info(start)['ndim']
    settings = compare.settings_of(case, ndim)
    r = ptah.simulate(os.path.join(ptah.DATA, 'golden', case + '.nml'), '.', settings=settings,
                      options=['-r', start])
    v = ptah.Verdict()
    v.same('it is said that bits are missing', 'not bit for bit' in r.err, True)
    changed = re.findall(r'Changed since the checkpoint: (?!run_params/gpu_).*', r.err)
    v.same('the model is the same', changed, [])
    golden_files = sorted(glob.glob(os.path.join(ptah.DATA, 'golden', case + '_0*.xz')))
    later = [f for f in golden_files if f[-8:-3] > start[-5:]]
    v.same('there is something to compare with', bool(later), True)
    for path in later:
        theirs, _ = golden.read(path)
        mine = read_ramses.load(ptah.output(r, int(theirs.info['number'])))
        compare.compare_times(v, case, mine, theirs)
        compare.compare_cells(v, case, mine, theirs)
        if theirs.part:
            compare.compare_particles(v, case, mine, theirs)
    converted(v, case, start, r, settings)
    v.end()


def converted(v, case, start, r, settings):
    """From the same state in another format, the run writes the same checkpoints."""
    made = ptah.Run([ptah.program('convert'), '-f', 'hdf5', '-o', 'converted', start], '.')
    v.same('convert: status', made.status, 0)
    again = ptah.simulate(os.path.join(ptah.DATA, 'golden', case + '.nml'), 'again',
                          settings=settings, options=['-r', '../converted'])
    v.same('converted: checkpoints',
           [os.path.basename(o) for o in again.outputs], [os.path.basename(o) for o in r.outputs])


if __name__ == '__main__':
    main()
