/* param/check: the checks that need only the parameters. Messages name parameters as `name` of
 * &GROUP. */
#include <stdlib.h>
#include <string.h>

#include "param/row.h"

static enum err check_run(const struct params *p);
static enum err check_mesh(const struct params *p);
static enum err check_outputs(const struct params *p);
static enum err check_initial(const struct params *p);
static enum err check_gas(const struct params *p);
static enum err check_cooling(const struct params *p);
static enum err check_chemistry(const struct params *p);
static enum err check_boundaries(const struct params *p);
static enum err check_stars(const struct params *p);
static enum err check_refinement(const struct params *p);
static enum err check_feedback(const struct params *p);
static enum err check_tracers(const struct params *p);
static enum err check_cones(const struct params *p);

enum err param_check(struct params *p)
{
    param_complete(p);
    TRY(param_check_solver(p));
    if (param_solver_is(p, "stencil")) TRY(param_check_stencil(p));
    const bool box = param_given(p, "sph", "xmin") || param_given(p, "sph", "xmax");
    if (param_solver_is(p, "sph")) TRY(param_check_sph(&p->sph, box));
    if (param_solver_group(p)) return check_outputs(p);
    if (param_given(p, "run", "ndim")) TRY(param_check_dims(p));
    if (p->run.mhd) TRY(param_check_mhd(p));
    TRY(check_run(p));
    TRY(check_mesh(p));
    TRY(check_outputs(p));
    TRY(check_initial(p));
    TRY(check_gas(p));
    TRY(check_cooling(p));
    TRY(check_chemistry(p));
    TRY(check_refinement(p));
    TRY(check_stars(p));
    TRY(check_feedback(p));
    TRY(check_tracers(p));
    TRY(check_boundaries(p));
    TRY(param_check_sinks(p));
    TRY(param_check_clumps(p));
    return check_cones(p);
}

/* Resets parameters of groups that RAMSES does not read to their defaults (a pure N-body run has
 * courant_factor = 0.5 whatever its &HYDRO_PARAMS has), and sets implied parameters. */
void param_complete(struct params *p)
{
    const char *why;
    if (p->run.make_mergertree) p->run.unbind = true; /* implied; it decides about a group */
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        if (!param_group_read(p, row->group, &why)) param_reset(p, row);
    }
    if (!p->run.hydro) p->init.omega_b = 0;
    if (param_radiates(p) && p->rt.rt_star) p->run.use_proper_time = true; /* as in RAMSES */
    if (param_stars(p) || p->run.sink) p->run.pic = true; /* implied, as in RAMSES */
    if (p->run.tracer) p->run.pic = true;
    int nt = param_given_count(p, "output", "tout"), na = param_given_count(p, "output", "aout"),
        given = nt > na ? nt : na;
    if (p->output.noutput == 0 || given == 0) p->output.noutput = given;
}

bool param_solves_gravity(const struct params *p)
{
    return p->run.poisson && param_gravity(p).self;
}

struct param_gravity param_gravity(const struct params *p)
{
    const struct param_poisson *g = &p->poisson;
    const int old = g->gravity_type;
    if (old == 0)
        return (struct param_gravity){g->self_gravity, g->gravity_rho_ana_type,
                                      g->gravity_force_ana_type, g->gravity_rho_ana_params,
                                      g->gravity_force_ana_params};
    return (struct param_gravity){old < 0, old < 0 ? -old : 0, old > 0 ? old : 0, g->gravity_params,
                                  g->gravity_params};
}

/* Names of gravity of 2026 beside those before, and combinations without a meaning. */
static enum err check_gravity(const struct params *p)
{
    const struct param_poisson *g = &p->poisson;
    const bool named = param_given(p, "poisson", "self_gravity") ||
                       param_given(p, "poisson", "gravity_rho_ana_type") ||
                       param_given(p, "poisson", "gravity_force_ana_type");
    if (!p->run.poisson) return OK;
    if (g->gravity_type != 0 && named)
        FAIL(ERR_PARAM,
             "gravity_type=%d in &POISSON_PARAMS is the old name of self_gravity, "
             "gravity_rho_ana_type and gravity_force_ana_type, which are given, too: leave out "
             "gravity_type",
             g->gravity_type);
    if (!g->self_gravity && g->gravity_rho_ana_type > 0)
        FAIL(ERR_PARAM,
             "self_gravity=.false. in &POISSON_PARAMS excludes gravity_rho_ana_type=%d, which "
             "attracts by the same solution as matter does: leave out self_gravity, or give "
             "gravity_force_ana_type",
             g->gravity_rho_ana_type);
    if (g->gravity_rho_ana_type == 1 || g->gravity_type == -1)
        FAIL(ERR_PARAM, "%s=%d in &POISSON_PARAMS has no density: 2 is a cusp, 3 a disc",
             g->gravity_type ? "gravity_type" : "gravity_rho_ana_type", g->gravity_type ? -1 : 1);
    return OK;
}

/* Gas that does not flow has no fluxes, which tracers follow and sinks change. */
static enum err check_still(const struct params *p)
{
    if (!p->run.static_gas || !p->run.hydro) return OK;
    if (p->run.sink)
        FAIL(ERR_PARAM, "static_gas=.true. in &RUN_PARAMS leaves sinks nothing to accrete: set "
                        "sink=.false.");
    if (p->run.tracer)
        FAIL(ERR_PARAM, "static_gas=.true. in &RUN_PARAMS leaves tracers nothing to follow: set "
                        "tracer=.false.");
    return OK;
}

static enum err check_resumed(const struct params *p)
{
    const int n = param_given_count(p, "run", "remap_pscalar");
    const int gas = p->run.mhd ? 8 : p->run.ndim + 2;
    if (p->run.convert_birth_times && !p->run.use_proper_time)
        FAIL(ERR_PARAM, "convert_birth_times=.true. in &RUN_PARAMS makes proper times: set "
                        "use_proper_time=.true.");
    for (int i = 0; i < n; i++) {
        const int to = p->run.remap_pscalar[i];
        if (to > 0 && to <= gas)
            FAIL(ERR_PARAM,
                 "remap_pscalar(%d)=%d in &RUN_PARAMS is no scalar: those of this run begin with "
                 "%d",
                 i + 1, to, gas + 1);
        for (int k = 0; k < i && to > 0; k++)
            if (p->run.remap_pscalar[k] == to)
                FAIL(ERR_PARAM, "remap_pscalar(%d) and (%d) in &RUN_PARAMS are both %d", k + 1,
                     i + 1, to);
    }
    return OK;
}

static enum err check_run(const struct params *p)
{
    TRY(check_gravity(p));
    TRY(check_still(p));
    TRY(check_resumed(p));
    if (!p->run.hydro && !p->run.pic)
        FAIL(ERR_PARAM,
             "there is nothing to evolve: set hydro=.true. or pic=.true. in &RUN_PARAMS");
    return OK;
}

static enum err check_mesh(const struct params *p)
{
    if (p->amr.levelmin > p->amr.levelmax)
        FAIL(ERR_PARAM, "levelmin=%d in &AMR_PARAMS must not be greater than levelmax=%d",
             p->amr.levelmin, p->amr.levelmax);
    if (p->refine.interpol_type == 4 && p->refine.interpol_var != 2)
        FAIL(ERR_PARAM,
             "interpol_type=4 needs interpol_var=2 in &REFINE_PARAMS, but interpol_var is %d",
             p->refine.interpol_var);
    return OK;
}

int param_outputs(const struct params *p)
{
    const int nt = param_given_count(p, "output", "tout"),
              na = param_given_count(p, "output", "aout"), given = nt > na ? nt : na;
    return p->output.noutput < given ? p->output.noutput : given;
}

static enum err check_outputs(const struct params *p)
{
    int nt = param_given_count(p, "output", "tout"), na = param_given_count(p, "output", "aout");
    int n = p->output.noutput;
    for (int i = 1; i < nt && i < n; i++)
        if (p->output.tout[i] < p->output.tout[i - 1])
            FAIL(
                ERR_PARAM,
                "tout(%d)=%g in &OUTPUT_PARAMS is below tout(%d)=%g: give times in ascending order",
                i + 1, p->output.tout[i], i, p->output.tout[i - 1]);
    for (int i = 1; i < na && i < n; i++)
        if (p->output.aout[i] < p->output.aout[i - 1])
            FAIL(ERR_PARAM,
                 "aout(%d)=%g in &OUTPUT_PARAMS is below aout(%d)=%g: give expansion factors in "
                 "ascending order",
                 i + 1, p->output.aout[i], i, p->output.aout[i - 1]);
    return OK;
}

static enum err check_initial(const struct params *p)
{
    if (strcmp(p->init.filetype, "grafic") == 0 && !p->init.initfile[0][0])
        FAIL(ERR_PARAM, "filetype='grafic' needs the directory of level levelmin: set initfile(1) "
                        "in &INIT_PARAMS");
    if (strcmp(p->init.filetype, "gadget") != 0) return OK;
    if (!p->init.initfile[0][0])
        FAIL(ERR_PARAM, "filetype='gadget' needs the name of a file: set initfile(1) in "
                        "&INIT_PARAMS");
    if (!p->run.cosmo)
        FAIL(ERR_PARAM, "filetype='gadget' is for cosmological runs: set cosmo=.true. in "
                        "&RUN_PARAMS");
    if (!p->run.pic)
        FAIL(ERR_PARAM, "filetype='gadget' has particles: set pic=.true. in &RUN_PARAMS");
    if (p->run.hydro)
        FAIL(ERR_PARAM, "filetype='gadget' has no gas on a mesh: set hydro=.false. in &RUN_PARAMS, "
                        "or filetype='grafic'");
    return OK;
}

static enum err check_gas(const struct params *p)
{
    int npassive = p->hydro.npassive;
    int scalars = param_given_count(p, "init", "var_region");
    if (npassive >= 0 && scalars > npassive)
        FAIL(ERR_PARAM,
             "var_region in &INIT_PARAMS sets scalar %d, but npassive=%d in &HYDRO_PARAMS: raise "
             "npassive",
             scalars, npassive);
    if (p->refine.ivar_refine > 0 && !p->run.hydro && p->amr.levelmax > p->amr.levelmin)
        FAIL(ERR_PARAM,
             "ivar_refine=%d in &REFINE_PARAMS is a variable of the gas, but hydro=.false. in "
             "&RUN_PARAMS: set ivar_refine=0 to use the map ic_refmap",
             p->refine.ivar_refine);
    if (npassive >= 0 && p->refine.ivar_refine > PARAM_GAS + npassive)
        FAIL(ERR_PARAM,
             "ivar_refine=%d in &REFINE_PARAMS is beyond the %d variables of the gas with "
             "npassive=%d: raise npassive",
             p->refine.ivar_refine, PARAM_GAS + npassive, npassive);
    return OK;
}

/* Checks cooling; cooling_ism excludes the other recipes. */
static enum err check_cooling(const struct params *p)
{
    if (!p->cooling.cooling_ism || !p->physics.cooling) return OK;
    if (p->run.cosmo)
        FAIL(ERR_PARAM,
             "cooling_ism=.true. in &COOLING_PARAMS is for gas with the metals and the radiation "
             "of the Galaxy today: with cosmo=.true. set cooling_ism=.false.");
    if (strcmp(p->physics.cooling_method, "original") != 0)
        FAIL(ERR_PARAM,
             "cooling_ism=.true. in &COOLING_PARAMS has a method of its own: leave out "
             "cooling_method='%s'",
             p->physics.cooling_method);
    if (p->physics.self_shielding)
        FAIL(ERR_PARAM, "cooling_ism=.true. in &COOLING_PARAMS has no ultraviolet background: set "
                        "self_shielding=.false.");
    return OK;
}

/* Parameters that radiation and chemistry need, and those that exclude them. */
static enum err check_chemistry(const struct params *p)
{
    const bool wanted = p->run.rt || p->physics.neq_chem;
    if (wanted && !p->run.hydro)
        FAIL(ERR_PARAM, "%s=.true. acts on gas: set hydro=.true. in &RUN_PARAMS",
             p->run.rt ? "rt" : "neq_chem");
    if (!wanted) return OK;
    if (param_barotropic(p))
        FAIL(ERR_PARAM, "isothermal or barotropic_eos gives the gas a temperature, which rt and "
                        "neq_chem compute: set one of them to .false., or rt_Tconst");
    if (p->cooling.cooling_ism)
        FAIL(ERR_PARAM, "cooling_ism=.true. in &COOLING_PARAMS has a chemistry of its own: set it, "
                        "or rt and neq_chem, to .false.");
    if (p->run.rt && p->rt.rt_sink && !param_stellar(p))
        FAIL(ERR_PARAM, "rt_sink=.true. in &RT_PARAMS needs stellar objects: set stellar=.true.");
    return param_check_rt(p);
}

bool param_stars(const struct params *p)
{
    return p->run.hydro && (p->physics.eps_star > 0 || p->physics.t_star > 0);
}

bool param_barotropic(const struct params *p)
{
    return p->run.hydro && (p->cooling.barotropic_eos || p->physics.isothermal);
}

bool param_debris(const struct params *p)
{
    return param_stars(p) && p->physics.f_w > 0 && !param_yields(p);
}

bool param_yields(const struct params *p)
{
    return param_stars(p) && p->physics.yieldtablefilename[0];
}

bool param_momentum(const struct params *p)
{
    return param_stars(p) && p->feedback.momentum_feedback != 0 && p->feedback.eta_sn > 0;
}

/* Checks that feedback recipes do not exclude each other. */
static enum err check_feedback(const struct params *p)
{
    if (param_yields(p) && (p->physics.mass_gmc > 0 || p->physics.kappa_ir > 0))
        FAIL(ERR_PARAM,
             "mass_gmc=%g and kappa_ir=%g in &FEEDBACK_PARAMS are for supernovae of eta_sn, not of "
             "yieldtablefilename='%s': set mass_gmc=-1 and kappa_ir=0",
             p->physics.mass_gmc, p->physics.kappa_ir, p->physics.yieldtablefilename);
    if (param_yields(p) && (p->feedback.eta_sn > 0 || p->feedback.momentum_feedback != 0))
        FAIL(ERR_PARAM,
             "yieldtablefilename='%s' defines the ejecta of supernovae: set eta_sn=0 and "
             "momentum_feedback=0, or leave out the table",
             p->physics.yieldtablefilename);
    if (p->sf.sf_imf && (param_yields(p) || param_debris(p)))
        FAIL(ERR_PARAM,
             "sf_imf=.true. in &SF_PARAMS gives single stars ejecta of their own, which excludes "
             "yieldtablefilename and f_w=%g: set sf_imf=.false.",
             p->physics.f_w);
    bool momentum = p->feedback.momentum_feedback != 0;
    if (!param_stars(p)) return OK;
    if (param_debris(p) && momentum)
        FAIL(ERR_PARAM,
             "f_w=%g and momentum_feedback=%d in &FEEDBACK_PARAMS are two recipes of supernovae: "
             "set one of them to 0",
             p->physics.f_w, p->feedback.momentum_feedback);
    if (param_debris(p) && p->physics.mass_gmc > 0)
        FAIL(ERR_PARAM,
             "f_w=%g in &FEEDBACK_PARAMS makes supernovae kinetic, but mass_gmc=%g is for thermal "
             "ones: set mass_gmc=-1",
             p->physics.f_w, p->physics.mass_gmc);
    if ((param_debris(p) || momentum) && p->physics.kappa_ir > 0)
        FAIL(ERR_PARAM,
             "kappa_ir=%g in &FEEDBACK_PARAMS traps photons around thermal supernovae only: set "
             "kappa_ir=0, or f_w=0 and momentum_feedback=0",
             p->physics.kappa_ir);
    return OK;
}

static enum err check_tracers(const struct params *p)
{
    const struct param_tracer *t = &p->tracer;
    const bool text = strcmp(t->tracer_feed_fmt, "ascii") == 0,
               inplace = strcmp(t->tracer_feed_fmt, "inplace") == 0;
    if (!p->run.tracer) return OK;
    if (t->mc_tracer && !p->run.hydro)
        FAIL(ERR_PARAM, "MC_tracer=.true. in &TRACER_PARAMS follows gas from cell to cell: set "
                        "hydro=.true.");
    if (inplace && !p->run.hydro)
        FAIL(ERR_PARAM,
             "tracer_feed_fmt='inplace' in &TRACER_PARAMS places tracers in the gas: set "
             "hydro=.true., or give a file as tracer_feed");
    if (!inplace && !text && !*t->tracer_feed)
        FAIL(ERR_PARAM,
             "tracer_feed_fmt='%s' in &TRACER_PARAMS needs the name of a file, "
             "tracer_feed; 'inplace' needs none",
             t->tracer_feed_fmt);
    return OK;
}

static enum err check_stars(const struct params *p)
{
    const struct param_physics *f = &p->physics;
    if (!param_stars(p)) return OK;
    if (f->eps_star > 0 && f->t_star > 0)
        FAIL(ERR_PARAM,
             "eps_star=%g and t_star=%g in &SF_PARAMS both give the rate of star formation: set "
             "one of them to 0",
             f->eps_star, f->t_star);
    if (!(f->n_star > 0))
        FAIL(ERR_PARAM, "n_star=%g in &SF_PARAMS must be above 0 where stars form", f->n_star);
    if (f->m_star == 0)
        FAIL(ERR_PARAM, "m_star=0 in &SF_PARAMS gives stars no mass: set it above 0, in units of "
                        "mass_sph, or below 0 for the gas of a finest cell at n_star");
    if (f->m_star > 0 && !p->run.cosmo && !(p->refine.mass_sph > 0))
        FAIL(ERR_PARAM,
             "m_star=%g in &SF_PARAMS is in units of mass_sph: set mass_sph in &REFINE_PARAMS%s",
             f->m_star,
             p->amr.levelmax > p->amr.levelmin ? "" : ", which is read with levelmax > levelmin");
    if (f->sf_virial && (f->sf_model < 0 || f->sf_model > 5))
        FAIL(
            ERR_PARAM,
            "sf_model=%d in &SF_PARAMS must be from 0 to 5: see the models in docs/method/stars.md",
            f->sf_model);
    if (p->run.static_)
        FAIL(ERR_PARAM, "stars do not form with static=.true. in &RUN_PARAMS: set eps_star=0 and "
                        "t_star=0");
    return OK;
}

static enum err check_region(const struct params *p, int i)
{
    const int lo[3] = {p->boundary.ibound_min[i], p->boundary.jbound_min[i],
                       p->boundary.kbound_min[i]};
    const int hi[3] = {p->boundary.ibound_max[i], p->boundary.jbound_max[i],
                       p->boundary.kbound_max[i]};
    bool outside = false;
    for (int d = 0; d < 3; d++) {
        if (lo[d] > hi[d])
            FAIL(ERR_PARAM,
                 "boundary region %d in &BOUNDARY_PARAMS is empty: %cbound_min=%d is above "
                 "%cbound_max=%d",
                 i + 1, "ijk"[d], lo[d], "ijk"[d], hi[d]);
        outside = outside || (lo[d] == hi[d] && lo[d] != 0);
    }
    if (p->boundary.bound_type[i] != 0 && !outside)
        FAIL(ERR_PARAM,
             "boundary region %d in &BOUNDARY_PARAMS is on no side of the box: set its bounds to "
             "-1 or 1",
             i + 1);
    return OK;
}

static enum err check_boundaries(const struct params *p)
{
    int types = param_given_count(p, "boundary", "bound_type");
    if (types && types < p->boundary.nboundary)
        FAIL(ERR_PARAM,
             "nboundary=%d, but bound_type in &BOUNDARY_PARAMS has only %d entr%s: give one per "
             "region",
             p->boundary.nboundary, types, types == 1 ? "y" : "ies");
    for (int i = 0; i < p->boundary.nboundary; i++) TRY(check_region(p, i));
    return OK;
}

static enum err check_refinement(const struct params *p)
{
    const struct param_refine *r = &p->refine;
    if (!r->collapse_jeans_refine || r->collapse_jeans_rho_low < r->collapse_jeans_rho_high)
        return OK;
    FAIL(ERR_PARAM,
         "collapse_jeans_rho_low=%g in &REFINE_PARAMS must be below collapse_jeans_rho_high=%g",
         r->collapse_jeans_rho_low, r->collapse_jeans_rho_high);
}

enum err param_check_clumps(const struct params *p)
{
    const struct param_clumpfind *c = &p->clumpfind;
    const char *unbind = p->run.make_mergertree ? "make_mergertree" : "unbind";
    if (p->run.unbind && !p->run.clumpfind)
        FAIL(ERR_PARAM, "%s=.true. in &RUN_PARAMS needs clumpfind=.true.", unbind);
    if (p->run.unbind && !p->run.pic)
        FAIL(ERR_PARAM, "%s=.true. in &RUN_PARAMS needs particles: set pic=.true.", unbind);
    bool by_sinks = param_sinks_ramses(p) && !p->run.cosmo; /* their density gives one */
    const char *needs = p->run.clumpfind ? "clumpfind=.true." : "create_sinks=.true.";
    if (!p->run.clumpfind && !param_creates_sinks(p)) return OK;
    if (c->ivar_clump > 0 && !p->run.hydro)
        FAIL(ERR_PARAM,
             "ivar_clump=%d in &CLUMPFIND_PARAMS is a variable of the gas, but hydro=.false.: set "
             "ivar_clump=0 for dark matter",
             c->ivar_clump);
    if (c->density_threshold > 0) return OK;
    if (p->run.cosmo)
        FAIL(ERR_PARAM,
             "%s with cosmo=.true. needs density_threshold above 0 in &CLUMPFIND_PARAMS, in code "
             "units: 1 is the mean density",
             needs);
    if (c->n_clfind > 0 && c->rho_clfind > 0)
        FAIL(ERR_PARAM,
             "n_clfind=%g and rho_clfind=%g in &CLUMPFIND_PARAMS both set the minimum density of "
             "clumps: give only one of them",
             c->n_clfind, c->rho_clfind);
    if (!(c->n_clfind > 0 || c->rho_clfind > 0 || by_sinks))
        FAIL(ERR_PARAM, "clumpfind=.true. needs density_threshold (code units), n_clfind (H/cm^3) "
                        "or rho_clfind (g/cm^3) above 0 in &CLUMPFIND_PARAMS");
    return OK;
}

/* dims.def has what exists in some dimensions only. */
enum err param_check_dims(const struct params *p)
{
    static const char *const only[4][4] = {
        [1][1] = "one dimension", [2][3] = "two and three dimensions", [3][3] = "three dimensions"};
    static const char *const has[] = {"", "one", "two", "three"};
    int ndim = p->run.ndim;
#define DIMS(least, most, holds, setting, what, advice)                                            \
    if ((ndim < (least) || ndim > (most)) && (holds))                                              \
        FAIL(ERR_PARAM, "%s: %s exist in %s only, but this run has %s (run_params/ndim): %s",      \
             setting, what, only[least][most], has[ndim], advice);
#include "param/dims.def"
    return OK;
}

/* ---- magnetic fields ---- */

bool param_of_mhd(const struct param_row *row)
{
    static const enum param_condition all[] = {
        PARAM_IF_MHD,
        PARAM_IF_MHD_COSMO,
        PARAM_IF_INDUCTION,
        PARAM_IF_MHD_MOVED,
        PARAM_IF_MHD_REGIONS,
        PARAM_IF_MHD_SWITCH,
        PARAM_IF_MHD_SWITCHES,
        PARAM_IF_MHD_IMPOSED,
        PARAM_IF_MHD_GRADIENT_A,
        PARAM_IF_MHD_GRADIENT_B,
        PARAM_IF_MHD_GRADIENT_C,
        PARAM_IF_MHD_GRADIENT_B2,
    };
    bool any = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) any |= row->when == all[i];
    return any;
}

/* A namelist of RAMSES does not say that it is for a magnetic field, but names its parameters. */
static enum err check_plain(const struct params *p)
{
    if (p->run.hydro && strcmp(p->hydro.scheme, "induction") == 0)
        FAIL(ERR_PARAM, "scheme='induction' in &HYDRO_PARAMS is for a magnetic field: add --build "
                        "SOLVER=mhd, or run_params/mhd=.true., or set scheme='muscl'");
    for (int i = 0; i < PARAM_ROWS; i++) {
        const struct param_row *row = param_row_at(i);
        if (p->given[i] && param_of_mhd(row))
            FAIL(ERR_PARAM,
                 "%s in &%s is a parameter of RAMSES compiled with SOLVER=mhd: for a magnetic "
                 "field add --build SOLVER=mhd, or run_params/mhd=.true.; else leave it out",
                 row->name, param_group_find(row->group, true)->namelist);
    }
    return OK;
}

static bool is_among(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0) list++;
    return *list;
}

static enum err check_riemann(const struct params *p)
{
    static const char *const plain[] = {"llf", "hll", "hllc", "exact", "acoustic", NULL},
                             *const magnetic[] = {"llf",    "hll",   "hlld", "roe",
                                                  "upwind", "hydro", NULL};
    if (is_among(p->hydro.riemann, p->run.mhd ? magnetic : plain)) return OK;
    if (p->run.mhd)
        FAIL(ERR_PARAM,
             "riemann='%s' in &HYDRO_PARAMS is for gas without a magnetic field, but this run has "
             "one (run_params/mhd): use 'llf', 'hll', 'hlld', 'roe', 'upwind' or 'hydro'",
             p->hydro.riemann);
    FAIL(ERR_PARAM,
         "riemann='%s' in &HYDRO_PARAMS is for a magnetic field: add --build SOLVER=mhd, or "
         "run_params/mhd=.true., or use 'llf', 'hll', 'hllc', 'exact' or 'acoustic'",
         p->hydro.riemann);
}

/* Slopes of the field of a face along it have no form of three points in every direction. */
static enum err check_slope(const struct params *p)
{
    const struct param_hydro *h = &p->hydro;
    int type = h->slope_mag_type < 0 ? h->slope_type : h->slope_mag_type;
    bool steep = type == 7 || type == 8;
    if (p->run.ndim == 1 || (type >= 0 && type <= 2) || (steep && p->run.ndim == 3)) return OK;
    if (h->slope_mag_type < 0)
        FAIL(ERR_PARAM,
             "slope_type=%d in &HYDRO_PARAMS is no slope of the field of a face in %d dimensions: "
             "give slope_mag_type, 0, 1%s",
             type, p->run.ndim, p->run.ndim == 3 ? ", 2, 7 or 8" : " or 2");
    FAIL(ERR_PARAM, "slope_mag_type=%d in &HYDRO_PARAMS is not built in %d dimensions: use 0, 1%s",
         type, p->run.ndim, p->run.ndim == 3 ? ", 2, 7 or 8" : " or 2");
}

/* mhd.def has what does not exist with a magnetic field. */
enum err param_check_mhd(const struct params *p)
{
    if (p->run.hydro) TRY(check_riemann(p));
    if (!p->run.mhd) return check_plain(p);
    if (!p->run.hydro) FAIL(ERR_PARAM, "mhd=.true. in &RUN_PARAMS is for gas: set hydro=.true.");
#define MHD(holds, setting, what, advice)                                                          \
    if (holds)                                                                                     \
        FAIL(ERR_PARAM, "%s: %s not go together with a magnetic field (run_params/mhd): %s",       \
             setting, what, advice);
#include "param/mhd.def"
    return check_slope(p);
}

bool param_cone_box(const struct params *p, int cone)
{
    const struct param_lightcone *c = &p->lightcone;
    const double *hi = cone == 1 ? c->maxboxr_cone1 : c->maxboxr_cone2;
    return hi[0] > 0 && hi[1] > 0 && hi[2] > 0;
}

bool param_cone_crossing(const struct params *p)
{
    return p->run.lightcone && strcmp(p->lightcone.cone_rule, "crossing") == 0;
}

bool param_cone_sinks(const struct params *p)
{
    return p->run.lightcone && p->run.sink && p->lightcone.cone_sink;
}

/* Light cones of more than particles need a format for it. */
static enum err check_cone_more(const struct params *p, bool is, const char *name, const char *of)
{
    const char *format = p->lightcone.cone_format;
    const bool boxes = param_cone_box(p, 1) || param_cone_box(p, 2);
    if (is && strcmp(format, "healpix") == 0)
        FAIL(ERR_PARAM,
             "%s=.true. in &LIGHTCONE_PARAMS: maps have particles only: set cone_format='hdf5'",
             name);
    if (is && !boxes && strcmp(format, "hdf5") != 0)
        FAIL(ERR_PARAM,
             "%s=.true. in &LIGHTCONE_PARAMS: RAMSES's files have no %s: set cone_format='hdf5'",
             name, of);
    return OK;
}

/* A part of the box that a light cone sees. */
static enum err check_cone(const struct params *p, int k)
{
    const struct param_lightcone *c = &p->lightcone;
    const double *lo = k == 1 ? c->minboxr_cone1 : c->minboxr_cone2,
                 *hi = k == 1 ? c->maxboxr_cone1 : c->maxboxr_cone2;
    int axis = abs(k == 1 ? c->elongated_axis_cone1 : c->elongated_axis_cone2) - 1;
    if (!(hi[0] > 0 || hi[1] > 0 || hi[2] > 0)) return OK;
    for (int d = 0; d < 3; d++)
        if (!(lo[d] < hi[d]))
            FAIL(ERR_PARAM,
                 "maxboxr_cone%d(%d)=%g in &LIGHTCONE_PARAMS must be above minboxr_cone%d(%d)=%g: "
                 "give all three, or none for no such cone",
                 k, d + 1, hi[d], k, d + 1, lo[d]);
    if (axis < 0)
        FAIL(ERR_PARAM,
             "elongated_axis_cone%d=0 in &LIGHTCONE_PARAMS: set 1, 2 or 3, or −1, −2 or −3 for the "
             "other direction",
             k);
    if (lo[axis] != 0 || hi[axis] != 1)
        FAIL(ERR_PARAM,
             "cone %d in &LIGHTCONE_PARAMS repeats %g to %g of the box along axis %d: replicas "
             "join only if minboxr_cone%d(%d)=0 and maxboxr_cone%d(%d)=1",
             k, lo[axis], hi[axis], axis + 1, k, axis + 1, k, axis + 1);
    return OK;
}

static enum err check_cones(const struct params *p)
{
    if (!p->run.lightcone) return OK;
    if (!p->run.cosmo)
        FAIL(ERR_PARAM, "lightcone=.true. in &RUN_PARAMS needs an expanding box: set cosmo=.true., "
                        "or lightcone=.false.");
    if (!p->run.pic)
        FAIL(ERR_PARAM, "lightcone=.true. in &RUN_PARAMS writes particles: set pic=.true.");
    TRY(check_cone_more(p, p->lightcone.cone_hydro && p->run.hydro, "cone_hydro", "gas"));
    TRY(check_cone_more(p, param_cone_sinks(p), "cone_sink", "sinks"));
    TRY(check_cone(p, 1));
    return check_cone(p, 2);
}
