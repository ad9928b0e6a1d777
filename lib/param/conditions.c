/* param/conditions: evaluates conditions.def. */
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "param/row.h"

/* ---- predicates of conditions.def ---- */

static bool is_grafic(const struct params *p)
{
    return strcmp(p->init.filetype, "grafic") == 0;
}

static bool is_gadget(const struct params *p)
{
    return strcmp(p->init.filetype, "gadget") == 0;
}

static bool is_dice(const struct params *p)
{
    return strcmp(p->init.filetype, "dice") == 0 || strcasecmp(p->init.condinit_kind, "dice") == 0;
}

static bool has_galaxies(const struct params *p)
{
    return strcasecmp(p->init.condinit_kind, "merger") == 0 && !p->run.cosmo;
}

/* Whether the gas starts from regions, of this type if type is not NULL. */
static bool has_regions(const struct params *p, const char *type)
{
    bool any = false;
    for (int i = 0; i < p->init.nregion; i++)
        any |= !type || strcmp(p->init.region_type[i], type) == 0;
    return any && p->run.hydro && !is_grafic(p);
}

static bool wants_energies(const struct params *p)
{
    bool any = false;
    for (int k = 0; k < p->run.nener; k++) any |= p->refine.err_grad_prad[k] >= 0;
    return p->run.hydro && any;
}

static bool has_bound(const struct params *p, int type)
{
    bool any = false;
    for (int i = 0; i < p->boundary.nboundary; i++) any |= p->boundary.bound_type[i] == type;
    return any;
}

/* Whether the flow is given, and the magnetic field alone changes. */
static bool induces(const struct params *p)
{
    return strcmp(p->hydro.scheme, "induction") == 0;
}

/* Whether the process belongs to a Slurm job, which has a known end time. */
static bool in_job(void)
{
    return getenv("SLURM_JOB_ID") || getenv("SLURM_JOB_END_TIME");
}

/* Smoothed particles: whether a setup places them (by npx), whether it is a uniform gas, whether
 * the gas is locally isothermal, and whether there may be point masses. */
static bool sph_places(const struct params *p)
{
    return strcmp(p->sph.setup, "file") != 0 && strcmp(p->sph.setup, "disc") != 0;
}

static bool sph_uniform(const struct params *p)
{
    return strcmp(p->sph.setup, "lattice") == 0 || strcmp(p->sph.setup, "advect") == 0;
}

static bool sph_locally(const struct params *p)
{
    return strcmp(p->sph.eos, "locally_isothermal") == 0;
}

static bool sph_sinks(const struct params *p)
{
    return p->sph.nsink > 0 || strcmp(p->sph.setup, "file") == 0;
}

/* Whether any active part of the run may run on a device. */
static bool wants_device(const struct params *p)
{
    return (p->run.gpu_hydro && p->run.hydro) || (p->run.gpu_poisson && p->run.poisson) ||
           (p->run.gpu_particles && p->run.pic) ||
           (p->stencil.gpu && param_solver_is(p, "stencil")) ||
           (p->sph.gpu && param_solver_is(p, "sph"));
}

/* Whether Fourier transforms solve the base level. */
static bool transforms(const struct params *p)
{
    bool asked = param_given(p, "run", "use_fftw") || p->run.use_neutrino ||
                 strcmp(p->poisson.fft_green, "discrete") != 0;
    return param_solves_gravity(p) && p->run.use_fftw && p->boundary.nboundary == 0 &&
           (asked || p->amr.levelmin >= PARAM_FFT_LEVEL) &&
           p->poisson.cg_levelmin > p->amr.levelmin;
}

/* Whether any level is solved by iterations. */
static bool iterates(const struct params *p)
{
    return param_solves_gravity(p) && (!transforms(p) || p->amr.levelmax > p->amr.levelmin);
}

static bool by_jeans(const struct params *p)
{
    bool any = false;
    for (int l = p->amr.levelmin; l < p->amr.levelmax; l++)
        any |= p->refine.jeans_refine[l - p->amr.levelmin] > 0;
    return any;
}

static bool by_mass(const struct params *p)
{
    bool any = false;
    for (int l = p->amr.levelmin; l < p->amr.levelmax; l++)
        any |= p->refine.m_refine[l - p->amr.levelmin] > -1;
    return any;
}

static bool has_ellipsoid(const struct params *p)
{
    bool any = false;
    for (int l = p->amr.levelmin; l < p->amr.levelmax; l++)
        any |= p->refine.r_refine[l - p->amr.levelmin] > -1;
    return any;
}

static bool has_criterion(const struct params *p)
{
    const struct param_refine *r = &p->refine;
    bool any = wants_energies(p);
    any |= p->run.hydro && (r->err_grad_d >= 0 || r->err_grad_p >= 0 || r->err_grad_u >= 0);
    any |= p->run.hydro && /* a resuming run has mhd from its checkpoint */
           (r->err_grad_a >= 0 || r->err_grad_b >= 0 || r->err_grad_c >= 0 || r->err_grad_b2 >= 0);
    any |= param_radiates(p) && p->rt.rt_err_grad_n >= 0;
    for (int g = 0; g < PARAM_PHOTONS; g++)
        any |= param_radiates(p) && p->rt.rt_err_grad_cn[g] >= 0;
    any |= param_chemistry(p) && (p->rt.rt_err_grad_xhi >= 0 || p->rt.rt_err_grad_xhii >= 0);
    for (int l = p->amr.levelmin; l < p->amr.levelmax && p->run.hydro && p->run.poisson; l++)
        any |= r->jeans_refine[l - p->amr.levelmin] > 0;
    return any || (by_mass(p) && (p->run.hydro || p->run.poisson));
}

/* Whether the gas cools, by any method. */
static bool cools(const struct params *p)
{
    return p->run.hydro && p->physics.cooling && !param_barotropic(p);
}

static bool has_rates(const struct params *p)
{
    return cools(p) && !p->cooling.cooling_ism;
}

/* Whether the rates come from a table, which includes its radiation background. */
static bool is_tabulated(const struct params *p)
{
    return strcmp(p->physics.cooling_method, "exact") == 0;
}

/* Whether the temperature of the gas has a floor, or equals it. */
static bool has_floor(const struct params *p)
{
    return (p->run.hydro && p->physics.cooling) || param_barotropic(p);
}

/* Whether the gas has an equation of state that is not the polytrope of star formation. */
static bool has_equation(const struct params *p)
{
    return param_barotropic(p) && strcmp(p->cooling.barotropic_eos_form, "legacy") != 0;
}

/* Whether T2_star (n/n_star)^(g_star - 1) is the temperature floor, or is subtracted by star
 * formation. */
static bool has_polytrope(const struct params *p)
{
    return ((has_floor(p) && !has_equation(p)) || param_stars(p)) && !(p->physics.jeans_ncells > 0);
}

/* Whether the metallicity of the gas is used. */
static bool uses_metals(const struct params *p)
{
    return has_rates(p) || param_yields(p) ||
           (param_stars(p) && p->feedback.eta_sn > 0 && p->physics.kappa_ir > 0);
}

static bool accretes(const struct params *p, const char *scheme)
{
    return strcmp(p->sink.accretion_scheme, scheme) == 0;
}

static bool has_agn(const struct params *p)
{
    return param_sinks_ramses(p) && p->physics.agn && !accretes(p, "none");
}

/* ---- the table ---- */

const char *param_condition_text(enum param_condition c)
{
    static const char *const text[PARAM_CONDITIONS] = {
#define CONDITION(name, words, holds) [PARAM_IF_##name] = words,
#include "param/conditions.def"
    };
    return text[c];
}

bool param_holds(const struct params *p, enum param_condition c, int ranks)
{
    switch (c) {
    case PARAM_ALWAYS:
    case PARAM_CONDITIONS:
        break;
#define CONDITION(name, words, holds)                                                              \
    case PARAM_IF_##name:                                                                          \
        return holds;
#include "param/conditions.def"
    }
    return true;
}
