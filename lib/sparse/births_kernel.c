/* sparse/births_kernel: octs where stars may form. */
#include "sparse/rows_kernel.h"

KERNEL(births_find, struct births_find_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->nown) continue;
        bool any = false;
        for (int c = 0; c < 8; c++)
            any |= a->child[i][c] < 0 && births_may(&a->law, a->key[i], c, a->density[i][c]);
        if (any) a->out.oct[dev_add_i32(a->out.n, 1)] = (lidx)i;
    }
}
