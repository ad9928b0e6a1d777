"""Files of radiation: a run that is resumed from either format, on other ranks, ends in the same
bits; conversions keep them; RAMSES's own readers find what they look for; damage is one sentence.

    radiation_files.py same       restart, convert, repartition
    radiation_files.py damage     files that are missing, cut or altered

Example of a fault caught: the last bits of the density of photons left out, which RAMSES stores
times the speed of light.
"""
# test: same tier=check timeout=60 ranks=2
# test: damage tier=check timeout=60
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
rt=.true.
static_gas=.true.
/
&AMR_PARAMS
levelmin=3
levelmax=3
boxlen=0.3
/
&INIT_PARAMS
nregion=1
region_type='square'
x_center=0.15
y_center=0.15
z_center=0.15
length_x=100.0
length_y=100.0
length_z=100.0
exp_region=10.0
d_region=1d-1
p_region=8.69869d-6
/
&OUTPUT_PARAMS
noutput=2
tout=0.05,0.1
outformat='%s'
/
&HYDRO_PARAMS
gamma=1.6666667
/
&UNITS_PARAMS
units_length=3.0857d21
units_density=1.6605390d-24
units_time=3.1556926d13
/
&COOLING_PARAMS
cooling=.true.
/
&RT_PARAMS
rt_c_fraction=0.0021
rt_nsource=1
rt_source_type='point'
rt_src_x_center=0.11
rt_src_y_center=0.17
rt_src_z_center=0.15
rt_src_group=1
rt_n_source=5d48
/
"""


def digest(path):
    return ptah.Run([ptah.program('inspect'), '-d', path], '.').out.splitlines()


def tool(name, *args):
    return ptah.Run([ptah.program(name), *args], '.')


def other_groups(v, first):
    """The log of a run that resumes says which groups of photons the checkpoint lacks."""
    dark = re.sub(r'&RT_PARAMS.*', '', NAMELIST % 'original', flags=re.S)
    dark = ptah.simulate(dark.replace('rt=.true.', ''), 'dark', options=['-q']).outputs[-2]
    for path, ngroups, says in ((first, 4, 'has 3 of the 4 groups'), (first, 2, 'the first 2 are'),
                                (dark, 3, 'has no radiation: all 3 groups')):
        r = ptah.simulate(NAMELIST % 'original', 'groups%d' % ngroups, must_work=False,
                          settings=['run_params/ngroups=%d' % ngroups, 'run_params/nions=3'],
                          options=['--change-model', '-r', os.path.abspath(path)])
        v.same(says, (r.status, says in r.err), (0, True))


def still(v):
    """Photons alone limit the time step beside hot gas that does not move."""
    hot = (NAMELIST % 'original').replace('static_gas=', 'static=').replace('8.69869d-6', '1d2')
    r = ptah.simulate(hot, 'still', must_work=False, options=['-v'],
                      settings=['run_params/nstepmax=2'])
    limits = set(re.findall(r'Time step of level .*, limited by (.*)', r.err))
    v.same('limits of a static run', (r.status, limits), (0, {'radiation'}))


def same():
    v = ptah.Verdict()
    run = ptah.simulate(NAMELIST % 'original', 'whole', options=['-q'])
    first, last = run.outputs[-2:]
    v.same('the digest has photons', sum('photon_' in w for w in digest(last)), 12)
    ions = [json.loads(tool('inspect', '--ions', '-j', path).out) for path in (first, last)]
    v.same('the run ionises',
           0 < ions[0]['x_HII_volume'] < ions[1]['x_HII_volume'] < 1 and ions[1]['N1'] > 0, True)
    for form in 'ramses', 'hdf5':
        other = os.path.join(form, os.path.basename(first))
        os.makedirs(form, exist_ok=True)
        r = tool('convert', '-q', '-f', form, '-o', other, first)
        v.same('converted to ' + form, (r.status, digest(other)), (0, digest(first)))
        again = ptah.simulate(NAMELIST % 'original', 'from_' + form, ranks=2,
                              options=['-q', '-r', os.path.abspath(other)])
        v.same('resumed from ' + form, digest(again.outputs[-1]), digest(last))
    other_groups(v, first)
    still(v)
    r = tool('repartition', '-n', '3', '-o', 'three', first)
    v.same('on three ranks', (r.status, digest('three')), (0, digest(first)))
    v.same('inspect -cc', tool('inspect', '-cc', 'three').status, 0)
    v.end()


def damage():
    v = ptah.Verdict()
    run = ptah.simulate(NAMELIST % 'original', 'whole', options=['-q'])
    last = run.outputs[-1]
    number = last[-5:]

    def tried(what, name, change):
        shutil.rmtree('bad', ignore_errors=True)
        shutil.copytree(last, 'bad')
        os.remove(os.path.join('bad', 'checksums_%s.txt' % number))
        change(os.path.join('bad', name.replace('NNNNN', number)))
        r = tool('inspect', '-d', 'bad')
        v.same(what, (r.status, r.err.count('\n'), name.split('_NNN')[0] in r.err), (2, 1, True))

    def cut(path):
        os.truncate(path, os.path.getsize(path) * 2 // 3)

    def edit(find, to):
        def change(path):
            with open(path) as f:
                text = f.read()
            with open(path, 'w') as f:
                f.write(re.sub(find, to, text, count=1))
        return change

    tried('a file that is cut', 'rt_NNNNN.out00001', cut)
    tried('last bits that are cut', 'exact_rt_NNNNN.out00001', cut)
    tried('last bits that are missing', 'exact_rt_NNNNN.out00001', os.remove)
    tried('a header that is missing', 'info_rt_NNNNN.txt', os.remove)
    tried('another number of groups', 'info_rt_NNNNN.txt', edit(r'(nGroups +=) *3', r'\1 2'))
    tried('no number', 'info_rt_NNNNN.txt', edit(r'(unit_pf +=).*', r'\1 many'))
    tried('an exact number that is not one', 'info_rt_NNNNN.txt',
          edit(r'( exact) 0x\S+', r'\1 nan'))
    tried('light that stands still', 'info_rt_NNNNN.txt', edit(r'( exact) 0x\S+', r'\1 0x0p+0'))
    shutil.rmtree('bad')
    shutil.copytree(last, 'bad')
    os.remove(os.path.join('bad', 'rt_%s.out00001' % number))
    r = tool('inspect', '-c', 'bad')
    v.same('a check of missing radiation', (r.status, 'rt_%s.out00001' % number in r.out + r.err),
           (1, True))
    v.end()


if __name__ == '__main__':
    {'same': same, 'damage': damage}[sys.argv[1]]()
