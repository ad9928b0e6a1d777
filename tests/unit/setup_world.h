/* Smoothed particles of a setup without a run, and all of them on rank 0 by ids, for tests of
 * setups and point masses. */
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sph/sph.h"

static inline void world_text(param_string to, const char *text)
{
    snprintf(to, sizeof(param_string), "%s", text);
}

/* The equations of the parameters. */
static void world_begin(struct sph *s, const struct params *par, const struct comm *c)
{
    const struct param_sph *p = &par->sph;
    const bool m4 = strcmp(p->kernel, "M4") == 0, cd10 = strcmp(p->alpha_switch, "cd10") == 0;
    *s = (struct sph){.par = par, .comm = c, .periodic = strcmp(p->boundary, "periodic") == 0};
    s->eq = (struct smooth_par){.kernel = m4 ? SMOOTH_M4 : SMOOTH_M6,
                                .eta = m4 ? 1.2 : 1.0,
                                .gamma = p->gamma,
                                .c0 = p->cs0,
                                .alpha_switch = cd10 ? SMOOTH_CD10 : SMOOTH_CONST,
                                .alpha_min = p->alpha_min,
                                .alpha_max = p->alpha_max};
    s->eq.eos = strcmp(p->eos, "adiabatic") == 0    ? SMOOTH_ADIABATIC
                : strcmp(p->eos, "isothermal") == 0 ? SMOOTH_ISOTHERMAL
                                                    : SMOOTH_LOCALLY;
    for (int d = 0; d < 3; d++) s->lo[d] = p->xmin[d], s->side[d] = p->xmax[d] - p->xmin[d];
}

static void world_end(struct sph *s)
{
    smooth_free(&s->p);
    FREE(s->sink);
}

struct world_row {
    int64_t id;
    double x[3], v[3], u, h, alpha, zero; /* zero: sum of what is 0 */
    int8_t type;
};
MEM_ORDER(world_order, struct world_row, id)

/* All particles by their ids; NULL but on rank 0. (collective) */
static inline struct world_row *world_all(const struct sph *s, int64_t *n)
{
    const struct smooth *p = &s->p;
    struct world_row *own = mem_zero(sizeof *own * (size_t)(p->n + 1), "world");
    for (int64_t i = 0; i < p->n; i++) {
        struct world_row *r = &own[i];
        r->id = p->id[i], r->type = p->type[i];
        r->u = p->u[i], r->h = p->h[i], r->alpha = p->alpha[i];
        for (int d = 0; d < 3; d++) r->x[d] = p->x[d][i], r->v[d] = p->v[d][i];
        for (int d = 0; d < 3; d++) r->zero += fabs(p->a[d][i]);
        r->zero += fabs(p->du[i]) + fabs(p->divv[i]);
    }
    struct world_row *all = comm_exchange_root(s->comm, own, p->n, sizeof *own, n);
    mem_free(own);
    if (s->comm->rank == 0) mem_sort(all, (size_t)*n, sizeof *all, world_order);
    return all;
}
