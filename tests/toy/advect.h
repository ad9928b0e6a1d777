/* advect: linear advection as a conservation law (patch/law.h): two numbers that a wind carries, by
 * slopes of minmod, half a step and the state on the upwind side; periodic, with registers of its
 * own. */
#pragma once
#include "patch/across_kern.h"
#include "patch/kernels.h"

enum { ADVECTED = 2, ADVECT_FIELD = FLD_U + 5 };

PTAH_HD double advect_wind(int dir)
{
    return dir == 0 ? 0.7 : dir == 1 ? -0.4 : 0.3;
}

/* Change in half a step of a cell at q, whose rows and planes are y and z apart. */
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

struct law advect_law(void);

extern const struct dev_kernel advect_missing, advect_step;
