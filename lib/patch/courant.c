/* patch/courant: the highest signal of a level on a host. */
#include "patch/courant.h"

#include <omp.h>

double patch_courant(const struct mesh *m, int l, const struct law *law,
                     const struct patch_reader *also)
{
    const struct level *lv = &m->lev[l];
    const double dx = mesh_dx(m, l);
    double max = -HUGE_VAL;
#pragma omp parallel reduction(max : max)
    {
        int64_t me = omp_get_thread_num(), threads = omp_get_num_threads();
        lidx end = (lidx)(lv->nown * (me + 1) / threads);
        for (lidx i = (lidx)(lv->nown * me / threads); i < end; i += PATCH_BLOCK) {
            lidx n = end - i < PATCH_BLOCK ? end - i : PATCH_BLOCK;
            max = law->signal(law, &(struct patch_rows){lv, dx, i, i + n}, max);
            if (also) also->octs(also->ctx, i, n);
        }
    }
    return max > -HUGE_VAL ? law->step(law, dx, max) : HUGE_VAL;
}
