/* sparse/small_kernel: cells to be refined by their own gas, a bit for each. */
#include "sparse/rows_kernel.h"

KERNEL(small_flag, struct small_flag_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        unsigned bits = 0;
        if (i >= a->nown) continue;
        for (int c = 0; c < 8; c++) bits |= (unsigned)small_wants(&a->law, lv, (lidx)i, c) << c;
        a->bits[i] = (unsigned char)bits;
    }
}
