"""Device kernels as compiled by nvcc, checked without a GPU.

    kernels.py ptx      no fused multiply-add of doubles, approximate division or root in the PTX of
                        any kernel, whose results then equal those of the CPU
    kernels.py host     none in the objects of the C files, on x86-64 and ARM, where gcc 12 may add
                        some unasked (Makefile)
    kernels.py resources [ARCH...]
                        for sm_80, sm_90, sm_100 (or those named): no warnings; registers, stack,
                        spills, shared memory and occupancy of each kernel from the compiler's
                        report, within the limits below

Skipped without nvcc, or objdump. Example of a fault caught: nvcc without -fmad=false; an array in
a kernel that is indexed by a variable, and so lives in memory.
"""
# test: ptx tier=check timeout=240
# test: host tier=check timeout=120
# test: resources tier=long timeout=900 ranks=2
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

# Max registers, bytes of stack and of spills, min occupancy in percent, by prefix of the kernel
# name; other kernels: OTHERS. For godunov, half occupancy with blocks of 512 threads was measured
# to be slower (docs/gpu.md); sm_80 has shared memory for only one block per multiprocessor.
# gas_missing interpolates all variables of seven cells, for few octs. parts_kick and parts_move
# process the eight cells of a cloud at once. gas_moments, gas_mass and phi_energy have one oct per
# thread, phi_guess and phi_beyond eight cells: all are limited by memory. The stack of gas_restrict
# and parts_* is that of sm_100. Lines of fourier_* fill shared memory. gas_cool holds ten rates
# with their slopes. The stack of mhd_step is for cells beyond boundaries; Roe's solver spills, and
# so has a kernel of its own. Lists of smooth_density fill shared memory. fd_step_* have a
# stage of the equations in registers, at order 8 not all of it. cells_* have arrays of the groups
# of photons, whose number only the run knows, in memory.
LIMITS = {'fd_step': (128, 448, 2000, 25), 'fd_speed': (128, 0, 0, 25),
          'godunov': (80, 400, 400, 18),
          'births_find': (72, 0, 0, 37), 'small_flag': (80, 0, 0, 37),
          'gas_missing': (128, 5400, 0, 25),
          'gas_steep': (96, 0, 0, 25), 'gas_restrict': (72, 32, 0, 37),
          'gas_totals': (128, 0, 0, 25),
          'mhd_step_roe': (128, 2600, 3600, 25), 'mhd_step': (128, 2100, 64, 25),
          'mhd_created': (104, 5400, 0, 25), 'mhd_missing': (104, 5400, 0, 25),
          'mhd_restricted': (104, 64, 0, 25), 'mhd_speeds': (72, 64, 0, 37),
          'mhd_steep': (128, 1300, 0, 25), 'mhd_totals': (128, 64, 200, 25),
          'mhd_divergence': (72, 0, 0, 37),
          'gas_created': (128, 5400, 0, 25), 'gas_cool': (128, 64, 72, 25),
          'parts_deposit': (96, 64, 0, 25), 'parts_kick': (128, 96, 0, 25),
          'parts_move': (128, 96, 0, 25),
          'gas_moments': (128, 0, 0, 25), 'gas_mass': (80, 0, 0, 37),
          'smooth_density': (128, 0, 0, 18), 'smooth_forces': (128, 32, 64, 25),
          'smooth_pairs': (112, 0, 0, 25), 'sph_': (112, 0, 0, 25),
          'photons_glf': (80, 64, 0, 18), 'photons_hll': (80, 64, 0, 18),
          'photons_missing': (72, 80, 0, 37), 'photons_left': (96, 128, 0, 25),
          'photons_drop': (64, 24, 0, 50), 'photons_shine': (88, 32, 0, 25),
          'photons_confine': (88, 0, 0, 25), 'cells_': (128, 2112, 300, 25),
          'fourier': (96, 0, 0, 25), 'near_fill': (80, 0, 0, 37),
          'phi_guess': (80, 64, 0, 37), 'phi_beyond': (80, 64, 0, 37), 'phi_energy': (96, 0, 0, 25)}
OTHERS = (64, 0, 0, 50)

# Per multiprocessor: registers, warps, blocks, bytes of shared memory (CUDA C++ Programming Guide,
# table of technical specifications by compute capability).
MACHINES = {'sm_80': (65536, 64, 32, 164 << 10), 'sm_90': (65536, 64, 32, 228 << 10),
            'sm_100': (65536, 64, 32, 228 << 10)}

# div.rn and sqrt.rn round as in IEEE 754.
FORBIDDEN = re.compile(r'\b(?:fma\.\w+\.f64|mad\.\w+\.f64|(?:div|sqrt|rcp)\.(?:full|approx)\S*|'
                       r'\w+\.\S*ftz\S*)')


def nvcc():
    path = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
    if not path:
        ptah.skip('there is no nvcc')
    return path


def flags():
    """nvcc flags of the build."""
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


# fused multiply-add of doubles: vfmadd231sd …; fmadd, fmla …
FUSED = re.compile(r'\t(vfn?m(?:add|sub)\w*|fn?m(?:add|sub)|fml[as])\s')
# The source asks for these: rounding errors of products, by which HLLC compares quotients exactly.
ASKED = re.compile(r'flux\.o vfmsub\w+[ps]d$')


def check_host(v):
    if not shutil.which('objdump'):
        ptah.skip('there is no objdump')
    library = os.path.join(ptah.ROOT, 'build', 'libptah.a')
    names = subprocess.run(['ar', 't', library], capture_output=True, text=True).stdout.split()
    r = subprocess.run(['objdump', '-d', '--no-show-raw-insn', library], capture_output=True,
                       text=True)
    v.same('objdump', r.returncode, 0)
    v.same('there are objects', len(names) > 100, True)
    where, bad = None, set()
    for line in r.stdout.splitlines():
        m = re.match(r'(\S+\.o): +file format', line)
        where = m[1] if m else where
        m = FUSED.search(line)
        if m and not ASKED.match('%s %s' % (where, m[1])):
            bad.add((where, m[1]))
    v.same('objects with fused operations', sorted(bad), [])


def shapes(source):
    """Threads per block and bytes of shared memory by kernel, which ptxas does not report if set at
    launch."""
    compile_kernels(source, 'kernels.ptx', ['-ptx', '-arch=compute_80'])
    with open('kernels.ptx') as f:
        text = f.read()
    threads = {plain(k): int(n) for k, n in re.findall(
        r'\.entry (\w+)\(.*?\.maxntid (\d+)', text, re.S)}
    shared = {k: int(n) for k, n in re.findall(r'\.u32 (\w+)_shared = (\d+)', text)}
    return {k: (threads[k], shared[k]) for k in threads}


def occupancy(machine, registers, threads, shared):
    """(percent of the warps that fit, limiting resource)"""
    all_registers, warps, blocks, bytes_ = MACHINES[machine]
    per_block = threads // 32
    by = {'warps': warps // per_block, 'blocks': blocks,
          'registers': all_registers // (-(-registers // 8) * 8 * 32 * per_block),
          'shared memory': bytes_ // (shared + 1024)}
    least = min(by, key=by.get)
    return 100 * by[least] * per_block // warps, least


def plain(symbol):
    """Name of a kernel from its mangled function name."""
    m = re.match(r'_Z(\d+)(\w+)', symbol)
    return m[2][:int(m[1])]


def limits(kernel):
    return next((x for name, x in LIMITS.items() if kernel.startswith(name)), OTHERS)


def report(text):
    """(kernel, architecture, registers, stack, spills) of each compiled kernel."""
    entry = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'(.*?)Used (\d+) registers",
                       re.S)
    for m in entry.finditer(text):
        stack, stores, loads = (int(x) for x in re.search(
            r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads',
            m[3]).groups())
        yield plain(m[1]), m[2], int(m[4]), stack, stores + loads


def check_resources(v, machines):
    rows, shape = [], {}
    for source in sources():
        shape.update(shapes(source))
        for machine in machines:
            number = machine[3:]
            status, text = compile_kernels(source, 'kernels.o', [
                '-c', '-Xptxas', '-v', '-gencode', 'arch=compute_%s,code=sm_%s' % (number, number)])
            v.same('%s: compiles for %s' % (os.path.basename(source), machine), status, 0)
            v.same('warnings', re.findall(r'.*warning.*', text), [])
            rows += report(text)
    print('| kernel | machine | threads | registers | stack | spilled | shared | occupancy |'
          ' limited by |')
    print('|---|---|---|---|---|---|---|---|---|')
    for kernel, machine, registers, stack, spilled in sorted(rows):
        percent, limit = occupancy(machine, registers, *shape[kernel])
        print('| `%s` | %s | %d | %d | %d | %d | %d | %d %% | %s |' %
              (kernel, machine, shape[kernel][0], registers, stack, spilled, shape[kernel][1],
               percent, limit))
    for kernel, machine, registers, stack, spilled in sorted(rows):
        most, most_stack, most_spilled, least = limits(kernel)
        name = '%s, %s' % (kernel, machine)
        percent = occupancy(machine, registers, *shape[kernel])[0]
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
    elif sys.argv[1] == 'host':
        check_host(v)
    else:
        check_resources(v, sys.argv[2:] or sorted(MACHINES))
    v.end()


if __name__ == '__main__':
    main()
