"""Predicts the time of a coarse step of two codes on clusters: docs/scaling.md, "Clusters".

    predict.py sedov-amr CHECKPOINT | cosmo-amr CHECKPOINT | weak CHECKPOINT
               [-m MACHINE] [-n NODES,…] [-c ramses|ptah] [-r RANKS] [-t THREADS]
    predict.py real CHECKPOINT NAMELIST [-n RANKS,…] [-l LATENCY,…] [-s STEPS]

sedov-amr: gas on levels 5 to 10 of one step each, a checkpoint of RAMSES's benchmark of that name;
cosmo-amr: dark matter, levels 6 to 10 of a checkpoint, 4^3 copies side by side as levels 8 to 12.
A table on stdout: milliseconds of a step, efficiency relative to the first number of nodes, and the
mean over ranks of work, of ghosts (packing and computing), of calls for messages, and of waits.
RAMSES's efficiencies are beside the published ones. -r: ranks of a node (default: its cores over
THREADS), each with THREADS threads, whose efficiency is taken as 1 / (1 + 0.0125 (THREADS - 1)).

weak: gas and dark matter, RANKS ranks for a box, 1, 8, … 8^THREADS boxes and ranks in proportion,
then all these boxes on the ranks of -n. 64 ranks share a node and an adapter of 100 Gb/s.

real: resumes a run of gas on each number of ranks with injected latencies (seconds;
tests/scale/slow.h), each rank with a core and a network of its own clock, and compares its median
step with the model.
The first line gives the speed of a core, from which the model predicts all others.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ptah  # noqa: E402
from codes import Case, Ptah, Ramses, coarse_step  # noqa: E402
from network import Clock, Machine, mesh_on, replace  # noqa: E402

# Cores of a node, speed of a core beside those here with all cores of a node at work, for gas and
# for dark matter: RAMSES's published times of uniform meshes of 1024^3 on one node (May 2026: sedov
# 134.1 and 102.4 s for 20 steps, cosmo 269.4 and 223.6 s for 10) over its time here (0.845 and 1.5
# us a cell). Adapters: HDR and NDR200.
MACHINES = {'meluxina': (Machine('meluxina', 128, 1.06), 0.47),
            'marenostrum': (Machine('marenostrum', 112, 1.58), 0.64)}
# Published efficiencies of RAMSES, 2026-05, MPI only (2024-10 in brackets in docs/scaling.md).
PUBLISHED = {('meluxina', 'sedov-amr'): {2: 0.595, 4: 0.272},
             ('marenostrum', 'sedov-amr'): {2: 0.487, 4: 0.185},
             ('meluxina', 'cosmo-amr'): {2: 0.795, 4: 0.547, 8: 0.292, 16: 0.110},
             ('marenostrum', 'cosmo-amr'): {2: 0.784, 4: 0.455, 8: 0.233, 16: 0.094}}
CODES = {'ramses': Ramses, 'ptah': Ptah}
CASES = {'sedov-amr': (['-u', '1'], {'base': 5, 'cycles': (1,), 'gas': True, 'parts': False,
                                     'expand': 0}),
         'cosmo-amr': (['-u', '1,2,2,2,2', '-t', '2'],
                       {'base': 8, 'cycles': (1, 2), 'gas': False, 'parts': True})}
THREAD_LOSS = 0.0125
KINDS = ('work', 'ghosts', 'messages', 'waits')


def clock_of(machine, code, nodes, each):
    return Clock(machine, nodes * each, each, windows=code is Ptah, gates=code is Ptah)


def predict(machine, code, mesh, nodes, each, case):
    """(seconds of a coarse step, seconds by kind)"""
    return coarse_step(code(clock_of(machine, code, nodes, each), Case(mesh, **case)))


def tell(what, checkpoint, options):
    mesh_options, case = CASES[what]
    usual = '1,2,4' if case['gas'] else '1,2,4,8,16'
    nodes = [int(n) for n in options.get('-n', usual).split(',')]
    threads = int(options.get('-t', 1))
    print('machine\tcode\tnodes\tranks\tms\tefficiency\tpublished\t' + '\t'.join(KINDS))
    for name, (machine, dark) in MACHINES.items():
        if options.get('-m', name) != name:
            continue
        each = int(options.get('-r', machine.cores // threads))
        speed = machine.speed if case['gas'] else dark
        machine = replace(machine, speed=speed * threads / (1 + THREAD_LOSS * (threads - 1)),
                          copy=machine.copy * threads)
        for kind, code in CODES.items():
            if options.get('-c', kind) != kind:
                continue
            first = None
            for n in nodes:
                mesh = mesh_on(n * each, checkpoint, *mesh_options, *code.ORDER)
                seconds, spent = predict(machine, code, mesh, n, each, case)
                first = first or seconds * nodes[0]
                known = PUBLISHED[name, what].get(n) if code is Ramses else None
                print('%s\t%s\t%d\t%d\t%.3f\t%.3f\t%s\t%s' % (
                    name, kind, n, n * each, 1e3 * seconds, first / n / seconds, known or '-',
                    '\t'.join('%.3f' % (1e3 * spent[k]) for k in KINDS)), flush=True)


def weak(checkpoint, options):
    """Gas and dark matter: copies of the box on ranks in proportion, and the largest box on other
    numbers of ranks."""
    machine = Machine('kim', 64, 1.0, adapter=12.5e9)
    each, tiles = int(options.get('-r', 1)), int(options.get('-t', 2))
    pairs = [(t, each * 8 ** t) for t in range(tiles + 1)]
    pairs += [(tiles, int(n)) for n in options['-n'].split(',')] if '-n' in options else []
    print('boxes\tranks\tms\tms of a rank and box\t' + '\t'.join(KINDS))
    for tile, ranks in pairs:
        mesh = mesh_on(ranks, checkpoint, '-u', '1,1,2,2', '-t', str(tile), *Ptah.ORDER)
        case = Case(mesh, 6 + tile, (1, 1, 2), True, True, remap=5)
        clock = Clock(machine, ranks, min(ranks, 64), windows=True, gates=True)
        seconds, spent = coarse_step(Ptah(clock, case))
        print('%d\t%d\t%.2f\t%.2f\t%s' % (
            8 ** tile, ranks, 1e3 * seconds, 1e3 * seconds * ranks / 8 ** tile,
            '\t'.join('%.2f' % (1e3 * spent[k]) for k in KINDS)), flush=True)


# ---- real ranks ----

def slow_run(library, checkpoint, namelist, ranks, latency, steps):
    """Seconds of the steps of a run on ranks with a core each."""
    shutil.rmtree('out', ignore_errors=True)
    settings = ['run_params/nremap=0', 'run_params/exchange_shared=.false.',
                'run_params/exchange_method=p2p', 'run_params/exchange_letters=0',
                'run_params/ordering=hilbert', 'run_params/nstepmax=%d' % steps]
    r = ptah.Run(ptah.mpirun(ranks) + [ptah.program('simulate'), '-q', '-r', checkpoint, '-o',
                                      'out', namelist, *settings], '.',
                 {'OMP_NUM_THREADS': '1', 'LD_PRELOAD': library, 'SLOW_TABLE': 'slow.txt',
                  'SLOW_LATENCY': latency, 'OMPI_MCA_mpi_yield_when_idle': '1'})
    if r.status != 0:
        sys.exit(r.said()[-2000:])
    with open('slow.txt') as f:
        return [float(x) for x in f][1:]


def real(checkpoint, namelist, options):
    library = os.path.abspath('slow.so')
    subprocess.check_call(['mpicc', '-shared', '-fPIC', '-O2', '-w', '-o', library,
                           '-x', 'c', os.path.join(ptah.ROOT, 'tests', 'scale', 'slow.h')])
    r = ptah.Run([ptah.program('inspect'), '-j', checkpoint], '.')
    steps = int(options.get('-s', 10)) + int(re.search(r'"nstep_coarse": *(\d+)', r.out)[1])
    mesh_options, settings = CASES['sedov-amr']
    latencies, speed = options.get('-l', '0,0.0001,0.001').split(','), None
    print('ranks\tlatency\trun ms\tmodel ms\terror')
    for ranks in map(int, options.get('-n', '2,3,4,5,6,8').split(',')):
        mesh = mesh_on(ranks, checkpoint, *mesh_options, '-d', 'hilbert')
        for latency in latencies:
            run = statistics.median(slow_run(library, checkpoint, namelist, ranks, latency, steps))
            machine = replace(Machine('', ranks, speed or 1.0).ideal(),
                              latency=(float(latency),) * 2)
            case = Case(mesh, **dict(settings, remap=0))
            model, _ = coarse_step(Ptah(Clock(machine, ranks, ranks), case))
            if speed is None:
                speed = model / run
                print('# speed of a core %.3f' % speed)
                model = run
            print('%d\t%s\t%.2f\t%.2f\t%+.2f' % (ranks, latency, 1e3 * run, 1e3 * model,
                                                model / run - 1), flush=True)


def main():
    options, words = ptah.options(__doc__, 'm:n:c:r:t:l:s:')
    if len(words) == 3 and words[0] == 'real':
        real(os.path.abspath(words[1]), words[2], options)
    elif len(words) == 2 and words[0] in CASES:
        tell(*words, options)
    elif len(words) == 2 and words[0] == 'weak':
        weak(words[1], options)
    else:
        sys.exit(__doc__.strip())


if __name__ == '__main__':
    main()
