"""Kernels of devices as nvcc compiles them: what can be known of them without a GPU.

    kernels.py ptx      no fused multiply-add of doubles, approximate division or root in the PTX of
                        any kernel: its bits are those of the CPU
    kernels.py resources [ARCH...]
                        for sm_80, sm_90, sm_100 (or those named): no warnings; registers, stack,
                        spills, shared memory and occupancy of each kernel from the compiler's
                        report, within the limits below

Skipped without nvcc. A one-line fault it catches: nvcc without -fmad=false; an array in a kernel
that is indexed by a variable, and so lives in memory.
"""
# test: ptx tier=check timeout=240
# test: resources tier=long timeout=900 ranks=2
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

# Most registers, bytes of stack and of spills, least occupancy in percent, by kernel; others:
# OTHERS.
# godunov holds the slopes of ten states at a time: with half as many registers it would live in
# memory (docs/gpu.md). gas_missing interpolates all variables of seven cells, for few octs.
LIMITS = {'godunov': (128, 64, 200, 25), 'godunov_bounded': (128, 600, 200, 25),
          'gas_missing': (128, 5400, 0, 25)}
OTHERS = (64, 0, 0, 50)
THREADS = 256  # of each block: hydro/kernels.h

# Of a multiprocessor: registers, warps, blocks, bytes of shared memory. (CUDA C++ Programming
# Guide, table of technical specifications by compute capability)
MACHINES = {'sm_80': (65536, 64, 32, 164 << 10), 'sm_90': (65536, 64, 32, 228 << 10),
            'sm_100': (65536, 64, 32, 228 << 10)}

# div.rn and sqrt.rn round as IEEE 754 has it.
FORBIDDEN = re.compile(r'\b(?:fma\.\w+\.f64|mad\.\w+\.f64|(?:div|sqrt|rcp)\.(?:full|approx)\S*|'
                       r'\w+\.\S*ftz\S*)')


def nvcc():
    path = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
    if not path:
        ptah.skip('there is no nvcc')
    return path


def flags():
    """Those of the build."""
    with open(os.path.join(ptah.ROOT, 'config.mk')) as f:
        text = f.read()
    return re.search(r'^NVFLAGS\s*:?=(.*)$', text, re.M)[1].split()


def sources():
    return sorted(glob.glob(os.path.join(ptah.ROOT, 'lib', '*', '*_kernel.c')))


def compile_kernels(source, out, more):
    argv = [nvcc(), '-x', 'cu', *flags(), '-D_GNU_SOURCE', '-I' + os.path.join(ptah.ROOT, 'lib'),
            *more, source, '-o', out]
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        print(' '.join(argv) + '\n' + r.stdout)
    return r.returncode, r.stdout


def check_ptx(v):
    found = 0
    for source in sources():
        name = os.path.basename(source)
        status, _ = compile_kernels(source, 'kernels.ptx', ['-ptx', '-arch=compute_80'])
        v.same('%s: compiles' % name, status, 0)
        with open('kernels.ptx') as f:
            text = f.read()
        found += len(re.findall(r'^\s*(?:\.visible )?\.entry', text, re.M))
        doubles = re.findall(r'\b(?:add|mul)\.\w*\.?f64', text)
        v.same('%s: instructions of other bits (of %d adds and multiplies of doubles)' %
               (name, len(doubles)), sorted(set(FORBIDDEN.findall(text))), [])
    v.same('kernels are found', found >= 9, True)


def occupancy(machine, registers, shared):
    """Percent of the warps that fit, and what limits them."""
    all_registers, warps, blocks, bytes_ = MACHINES[machine]
    per_block = THREADS // 32
    by = {'warps': warps // per_block, 'blocks': blocks,
          'registers': all_registers // (-(-registers // 8) * 8 * 32 * per_block),
          'shared memory': bytes_ // (shared + 1024)}
    least = min(by, key=by.get)
    return 100 * by[least] * per_block // warps, least


def report(text):
    """(kernel, architecture, registers, stack, spilled, shared) of each kernel compiled."""
    entry = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'(.*?)Used (\d+) registers"
                       r'([^\n]*)', re.S)
    for m in entry.finditer(text):
        name = re.match(r'_Z(\d+)(\w+)', m[1])
        stack, stores, loads = (int(x) for x in re.search(
            r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads',
            m[3]).groups())
        shared = re.search(r'(\d+) bytes smem', m[5])
        yield (name[2][:int(name[1])], m[2], int(m[4]), stack, stores + loads,
               int(shared[1]) if shared else 0)


def check_resources(v, machines):
    rows = []
    for source in sources():
        for machine in machines:
            number = machine[3:]
            status, text = compile_kernels(source, 'kernels.o', [
                '-c', '-Xptxas', '-v', '-gencode', 'arch=compute_%s,code=sm_%s' % (number, number)])
            v.same('%s: compiles for %s' % (os.path.basename(source), machine), status, 0)
            v.same('warnings', re.findall(r'.*warning.*', text), [])
            rows += report(text)
    print('| kernel | machine | registers | stack | spilled | shared | occupancy | limited by |')
    print('|---|---|---|---|---|---|---|---|')
    for kernel, machine, registers, stack, spilled, shared in sorted(rows):
        percent, limit = occupancy(machine, registers, shared)
        print('| `%s` | %s | %d | %d | %d | %d | %d %% | %s |' %
              (kernel, machine, registers, stack, spilled, shared, percent, limit))
    for kernel, machine, registers, stack, spilled, shared in sorted(rows):
        most, most_stack, most_spilled, least = LIMITS.get(kernel, OTHERS)
        name = '%s, %s' % (kernel, machine)
        percent = occupancy(machine, registers, shared)[0]
        v.same(name + ': spilled %d, at most %d' % (spilled, most_spilled),
               spilled <= most_spilled, True)
        v.same(name + ': registers %d, at most %d' % (registers, most), registers <= most, True)
        v.same(name + ': stack %d, at most %d' % (stack, most_stack), stack <= most_stack, True)
        v.same(name + ': occupancy %d, at least %d' % (percent, least), percent >= least, True)
    v.same('kernels are found', len(rows) >= 9 * len(machines), True)


def main():
    v = ptah.Verdict()
    if sys.argv[1] == 'ptx':
        check_ptx(v)
    else:
        check_resources(v, sys.argv[2:] or sorted(MACHINES))
    v.end()


if __name__ == '__main__':
    main()
