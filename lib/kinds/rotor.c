/* kinds/rotor: a dense disc that spins in a uniform field along x (Balsara & Spicer 1999; first
 * rotor of Tóth 2000), as in RAMSES's patch rotor: radius 0.1 around the axis of the box, a taper
 * up to 0.115. */
#include <math.h>

#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const double box = kind_box(state), a = x[0] - 0.5 * box, b = x[1] - 0.5 * box, inner = 0.1,
                 outer = 0.115, speed = 2, r = sqrt(a * a + b * b);
    const double part = r <= inner   ? 1
                        : r <= outer ? (outer - r) / (outer - inner)
                                     : 0,
                 rate = part * speed / fmax(r, inner);
    q[GAS_DENSITY] = 1 + 9 * part;
    q[GAS_VELOCITY] = -rate * b;
    q[GAS_VELOCITY + 1] = rate * a;
    q[GAS_VELOCITY + 2] = 0;
    q[GAS_PRESSURE] = 1;
    return OK;
}

static enum err face(const void *state, const double x[3], int d, double *b)
{
    *b = d == 0 ? 5 / sqrt(4 * M_PI) : 0;
    return OK;
}

const struct kind kind_rotor = {.name = "rotor",
                                .dims = 1 << 2 | 1 << 3,
                                .needs = KIND_GAS | KIND_FIELD,
                                .cell = cell,
                                .face = face};
