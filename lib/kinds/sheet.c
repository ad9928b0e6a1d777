/* kinds/sheet: two current sheets at a quarter and three quarters of the box, across which the
 * field along y changes its sign, in gas of beta 0.2 whose speed along x varies with y (Hawley &
 * Stone 1995), as in RAMSES's patch sheet with boxlen=2. */
#include <math.h>

#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const double box = kind_box(state);
    q[GAS_DENSITY] = 1;
    q[GAS_VELOCITY] = 0.1 * sin(2 * M_PI * (x[1] / box));
    q[GAS_VELOCITY + 1] = q[GAS_VELOCITY + 2] = 0;
    q[GAS_PRESSURE] = 0.1;
    return OK;
}

/* B_y = 1 in the outer quarters, −1 between. */
static enum err potential(const void *state, const double x[3], double A[3])
{
    const double box = kind_box(state), a = x[0];
    A[0] = A[1] = 0;
    A[2] = a < 0.25 * box ? -a : a <= 0.75 * box ? a - 0.5 * box : box - a;
    return OK;
}

const struct kind kind_sheet = {.name = "sheet",
                                .dims = 1 << 2 | 1 << 3,
                                .needs = KIND_GAS | KIND_FIELD,
                                .cell = cell,
                                .potential = potential};
