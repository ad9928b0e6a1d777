/* sparse/births_kern: the test that finds cells where stars may form, on hosts and devices: for C,
 * C++ and CUDA. */
#pragma once
#include <math.h>
#include <stdbool.h>

#include "base/rng.h"
#include "oct/okey.h"

/* Star formation of a level in a step (phys/stars.c). */
struct births_law {
    double min;                    /* minimum density */
    double rate, volume, dt, mass; /* as in star_law; volume of a cell, time step */
    double multiple;               /* of the mean, without random numbers */
    uint64_t seed;
    uint32_t step;
    int random;
};

/* Mean number of stars in a cell of density rho. */
PTAH_HD double births_mean(const struct births_law *w, double rho)
{
    return w->rate * rho * sqrt(rho) * w->volume * w->dt / w->mass;
}

/* Key of the random numbers of a cell. */
PTAH_HD uint64_t births_key(okey oct, int c)
{
    const okey cell = oct << 3 | (okey)c;
    return (uint64_t)cell ^ (uint64_t)(cell >> 32 >> 32) * 0x9E3779B97F4A7C15u;
}

/* False: no star forms in the leaf cell. A Poisson deviate is 0 if its first uniform number is less
 * than exp(−mean), which is not less than 1 − mean; the margin is for the rounding of both. */
PTAH_HD bool births_may(const struct births_law *w, okey oct, int c, double rho)
{
    const double MARGIN = 1e-12;
    if (!(rho > w->min)) return false;
    const double mean = births_mean(w, rho);
    if (!w->random) return !(w->multiple * mean < 1);
    return !(rng_first_uniform(w->seed, births_key(oct, c), w->step) < 1 - mean - MARGIN);
}
