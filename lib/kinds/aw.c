/* kinds/aw: a circularly polarised Alfvén wave along x, which is an exact solution at any amplitude
 * (Tóth 2000): density 1, pressure 0.1, B_x = 1, speed and field (0.1 sin kx, 0.1 cos kx) along y
 * and z, one wave in the box. It moves towards −x at speed 1. */
#include <math.h>

#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const double phase = 2 * M_PI * (x[0] / kind_box(state));
    q[GAS_DENSITY] = 1;
    q[GAS_VELOCITY] = 0;
    q[GAS_VELOCITY + 1] = 0.1 * sin(phase);
    q[GAS_VELOCITY + 2] = 0.1 * cos(phase);
    q[GAS_PRESSURE] = 0.1;
    return OK;
}

/* B_y = −∂A_z/∂x, B_z = ∂A_y/∂x. */
static enum err potential(const void *state, const double x[3], double A[3])
{
    const double k = 2 * M_PI / kind_box(state);
    A[0] = 0;
    A[1] = 0.1 / k * sin(k * x[0]);
    A[2] = 0.1 / k * cos(k * x[0]);
    return OK;
}

static enum err face(const void *state, const double x[3], int d, double *b)
{
    *b = d == 0 ? 1 : 0;
    return OK;
}

const struct kind kind_aw = {.name = "aw",
                             .dims = 1 << 1 | 1 << 2 | 1 << 3,
                             .needs = KIND_GAS | KIND_FIELD,
                             .cell = cell,
                             .potential = potential,
                             .face = face};
