/* sim/cooling: from parameters and the cosmology to the rates that cool the gas. */

#include <string.h>

#include "base/log.h"
#include "phys/floor.h"
#include "phys/rates_asked.h"
#include "sim/sim.h"

enum err sim_cooling(struct sim *s)
{
    static const char *const name[] = {[UV_COURTY] = "Courty & Alimi (2004)",
                                       [UV_THEUNS] = "a power law (Theuns et al. 1998)",
                                       [UV_TABLE] = "a table"};
    if (!s->mesh.hydro || !s->par->physics.cooling || floor_rules(s->par)) return OK;
    struct cool_par p = rates_asked(s->par, s->cosmo ? &s->cosmo_par : NULL);
    if (p.cosmo && !(p.mean.omega_b > 0))
        FAIL(ERR_PARAM, "cooling=.true. needs omega_b > 0 in &INIT_PARAMS");
    TRY(err_agree(&s->comm, cool_new(&p, &s->cooling)));
    if (p.method == COOL_ISM) {
        log_info(" Cooling: interstellar medium (Audit & Hennebelle 2005), mu_gas=%g", p.mu);
        return OK;
    }
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
