/* sim/cooling: from parameters and the cosmology to the rates that cool the gas. */
#include <string.h>

#include "base/log.h"
#include "phys/floor.h"
#include "sim/sim.h"

static enum uv_model background(const struct params *p)
{
    if (p->cooling.uv_table[0]) return UV_TABLE;
    return p->physics.haardt_madau ? UV_COURTY : UV_THEUNS;
}

static struct cool_par par_of(const struct sim *s)
{
    const struct param_physics *p = &s->par->physics;
    const struct cosmo_par *c = &s->cosmo_par;
    struct cool_par r = {.method = strcmp(p->cooling_method, "implicit") == 0 ? COOL_IMPLICIT
                                                                              : COOL_ORIGINAL,
                         .cosmo = s->cosmo != NULL,
                         .mean = {.h = 0.7, .omega_b = 0.04, .omega_m = 0.3, .omega_l = 0.7},
                         .aexp_ini = c->aexp_ini,
                         .uv = {.model = background(s->par),
                                .z_reion = p->z_reion,
                                .j21 = p->j21,
                                .a_spec = p->a_spec > 0 ? p->a_spec : 1},
                         .uv_table = s->par->cooling.uv_table};
    if (s->cosmo)
        r.mean = (struct mean_cell){
            .h = c->h0 / 100, .omega_b = c->omega_b, .omega_m = c->omega_m, .omega_l = c->omega_l};
    return r;
}

enum err sim_cooling(struct sim *s)
{
    static const char *const name[] = {[UV_COURTY] = "Courty & Alimi (2004)",
                                       [UV_THEUNS] = "a power law (Theuns et al. 1998)",
                                       [UV_TABLE] = "a table"};
    if (!s->mesh.hydro || !s->par->physics.cooling || floor_rules(s->par)) return OK;
    struct cool_par p = par_of(s);
    if (p.cosmo && !(p.mean.omega_b > 0))
        FAIL(ERR_PARAM, "cooling=.true. needs omega_b > 0 in &INIT_PARAMS");
    TRY(err_agree(&s->comm, cool_new(&p, &s->cooling)));
    log_info(" Cooling: cooling_method='%s', ultraviolet background: %s",
             s->par->physics.cooling_method, name[p.uv.model]);
    return OK;
}
