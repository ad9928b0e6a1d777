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

static struct cool_par par_of(const struct sim *s)
{
    const struct param_physics *p = &s->par->physics;
    const struct cosmo_par *c = &s->cosmo_par;
    struct cool_par r = {.method = method_of(p->cooling_method),
                         .cosmo = s->cosmo != NULL,
                         .mean = {.h = 0.7, .omega_b = 0.04, .omega_m = 0.3, .omega_l = 0.7},
                         .aexp_ini = c->aexp_ini,
                         .uv = {.model = background(s->par),
                                .z_reion = p->z_reion,
                                .j21 = p->j21,
                                .a_spec = p->a_spec > 0 ? p->a_spec : 1},
                         .uv_table = s->par->cooling.uv_table,
                         .exact_table = p->grackle_table};
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

/* What cooling_method='compare' has found in the last coarse step. */
static void tell_compared(const struct sim *s)
{
    struct cool_compared r = cool_take_compared(s->cooling);
    int64_t sums[] = {r.cells, r.signs, r.sum}, most = r.most;
    comm_add_i64(&s->comm, sums, 3);
    comm_max_i64(&s->comm, &most, 1);
    if (sums[0] == 0) return;
    log_info(
        " Cooling, exact against original: %ld cells, relative difference mean %.3e, max %.3e; "
        "opposite signs: %ld",
        (long)sums[0], 1e-9 * (double)sums[2] / (double)sums[0], 1e-9 * (double)most,
        (long)sums[1]);
}

void sim_cooling_table(struct sim *s)
{
    if (strcmp(s->par->physics.cooling_method, "compare") == 0) tell_compared(s);
    cool_set(s->cooling, s->cosmo ? s->time.aexp : 1);
}
