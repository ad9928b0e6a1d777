"""The run of parameter_runs.py in which each parameter has an effect.

ACTS: the run in which a parameter, set alone to this value, changes a checkpoint, an output, the
log or the exit status, as `group/name=value` of the command line. A value followed by !N ends the
run with exit status N. A new parameter needs an entry.
"""
ACTS = {
    'rays': """
        run/rt=F run/ngroups=4 run/nions=1!2 rt/rt_rule=ramses rt/rt_flux_scheme=hll
        rt/rt_c_fraction=0.004 rt/rt_courant_factor=0.4 rt/rt_nsubcycle=3 rt/rt_smooth=T
        rt/rt_otsa=F rt/rt_is_outflow_bound=T rt/rt_tconst=2e4 rt/x=0.8 rt/y=0.1 rt/ishe=F
        rt/ish2=T rt/cosmic_rays=T rt/rt_is_init_xion=F rt/rt_output_coolstats=T
        rt/rt_pressboost=1e3 rt/rt_isopress=T rt/rt_err_grad_n=-1 rt/rt_floor_n=10
        rt/rt_refine_aexp=2 rt/rt_nsource=1 rt/rt_star=T!2 rt/rt_sink=T!2
        rt/rt_agn=T!2 rt/rt_uvsrc_nhmax=1!2 rt/rt_source_type=point rt/rt_src_x_center=0.4
        rt/rt_src_y_center=0.4 rt/rt_src_length_x=0.1 rt/rt_src_length_y=0.1
        rt/rt_exp_source=10 rt/rt_src_group=2 rt/rt_n_source=2e6 rt/rt_u_source=0.1
        rt/rt_v_source=0.1 rt_groups/groupl0=14,30,60 rt_groups/groupl1=20,40,0
        rt_groups/group_egy=20 rt_groups/group_csn(1,1)=1e-18 rt_groups/group_cse(1,1)=4e-18""",
    'rays3': """
        rt/rt_nregion=0
        rt/rt_src_z_center=0.4 rt/rt_src_length_z=0.1 rt/rt_w_source=0.1 rt/rt_region_type=point
        rt/rt_reg_x_center=0.4 rt/rt_reg_y_center=0.4 rt/rt_reg_z_center=0.4
        rt/rt_reg_length_x=0.6 rt/rt_reg_length_y=0.6 rt/rt_reg_length_z=0.6
        rt/rt_exp_region=10 rt/rt_reg_group=2 rt/rt_n_region=2e-3 rt/rt_u_region=0.1
        rt/rt_v_region=0.1 rt/rt_w_region=0.1""",
    'lit': 'rt/rt_n_bound=2e-4 rt/rt_u_bound=0.3 rt/rt_v_bound=0.3 rt/rt_w_bound=0.3',
    'case_a': 'rt_groups/spec2group=2',
    'fading': 'rt/upload_equilibrium_x=T',
    'fronts': """
        rt/rt_err_grad_xhii=-1 rt/rt_floor_xhii=10""",
    'beams': 'rt/rt_err_grad_cn=-1 rt/rt_floor_cn=10',
    'tails': 'rt/rt_err_grad_xhi=-1 rt/rt_floor_xhi=10',
    'dust': """
        rt/rt_isir=F
        rt/rt_isirtrap=T rt/is_kir_t=T rt/ipeh_group=2 rt_groups/kappaabs=20,2000
        rt_groups/kappasc=20,10""",
    'irradiated': 'rt/rt_t_rad=T',
    'suns': """
        rt/rt_esc_frac=0.5 rt/sed_dir=brighter rt/sedprops_update=1 rt/nsedgroups=1
        rt/sed_isegy=T rt/heat_unresolved_hii=1""",
    'holes': 'rt_groups/group_egy_agnfrac=0.1,0.2,0.3',
    'objects': 'stellar/hii_t=0 stellar/feedback_photon_group=2',
    'dawn': 'rt/uv_file=brighter.dat rt/nuvgroups=2',
    'unlit': 'physics/neq_chem=F rt/is_mu_h2=T',
    'sph': """
        sph/setup=lattice sph/init_file=none!2 sph/npx=9 sph/lattice=cubic sph/kernel=M6
        sph/hfact=1.1 sph/htol=1e-3 sph/eos=isothermal!2 sph/gamma=1.5 sph/alpha_switch=mm97
        sph/alpha_min=0.1 sph/alpha_max=2 sph/beta=3 sph/alphau=0.5 sph/sigma_decay=1
        sph/shock_heating=F sph/pdv_heating=F sph/cfl=0.1 sph/dt_fixed=1e-5 sph/vtol=1e-5
        sph/boundary=free!2 sph/rho0=2 sph/diag_every=2 sph/nsink=1 sph/gpu=T""",
    'packed': """
        sph/seed=2 sph/xmin=-0.1,0,0 sph/xmax=1,1.1,1 sph/p0=2 sph/v0=1,0,0 sph/cfl_force=0.01
        sph/ghost_tol=1.5""",
    'sph_isothermal': 'sph/cs0=0.6',
    'ball': 'sph/gravity=none sph/theta=0.9 sph/g=2',
    'disc': """
        sph/np=300 sph/r0=1.001 sph/q_index=0.26 sph/cs0=0.05001 sph/soften=0.1 sph/nsink=1
        sph/sink_m=1.001,2e-3 sph/sink_x=0,0,0,5 sph/sink_v=0,0,0,0,0.6,0 sph/sink_racc=1.6,1.6
        sph/sink_accretion=phantom sph/disc_mass=0.1 sph/disc_rin=1.1 sph/disc_rout=11
        sph/disc_p=0.5 sph/disc_hr=0.05001""",
    'disc2': 'sph/balance_every=1',
    'point': 'sph/gm=2 sph/external=none!2',
    'stencil': """
        stencil/nx=16 stencil/ny=12 stencil/nz=10 stencil/lx=5 stencil/ly=5 stencil/lz=5
        stencil/order=4 stencil/hydro=F!2 stencil/magnetic=F stencil/entropy=T stencil/lorentz=F
        stencil/cs0=2 stencil/rho0=2 stencil/mu0=2 stencil/nu=0.1 stencil/zeta=0.1 stencil/eta=0.1
        stencil/upwind=T stencil/bext=0.1,0.2,0.3 stencil/cshock=1!2 stencil/cdt=0.2
        stencil/cdtv=0.001 stencil/dt_fixed=0.01 stencil/init_u=roberts stencil/init_a=abc
        stencil/init_lnrho=gaussian stencil/amp_u=0.7 stencil/amp_a=0.2 stencil/amp_lnrho=0.2
        stencil/kx_init=2 stencil/abc_init=1,2,3 stencil/seed=2 stencil/init_file=other.h5!2
        stencil/forcing=none stencil/f0=0.2 stencil/kf=2.5 stencil/sigma=0 stencil/diag_every=1
        stencil/slice_every=2!2 stencil/slice_fields=other!2 stencil/precision=single!2
        stencil/gpu=T""",
    'stencil2': 'stencil/parts=1,2,1 stencil/overlap=F',
    'warm': """
        stencil/gamma=1.5 stencil/cp=2 stencil/chi=0.1 stencil/kcond=0.1 stencil/heating=0.1
        stencil/init_s=gaussian stencil/amp_s=0.2 stencil/f_const=0.1,0.2,0.3
        stencil/slice_axis=x stencil/slice_range=0,1""",
    'driven': """
        turb/turb_seed=5 turb/turb_type=3!2 turb/instant_turb=F turb/comp_frac=0.8
        turb/forcing_power_spectrum=power_law turb/turb_t=0.4 turb/turb_ndt=1 turb/turb_rms=2
        turb/turb_min_rho=1.05""",
    'stirred': """
        turb/driven_turb=F turb/turb_rule=ramses turb/turb_evolving=F turb/turb_exact_rms=T
        turb/initial_turb=F turb/initial_turb_vrms=0.3 turb/initial_turb_spectrum=parabolic
        turb/initial_turb_comp_frac=1""",
    'gas': """
        run/pic=T!0 run/poisson=T run/ndim=2 run/ndim=4!2 run/sink=T!2
        run/use_neutrino=T!2 run/unbind=T!2 run/verbose=T run/tracer=T
        run/ncontrol=2 run/nstepmax=2 run/nsubcycle=1,1 run/static=T run/nrestart=1!2
        run/solver=other!2
        run/static_gas=T output/exact_output_time=T
        run/check_ghosts=T run/jobcontrolfile=other.txt!75 run/gpu_hydro=T run/overload=2!2
        output/noutput=1 output/foutput=3 output/fbackup=1 output/backup_minutes=1e-9
        output/tout=0.01 output/tend=0.01 output/delta_tout=0.01 output/aout=0.5 output/aend=0.5
        output/walltime_hrs=1e-9!75 output/outformat=hdf5 output/longint=T
        output/write_conservative=T amr/levelmin=4
        amr/levelmax=4 amr/ngridmax=1!2 amr/ngridtot=1!2 amr/nexpand=2,2 amr/boxlen=0.9
        init/condinit_kind=other!2 init/init_expr(1)='rho=2'
        init/filetype=grafic!2 init/nregion=1 init/region_type(2)=point init/x_center(2)=0.4
        init/y_center(2)=0.4 init/z_center(2)=0.4 init/length_x(2)=0.4 init/length_y(2)=0.4
        init/length_z(2)=0.4 init/exp_region(2)=10 init/d_region(2)=4 init/u_region(2)=0.4
        init/v_region(2)=0.4 init/w_region(2)=0.4 init/p_region(2)=4 init/var_region(2,1)=0.4
        hydro/gamma=1.6 hydro/courant_factor=0.4 hydro/smallr=2 hydro/smallc=2 hydro/riemann=llf
        hydro/slope_type=2 hydro/scheme=plmde!2 hydro/difmag=0.1 hydro/pressure_fix=T
        hydro/tile_depth=1 hydro/npassive=1 refine/err_grad_d=0.02 refine/err_grad_p=0.02
        refine/err_grad_u=0.02 refine/floor_d=10 refine/interpol_var=1 refine/interpol_type=0
        refine/r_refine=0.2,0.2 units/units_density=1e-24 units/units_time=1e13
        units/units_length=1e20
        turb/turb=T
        physics/cooling=T physics/nothing=T physics/metal=T physics/isothermal=T physics/t_star=1
        physics/eps_star=1 cooling/barotropic_eos=T boundary/nboundary=1!2""",
    'solver': """
        refine/floor_p=10 hydro/niter_riemann=1 hydro/slope_theta=1.1 hydro/beta_fix=0.1
        refine/x_refine=0.3,0.3 refine/y_refine=0.3,0.3 refine/z_refine=0.3,0.3
        refine/a_refine=2,2 refine/b_refine=2,2 refine/exp_refine=10,10""",
    'walls': """
        refine/floor_u=10 boundary/bound_type(1)=1 boundary/ibound_min(8)=-1
        boundary/ibound_max(7)=1 boundary/jbound_min(10)=-1 boundary/jbound_max(9)=1
        boundary/kbound_min(8)=-1 boundary/kbound_max(7)=1 boundary/d_bound(1)=3
        boundary/u_bound(1)=0.5 boundary/v_bound(1)=0.5 boundary/w_bound(1)=0.5
        boundary/p_bound(1)=1 boundary/var_bound(1,1)=0.7 boundary/no_inflow=T""",
    'energies': """
        run/nener=1 init/prad_region(2,1)=0.2 hydro/gamma_rad(1)=1.6 boundary/prad_bound(1,1)=0.2
        refine/err_grad_prad=2,2 refine/floor_prad=100,100""",
    'mhd': """
        run/mhd=F!2 init/a_region=0.5,0.5 init/b_region=0.5,0.5 init/c_region=0.5,0.5
        hydro/riemann2d=llf hydro/slope_mag_type=0 hydro/eta_mag=0.1 hydro/scheme=induction
        hydro/allow_switch_solver=T hydro/allow_switch_solver2d=T refine/interpol_mag_type=0""",
    'switched': """
        hydro/switch_solv_b=0.1 hydro/switch_solv_dens=1.01 hydro/switch_solv_min_dens=10""",
    'drift': 'hydro/velana=ponomarenko',
    'divergent': 'init/allow_divb=T',
    'steep_a': 'refine/err_grad_a=-1 refine/floor_a=100',
    'steep_b': 'refine/err_grad_b=-1 refine/floor_b=100',
    'steep_c': 'refine/err_grad_c=-1 refine/floor_c=100',
    'steep_b2': 'refine/err_grad_b2=-1 refine/floor_b2=100',
    'field_walls': 'boundary/a_bound(3)=0.2 boundary/b_bound(1)=0.9 boundary/c_bound(1)=0.5',
    'hdf5': 'output/deflate=9 output/keep_last=1',
    'timed': 'output/minutes_dump=600!75',
    'tracers': """
        tracer/mc_tracer=T tracer/tracer_feed_fmt=binary!2 tracer/tracer_mass=2e-3
        tracer/tracer_scheme=first tracer/tracer_seed=3""",
    'fed': 'tracer/tracer_feed=other.txt',
    'device': 'run/gpu_device=none run/gpu_seed=2 run/gpu_auto_tune=T run/n_cuda_streams=2',
    'movie': """
        movie/movie=F movie/movie_format=other!2 movie/levelmax_frame=3 movie/nw_frame=9
        movie/nh_frame=7 movie/ivar_frame(1)=0 movie/varmin_frame(1)=0 movie/varmax_frame(1)=1e24
        movie/xcentre_frame(1)=0.4 movie/ycentre_frame(1)=0.6 movie/zcentre_frame(1)=0.45
        movie/deltax_frame(1)=0.5 movie/deltay_frame(1)=0.5 movie/deltaz_frame(1)=0.1
        movie/zoom_only=T movie/zoom_only_frame(1)=T movie/imovout=5 movie/imov=2
        movie/tstartmov=0.02 movie/tendmov=0.025 movie/proj_axis=x movie/movie_vars_txt(1)=temp
        movie/theta_camera(1)=30 movie/phi_camera(1)=30 movie/dtheta_camera(1)=90
        movie/dphi_camera(1)=90 movie/tstart_theta_camera(1)=0.01
        movie/tstart_phi_camera(1)=0.01 movie/tend_theta_camera(1)=0.005
        movie/tend_phi_camera(1)=0.005 movie/focal_camera(1)=0.7 movie/dist_camera(1)=1.2
        movie/ddist_camera(1)=2 movie/perspective_camera(1)=F movie/smooth_frame(1)=3
        movie/shader_frame(1)=sphere movie/method_frame(1)=max""",
    'cosmo_movie': 'movie/astartmov=0.02 movie/aendmov=0.03',
    'collapse': """
        run/gpu_poisson=T run/use_fftw=T poisson/epsilon=0.1 poisson/gravity_type=1
        poisson/self_gravity=F poisson/gravity_rho_ana_type=2
        poisson/mg_maxiter=1
        poisson/cg_levelmin=4 refine/m_refine=0.1,0.1 refine/mass_sph=0.1
        refine/jeans_refine=20,20""",
    'pulled': """
        poisson/gravity_rho_ana_params=0.3,0.5,0.5,0.5 poisson/gravity_force_ana_type=0
        poisson/gravity_force_ana_params=1,1,1""",
    'hasty': 'poisson/abort_on_mg_nonconvergence=T!2',
    'jeans_length': 'refine/d_jeans_thre=1e30',
    'resumed': 'run/remap_pscalar=7,6',
    'reborn': 'run/convert_birth_times=T',
    'due': 'output/match_aout=T',
    'by_mean': 'sf/poissmeanmult=1e4',
    'capped': 'sink/eddington_cap=0.1',
    'core': """
        init/alpha_dense_core=0.4 init/beta_dense_core=0.1 init/crit_dense_core=0.2
        init/delta_rho=0.2 init/theta_mag=10 init/mass_c=0.9 init/mach=1!2""",
    'jeans_core': """
        refine/collapse_jeans_refine=F refine/collapse_jeans_tfloor=0.1
        refine/collapse_jeans_rho_low=1e-17 refine/collapse_jeans_rho_high=1e-21!2""",
    'masked': 'refine/ivar_refine=-1 refine/var_cut_refine=0.05',
    'analytic': 'poisson/gravity_params=1,1,1',
    'both': """
        run/static_dm=T
        run/hydro=F run/pic=F run/poisson=F run/gpu_particles=T run/gpu_fft=T run/dump_pk=T
        run/dump_halos=T run/clumpfind=T!2 amr/npartmax=1!2 amr/nparttot=1!2
        poisson/fft_green=spectral poisson/cic_levelmax=3 refine/mass_cut_refine=1e-6
        init/initfile(1)=other""",
    'halos': 'run/halo_link=0.4 run/halo_min=200 run/halo_bound=T run/dump_halos_every=1',
    'clumps': """
        run/clumpfind_every=1 run/dump_pk_every=1
        clumpfind/ivar_clump=1 clumpfind/relevance_threshold=3 clumpfind/density_threshold=1
        clumpfind/saddle_threshold=10 clumpfind/mass_threshold=100 clumpfind/clinfo=T
        unbinding/nmassbins=5 unbinding/logbins=F unbinding/particlebased_clump_output=T
        unbinding/saddle_pot=F unbinding/iter_properties=F unbinding/conv_limit=100
        unbinding/repeat_max=1""",
    'trees': """
        run/make_mergertree=F mergertree/nmost_bound=20 mergertree/max_past_snapshots=1
        mergertree/use_exclusive_mass=F mergertree/make_mock_galaxies=F""",
    'ranks': """
        run/nremap=3 run/remap_thresh=0.001 run/ordering=hilbert run/memory_balance=F
        run/mem_weight_grid=10 run/mem_weight_part=10000 run/time_balance_alpha=1
        run/exchange_method=p2p run/exchange_shared=F run/exchange_letters=0
        poisson/mg_shared_octs=0""",
    'work': 'run/cost_weighting=F',
    'cosmo': """
        run/aexp_step_limit=1e-5 refine/dr_proper=1e6
        run/cosmo=F!2 run/dlna_max=0.01 run/ramses_cosmology=T output/aout=0.021 output/aend=0.021
        output/delta_aout=0.001 init/omega_b=0.03 init/aexp_ini=0.025""",
    'cone': """
        run/lightcone=F lightcone/cone_rule=crossing lightcone/cone_format=hdf5
        lightcone/cone_format=healpix
        lightcone/thetay_cone=0.04 lightcone/thetaz_cone=0.04 lightcone/zmax_cone=10
        lightcone/maxboxr_cone1=1,0.1,0.1 lightcone/maxboxr_cone2=1,0.1,0.1""",
    'cone_maps': 'lightcone/cone_nside=128',
    'cone_sinks': 'lightcone/cone_sink=T',
    'cone_box': """
        lightcone/cone_hydro=T
        lightcone/elongated_axis_cone1=-1 lightcone/observer_cone1=0.5,0.5,0.5
        lightcone/minboxr_cone1=0,0.05,0 lightcone/elongated_axis_cone2=1
        lightcone/observer_cone2=0.5,0.5,0.5 lightcone/minboxr_cone2=0,0.05,0""",
    'cosmo_mhd': 'init/b_ave=0.001',
    'gadget': """
        init/gadget_unit=0.5 init/gadget_h0=60 init/gadget_omega_m=0.31 output/gadget_output=T""",
    'galaxies': """
        merger/gal_center1=-6,1,0 merger/gal_center2=6,1,0 merger/mgas_disk1=3
        merger/mgas_disk2=0.5 merger/typ_radius1=2 merger/typ_radius2=2 merger/cut_radius1=8
        merger/cut_radius2=8 merger/typ_height1=0.8 merger/typ_height2=0.8 merger/cut_height1=2
        merger/cut_height2=2 merger/rad_profile=Toomre merger/z_profile=exponential
        merger/ig_density_factor=100 merger/vcirc_dat_file1=other.dat
        merger/vcirc_dat_file2=other.dat merger/ic_part_file_gal1=other
        merger/ic_part_file_gal2=other merger/gal_axis1=1,0,0 merger/gal_axis2=1,0,0
        merger/vgal1=10,0,0 merger/vgal2=10,0,0""",
    'dice': """
        dice/ic_file=other.g2 dice/ic_format=Gadget1!2 dice/ic_nfile=2 dice/ig_rho=1e-4
        dice/ig_t2=1e6 dice/ig_metal=0.1 dice/ic_scale_pos=0.9 dice/ic_scale_vel=0.9
        dice/ic_scale_mass=0.9 dice/ic_scale_u=0.9 dice/ic_scale_age=0.9 dice/ic_scale_metal=0.9
        dice/ic_center=1,0,0 dice/ic_t_restart=2 dice/ic_ifout=3 dice/ic_skip_type=2
        dice/ic_head_name=TOP!2 dice/ic_pos_name=XYZ!2
        dice/ic_vel_name=UVW!2 dice/ic_id_name=NO dice/ic_mass_name=M!2 dice/ic_u_name=E!2
        dice/ic_metal_name=NO dice/ic_age_name=NO dice/gadget_scale_l=3e21
        dice/gadget_scale_v=9e4 dice/gadget_scale_m=1.9e43 dice/gadget_scale_t=3e13
        dice/amr_struct=T dice/cosmo_add_gas_index=0!2""",
    'dice_field': """
        dice/ic_mag_const=0,0,0.1 dice/ic_mag_center_x=1 dice/ic_mag_center_y=1
        dice/ic_mag_center_z=1 dice/ic_mag_axis_x=1 dice/ic_mag_axis_y=1 dice/ic_mag_axis_z=-1
        dice/ic_mag_scale_r=3 dice/ic_mag_scale_h=3 dice/ic_mag_scale_b=0.2""",
    'dice_mask': """
        dice/ic_mask_ivar=5 dice/ic_mask_min=1e-6 dice/ic_mask_max=1e-5 dice/ic_mask_ptype=1""",
    'dark': 'cpl/w0=-0.9 cpl/wa=0.1 run/use_ede=T run/use_fr=T run/use_ndgp=T',
    'early': 'ede/omega_ede=0.08 ede/z_ede=100 ede/w_ede=0.5',
    'fr': 'fr/fr0=-1e-5 fr/fr_n=2 fr/n_iter_fr=1!2 fr/fr_eps=1e-5',
    'loose': 'run/scalar_solver_strict=T!2',
    'ndgp': 'ndgp/omega_rc=0.5 ndgp/ndgp_branch=-1 ndgp/n_iter_ndgp=1!2 ndgp/ndgp_eps=1e-9',
    'neutrinos': 'neutrino/omega_nu=0.1 neutrino/neutrino_table=other',
    'cooling': """
        physics/haardt_madau=F physics/cooling_method=implicit physics/self_shielding=T
        physics/z_ave=0.1 physics/t2max=1e4 physics/t2_star=1e6 physics/jeans_ncells=400
        cooling/atomic_rates=abel cooling/uv_table=background.txt cooling/cooling_ism=T
        cooling/x=0.7!2 cooling/y=0.3!2""",
    'power': 'physics/j21=5 physics/a_spec=2',
    'table': 'physics/grackle_table=other.bin',
    'floor': 'physics/n_star=5 physics/g_star=2',
    'jeans': 'run/ramses_2024=T',
    'ism': 'cooling/mu_gas=2',
    'barotropic': """
        cooling/barotropic_eos_form=custom cooling/polytrope_rho=1e-23 cooling/polytrope_index=2
        cooling/t_eos=1e3""",
    'cosmo_cool': """
        physics/z_reion=20 amr/nlevel_collapse=1 refine/q_refine_holdback=F physics/del_star=50""",
    'stars': """
        physics/m_star=10 physics/sf_virial=T physics/sf_trelax=100 physics/f_w=1
        physics/mass_gmc=1e5 physics/kappa_ir=10 physics/delayed_cooling=T physics/t_sne=1
        physics/yieldtablefilename=hopkins2018!2 sf/sf_log_properties=T sf/sf_imf=T
        feedback/eta_sn=0.1 feedback/yield=0.3 feedback/f_esn=2 feedback/momentum_feedback=1
        stellar/iseed=7 run/static_stars=T sf/randomize_sf=F""",
    'debris': 'physics/rbubble=20 physics/f_ek=0.2',
    'virial': 'physics/sf_model=1 sf/sf_tdiss=10 sf/sf_compressive=F',
    'single': 'feedback/eta_ssn=0.5 feedback/mass_star_max=1 feedback/mass_sne_min=1e9',
    'delayed': 'physics/t_diss=1',
    'yields': 'physics/eps_sn1=2 physics/eps_sn2=2 physics/tol=0.9',
    'cosmo_stars': 'run/use_proper_time=T',
    'young': 'clumpfind/age_cut_clfind=0.01',
    'horizon': """
        physics/sink_agn=F physics/ragn=0.1 physics/eagn_t=0.5 physics/tagn=1e9
        physics/t2maxagn=1e9 physics/mloadagn=10 physics/x_floor=0.01 physics/r_gal=10
        physics/boost_acc=0 physics/boost_drag=0 physics/mseed=1e4 physics/sigmav_max=1
        physics/f_bondi=0.1 physics/random_jet=T physics/drag=F physics/bondi=F physics/spin_bh=F
        physics/bhspinmerge=F physics/mad_jet=F physics/rmerge=1""",
    'quasars': 'physics/eagn_k=0.5 physics/selfgrav=F physics/vrel_merge=F',
    'sinks': """
        run/sinkprops=T!2 amr/nsinkmax=1!2 refine/sink_refine=F physics/agn=F
        sink/merging_timescale=1 sink/ir_cloud_massive=2 sink/sink_soft=4
        sink/mass_sink_direct_force=1 sink/ir_cloud=2 sink/nlevelmax_sink=4 sink/eddington_limit=T
        sink/acc_sink_boost=10 sink/mass_smbh_seed=1 sink/t2_agn=1e8 sink/t2_min=1e6
        sink/t2_max=1e6 sink/v_max=10 sink/cone_opening=30 sink/agn_fbk_frac_ener=1
        sink/agn_fbk_frac_mom=0.1 sink/epsilon_kin=0.5 sink/agn_fbk_mode_switch_threshold=0.01
        sink/kin_mass_loading=100 sink/bondi_use_vrel=F sink/agn_acc_method=volume
        sink/agn_inj_method=mass sink/accretion_scheme=none""",
    'sinks2': 'run/mem_weight_sink=1000000000',
    'threshold': 'sink/c_acc=0.4 sink/d_sink=0.5',
    'clusters': 'sink/mass_merger_vel_check=1e-9 sink/max_mass_nsc=1e-9 physics/smbh=F',
    'create': """
        sink/create_sinks=F sink/check_energies=F sink/mass_sink_seed=200 sink/rho_sink=1e-17
        physics/n_sink=1e7 clumpfind/n_clfind=1e9 clumpfind/rho_clfind=1e-15""",
    'seeds': """
        sink/clump_core=T sink/mass_halo_agn=1e9 sink/mass_clump_agn=1e9 sink/mass_star_agn=1e9""",
    'descent': 'sink/fudge_graddescent=3 sink/sink_descent=F',
    'stellar': """
        run/stellar=F stellar/nstellarmax=3!2 stellar/stellar_msink_th=1e-5 stellar/sn_direct=T
        stellar/imf_index=-3 stellar/imf_low=2e-6 stellar/imf_high=1e-5 stellar/lt_t0=1e-4
        stellar/lt_m0=5e-5 stellar/lt_a=0.5 stellar/lt_b=1 stellar/sn_feedback_sink=F
        stellar/stellar_strategy=global stellar/mstellarini=1e-5 stellar/tsat=1 stellar/vsat=1e-3
        stellar/sn_r_sat=0.3 stellar/sn_p_ref=1e35 stellar/sn_e_ref=1e40
        stellar/sn_injection=resolved stellar/vdisp=10 stellar/stellar_info=F""",
    'boost': 'sink/boost_threshold_density=10'}

# Files or log lines that record a parameter without other effects.
RECORDED = {'refine/mass_sph': r'amr_\d+\.out\d+$', 'sink/acc_sink_boost': r'sink_\d+\.csv',
            'sink/bondi_use_vrel': r'sink_\d+\.csv', 'sink/eddington_limit': r'sink_\d+\.csv|log'}

# Parameters without effect in some runs (or *: many), for which no remark is printed, with the
# reason.
QUIET = {}
