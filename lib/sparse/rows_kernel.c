/* sparse/rows_kernel: rows of octs to and from an array without gaps, and octs by the value of a
 * field. */
#include "sparse/rows_kernel.h"

KERNEL(rows_pack, struct rows_move_args, struct dev_nothing, DEV_THREADS)
{
    const int64_t row = 8 * (int64_t)a->nfield;
    PHASE (t, DEV_THREADS) {
        const int64_t at = (int64_t)b->index * DEV_THREADS + t;
        if (at >= a->n * row) continue;
        const int64_t in = at % row;
        a->pack[at] = a->fld[in >> 3][a->oct[at / row]][in & 7];
    }
}

KERNEL(rows_unpack, struct rows_move_args, struct dev_nothing, DEV_THREADS)
{
    const int64_t row = 8 * (int64_t)a->nfield;
    PHASE (t, DEV_THREADS) {
        const int64_t at = (int64_t)b->index * DEV_THREADS + t;
        if (at >= a->n * row) continue;
        const int64_t in = at % row;
        a->fld[in >> 3][a->oct[at / row]][in & 7] = a->pack[at];
    }
}

KERNEL(rows_add_octs, struct rows_add_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t at = (int64_t)b->index * DEV_THREADS + t;
        if (at < 8 * a->n) a->to[a->oct[at >> 3]][at & 7] += a->from[at];
    }
}

KERNEL(rows_above_octs, struct rows_above_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->n) continue;
        bool any = false;
        for (int c = 0; c < 8; c++)
            any |= a->value[i][c] > a->min && !(a->leaf && a->child[i][c] >= 0);
        if (any) a->out.oct[dev_add_i32(a->out.n, 1)] = (lidx)i;
    }
}
