"""The mass function of a box of 64^3 particles in 50 Mpc/h at z = 1, from initial conditions of
Planck's cosmology (build/bench/ic_64, IC64=DIR, or made by mpgrafic): about 20 minutes of one core.

    mass_function.py         groups have the ids of pyfof (PyPI), where it is installed;
                             numbers above 50 particles agree with published fits
    mass_function.py store   prints the fits, from colossus (PyPI), for FITS below

The whole base grid is refined once, so that a cell has an eighth of a particle; with cells of one
particle, small halos are missing (docs/method/halo.md). Halos by friends of friends are compared
with a fit for such halos (Crocce et al. 2010), with masses corrected for the number of particles as
in the fit (Warren et al. 2006); spheres of 200 times the mean density with Tinker et al. (2008).

Examples of faults caught: a link in units of the box side over the number of all bodies; spheres
that end at the first body below the density, a force that is too soft.
"""
# test: tier=long timeout=7200
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in 'golden', 'property':
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                    folder))
import ptah  # noqa: E402

BOX = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
nstepmax=1000000
nsubcycle=1,2,2
/
&OUTPUT_PARAMS
noutput=1
aout=0.5
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_64/level_006'
/
&AMR_PARAMS
levelmin=6
levelmax=11
nexpand=1
/
&POISSON_PARAMS
epsilon=1d-4
/
&REFINE_PARAMS
m_refine=0.5,9*2.
/
"""
SIDE, LEAST = 50, 50  # Mpc/h; particles
PARTICLE = 2.77536627e11 * 0.3111 * (SIDE / 64) ** 3  # Msun/h
STEP = 0.25  # decades
# halos in the box above LEAST particles times 10^(STEP k), at z = 0.988 (the step behind a = 0.5)
FITS = {'crocce10': (201.1, 104.2, 51.5, 24.0, 10.3),
        'tinker08': (199.0, 101.1, 48.7, 21.9, 9.0)}


def fits(z):
    from colossus.cosmology import cosmology
    from colossus.lss import mass_function
    cosmology.addCosmology('box', dict(flat=True, H0=67.66, Om0=0.3111, Ob0=0.047, sigma8=0.8102,
                                       ns=0.9665, relspecies=False))
    cosmology.setCosmology('box')
    x = np.exp(np.linspace(np.log(LEAST * PARTICLE), np.log(1e16), 2001))
    for model, sphere in ('crocce10', 'fof'), ('tinker08', '200m'):
        n = mass_function.massFunction(x, z, q_in='M', q_out='dndlnM', mdef=sphere, model=model,
                                       ps_args={'model': 'eisenstein98_zb'})
        above = np.cumsum((n * np.log(x[1] / x[0]))[::-1])[::-1] * SIDE ** 3
        edges = LEAST * PARTICLE * 10 ** (STEP * np.arange(5))
        print("'%s': (%s)," % (model, ', '.join('%.1f' % a for a in np.interp(edges, x, above))))


def friends(x, ids, link, least):
    """Members of each group, as sorted ids, by smallest id, from pyfof, which knows no periodic
    box, for the points and their images near the boundary."""
    import pyfof
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    n, points, who = len(x), [x], [np.arange(len(x))]
    for shift in np.ndindex(3, 3, 3):
        if shift == (1, 1, 1):
            continue
        y = x + np.array(shift) - 1
        near = np.all((y > -1.01 * link) & (y < 1 + 1.01 * link), axis=1)
        points.append(y[near])
        who.append(np.flatnonzero(near))
    who = np.concatenate(who)
    groups = pyfof.friends_of_friends(np.ascontiguousarray(np.concatenate(points)), link)
    label = np.zeros(len(who), int)
    for k, group in enumerate(groups):
        label[group] = k
    graph = coo_matrix((np.ones(len(who)), (who, n + label)), shape=(n + len(groups),) * 2)
    group = connected_components(graph, directed=False)[1][:n]
    order = np.lexsort((ids, group))
    parts = np.split(ids[order], np.flatnonzero(np.diff(group[order])) + 1)
    return {g[0]: list(g) for g in parts if len(g) >= least}


def beside_fits(v, h):
    n, unit = h['members'], PARTICLE * h['members'] / h['mass']
    masses = {'crocce10': PARTICLE * n * (1 - n ** -0.6), 'tinker08': h['m200m'] * unit}
    for fit, m in masses.items():
        for k, wanted in enumerate(FITS[fit]):
            found = int((m > LEAST * PARTICLE * 10 ** (STEP * k)).sum())
            print('     %s: above %.3g Msun/h: %d halos, the fit has %.1f' %
                  (fit, LEAST * PARTICLE * 10 ** (STEP * k), found, wanted))
            v.check('%s, bin %d: deviations of a Poisson number' % (fit, k),
                    abs(found - wanted) / np.sqrt(wanted), 2)


def main():
    import halos
    v = ptah.Verdict()
    source = ptah.ics_64()
    if not source:
        ptah.skip('neither IC64=DIR nor mpgrafic (scripts/install.sh demo)')
    os.makedirs('ics', exist_ok=True)
    if not os.path.exists('ics/ic_64'):
        os.symlink(os.path.abspath(source), 'ics/ic_64')
    path = ptah.simulate(BOX, '.', 1, 1, [], ['-q']).outputs[-1]
    r = halos.inspect('--members', 'members', path)
    v.same('status', (r.status, r.err), (0, ''))
    h = halos.rows(r.out)
    beside_fits(v, h)
    try:
        import pyfof  # noqa: F401
    except ImportError as e:
        print('     not compared with pyfof: %s' % e)
    else:
        _, x, _, ids = halos.particles(path)
        want, got = friends(x, ids, 0.2 / 64, 20), halos.members('members')
        v.same('groups of pyfof', len(got), len(want))
        v.same('their members', all(want.get(g[0]) == g for g in got.values()), True)
    v.end()


if __name__ == '__main__':
    if sys.argv[1:] == ['store']:
        fits(0.988)
    else:
        main()
