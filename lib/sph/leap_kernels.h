/* sph/leap_kernels: arguments of the kernels of leap_dev.c. All pointers are device addresses, rows
 * those of own particles. Private header of the module. */
#pragma once
#include "dev/kernel.h"
#include "sph/leap_kern.h"
#include "tree/near_kern.h"

/* sph_drift: leap_drift_all and leap_predict_all. */
struct leap_drift_args {
    int64_t n;
    double dt;
    struct smooth_par par;
    double *x[3], *v[3], *v_half[3], *u, *u_half, *alpha;
    const double *a[3], *du, *alpha_loc, *divv, *h;
};

/* sph_correct: leap_correct_all. most: of each block; bad: number of energies. */
struct leap_correct_args {
    int64_t n;
    double half;
    double *v[3], *u, *most;
    const double *v_half[3], *a[3], *u_half, *du;
    int64_t *bad;
};

/* sph_squares: Σ v² of each block (dev/sums.h). */
struct leap_squares_args {
    int64_t n;
    const double *v[3];
    int64_t *out;
};

/* sph_longest: of each block, as leap_longest; sph_largest: the largest h. */
struct leap_extreme_args {
    int64_t n;
    struct smooth_par par;
    struct leap_limits limits;
    const double *x[3], *a[3], *h, *u, *vsig;
    double *out;
};

/* sph_wrap: positions back into the periodic box; bad: number of those that are not finite. */
struct leap_wrap_args {
    int64_t n;
    double lo[3], side[3];
    double *x[3];
    int64_t *bad;
};

#ifndef __CUDACC__
extern const struct dev_kernel sph_drift, sph_correct, sph_squares, sph_longest, sph_largest,
    sph_wrap;
#endif
