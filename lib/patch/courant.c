/* patch/courant: the highest signal of a level on a host. */
#include "patch/courant.h"

#include <omp.h>

/* The highest signal, or `least` if that is higher. */
static double highest(const struct mesh *m, int l, const struct law *law, double least,
                      const struct patch_reader *also)
{
    const struct level *lv = &m->lev[l];
    const double dx = mesh_dx(m, l);
    double max = least;
#pragma omp parallel reduction(max : max)
    {
        max = least;
        int64_t me = omp_get_thread_num(), threads = omp_get_num_threads();
        lidx end = (lidx)(lv->nown * (me + 1) / threads);
        for (lidx i = (lidx)(lv->nown * me / threads); i < end; i += PATCH_BLOCK) {
            lidx n = end - i < PATCH_BLOCK ? end - i : PATCH_BLOCK;
            max = law->signal(law, &(struct patch_rows){lv, dx, i, i + n}, max);
            if (also) also->octs(also->ctx, i, n);
        }
    }
    return max;
}

double patch_courant(const struct mesh *m, int l, const struct law *law, double *last,
                     const struct patch_reader *also)
{
    const double least = last ? patch_expected(*last) : -HUGE_VAL;
    double max = highest(m, l, law, least, also);
    if (least > -HUGE_VAL && !(max > least)) max = highest(m, l, law, -HUGE_VAL, NULL);
    if (last) *last = max;
    return max > -HUGE_VAL ? law->step(law, mesh_dx(m, l), max) : HUGE_VAL;
}
