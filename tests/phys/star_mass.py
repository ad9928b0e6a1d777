"""The stellar mass of a cosmological box compared with RAMSES: both codes draw stars from the same
Poisson law, so their histories agree within the scatter between seeds.

    RAMSES=…/ramses3d star_mass.py [FOLDER [SEEDS]]    built with NVAR=6

The golden namelist cosmo_cool32 with star formation, SEEDS random seeds of each code (10; RAMSES
reads iseed with stellar=.true. only, which needs sink=.true.: both change nothing else here). Runs
that exist in FOLDER (default: here) are not repeated. Prints the table of docs/method/stars.md.
Example of a fault caught: a rate that is off by 20 %, stars that form twice, a threshold without
del_star.
"""
# test: tier=long timeout=3000
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402

EPOCHS = [0.22, 0.23, 0.24, 0.25]
M_STAR = 0.2  # m_star of the namelist
SINKS = """
&SINK_PARAMS
mass_sink_seed=1.
create_sinks=.false.
/
&CLUMPFIND_PARAMS
density_threshold=1d10
/
&STELLAR_PARAMS
nstellarmax=0
iseed=%d
/
"""


def namelist():
    """Namelist of the golden case, with star formation and outputs."""
    with open(os.path.join(ptah.DATA, 'golden', 'cosmo_cool32.nml')) as f:
        text = f.read()
    text = text.replace('noutput=1\naout=0.20', 'noutput=2\naout=0.15,0.25')
    return text.replace('&SF_PARAMS\n', '&SF_PARAMS\neps_star=0.05\n')


def run(who, seed):
    """Runs a code; returns the folder of its last checkpoint."""
    folder = '%s_%d' % (who, seed)
    last = os.path.join(folder, 'output_00003')
    if os.path.isdir(last):
        return last
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(folder + '/ics'):
        os.symlink('../ics', folder + '/ics')
    if who == 'ramses':
        text = namelist().replace('cosmo=.true.\n', 'cosmo=.true.\nsink=.true.\nstellar=.true.\n')
        ptah.ramses(text + SINKS % seed, folder)
    else:
        ptah.simulate(namelist(), folder, settings=['stellar_params/iseed=%d' % seed],
                      options=['-q'])
    return last


def time_of(a, info):
    """Conformal time of an expansion factor, 0 today, as birth times are written."""
    x = np.linspace(np.sqrt(a), 1, 20001)  # square roots of a
    f = 2 / (x ** 2 * np.sqrt(info['omega_m'] + info['omega_l'] * x ** 6))
    return -float(np.sum((f[1:] + f[:-1]) * np.diff(x)) / 2)


def history(last):
    """Number of single stars born before each epoch."""
    s = read_ramses.Snapshot(read_ramses.read_info(last))
    path = os.path.join(last, '%s_' + s.info['number'] + '.out%05d')
    read_ramses.read_particles(s, last, path)
    star = s.part['family'] == 2
    birth, mass = s.part['birth_time'][star], s.part['mass'][star]
    one = M_STAR * s.info['omega_b'] / s.info['omega_m'] / 2 ** (3 * s.info['levelmin'])
    return [mass[birth <= time_of(a, s.info)].sum() / one for a in EPOCHS]


def main():
    v = ptah.Verdict()
    ptah.ramses_program()
    if len(sys.argv) > 1:
        os.chdir(sys.argv[1])
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    if not os.path.isdir('ics'):
        ptah.unpack_ics('.', 'ic_32')
    ours, theirs = (np.array([history(run(who, k)) for k in range(seeds)])
                    for who in ('ptah', 'ramses'))
    print('| a | RAMSES | scatter of seeds | Poisson | ours | scatter | difference/σ |')
    print('|---|---|---|---|---|---|---|')
    for k, a in enumerate(EPOCHS):
        o, t = ours[:, k], theirs[:, k]
        scatter = max(t.std(ddof=1), np.sqrt(t.mean()))
        off = (o.mean() - t.mean()) / (scatter * np.sqrt(2 / seeds))
        print('| %.2f | %.1f | %.1f | %.1f | %.1f | %.1f | %+.1f |' %
              (a, t.mean(), t.std(ddof=1), np.sqrt(t.mean()), o.mean(), o.std(ddof=1), off))
        v.check('a=%.2f: the means' % a, abs(off), 3.0)
        v.check('a=%.2f: each of our seeds' % a, abs(o - t.mean()).max() / scatter, 4.0)
    v.same('there are stars', theirs[:, -1].min() > 100 and ours[:, 0].max() < 100, True)
    v.end()


if __name__ == '__main__':
    main()
