"""simulate -n predicts the cost of a run: octs and particles from headers, peak memory within 20 %
of the report of simulate -j, and the time of an update from the profile of an earlier run. It
builds and writes nothing.

Example of a fault caught: a field of the gas that is not counted.
"""
# test: tier=check timeout=120 ranks=3
import json
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, 'property')]
import ptah  # noqa: E402
from digest import SEDOV  # noqa: E402
from parameter_runs import RAYS, text_of, vary  # noqa: E402
from restart import namelist  # noqa: E402

COSMO = namelist('cosmo')

LIMIT = 0.2  # relative error of the predicted peak memory


def lines(path):
    with open(path) as f:
        return [json.loads(x) for x in f]


def forecast(v, name, text, ranks, options, settings, extra=()):
    """The JSON line of -n, which needs little memory and writes no checkpoint."""
    path = name + '.forecast'
    os.makedirs(name, exist_ok=True)
    if not os.path.exists(name + '/ics'):
        os.symlink('../ics', name + '/ics')
    r = ptah.simulate(text, name, ranks, settings=settings,
                      options=[*options, '-n', '-j', os.path.abspath(path), *extra])
    v.same(name + ': no checkpoint', r.outputs, [])
    return lines(path)[0], r


def compare(v, name, text, ranks, options=(), settings=()):
    f, _ = forecast(v, name, text, ranks, options, settings)
    r = ptah.simulate(text, name, ranks, settings=settings,
                      options=[*options, '-j', os.path.abspath(name + '.steps')])
    steps = lines(name + '.steps')
    end = steps[-1]
    print('     %s, %d ranks: %.1f MB held, %.1f predicted; resident %.1f, %.1f predicted'
          % (name, ranks, end['peak_bytes'] / 1e6, f['peak_bytes'] / 1e6,
             end['peak_rss_bytes'] / 1e6, f['peak_rss_bytes'] / 1e6))
    v.check('%s: memory at the peak, relative' % name,
            abs(f['peak_bytes'] / end['peak_bytes'] - 1), LIMIT)
    v.same('%s: particles' % name, f['particles'], end['particles'])
    v.check('%s: the names add up' % name,
            abs(sum(x[0] for x in f['memory_bytes'].values()) / f['peak_bytes'] - 1), 1e-6)
    return f, steps, r


def main():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    box = ['amr_params/levelmin=6', 'amr_params/levelmax=6', 'run_params/nstepmax=2']
    f, steps, _ = compare(v, 'uniform', SEDOV, 1, settings=box)
    v.same('octs of complete levels', f['octs'], [8 ** i for i in range(6)])
    each = 8 * f['octs'][-1]
    v.same('updates of a step', (f['updates'], steps[0]['updates']), (each, each))
    compare(v, 'two', SEDOV, 2, settings=box)
    for smooth in (False, True):  # values of photons before the transport are kept
        light = vary(RAYS, 'rt/rt_err_grad_n', run={'ndim': 3, 'nstepmax': 1},
                     amr={'levelmin': 6, 'levelmax': 6}, rt={'rt_smooth': smooth},
                     output={'foutput': 9})
        compare(v, 'light' + '_smooth' * smooth, text_of(light), 1 + smooth)
    for ndim in (1, 2):
        flat = ['run_params/ndim=%d' % ndim, 'amr_params/levelmin=9', 'amr_params/levelmax=9',
                'run_params/nstepmax=2']
        f, steps, _ = compare(v, 'flat%d' % ndim, SEDOV, 2, settings=flat)
        v.same('%d dimensions: octs of complete levels' % ndim, f['octs'],
               [2 ** (ndim * i) for i in range(9)])
        each = 2 ** ndim * f['octs'][-1]
        v.same('%d dimensions: updates of a step' % ndim, (f['updates'], steps[0]['updates']),
               (each, each))
    start = ['run_params/nstepmax=6', 'output_params/foutput=6']
    _, steps, run = compare(v, 'cosmo', COSMO, 2, settings=start)
    on = [s.replace('=6', '=8') for s in start]
    for ranks in (1, 3):
        name = 'resumed%d' % ranks
        f, steps, _ = compare(v, name, COSMO, ranks, settings=on,
                              options=['-r', os.path.abspath(run.outputs[-1])])
        v.same(name + ': octs', sum(f['octs']), steps[0]['octs'])
    path = os.path.abspath('resumed1.steps')
    f, r = forecast(v, 'like', COSMO, 1, ['-r', os.path.abspath(run.outputs[-1])], on,
                    ['--like', path, '--ranks', '64'])
    x, y = lines(path)[:2]
    us = 1e6 * (y['wall_s'] - x['wall_s']) / (y['updates'] - x['updates'])
    v.check('microseconds of an update, as in the profile', abs(f['us_per_update'] / us - 1), 1e-5)
    v.same('ranks that do not run', f['ranks'], 64)
    v.check('seconds of a step', abs(f['step_s'] / (us * f['updates'] / 64e6) - 1), 1e-5)
    with open('empty', 'w') as out:
        out.write('{}\n')
    r = ptah.simulate(SEDOV, 'bad', options=['-n', '--like', os.path.abspath('empty')],
                      must_work=False)
    v.same('a profile without steps', (r.status, 'two coarse steps' in r.err), (2, True))
    v.end()


if __name__ == '__main__':
    main()
