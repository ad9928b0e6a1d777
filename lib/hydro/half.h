/* hydro/half: four cells, half an oct, as a vector. Not eight: vectors that the processor does not
 * have are shuffled number by number (gcc 12). Private to hydro. */
#pragma once
#include <limits.h>

#include "oct/mesh.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* all is inline */

typedef double half __attribute__((vector_size(32)));
typedef double half_any __attribute__((vector_size(32), may_alias, aligned(8)));
typedef long long half_mask __attribute__((vector_size(32)));

/* Four numbers. Arrays on the stack lie where numbers may lie, which is not where vectors may. */
static inline half half_load(const double *x)
{
    return *(const half_any *)x;
}

static inline half half_of(const struct level *lv, int field, lidx i, int h)
{
    return half_load(lv->fld[field][i] + 4 * h);
}

static inline half half_abs(half x)
{
    return (half)((half_mask)x & ((half_mask){0} + LLONG_MAX));
}

static inline half half_max(half x, half y)
{
    half z;
    for (int c = 0; c < 4; c++) z[c] = x[c] > y[c] ? x[c] : y[c];
    return z;
}

static inline bool half_all(half_mask x)
{
    return (x[0] & x[1] & x[2] & x[3]) != 0;
}
