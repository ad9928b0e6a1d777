/* sim/adapt: when the mesh and the domains change. How they change is in dom/adapt. */
#include "dom/adapt.h"

#include "base/log.h"
#include "base/mem.h"
#include "sim/sim.h"

void sim_count_octs(struct sim *s)
{
    int64_t n[LEVEL_MAX + 2] = {0};
    for (int l = 1; l <= s->mesh.levelmax; l++) n[l] = s->mesh.lev[l].nown;
    comm_add_i64(&s->comm, n, LEVEL_MAX + 2);
    int64_t least[2][LEVEL_MAX + 2] = {{0}};
    for (int l = 1; l <= s->mesh.levelmax; l++) {
        least[0][l] = s->mesh.lev[l].nown;
        least[1][l] = -least[0][l];
    }
    comm_min_i64(&s->comm, least[0], 2 * (LEVEL_MAX + 2));
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        s->noct[l] = n[l];
        s->noct_least[l] = least[0][l];
        s->noct_most[l] = -least[1][l];
    }
}

void sim_refine(struct sim *s, int from)
{
    struct mesh *m = &s->mesh;
    if (m->levelmin == m->levelmax || s->refine.frozen) return;
    for (int l = from; l < m->levelmax; l++)
        if (s->noct[l] > 0 || s->noct[l + 1] > 0) {
            adapt_refine(m, &s->comm, s->dom, l, m->hydro ? hydro_prolong : NULL, &s->hydro);
            s->noct[l + 1] = m->lev[l + 1].total;
        }
}

/* Cost of an oct (memory_balance; Kim 2026, eq. 4–5: bytes of the oct plus those of its particles;
 * else 80 per cell and 8 per particle), times the number of its steps within a coarse step
 * (cost_weighting). */
void sim_costs(const struct sim *s, double cost[LEVEL_MAX + 2], double *part)
{
    const struct mesh *m = &s->mesh;
    const struct param_run *run = &s->par->run;
    double grid = run->mem_weight_grid > 0 ? run->mem_weight_grid : 8 * (2 * m->nvar * 8 + 52) + 48,
           repeat = 1;
    *part = run->mem_weight_part > 0 ? run->mem_weight_part : 12;
    if (!run->memory_balance) grid = 8 * 80, *part = 8;
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        cost[l] = l < m->levelmin ? 1 : grid * repeat;
        if (l >= m->levelmin && l <= m->levelmax && run->cost_weighting)
            repeat *= s->time.nsubcycle[l];
    }
}

static double *oct_costs(const struct sim *s, int64_t total, int *level, okey *key)
{
    const struct mesh *m = &s->mesh;
    double *cost = mem_new(sizeof *cost * (size_t)total + 1, "balance"), each[LEVEL_MAX + 2], part;
    int64_t n = 0;
    sim_costs(s, each, &part);
    for (int l = 1; l <= m->levelmax; l++) {
        const struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++, n++) {
            level[n] = l;
            key[n] = lv->key[i];
            cost[n] = each[l];
        }
    }
    /* Particles are hosted on levelmin here: their cost goes to the base octs. */
    lidx base = 0;
    for (int l = 1; l < m->levelmin; l++) base += m->lev[l].nown;
    for (int64_t i = 0; i < s->parts.n; i++)
        if (s->parts.host[i] >= 0 && s->parts.host[i] < m->lev[m->levelmin].nown)
            cost[base + s->parts.host[i]] += part;
    return cost;
}

static void rebalance(struct sim *s, enum domain_kind kind)
{
    struct mesh *m = &s->mesh;
    int64_t total = 0;
    for (int l = 1; l <= m->levelmax; l++) total += m->lev[l].nown;
    int *level = mem_new(sizeof *level * (size_t)total + 1, "balance");
    okey *key = mem_new(sizeof *key * (size_t)total + 1, "balance");
    double *cost = oct_costs(s, total, level, key);
    struct domain *d = domain_balance(s->dom, kind, &s->comm, total, level, key, cost);
    FREE(cost);
    FREE(key);
    FREE(level);
    domain_free(s->dom);
    s->dom = d;
    adapt_redistribute(m, &s->comm, d);
}

void sim_domains_become(struct sim *s, enum domain_kind kind)
{
    rebalance(s, kind);
    if (s->par->run.pic) {
        enum err e = part_distribute(&s->parts, &s->mesh, &s->comm, s->dom);
        BUG_ON(e != OK); /* no particle has moved */
    }
    sim_count_octs(s);
}

/* (max − mean)/mean over the ranks of the oct updates of a coarse step. */
static double imbalance(const struct sim *s)
{
    double load = 0, repeat = 1;
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax; l++) {
        load += s->mesh.lev[l].nown * repeat;
        repeat *= s->time.nsubcycle[l];
    }
    double most = load, sum = load;
    comm_max_f64(&s->comm, &most, 1);
    comm_add_f64(&s->comm, &sum, 1);
    return most * s->comm.size / sum - 1;
}

bool sim_balance_due(const struct sim *s)
{
    int nremap = s->par->run.nremap;
    if (s->comm.size == 1) return false;
    if (nremap > 0) return s->time.nstep_coarse % nremap == 0;
    return param_given(s->par, "run", "remap_thresh") && imbalance(s) > s->par->run.remap_thresh;
}
