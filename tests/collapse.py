"""Two clouds that collapse: gas in which sinks form out of clumps (create_sinks).

    RUN % dict(LAW['core'], steps=6, every=5)

LAW has the parameters in which the cases differ. Positions, sizes and densities make all cells
different, so that each clump has one peak.
"""
RUN = """
&RUN_PARAMS
hydro=.true.
poisson=.true.
pic=.true.
sink=.true.
nsubcycle=1,2
nstepmax=%(steps)s
/
&AMR_PARAMS
levelmin=4
levelmax=6
nexpand=1,1,1
boxlen=2
/
&REFINE_PARAMS
mass_sph=3e-4
m_refine=3*8.
interpol_type=0
interpol_var=1
sink_refine=.true.
/
&HYDRO_PARAMS
gamma=1.666667
courant_factor=0.8
slope_type=1
riemann='hllc'
pressure_fix=.true.
beta_fix=0.5
/
&INIT_PARAMS
nregion=6
region_type(1)='square'
region_type(2)='square'
region_type(3)='square'
region_type(4)='square'
region_type(5)='square'
region_type(6)='square'
x_center=1,0.63,0.66,0.68,1.41,1.45
y_center=1,0.71,0.73,0.72,1.33,1.30
z_center=1,0.57,0.56,0.53,1.43,1.46
length_x=10,0.7,0.42,0.22,0.6,0.3
length_y=10,0.6,0.40,0.20,0.7,0.32
length_z=10,0.7,0.38,0.24,0.6,0.28
exp_region=10,2,2,2,2,2
d_region=0.3,5,15,40,6,22
u_region=0,0,0,0,0.3,0.3
v_region=0,0.2,0.2,0.2,0,0
p_region=0.03,0.03,0.05,0.1,0.03,0.06
/
&OUTPUT_PARAMS
foutput=%(every)s
tend=10
/
&UNITS_PARAMS
units_density=1.50492957435d-20
units_time=3.1556926d13
units_length=3.0857d18
/
&SF_PARAMS
T2_star=10.
n_star=1e3
/
&SINK_PARAMS
create_sinks=.true.
mass_sink_seed=2
%(law)s
/
&CLUMPFIND_PARAMS
clinfo=.true.
%(clumps)s
/
"""
# collapse: criteria for low-mass stars with energy checks; core: without checks, clumps cut; holes:
# black holes
LAW = {
    'collapse': {'law': "d_sink=60\naccretion_scheme='bondi'", 'clumps': ''},
    'core': {'law': "n_sink=3e5\ncheck_energies=.false.\nclump_core=.true.\n"
                    "accretion_scheme='bondi'\nir_cloud=3\nir_cloud_massive=3",
             'clumps': 'relevance_threshold=1.5\ndensity_threshold=4'},
    'holes': {'law': "smbh=.true.\nmass_smbh_seed=1\nmass_halo_AGN=100\nmass_clump_AGN=20\n"
                     "d_sink=60\naccretion_scheme='bondi'",
              'clumps': 'saddle_threshold=2\ndensity_threshold=1'}}
