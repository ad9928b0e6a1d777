/* sph/setup_disc: a disc of gas around a mass M, by random numbers (Price et al. 2018, section
 * 5.3): surface density Σ ~ R^(-p), speed of sound c = c_0 (R/r0)^(-q), vertically isothermal with
 * the scale height H = c/Ω ~ R^(3/2 − q), and the velocity with which gravity, pressure and
 * rotation balance at z = 0,
 *
 *     v² = G M R²/(R² + z² + ε²)^(3/2) − c² (p + q + 3/2)
 *
 * since P ~ Σ c²/H ~ R^(−p−q−3/2). */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "sph/setup.h"

/* q of the speed of sound. */
static double index_of(const struct setup *k)
{
    return k->s->eq.eos == SMOOTH_ISOTHERMAL ? 0 : k->par->q_index;
}

static double sound(const struct setup *k, double radius)
{
    const double r0 = k->par->r0;
    return k->par->disc_hr * sqrt(k->gm / r0) * pow(radius / r0, -index_of(k));
}

/* ∫ R^(1−p) dR from the inner radius to `radius`, and its inverse. */
static double mass_within(const struct param_sph *p, double radius)
{
    const double e = 2 - p->disc_p;
    if (fabs(e) < 1e-9) return log(radius / p->disc_rin);
    return (pow(radius, e) - pow(p->disc_rin, e)) / e;
}

static double radius_of(const struct param_sph *p, double mass)
{
    const double e = 2 - p->disc_p;
    if (fabs(e) < 1e-9) return p->disc_rin * exp(mass);
    return pow(pow(p->disc_rin, e) + e * mass, 1 / e);
}

static bool disc_at(const struct setup *k, int64_t i, struct setup_point *q)
{
    enum { PURPOSE = 0x64697363 }; /* 'disc' */
    const struct param_sph *p = k->par;
    struct rng g = rng_make(rng_mix((uint64_t)p->seed ^ PURPOSE), (uint64_t)i, 0);
    const double radius = radius_of(p, rng_uniform(&g) * mass_within(p, p->disc_rout)),
                 phi = 2 * M_PI * rng_uniform(&g), c = sound(k, radius),
                 height = c * sqrt(radius * radius * radius / k->gm), z = rng_normal(&g),
                 far2 = radius * radius * (1 + pow(z * height / radius, 2)) + p->soften * p->soften,
                 orbit = k->gm * radius * radius / (far2 * sqrt(far2)),
                 v = sqrt(fmax(orbit - c * c * (p->disc_p + index_of(k) + 1.5), 0));
    const double x[3] = {radius * cos(phi), radius * sin(phi), z * height},
                 w[3] = {-v * sin(phi), v * cos(phi), 0};
    for (int d = 0; d < 3; d++) q->x[d] = k->centre[d] + x[d], q->v[d] = k->drift[d] + w[d];
    /* far above the plane the distance of neighbours does not follow the mean density */
    q->rho = k->sigma * pow(radius, -p->disc_p) / (sqrt(2 * M_PI) * height) *
             exp(-0.5 * fmin(z * z, 9));
    q->u = setup_energy(k, q->rho * c * c / k->s->eq.gamma, q->rho);
    return true;
}

/* The mass at the origin, or the first point mass. */
static enum err find_centre(struct setup *k)
{
    const struct param_sph *p = k->par;
    const bool external = strcmp(p->external, "point") == 0;
    if (external) {
        k->gm = p->gm;
    } else if (p->nsink > 0) {
        k->gm = p->g * p->sink_m[0];
        for (int d = 0; d < 3; d++) k->centre[d] = p->sink_x[d], k->drift[d] = p->sink_v[d];
    }
    if (!(k->gm > 0))
        FAIL(ERR_PARAM, "setup='disc' in &SPH_PARAMS needs a mass in its centre: set "
                        "external='point' and gm, or nsink and sink_m");
    return OK;
}

/* Without an equation of energy the speed of sound is given twice. */
static enum err check_sound(const struct setup *k)
{
    const struct param_sph *p = k->par;
    const double c = sound(k, p->r0);
    if (k->s->eq.eos != SMOOTH_ADIABATIC && fabs(p->cs0 - c) > 1e-3 * c)
        FAIL(ERR_PARAM,
             "cs0=%g and disc_hr=%g in &SPH_PARAMS contradict each other: set cs0=%.6g, or "
             "disc_hr=%.6g",
             p->cs0, p->disc_hr, c, p->cs0 * sqrt(p->r0 / k->gm));
    const double end[2] = {p->disc_rin, p->disc_rout};
    for (int i = 0; i < 2; i++)
        if (sound(k, end[i]) * sound(k, end[i]) * (p->disc_p + index_of(k) + 1.5) >= k->gm / end[i])
            FAIL(ERR_PARAM,
                 "the disc of &SPH_PARAMS is too thick to rotate at the radius %g: set disc_hr "
                 "smaller",
                 end[i]);
    return OK;
}

enum err setup_disc(struct setup *k)
{
    const struct param_sph *p = k->par;
    TRY(find_centre(k));
    TRY(check_sound(k));
    k->n = p->np;
    k->mass = p->disc_mass;
    k->sigma = p->disc_mass / (2 * M_PI * mass_within(p, p->disc_rout));
    k->open = true;
    k->place = disc_at;
    return OK;
}
