/* kinds/ponomarenko: gas for the screw dynamo of Ponomarenko (1973), with a seed of a magnetic
 * field around the axis of the box. The flow that acts on the field is that of scheme='induction'
 * (mhd/flow.c); the state has unit density, pressure and, within r < 1, speed along z. */
#include <math.h>

#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const double box = kind_box(state), a = x[0] - 0.5 * box, b = x[1] - 0.5 * box;
    q[GAS_DENSITY] = q[GAS_PRESSURE] = 1;
    q[GAS_VELOCITY] = q[GAS_VELOCITY + 1] = 0;
    q[GAS_VELOCITY + 2] = a * a + b * b < 1 ? 1 : 0;
    return OK;
}

/* (A_x, A_y) = 0.1 (2 − r) r cos φ sin(2π z/box) (cos φ, sin φ) for r < 2. */
static enum err potential(const void *state, const double x[3], double A[3])
{
    const double box = kind_box(state), a = x[0] - 0.5 * box, b = x[1] - 0.5 * box,
                 r = sqrt(a * a + b * b);
    A[0] = A[1] = A[2] = 0;
    if (!(r > 0 && r < 2)) return OK;
    const double size = 0.1 * (2 - r) * a * sin(2 * M_PI * (x[2] / box));
    A[0] = size * (a / r);
    A[1] = size * (b / r);
    return OK;
}

const struct kind kind_ponomarenko = {.name = "ponomarenko",
                                      .dims = 1 << 3,
                                      .needs = KIND_GAS | KIND_FIELD,
                                      .cell = cell,
                                      .potential = potential};
