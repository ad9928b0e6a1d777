"""Wrong inputs about dimensions: each must end soon with exit status 2 and one sentence that names
the culprit, on any number of ranks.

    dimensions.py RANKS

The cases are variables of RAMSES's Makefile that contradict each other or make another problem,
physics that exists in three dimensions only, boundaries that leave a corner to no region or to two,
a checkpoint of other dimensions. Right inputs of the same kind must run. Examples of faults caught:
sinks that a 2-D run leaves out without a word, a restart in other dimensions than its checkpoint.
"""
# test: 1 tier=quick timeout=120
# test: 3 tier=check timeout=600 ranks=3
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from inputs import edit, put, wrong  # noqa: E402

GAS = """
&RUN_PARAMS
hydro=.true.
nstepmax=1
/
&OUTPUT_PARAMS
foutput=1
/
&AMR_PARAMS
levelmin=3
levelmax=3
/
&INIT_PARAMS
nregion=1
region_type(1)='square'
x_center(1)=0.5
length_x(1)=10.0
exp_region(1)=10.0
d_region=1.0
p_region=1.0
/
"""
FACES = """&BOUNDARY_PARAMS
nboundary=%d
bound_type=%d*1
ibound_min=%s
ibound_max=%s
jbound_min=%s
jbound_max=%s
/
"""


def walls(imin, imax, jmin, jmax):
    n = imin.count(',') + 1
    return GAS + FACES % (n, n, imin, imax, jmin, jmax)


WHOLE = walls('-1,1,-1,-1', '-1,1,1,1', '0,0,-1,1', '0,0,-1,1')
BARE = walls('-1,1,0,0', '-1,1,0,0', '0,0,-1,1', '0,0,-1,1')
TWICE = walls('-1,1,-1,-1', '-1,1,1,1', '-1,-1,-1,1', '1,1,-1,1')
ONE_SIDE = GAS + '&BOUNDARY_PARAMS\nnboundary=1\nbound_type=1\nibound_min=-1\nibound_max=-1\n/\n'


def build(words, text=GAS, *more):
    return text, ['--build', words], list(more)


def two(*more, text=GAS):
    return text, [], ['run_params/ndim=2'] + list(more)


WRONG = [  # error, (namelist, options, settings), pattern of the message
    ('NDIM=4', build('NDIM=4'), 'NDIM=4.*1 .. 3'),
    ('NDIM=0', build('NDIM=0'), 'NDIM=0.*1 .. 3'),
    ('ndim=4', (GAS, [], ['run_params/ndim=4']), 'ndim=4.*1 .. 3'),
    ('ndim=0', (GAS, [], ['run_params/ndim=0']), 'ndim=0.*1 .. 3'),
    ('a number with letters', build('NDIM=two'), 'NDIM=two'),
    ('relativistic gas', build('NDIM=2 SOLVER=rhd'), 'SOLVER=rhd.*not part of this code yet'),
    ('an unknown solver', build('SOLVER=euler'), 'SOLVER=euler'),
    ('non-thermal energies', build('NDIM=1 NENER=9'), 'NENER=9'),
    ('flux-limited radiation', build('NDIM=2 USE_FLD=1'), 'USE_FLD=1'),
    ('a patch', build('NDIM=2 PATCH=../patch/here'), 'PATCH=../patch/here.*init_expr.*-r'),
    ('a patch of another name', build('NDIM=2 PATCH=my-patch/mhd/loop'), 'PATCH.*-r'),
    ('a patch of RAMSES without its field', build('NDIM=2 PATCH=../patch/mhd/loop'), 'mhd'),
    ('bytes of a real', build('NPRE=16'), 'NPRE=16'),
    ('too many variables', build('NDIM=1 NVAR=6 NPSCAL=2'), 'NVAR=6 contradicts'),
    ('too few variables', build('NDIM=3 NVAR=4'), 'NVAR=4 contradicts'),
    ('variables of no dimensions', build('NVAR=5'), 'NDIM'),
    ('two values', build('NDIM=1 NDIM=2'), 'NDIM is given twice'),
    ('an unknown variable', build('NDIM=1 COLOUR=red'), 'COLOUR.*NDIM, SOLVER, NVAR'),
    ('a lower-case variable', build('ndim=1'), 'did you mean NDIM'),
    ('blanks', build('NDIM = 1'), 'without blanks'),
    ('quotes that do not end', build("FFLAGS='-O3"), 'FFLAGS.*quotes'),
    ('another ndim in the namelist', build('NDIM=1', edit(GAS, 'hydro', 'ndim=2\nhydro')),
     'ndim would be 1.*ndim=2'),
    ('another npassive in the namelist',
     build('NDIM=1 NPSCAL=2', GAS + '&HYDRO_PARAMS\nnpassive=1\n/\n'), 'npassive=1'),
    ('sinks', two('run_params/sink=.true.'), 'sink=.true.*three dimensions only.*has two'),
    ('stars', two('sf_params/eps_star=0.1'), 'eps_star.*three dimensions only'),
    ('clumps', two('run_params/clumpfind=.true.', 'clumpfind/density_threshold=1'),
     'clumpfind.*three dimensions only'),
    ('halos', two('run_params/dump_halos=.true.'), 'dump_halos.*three dimensions only'),
    ('spectra', two('run_params/dump_pk=.true.'), 'dump_pk.*three dimensions only'),
    ('cosmology', two('run_params/cosmo=.true.'), 'cosmo.*three dimensions only'),
    ('files', two("init/filetype='grafic'", "init/initfile(1)='ics'"),
     'grafic.*three dimensions only'),
    ('supernovae', two('feedback/eta_sn=0.1'), 'eta_sn.*three dimensions only'),
    ('a slope of one dimension', two('hydro/slope_type=5'), 'slope_type.*one dimension only'),
    ('two coarse cells', two('amr/nx=2'), 'nx=2.*set nx=1'),
    ('coarse cells in 3-D', (GAS, [], ['amr/nz=3']), 'nz=3.*set nz=1'),
    ('one wall', (ONE_SIDE, [], ['run_params/ndim=1']), 'lower end along x only'),
    ('corners without a region', two(text=BARE), 'corner i=-1, j=-1.*no region'),
    ('corners of two regions', two(text=TWICE), 'corner i=-1, j=-1.*regions 1 and 3'),
]
RIGHT = [  # what, (namelist, options, settings), words of the log
    ('a line of a test of RAMSES', build('FLAGS: NDIM=1 PATCH= SOLVER=hydro\nNPSCAL=2 NMETALS=1'),
     ''),
    ('a setting wins', build('NDIM=1', GAS, 'run_params/ndim=2'), ''),
    ('variables without effect', build("NDIM=1 MPI=1 EXEC=ramses FFLAGS='-O3 -g' NPRE=8"),
     '--build: MPI, EXEC, FFLAGS have no effect'),
    ('a patch that the namelist names',
     build('NDIM=1 PATCH=../patch/here', GAS, 'init/init_expr(1)=p = 2'),
     'PATCH=../patch/here is not read: the initial state is that of init_expr'),
    ('a patch of RAMSES', build('NDIM=2 SOLVER=mhd PATCH=../patch/mhd/loop/'),
     "that of condinit_kind='loop'"),
    ('NPRE=4', build('NDIM=2 NPRE=4'), 'NPRE=4 is not followed'),
    ('walls', two(text=WHOLE), ''),
    ('walls of missing axes', (WHOLE, [], ['run_params/ndim=1']), ''),
    ('3-D by default, with a hint', (GAS, [], []), '--build NDIM=1, or run_params/ndim=1'),
    ('the check in 2-D', (WHOLE, ['-n'], ['run_params/ndim=2']), ''),
]


def right(what, argv, words, ranks, failures):
    r = ptah.Run(ptah.mpirun(ranks) + argv, '.', timeout=60)
    hint = 'this run is another problem' in r.err
    if r.status != 0 or words not in r.err or hint != what.endswith('hint'):
        failures.append(what)
        print('FAIL %s: status %s\n%s' % (what, r.status, r.err[-1500:]))
        return
    print('ok   %s' % what)


def restart(simulate, ranks, failures):
    """A checkpoint of one dimension, with slopes that exist in one dimension only."""
    put('run.nml', GAS.encode())
    right('a run in 1-D', [simulate, '--build', 'NDIM=1 NPSCAL=2', '-o', 'one', 'run.nml'], '',
          ranks, failures)
    for what, more in (('as namelist', []), ('the same ndim', ['run_params/ndim=1'])):
        argv = [simulate, '-r', 'one/output_00002', '-o', 'on', 'run.nml',
                'run_params/nstepmax=2'] + more
        right('a restart, ' + what, argv, 'output_00002', ranks, failures)
        shutil.rmtree('on', ignore_errors=True)
    for option in (['run_params/ndim=2'], ['run_params/ndim=3']):
        wrong('a restart with ' + option[0],
              [simulate, '-r', 'one/output_00002', 'run.nml'] + option, ranks,
              'output_00002: has ndim=1', failures)
    wrong('halos in a restart of a 1-D run',
          [simulate, '-r', 'one/output_00002', 'run.nml', 'run_params/dump_halos=.true.'], ranks,
          'dump_halos.*has one', failures)


def main():
    ranks = int(sys.argv[1])
    simulate = ptah.program('simulate')
    failures = []
    for what, (text, options, settings), pattern in WRONG:
        put('wrong.nml', text.encode())
        wrong(what, [simulate] + options + ['wrong.nml'] + settings, ranks, pattern, failures)
    for what, (text, options, settings), words in RIGHT:
        put('right.nml', text.encode())
        right(what, [simulate] + options + ['-o', 'right', 'right.nml'] + settings, words, ranks,
              failures)
        shutil.rmtree('right', ignore_errors=True)
    restart(simulate, ranks, failures)
    print('%d inputs about dimensions, %d not treated as they should be' %
          (len(WRONG) + len(RIGHT) + 6, len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
