/* gravdev/mg_ranks_dev: multigrid cycles on devices of several ranks, as in grav/mg_cycle but
 * without overlapping exchanges. Ghosts are packed on the device (dom/ghost_dev); shared levels are
 * solved by the host, which receives their right-hand side and returns the correction. */
#include <string.h>

#include "gravdev/dev_priv.h"

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
        grav_exchange(d, &(struct grav_payload){all && i + 1 == n ? PAYLOAD_ROWS : PAYLOAD_BLACK,
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
    struct mg_level *fine = &g->host->lev[k + 1];
    const double(*u)[8] = (const double(*)[8])g->host->lev[k].u;
    dev_get(d->stream, fine->mean, g->lev[k + 1].mean, sizeof *fine->mean * (size_t)fine->nown);
    BUG_ON(dev_wait(d->stream) != OK); /* unrecoverable: device data are lost */
    mg_share_solve(g->host, d->comm, safe);
    for (lidx i = 0; i < g->lev[k].noct; i++) memcpy(g->come[i], u[g->row[i]], sizeof *u);
    dev_put(d->stream, g->lev[k].u, g->come, sizeof *g->come * (size_t)g->lev[k].noct);
}

/* Corrects level k from its mean residuals. */
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
            d,
            &(struct grav_payload){
                PAYLOAD_ROWS, COMM_MULTIGRID, &o->plan, o->noct, 1, {o->mean}, {sizeof(double)}});
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
    grav_exchange(d, &(struct grav_payload){PAYLOAD_ROWS,
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
    struct grav_payload k = {.use = COMM_BULK_DP, .n = 3};
    for (int i = 0; i < 3; i++) {
        k.arr[i] = im->fld[FLD_FX + i];
        k.stride[i] = sizeof(double[8]);
    }
    grav_exchange_level(d, m, l, k);
}
