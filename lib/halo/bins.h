/* halo/bins: squared distances as integer keys in the same order, whose leading bits are bins of
 * equal relative width; masses as integers, whose sums do not depend on their order. */
#pragma once
#include <string.h>

#include "halo/halo_priv.h"

typedef __int128 halo_mass; /* unit halo_space.quantum, a power of two */

static inline uint64_t halo_key(double r2)
{
    uint64_t key;
    memcpy(&key, &r2, sizeof key);
    return key;
}

static inline double halo_unkey(uint64_t key)
{
    double r2;
    memcpy(&r2, &key, sizeof r2);
    return r2;
}

static inline halo_mass halo_mass_of(const struct halo_space *s, double m)
{
    return (halo_mass)(m / s->quantum);
}

static inline double halo_mass_get(const struct halo_space *s, halo_mass m)
{
    return (double)m * s->quantum;
}
