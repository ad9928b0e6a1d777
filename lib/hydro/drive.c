/* hydro/drive: the gas takes the acceleration of driven turbulence over a step, at constant
 * internal energy. */
#include "hydro/cell_kern.h"
#include "hydro/hydro.h"

/* Density below which a cell is not driven: its acceleration becomes 0. */
static inline void spare_thin(const double rho[8], double min_rho, double a[3][8])
{
    for (int c = 0; c < 8; c++) {
        const double keep = rho[c] < min_rho ? 0.0 : 1.0;
        for (int d = 0; d < 3; d++) a[d][c] *= keep;
    }
}

void hydro_drive(struct mesh *m, int l, double dt, const struct turb_force *f, double smallr)
{
    struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        const double *r = lv->fld[FLD_U][i];
        double *mx = lv->fld[FLD_U + 1][i], *my = lv->fld[FLD_U + 2][i],
               *mz = lv->fld[FLD_U + 3][i], *e = lv->fld[FLD_U + GAS_ENERGY][i];
        double a[3][8];
        turb_oct(f, lv->key[i], a);
        spare_thin(r, f->min_rho, a);
#pragma omp simd
        for (int c = 0; c < 8; c++)
            hydro_kick_cell(r[c], &mx[c], &my[c], &mz[c], &e[c], a[0][c], a[1][c], a[2][c], smallr,
                            dt);
    }
}
