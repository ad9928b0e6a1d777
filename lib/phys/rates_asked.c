#include "phys/rates_asked.h"

#include <string.h>

static enum uv_model background(const struct params *p)
{
    if (p->cooling.uv_table[0]) return UV_TABLE;
    return p->physics.haardt_madau ? UV_COURTY : UV_THEUNS;
}

static enum cool_method method_of(const char *name)
{
    static const char *const all[] = {[COOL_ORIGINAL] = "original",
                                      [COOL_IMPLICIT] = "implicit",
                                      [COOL_EXACT] = "exact",
                                      [COOL_COMPARE] = "compare"};
    for (int i = 0; i < (int)(sizeof all / sizeof *all); i++)
        if (strcmp(name, all[i]) == 0) return (enum cool_method)i;
    return COOL_ORIGINAL;
}

struct cool_par rates_asked(const struct params *par, const struct cosmo_par *c)
{
    const struct param_physics *p = &par->physics;
    struct cool_par r = {
        .method = par->cooling.cooling_ism ? COOL_ISM : method_of(p->cooling_method),
        .gamma = par->hydro.gamma,
        .mu = par->cooling.mu_gas,
        .cosmo = c != NULL,
        .mean = {.h = 0.7, .omega_b = 0.04, .omega_m = 0.3, .omega_l = 0.7},
        .uv = {.model = background(par),
               .atoms = strcmp(par->cooling.atomic_rates, "abel") == 0 ? ATOMS_ABEL : ATOMS_THEUNS,
               .z_reion = p->z_reion,
               .j21 = p->j21,
               .a_spec = p->a_spec > 0 ? p->a_spec : 1},
        .uv_table = par->cooling.uv_table,
        .exact_table = p->grackle_table};
    if (!c) return r;
    r.aexp_ini = c->aexp_ini;
    r.mean = (struct mean_cell){
        .h = c->h0 / 100, .omega_b = c->omega_b, .omega_m = c->omega_m, .omega_l = c->omega_l};
    return r;
}
