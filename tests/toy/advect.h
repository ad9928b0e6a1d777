/* advect: linear advection as a conservation law (patch/law.h): two numbers that a wind carries, by
 * slopes of minmod, half a step and the state on the upwind side. Beyond a boundary is the last
 * cell; in x cells are mirrored, the second number with another sign. */
#pragma once
#include "patch/across_kern.h"
#include "patch/kernels.h"

enum { ADVECTED = 2, ADVECT_FIELD = LAW_VARIABLE + 5, ADVECT_MIRRORED = 3 /* faces */ };

PTAH_HD double advect_wind(int dir)
{
    return dir == 0 ? 0.7 : dir == 1 ? -0.4 : 0.3;
}

/* Change of a cell in half a step. q: value of the cell, in an array with strides y and z. */
PTAH_HD double advect_rate(const double *q, const double *lo, const double *hi, int y, double h)
{
    return -h * (advect_wind(0) * patch_minmod(q[-1], *q, q[1]) +
                 advect_wind(1) * patch_minmod(q[-y], *q, q[y]) +
                 advect_wind(2) * patch_minmod(*lo, *q, *hi));
}

PTAH_HD double advect_flux(int dir, double below, double above, double dtdx)
{
    double w = advect_wind(dir);
    return dtdx * (w * (w > 0.0 ? below : above));
}

PTAH_HD double advect_signal(const void *ctx, const struct level *lv, lidx i, int c)
{
    return fabs(advect_wind(0)) + fabs(advect_wind(1)) + fabs(advect_wind(2));
}

extern const struct law advect_law;
extern const struct dev_kernel advect_step, advect_courant;
