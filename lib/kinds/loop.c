/* kinds/loop: advection of a weak loop of field lines across the box (Gardiner & Stone 2005), as in
 * RAMSES's patch loop: A_z = 1e-3 (0.3 − r) for r < 0.3 around the axis of the box. */
#include <math.h>

#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    q[GAS_DENSITY] = q[GAS_PRESSURE] = 1;
    q[GAS_VELOCITY] = 2;
    q[GAS_VELOCITY + 1] = 1;
    q[GAS_VELOCITY + 2] = 0;
    return OK;
}

static enum err potential(const void *state, const double x[3], double A[3])
{
    const double box = kind_box(state), a = x[0] - 0.5 * box, b = x[1] - 0.5 * box;
    A[0] = A[1] = 0;
    A[2] = 1e-3 * fmax(0.3 - sqrt(a * a + b * b), 0);
    return OK;
}

const struct kind kind_loop = {.name = "loop",
                               .dims = 1 << 2 | 1 << 3,
                               .needs = KIND_GAS | KIND_FIELD,
                               .cell = cell,
                               .potential = potential};
