"""The stencil solver by the protocol of Pekkilä et al. (2022): all equations at order 6, meshes of
several sizes; nanoseconds a cell and substep, the part of halos, strong scaling over ranks.

    stencil_protocol.py [-r REPEATS] [-c CELLS,…] [-n RANKS,…] [check]

The least of the repeats. Default: 64³ and 128³ cells on one and two ranks, in a minute; 256³ takes
4.2 GB and some minutes. check: 32³ alone. Then what is expected on devices, which nobody has
measured: a step by the work of a device (docs/gpu.md) and the bytes of its halos.
"""
# test: check tier=long timeout=60
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

STEPS, SUBSTEPS, FIELDS, HALO = 8, 3, 8, 3
TIMERS = ('stencil', 'halos')
NAMELIST = """&RUN_PARAMS
solver='stencil'
nstepmax=%d
/
&STENCIL_PARAMS
nx=%d
ny=%d
nz=%d
entropy=.true.
nu=5e-3
eta=4e-3
zeta=1e-3
chi=3e-3
kcond=1e-3
dt_fixed=1e-4
init_u='gaussian'
amp_u=1e-3
init_a='gaussian'
amp_a=1e-3
diag_every=1000
/
"""

# Of a device: nanoseconds a cell and step, the middle of what docs/gpu.md expects of an H100; bytes
# a second of one direction between devices of a node, and of one device to another node, which all
# halos are taken to pass where there are several nodes; devices of a node; seconds of an exchange
# without bytes, assumed. (NVIDIA DGX H100 data sheet: NVLink 900 GB/s in both directions, a network
# port of 400 Gbit/s a device)
CELL, NODE, NETWORK, DEVICES, LATENCY = 0.5, 450e9, 50e9, 8, 20e-6


def measured(cells, ranks):
    """Seconds of the longest rank: substeps, halos."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'run.nml')
        with open(name, 'w') as f:
            f.write(NAMELIST % (STEPS, cells, cells, cells))
        program = os.path.join(ptah.ROOT, 'bin', 'simulate')
        r = ptah.Run(ptah.mpirun(ranks) + [program, name], folder, {'OMP_NUM_THREADS': '1'})
    if r.status != 0:
        sys.exit('%d³ cells on %d ranks: exit status %d: %s' % (cells, ranks, r.status, r.err))
    rows = [line.split() for line in r.err.splitlines()]
    # one rank: seconds, percent, name; several: minimum, average, maximum, percent, name
    skip = 2 if ranks > 1 else 0
    time = {row[-1]: float(row[skip]) for row in rows if len(row) == 3 + skip and row[-1] in TIMERS}
    return time['stencil'], time['halos']


def least(cells, ranks, repeats):
    runs = [measured(cells, ranks) for _ in range(repeats)]
    return min(runs, key=sum)


def measure(sizes, ranks, repeats):
    print('| cells | ranks | ns a cell, substep and rank | halos | times as fast |')
    print('|---|---|---|---|---|')
    for cells in sizes:
        one = None
        for n in ranks:
            work, halos = least(cells, n, repeats)
            one = one or n * (work + halos)
            print('| %d³ | %d | %.1f | %.0f %% | %.2f |'
                  % (cells, n, 1e9 * work * n / (cells**3 * STEPS * SUBSTEPS),
                     100 * halos / (work + halos), one / (work + halos)))


def parts(devices):
    """Parts along each axis, powers of two."""
    p = [1, 1, 1]
    while p[0] * p[1] * p[2] < devices:
        p[p.index(min(p))] *= 2
    return p


def halo_bytes(cells, p):
    """Bytes that a device receives in a substep: faces and edges beyond axes that are cut."""
    own = [cells / k for k in p]
    wide = [2 * HALO if k > 1 else 0 for k in p]
    faces = sum(wide[i] * own[i - 1] * own[i - 2] for i in range(3))
    edges = sum(own[i] * wide[i - 1] * wide[i - 2] for i in range(3))
    return 8 * FIELDS * (faces + edges)


def expected(cells):
    """A step on 1 to 64 devices: milliseconds of work and of halos, and how many times as fast as
    one device if halos travel while cells are computed."""
    one = cells**3 * CELL * 1e-9
    devices = 1
    while devices <= 64:
        speed = NODE if devices <= DEVICES else NETWORK
        halos = 0
        if devices > 1:
            halos = SUBSTEPS * (halo_bytes(cells, parts(devices)) / speed + LATENCY)
        work = one / devices
        print('| %d³ | %d | %.2f | %.2f | %.1f |'
              % (cells, devices, 1e3 * work, 1e3 * halos, one / max(work, halos)))
        devices *= 2


def main():
    numbers = lambda text: [int(n) for n in text.split(',')]  # noqa: E731
    a = argparse.ArgumentParser()
    a.add_argument('-r', dest='repeats', type=int, default=3)
    a.add_argument('-c', dest='cells', type=numbers, default=[64, 128])
    a.add_argument('-n', dest='ranks', type=numbers, default=[1, 2])
    a.add_argument('what', nargs='?', choices=['check'])
    a = a.parse_args()
    if a.what == 'check':
        a.cells, a.ranks, a.repeats = [32], [1, 2], 1
    measure(a.cells, a.ranks, a.repeats)
    print('\nExpected, not measured:\n\n| cells | devices | work, ms | halos, ms | times as fast |')
    print('|---|---|---|---|---|')
    for cells in (256, 512):
        expected(cells)


if __name__ == '__main__':
    main()
