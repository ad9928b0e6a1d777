"""A box with radiation for tests: clouds of gas that sources of two groups ionise, heat and
push, on a mesh of three levels that follows photons and gas."""
import os
import re
import shutil

import ptah  # noqa: F401  (the path of read_ramses)
import read_ramses

BOX = """&RUN_PARAMS
hydro=.true.
rt=.true.
ngroups=%(groups)d
nions=%(ions)d
ncontrol=1
nremap=%(nremap)d
nsubcycle=1,2,2
nstepmax=%(steps)d
/
&AMR_PARAMS
levelmin=3
levelmax=%(levelmax)d
nexpand=1
boxlen=0.1
/
&REFINE_PARAMS
err_grad_d=0.3
interpol_type=%(interpol)d
/
&INIT_PARAMS
nregion=3
region_type='square','square','square'
x_center=0.05,0.02,0.075
y_center=0.05,0.03,0.06
z_center=0.05,0.02,0.04
length_x=10.,0.02,0.02
length_y=10.,0.02,0.03
length_z=10.,0.02,0.02
exp_region=10.,2.,10.
d_region=0.05,2.,5.
p_region=1d-5,1d-5,1d-5
%(metals)s/
&OUTPUT_PARAMS
tend=10.
foutput=%(every)d
%(output)s/
&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
/
&UNITS_PARAMS
units_length=3.0857d21
units_density=1.6605390d-24
units_time=3.1556926d13
/
&COOLING_PARAMS
cooling=.true.
%(cooling)s/
%(bounds)s&RT_PARAMS
rt_rule='%(rule)s'
rt_flux_scheme='%(scheme)s'
rt_c_fraction=0.01
rt_smooth=%(smooth)s
rt_nsubcycle=%(nsubcycle)d
rt_otsa=%(otsa)s
rt_output_coolstats=.true.
rt_err_grad_n=0.5
rt_floor_n=1d0
rt_nsource=3
rt_source_type='point','point','point'
rt_src_x_center=0.05,0.0301,0.0701
rt_src_y_center=0.05,0.0502,0.0302
rt_src_z_center=0.05,0.0403,0.0503
rt_src_group=1,1,2
rt_u_source=%(aim).2f,0.,%(aim).2f
rt_v_source=0.,%(aim).2f,0.
rt_w_source=0.,0.,-%(aim).2f
rt_n_source=2d49,%(second)s,1d49
X=0.76
Y=0.24
%(more)s/
&RT_GROUPS
groupL0=13.6,24.59
groupL1=24.59,0.
group_egy=18.85,35.08
group_csn(1,:)=3.0d-18,0.,0.
group_csn(2,:)=5.7d-19,4.5d-18,0.
group_cse(1,:)=2.8d-18,0.,0.
group_cse(2,:)=5.0d-19,4.1d-18,0.
/
"""
# reflecting along x, open along y, imposed below z, open above
BOUNDS = """&BOUNDARY_PARAMS
nboundary=6
ibound_min=-1,+1,-1,-1,-1,-1
ibound_max=-1,+1,+1,+1,+1,+1
jbound_min= 0, 0,-1,+1,-1,-1
jbound_max= 0, 0,-1,+1,+1,+1
kbound_min= 0, 0, 0, 0,-1,+1
kbound_max= 0, 0, 0, 0,-1,+1
bound_type= 1, 1, 2, 2, 3, 2
d_bound=6*0.05
p_bound=6*1d-5
/
"""
PLAIN = dict(groups=2, ions=3, nremap=2, steps=6, every=3, levelmax=5, interpol=1, metals='',
             output='', cooling='', bounds='', rule='ptah', scheme='glf', smooth='.true.',
             nsubcycle=3, otsa='.true.', aim=0.0, second='1d49',
             more='')


def namelist(**changes):
    return BOX % {**PLAIN, **changes}


def photons_of(path):
    """The files of radiation of a checkpoint, which have the layout of those of the gas."""
    number = re.search(r'(\d{5})/?$', path).group(1)
    shadow = os.path.join('shadow', os.path.basename(path.rstrip('/')))
    shutil.rmtree('shadow', ignore_errors=True)
    os.makedirs(shadow)
    for name in os.listdir(path):
        if re.match('hydro', name):
            continue
        to = re.sub('^rt_' + number, 'hydro_' + number, name)
        to = 'hydro_file_descriptor.txt' if name == 'rt_file_descriptor.txt' else to
        shutil.copy(os.path.join(path, name), os.path.join(shadow, to))
    return read_ramses.load(shadow)
