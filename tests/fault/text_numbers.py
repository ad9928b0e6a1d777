"""Numbers in the texts of checkpoints are read to their end, or refused with file and line.

    text_numbers.py

In info_NNNNN.txt, header_NNNNN.txt, both descriptors, sink_NNNNN.csv and sink_NNNNN.info, numbers
are followed by letters, have exponents of Fortran, are too long, or absurd; inspect, and inspect -c
where it alone reads them, report each invalid number. Lists of numbers in options are read in the
same way.

Example of a fault caught: strtod whose end pointer is not checked.
"""
# test: tier=check timeout=120
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kills  # noqa: E402
import ptah  # noqa: E402

OUT = 'run/out/output_00001'
INFO, HEADER, SINKS = 'info_00001.txt', 'header_00001.txt', 'sink_00001.csv'
GAS, PART = 'hydro_file_descriptor.txt', 'part_file_descriptor.txt'
EQUAL = ['0.308568000000000E+25', '0.308568000000000D+25', '308.568d22', '+3.08568e24',
         '0.000308568+028', ' 3.08568Q24  ']
NONE = ['3e24cm', '1,5', '3e24 cm', '0x1p82', '1e', '1.2.3', '--1', '', '****', 'NaN', 'Infinity',
        '1e999', '3d', '1;', '1 2']


def copy(name, *edits):
    """A copy without the list of checksums, with edited texts: (file, pattern, replacement)."""
    shutil.rmtree('copy', ignore_errors=True)
    shutil.copytree(OUT, 'copy')
    os.remove('copy/checksums_00001.txt')
    for pattern, by in edits:
        with open('copy/' + name) as f:
            text = f.read()
        new = re.sub(pattern, lambda m: by, text, count=1, flags=re.M)
        if new == text and not re.search(pattern, text, re.M):
            sys.exit('%s: has no %s' % (name, pattern))
        with open('copy/' + name, 'w') as f:
            f.write(new)
    return 'copy'


def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *argv], '.')


def refused(v, what, name, line, *edits, option=()):
    """Expects one sentence with the file and the line; from inspect -c as a finding."""
    r = inspect(*option, copy(name, *edits))
    said = [s for s in (r.out if option else r.err).splitlines() if name in s]
    v.same('%s: status, one sentence, with the line' % what,
           (r.status, len(said), all('line %d' % line in s for s in said)),
           (1 if option else 2, 1, True))


def accepted(v, what, name, *edits, option=('-s',)):
    r = inspect(*option, copy(name, *edits))
    v.same('%s: status' % what, (r.status, r.err), (0, ''))
    return r.out


def set_info(key, value):
    return r'^%-12s=.*' % key, '%-12s=%s' % (key, value)


def info(v):
    units = {accepted(v, 'unit_l=' + x, INFO, set_info('unit_l', x)) for x in EQUAL}
    v.same('the same number in all spellings', len(units), 1)
    with open(OUT + '/' + INFO) as f:
        lines = f.read().split('\n')
    for key in 'unit_l', 'ncpu', 'aexp', 'omega_b', 'time':
        line = 1 + next(i for i, text in enumerate(lines) if text.startswith(key))
        for x in NONE:
            refused(v, '%s=%s' % (key, x), INFO, line, set_info(key, x))
    for key, x in (('aexp', '-2147483648'), ('aexp', '0'), ('unit_t', '-1'), ('ncpu', '1.5'),
                   ('ndim', '4'), ('nstep_coarse', '-1'), ('boxlen', '0')):
        line = 1 + next(i for i, text in enumerate(lines) if text.startswith(key))
        refused(v, '%s=%s' % (key, x), INFO, line, set_info(key, x))
    refused(v, 'aexp=-2147483648 without H0', INFO, 10, set_info('aexp', '-2147483648'),
            (r'^H0 .*\n', ''))
    accepted(v, 'without what nobody needs', INFO, (r'^(aexp|H0|omega_.|time) .*\n', ''))
    first = 1 + next(i for i, text in enumerate(lines) if 'DOMAIN' in text)
    for x in 'x', '1', '2   0.0 1.0', '1   0.0x 1.0', '1 0.0', '1 0.0 1.0 2.0':
        refused(v, 'a row of domains: ' + x, INFO, first + 1, (r'^ +1 .*', '  ' + x)
                ) if x != 'x' else accepted(v, 'no row', INFO, (r'^ +1 .*', x))
    for key, x in (('aexp', '2.0'), ('H0', '70'), ('omega_m', '0.3'), ('time', '7d0')):
        r = inspect('-c', copy(INFO, set_info(key, x)))
        v.same('-c: %s=%s is not that of the binary files' % (key, x),
               (r.status, '%s: is %s' % (key, '%.15g' % float(x.replace('d', 'e'))) in r.out),
               (1, True))


def header(v):
    dm = 'DM'.rjust(13)
    accepted(v, 'asterisks, as RAMSES writes what does not fit', HEADER,
             (r'^ +DM +60', dm + '*' * 10), option=('-c',))
    for x in '60x', '6e1', '60.0', '60 1':
        refused(v, 'particles: ' + x, HEADER, 8, (r'^ +DM +60', dm + x.rjust(10)), option=('-c',))


def descriptors(v):
    for name, third in (GAS, ' 3, velocity_y, d'), (PART, ' 3, position_z, d'):
        for x in ('3x, a, d', '4, a, d', '3.0, a, d', 'a, b', '3 a d', '3', '-3, a, d'):
            refused(v, '%s: %s' % (name, x), name, 5, (r'^%s$' % third, x))
        accepted(v, name + ': comments and blanks', name, (r'^%s$' % third, '\n# 9x\n' + third))
    old = 'nvar        =          5\n' + ''.join(
        'variable #%2d: %s\n' % (i + 1, n) for i, n in enumerate(
            ('density', 'velocity_x', 'velocity_y', 'velocity_z', 'thermal_pressure')))
    accepted(v, 'old form', GAS, (r'\A(.*\n)+', old))
    refused(v, 'old form: 3x', GAS, 4, (r'\A(.*\n)+', old.replace('# 3', '#3x')))


def sinks(v):
    row = r'^ +1,([^,]+),'
    for x in EQUAL[:3]:
        accepted(v, 'mass ' + x, SINKS, (row, '         1,%s,' % x))
    for x in [x for x in NONE if x not in ('NaN', 'Infinity', '1,5', '1 2', '3e24 cm')]:
        refused(v, 'mass ' + x, SINKS, 3, (row, '         1,%s,' % x))
    for x in 'x', '**********', '1.5', '1e99':
        refused(v, 'id ' + x, SINKS, 3, (row, x + ',1.0,'))
    shutil.rmtree('copy')
    shutil.copytree(OUT, 'copy')
    for name in 'checksums_00001.txt', SINKS:
        os.remove('copy/' + name)
    titles = ' Number of sink =  1\n =====\n Id  M[Msol]  x y z vx vy vz\n =====\n'
    for row, status in (('1 2.5D+03 .1 .1 .1 0 0 0', 0), ('1 2.5x .1 .1 .1 0 0 0', 2),
                        ('*** 2.5 .1 .1 .1 0 0 0', 2)):
        with open('copy/sink_00001.info', 'w') as f:
            f.write(titles + row + '\n')
        r = inspect('-s', 'copy')
        v.same('info of sinks: ' + row, (r.status, 'line 5' in r.err), (status, status == 2))


def options(v):
    for x, status in (('box:0,0,0,.5,.5,.5', 0), ('box:0,0,0,5d-1,0.5,0.5', 0),
                      ('box:0,0,0,.5,.5,.5x', 2), ('box:0,0,0,.5,.5', 2), ('box:0,0,0,.5,,.5', 2),
                      ('box:0,0,0,0x1,1,1', 2), ('box:0,0,0,.5,.5,.5,', 2)):
        r = ptah.Run([ptah.program('convert'), '-q', '--force', '--region', x, '-o', 'part', OUT],
                     '.')
        v.same('--region ' + x, r.status, status)
    for x, status in ('1e2,2d2,3', 0), ('1,2', 2), ('1,2,3x', 2), ('1,2,3,4', 2):
        r = ptah.Run([ptah.program('repartition'), '-q', '--force', '--ranks', '2', '--weights', x,
                      '-o', 'two', OUT], '.')
        v.same('--weights ' + x, r.status, status)


def main():
    kills.write_ics('run/ics')
    ptah.simulate(kills.NAMELIST, 'run', options=['-o', 'out'], settings=['run_params/nstepmax=0'])
    v = ptah.Verdict()
    for test in info, header, descriptors, sinks, options:
        test(v)
    v.end()


if __name__ == '__main__':
    main()
