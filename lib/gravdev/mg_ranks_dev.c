/* gravdev/mg_ranks_dev: multigrid of several ranks on a device. The hierarchy is that of grav/mg,
 * ghosts and shared levels included, made by the hosts together and copied; a cycle is that of
 * grav/mg_cycle without what hides the exchanges. Ghosts are packed on the device (dom/ghost_dev);
 * the levels that all ranks share are solved by the host, which gets their right-hand side and
 * returns the correction. */
#include <string.h>

#include "base/mem.h"
#include "gravdev/dev_priv.h"

/* ---- the hierarchy ---- */

static enum err room(struct grav_dev *d, void **pointer, lidx n, size_t size, const char *name)
{
    return dev_new(d->dev, pointer, (size_t)n * size + 1, name);
}

/* A copy there of an array of n elements; NULL of NULL. */
static enum err put(struct grav_dev *d, void **pointer, const void *from, lidx n, size_t size)
{
    if (!from) return OK;
    TRY(room(d, pointer, n, size, "multigrid tables"));
    dev_put(d->stream, *pointer, from, (size_t)n * size);
    return OK;
}

static enum err level_put(struct grav_dev *d, struct mg_dev_own *o, const struct mg *g, int k)
{
    const struct mg_level *lev = &g->lev[k];
    lidx edges = 0;
    for (lidx i = 0; i < lev->noct && lev->edge; i++) edges += lev->edge[i] >= 0;
    o->n = lev->nown;
    o->noct = lev->noct;
    o->nhalo = lev->nhalo;
    o->ncube = lev->ncube;
    o->plan.plan = lev->plan;
    TRY(put(d, &o->child, lev->own_child, lev->noct, sizeof *lev->child));
    TRY(put(d, &o->cube, lev->cube, lev->ncube, sizeof *lev->cube));
    bool shared = g->share && k == g->bottom, over = g->share && k == g->bottom + 1;
    const char *name = shared ? MG_SHARED : "multigrid";
    if (k < g->top) TRY(room(d, &o->u, lev->noct, sizeof *lev->u, name));
    if (shared) return OK;
    TRY(put(d, &o->nbr, lev->own_nbr, lev->noct, sizeof *lev->nbr));
    TRY(put(d, &o->halo, lev->halo, lev->nhalo, sizeof *lev->halo));
    TRY(put(d, &o->edge, lev->edge, lev->noct, sizeof *lev->edge));
    TRY(put(d, &o->edges, lev->edges, edges, sizeof *lev->edges));
    if (k < g->top) TRY(room(d, &o->rhs, lev->noct, sizeof *lev->rhs, "multigrid"));
    return room(d, &o->mean, lev->noct, sizeof *lev->mean, over ? MG_SHARED : "multigrid");
}

enum err mg_ranks_need(struct grav_dev *d, const struct mesh *m, int l, struct grav_par *p)
{
    struct mg_dev *g = &d->mg[l];
    enum err err = dev_wait(d->stream), end;
    mg_dev_drop(d, g, false);
    struct mg *host = g->host = mem_zero(sizeof *host, "multigrid");
    host->most_shared = 2 * (int64_t)p->mg_shared_octs;
    host->try_shared = p->shared_level[l];
    mg_build(host, m, d->comm, l, NULL);
    p->shared_level[l] = host->try_shared;
    g->top = l;
    g->bottom = host->bottom;
    for (int k = host->bottom; k <= l && err == OK; k++) err = level_put(d, &g->lev[k], host, k);
    end = dev_wait(d->stream);
    if (err == OK) err = end;
    if (err != OK) mg_dev_drop(d, g, false);
    for (int k = 1; k <= l; k++) g->octs[k] = m->lev[k].octs;
    g->known = err == OK;
    return err;
}

/* ---- the cycle ---- */

static void sweeps(struct grav_dev *d, int l, int k, double (*rhs)[8], bool safe, int n, bool all)
{
    struct mg_dev *g = &d->mg[l];
    const struct mg_dev_level lev = mg_dev_view(g, d->mirror, rhs, k);
    struct mg_dev_own *o = &g->lev[k];
    for (int i = 0; i < n; i++) {
        for (int red = 1; red >= 0; red--)
            dev_launch(d->stream, &mg_half, dev_blocks(4 * (int64_t)(lev.n + red * lev.nhalo)),
                       &(struct mg_half_args){lev, red, safe});
        grav_exchange(d, &(struct grav_cargo){all && i + 1 == n ? CARGO_ROWS : CARGO_BLACK,
                                              COMM_MULTIGRID,
                                              &o->plan,
                                              o->noct,
                                              1,
                                              {lev.u},
                                              {sizeof *lev.u}});
    }
}

static void residual(struct grav_dev *d, int l, int k, double (*rhs)[8], int64_t *norm)
{
    const struct mg_dev_level lev = mg_dev_view(&d->mg[l], d->mirror, rhs, k);
    mg_dev_down(d->mirror, &lev, NULL, d->mg[l].lev[k].mean, norm);
}

static void cycle(struct grav_dev *d, int l, int k, bool safe);

static void share_solve(struct grav_dev *d, struct mg_dev *g, int k, bool safe)
{
    struct mg_level *fine = &g->host->lev[k + 1], *lev = &g->host->lev[k];
    dev_get(d->stream, fine->mean, g->lev[k + 1].mean, sizeof *fine->mean * (size_t)fine->nown);
    BUG_ON(dev_wait(d->stream) != OK); /* the state is lost */
    mg_share_solve(g->host, d->comm, safe);
    dev_put(d->stream, g->lev[k].u, lev->u, sizeof *lev->u * (size_t)lev->noct);
}

/* Of level k, from its mean residuals. */
static void correct(struct grav_dev *d, int l, int k, double (*rhs)[8], bool safe)
{
    struct mg_dev *g = &d->mg[l];
    const struct mg_dev_level lev = mg_dev_view(g, d->mirror, rhs, k),
                              low = mg_dev_view(g, d->mirror, rhs, k - 1);
    struct mg_dev_own *o = &g->lev[k];
    if (g->host->share && k - 1 == g->bottom)
        share_solve(d, g, k - 1, safe);
    else {
        grav_exchange(
            d, &(struct grav_cargo){
                   CARGO_ROWS, COMM_MULTIGRID, &o->plan, o->noct, 1, {o->mean}, {sizeof(double)}});
        dev_fill(d->stream, low.u, 0, sizeof *low.u * (size_t)g->lev[k - 1].noct);
        dev_launch(d->stream, &mg_restrict, dev_blocks(8 * (int64_t)(low.n + low.nhalo)),
                   &(struct mg_restrict_args){low, o->mean});
        cycle(d, l, k - 1, safe);
    }
    dev_launch(d->stream, &mg_up, dev_blocks(64 * (int64_t)low.ncube),
               &(struct mg_up_args){low, lev});
}

static void cycle(struct grav_dev *d, int l, int k, bool safe)
{
    if (k == d->mg[l].bottom) {
        sweeps(d, l, k, NULL, safe, MG_BOTTOM_SWEEPS, true);
        return;
    }
    sweeps(d, l, k, NULL, safe, MG_SWEEPS, false);
    residual(d, l, k, NULL, NULL);
    correct(d, l, k, NULL, safe);
    sweeps(d, l, k, NULL, safe, MG_SWEEPS, true);
}

void mg_ranks_source(struct grav_dev *d, int l, double (*rhs)[8])
{
    struct mg_dev_own *o = &d->mg[l].lev[l];
    const size_t row = sizeof(double[8]);
    grav_exchange(d, &(struct grav_cargo){CARGO_ROWS,
                                          COMM_MULTIGRID,
                                          &o->plan,
                                          o->noct,
                                          2,
                                          {rhs, d->mirror->image->lev[l].fld[FLD_PHI]},
                                          {row, row}});
}

void mg_ranks_cycle(struct grav_dev *d, int l, double (*rhs)[8], bool safe, int64_t *const norm[2])
{
    sweeps(d, l, l, rhs, safe, MG_SWEEPS, false);
    residual(d, l, l, rhs, norm[0]);
    if (d->mg[l].bottom < l) correct(d, l, l, rhs, safe);
    sweeps(d, l, l, rhs, safe, MG_SWEEPS, true);
    residual(d, l, l, rhs, norm[1]);
}

void mg_ranks_force(struct grav_dev *d, struct mesh *m, int l)
{
    struct level *im = &d->mirror->image->lev[l];
    struct grav_cargo k = {.use = COMM_BULK_DP, .n = 3};
    for (int i = 0; i < 3; i++) {
        k.arr[i] = im->fld[FLD_FX + i];
        k.stride[i] = sizeof(double[8]);
    }
    grav_exchange_level(d, m, l, k);
}
