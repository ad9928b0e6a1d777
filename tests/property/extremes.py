"""Checkpoints of odd but valid states are sound: times and lengths whose exponent has three digits,
particles without mass, cold gas at rest. `inspect -cc` accepts them in both formats, and a run goes
on from them.

    extremes.py

A one-line fault it catches: a Fortran number without the letter of its exponent, 0.1-120, read
as 0.1.
"""
# test: tier=check timeout=120
import os
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


def main():
    v = ptah.Verdict()
    check(v, 'tiny', case('tiny', '', '1e-70', '1e90'))
    check(v, 'massless',
          case('massless', '0.5 0.5 0.5 0 0 0 1\n0.2 0.3 0.4 0.1 0.1 0.1 0\n', '1', '1'))
    check(v, 'cold', case('cold', '', '1', '0'))
    v.end()


if __name__ == '__main__':
    main()
