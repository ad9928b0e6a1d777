"""Checkpoints of runs with a magnetic field, in both formats: restarts bit by bit, lossless
conversion, the layout of RAMSES, and the settings that are refused.

    mhd_files.py NDIM    a run in one to three dimensions, with walls below three
    mhd_files.py files   GRAFIC files
    mhd_files.py refused

The state at the start is compared with the regions of the namelist. A checkpoint without its exact
files is one of another code: a run resumes from it to round-off.

Examples of faults caught: a pressure that contains that of the field, columns in another order than
RAMSES's, an energy that a restart finds without that of the field, faces that a format drops,
velocities along missing axes that are not written.
"""
# test: 1 tier=check timeout=120 ranks=3
# test: 2 tier=check timeout=180 ranks=3
# test: 3 tier=check timeout=240 ranks=3
# test: 2 first tier=quick timeout=60 ranks=1
# test: files tier=check timeout=60 ranks=2
# test: refused tier=quick timeout=60 ranks=2
import os
import re
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

FACES = ['B_%s_%s' % (d, s) for s in ('left', 'right') for d in 'xyz']
NAMES = ['density', 'velocity_x', 'velocity_y', 'velocity_z', *FACES, 'pressure', 'scalar_00']
GAMMA = 5 / 3
# The second region is inside the first: density, velocity, pressure and field, which has the same
# component across all faces of the region.
REGION = ({'d': 1, 'u': .3, 'v': -.2, 'w': .1, 'p': .6, 'A': .7, 'B': .4, 'C': -.3},
          {'d': 2, 'u': .3, 'v': .5, 'w': -.4, 'p': 5, 'A': .7, 'B': .4, 'C': -.3})
LEVELS = {1: (4, 7), 2: (3, 5), 3: (3, 4)}


def namelist(ndim):
    one, two = ([str(r[k]) for k in 'duvwpABC'] for r in REGION)
    if ndim == 1:
        two[6] = '-.9'  # along x alone, the other components may jump
    if ndim == 2:
        two[7] = '.2'
    lines = ['%s_region=%s,%s' % (k, a, b) for k, a, b in zip('duvwpABC', one, two)]
    centre = ['%s_center=0.5,0.4\nlength_%s=10.,0.3' % (d, d) for d in 'xyz'[:ndim]]
    walls = {1: 'nboundary=2\nbound_type=1,3\nibound_min=-1,1\nibound_max=-1,1\nd_bound=0.,1.\n'
                'u_bound=0.,.3\nv_bound=0.,.1\np_bound=0.,.6\nA_bound=0.,.7\nB_bound=0.,.4\n',
             2: 'nboundary=4\nbound_type=3,2,1,2\nibound_min=-1,1,-1,-1\nibound_max=-1,1,1,1\n'
                'jbound_min=0,0,-1,1\njbound_max=0,0,-1,1\nd_bound=1.\nu_bound=.3\nv_bound=-.2\n'
                'w_bound=.1\np_bound=.6\nA_bound=.7\nB_bound=.4\nC_bound=-.3\n', 3: 'nboundary=0\n'}
    return """&RUN_PARAMS
hydro=.true.
nstepmax=4
nremap=2
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
/
&INIT_PARAMS
nregion=2
exp_region=10.,10.
%s
var_region(1,1)=.1
var_region(2,1)=.7
/
&BOUNDARY_PARAMS
%s/
&HYDRO_PARAMS
gamma=%.17g
riemann='hlld'
riemann2d='hlld'
/
&REFINE_PARAMS
err_grad_p=.2
err_grad_b2=.2
interpol_var=%d
/
&OUTPUT_PARAMS
foutput=2
tout=1e9
/
""" % (*LEVELS[ndim], '\n'.join(centre + lines), walls[ndim], GAMMA, ndim % 2)


def records(path):
    data, at, out = open(path, 'rb').read(), 0, []
    while at < len(data):
        n, = struct.unpack_from('i', data, at)
        out.append(data[at + 4:at + 4 + n])
        at += n + 8
    return out


def cells(path, ndim):
    """All cells of the own octs of one rank of the hydro file: {name: values}."""
    number = re.search(r'output_(\d+)', path).group(1)
    r = records('%s/hydro_%s.out00001' % (path, number))
    ncpu, nvar, dim, nlevel, nboundary = (struct.unpack('i', x)[0] for x in r[:5])
    with open(path + '/hydro_file_descriptor.txt') as f:
        names = [line.split(', ')[1] for line in f if not line.startswith('#')]
    assert dim == ndim and nvar == len(names) and ncpu == 1, (dim, nvar, names)
    at, values = 6, {n: [] for n in names}
    for block in range(nlevel * (ncpu + nboundary)):
        n, = struct.unpack('i', r[at + 1])
        at += 2
        for k in range((1 << ndim) * nvar if n else 0):
            if block % (ncpu + nboundary) == 0:
                values[names[k % nvar]].append(np.frombuffer(r[at]))
            at += 1
    return names, {n: np.concatenate(v) for n, v in values.items()}


def run(ndim, folder, ranks=1, *settings, restart=None, text=None):
    options = ['-r', os.path.abspath(restart)] if restart else [
        '--build', 'NDIM=%d SOLVER=mhd NPSCAL=1' % ndim]
    return ptah.simulate(text or namelist(ndim), folder, ranks, 1, list(settings), options)


def inspected(v, what, path):
    r = ptah.Run([ptah.program('inspect'), '-cc', path], '.')
    v.same(what + ' is sound', (r.status, 'sound' in r.out, 'magnetic faces' in r.out),
           (0, True, True))


def made(program, *arguments):
    r = ptah.Run([ptah.program(program), *arguments], '.')
    if r.status != 0:
        sys.exit(r.said())
    return arguments[arguments.index('-o') + 1]


def files_of(path, kind):
    return {f.split('.')[1]: open(os.path.join(path, f), 'rb').read()
            for f in os.listdir(path) if f.startswith(kind + '_') and '.out' in f}


def check_start(v, path, ndim):
    """The state of the first output is that of the regions."""
    names, is_ = cells(path, ndim)
    v.same('names of the variables', names, NAMES)
    two = dict(REGION[1], **({'B': -.9} if ndim == 1 else {'C': .2} if ndim == 2 else {}))
    inner = is_['scalar_00'] > .5
    leaf = np.isin(is_['scalar_00'], [.1, .7])  # split cells may be mixed
    v.same('cells of both regions', bool(inner.any() and not inner.all()), True)
    names = {'d': 'density', 'u': 'velocity_x', 'v': 'velocity_y', 'w': 'velocity_z',
             'p': 'pressure'}
    for key, name in names.items():
        want = np.where(inner, two[key], REGION[0][key])
        v.check('%s of the regions' % name, np.abs(is_[name] - want)[leaf].max(), 4e-15)
    for d, key in enumerate('ABC'):
        want = np.where(inner, two[key], REGION[0][key])
        for side in ('left', 'right'):
            name = 'B_%s_%s' % ('xyz'[d], side)
            v.check('%s of the regions' % name, np.abs(is_[name] - want)[leaf].max(), 1e-15)


def check_restart(v, ndim, first, want):
    for form, ranks, again in (('hdf5', 3, 1), ('original', 3, 2)):
        found = run(ndim, form, ranks, 'output_params/outformat=' + form).outputs
        v.same('%s on %d ranks: lines of the digest that differ' % (form, ranks),
               ptah.changed(ptah.digest(found[-1]), want), [])
        inspected(v, form, found[-1])
        resumed = run(ndim, form + '_again', again, restart=found[1]).outputs
        v.same('%s: restart: lines that differ' % form,
               ptah.changed(ptah.digest(resumed[-1]), want), [])
    foreign = os.path.join('foreign', os.path.basename(first[1]))
    shutil.copytree(first[1], foreign)
    for f in os.listdir(foreign):
        if f.startswith(('exact_', 'checksums_')):
            os.remove(os.path.join(foreign, f))
    other = made('convert', '-f', 'hdf5', '-o', 'foreign_h5', foreign)
    ends = [run(ndim, 'resumed_%d' % i, restart=path).outputs[-1]
            for i, path in enumerate((foreign, other))]
    r = ptah.Run([ptah.program('inspect'), '--rtol', '1e-9', '--atol', '1e-12', first[-1],
                  ends[0]], '.')
    v.same('from files of another code', r.out.splitlines()[-1:],
           ['the same within the tolerance'])
    v.same('the same from HDF5', ptah.changed(ptah.digest(ends[1]), ptah.digest(ends[0])), [])


def check_formats(v, path, want):
    number = os.path.basename(path)
    h5 = made('convert', '-f', 'hdf5', '-o', 'there', path)
    back = made('convert', '-f', 'ramses', '-o', 'back/' + number, h5)
    three = made('repartition', '--ranks', '3', '-o', 'three/' + number, path)
    for what, is_ in (('HDF5', h5), ('RAMSES again', back), ('three ranks', three)):
        v.same('%s: lines of the digest that differ' % what,
               ptah.changed(ptah.digest(is_), want), [])
        inspected(v, what, is_)
    for kind in ('hydro', 'exact'):
        v.same('%s files, there and back' % kind, files_of(back, kind) == files_of(path, kind),
               True)
    r = ptah.Run([ptah.program('inspect'), path, h5], '.')
    v.same('comparison', r.out.splitlines()[-1:], ['the same'])


def main(ndim, short):
    v = ptah.Verdict()
    for folder in ('back', 'three', 'foreign'):
        os.makedirs(folder)
    first = run(ndim, 'one', 1, *(['run_params/nstepmax=0'] if short else [])).outputs
    check_start(v, first[0], ndim)
    want = ptah.digest(first[-1])
    inspected(v, 'output', first[-1])
    check_formats(v, first[-1], want)
    if not short:
        v.same('the run changes the state', want != ptah.digest(first[0]), True)
        check_restart(v, ndim, first, want)
    v.end()


def grafic(folder, name, values):
    n = values.shape[0]
    head = struct.pack('3i8f', n, n, n, 1 / n, 0, 0, 0, 1, 1, 0, 1)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'wb') as f:
        for record in [head, *(plane.astype('f4').tobytes() for plane in values)]:
            f.write(struct.pack('i', len(record)) + record + struct.pack('i', len(record)))


def files():
    """The field of GRAFIC files, on both sides of each cell; a missing file is a field of 0."""
    v, n = ptah.Verdict(), 8
    z, y, x = np.meshgrid(*3 * [(np.arange(n) + .5) / n], indexing='ij')
    one = np.ones((n, n, n))
    left = np.sin(2 * np.pi * (x - .5 / n)) * np.sin(2 * np.pi * y)
    fields = {'ic_d': one, 'ic_p': .6 * one, 'ic_u': .3 * y, 'ic_v': 0 * one, 'ic_w': .2 * one,
              'ic_bxleft': .7 + 0 * left, 'ic_bxright': .7 * one, 'ic_byleft': np.cos(6 * x),
              'ic_byright': np.cos(6 * x)}
    for name, values in fields.items():
        grafic('ics', name, values)
    text = re.sub(r'(?s)nregion=2.*?/\n', "filetype='grafic'\ninitfile(1)='%s'\n/\n"
                  % os.path.abspath('ics'), namelist(3), count=1)
    path = run(3, 'files', 2, 'run_params/nstepmax=0', 'amr_params/levelmax=3',
               text=text).outputs[0]
    path = made('repartition', '--ranks', '1', '-o', os.path.basename(path), path)
    inspected(v, 'the state of files', path)
    is_ = cells(path, 3)[1]
    for name in ('velocity_x', 'pressure', *FACES):
        file = {'velocity_x': 'ic_u', 'pressure': 'ic_p'}.get(name)
        file = file or 'ic_b' + name[2] + name[4:]
        want = np.sort(fields.get(file, 0 * one).astype('f4').ravel())
        v.check(name, np.abs(np.sort(is_[name][-n ** 3:]) - want).max(), 1e-15)
    grafic('ics', 'ic_bxleft', left)
    r = ptah.simulate(text, 'divergent', 1, 1, ['amr_params/levelmax=3'],
                      ['--build', 'SOLVER=mhd'], must_work=False)
    v.same('a field with a divergence', (r.status, 'allow_divb' in r.err), (2, True))
    v.end()


def refused():
    """Settings that do not fit a run with a magnetic field, or one without."""
    v = ptah.Verdict()
    mhd, text = ['--build', 'NDIM=2 SOLVER=mhd'], namelist(2)
    three = namelist(3)
    plain = re.sub(r'(?m)^(riemann|err_grad_b2|[ABC]_).*\n', '', text)
    wrong = [  # text, options, settings, pattern
        (text, ['--build', 'NDIM=2'], [], "riemann='hlld'.*--build SOLVER=mhd"),
        (re.sub('(?m)^riemann.*\n', '', text), ['--build', 'NDIM=2'], [],
         'a_region.*--build SOLVER=mhd'),
        (text, ['--build', 'NDIM=2 SOLVER=hydro'], ['run_params/mhd=.true.', "riemann='hllc'"],
         "riemann='hllc'.*'hlld'"),
        (text.replace('hydro=.true.', 'hydro=.true.\nmhd=.true.'),
         ['--build', 'NDIM=2 SOLVER=hydro'], [], 'SOLVER=hydro.*mhd=.true.'),
        (text, ['--build', 'NDIM=2 SOLVER=mhd NVAR=7'], [], 'NVAR=7.*make 8'),
        (text, ['--build', 'SOLVER=rhd'], [], 'SOLVER=rhd'),
        (text, mhd, ["riemann='exact'"], "riemann='exact'.*'hydro'"),
        (text, mhd, ["riemann2d='hllc'"], 'riemann2d'),
        (text, mhd, ['slope_type=3'], 'slope_type=3.*give slope_mag_type, 0, 1 or 2'),
        (text, mhd, ['slope_mag_type=7'], 'slope_mag_type=7.*0, 1 or 2'),
        (three, ['--build', 'SOLVER=mhd'], ['slope_mag_type=3'], '0, 1, 2, 7 or 8'),
        (text, mhd, ['difmag=.1'], 'difmag.*artificial diffusion.*set difmag=0.*RAMSES'),
        (text, ['--build', 'NDIM=1 SOLVER=mhd'], ['slope_type=5'],
         'slope_type.*superbee.*magnetic field.*0, 1, 2, 3, 7 or 8'),
        (text, mhd, ["scheme='plmde'"], "plmde.*scheme='muscl'"),
        (plain, ['--build', 'NDIM=2'], ["scheme='induction'"],
         "scheme='induction'.*--build SOLVER=mhd.*set scheme='muscl'"),
        (text, mhd, ['interpol_var=2'], 'interpol_var=2.*0 or 1'),
        (text, mhd, ['A_region(2)=.1'], 'divergence.*allow_divb'),
    ]
    for text_, options, settings, pattern in wrong:
        r = ptah.simulate(text_, 'refused', 1, 1, [*settings, 'run_params/nstepmax=0'], options,
                          must_work=False)
        said = r.err.splitlines()[-1] if r.err else ''
        v.same(pattern, (r.status, bool(re.search(pattern, said)) or said), (2, True))
    for n in 1, 2:
        r = ptah.simulate(text, 'diffuses%d' % n, n, 1,
                          ['eta_mag=1e30', 'run_params/nstepmax=1'], mhd, must_work=False)
        v.same('a diffusion that takes too many steps, %d ranks' % n,
               (r.status, 'lower eta_mag' in r.err), (2, True))
    kept = ptah.simulate(text, 'divergent', 1, 1, ['A_region(2)=.1', 'allow_divb=.true.',
                                                   'run_params/nstepmax=0'], mhd)
    v.same('a divergence that is allowed is told', 'div B' in kept.err, True)
    for solver in 'llf', 'upwind':
        r = ptah.simulate(text, solver, 1, 1, ["riemann2d='%s'" % solver, "scheme='induction'",
                                               'run_params/nstepmax=0'], mhd)
        v.same('edges of a given flow that are unstable are told, ' + solver,
               "riemann2d='upwind' is not" in r.err, solver == 'llf')
    start = run(2, 'field', 1, 'run_params/nstepmax=0').outputs[0]
    bare = ptah.simulate(plain, 'bare', 1, 1, ['run_params/nstepmax=0'], ['--build', 'NDIM=2'])
    for path, text_, setting, pattern in (
            (start, text, 'run_params/mhd=.false.', 'has a magnetic field.*mhd=.false.'),
            (bare.outputs[0], plain, 'run_params/mhd=.true.', 'no magnetic field.*mhd=.true.'),
            (bare.outputs[0], text, 'run_params/nstepmax=2', 'SOLVER=mhd')):
        r = ptah.simulate(text_, 'refused', 1, 1, [setting, 'npassive=-1'],
                          ['-r', os.path.abspath(path)], must_work=False)
        said = r.err.splitlines()[-1] if r.err else ''
        v.same(pattern, (r.status, bool(re.search(pattern, said)) or said), (2, True))
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'refused':
        refused()
    elif sys.argv[1] == 'files':
        files()
    else:
        main(int(sys.argv[1]), len(sys.argv) > 2)
