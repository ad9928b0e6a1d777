/* kinds/merger: one galaxy or two, of gas discs and particles (galaxy/galaxy.h). */
#include "base/log.h"
#include "base/mem.h"
#include "galaxy/galaxy.h"
#include "kinds/kinds.h"

struct state {
    const struct kind_setup *setup; /* lent */
    struct merger merger;
    int metal; /* variable of the metals; −1: none */
    int64_t particles;
};

/* RAMSES's patch has units of its own, and its namelists have none. */
static enum err merger_params(struct params *par)
{
    const struct units u = merger_units();
    if (param_given(par, "units", "units_length") || param_given(par, "units", "units_density") ||
        param_given(par, "units", "units_time"))
        return OK;
    par->units.units_length = u.length;
    par->units.units_density = u.density;
    par->units.units_time = u.time;
    return OK;
}

static enum err open_merger(const struct kind_setup *s, void **state)
{
    struct state *q = mem_zero(sizeof *q, "galaxies");
    *state = q;
    q->setup = s;
    q->metal = s->vars->at[SCALAR_METAL];
    TRY(err_agree(s->comm, merger_open(&q->merger, s->par, &s->units, q->metal >= 0)));
    if (s->par->run.pic && s->par->init.initfile[0][0])
        TRY(merger_count(s->par, s->comm, &q->particles));
    for (int k = 0; k < q->merger.n; k++)
        log_info(" Galaxy %d: %g of 1e9 solar masses of gas in a disc, %g per code unit of volume "
                 "at its centre",
                 k + 1, k ? s->par->merger.mgas_disk2 : s->par->merger.mgas_disk1,
                 q->merger.disc[k].rho);
    return OK;
}

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const struct state *s = state;
    const struct merger_cell c = merger_cell(&s->merger, x, dx);
    q[GAS_DENSITY] = c.d;
    for (int d = 0; d < 3; d++) q[1 + d] = c.v[d];
    q[GAS_PRESSURE] = c.p;
    for (int v = GAS_SCALARS; v < s->setup->gas->nvar; v++) q[v] = 0;
    if (s->metal >= 0) q[s->metal] = c.z;
    return OK;
}

static enum err particles(void *state, const struct mesh *m, const struct comm *c, struct parts *p)
{
    const struct state *s = state;
    if (!s->setup->par->init.initfile[0][0]) return OK;
    return merger_particles(s->setup->par, &s->setup->units, m, c, p);
}

static int64_t particle_count(const void *state)
{
    const struct state *s = state;
    return s->particles;
}

static void close_merger(void *state)
{
    struct state *s = state;
    merger_close(&s->merger);
    mem_free(s);
}

const struct kind kind_merger = {.name = "merger",
                                 .dims = 1 << 3,
                                 .needs = KIND_GAS,
                                 .params = merger_params,
                                 .open = open_merger,
                                 .cell = cell,
                                 .particles = particles,
                                 .particle_count = particle_count,
                                 .close = close_merger};
