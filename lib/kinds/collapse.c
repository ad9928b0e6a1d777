/* kinds/collapse: a dense core that rotates (Boss & Bodenheimer 1979), in the middle of a box that
 * is four of its radii wide: a sphere of uniform density, with two arms of relative amplitude
 * delta_rho, solid rotation around an axis at the angle theta_mag to z, in the plane of x and z, a
 * uniform field along z, and gas of a hundredth of the density around it, at the same temperature.
 * Energies of a uniform sphere: 3/5 G M²/r of gravity, 3/2 M cs² of heat, M Ω² r²/5 of rotation.
 * The critical mass over flux is 0.53/(3π) √(5/G) (Mouschovias & Spitzer 1976). */
#include <math.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/priv.h"

struct core {
    double centre, radius, density, spin, field, sound2; /* code units; sound2: cs² */
    double sine, cosine;                                 /* of theta_mag */
    double delta;
    struct kind_turbulence turb;
};

/* Fails unless the core fits into the box, with a magnetic field only where the run has one. */
static enum err check_core(const struct core *k, const struct kind_setup *s)
{
    const double g = RAMSES_G_2024 * s->units.density * s->units.time * s->units.time;
    if (s->par->init.crit_dense_core != 0 && !s->mesh->magnetic)
        FAIL(
            ERR_PARAM,
            "crit_dense_core=%g in &INIT_PARAMS is a magnetic field, which this run does not have: "
            "add --build SOLVER=mhd, or run_params/mhd=.true., or set crit_dense_core=0",
            s->par->init.crit_dense_core);
    if (!(k->radius <= 0.5 * s->mesh->boxlen))
        FAIL(ERR_PARAM,
             "condinit_kind='collapse' in &INIT_PARAMS: the core of mass_c=%g has a radius of %g, "
             "and does not fit into boxlen=%g: set boxlen to four radii, or units_length",
             s->par->init.mass_c, k->radius, s->mesh->boxlen);
    if (fabs(g - 1) > 0.01)
        log_info(" Warning: the energies of the core assume units in which G=1: units_density and "
                 "units_time in &UNITS_PARAMS make it %.4g",
                 g);
    return OK;
}

static enum err open_core(const struct kind_setup *s, void **state)
{
    const struct param_init *p = &s->par->init;
    const struct param_cooling *c = &s->par->cooling;
    const struct units *u = &s->units;
    struct core *k = mem_zero(sizeof *k, "kinds");
    const double mass = p->mass_c * (RAMSES_MSUN / u->mass), angle = p->theta_mag * M_PI / 180,
                 specific = CGS_KB * c->t_eos / (c->mu_gas * RAMSES_MH); /* cs² in cgs */
    *state = k;
    k->centre = 0.5 * s->mesh->boxlen;
    k->radius = p->alpha_dense_core * 0.4 * RAMSES_G_2024 * mass * u->mass / specific / u->length;
    k->density = 3 * mass / (4 * M_PI * k->radius * k->radius * k->radius);
    k->spin = sqrt(4 * M_PI * p->beta_dense_core * k->density);
    k->field = sqrt(4 * M_PI / 5) / 0.53 * p->crit_dense_core * k->density * k->radius;
    k->sound2 = c->t_eos / (c->mu_gas * u->temperature);
    k->sine = sin(angle);
    k->cosine = cos(angle);
    k->delta = p->delta_rho;
    TRY(check_core(k, s));
    log_info(" Core: radius %.6g, density %.6g, rotation %.6g, field %.6g, sound speed %.6g",
             k->radius, k->density, k->spin, k->field, sqrt(k->sound2));
    if (p->mach == 0) return OK;
    return kind_turbulence_read(&k->turb, s, k->radius, p->mach * sqrt(k->sound2));
}

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const struct core *k = state;
    double r[3];
    for (int d = 0; d < 3; d++) r[d] = x[d] - k->centre;
    /* across the axis of rotation: `a` in the plane of x and z, and y */
    const double a = k->cosine * r[0] - k->sine * r[2], a2 = a * a, b2 = r[1] * r[1];
    const bool in = r[0] * r[0] + b2 + r[2] * r[2] <= k->radius * k->radius;
    const double spin = in ? k->spin : 0, arms = a2 + b2 > 0 ? (a2 - b2) / (a2 + b2) : 1;
    q[GAS_DENSITY] = in ? k->density * (1 + k->delta * arms) : 0.01 * k->density;
    q[GAS_VELOCITY] = spin * r[1] * k->cosine;
    q[GAS_VELOCITY + 1] = -spin * a;
    q[GAS_VELOCITY + 2] = -spin * r[1] * k->sine;
    /* the arms are not in the pressure: RAMSES gives the sphere one */
    q[GAS_PRESSURE] = (in ? k->density : 0.01 * k->density) * k->sound2;
    if (k->turb.v) kind_turbulence_add(&k->turb, x, &q[GAS_VELOCITY]);
    return OK;
}

static enum err face(const void *state, const double x[3], int d, double *b)
{
    *b = d == 2 ? ((const struct core *)state)->field : 0;
    return OK;
}

static void close_core(void *state)
{
    struct core *k = state;
    mem_free(k->turb.v);
    mem_free(k);
}

const struct kind kind_collapse = {.name = "collapse",
                                   .dims = 1 << 3,
                                   .needs = KIND_GAS,
                                   .open = open_core,
                                   .cell = cell,
                                   .face = face,
                                   .close = close_core};
