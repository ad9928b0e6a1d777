/* gravdev/mg_tables_dev: the hierarchy of a level on the device of a single rank, made there from
 * the links of the mesh (mg_tables_kernel.c) and kept until a list of octs changes. The tables
 * equal those of grav/mg on hosts. Only counts are copied to the host. */
#include "base/mem.h"
#include "gravdev/mg_draft.h"

/* ---- release ---- */

void draft_drop(struct draft *t)
{
    struct dev_stream *s = t->x->stream;
    for (int k = 0; k < LEVEL_MAX + 2; k++) {
        struct draft_level *e = &t->lev[k];
        void *all[] = {e->self,      e->whole,      e->map,  e->mask,     e->octs.is,
                       e->octs.sum,  e->halo.is,    e->up,   e->halo.sum, e->wants.is,
                       e->wants.sum, e->entries.is, e->read, e->first,    e->entries.sum};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) dev_drop(s, all[i]);
    }
    dev_drop(s, t->inside);
    dev_drop(s, t->mask);
    dev_drop(s, t->slot);
}

enum err draft_make(struct draft *t, void *pointer, lidx n, size_t size)
{
    return dev_new(t->x->dev, pointer, (size_t)n * size + 1, "multigrid");
}

void draft_launch(struct draft *t, const struct dev_kernel *k, lidx n, const void *args)
{
    dev_launch(t->x->stream, k, dev_blocks(n), args);
}

enum err draft_counts(struct draft *t, struct totals *e, lidx n)
{
    if (!e->is) TRY(draft_make(t, &e->is, n, sizeof *e->is));
    return e->sum ? OK : draft_make(t, &e->sum, n + 1, sizeof *e->sum);
}

/* ---- octs of a level ---- */

/* Marks the octs of level k with refined cells, in mesh numbering; *inside: whether one of their
 * cells is inside. The number of octs and *inside are in transit afterwards. */
static enum err keep(struct draft *t, int k, int32_t *inside)
{
    struct dev_stream *s = t->x->stream;
    struct draft_level *e = &t->lev[k], *fine = &t->lev[k + 1];
    const lidx n = t->m->lev[k].noct;
    TRY(draft_counts(t, &e->octs, n));
    TRY(draft_make(t, &e->self, n, sizeof *e->self));
    TRY(draft_make(t, &e->whole, n, sizeof *e->whole));
    draft_launch(t, &mg_keep, n,
                 &(struct mg_keep_args){.n = n,
                                        .ndim = t->m->ndim,
                                        .child = (const lidx(*)[8])t->x->image->lev[k].child,
                                        .fine_map = fine->self,
                                        .fine_mask = (const double(*)[8])fine->whole,
                                        .keep = e->octs.is,
                                        .mask = e->whole,
                                        .inside = t->inside + k,
                                        .self = e->self});
    dev_scan(s, e->octs.sum, e->octs.is, n);
    dev_get(s, &t->g->lev[k].n, e->octs.sum + n, sizeof t->g->lev[k].n);
    dev_get(s, inside, t->inside + k, sizeof *inside);
    return OK;
}

/* Makes compact numbers, if the level has any. */
static enum err compact(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    const lidx n = t->m->lev[k].noct;
    o->noct = o->n;
    if (o->n == n) {
        e->mask = e->whole;
        e->whole = NULL;
        return OK;
    }
    TRY(draft_make(t, &e->mask, o->n, sizeof *e->mask));
    TRY(draft_make(t, &e->map, n, sizeof *e->map));
    TRY(draft_make(t, &o->nbr, o->n, sizeof(lidx[6])));
    draft_launch(t, &mg_compact, n,
                 &(struct mg_compact_args){n, e->octs.is, e->octs.sum,
                                           (const lidx(*)[6])t->x->image->lev[k].nbr,
                                           (const double(*)[8])e->whole, e->map, o->nbr, e->mask});
    return OK;
}

/* Finds the levels down to the coarsest with a cell inside, with a single wait, for which coarser
 * levels are examined too. */
static enum err subsets(struct draft *t, int min)
{
    struct mg_dev *g = t->g;
    int32_t inside[LEVEL_MAX + 2];
    TRY(draft_make(t, &t->inside, LEVEL_MAX + 2, sizeof *t->inside));
    dev_fill(t->x->stream, t->inside, 0, sizeof inside);
    enum err err = OK, end;
    for (int k = g->top - 1; k >= min && err == OK; k--) err = keep(t, k, &inside[k]);
    end = dev_wait(t->x->stream); /* waits also for the numbers in transit to `inside` */
    TRY(err);
    TRY(end);
    for (g->bottom = g->top; g->bottom > min && inside[g->bottom - 1];) g->bottom--;
    for (int k = g->top - 1; k >= g->bottom; k--) TRY(compact(t, k));
    return OK;
}

/* ---- tables of a level ---- */

const lidx (*draft_nbr(const struct draft *t, int k))[6]
{
    const struct mg_dev_own *o = &t->g->lev[k];
    return o->nbr ? (const lidx(*)[6])o->nbr : (const lidx(*)[6])t->x->image->lev[k].nbr;
}

const lidx (*draft_child(const struct draft *t, int k))[8]
{
    const struct mg_dev_own *o = &t->g->lev[k];
    return o->child ? (const lidx(*)[8])o->child : (const lidx(*)[8])t->x->image->lev[k].child;
}

enum err draft_boundaries_find(struct draft *t, int k)
{
    const lidx n = t->g->lev[k].noct;
    struct draft_level *e = &t->lev[k];
    TRY(draft_counts(t, &e->octs, n));
    draft_launch(t, &mg_boundary_find, n,
                 &(struct mg_boundary_find_args){n, draft_nbr(t, k), (const double(*)[8])e->mask,
                                                 e->octs.is});
    dev_scan(t->x->stream, e->octs.sum, e->octs.is, n);
    dev_get(t->x->stream, &e->nboundary, e->octs.sum + n, sizeof e->nboundary);
    return OK;
}

enum err draft_boundaries_make(struct draft *t, int k)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    if (e->nboundary == 0) return OK;
    TRY(draft_make(t, &o->boundary, o->noct, sizeof(lidx)));
    TRY(draft_make(t, &o->boundaries, e->nboundary, sizeof(struct mg_boundary)));
    draft_launch(t, &mg_boundary_make, o->noct,
                 &(struct mg_boundary_make_args){o->noct, t->m->ndim, draft_nbr(t, k),
                                                 (const double(*)[8])e->mask, e->octs.is,
                                                 e->octs.sum, o->boundary, o->boundaries});
    return OK;
}

static enum err boundaries(struct draft *t)
{
    const struct mg_dev *g = t->g;
    for (int k = g->bottom; k <= g->top; k++) TRY(draft_boundaries_find(t, k));
    TRY(dev_wait(t->x->stream));
    for (int k = g->bottom; k <= g->top; k++) TRY(draft_boundaries_make(t, k));
    return OK;
}

enum err draft_children(struct draft *t, int k)
{
    const lidx n = t->m->lev[k].noct, *map = t->lev[k].map, *fine_map = t->lev[k + 1].map;
    struct mg_dev_own *o = &t->g->lev[k];
    if (!map && !fine_map) return OK;
    TRY(draft_make(t, &o->child, o->noct, sizeof(lidx[8])));
    draft_launch(t, &mg_children, n,
                 &(struct mg_children_args){n, map, fine_map,
                                            (const lidx(*)[8])t->x->image->lev[k].child, o->child});
    return OK;
}

/* Makes the links of level k to the finer level, and the tables of restriction and prolongation. */
static enum err between(struct draft *t, int k)
{
    const lidx n = t->m->lev[k].noct, *map = t->lev[k].map;
    struct mg_dev_own *o = &t->g->lev[k], *fine = &t->g->lev[k + 1];
    TRY(draft_children(t, k));
    TRY(draft_make(t, &fine->up, fine->n, sizeof(int32_t)));
    draft_launch(t, &mg_ups, o->n,
                 &(struct mg_ups_args){o->n, t->m->cells, draft_child(t, k), o->boundary,
                                       o->boundaries, fine->up});
    o->ncube = o->n; /* every oct has children */
    TRY(draft_make(t, &o->cube, o->n, sizeof(struct mg_cube)));
    draft_launch(
        t, &mg_cubes, n,
        &(struct mg_cubes_args){.mesh = t->x->mesh_dev, .l = k, .map = map, .cube = o->cube});
    return OK;
}

static enum err zeros(struct draft *t, void **to, lidx n)
{
    size_t bytes = sizeof(double[8]) * (size_t)n;
    TRY(draft_make(t, to, n, sizeof(double[8])));
    dev_fill(t->x->stream, *to, 0, bytes);
    return OK;
}

/* ---- the hierarchy ---- */

static enum err build(struct draft *t, int l)
{
    struct mg_dev *g = t->g;
    const int min = mg_min(t->m, l);
    g->top = l;
    g->bottom = min;
    for (int k = min; k <= l; k++) g->lev[k].n = g->lev[k].noct = t->m->lev[k].noct;
    mirror_send(t->x, t->m);
    if (l > t->m->levelmin) TRY(subsets(t, min));
    TRY(boundaries(t));
    for (int k = g->bottom; k < l; k++) {
        TRY(between(t, k));
        TRY(zeros(t, &g->lev[k].u, g->lev[k].n));
        TRY(zeros(t, &g->lev[k].rhs, g->lev[k].n));
    }
    return OK;
}

bool mg_dev_has(const struct mg_dev *g, const struct mesh *m, int l)
{
    bool all = g->known;
    for (int k = 1; k <= l; k++) all &= g->octs[k] == m->lev[k].octs;
    return all;
}

void mg_dev_drop(struct grav_dev *d, struct mg_dev *g)
{
    for (int k = 0; k < LEVEL_MAX + 2; k++) {
        struct mg_dev_own *o = &g->lev[k];
        void *all[] = {o->nbr, o->child, o->boundary, o->boundaries, o->cube,
                       o->up,  o->u,     o->rhs,      o->halo,       o->mean};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) dev_drop(d->stream, all[i]);
        if (d->ghost) ghost_dev_plan_drop(d->ghost, &o->plan);
        xplan_free(&o->own_plan);
    }
    if (g->host) mg_free(g->host);
    FREE(g->host);
    FREE(g->row);
    FREE(g->come);
    *g = (struct mg_dev){0};
}

enum err mg_dev_need(struct grav_dev *d, const struct mesh *m, int l)
{
    struct mg_dev *g = &d->mg[l];
    struct mirror *x = d->mirror;
    struct draft t = {.d = d, .g = g, .x = x, .m = m};
    for (int k = 1; k <= l; k++) TRY(mirror_links(x, m, k));
    if (mg_dev_has(g, m, l)) return OK;
    mg_dev_drop(d, g);
    enum err err = build(&t, l);
    draft_drop(&t);
    if (err != OK) mg_dev_drop(d, g);
    for (int k = 1; k <= l; k++) g->octs[k] = m->lev[k].octs;
    g->known = err == OK;
    return err;
}
