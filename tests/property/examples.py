"""The examples run unchanged, and leave the files that they promise.

    examples.py zoom       examples/zoom/run.sh
    examples.py galaxy     examples/galaxy/run.sh, with fewer levels and steps
    examples.py magnetic   examples/magnetic/run.sh, likewise
    examples.py dynamo     examples/dynamo/run.sh, with fewer steps
    examples.py core       examples/core/run.sh, with fewer levels and steps
    examples.py merger     examples/merger/run.sh, with fewer levels, particles and steps
    examples.py reionisation   examples/reionisation/run.sh
    examples.py disc       examples/disc/run.sh, with fewer particles and a quarter of an orbit
    examples.py demo       scripts/demo.sh with initial conditions of the test; then each command
                           that it proposes next

Example of a fault caught: an option that a program no longer has, a proposed run into the
directory of the first.
"""
# test: zoom tier=long timeout=600 ranks=2
# test: galaxy tier=long timeout=900 ranks=2
# test: dynamo tier=long timeout=600 ranks=2
# test: core tier=check timeout=120 ranks=2
# test: disc tier=check timeout=120 ranks=2
# test: merger tier=check timeout=120 ranks=2
# test: reionisation tier=long timeout=900 ranks=2
# test: magnetic tier=long timeout=900 ranks=2
# test: demo tier=check timeout=600 ranks=2
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

LEAVES = {'core': ['core.png', 'side.png', 'output_00002'],
          'disc': ['energies.txt', 'disc.png', 'output_00004'],
          'dynamo': ['bx.png', 'time_series.txt', 'slices/bx_00000100.png', 'output_00002'],
          'galaxy': ['density.png', 'temperature.png', 'stars.png', 'phase.png', 'history.png',
                     'history.tsv', 'output_00002'],
          'merger': ['gas.png', 'matter.png', 'film.png', 'output_00002'],
          'magnetic': ['collapse.png', 'current.png', 'box.png', 'spectra.tsv'],
          'reionisation': ['history.png', 'history.tsv', 'ionised.png', 'phase.png',
                          'output_00011'],
          'zoom': ['points.txt', 'zoom.nml', 'zoom.png', 'zoom/output_00002']}

SHORT = 'amr_params/levelmax=8 output_params/noutput=1 output_params/aout=0.18'
SETTINGS = {'core': 'amr_params/levelmax=6 run_params/nstepmax=5 output_params/foutput=5',
            'disc': 'sph_params/np=2000 output_params/tend=1.6',
            'dynamo': 'run_params/nstepmax=400 output_params/foutput=400', 'galaxy': SHORT,
            'merger': 'amr_params/levelmax=6 run_params/nstepmax=4 output_params/foutput=4',
            'magnetic': SHORT, 'reionisation': '', 'zoom': SHORT}


def demo(v):
    ptah.unpack_ics('.', 'ic_32')
    folder = os.path.join(os.getcwd(), 'demo')
    script = os.path.join(ptah.ROOT, 'scripts', 'demo.sh')
    r = ptah.Run([script, os.path.abspath('ics'), 'ics/ic_32/level_005', '5'], '.')
    v.same('a directory that is not its own', (r.status, len(r.err.splitlines()),
                                               os.path.exists('ics/ic_32')), (2, 1, True))
    r = ptah.Run([script, folder, 'ics/ic_32/level_005', '5'], '.')
    print(r.out[-3000:], r.err[-3000:])
    v.same('exit status', r.status, 0)
    v.same('the picture', os.path.exists('demo/demo.png'), True)
    proposed = [re.sub('^Next:', '     ', line).strip()
                for line in r.out.partition('Next:')[2].splitlines()]
    v.same('commands proposed', len(proposed), 3)
    for line in proposed:
        command = line.partition('   ')[0]
        p = ptah.Run(['sh', '-c', command], ptah.ROOT,
                     {'OMPI_ALLOW_RUN_AS_ROOT': '', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': ''})
        v.same(command[-60:], p.status, 0)
        print(p.err[-1000:])


def main():
    v, name = ptah.Verdict(), sys.argv[1]
    if name == 'demo':
        demo(v)
        v.end()
    ptah.program('genzoom')
    script = os.path.join(ptah.ROOT, 'examples', name, 'run.sh')
    r = ptah.Run([script, os.path.join(os.getcwd(), 'work')], '.',
                 {'SETTINGS': SETTINGS.get(name, ''), 'PYTHON': sys.executable})
    print(r.out[-3000:], r.err[-3000:])
    v.same('exit status', r.status, 0)
    for path in LEAVES[name]:
        v.same(path, os.path.exists(os.path.join('work', path)), True)
    v.end()


if __name__ == '__main__':
    main()
