"""Checkpoints of odd but valid states are sound: times and lengths whose exponent has three digits,
particles without mass, cold gas at rest, a blast into a near vacuum. `inspect -cc` accepts them in
both formats, and a run resumes from them.

    extremes.py

Examples of faults caught: a Fortran number without the letter of its exponent, 0.1-120, read as
0.1; a smallr other than that of the run when inspect -cc compares a split cell with its children;
the first cell without positive density of any rank instead of all.
"""
# test: tier=check timeout=240 ranks=3
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

NAMELIST = """
&RUN_PARAMS
hydro=.true.
pic=%s
poisson=%s
nstepmax=2
/
&AMR_PARAMS
levelmin=3
levelmax=4
boxlen=%s
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='ics'
nregion=1
region_type(1)='square'
x_center=%s
y_center=%s
z_center=%s
length_x=1e60
length_y=1e60
length_z=1e60
exp_region=10.0
d_region=0.1
p_region=%s
/
&OUTPUT_PARAMS
foutput=1
noutput=1
tout=1e9
/
"""

# cells fall below smallr, and below zero energy
BLAST = """
&RUN_PARAMS
hydro=.true.
nstepmax=8
/
&AMR_PARAMS
levelmin=3
levelmax=6
/
&INIT_PARAMS
nregion=3
region_type(1)='square'
region_type(2)='square'
region_type(3)='square'
x_center=0.5,0.3,0.7
y_center=0.5,0.271,0.657
z_center=0.5,0.483,0.428
length_x=10.0,0.2,0.1
length_y=10.0,0.2,0.1
length_z=10.0,0.2,0.1
exp_region=10.0,2.0,10.0
d_region=9.5e-10,1.0,1.0
p_region=1.8e-9,0.0026,0.67
u_region=1,5,0
v_region=0,5,-5
/
&OUTPUT_PARAMS
foutput=4
noutput=1
tout=1e9
/
&HYDRO_PARAMS
gamma=1.4
courant_factor=0.8
riemann='acoustic'
/
&REFINE_PARAMS
err_grad_d=0.1
err_grad_p=0.1
/
"""


def case(name, particles, box, pressure):
    half = '%g' % (0.5 * float(box))
    pic = '.true.' if particles else '.false.'
    os.makedirs(os.path.join(name, 'ics'))
    with open(os.path.join(name, 'ics', 'ic_part'), 'w') as f:
        f.write(particles)
    return NAMELIST % (pic, pic, box, half, half, half, pressure)


def check(v, name, text):
    for form in 'original', 'hdf5':
        folder = os.path.join(name, form)
        os.makedirs(folder)
        os.symlink('../ics', os.path.join(folder, 'ics'))
        r = ptah.simulate(text, folder, settings=['output_params/outformat=' + form])
        v.same('%s, %s: checkpoints' % (name, form), len(r.outputs), 3)
        sound = ptah.Run([ptah.program('inspect'), '-cc', *r.outputs], '.')
        v.same('%s, %s: inspect -cc' % (name, form), sound.status, 0)
        print(sound.err[:600], end='')
        again = ptah.simulate(text, folder,
                              options=['-r', os.path.abspath(r.outputs[1]), '-o', 'again'])
        v.same('%s, %s: lines of the digest that a restart changes' % (name, form),
               ptah.changed(ptah.digest(again.outputs[-1]), ptah.digest(r.outputs[-1])), [])


def floor(v):
    """A near vacuum below a smallr that is only in the namelist, as in outputs of RAMSES."""
    r = ptah.simulate(BLAST.replace('gamma=', 'smallr=1d-6\ngamma='), 'floor',
                      settings=['run_params/nstepmax=0'])
    for name in os.listdir(r.outputs[0]):
        if name.startswith(('exact', 'checksum')):
            os.remove(os.path.join(r.outputs[0], name))
    os.rename(os.path.join(r.outputs[0], 'namelist.txt'), 'namelist.txt')
    for status in 1, 0:
        sound = ptah.Run([ptah.program('inspect'), '-cc', r.outputs[0]], '.')
        v.same('below smallr, %s namelist' % ('without' if status else 'with'),
               (sound.status, 'split cell has density' in sound.out), (status, status == 1))
        shutil.copy('namelist.txt', r.outputs[0])


def thin(v):
    """Negative densities, which slopes without limits cause, are reported when they are written."""
    said = []
    for ranks in 1, 3:
        folder = 'on%d' % ranks
        r = ptah.simulate(BLAST, 'thin', ranks=ranks, options=['-q', '-o', folder], settings=[
            'init_params/exp_region=10,10,10', 'init_params/d_region=1.5e-9,1,0.01',
            'init_params/p_region=2e-20,0.1,3e-7',
            'refine_params/interpol_var=1', 'refine_params/interpol_type=3'])
        said.append([line for line in r.err.splitlines() if 'positive density' in line])
    print(*said[0], sep='\n')
    v.same('the same words on 3 ranks', said[1], said[0])
    words = re.search(r'step 4 leaves (\d+) cells .* (level \d+) at (\S+) (\S+) (\S+), ',
                      ''.join(said[0]))
    found = ptah.Run([ptah.program('inspect'), '-cc', r.outputs[1]], '.').out
    v.same('cells without positive density', int(words[1]), found.count('density is -'))
    place = '%s, cell at %s %s %s: density is -' % words.group(2, 3, 4, 5)
    v.same('the first is one of them', place in found, True)


def main():
    v = ptah.Verdict()
    check(v, 'tiny', case('tiny', '', '1e-70', '1e90'))
    check(v, 'massless',
          case('massless', '0.5 0.5 0.5 0 0 0 1\n0.2 0.3 0.4 0.1 0.1 0.1 0\n', '1', '1'))
    check(v, 'cold', case('cold', '', '1', '0'))
    os.makedirs('blast/ics')
    check(v, 'blast', BLAST)
    floor(v)
    thin(v)
    v.end()


if __name__ == '__main__':
    main()
