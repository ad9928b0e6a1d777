/* A mesh of two levels: one half of the box is refined. */
#pragma once
#include "dom/adapt.h"
#include "part/part.h"

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

static void world_free(struct world *w)
{
    mesh_fini(&w->m);
    part_fini(&w->p);
    domain_free(w->d);
}
