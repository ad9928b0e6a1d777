/* kinds/abc: gas at rest with a weak uniform field along z, for the dynamo of the ABC flow
 * (scheme='induction', velana='abc'): the patch abcflow of RAMSES. */
#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    q[GAS_DENSITY] = q[GAS_PRESSURE] = 1;
    for (int d = 0; d < 3; d++) q[GAS_VELOCITY + d] = 0;
    return OK;
}

static enum err face(const void *state, const double x[3], int d, double *b)
{
    *b = d == 2 ? 1e-3 : 0;
    return OK;
}

const struct kind kind_abc = {.name = "abc",
                              .dims = 1 << 1 | 1 << 2 | 1 << 3,
                              .needs = KIND_GAS | KIND_FIELD,
                              .cell = cell,
                              .face = face};
