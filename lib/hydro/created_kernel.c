/* hydro/created_kernel: gas and photons of octs that refinement creates, and gas of missing octs
 * next to a tile. */
#include "dev/kernel.h"
#include "hydro/interp_kern.h"
#include "hydro/kernels.h"

KERNEL(gas_created, struct gas_created_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        hydro_interp_oct(a->mesh, a->l, a->slot[k] >> 3, a->slot[k] & 7, a->par,
                         (double(*)[8])(a->row + k * a->width * 8));
    }
}

KERNEL(photons_created, struct photons_created_args, struct dev_nothing, DEV_THREADS)
{
    const int nphoton = a->mesh->nphoton;
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, k = at / nphoton;
        int v = (int)(at % nphoton);
        if (k >= a->n) continue;
        hydro_interp_photons(a->mesh, a->l, a->slot[k] >> 3, a->slot[k] & 7, a->par, v,
                             a->row + (k * a->width + v) * 8);
    }
}

KERNEL(gas_missing, struct patch_missing_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    const int nvar = m->nvar;
    PHASE (t, DEV_THREADS) {
        int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        int32_t i = a->parent[k] >> 3;
        int cell = a->parent[k] & 7;
        double(*to)[8] = (double(*)[8])(a->row + k * (nvar + LAW_BESIDE) * 8);
        hydro_interp_oct(m, a->l - 1, i, cell, (const struct hydro_par *)a->par, to);
        if (!m->gravity) continue;
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 8; c++) to[nvar + d][c] = m->lev[a->l - 1].fld[FLD_FX + d][i][cell];
    }
}
