/* clump/fixed: sums of doubles as integers of 128 bits, independent of the order of terms.
 *
 * The unit is 2^-86 of the largest term on any rank, rounded up to a power of two: 2^40 terms fit,
 * and the rounding error of a term is below 2^-86 of the largest one. */
#pragma once
#include <math.h>

#include "comm/comm.h"

typedef __int128 fixed;

enum { FIXED_BITS = 86 };

struct fixed_scale {
    int exponent; /* binary exponent of the unit */
};

/* Scale of a sum of finite terms with magnitude at most `max` on this rank. (collective) */
static inline struct fixed_scale fixed_scale(const struct comm *c, double max)
{
    int e;
    comm_max_f64(c, &max, 1);
    frexp(max, &e);
    return (struct fixed_scale){e - FIXED_BITS};
}

static inline fixed fixed_of(struct fixed_scale s, double x)
{
    return (fixed)ldexp(x, -s.exponent);
}

static inline double fixed_get(struct fixed_scale s, fixed x)
{
    return ldexp((double)x, s.exponent);
}
