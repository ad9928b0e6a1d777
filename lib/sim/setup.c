/* sim/setup: converts parameters into the structs that the modules take. Allocates tables only, and
 * reads headers only. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ckpt/info.h"
#include "comm/share.h"
#include "comm/tuner.h"
#include "hole/horizon.h"
#include "io/file.h"
#include "movie/frame.h"
#include "phys/floor.h"
#include "phys/rates_asked.h"
#include "phys/stars.h"
#include "phys/yields.h"
#include "rt/lights.h"
#include "sim/phase.h"
#include "sim/sim.h"

/* Number of axes from..to-1 beyond whose ends a boundary region lies: there it has no extent. *face
 * is the last of these ends. */
static int ends_of(const struct param_boundary *b, int i, int from, int to, int *face)
{
    const int low[3] = {b->ibound_min[i], b->jbound_min[i], b->kbound_min[i]};
    const int high[3] = {b->ibound_max[i], b->jbound_max[i], b->kbound_max[i]};
    int n = 0;
    for (int d = from; d < to; d++)
        if (low[d] == high[d] && low[d] != 0) *face = 2 * d + (low[d] > 0), n++;
    return n;
}

/* A boundary region of RAMSES covers a face of the box, with or without its edges: the face is the
 * direction in which the region has no extent. Regions of edges and corners alone repeat those of
 * the faces and are ignored, and so are regions beyond an axis that the run does not have. */
static enum err face_of(const struct param_boundary *b, int ndim, int i, int *face)
{
    const int low[3] = {b->ibound_min[i], b->jbound_min[i], b->kbound_min[i]};
    const int high[3] = {b->ibound_max[i], b->jbound_max[i], b->kbound_max[i]};
    int missing = 0;
    for (int d = 0; d < 3; d++)
        if (low[d] < -1 || high[d] > 1 || low[d] > high[d])
            FAIL(ERR_PARAM,
                 "boundary_params: region %d has bounds %d..%d in direction %d: the first must not "
                 "exceed the second, and both must be within -1..1",
                 i + 1, low[d], high[d], d + 1);
    int ends = ends_of(b, i, 0, ndim, face);
    if (ends == 0 && ends_of(b, i, ndim, 3, &missing) == 0)
        FAIL(ERR_PARAM,
             "boundary_params: region %d does not lie on a face of the box: set its bounds in one "
             "direction to -1 or 1",
             i + 1);
    if (ends != 1) *face = -1;
    return OK;
}

static bool is_dropped(const struct param_boundary *b, int ndim, int i)
{
    int face;
    return ends_of(b, i, 0, ndim, &face) == 0;
}

/* Fails unless one region contains the square (i,j) next to the box: RAMSES gives it the state of
 * this region. */
static enum err check_square(const struct param_boundary *b, int ndim, int i, int j)
{
    const char *what = i && j ? "corner" : "face";
    int first = 0;
    for (int r = 0; r < b->nboundary; r++) {
        bool in = b->ibound_min[r] <= i && i <= b->ibound_max[r];
        if (ndim > 1) in = in && b->jbound_min[r] <= j && j <= b->jbound_max[r];
        if (!in || is_dropped(b, ndim, r)) continue;
        if (first)
            FAIL(ERR_PARAM,
                 "boundary_params: the %s i=%d, j=%d next to the box belongs to the regions %d and "
                 "%d: it must belong to one",
                 what, i, j, first, r + 1);
        first = r + 1;
    }
    if (first) return OK;
    FAIL(ERR_PARAM,
         "boundary_params: the %s i=%d, j=%d next to the box belongs to no region: let the regions "
         "of two opposite faces reach from -1 to 1 in the other direction",
         what, i, j);
}

/* In two dimensions each face and each corner of the box must belong to one region, in one
 * dimension each end. In three dimensions edges and corners follow from the faces. */
static enum err check_squares(const struct param_boundary *b, int ndim, const bool bounded[6])
{
    for (int j = -1; j <= 1 && ndim < 3; j++)
        for (int i = -1; i <= 1; i++) {
            bool is_there = (i || j) && (!i || bounded[0]) && (!j || (ndim > 1 && bounded[2]));
            if (is_there) TRY(check_square(b, ndim, i, j));
        }
    return OK;
}

static enum err setup_boundaries(struct sim *s, bool bounded[6])
{
    const struct param_boundary *b = &s->par->boundary;
    struct hydro_par *h = &s->phys.hydro;
    h->no_inflow = b->no_inflow;
    for (int f = 0; f < 6; f++) bounded[f] = false;
    for (int i = 0; i < b->nboundary; i++) {
        int f = -1, type = b->bound_type[i];
        TRY(face_of(b, s->par->run.ndim, i, &f));
        if (is_dropped(b, s->par->run.ndim, i)) continue;
        if (type < 1 || type > 3)
            FAIL(ERR_PARAM,
                 "boundary_params/bound_type(%d)=%d must be 1 (reflecting), 2 (outflow) or 3 "
                 "(imposed)",
                 i + 1, type);
        if (f < 0) continue;
        bounded[f] = true;
        h->bound[f] = type == 1 ? BOUND_REFLECT : type == 2 ? BOUND_OUTFLOW : BOUND_IMPOSED;
        double state[5] = {b->d_bound[i], b->u_bound[i], b->v_bound[i], b->w_bound[i],
                           b->p_bound[i]};
        memcpy(h->bound_state[f], state, sizeof state);
        const double field[3] = {b->a_bound[i], b->b_bound[i], b->c_bound[i]};
        memcpy(s->phys.mhd.bound_b[f], field, sizeof field);
        const int passive = GAS_SCALARS + h->energy.n;
        for (int k = GAS_SCALARS; k < passive; k++)
            h->bound_state[f][k] = b->prad_bound[i][k - GAS_SCALARS];
        for (int k = passive; k < h->nvar; k++) h->bound_state[f][k] = b->var_bound[i][k - passive];
    }
    for (int d = 0; d < s->par->run.ndim; d++)
        if (bounded[2 * d] != bounded[2 * d + 1])
            FAIL(ERR_PARAM,
                 "boundary_params: the box has a boundary at its %s end along %c only: give both "
                 "ends a boundary, or none",
                 bounded[2 * d] ? "lower" : "upper", "xyz"[d]);
    return check_squares(b, s->par->run.ndim, bounded);
}

/* Photons at the boundary regions that lie on a face of the box. */
static void light_boundaries(struct sim *s)
{
    const struct param_boundary *b = &s->par->boundary;
    const struct param_rt *p = &s->par->rt;
    for (int i = 0; i < b->nboundary; i++) {
        int f = -1;
        if (ends_of(b, i, 0, s->par->run.ndim, &f) != 1) continue;
        const double given[RT_COMPONENTS] = {p->rt_n_bound[i], p->rt_u_bound[i], p->rt_v_bound[i],
                                             p->rt_w_bound[i]};
        memcpy(s->phys.rt->bound_given[f], given, sizeof given);
    }
}

/* Number of non-thermal energies: as requested, or as the checkpoint has them. */
static int count_energies(const struct sim *s)
{
    const struct source *from = s->run.restart.from;
    if (from && !param_given(s->par, "run", "nener")) return from->head.energy.n;
    return s->par->run.nener;
}

/* Number of groups of photons, likewise. */
static int count_groups(const struct sim *s)
{
    const struct source *from = s->run.restart.from;
    const bool known = from && from->head.radiation.groups > 0 && param_radiates(s->par);
    if (known && !param_given(s->par, "run", "ngroups")) return from->head.radiation.groups;
    return param_photon_groups(s->par);
}

/* Number of passive scalars: as requested, or as the namelist, the table of yields and the initial
 * conditions imply. */
static int count_scalars(const struct params *p, const struct yields *yields)
{
    const int nener = 0; /* these are not passive */
    int n = yields_elements(yields);
#define SCALAR(symbol, name, on, initial) n += (on) ? 1 : 0;
#include "oct/scalars.def"
    if (p->hydro.npassive >= 0) return p->hydro.npassive > n ? p->hydro.npassive : n;
    if (p->refine.ivar_refine > GAS_SCALARS + n) n = p->refine.ivar_refine - GAS_SCALARS;
    int given = param_given_count(p, "init", "var_region");
    bool grafic = strcmp(p->init.filetype, "grafic") == 0;
    if (!grafic && p->init.nregion > 0 && given > n) n = given;
    char path[512];
    for (int i = 1; i <= NVAR_MAX - GAS_SCALARS && grafic; i++) {
        snprintf(path, sizeof path, "%.256s/ic_pvar_%05d", p->init.initfile[0], i);
        if (access(path, F_OK) != 0) break;
        if (i > n) n = i;
    }
    return n;
}

/* Names the scalars: first those of the physics modules, then the remaining ones as in the
 * checkpoint. */
static void name_variables(const struct sim *s, int nvar, int nener, struct gas_vars *g)
{
    const struct params *p = s->par;
    const struct gas_vars *from = s->run.restart.from ? s->run.restart.from->head.gas : NULL;
    gas_vars_init(g);
#define SCALAR(symbol, name, on, initial)                                                          \
    if (on) gas_vars_add(g, name);
#include "oct/scalars.def"
    for (int e = 0; e < yields_elements(s->phys.yields); e++)
        gas_vars_add(g, yields_element(s->phys.yields, e));
    while (g->n < nvar) {
        const char *name = from && g->n < from->n ? from->name[g->n] : NULL;
        bool given = name && gas_vars_find(from, name) >= 0 && gas_vars_find(g, name) < 0;
        gas_vars_add(g, given ? name : NULL);
    }
}

void sim_initial_scalars(const struct sim *s, double initial[NVAR_MAX])
{
    const struct params *p = s->par;
    const int *at = s->phys.hydro.vars.at;
#define SCALAR(symbol, name, on, value)                                                            \
    if (at[SCALAR_##symbol] >= 0) initial[at[SCALAR_##symbol]] = (value);
#include "oct/scalars.def"
    int hydrogen = gas_vars_find(&s->phys.hydro.vars, "element_H");
    int helium = gas_vars_find(&s->phys.hydro.vars, "element_He");
    if (hydrogen >= 0) initial[hydrogen] = RAMSES_HYDROGEN;
    if (helium >= 0) initial[helium] = 1 - RAMSES_HYDROGEN;
}

enum err sim_more_columns(struct sim *s)
{
    if (s->phys.tracers == TRACER_JUMPS) part_want_all(&s->parts, WHEN_TRACERS);
    if (param_cone_crossing(s->par)) part_want_all(&s->parts, WHEN_CONES);
    /* RAMSES also reads both columns in runs with sinks */
    if (!param_stars(s->par) && !param_sinks_ramses(s->par)) return OK;
    part_want(&s->parts, COL_BIRTH);
    if (s->phys.hydro.vars.at[SCALAR_METAL] >= 0) part_want(&s->parts, COL_METAL);
    if (!param_stars(s->par)) return OK;
    if (param_yields(s->par)) part_want_all(&s->parts, WHEN_YIELDS);
    for (int e = 0; e < yields_elements(s->phys.yields); e++)
        if (part_add(&s->parts, yields_element(s->phys.yields, e), 'd') < 0)
            FAIL(ERR_LIMIT,
                 "the checkpoint has %d further columns of particles, which leave no room for the "
                 "elements of yieldtablefilename='%s'",
                 COL_FURTHER, s->par->physics.yieldtablefilename);
    s->parts.mass_sph = s->amr.refine.mass_sph;
    return OK;
}

/* The Riemann solver of a gas without a magnetic field. */
static enum err setup_riemann(const struct sim *s, enum riemann *riemann)
{
    const char *name = s->par->hydro.riemann;
    *riemann = s->par->run.mhd ? RIEMANN_LLF : hydro_riemann_named(name);
    if (*riemann == RIEMANN_COUNT)
        FAIL(ERR_PARAM, "hydro_params/riemann='%s' is unknown: simulate -p lists the solvers",
             name);
    return OK;
}

static enum err setup_hydro(struct sim *s)
{
    const struct param_hydro *p = &s->par->hydro;
    const struct param_refine *r = &s->par->refine;
    enum riemann riemann;
    TRY(setup_riemann(s, &riemann));
    struct gas_energies energy = {.n = count_energies(s)};
    memcpy(energy.gamma, p->gamma_rad, sizeof energy.gamma);
    /* pressure of trapped infrared photons (Rosdahl & Teyssier 2015, equation 43) */
    if (param_radiates(s->par) && s->par->rt.rt_isirtrap)
        energy.gamma[0] = 1 + s->par->rt.rt_c_fraction / 3;
    int nvar = GAS_SCALARS + energy.n + count_scalars(s->par, s->phys.yields);
    if (s->run.restart.from && p->npassive < 0 && s->run.restart.from->head.nvar > nvar)
        nvar = s->run.restart.from->head.nvar;
    if (nvar > NVAR_MAX)
        FAIL(ERR_PARAM, "hydro_params/npassive: this build has at most %d passive scalars",
             NVAR_MAX - GAS_SCALARS);
    patch_scratch_free(&s->phys.hydro.scratch);
    s->phys.fresh = (struct hydro_fresh){0};
    s->phys.hydro = (struct hydro_par){
        .nvar = nvar,
        .scratch = patch_scratch_new(),
        .fresh = &s->phys.fresh,
        .energy = energy,
        .gamma = p->gamma,
        .smallr = p->smallr,
        .smallc = p->smallc,
        .courant_factor = s->par->run.hydro ? p->courant_factor : 0.5,
        .riemann = riemann,
        .niter_riemann = p->niter_riemann,
        .slope_type = (enum slope)p->slope_type,
        .slope_theta = p->slope_theta,
        .predictor = strcmp(p->scheme, "plmde") == 0 ? PREDICT_PLMDE : PREDICT_MUSCL,
        .difmag = p->difmag,
        .pressure_fix = p->pressure_fix,
        .beta_fix = p->beta_fix,
        .tile_depth = p->tile_depth,
        /* a given flow needs no total energy that is conserved, but a pressure that is positive */
        .interpol_var = strcmp(p->scheme, "induction") == 0 ? 1 : r->interpol_var,
        .interpol_type = r->interpol_type,
        .err_grad_d = r->err_grad_d,
        .err_grad_p = r->err_grad_p,
        .err_grad_u = r->err_grad_u,
        .floor_d = r->floor_d,
        .floor_p = r->floor_p,
        .floor_u = r->floor_u};
    memcpy(s->phys.hydro.err_grad_energy, r->err_grad_prad, sizeof r->err_grad_prad);
    memcpy(s->phys.hydro.floor_energy, r->floor_prad, sizeof r->floor_prad);
    name_variables(s, nvar, energy.n, &s->phys.hydro.vars);
    return OK;
}

/* The flow of scheme='induction'. */
static enum mhd_flow flow_of(const struct param_hydro *p)
{
    if (strcmp(p->scheme, "induction") != 0) return FLOW_NONE;
    return strcmp(p->velana, "abc") == 0 ? FLOW_ABC : FLOW_PONOMARENKO;
}

static enum err setup_mhd(struct sim *s)
{
    const struct param_hydro *p = &s->par->hydro;
    const struct param_refine *r = &s->par->refine;
    if (!s->par->run.mhd) return OK;
    s->phys.mhd = (struct mhd_par){
        .gas = &s->phys.hydro,
        .riemann = mhd_solver_named(p->riemann),
        .riemann2d = mhd_edge_solver_named(p->riemann2d),
        .switches = p->allow_switch_solver,
        .switches_edge = p->allow_switch_solver2d,
        .switch_b = p->switch_solv_b,
        .switch_ratio = p->switch_solv_dens,
        .switch_density = p->switch_solv_min_dens,
        .slope_mag = (enum slope)(p->slope_mag_type < 0 ? p->slope_type : p->slope_mag_type),
        .interpol_mag = r->interpol_mag_type < 0 ? r->interpol_type : r->interpol_mag_type,
        .flow = flow_of(p),
        .eta = p->eta_mag,
        .err_grad_b2 = r->err_grad_b2,
        .err_grad_b = {r->err_grad_a, r->err_grad_b, r->err_grad_c},
        .floor_b2 = r->floor_b2,
        .floor_b = {r->floor_a, r->floor_b, r->floor_c}};
    if (s->phys.mhd.riemann == MHD_SOLVERS || s->phys.mhd.riemann2d == MHD_EDGE_SOLVERS)
        FAIL(ERR_PARAM,
             "hydro_params/riemann='%s' or riemann2d='%s' is unknown: simulate -p lists the "
             "solvers",
             p->riemann, p->riemann2d);
    return OK;
}

/* Coarsest level solved by FFT. Below 64³ cells multigrid takes negligible time, and agrees with
 * RAMSES to the last digit. */
static int fft_levelmin(const struct params *p)
{
    if (!p->run.use_fftw) return LEVEL_MAX + 1;
    return param_given(p, "run", "use_fftw") ? 1 : PARAM_FFT_LEVEL;
}

static enum err check_deposit(const struct params *p)
{
    int top = p->poisson.cic_levelmax;
    if (top > 0 && top < p->amr.levelmin)
        FAIL(ERR_PARAM,
             "poisson_params/cic_levelmax=%d is less than levelmin=%d: no dark matter would be "
             "deposited; set at least levelmin, or 0 for no limit",
             top, p->amr.levelmin);
    return OK;
}

static enum err setup_green(struct sim *s)
{
    const struct params *p = s->par;
    const char *name = p->poisson.fft_green;
    if (strcmp(name, "discrete") == 0) return OK;
    if (!p->run.use_fftw)
        FAIL(ERR_PARAM, "poisson_params/fft_green='%s' needs use_fftw=.true.", name);
    s->phys.grav.fft_levelmin = 1;
    s->phys.grav.green = strcmp(name, "spectral") == 0 ? GREEN_SPECTRAL : GREEN_PARTICLES;
    if (s->phys.grav.green == GREEN_PARTICLES && p->run.hydro)
        FAIL(ERR_PARAM,
             "poisson_params/fft_green='particles' corrects for the deposit of particles, which "
             "makes the force on gas too strong: set hydro=.false., or another fft_green");
    return OK;
}

/* (Ω_ν/Ω_cb) R(k, a): source of the neutrinos in units of the source on the mesh. */
static double neutrino_response(const void *ctx, double wave)
{
    const struct sim *s = ctx;
    double omega_nu = s->par->neutrino.omega_nu, k = 2 * M_PI * wave / s->phys.cosmo_par.boxlen_ini;
    return omega_nu / (s->phys.cosmo_par.omega_m - omega_nu) *
           response_at(s->phys.neutrino, k, s->time.aexp);
}

static enum err setup_neutrinos(struct sim *s)
{
    const struct params *p = s->par;
    if (!p->run.use_neutrino) return OK;
    if (!p->run.cosmo || !p->run.poisson)
        FAIL(ERR_PARAM, "run_params/use_neutrino=.true. needs cosmo=.true. and poisson=.true.");
    if (!p->run.use_fftw)
        FAIL(ERR_PARAM, "run_params/use_neutrino=.true. needs use_fftw=.true.: the response is in "
                        "Fourier space");
    if (!(p->neutrino.omega_nu > 0 && p->neutrino.omega_nu < 1))
        FAIL(ERR_PARAM, "neutrino_params/omega_nu=%g must be between 0 and 1 with use_neutrino",
             p->neutrino.omega_nu);
    enum err err = response_read(p->neutrino.neutrino_table, &s->phys.neutrino);
    TRY(err_agree(&s->comm, err_of_param(err, "neutrino_params/neutrino_table")));
    s->phys.grav.fft_levelmin = 1;
    s->phys.grav.response = neutrino_response;
    s->phys.grav.response_ctx = s;
    return OK;
}

struct units sim_units(const struct sim *s)
{
    return units_at(&s->par->units, s->phys.cosmo ? &s->phys.cosmo_par : NULL, s->time.aexp);
}

struct cosmo_dark sim_dark(const struct params *p)
{
    return cosmo_dark_of(p->cpl.w0, p->cpl.wa, p->run.use_ede, p->ede.omega_ede, p->ede.z_ede,
                         p->ede.w_ede);
}

enum err sim_cosmology(struct sim *s)
{
    double omega_nu = s->phys.neutrino ? s->par->neutrino.omega_nu : 0;
    if (omega_nu >= s->phys.cosmo_par.omega_m)
        FAIL(ERR_PARAM, "neutrino_params/omega_nu=%g must be below omega_m=%g", omega_nu,
             s->phys.cosmo_par.omega_m);
    s->phys.cosmo_par.ramses = s->par->run.ramses_cosmology;
    s->phys.cosmo_par.dark = sim_dark(s->par);
    TRY(cosmo_new(&s->phys.cosmo_par, &s->phys.cosmo));
    return fifth_new(s->par, &s->phys.cosmo_par, &s->phys.grav, &s->phys.fifth);
}

/* Checks files that the run reads or appends to later. Rank 0. */
static enum err check_files(const struct sim *s)
{
    if (s->run.cost.profile_path) TRY(file_may_append(s->run.cost.profile_path));
    if (s->par->sf.sf_log_properties) TRY(file_may_append(STAR_LOG));
    return sim_check_orders(s);
}

/* ---- driven turbulence ---- */

uint64_t sim_turb_seed(const struct sim *s)
{
    const int given = s->par->turb.turb_seed;
    return (uint64_t)(given == -1 ? s->phys.turb_seed : given);
}

/* Content of a file of the checkpoint, on all ranks; *text NULL: there is none. (collective) */
static enum err checkpoint_file(const struct sim *s, enum files_kind k, char **text, size_t *bytes)
{
    enum { BYTES_MAX = 1 << 25 };
    const struct source *from = s->run.restart.from;
    char path[PATH_MAX], name[FILES_NAME];
    enum err e = OK;
    *text = NULL, *bytes = 0;
    if (!from) return OK;
    files_name(k, from->number, 1, name);
    if (s->comm.rank == 0) e = info_path(from, k, path);
    if (s->comm.rank == 0 && e == OK && file_exists(path)) {
        if (manifest_has(from->list, name)) e = manifest_check_file(from->list, from->path, name);
        if (e == OK) e = file_load(path, BYTES_MAX, text, bytes);
    }
    TRY(err_agree(&s->comm, e));
    comm_bcast(&s->comm, bytes, sizeof *bytes, 0);
    if (*bytes == 0) return OK;
    if (s->comm.rank > 0) *text = mem_zero(*bytes + 1, "turbulence");
    comm_bcast(&s->comm, *text, *bytes, 0);
    return OK;
}

/* turb_seed=-1: the seed of the checkpoint, or of the clock. (collective) */
static enum err find_seed(struct sim *s)
{
    enum { LARGEST = 0x7fffffff };
    char *text;
    size_t bytes;
    TRY(checkpoint_file(s, FILES_TURBULENCE_SEED, &text, &bytes));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t seed = (int64_t)(rng_mix((uint64_t)now.tv_sec ^ (uint64_t)now.tv_nsec << 32) & LARGEST);
    if (text) seed = strtol(text, NULL, 10) & LARGEST;
    mem_free(text);
    comm_bcast(&s->comm, &seed, sizeof seed, 0);
    s->phys.turb_seed = (int)seed;
    log_info(" Turbulence: turb_seed=%d", s->phys.turb_seed);
    return OK;
}

/* The state of RAMSES's driving in the checkpoint. (collective) */
static enum err restore_driving(struct sim *s)
{
    static const enum files_kind kind[TURB_FILES] = {FILES_TURBULENCE, FILES_TURBULENCE_LAST,
                                                     FILES_TURBULENCE_NEXT};
    struct turb_files f = {0};
    enum err e = OK;
    if (!turb_has_state(s->phys.turb) || !s->run.restart.from) return OK;
    for (int i = 0; i < TURB_FILES && e == OK; i++)
        e = checkpoint_file(s, kind[i], &f.at[i], &f.bytes[i]);
    if (e == OK && !f.at[TURB_TEXT])
        e = err_set(ERR_FORMAT,
                    "%s: has no turb_fields.dat, the state of driven turbulence, which "
                    "turb_rule='%s' needs: set turb_rule='signed'",
                    s->run.restart.from->path, s->par->turb.turb_rule);
    if (e == OK) e = turb_restore(s->phys.turb, &f, s->run.restart.from->path);
    for (int i = 0; i < TURB_FILES; i++) mem_free(f.at[i]);
    return err_agree(&s->comm, e);
}

static enum err setup_turbulence(struct sim *s)
{
    const struct params *p = s->par;
    if (!param_turb_drives(p) && !param_turb_starts(p)) return OK;
    if (p->turb.turb_seed == -1) TRY(find_seed(s));
    if (!param_turb_drives(p)) return OK;
    TRY(turb_new(p, sim_turb_seed(s), 0, &s->phys.turb));
    TRY(restore_driving(s));
    log_info(" Turbulence is driven: %s, turb_rms=%g, turb_T=%g%s", p->turb.forcing_power_spectrum,
             p->turb.turb_rms, p->turb.turb_t, param_turb_evolves(p) ? "" : ", one static field");
    return OK;
}

static void setup_gravity(struct sim *s)
{
    const struct params *p = s->par;
    const struct param_gravity asked = param_gravity(p);
    s->phys.grav = (struct grav_par){.epsilon = p->poisson.epsilon,
                                     .cycles = p->poisson.mg_maxiter,
                                     .strict = p->poisson.abort_on_mg_nonconvergence,
                                     .analytic = !param_solves_gravity(p),
                                     .density_type = asked.density,
                                     .force_type = asked.force,
                                     .cg_levelmin = p->poisson.cg_levelmin,
                                     .mg_shared_octs = p->poisson.mg_shared_octs,
                                     .fft_levelmin = fft_levelmin(p),
                                     .fft_fixed = p->run.gpu_fft,
                                     .boxlen = p->run.cosmo ? 1.0 : p->amr.boxlen,
                                     .unit_l = p->units.units_length,
                                     .unit_d = p->units.units_density,
                                     .unit_t = p->units.units_time,
                                     .verbose = log_verbosity() >= 1};
    memcpy(s->phys.grav.density_params, asked.density_params, sizeof s->phys.grav.density_params);
    memcpy(s->phys.grav.force_params, asked.force_params, sizeof s->phys.grav.force_params);
}

static void setup_sinks(struct sim *s)
{
    const struct params *p = s->par;
    struct sink_state *k = s->phys.sinks = sinks_new(param_sinks_ramses(p) ? NULL : &hole_kind);
    if (p->sink.sink_descent) k->table.family |= SINK_DESCENT;
    if (param_cone_sinks(p) && param_cone_crossing(p)) k->table.family |= SINK_CONE;
    s->phys.stellar = stellar_new(p, k);
    k->table.recalls = s->phys.flux || s->phys.stellar;
}

enum err sim_setup(struct sim *s)
{
    const struct params *p = s->par;
    bool bounded[6];
    TRY(err_agree(&s->comm, s->comm.rank == 0 ? check_files(s) : OK));
    s->check.ghosts = p->run.check_ghosts;
    s->comm.empty_messages = p->run.exchange_letters;
    if (p->run.exchange_shared) s->comm.share = comm_share_new(&s->comm);
    if (s->comm.size > 1) s->comm.tuner = tuner_new(p->run.exchange_method);
    tuner_report(&s->comm);
    if (param_yields(p))
        TRY(err_agree(&s->comm,
                      err_of_param(yields_new(p->physics.yieldtablefilename, &s->phys.yields),
                                   "physics_params/yieldtablefilename")));
    TRY(setup_hydro(s));
    TRY(setup_mhd(s));
    TRY(setup_boundaries(s, bounded));
    if (p->run.cosmo && (bounded[0] || bounded[2] || bounded[4]))
        FAIL(ERR_PARAM, "run_params/cosmo=.true. needs a periodic box: set nboundary=0");
    if (p->run.cosmo && !s->run.restart.from && strcmp(p->init.filetype, "ascii") == 0)
        FAIL(ERR_PARAM, "run_params/cosmo=.true. takes its cosmology from GRAFIC files or files of "
                        "Gadget: set filetype='grafic' or 'gadget', and initfile");
    setup_gravity(s);
    TRY(check_deposit(p));
    TRY(setup_green(s));
    TRY(setup_neutrinos(s));
    for (int l = 1; l <= p->amr.levelmax; l++) {
        int i = l - p->amr.levelmin;
        s->time.nsubcycle[l] = i >= 0 ? p->run.nsubcycle[i] : 1;
        s->amr.refine.nexpand[l] = i >= 0 ? p->amr.nexpand[i] : 1;
        if (s->time.nsubcycle[l] < 1)
            FAIL(ERR_PARAM, "run_params/nsubcycle(%d)=%d must be 1 or 2", i + 1,
                 s->time.nsubcycle[l]);
    }
    s->amr.refine.mass_sph = p->refine.mass_sph;
    s->phys.tracers = tracer_way(p);
    if (s->phys.tracers == TRACER_JUMPS) s->phys.flux = tracer_flux_new();
    if (p->run.sink) setup_sinks(s);
    mesh_init(&s->mesh, p->amr.levelmin, p->amr.levelmax, s->phys.hydro.nvar, p->run.hydro,
              p->run.poisson ? 1 + fifth_asked(p) : 0, p->run.cosmo ? 1.0 : p->amr.boxlen, bounded);
    mesh_set_ndim(&s->mesh, p->run.ndim);
    mesh_set_magnetic(&s->mesh, p->run.mhd);
    mesh_set_energies(&s->mesh, s->phys.hydro.energy.n);
    TRY(rt_new(p, &s->phys.hydro, count_groups(s), &s->phys.rt));
    if (s->phys.rt)
        TRY(rt_lights_new(s->phys.rt, &s->comm, s->phys.cosmo ? &s->phys.cosmo_par : NULL));
    if (s->phys.rt) light_boundaries(s);
    mesh_set_photons(&s->mesh, s->phys.rt ? s->phys.rt->ngroups : 0);
    TRY(setup_turbulence(s));
    const struct movie_kinds has = {p->run.hydro ? &s->phys.hydro.vars : NULL, p->run.ndim,
                                    p->run.mhd};
    return observe_movie(p, &has, &s->run.movie);
}

struct sink_run sim_sinks(struct sim *s)
{
    return (struct sink_run){.sinks = s->phys.sinks,
                             .par = s->par,
                             .hydro = &s->phys.hydro,
                             .comm = &s->comm,
                             .dom = s->dom,
                             .mesh = &s->mesh,
                             .cosmo = s->phys.cosmo ? &s->phys.cosmo_par : NULL,
                             .reflect = s->parts.reflect,
                             .noct = s->amr.noct,
                             .dtnew = s->time.dtnew,
                             .dtold = s->time.dtold,
                             .t = s->time.t,
                             .aexp = s->time.aexp,
                             .units = sim_units(s),
                             .quantum = s->phys.matter.quantum,
                             .mass_sph = s->amr.refine.mass_sph,
                             .nstep_coarse = s->time.nstep_coarse,
                             .captured = s->phys.flux ? &tracers_ledger(s->phys.flux)->captured
                                                      : NULL,
                             .mirror = s->device.mirror,
                             .on_ghosts = s->amr.on_ghosts};
}

struct tracer_run sim_tracers(struct sim *s)
{
    return (struct tracer_run){.par = s->par,
                               .hydro = &s->phys.hydro,
                               .comm = &s->comm,
                               .dom = s->dom,
                               .mesh = &s->mesh,
                               .parts = &s->parts,
                               .flux = s->phys.flux,
                               .nsubcycle = s->time.nsubcycle,
                               .dt = s->time.dtnew,
                               .nstep = s->time.nstep};
}

enum err sim_tracers_swap(struct sim *s, int l, bool coarse)
{
    struct tracer_run r = sim_tracers(s);
    return s->phys.flux && param_stars(s->par) ? tracers_swap(&r, l, coarse) : OK;
}

enum err sim_follow_sinks(struct sim *s, bool jets)
{
    struct tracer_run r = sim_tracers(s);
    struct sinks *k = &s->phys.sinks->table;
    if (s->phys.flux && jets) tracers_launch(&r);
    if (s->phys.flux) TRY(tracers_join_sinks(&r, 0));
    if (jets || !k->recalls) return OK;
    struct sink_places at = sink_places(k, &s->comm);
    if (s->phys.flux) tracers_follow_sinks(&r, &at);
    if (s->phys.stellar) stellar_follow_sinks(s->phys.stellar, &at);
    FREE(at.at);
    return OK;
}

enum err step_swap_tracers(struct sim *s, int l, int icount)
{
    return sim_tracers_swap(s, l, false);
}

/* ---- cooling rates, from parameters and cosmology ---- */

static enum err make_cooling(struct sim *s)
{
    static const char *const name[] = {[UV_COURTY] = "Courty & Alimi (2004)",
                                       [UV_THEUNS] = "a power law (Theuns et al. 1998)",
                                       [UV_TABLE] = "a table"};
    if (!s->mesh.hydro || !s->par->physics.cooling || floor_rules(s->par)) return OK;
    if (s->phys.rt) return OK; /* the chemistry has rates of its own */
    struct cool_par p = rates_asked(s->par, s->phys.cosmo ? &s->phys.cosmo_par : NULL);
    if (p.cosmo && !(p.mean.omega_b > 0))
        FAIL(ERR_PARAM, "cooling=.true. needs omega_b > 0 in &INIT_PARAMS");
    TRY(err_agree(&s->comm, cool_new(&p, &s->phys.cooling)));
    if (p.method == COOL_ISM) {
        log_info(" Cooling: interstellar medium (Audit & Hennebelle 2005), mu_gas=%g", p.mu);
        return OK;
    }
    log_info(" Cooling: cooling_method='%s', ultraviolet background: %s",
             s->par->physics.cooling_method, name[p.uv.model]);
    return OK;
}

/* Prepares the source terms of a run before its first step. */
enum err sim_physics(struct sim *s)
{
    star_log_law(s->par);
    return make_cooling(s);
}

/* ---- gas with or without a magnetic field ---- */

void sim_restrict_gas(struct sim *s, int l)
{
    if (s->mesh.magnetic)
        mhd_restrict(&s->mesh, l, &s->phys.mhd);
    else
        hydro_restrict(&s->mesh, l, &s->phys.hydro);
}

static void warn_field(const struct sim *s, const struct mhd_maxima *max)
{
    const struct mhd_par *p = &s->phys.mhd;
    if (max->wall > SIM_DOUBLE * max->strength)
        log_info(
            " Warning: a field of %.2g passes through a reflecting wall, through which gas then "
            "leaks (docs/method/mhd.md)",
            max->wall);
    /* Edge solvers but 'upwind' diffuse a field in a given flow with the fast speed, and the time
     * step of such a run counts the flow alone. */
    if (p->flow != FLOW_NONE && p->riemann2d != MHD_EDGE_UPWIND)
        log_info(
            " Warning: scheme='induction' with riemann2d='%s' is unstable where waves are faster "
            "than the flow, from which alone the time step follows: riemann2d='upwind' is not",
            s->par->hydro.riemann2d);
}

static enum err field_is_finite(const struct sim *s, struct mhd_maxima *max)
{
    if (mhd_maxima(&s->mesh, s->phys.hydro.bound, max)) return OK;
    FAIL(
        ERR_FORMAT,
        "level %d, cell at %.9g %.9g %.9g: the magnetic field is NaN, infinite or above 1e154: see "
        "inspect -cc",
        max->level, max->x[0], max->x[1], max->x[2]);
}

enum err sim_check_field(const struct sim *s)
{
    const bool files = strcmp(s->par->init.filetype, "grafic") == 0;
    struct mhd_maxima max;
    TRY(err_agree(&s->comm, field_is_finite(s, &max)));
    comm_max_f64(&s->comm, &max.divergence, 3);
    const double divb = max.divergence > 0 ? max.divergence / max.strength : 0;
    if (divb > (files ? SIM_SINGLE : SIM_DOUBLE) && !s->par->init.allow_divb)
        FAIL(ERR_PARAM,
             "the magnetic field is not free of divergence: |div B| dx is %.2g of the strongest "
             "field: let %s, or set allow_divb=.true. in &INIT_PARAMS to keep it, as RAMSES does",
             divb,
             files ? "the fields of a cell's faces add up to nothing"
                   : "regions that touch have the same field across their faces");
    if (divb > 0) log_info(" Magnetic field: |div B| dx is at most %.2g of the strongest", divb);
    warn_field(s, &max);
    return OK;
}
