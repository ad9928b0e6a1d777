#include "phys/floor.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"

bool floor_rules(const struct params *p)
{
    return param_barotropic(p);
}

double floor_dense(const struct params *p, const struct cosmo_par *c, const struct units *u,
                   double aexp)
{
    double n = p->physics.n_star;
    if (!c) return n;
    double h = c->h0 / 100, mean = c->omega_b * RAMSES_RHO_CRIT * h * h / (aexp * aexp * aexp);
    return fmax(n, p->physics.del_star * mean * (u->hydrogen / u->density));
}

/* Slope of the Jeans floor: T2 per n_H at which the Jeans length sqrt(π γ kB T2 / (m_H G ρ)) is
 * jeans_ncells of the finest cells, as wide as these are at a = 1. RAMSES of 2024 takes n_H for the
 * density in code units and omits γ. */
static double jeans_slope(const struct params *p, const struct units *u, double aexp)
{
    double boxlen = p->run.cosmo ? 1 : p->amr.boxlen, cells = p->physics.jeans_ncells;
    double length = boxlen * cells * ldexp(1, -p->amr.levelmax) * u->length / aexp;
    if (p->run.cosmo) length = fmax(length, p->refine.dr_proper * CGS_KPC);
    double rate = u->time / u->length, per_rate = rate * rate * u->temperature;
    if (p->run.ramses_2024)
        return 2 * length * length / (2 * M_PI) * RAMSES_G_2024 * u->density * per_rate;
    return length * length * RAMSES_G / (M_PI * p->hydro.gamma) * (u->density / u->hydrogen) *
           per_rate;
}

static struct temperature_floor barotropic(const struct params *p, const struct units *u)
{
    static const struct {
        const char *name;
        enum floor_form form;
    } all[] = {{"isothermal", FLOOR_CONSTANT},
               {"polytrope", FLOOR_POLYTROPE},
               {"double_polytrope", FLOOR_DOUBLE},
               {"2nd_collapse", FLOOR_COLLAPSE},
               {"custom", FLOOR_CUSTOM}};
    const struct param_cooling *c = &p->cooling;
    const double per_density = u->hydrogen / u->density;
    int i = 0;
    while (strcmp(all[i].name, c->barotropic_eos_form) != 0) i++;
    const bool collapse = all[i].form == FLOOR_COLLAPSE;
    struct temperature_floor f = {.form = all[i].form,
                                  .T2 = c->t_eos / c->mu_gas,
                                  .n = c->polytrope_rho[0] * per_density,
                                  .index = c->polytrope_index[0] - (collapse ? 0 : 1)};
    for (int k = 0; k < 2; k++) {
        f.next_n[k] = c->polytrope_rho[k + 1] * per_density;
        f.next_index[k] = c->polytrope_index[k + 1];
    }
    return f;
}

struct temperature_floor floor_at(const struct params *p, const struct cosmo_par *cosmo,
                                  const struct units *u, double aexp)
{
    if (param_barotropic(p) && strcmp(p->cooling.barotropic_eos_form, "legacy") != 0)
        return barotropic(p, u);
    if (p->physics.jeans_ncells > 0)
        return (struct temperature_floor){
            .form = FLOOR_POLYTROPE, .T2 = jeans_slope(p, u, aexp), .n = 1, .index = 1};
    if (p->physics.t2_star == 0) return (struct temperature_floor){.form = FLOOR_CONSTANT};
    return (struct temperature_floor){.form = FLOOR_POLYTROPE,
                                      .T2 = p->physics.t2_star,
                                      .n = floor_dense(p, cosmo, u, aexp),
                                      .index = p->physics.g_star - 1};
}

double floor_T2(const struct temperature_floor *f, double nH)
{
    return vec_first(cooling_floor(f, vec_of(nH)));
}
