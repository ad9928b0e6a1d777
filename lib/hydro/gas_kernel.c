/* hydro/gas_kernel: what reads or changes the gas cell by cell: kick, time step. (hydro_flag.c does
 * it on hosts.) */
#include "dev/kernel.h"
#include "hydro/cell_kern.h"
#include "hydro/kernels.h"

struct most_shared {
    double most[DEV_THREADS];
};

KERNEL(gas_kick, struct gas_kick_args, struct most_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        if (i >= a->n) continue;
        hydro_kick_cell(lv->fld[FLD_U][i][c], &lv->fld[FLD_U + 1][i][c], &lv->fld[FLD_U + 2][i][c],
                        &lv->fld[FLD_U + 3][i][c], &lv->fld[FLD_U + GAS_ENERGY][i][c],
                        lv->fld[FLD_FX][i][c], lv->fld[FLD_FY][i][c], lv->fld[FLD_FZ][i][c],
                        a->smallr, a->dt);
    }
}

/* What decides on the step of one cell: its speed, with gravity minus the step. */
PTAH_HD double courant_cell(const struct gas_courant_args *a, const struct level *lv, int64_t i,
                            int c)
{
    double speed = hydro_cell_speed(lv->fld[FLD_U][i][c], lv->fld[FLD_U + 1][i][c],
                                    lv->fld[FLD_U + 2][i][c], lv->fld[FLD_U + 3][i][c],
                                    lv->fld[FLD_U + GAS_ENERGY][i][c], a->gas);
    if (!a->gravity) return speed;
    double pull = fabs(lv->fld[FLD_FX][i][c]) + fabs(lv->fld[FLD_FY][i][c]) +
                  fabs(lv->fld[FLD_FZ][i][c]);
    return -hydro_speed_dt(speed, pull, a->dx, a->courant);
}

KERNEL(gas_courant, struct gas_courant_args, struct most_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t cells = (int64_t)lv->nown * 8, step = (int64_t)b->count * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        double most = -HUGE_VAL;
        for (int64_t at = (int64_t)b->index * DEV_THREADS + t; at < cells; at += step)
            if (lv->child[at >> 3][at & 7] < 0)
                most = hydro_max(courant_cell(a, lv, at >> 3, (int)(at & 7)), most);
        s->most[t] = most;
    }
    for (int half = DEV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            s->most[t] = hydro_max(s->most[t + half], s->most[t]);
        }
    PHASE (t, 1) {
        a->out[b->index] = s->most[0];
    }
}
