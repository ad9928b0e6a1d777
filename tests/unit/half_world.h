/* A mesh of two levels, with one half of the box refined. */
#pragma once
#include <string.h>

#include "adapt/adapt.h"
#include "base/rng.h"
#include "base/sum.h"
#include "hydro/hydro.h"
#include "part/part.h"
#include "phys/term.h"

enum { LMIN = 3, LMAX = 4 };

struct world {
    struct mesh m;
    struct domain *d;
    struct parts p;
};

static void half_world(struct world *w, const struct comm *c, int nvar, bool gravity)
{
    const bool bounded[6] = {false};
    mesh_init(&w->m, LMIN, LMAX, nvar, true, gravity, 1, bounded);
    part_init(&w->p);
    w->d = domain_new(DOMAIN_KSECTION, c->size, LMAX, bounded);
    adapt_build(&w->m, c, w->d);
    struct level *lv = &w->m.lev[LMIN];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) lv->flag[i][k] = !(lv->key[i] >> 3 & 4);
    adapt_refine(&w->m, c, w->d, LMIN, NULL, NULL);
}

/* Gas that depends only on the cell; uniform: constant gas. */
static inline void world_fill(struct world *w, int nvar, bool uniform)
{
    for (int l = LMIN; l <= LMAX; l++)
        for (int v = 0; v < nvar; v++)
            for (lidx i = 0; i < w->m.lev[l].nown; i++)
                for (int k = 0; k < 8; k++) {
                    uint64_t key = (uint64_t)w->m.lev[l].key[i] << 3 | (uint64_t)k;
                    struct rng g = rng_make(3, key, (uint32_t)(l * nvar + v));
                    double noise = uniform ? 0.5 : rng_uniform(&g);
                    w->m.lev[l].fld[FLD_U + v][i][k] = v == 0            ? 0.5 + noise
                                                       : v == GAS_ENERGY ? 3 + noise
                                                       : v < GAS_ENERGY  ? noise - 0.5
                                                                         : 0.1 * noise;
                }
}

/* A coarse step of a run on this mesh, in code units without cosmology. */
static inline struct term_run world_run(struct world *w, const struct comm *c,
                                        const struct params *par, const struct hydro_par *hydro)
{
    return (struct term_run){.par = par,
                             .hydro = hydro,
                             .comm = c,
                             .dom = w->d,
                             .mesh = &w->m,
                             .parts = &w->p,
                             .stage = TERM_COARSE,
                             .level = LMIN,
                             .aexp = 1,
                             .units = units_at(&par->units, NULL, 1)};
}

static void world_free(struct world *w)
{
    mesh_fini(&w->m);
    part_fini(&w->p);
    domain_free(w->d);
}

/* Adds each gas variable of this rank's leaf cells to its sum. */
static inline void world_gas(const struct world *w, int nvar, struct sum *s)
{
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l);
        for (lidx i = 0; i < 8 * lv->nown; i++)
            for (int v = 0; v < nvar && lv->child[i / 8][i % 8] < 0; v++)
                sum_add(&s[v], lv->fld[FLD_U + v][i / 8][i % 8] * (dx * dx * dx));
    }
}

/* Exact sums over the leaf cells of all ranks. (collective) */
static inline void world_totals(const struct world *w, const struct comm *c, int nvar, double *out)
{
    struct sum s[16];
    for (int v = 0; v < nvar; v++) sum_init(&s[v]);
    world_gas(w, nvar, s);
    comm_sums(c, s, nvar);
    for (int v = 0; v < nvar; v++) out[v] = sum_get(&s[v]);
}

/* Number of values in cells that differ from those of a world that one rank holds completely. */
static inline int64_t world_differ(const struct world *w, const struct world *whole, int nvar)
{
    int64_t n = 0;
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l], *other = &whole->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++) {
            lidx j = mesh_find(other, lv->key[i]);
            for (int v = 0; v < nvar; v++)
                n += memcmp(lv->fld[FLD_U + v][i], other->fld[FLD_U + v][j], 64) != 0;
        }
    }
    return n;
}
