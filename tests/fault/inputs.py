"""Wrong inputs: each must end soon with exit status 2 and one sentence that names the culprit, on
any number of ranks.

    inputs.py RANKS

Example of a fault caught: a return before the ranks agree (one leaves, the others wait), a read
whose count is not looked at.
"""
# test: 1 tier=quick timeout=120
# test: 3 tier=check timeout=600 ranks=3
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

SECONDS = 60  # timeout: where the host name cannot be resolved, MPI alone takes up to 16 s

SEDOV = """
&RUN_PARAMS
hydro=.true.
nstepmax=2
/
&AMR_PARAMS
levelmin=3
levelmax=4
boxlen=1.0
/
&INIT_PARAMS
""" + ptah.UNIFORM + """d_region=1.0
p_region=1.0
/
&OUTPUT_PARAMS
noutput=1
tout=1.0
/
&REFINE_PARAMS
err_grad_p=0.1
/
"""

COSMO = """
&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nstepmax=1
/
&AMR_PARAMS
levelmin=3
levelmax=4
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics'
/
&OUTPUT_PARAMS
noutput=1
aout=1.0
/
"""

ASCII = ptah.ascii_box((3, 4), 1, 1, '', gas='')


def edit(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def record(body):
    marker = struct.pack('<i', len(body))
    return marker + body + marker


def grafic(n=8, planes=None, value=0.0, astart=0.02):
    head = record(struct.pack('<3i8f', n, n, n, 1.0, 0, 0, 0, astart, 0.3, 0.7, 70.0))
    return head + record(struct.pack('<f', value) * (n * n)) * (n if planes is None else planes)


def sized(n):
    """A file whose header has n cells along x."""
    return grafic()[:4] + struct.pack('<i', n) + grafic()[8:]


def put(path, data):
    with open(path, 'wb') as f:
        f.write(data)


def good_ics():
    shutil.rmtree('ics', ignore_errors=True)
    os.mkdir('ics')
    for name in ['deltab'] + [kind + x for kind in ('velb', 'velc') for x in 'xyz']:
        put('ics/ic_' + name, grafic())


def truncated(name, keep):
    good_ics()
    with open('ics/' + name, 'rb') as f:
        put('ics/' + name, f.read()[:keep])


def replaced(name, data):
    good_ics()
    put('ics/' + name, data)


def without(name):
    good_ics()
    os.remove('ics/' + name)


def particles(text):
    shutil.rmtree('ics', ignore_errors=True)
    os.mkdir('ics')
    put('ics/ic_part', text)


SECOND_REGION = """nregion=2
region_type(2)='square'
length_x(2)=9.0
length_y(2)=9.0
length_z(2)=9.0
exp_region(2)=10.0"""
NAMELISTS = [  # error, namelist, pattern of the message
    ('an unknown name', edit(SEDOV, 'hydro=', 'hidro='), 'hidro'),
    ('an unknown group', edit(SEDOV, '&AMR_PARAMS', '&ARM_PARAMS'), 'ARM_PARAMS'),
    ('text for a number', edit(SEDOV, 'levelmin=3', "levelmin='three'"), 'levelmin'),
    ('a number for a logical', edit(SEDOV, 'hydro=.true.', 'hydro=7.5'), 'hydro'),
    ('a fraction for an integer', edit(SEDOV, 'levelmax=4', 'levelmax=4.5'), 'levelmax'),
    ('a number with letters', edit(SEDOV, 'boxlen=1.0', 'boxlen=1.0abc'), 'boxlen'),
    ('an unclosed group', SEDOV.rstrip().rstrip('/'), 'REFINE_PARAMS|refine'),
    ('an unclosed group before another', edit(SEDOV, '/\n&AMR', '&AMR'), 'RUN_PARAMS|run'),
    ('a group twice', SEDOV + '&AMR_PARAMS\n/\n', 'AMR_PARAMS'),
    ('a group that Fortran does not find', edit(SEDOV, '&AMR', '& AMR'), 'write &AMR_PARAMS'),
    ('a comma that begins a line', edit(SEDOV, 'd_region=1.0', 'd_region=1.0\n,2.0'),
     r'wrong\.nml:\d+: .*d_region.*comma'),
    ('an unclosed text', edit(SEDOV, "'square'", "'square"), 'string|quote|region_type'),
    ('an empty file', '', 'namelist|group|empty'),
    ('levels the wrong way round', edit(SEDOV, 'levelmax=4', 'levelmax=2'), 'levelm'),
    ('level 0', edit(SEDOV, 'levelmin=3', 'levelmin=0'), 'levelmin'),
    ('level 99', edit(SEDOV, 'levelmax=4', 'levelmax=99'), 'levelmax'),
    ('more complete levels than memory', edit(edit(SEDOV, 'levelmin=3', 'levelmin=14'),
                                              'levelmax=4', 'levelmax=14'), 'levelmin.*memory'),
    ('a box of no length', edit(SEDOV, 'boxlen=1.0', 'boxlen=0.0'), 'boxlen'),
    ('a box of negative length', edit(SEDOV, 'boxlen=1.0', 'boxlen=-1.0'), 'boxlen'),
    ('a box that overflows', edit(SEDOV, 'boxlen=1.0', 'boxlen=1e308'), 'boxlen'),
    ('a box that is not a number', edit(SEDOV, 'boxlen=1.0', 'boxlen=NaN'), 'boxlen'),
    ('an unknown solver', SEDOV + "&HYDRO_PARAMS\nriemann='roe'\n/\n", 'riemann'),
    ('an unknown slope', SEDOV + '&HYDRO_PARAMS\nslope_type=42\n/\n', 'slope_type'),
    ('gamma of 1', SEDOV + '&HYDRO_PARAMS\ngamma=1.0\n/\n', 'gamma'),
    ('a region without gas', edit(SEDOV, 'nregion=1', SECOND_REGION), 'd_region'),
    ('an unknown region', edit(SEDOV, "'square'", "'sphere'"), 'region_type'),
    ('an unknown file type', edit(COSMO, "'grafic'", "'gadget9'"), 'filetype'),
    ('cosmology without files', edit(COSMO, "filetype='grafic'", "filetype='ascii'"),
     'grafic|filetype'),
    ('index out of bounds', edit(SEDOV, 'region_type(1)', 'region_type(1000000)'), 'region_type'),
    ('too many values', edit(SEDOV, 'boxlen=1.0', 'boxlen=1.0,2.0,3.0'), 'boxlen'),
    ('too few octs allowed', edit(SEDOV, 'boxlen', 'ngridmax=5\nboxlen'), 'ngridmax'),
    ('a Green function for particles alone, with gas',
     SEDOV + "&POISSON_PARAMS\nfft_green='particles'\n/\n", 'fft_green'),
    ('a Green function without a Fourier transform',
     edit(SEDOV, 'hydro=', 'use_fftw=.false.\nhydro=')
     + "&POISSON_PARAMS\nfft_green='spectral'\n/\n", 'use_fftw'),
    ('a deposit on no level of the run', SEDOV + '&POISSON_PARAMS\ncic_levelmax=2\n/\n',
     'cic_levelmax'),
    ('radiation of ATON', edit(SEDOV, 'hydro=', 'aton=.true.\nhydro='), r'\baton\b'),
    ('faster light', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') +
     '&RT_PARAMS\nrt_c_fraction=1.5\n/\n', 'rt_c_fraction'),
    ('no light', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') + '&RT_PARAMS\nrt_c_fraction=0\n/\n',
     'rt_c_fraction'),
    ('10^6 sub-steps of radiation', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') +
     '&RT_PARAMS\nrt_nsubcycle=1000000\n/\n', 'rt_nsubcycle'),
    ('an unknown flux of photons', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') +
     "&RT_PARAMS\nrt_flux_scheme='hlx'\n/\n", 'rt_flux_scheme'),
    ('groups that overlap', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') +
     '&RT_GROUPS\ngroupL0=13.6,20\ngroupL1=25,0\n/\n', 'overlap'),
    ('more mass than there is', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') +
     '&RT_PARAMS\nX=0.9\nY=0.3\n/\n', r'\bX=0.9'),
    ('a source of no group', edit(SEDOV, 'hydro=', 'rt=.true.\nhydro=') +
     '&RT_PARAMS\nrt_nsource=1\nrt_src_group=5\n/\n', 'rt_src_group'),
    ('too few ions', edit(SEDOV, 'hydro=', 'rt=.true.\nnions=1\nhydro='), 'nions'),
    ('radiation without gas', edit(SEDOV, 'hydro=.true.', 'rt=.true.\npic=.true.'), 'hydro'),
    ('a restart from nothing', edit(SEDOV, 'hydro=', 'nrestart=7\nhydro='),
     'nrestart|output_00007'),
]

CHECKED = ['a region without gas']  # cases that option -nn reports too

FILES = [  # error, function that makes it, namelist, pattern of the message
    ('no files', lambda: shutil.rmtree('ics', ignore_errors=True), COSMO, 'ics'),
    ('no ic_deltab', lambda: without('ic_deltab'), COSMO, 'ic_deltab'),
    ('no ic_velcy', lambda: without('ic_velcy'), COSMO, 'ic_velcy'),
    ('a header cut short', lambda: truncated('ic_deltab', 30), COSMO, 'ic_deltab'),
    ('an empty file', lambda: truncated('ic_velbx', 0), COSMO, 'ic_velbx'),
    ('planes missing', lambda: truncated('ic_velcz', 1000), COSMO, 'ic_velcz'),
    ('the last byte missing', lambda: truncated('ic_deltab', len(grafic()) - 1), COSMO,
     'ic_deltab'),
    ('a byte more', lambda: replaced('ic_deltab', grafic() + b'\0'), COSMO, 'ic_deltab'),
    ('another size', lambda: replaced('ic_velcx', grafic(n=4)), COSMO, 'ic_velcx'),
    ('a size that is not of the level', lambda: [good_ics(), put('ics/ic_deltab', grafic(n=7))],
     COSMO, 'ic_deltab|ics'),
    ('a negative size', lambda: replaced('ic_deltab', sized(-8)), COSMO, 'ic_deltab'),
    ('a huge size', lambda: replaced('ic_deltab', sized(2000000000)), COSMO, 'ic_deltab'),
    ('junk', lambda: replaced('ic_deltab', os.urandom(5000)), COSMO, 'ic_deltab'),
    ('start at a = 0', lambda: replaced('ic_deltab', grafic(astart=0.0)), COSMO,
     'ic_deltab|a(exp|start)'),
    ('a density that is not a number', lambda: replaced('ic_deltab', grafic(value=float('nan'))),
     COSMO, 'ic_deltab|finite'),
    ('too few particles allowed', good_ics, edit(COSMO, 'levelmax', 'npartmax=5\nlevelmax'),
     'npartmax'),
    ('no ic_part', lambda: without('ic_deltab'), ASCII, 'ic_part'),
    ('a column missing', lambda: particles(b'0.1 0.1 0.1 0 0 0 1.0\n0.2 0.2 0.2 0 0 0\n'), ASCII,
     'ic_part'),
    ('a word for a number', lambda: particles(b'0.1 0.1 here 0 0 0 1.0\n'), ASCII, 'ic_part'),
    ('a particle that is nowhere', lambda: particles(b'nan 0.1 0.1 0 0 0 1.0\n'), ASCII, 'ic_part'),
    ('a box that overflows, of particles', lambda: particles(b'1e307 0 0 1e307 0 0 1\n'),
     edit(ASCII, 'boxlen=1.0', 'boxlen=1e308'), 'boxlen'),
    ('junk for particles', lambda: particles(os.urandom(3000)), ASCII, 'ic_part'),
]

# error, arguments, pattern of the message; detected before the ranks communicate
USAGE = [
    ('no argument', [], 'namelist|usage'),
    ('an unknown option', ['--frobnicate', 'good.nml'], 'frobnicate'),
    ('an option without its value', ['good.nml', '-o'], r"-o|assignment"),
]

COMMANDS = [
    ('a namelist that is not there', ['nowhere.nml'], 'nowhere.nml'),
    ('a folder for a namelist', ['.'], r"'?\."),
    ('junk for a namelist', ['junk.nml'], 'junk.nml'),
    ('a setting without a name', ['good.nml', 'run_params/=3'], 'run_params/'),
    ('an unknown setting', ['good.nml', 'run/nstepmux=3'], 'nstepmux'),
    ('a setting without a value', ['good.nml', 'run/nstepmax='], 'nstepmax'),
    ('two namelists', ['good.nml', 'good2.nml'], 'good2.nml'),
    ('a folder that cannot be made', ['-o', '/dev/null/here', 'good.nml'], '/dev/null'),
]


def wrong(what, argv, ranks, pattern, failures):
    """Runs and checks: one line of simulate itself that names the culprit; mpirun adds lines of its
    own."""
    r = ptah.Run(ptah.mpirun(ranks) + argv, '.', timeout=SECONDS)
    said = [s for s in r.err.splitlines() if s.startswith('simulate: ')]
    troubles = []
    if r.timed_out:
        troubles.append('still running after %d s' % SECONDS)
    elif r.status != 2:
        troubles.append('exit status %s' % r.status)
    if len(said) != 1:
        troubles.append('%d sentences' % len(said))
    elif not re.search(pattern, said[0]):
        troubles.append('it does not name %s' % pattern)
    if re.search(r'\bbug\b|Segmentation|Abort|stack smashing|Sanitizer', r.err):
        troubles.append('a crash')
    if r.out and 'output_' not in r.out:
        troubles.append('words on stdout')
    if troubles:
        failures.append(what)
        print('FAIL %s: %s\n     %s' % (what, '; '.join(troubles),
                                        r.err.strip()[-600:].replace('\n', '\n     ')))
    else:
        print('ok   %s: %s' % (what, said[0][10:]))


def main():
    ranks = int(sys.argv[1])
    simulate = ptah.program('simulate')
    failures = []
    put('good.nml', SEDOV.encode())
    put('good2.nml', SEDOV.encode())
    put('junk.nml', os.urandom(4096))
    commands = COMMANDS + (USAGE if ranks == 1 else [])
    for what, argv, pattern in commands:
        wrong(what, [simulate] + argv, ranks, pattern, failures)
    for what, text, pattern in NAMELISTS:
        put('wrong.nml', text.encode())
        wrong(what, [simulate, 'wrong.nml'], ranks, pattern, failures)
        if what in CHECKED:
            wrong(what + ', option -nn', [simulate, '-nn', 'wrong.nml'], ranks, pattern, failures)
    for what, make, text, pattern in FILES:
        make()
        put('wrong.nml', text.encode())
        wrong(what, [simulate, 'wrong.nml'], ranks, pattern, failures)
    print('%d wrong inputs, %d not refused as they should be' %
          (len(commands + NAMELISTS + FILES), len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
