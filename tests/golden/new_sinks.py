"""Sinks that form from clumps, compared with RAMSES (stable, October 2024, 2 ranks): its file
sink_00002.csv after five coarse steps.

    new_sinks.py collapse   criteria of low-mass stars, with checks of energies
    new_sinks.py core       without these, clumps cut around their peaks
    new_sinks.py holes      black holes in clusters, one for each halo

Example of a fault caught: a second sink beside the first, a seed taken with another weight or not
at all, a sink in the middle of a cell instead of at the peak.
"""
# test: collapse tier=check timeout=100
# test: core tier=check timeout=100
# test: holes tier=check timeout=100
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import collapse  # noqa: E402
import ptah  # noqa: E402

COLUMNS = ['id', 'msink', 'x', 'y', 'z', 'vx', 'vy', 'vz', 'tform', 'acc_rate', 'rho_gas',
           'cs**2', 'vx_gas', 'vy_gas', 'vz_gas', 'mbh', 'level']
CELL = 2 / 2 ** 6
LIMIT = 1e-6
WANT = {
    'collapse': [
        [1, 7.4864286732E-02, 6.7319167561E-01, 7.3903512161E-01, 5.3963353469E-01,
         -1.4786174897E-01, 2.3680324424E-01, 2.5786510563E-01, 5.4976984938E-02,
         3.6669519063E+00, 5.9228618900E+01, 1.6162369385E-02, -1.1178520534E-01,
         2.2262414088E-01, 1.0753319458E-01, 0, 6],
        [2, 1.4947497311E-02, 1.4862700596E+00, 1.3144403713E+00, 1.4561236489E+00,
         -4.7692927480E-04, -1.0612088837E-01, -8.6342211033E-02, 8.3119784392E-02,
         9.5006547529E-01, 4.2168269633E+01, 6.5942409139E-03, 1.3508212143E-01,
         6.8773896933E-03, -8.8190569658E-02, 0, 6]],
    'core': [
        [1, 1.0454909437E-01, 6.7210855618E-01, 7.3709348854E-01, 5.4620902171E-01,
         -8.4556160551E-02, 2.9428218302E-01, 3.9234121852E-02, 3.1663232529E-02,
         4.5177719117E+00, 9.2969094654E+01, 2.0198716392E-02, -1.6953050052E-01,
         2.5525838017E-01, 1.9238455644E-01, 0, 6],
        [2, 2.2393129345E-02, 1.4917504515E+00, 1.3214785394E+00, 1.4467796480E+00,
         -1.5495665336E-01, -2.5706866745E-01, 8.5633690344E-02, 7.1439930190E-02,
         1.0982482387E+00, 6.4971277213E+01, 7.0155776432E-03, 5.4956400801E-02,
         -8.6040621729E-02, -3.8292374764E-02, 0, 6]],
    'holes': [
        [1, 1.2993673702E-02, 6.7025526604E-01, 7.3777985561E-01, 5.4882664562E-01,
         -8.7488074544E-02, 2.7463648535E-01, 5.7109872810E-02, 3.1663232529E-02,
         1.2826550122E+00, 5.5982088220E+01, 1.6364215290E-02, -1.0651141362E-01,
         2.2373352277E-01, 9.4098119864E-02, 9.5345094125E-02, 6],
        [2, 1.1758532584E-02, 1.4699780822E+00, 1.3367593571E+00, 1.4737069286E+00,
         2.1402599218E-01, -3.7222503483E-01, -3.2616244293E-01, 3.1663232529E-02,
         3.8756170678E-01, 3.6947995916E+01, 7.1663165546E-03, 1.7913014540E-01,
         -5.9388185793E-02, -1.3049274274E-01, 3.4740226980E-02, 6]]}


def read(path):
    with open(path) as f:
        names = f.readline().lstrip(' #').strip().split(',')
        return [dict(zip(names, map(float, line.split(',')))) for line in f if '#' not in line]


def scale(name, row):
    """Scale relative to which a difference is measured."""
    of = dict(zip(COLUMNS, row))
    if name in ('x', 'y', 'z'):
        return CELL
    if name[0] == 'v':
        return max(abs(of[k]) for k in COLUMNS if k[0] == 'v')
    return abs(of[name])


def main(case):
    v = ptah.Verdict()
    given = dict(collapse.LAW[case], steps=6, every=5)
    out = ptah.simulate(collapse.RUN % given, 'run').outputs[-1]
    got = read(os.path.join(out, 'sink_%s.csv' % out.rstrip('/')[-5:]))
    got = sorted(got, key=lambda r: r['x'])  # ids follow the density in Ptah, the ranks in RAMSES
    v.same('sinks', len(got), len(WANT[case]))
    for ours, theirs in zip(got, WANT[case]):
        for name, value in zip(COLUMNS[1:], theirs[1:]):
            v.check('sink %d: %s, difference' % (theirs[0], name), abs(ours[name] - value),
                    LIMIT * scale(name, theirs))
    v.end()


if __name__ == '__main__':
    main(sys.argv[1])
