#!/usr/bin/env python3
"""ytree opens the trees that inspect --trees --consistent writes, and follows the same progenitors.

    merger_trees.py    trees of groups with a known history (tests/moving_groups.py)

Example of a fault caught: a column whose name does not belong to its values, a line count that is
not that of the trees, comoving lengths that are proper.
"""
# test: tier=check timeout=180
import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import moving_groups as moving  # noqa: E402
import ptah  # noqa: E402

try:
    import ytree
    import yt
except ImportError as e:
    ptah.skip(str(e))


def rows(text):
    lines = [line.split('\t') for line in text.splitlines()]
    names = [w.split(' ')[0].lstrip('#') for w in next(w for w in lines if w[0] == '#id')]
    return {int(w[0]): dict(zip(names, map(float, w))) for w in lines if w[0][0] != '#'}


def branch(table, node):
    """Ids of a node and its main progenitors."""
    out = [node]
    while True:
        main = [i for i, r in table.items() if r['descendant'] == out[-1] and r['main']]
        if not main:
            return out
        out += main


def check_tree(v, table, tree):
    root = int(tree['uid'])
    below = {i for i, r in table.items() if r['root'] == root}
    v.same('%d: nodes' % root, {int(i) for i in tree['tree', 'uid']}, below)
    v.same('%d: main branch' % root, [int(i) for i in tree['prog', 'uid']], branch(table, root))
    for node in tree['tree']:
        row = table[int(node['uid'])]
        v.same('%d: descendant' % node['uid'],
               int(node.descendent['uid']) if node.descendent else -1, row['descendant'])
        v.same('%d: progenitors' % node['uid'], len(list(node.ancestors or ())),
               row['progenitors'])


def check_values(v, table, arbor):
    """Units: ytree has lengths in kpc and masses in Msun."""
    worst = dict.fromkeys(('mass', 'radius', 'place', 'redshift', 'speed'), 0)
    for tree in arbor:
        row = table[int(tree['uid'])]
        a = 1 / (1 + row['redshift'])
        of = {'mass': float(tree['mass'].to('Msun')) / row['mvir'] - 1,
              'radius': float(tree['virial_radius'].to('kpc')) * a / row['rvir'] - 1,
              'place': float(tree['position_y'].to('unitary')) - row['y'],
              'redshift': float(tree['redshift']) - row['redshift'],
              'speed': float(tree['velocity_x'].to('km/s')) / row['vx'] - 1}
        worst = {k: max(worst[k], abs(of[k])) for k in worst}
    for name, x in worst.items():
        v.check(name, x, 3e-6)


def main(v):
    warnings.simplefilter('ignore')
    yt.set_log_level(50)
    paths = moving.write('out', np.random.default_rng(4))
    r = ptah.Run([ptah.program('inspect'), '--trees', '--consistent', 'tree_0_0_0.dat', *paths],
                 '.')
    v.same('status', (r.status, r.err), (0, ''))
    table = rows(r.out)
    arbor = ytree.load('tree_0_0_0.dat')
    roots = [i for i, row in table.items() if row['descendant'] < 0]
    v.same('trees', [int(i) for i in arbor['uid']], roots)
    v.check('box', float(arbor.box_size.to('Mpc/h')) / moving.BOX - 1, 1e-6)
    v.check('cosmology', abs(arbor.omega_matter - 0.3) + abs(arbor.hubble_constant - 0.7), 1e-6)
    arbor.set_selector('max_field_value', 'mmp?')
    for tree in arbor:
        check_tree(v, table, tree)
    check_values(v, table, arbor)


if __name__ == '__main__':
    verdict = ptah.Verdict()
    main(verdict)
    verdict.end()
