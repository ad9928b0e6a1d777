/* gravdev/mg_tables_dev: the hierarchy of a level on a device, made there from the links of the
 * mesh (mg_tables_kernel.c), and kept until a list of octs changes. The host learns counts alone.
 * What grav/mg does on hosts; the tables are the same, on one rank. */
#include "base/mem.h"
#include "gravdev/dev_priv.h"
#include "gravdev/mg_tables.h"

/* ---- what is under way ---- */

/* Of a level, until the tables are made. */
struct draft_level {
    lidx *map;         /* mesh → compact; NULL: identity */
    double (*mask)[8]; /* compact; NULL: 1 everywhere */
    int32_t *is, *sum; /* a flag an oct, and sums of them */
};

struct draft {
    struct mg_dev *g;
    struct mirror *x;
    const struct mesh *m;
    int32_t *inside; /* there */
    struct draft_level lev[LEVEL_MAX + 2];
};

static void draft_drop(struct draft *t)
{
    struct dev_stream *s = t->x->stream;
    for (int k = 0; k < LEVEL_MAX + 2; k++) {
        dev_drop(s, t->lev[k].map);
        dev_drop(s, t->lev[k].mask);
        dev_drop(s, t->lev[k].is);
        dev_drop(s, t->lev[k].sum);
    }
    dev_drop(s, t->inside);
}

/* An array there of n elements; pointer: of any type. */
static enum err make(struct draft *t, void *pointer, lidx n, size_t size)
{
    void *p;
    TRY(dev_new(t->x->dev, &p, (size_t)n * size + 1, "multigrid"));
    *(void **)pointer = p;
    return OK;
}

static void launch(struct draft *t, const struct dev_kernel *k, lidx n, const void *args)
{
    dev_launch(t->x->stream, k, dev_blocks(n), args);
}

static enum err make_flags(struct draft *t, struct draft_level *e, lidx n)
{
    if (!e->is) TRY(make(t, &e->is, n, sizeof *e->is));
    return e->sum ? OK : make(t, &e->sum, n + 1, sizeof *e->sum);
}

/* ---- which octs ---- */

/* Octs of level k below a refined one. *inside: whether a cell of them is. */
static enum err subset(struct draft *t, int k, bool *inside)
{
    struct dev_stream *s = t->x->stream;
    const struct level *im = &t->x->image->lev[k];
    struct draft_level *e = &t->lev[k], *fine = &t->lev[k + 1];
    struct mg_dev_own *o = &t->g->lev[k];
    const lidx n = t->m->lev[k].noct;
    int32_t is;
    double(*mask)[8];
    TRY(make_flags(t, e, n));
    TRY(make(t, &e->mask, n, sizeof *e->mask));
    dev_fill(s, t->inside, 0, sizeof *t->inside);
    launch(t, &mg_keep, n,
           &(struct mg_keep_args){n, (const lidx(*)[8])im->child, fine->map,
                                  (const double(*)[8])fine->mask, e->is, e->mask, t->inside});
    dev_scan(s, e->sum, e->is, n);
    dev_get(s, &o->n, e->sum + n, sizeof o->n);
    dev_get(s, &is, t->inside, sizeof is);
    TRY(dev_wait(s));
    *inside = is;
    if (o->n == n) return OK;
    mask = e->mask;
    e->mask = NULL;
    enum err err = make(t, &e->mask, o->n, sizeof *e->mask);
    if (err == OK) err = make(t, &e->map, n, sizeof *e->map);
    if (err == OK) err = make(t, &o->nbr, o->n, sizeof(lidx[6]));
    if (err == OK)
        launch(t, &mg_compact, n,
               &(struct mg_compact_args){n, e->is, e->sum, (const lidx(*)[6])im->nbr,
                                         (const double(*)[8])mask, e->map, o->nbr, e->mask});
    dev_drop(s, mask);
    return err;
}

/* Every level down to the coarsest with a cell inside. */
static enum err subsets(struct draft *t, int least)
{
    struct mg_dev *g = t->g;
    bool inside = true;
    TRY(make(t, &t->inside, 1, sizeof *t->inside));
    for (g->bottom = g->top; g->bottom > least; g->bottom--) {
        TRY(subset(t, g->bottom - 1, &inside));
        if (!inside) break;
    }
    return OK;
}

/* ---- tables of a level ---- */

static const lidx (*links_of(const struct draft *t, int k))[6]
{
    const struct mg_dev_own *o = &t->g->lev[k];
    return o->nbr ? (const lidx(*)[6])o->nbr : (const lidx(*)[6])t->x->image->lev[k].nbr;
}

static enum err edges_find(struct draft *t, int k)
{
    const lidx n = t->g->lev[k].n;
    struct draft_level *e = &t->lev[k];
    TRY(make_flags(t, e, n));
    launch(t, &mg_edge_find, n,
           &(struct mg_edge_find_args){n, links_of(t, k), (const double(*)[8])e->mask, e->is});
    dev_scan(t->x->stream, e->sum, e->is, n);
    return OK;
}

static enum err edges_make(struct draft *t, int k, lidx nedge)
{
    struct draft_level *e = &t->lev[k];
    struct mg_dev_own *o = &t->g->lev[k];
    if (nedge == 0) return OK;
    TRY(make(t, &o->edge, o->n, sizeof(lidx)));
    TRY(make(t, &o->edges, nedge, sizeof(struct mg_edge)));
    launch(t, &mg_edge_make, o->n,
           &(struct mg_edge_make_args){o->n, links_of(t, k), (const double(*)[8])e->mask, e->is,
                                       e->sum, o->edge, o->edges});
    return OK;
}

static enum err edges(struct draft *t)
{
    const struct mg_dev *g = t->g;
    int32_t nedge[LEVEL_MAX + 2];
    for (int k = g->bottom; k <= g->top; k++) TRY(edges_find(t, k));
    for (int k = g->bottom; k <= g->top; k++)
        dev_get(t->x->stream, &nedge[k], t->lev[k].sum + g->lev[k].n, sizeof nedge[k]);
    TRY(dev_wait(t->x->stream));
    for (int k = g->bottom; k <= g->top; k++) TRY(edges_make(t, k, nedge[k]));
    return OK;
}

/* Links of level k to the one above, and what a cycle moves along them. */
static enum err between(struct draft *t, int k)
{
    const struct level *im = &t->x->image->lev[k];
    const lidx n = t->m->lev[k].noct, *map = t->lev[k].map, *fine_map = t->lev[k + 1].map;
    struct mg_dev_own *o = &t->g->lev[k], *fine = &t->g->lev[k + 1];
    if (map || fine_map) {
        TRY(make(t, &o->child, o->n, sizeof(lidx[8])));
        launch(t, &mg_children, n,
               &(struct mg_children_args){n, map, fine_map, (const lidx(*)[8])im->child, o->child});
    }
    TRY(make(t, &fine->up, fine->n, sizeof(int32_t)));
    launch(t, &mg_ups, o->n,
           &(struct mg_ups_args){
               o->n, o->child ? (const lidx(*)[8])o->child : (const lidx(*)[8])im->child, o->edge,
               o->edges, fine->up});
    o->ncube = o->n; /* each has children */
    TRY(make(t, &o->cube, o->n, sizeof(struct mg_cube)));
    launch(t, &mg_cubes, n, &(struct mg_cubes_args){t->x->there, k, map, o->cube});
    return OK;
}

static enum err zeros(struct draft *t, void **to, lidx n)
{
    size_t bytes = sizeof(double[8]) * (size_t)n;
    TRY(make(t, to, n, sizeof(double[8])));
    dev_fill(t->x->stream, *to, 0, bytes);
    return OK;
}

/* ---- all ---- */

static enum err build(struct draft *t, int l)
{
    struct mg_dev *g = t->g;
    bool bounded = false;
    for (int f = 0; f < 6; f++) bounded |= t->m->bounded[f];
    int least = bounded && l >= 2 ? 2 : 1;
    g->top = l;
    g->bottom = least;
    for (int k = least; k <= l; k++) g->lev[k].n = t->m->lev[k].noct;
    mirror_send(t->x, t->m);
    if (l > t->m->levelmin) TRY(subsets(t, least));
    TRY(edges(t));
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

enum err mg_dev_need(struct grav_dev *d, const struct mesh *m, int l)
{
    struct mg_dev *g = &d->mg[l];
    struct mirror *x = d->mirror;
    struct draft t = {.g = g, .x = x, .m = m};
    for (int k = 1; k <= l; k++) TRY(mirror_links(x, m, k));
    if (mg_dev_has(g, m, l)) return OK;
    mg_dev_drop(d, g, true);
    enum err err = build(&t, l);
    draft_drop(&t);
    if (err != OK) mg_dev_drop(d, g, true);
    for (int k = 1; k <= l; k++) g->octs[k] = m->lev[k].octs;
    g->known = err == OK;
    return err;
}
