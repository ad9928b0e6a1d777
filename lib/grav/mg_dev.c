/* grav/mg_dev: see dev_priv.h. The tables are those of mg.c, made on the host and copied. A level
 * needs ten launches in a cycle; small ones are done by one block in one launch. The right-hand
 * side and u of a cell without children, or outside of the domain, are zero from the beginning and
 * never change, so restriction writes all others alone, and no launch is needed to clear them. */
#include "base/mem.h"
#include "grav/dev_priv.h"

static const struct comm ALONE = {.size = 1};

/* ---- the hierarchy ---- */

void mg_dev_drop(struct mg_dev *g, struct dev *d)
{
    for (int k = 0; k < LEVEL_MAX + 2; k++) {
        struct mg_dev_own *o = &g->lev[k];
        void *all[] = {o->nbr, o->child, o->edge, o->edges, o->cube, o->up, o->u, o->rhs};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) dev_free(d, all[i]);
    }
    *g = (struct mg_dev){0};
}

/* A copy there of an array of n elements; NULL of NULL. */
static enum err put(struct mirror *x, void **to, const void *from, size_t n, size_t size)
{
    if (!from) return OK;
    TRY(dev_new(x->dev, to, n * size + 1, "multigrid"));
    dev_put(x->stream, *to, from, n * size);
    return OK;
}

/* Where the mean residuals of the octs of `fine` go. */
static enum err put_up(struct mirror *x, void **to, const struct mg_level *g,
                       const struct mg_level *fine, int32_t *up)
{
    for (lidx i = 0; i < g->noct; i++) {
        lidx e = g->edge ? g->edge[i] : -1;
        for (int k = 0; k < 8; k++) {
            lidx j = g->child[i][k];
            if (j >= 0) up[j] = e < 0 || g->edges[e].diag[k] > 0 ? 8 * i + k : -1;
        }
    }
    return put(x, to, up, (size_t)fine->noct, sizeof *up);
}

static enum err zeros(struct mirror *x, void **to, lidx n)
{
    size_t bytes = sizeof(double[8]) * (size_t)n;
    TRY(dev_new(x->dev, to, bytes + 1, "multigrid"));
    dev_fill(x->stream, *to, 0, bytes);
    return OK;
}

static enum err put_level(struct mirror *x, struct mg_dev_own *o, const struct mg *g, int k,
                          int32_t *up)
{
    const struct mg_level *lev = &g->lev[k];
    size_t n = (size_t)lev->noct, edges = 0;
    BUG_ON(lev->nown != lev->noct);
    for (size_t i = 0; i < n && lev->edge; i++) edges += lev->edge[i] >= 0;
    o->n = lev->noct;
    o->ncube = lev->ncube;
    TRY(put(x, &o->nbr, lev->own_nbr, n, sizeof *lev->nbr));
    TRY(put(x, &o->child, lev->own_child, n, sizeof *lev->child));
    TRY(put(x, &o->edge, lev->edge, n, sizeof *lev->edge));
    TRY(put(x, &o->edges, lev->edges, edges, sizeof *lev->edges));
    TRY(put(x, &o->cube, lev->cube, (size_t)lev->ncube, sizeof *lev->cube));
    if (k > g->bottom) TRY(put_up(x, &o->up, &g->lev[k - 1], lev, up));
    if (k == g->top) return OK;
    TRY(zeros(x, &o->u, lev->noct));
    return zeros(x, &o->rhs, lev->noct);
}

static enum err put_levels(struct mg_dev *to, struct mirror *x, const struct mg *g)
{
    enum err err = OK;
    int32_t *up[LEVEL_MAX + 2] = {NULL};
    to->top = g->top;
    to->bottom = g->bottom;
    for (int k = g->bottom; k <= g->top && err == OK; k++) {
        up[k] = mem_new(sizeof *up[k] * (size_t)g->lev[k].noct + 1, "multigrid");
        err = put_level(x, &to->lev[k], g, k, up[k]);
    }
    enum err end = dev_wait(x->stream);
    for (int k = g->bottom; k <= g->top; k++) FREE(up[k]);
    return err != OK ? err : end;
}

static bool same(const struct mg_dev *g, const struct mesh *m, int l)
{
    bool all = g->known;
    for (int k = 1; k <= l; k++) all &= g->octs[k] == m->lev[k].octs;
    return all;
}

enum err mg_dev_need(struct mg_dev *g, struct mirror *x, const struct mesh *m, int l)
{
    struct mg host = {.tables = true};
    for (int k = 1; k <= l; k++) TRY(mirror_links(x, m, k));
    if (same(g, m, l)) return OK;
    TRY(dev_wait(x->stream));
    mg_dev_drop(g, x->dev);
    mg_build(&host, m, &ALONE, l, NULL);
    enum err err = put_levels(g, x, &host);
    mg_free(&host);
    if (err != OK) mg_dev_drop(g, x->dev);
    for (int k = 1; k <= l; k++) g->octs[k] = m->lev[k].octs;
    g->known = err == OK;
    return err;
}

/* ---- the cycle ---- */

static struct mg_dev_level view(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8],
                                int k)
{
    const struct mg_dev_own *o = &g->lev[k];
    const struct level *lv = &x->image->lev[k];
    double n = (double)((int64_t)1 << k), dx = 1.0 / n;
    bool top = k == g->top;
    return (struct mg_dev_level){
        .n = o->n,
        .dx2 = dx * dx,
        .inv_dx2 = n * n,
        .nbr = o->nbr ? (const lidx(*)[6])o->nbr : (const lidx(*)[6])lv->nbr,
        .edge = o->edge,
        .edges = o->edges,
        .u = top ? lv->fld[FLD_PHI] : (double(*)[8])o->u,
        .rhs = top ? rhs : (double(*)[8])o->rhs,
        .up = o->up,
        .cube = o->cube,
        .child = o->child ? (const lidx(*)[8])o->child : (const lidx(*)[8])lv->child,
        .ncube = o->ncube};
}

static void sweeps(const struct mirror *x, const struct mg_dev_level *g, bool safe, int n)
{
    for (int half = 0; half < 2 * n; half++)
        dev_launch(x->stream, &mg_half, dev_blocks(4 * (int64_t)g->n),
                   &(struct mg_half_args){*g, half % 2 == 0, safe});
}

/* below: NULL where only the norm is wanted. */
static void down(const struct mirror *x, const struct mg_dev_level *g,
                 const struct mg_dev_level *below, int64_t *norm)
{
    enum { BLOCKS = 8 }; /* of a processor at the same time: each adds its norm once */
    int64_t blocks = dev_blocks(8 * (int64_t)g->n), most = BLOCKS * (int64_t)dev_processors(x->dev);
    dev_launch(
        x->stream, &mg_down, norm && blocks > most ? most : blocks,
        &(struct mg_down_args){*g, below ? below->u : NULL, below ? below->rhs : NULL, norm});
}

/* One launch for the levels from the bottom to `top`. */
static void low_cycle(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int top,
                      bool safe, int64_t *const norm[2])
{
    struct mg_low_args a = {.n = top - g->bottom + 1, .safe = safe, .norm = {norm[0], norm[1]}};
    for (int k = 0; k < a.n; k++) a.lev[k] = view(g, x, rhs, g->bottom + k);
    dev_launch(x->stream, &mg_low, 1, &a);
}

/* The finest level that one block does together with all below it; below the bottom: none. */
static int low_level(const struct mg_dev *g, int64_t low)
{
    int k = g->bottom - 1, most = g->bottom + MG_LOW_LEVELS - 1;
    if (low > MG_LOW_OCTS) low = MG_LOW_OCTS;
    while (k < g->top && k < most && g->lev[k + 1].n <= low) k++;
    return g->top == g->bottom ? g->bottom - 1 : k; /* a top level needs one below it */
}

void mg_dev_cycle(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int64_t low,
                  bool safe, int64_t *const norm[2])
{
    struct mg_dev_level lev[LEVEL_MAX + 2];
    int last = low_level(g, low);
    if (last == g->top) {
        low_cycle(g, x, rhs, g->top, safe, norm);
        return;
    }
    for (int k = g->bottom; k <= g->top; k++) lev[k] = view(g, x, rhs, k);
    for (int k = g->top; k > last; k--) {
        if (k == g->bottom && k < g->top) {
            sweeps(x, &lev[k], safe, MG_BOTTOM_SWEEPS);
            break;
        }
        sweeps(x, &lev[k], safe, MG_SWEEPS);
        if (k > g->bottom || norm[0])
            down(x, &lev[k], k > g->bottom ? &lev[k - 1] : NULL, k == g->top ? norm[0] : NULL);
    }
    if (last >= g->bottom) low_cycle(g, x, rhs, last, safe, (int64_t *const[2]){NULL, NULL});
    for (int k = last >= g->bottom ? last + 1 : g->bottom + 1; k <= g->top; k++) {
        dev_launch(x->stream, &mg_up, dev_blocks(64 * (int64_t)lev[k - 1].ncube),
                   &(struct mg_up_args){lev[k - 1], lev[k]});
        sweeps(x, &lev[k], safe, MG_SWEEPS);
    }
    if (g->top == g->bottom) sweeps(x, &lev[g->top], safe, MG_SWEEPS);
    down(x, &lev[g->top], NULL, norm[1]);
}
