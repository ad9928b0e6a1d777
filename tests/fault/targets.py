"""Programs that write the same file: each uses a temporary name of its own until the file is
complete. A link or a file of another name is never written into; two programs with one target write
complete files one after the other; a program that is killed or fails at any call leaves the old
file or the new one, and the next program removes leftovers of a killed one.

    targets.py links      existing files and links, and concurrent writers
    targets.py some       a subset of this, with three programs
    targets.py kill       SIGKILL instead of each call that changes the disk
    targets.py fail       each of these calls fails

Example of a fault caught: a temporary file that is opened without O_EXCL, or that stays.
"""
# test: some tier=quick timeout=60
# test: links tier=check timeout=200
# test: kill tier=check timeout=300
# test: fail tier=check timeout=300
import glob
import os
import shutil
import subprocess
import sys

import h5py

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import faults  # noqa: E402
import inputs  # noqa: E402
import ptah  # noqa: E402

GIVEN = '../run/output_00001'
ALL = ['kill', 'tear']
# Outputs: the target, and the command that writes it in an empty folder.
WRITERS = {
    'map': ('m.png', ['inspect', '-m', 'density', '-o', 'm.png', GIVEN]),
    'array': ('m.npy', ['inspect', '-m', 'density', '-o', 'm.npy', GIVEN]),
    'drawing': ('m.svg', ['inspect', '-m', 'density', '-o', 'm.svg', GIVEN]),
    'diagram': ('p.tsv', ['inspect', '--phase', '-o', 'p.tsv', GIVEN]),
    'members': ('ids', ['inspect', '--halos', '--min', '5', '--members', 'ids', GIVEN]),
    'page': ('page', ['inspect', '--campaign', '--html', 'page', '../run']),
    'spectra': ('d/pk_00001.tsv', ['pk', '--mesh', '8', '-o', 'd', GIVEN]),
    'plot': ('pk.png', ['pk', '--mesh', '8', '--plot', 'pk.png', GIVEN]),
    'cooling table': ('table', ['convert', '--cooling-table', '--points', '4,4,8', '-o', 'table',
                                GIVEN]),
    'cube': ('c.npy', ['convert', '-f', 'npy', '-o', 'c.npy', GIVEN]),
    'cube in HDF5': ('c.h5', ['convert', '-f', 'hdf5', '--level', '3', '-o', 'c.h5', GIVEN]),
    'octree': ('t.htg', ['convert', '-f', 'vtk', '-o', 't.htg', GIVEN]),
    'Gadget': ('snap', ['convert', '-f', 'gadget', '-o', 'snap', GIVEN]),
    'Gadget, 3 files': ('snap.1', ['convert', '-f', 'gadget', '--files', '3', '-o', 'snap',
                                   GIVEN]),
    'mask': ('ics/level_003/ic_pvar_00006', ['genzoom', '--sphere', '.5,.5,.5,.2', 'ics']),
    'points': ('traced', ['genzoom', '--trace', GIVEN, '--from', GIVEN, '--center', '.5,.5,.5',
                          '--radius', '.4', '-o', 'traced', '--force', 'ics'])}
SOME = ['map', 'Gadget, 3 files', 'mask']
MANY = 6  # number of concurrent programs


def fresh():
    shutil.rmtree('now', ignore_errors=True)
    os.mkdir('now')
    os.mkdir('now/d')
    shutil.copytree('ics', 'now/ics')


def start(argv, force, env=None):
    argv = [ptah.program(argv[0]), *(['--force'] if force else []), *argv[1:]]
    return subprocess.Popen(argv, cwd='now', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **ptah.ENVIRONMENT, 'OMP_NUM_THREADS': '1',
                                 **(env or {})})


def run(argv, force=False, env=None):
    p = start(argv, force, env)
    _, err = ptah.wait_patiently(lambda s: p.communicate(timeout=s), 30)
    return p.returncode, [s for s in err.splitlines() if s.startswith(argv[0] + ': ')]


def files():
    """name → content of all files in the folder, without the given initial conditions."""
    found = {}
    for folder, _, names in os.walk('now'):
        for name in names:
            path = os.path.join(folder, name)
            kept = os.path.join('ics', os.path.relpath(path, 'now/ics'))
            if not path.startswith('now/ics/') or not os.path.exists(kept):
                found[os.path.relpath(path, 'now')] = content(path)
    return found


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def content(path):
    """The bytes of a file; the datasets of an HDF5 file, whose history has the date and --force."""
    try:
        if path.endswith('.h5'):
            with h5py.File(path) as f:
                return {name: d[()].tobytes() for name, d in f.items()}
    except OSError:
        pass  # it is damaged
    return read(path)


def links(v, name, target, argv):
    fresh()
    status, err = run(argv)
    whole = files()
    v.same('%s: status, files' % name, (status, target in whole), (0, True))
    inputs.put('victim', b'precious')
    for ending in '.part', '.tmp':
        fresh()
        os.symlink(os.path.abspath('victim'), 'now/' + target + ending)
        status, err = run(argv)
        found = files()
        v.same('%s: a link %s' % (name, ending),
               (status, found.pop(target + ending), found == whole), (0, b'precious', True))
    # a file with the name of a mask must be a mask
    precious = whole[target] if name == 'mask' else b'precious'
    inputs.put('victim', precious)
    fresh()
    os.symlink(os.path.abspath('victim'), 'now/' + target)
    if '--force' not in argv and name != 'Gadget, 3 files':
        status, err = run(argv)
        v.same('%s: a link of its name, kept' % name,
               (status, len(err), '; --force' in ''.join(err)), (2, 1, True))
    status, err = run(argv, force=True)
    v.same('%s: a link of its name, replaced' % name,
           (status, os.path.islink('now/' + target), files() == whole, read('victim')),
           (0, False, True, precious))
    fresh()
    together = [start(argv, True) for _ in range(MANY)]
    ends = [ptah.wait_patiently(lambda s, p=p: p.communicate(timeout=s), 60)[1]
            for p in together]
    # a set of files may be overtaken by another writer while it is renamed
    good = [0, 2] if 'files' in name or name == 'mask' else [0]
    v.same('%s: %d at once' % (name, MANY),
           ([e for p, e in zip(together, ends) if p.returncode not in good], files() == whole),
           ([], True))


def calls_of(argv, force):
    """Environment of the shim, and the number of calls."""
    there = os.path.abspath('now')
    log = os.path.abspath('calls')
    if os.path.exists(log):
        os.remove(log)
    env = {'LD_PRELOAD': faults.SHIM, 'FAULT_DIR': there}
    status, err = run(argv, force, {**env, 'FAULT_AT': '0', 'FAULT_LOG': log})
    if not os.path.exists(log):
        return env, []
    with open(log) as f:
        return env, [line.split()[1] for line in f]


def absolute(argv):
    """The shim knows paths as the program names them."""
    def full(word):
        return os.path.abspath('now/' + word)
    targets = {'m.png', 'm.npy', 'm.svg', 'p.tsv', 'ids', 'page', 'd', 'pk.png', 'table', 'snap',
               'ics', 'traced', 'c.npy', 'c.h5', 't.htg'}
    return [full(word) if word in targets else word for word in argv]


def trouble(v, name, target, argv, kinds):
    argv = absolute(argv)
    fresh()
    run(argv)
    whole = files()
    fresh()
    env, calls = calls_of(argv, True)
    v.same('%s: it is watched' % name, len(calls) > 3 or name == 'cooling table', True)
    for kind in kinds:
        for at in range(1, len(calls) + 1):
            fresh()
            status, err = run(argv, True, {**env, 'FAULT_AT': str(at), 'FAULT_KIND': kind})
            found = files()
            partial = [p for p in found if not p.endswith('.part') and found[p] != whole.get(p)]
            left = [p for p in found if p.endswith('.part')]
            what = '%s: %s at call %d, %s' % (name, kind, at, calls[at - 1])
            good = (partial, left if kind not in ALL else [])
            if good != ([], []) or kind not in ALL and (status, len(err)) not in ((2, 1), (0, 0)):
                v.same(what, (status, err, good), (2, 'a sentence', ([], [])))
            status, err = run(argv, True)
            if (status, files() == whole) != (0, True):
                v.same(what + ', and again', (status, err, sorted(files())), (0, [], sorted(whole)))
    v.same('%s: %d calls' % (name, len(calls)), v.failed, 0)


def main():
    v = ptah.Verdict()
    faults.build_shim()
    inputs.good_ics()
    os.mkdir('level_003')
    for path in glob.glob('ics/*'):
        os.rename(path, 'level_003/' + os.path.basename(path))
    os.rename('level_003', 'ics/level_003')
    text = inputs.edit(inputs.COSMO, "'ics'", "'ics/level_003'")
    inputs.put('run.nml', (text + '&PHYSICS_PARAMS\ncooling=.true.\n/\n').encode())
    ptah.simulate(os.path.abspath('run.nml'), '.', options=['-q', '-o', 'run'])
    for name, (target, argv) in WRITERS.items():
        if sys.argv[1] == 'links' or sys.argv[1] == 'some' and name in SOME:
            links(v, name, target, argv)
        elif sys.argv[1] != 'some':
            kinds = ALL if sys.argv[1] == 'kill' else ['ENOSPC', 'EIO', 'short', 'EINTR']
            trouble(v, name, target, argv, kinds)
    v.end()


if __name__ == '__main__':
    main()
