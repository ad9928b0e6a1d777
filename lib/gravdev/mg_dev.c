/* gravdev/mg_dev: the cycle; see dev_priv.h. A level needs ten launches in a cycle, or as many
 * stages of one launch of several cycles; small levels are processed together by one block. The
 * right-hand side and u of a cell without children, or outside of the domain, are zero initially
 * and never change, so restriction writes only the other cells, and no launch is needed to clear
 * them. */
#include "gravdev/dev_priv.h"

struct mg_dev_level mg_dev_view(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8],
                                int k)
{
    const struct mg_dev_own *o = &g->lev[k];
    const struct level *lv = &x->image->lev[k];
    double n = (double)((int64_t)1 << k), dx = 1.0 / n;
    bool top = k == g->top;
    return (struct mg_dev_level){
        .n = o->n,
        .nhalo = o->nhalo,
        .halo = o->halo,
        .dx2 = dx * dx,
        .inv_dx2 = n * n,
        .nbr = o->nbr ? (const lidx(*)[6])o->nbr : (const lidx(*)[6])lv->nbr,
        .boundary = o->boundary,
        .boundaries = o->boundaries,
        .u = top ? lv->fld[FLD_PHI] : (double(*)[8])o->u,
        .rhs = top ? rhs : (double(*)[8])o->rhs,
        .up = o->up,
        .cube = o->cube,
        .child = o->child ? (const lidx(*)[8])o->child : (const lidx(*)[8])lv->child,
        .ncube = o->ncube,
        .ndim = x->image->ndim};
}

static void sweeps(const struct mirror *x, const struct mg_dev_level *g, bool safe, int n)
{
    for (int half = 0; half < 2 * n; half++)
        dev_launch(x->stream, &mg_half, dev_blocks(4 * (int64_t)g->n),
                   &(struct mg_half_args){*g, half % 2 == 0, safe});
}

void mg_dev_down(const struct mirror *x, const struct mg_dev_level *g,
                 const struct mg_dev_level *below, double *mean, int64_t *norm)
{
    enum { BLOCKS = 8 }; /* blocks per multiprocessor, each of which adds a norm once */
    int64_t blocks = dev_blocks(8 * (int64_t)g->n), max = BLOCKS * (int64_t)dev_processors(x->dev);
    dev_launch(
        x->stream, &mg_down, norm && blocks > max ? max : blocks,
        &(struct mg_down_args){*g, below ? below->u : NULL, below ? below->rhs : NULL, mean, norm});
}

/* Runs a cycle of the levels from the bottom to `top` in one launch. */
static void low_cycle(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int top,
                      bool safe, int64_t *const norm[2])
{
    struct mg_low_args a = {.n = top - g->bottom + 1, .safe = safe, .norm = {norm[0], norm[1]}};
    for (int k = 0; k < a.n; k++) a.lev[k] = mg_dev_view(g, x, rhs, g->bottom + k);
    for (int k = 1; k < a.n; k++) a.first[k] = a.first[k - 1] + a.lev[k - 1].n;
    dev_launch(x->stream, &mg_low, 1, &a);
}

/* The finest level that one block processes with all coarser ones; bottom - 1 if none. */
static int low_level(const struct mg_dev *g, int64_t low)
{
    int k = g->bottom - 1, max = g->bottom + MG_LOW_LEVELS - 1;
    int64_t all = 0;
    while (k < g->top && k < max && g->lev[k + 1].n <= low && all + g->lev[k + 1].n <= MG_LOW_OCTS)
        all += g->lev[++k].n;
    return g->top == g->bottom ? g->bottom - 1 : k; /* a top level needs a coarser level */
}

/* Runs a cycle by launches; levels up to `last` are processed by one block. */
static void cycle(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int last,
                  bool safe, int64_t *const norm[2])
{
    struct mg_dev_level lev[LEVEL_MAX + 2];
    if (last == g->top) {
        low_cycle(g, x, rhs, g->top, safe, norm);
        return;
    }
    for (int k = g->bottom; k <= g->top; k++) lev[k] = mg_dev_view(g, x, rhs, k);
    for (int k = g->top; k > last; k--) {
        if (k == g->bottom && k < g->top) {
            sweeps(x, &lev[k], safe, MG_BOTTOM_SWEEPS);
            break;
        }
        sweeps(x, &lev[k], safe, MG_SWEEPS);
        if (k > g->bottom || norm[0])
            mg_dev_down(x, &lev[k], k > g->bottom ? &lev[k - 1] : NULL, NULL,
                        k == g->top ? norm[0] : NULL);
    }
    if (last >= g->bottom) low_cycle(g, x, rhs, last, safe, (int64_t *const[2]){NULL, NULL});
    for (int k = last >= g->bottom ? last + 1 : g->bottom + 1; k <= g->top; k++) {
        dev_launch(x->stream, &mg_up, dev_blocks(64 * (int64_t)lev[k - 1].ncube),
                   &(struct mg_up_args){lev[k - 1], lev[k]});
        sweeps(x, &lev[k], safe, MG_SWEEPS);
    }
    if (g->top == g->bottom) sweeps(x, &lev[g->top], safe, MG_SWEEPS);
    mg_dev_down(x, &lev[g->top], NULL, NULL, norm[1]);
}

/* ---- cycles in one launch ---- */

/* Counts the stages of n cycles by their work. */
static void stages_count(const struct mirror *x, const struct mg_cycles_args *a, int n)
{
    static const char DOWN[] = "stage_mg_down";
    const struct mg_dev_level *lev = a->low.lev;
    const int top = a->levels - 1;
    for (; n > 0; n--) {
        for (int k = a->low.n; k <= top; k++) {
            for (int i = 0; i < 4 * MG_SWEEPS; i++)
                dev_stage_count(x->stream, "stage_mg_half", dev_blocks(4 * (int64_t)lev[k].n));
            dev_stage_count(x->stream, DOWN, dev_blocks(8 * (int64_t)lev[k].n));
            dev_stage_count(x->stream, "stage_mg_up", dev_blocks(64 * (int64_t)lev[k - 1].ncube));
        }
        dev_stage_count(x->stream, "stage_mg_low", 1);
        dev_stage_count(x->stream, DOWN, dev_blocks(8 * (int64_t)lev[top].n));
    }
}

/* Runs n cycles in one launch; levels up to `last` are processed by one of its blocks. */
static void cycles_at_once(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8],
                           int last, bool safe, int n, int64_t *before, int64_t *after)
{
    struct mg_cycles_args a = {.levels = g->top - g->bottom + 1,
                               .before = before,
                               .after = after,
                               .low = {.n = last - g->bottom + 1, .safe = safe}};
    for (int k = 0; k < a.levels; k++) a.low.lev[k] = mg_dev_view(g, x, rhs, g->bottom + k);
    for (int k = 1; k < a.low.n; k++) a.low.first[k] = a.low.first[k - 1] + a.low.lev[k - 1].n;
    a.each.stages = n * mg_stages(a.levels - a.low.n);
    stages_count(x, &a, n);
    int64_t blocks = grav_blocks(8 * (int64_t)g->lev[g->top].n, MG_LOW_THREADS),
            max = dev_together(x->stream, &mg_cycles);
    dev_launch_stages(x->stream, &mg_cycles, blocks < max ? blocks : max, &a);
}

void mg_dev_cycles(const struct mg_dev *g, const struct mirror *x, double (*rhs)[8], int64_t low,
                   bool safe, int n, int64_t *before, int64_t *after)
{
    const int last = low_level(g, low), levels = g->top - g->bottom + 1;
    if (last >= g->bottom && last < g->top && levels <= MG_LOW_LEVELS &&
        g->lev[g->top].n <= MG_CYCLE_OCTS && dev_together(x->stream, &mg_cycles) > 0) {
        cycles_at_once(g, x, rhs, last, safe, n, before, after);
        return;
    }
    for (int i = 0; i < n; i++)
        cycle(g, x, rhs, last, safe,
              (int64_t *const[2]){i == 0 ? before : NULL, after + (ptrdiff_t)i * GRAV_NORM});
}
