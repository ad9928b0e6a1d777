/* cooldev/cool_kernel: cooling of the leaf cells of a level on a device, one thread per cell, and
 * their density range, which determines the needed parts of the table of rates. On hosts
 * phys/cooling does the same in vectors of cells. */
#define VEC_ONE /* must precede vec/vec.h */
#include "cool/solve_kern.h"
#include "cooldev/kernels.h"
#include "dev/kernel.h"

struct range_shared {
    double min[DEV_THREADS], max[DEV_THREADS];
};

KERNEL(gas_range, struct gas_range_args, struct range_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t cells = (int64_t)lv->nown * 8, step = (int64_t)b->count * DEV_THREADS;
    PHASE (t, DEV_THREADS) {
        double min = HUGE_VAL, max = 0;
        for (int64_t at = (int64_t)b->index * DEV_THREADS + t; at < cells; at += step) {
            if (lv->child[at >> 3][at & 7] >= 0) continue;
            double rho = cooling_density(&a->law, lv, (lidx)(at >> 3), (int)(at & 7));
            if (rho > 0 && rho < min) min = rho;
            if (rho > max) max = rho;
        }
        s->min[t] = min;
        s->max[t] = max;
    }
    for (int half = DEV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            if (s->min[t + half] < s->min[t]) s->min[t] = s->min[t + half];
            if (s->max[t + half] > s->max[t]) s->max[t] = s->max[t + half];
        }
    PHASE (t, 1) {
        a->out[b->index][0] = s->min[0];
        a->out[b->index][1] = s->max[0];
    }
}

KERNEL(gas_cool, struct gas_cool_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const struct cooling_law *w = &a->law;
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t;
        lidx i = (lidx)(at >> 3);
        int c = (int)(at & 7);
        if (at >= 8 * (int64_t)lv->nown || lv->child[i][c] >= 0) continue;
        double nH = cooling_density(w, lv, i, c) * w->hydrogen,
               floor = cooling_floor(&w->floor, nH);
        if (!a->node) {
            cooling_set(w, lv, i, c, floor);
            continue;
        }
        struct cooling_cell x = cooling_enter(w, lv, i, c, floor);
        const double seen = cooling_seen(w, nH);
        double T2 = a->implicit ? cell_implicit(a->node, w->dt, nH, seen, x.Z, x.T2)
                                : cell_original(a->node, w->dt, nH, seen, x.Z, x.T2);
        cooling_leave(w, lv, i, c, &x, T2);
    }
}
