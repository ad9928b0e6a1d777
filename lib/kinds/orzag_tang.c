/* kinds/orzag_tang: the vortex of Orszag & Tang (1979), as Londrillo & Del Zanna (2000) use it:
 * density γ² B0² and pressure γ B0² for γ = 5/3, |B| of order B0 = 1/√(4π). Lengths are in units
 * of the box, so that it is periodic in any. */
#include <math.h>

#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const double box = kind_box(state);
    q[GAS_DENSITY] = 25.0 / (36.0 * M_PI);
    q[GAS_VELOCITY] = -sin(2.0 * M_PI * (x[1] / box));
    q[GAS_VELOCITY + 1] = sin(2.0 * M_PI * (x[0] / box));
    q[GAS_VELOCITY + 2] = 0;
    q[GAS_PRESSURE] = 5.0 / (12.0 * M_PI);
    return OK;
}

static enum err potential(const void *state, const double x[3], double A[3])
{
    const double box = kind_box(state), b0 = 1.0 / sqrt(4.0 * M_PI);
    A[0] = A[1] = 0;
    A[2] = box * b0 *
           (cos(4.0 * M_PI * (x[0] / box)) / (4.0 * M_PI) +
            cos(2.0 * M_PI * (x[1] / box)) / (2.0 * M_PI));
    return OK;
}

const struct kind kind_orzag_tang = {.name = "orzag_tang",
                                     .dims = 1 << 2 | 1 << 3,
                                     .needs = KIND_GAS | KIND_FIELD,
                                     .cell = cell,
                                     .potential = potential};
