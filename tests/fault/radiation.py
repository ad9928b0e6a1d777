"""Wrong inputs of radiation: each ends the program with status 2 and one sentence that names the
parameter or the file, on one rank and on three, before anything is written.

    radiation.py parameters    values of &RT_PARAMS and &RT_GROUPS, and build variables
    radiation.py spectra       libraries of spectra and files of the background that are cut, of the
                               wrong shape, out of order, or have no numbers
    radiation.py checkpoints   restarts with other groups; files of radiation that are cut, changed
                               in one bit, or missing: a restart and each mode of inspect end in a
                               sentence, or read what the checkpoint has

Example of a fault caught: a source outside of the box that never shines, a spectrum with a NaN that
becomes one of the gas, a rank that waits for the one that reads spectra.
"""
# test: parameters tier=check timeout=120
# test: spectra tier=check timeout=120 ranks=3
# test: checkpoints tier=check timeout=180 ranks=3
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import spectra  # noqa: E402
from parameter_runs import (DAWN, DUST, HOLES, OBJECTS, RAYS, SUNS, IC_SINK,  # noqa: E402
                            text_of, vary)

NAN, INF = float('nan'), float('inf')


def said(r, program='simulate'):
    return [line for line in r.err.splitlines() if line.startswith(program + ': ')]


def refused(v, what, r, words, program='simulate'):
    """One sentence with these words, and exit status 2."""
    lines = said(r, program)
    good = (r.status == 2 and not r.timed_out and len(lines) == 1 and
            all(w in lines[0] for w in words))
    v.same(what, good or (r.status, r.timed_out, lines or r.err[-300:]), True)


# ---- parameters

def rt(**values):
    return RAYS, dict(rt=values)


def groups(**values):
    return RAYS, dict(rt_groups=values)


WRONG = [
    (rt(rt_c_fraction=0.0), ['run.nml:', 'rt_c_fraction=0']),
    (rt(rt_c_fraction=1.5), ['rt_c_fraction=1.5', '&RT_PARAMS']),
    (rt(rt_c_fraction=-0.1), ['rt_c_fraction=-0.1']),
    (rt(rt_c_fraction=NAN), ['run.nml:', 'rt_c_fraction=nan']),
    (rt(rt_nsubcycle=0), ['run.nml:', 'rt_nsubcycle=0']),
    (rt(rt_nsubcycle=1000000), ['run.nml:', 'rt_nsubcycle=1000000', '100000']),
    (rt(rt_courant_factor=0.0), ['run.nml:', 'rt_courant_factor=0']),
    (rt(rt_courant_factor=2.0), ['rt_courant_factor=2', 'stable']),
    (rt(rt_n_source=[-1.0]), ['run.nml:', 'rt_n_source=-1']),
    (rt(rt_n_source=[NAN]), ['run.nml:', 'rt_n_source=nan']),
    (rt(rt_u_source=[INF]), ['run.nml:', 'rt_u_source=inf']),
    (rt(rt_u_source=[2.0]), ['run.nml:', 'rt_u_source=2']),
    (rt(rt_src_group=[5]), ['rt_src_group(1)=5', '3 groups']),
    (rt(rt_nsource=1000), ['run.nml:', 'rt_nsource=1000']),
    (rt(rt_src_x_center=[0.2, 7.0]), ['rt_src_x_center(2)=7', 'outside']),
    (rt(rt_src_y_center=[-0.5, 0.6]), ['rt_src_y_center(1)=-0.5', 'outside']),
    (rt(rt_nregion=1, rt_region_type=['point'], rt_reg_x_center=[1.5]), ['rt_reg_x_center(1)=1.5']),
    (rt(rt_source_type=['shell'], rt_src_length_y=[0.1]), ['rt_src_length_x(1)', 'shell']),
    (rt(rt_source_type=['ring']), ['rt_source_type', 'ring', 'shell']),
    (rt(rt_star=True), ['sed_dir', 'RAMSES_SED_DIR']),
    (rt(rt_UVsrc_nHmax=1.0), ['uv_file', 'RAMSES_UV_FILE']),
    (rt(rt_agn=True), ['rt_AGN', 'sink=.true.']),
    (rt(rt_sink=True), ['rt_sink', 'stellar=.true.']),
    (rt(rt_isIR=True, rt_isIRtrap=True), ['rt_isIRtrap', 'nener=1']),
    (rt(rt_isIR=True, rt_T_rad=True), ['rt_T_rad', 'is_kIR_T=.true.']),
    (rt(rt_isIR=True, is_kIR_T=True), ['is_kIR_T', 'kappaAbs(1)']),
    (rt(rt_vc=True), ['rt_vc', 'not supported']),
    (rt(rt_flux_scheme='hllc'), ['rt_flux_scheme', 'hllc', 'hll']),
    (rt(x=0.0), ['X=0', 'hydrogen']),
    (rt(x=0.9, y=0.9), ['X=0.9', 'Y=0.9']),
    (rt(nUVgroups=9), ['nUVgroups=9', '3 groups']),
    (rt(iPEH_group=7), ['iPEH_group=7', '3 groups']),
    (rt(rt_esc_frac=-1.0), ['run.nml:', 'rt_esc_frac=-1']),
    (groups(groupL0=[13.6, 20.0], groupL1=[24.0, 54.0]), ['groups 1 and 2', 'overlap']),
    (groups(groupL0=[NAN]), ['run.nml:', 'groupl0=nan']),
    (groups(kappaAbs=[-1.0]), ['run.nml:', 'kappaabs=-1']),
    (groups(**{'group_csn(1,1)': INF}), ['run.nml:', 'group_csn=inf']),
    ((RAYS, dict(rt={'rt_otsa': False}, rt_groups={'spec2group': [9]})), ['spec2group(1)=9']),
    ((RAYS, dict(run={'ngroups': 9})), ['run.nml:', 'ngroups=9', '8']),
    ((RAYS, dict(run={'ngroups': 2})), ['group 3', 'ngroups']),
    ((RAYS, dict(run={'nions': 2}, rt={'y': 0.1})), ['nions=2', '3 fractions']),
    ((RAYS, dict(run={'nions': 1}, rt={'isH2': True, 'isHe': False})), ['nions=1', 'isH2']),
    ((HOLES, dict(rt_groups={'group_egy_AGNfrac': [0.9, 0.9]})), ['group_egy_AGNfrac', '1.8']),
    ((OBJECTS, dict(stellar={'feedback_photon_group': 4})), ['feedback_photon_group=4']),
    ((DUST, dict(run={'nener': 0}, rt={'rt_isIRtrap': True})), ['rt_isIRtrap', 'nener=1']),
]
BUILDS = [('RT=1 NGROUPS=9', ['NGROUPS', '9']), ('RT=1 NGROUPS=-1', ['NGROUPS']),
          ('RT=1 NGROUPS=0', ['NGROUPS=0', 'rt=.true.']), ('NGROUPS=3', ['NGROUPS', 'RT=1']),
          ('RT=1 NIONS=7', ['NIONS', '7']), ('RT=1 NGROUPS=2', ['group 3', 'NGROUPS']),
          ('RT=1 NGROUPS=3 NIONS=1', ['NIONS', 'isHe']), ('RT=0', ['RT=0', 'rt=.true.'])]


def parameters(v):
    for (base, change), words in WRONG:
        name = str(change)
        shutil.rmtree('run', ignore_errors=True)
        IC_SINK('run')
        r = ptah.simulate(text_of(vary(base, **change)), 'run', must_work=False)
        refused(v, name, r, words)
        v.same('nothing is written', [x for x in os.listdir('run') if x.startswith('output')], [])
    text = text_of(vary(RAYS, rt={'y': 0.1}))
    for build, words in BUILDS:
        r = ptah.simulate(text, 'build', must_work=False, options=['--build', build])
        refused(v, '--build ' + build, r, words)
    r = ptah.simulate(text_of(vary(RAYS, run={'hydro': False, 'pic': True})), 'dark',
                      must_work=False)
    refused(v, 'radiation without gas', r, ['rt=.true.', 'hydro=.true.'])


# ---- spectra

def ramses(change=None, **more):
    return lambda f: spectra.ramses(f, change, **more)


def record(number, index, value):
    def change(rows):
        rows[number][1][index] = value
        return rows
    return change


def file(name, text):
    def make(folder):
        spectra.ramses(folder)
        spectra.write(os.path.join(folder, name), text)
    return make


def cut(name, kind, keep):
    def make(folder):
        kind(folder)
        path = os.path.join(folder, name)
        os.truncate(path, int(keep * os.path.getsize(path)))
    return make


def swapped(rows):
    rows[1][1][3], rows[1][1][4] = rows[1][1][4], rows[1][1][3]
    return rows


def short(rows):
    rows[5][1].pop()
    return rows


def bpass_row(line, column, value):
    def change(rows):
        rows[line][column] = value
        return rows
    return lambda f: spectra.bpass(f, change)


def bc03_line(line, text):
    def change(lines):
        lines[line] = text
        return lines
    return lambda f: spectra.bc03(f, change)


def both(folder):
    spectra.ramses(folder)
    spectra.bpass(folder)


LAST = len(spectra.AGES)
BPASS, BC03 = 'spectra-bin-imf135_300.z001.dat', 'ssp_z0.001.ised_ASCII'
LIBRARIES = [
    ('cut', cut('all_seds.dat', spectra.ramses, 0.6), ['all_seds.dat']),
    ('empty', cut('all_seds.dat', spectra.ramses, 0), ['all_seds.dat']),
    ('a spectrum too many', ramses(lambda rows: rows + rows[-1:]), ['all_seds.dat']),
    ('a short spectrum', ramses(short), ['all_seds.dat', 'age 4']),
    ('NaN', ramses(record(7, 11, NAN)), ['all_seds.dat', 'luminosity 12 is nan']),
    ('infinite', ramses(record(7, 11, INF)), ['all_seds.dat', 'luminosity 12 is inf']),
    ('negative', ramses(record(7, 11, -1.0)), ['all_seds.dat', 'luminosity 12 is -1']),
    ('wavelengths out of order', ramses(swapped), ['all_seds.dat', 'wavelength number 5']),
    ('negative number of wavelengths', ramses(record(0, 0, -5)), ['all_seds.dat', '-5']),
    ('many wavelengths', ramses(record(0, 0, 2 ** 31 - 1)), ['all_seds.dat', '2147483647']),
    ('ages out of order', ramses(ages=[0.0, 1e7, 1e6]), ['age_bins.dat', 'age number 3']),
    ('one age', ramses(ages=[0.0]), ['1 ages']),
    ('no metals', ramses(metals=[0.0, 0.02]), ['lowest metallicity is 0']),
    ('equal metallicities', ramses(metals=[0.02, 0.02]), ['metallicity_bins.dat', 'number 2']),
    ('ages that are no numbers', file('age_bins.dat', '2\n0\nold\n'), ['age_bins.dat', '3']),
    ('fewer ages than their number', file('age_bins.dat', '5\n0\n1e6\n'), ['age_bins.dat']),
    ('number of ages', file('age_bins.dat', '1e9\n0\n1e6\n'), ['age_bins.dat', 'line 1']),
    ('two libraries', both, ['several libraries']),
    ('no library', lambda f: os.makedirs(f), ['has no spectra of stars']),
    ('BPASS cut', cut(BPASS, spectra.bpass, 0.5), [BPASS]),
    ('BPASS empty', cut(BPASS, spectra.bpass, 0), [BPASS]),
    ('BPASS NaN', bpass_row(5, 3, NAN), [BPASS, 'line 6']),
    ('BPASS negative', bpass_row(5, 3, -1.0), [BPASS, 'line 6']),
    ('BPASS out of order', bpass_row(5, 0, 1.5), [BPASS, 'line 6']),
    ('BC03 cut', cut(BC03, spectra.bc03, 0.5), [BC03]),
    ('BC03 NaN', bc03_line(LAST + 6, '%d%s 2 0. 0.' % (len(spectra.WAVES),
                                                      ' nan' * len(spectra.WAVES))), [BC03]),
    ('BC03 without metals', bc03_line(LAST + 2, 'no metals'), [BC03, 'Z=0.02']),
    ('BC03 ages', bc03_line(0, '99999999'), [BC03, 'line 1']),
    ('BC03 other ages', bc03_line(2, '1.1e6'), ['ages are not those']),
]


def uv(change=None):
    return lambda f: spectra.background(f + '/uv.dat', change)


def cut_uv(keep):
    return cut('uv.dat', uv(), keep)


BACKGROUNDS = [
    ('uv cut', cut_uv(0.7), ['uv.dat']),
    ('uv empty', cut_uv(0), ['uv.dat']),
    ('uv NaN', uv(record(4, 8, NAN)), ['uv.dat', 'redshift 0', 'nan']),
    ('uv negative', uv(record(4, 8, -1.0)), ['uv.dat', 'redshift 0']),
    ('uv out of order', uv(record(1, 1, 7.0)), ['uv.dat', 'redshift number 3']),
    ('uv shape', uv(lambda rows: rows[:4] + [('d', rows[4][1][:-1])]), ['uv.dat', 'spectra']),
    ('uv number', uv(record(0, 0, -3)), ['uv.dat', 'redshifts', '-3']),
    ('uv more', uv(lambda rows: rows + rows[-1:]), ['uv.dat']),
]


def spectra_files(v):
    cases = [(SUNS, 'library', *c) for c in LIBRARIES] + [(DAWN, '.', *c) for c in BACKGROUNDS]
    for i, (base, folder, what, make, words) in enumerate(cases):
        name = 'run%d' % i
        make(os.path.normpath(os.path.join(name, folder)))
        ranks = 3 if i % 7 == 0 else 1  # rank 0 reads for all
        r = ptah.simulate(text_of(base), name, ranks, must_work=False, timeout=30)
        refused(v, what, r, words)
        shutil.rmtree(name)


# ---- checkpoints

START = text_of(vary(RAYS, run={'ngroups': 3, 'nstepmax': 1}))
FIELDS = ['photon_density_03', 'photon_flux_01_y', 'x_HII']


def inspect(folder, *options):
    return ptah.Run([ptah.program('inspect'), *options, folder], '.', timeout=60)


def resumed(change, ranks=1, options=()):
    text = text_of(vary(RAYS, run={'ngroups': 3, 'nrestart': 2, 'nstepmax': 2, **change}))
    return ptah.simulate(text, 'run', ranks, options=['--force', *options], must_work=False,
                         timeout=60)


def damage(path, rng, kind):
    """Flips a bit, or cuts the file. Returns the sound content."""
    with open(path, 'rb') as f:
        good = f.read()
    bad = bytearray(good)
    if kind == 'cut':
        del bad[rng.randrange(len(bad)):]
    else:
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
    spectra.write(path, bytes(bad))
    return good


def try_file(v, folder, name, rng):
    """A damaged file, with and without checksums."""
    path, sums = os.path.join(folder, name), os.path.join(folder, 'checksums_00002.txt')
    for kind in ('bit', 'cut', 'gone'):
        with open(path, 'rb') as f:
            good = f.read()
        if kind == 'gone':
            os.remove(path)
        else:
            damage(path, rng, kind)
        what = '%s: %s' % (name, kind)
        v.same(what + ': inspect -c', inspect(folder, '-c').status in (1, 2), True)
        if name != 'rt_file_descriptor.txt':  # which is for other programs
            refused(v, what + ': restart', resumed({}, 3 if kind == 'cut' else 1), [name])
        os.rename(sums, 'sums')
        r = inspect(folder, '-d')
        if r.status == 0:  # what the reader does not need, or cannot know to be wrong
            v.same(what + ': without checksums', r.timed_out, False)
        else:
            refused(v, what + ': without checksums', r, [name], 'inspect')
        os.rename('sums', sums)
        spectra.write(path, good)


def try_hdf5(v):
    """Groups and sets of radiation that are missing, or have another length."""
    import h5py
    folder = ptah.simulate(START, 'h5', settings=['output_params/outformat=hdf5']).outputs[-1]
    name = [n for n in os.listdir(folder) if n.endswith('.h5')][0]
    path = os.path.join(folder, name)
    os.remove(os.path.join(folder, 'checksums_00002.txt'))
    with open(path, 'rb') as f:
        good = f.read()
    for what in ('level_2/photon_1_0', 'level_3/photon_3_2', 'level_3', '.'):
        for cut in (False, True):
            if cut and 'photon' not in what:
                continue
            with h5py.File(path, 'a') as f:
                at = os.path.normpath('ptah/radiation/' + what)
                data = f[at][:-1] if cut else None
                del f[at]
                if cut:
                    f[at] = data
            refused(v, 'HDF5, %s %s' % (at, 'cut' if cut else 'missing'), inspect(folder, '-d'),
                    [name, 'radiation' if what == '.' else what.split('/')[-1]], 'inspect')
            spectra.write(path, good)


def checkpoints(v):
    folder = ptah.simulate(START, 'run').outputs[-1]
    for change, words in (({'ngroups': 5}, ['ngroups=3', 'now 5']),
                          ({'ngroups': 2}, ['group 3', 'ngroups']),
                          ({'rt': False}, ['rt='])):
        refused(v, 'restart with %s' % change, resumed(change), words)
    r = resumed({'ngroups': 5}, options=['--change-model'])
    v.same('restart with more groups, as asked for', r.status, 0)
    for i, field in enumerate(FIELDS):
        r = inspect(folder, '-m', field, '-o', 'map%d.png' % i)
        v.same('map of ' + field, r.status, 0)
    refused(v, 'map of another group', inspect(folder, '-m', 'photon_density_09'),
            ['photon_density_09', 'photon_density_01'], 'inspect')
    rng = random.Random(7)
    for name in sorted(n for n in os.listdir(folder) if 'rt_' in n):
        try_file(v, folder, name, rng)
    try_hdf5(v)


def main():
    v = ptah.Verdict()
    {'parameters': parameters, 'spectra': spectra_files, 'checkpoints': checkpoints}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
