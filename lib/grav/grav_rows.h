/* grav/rows: the sums of grav_kern.h on whole octs in registers, where these hold eight numbers.
 * Terms and their order are the same, and so are the bits. Host only. */
#pragma once
#include <stdbool.h>
#include <string.h>

#include "grav/grav_kern.h"

#ifdef __AVX512F__
typedef double row8 __attribute__((vector_size(64)));
typedef double row4 __attribute__((vector_size(32)));

static inline row8 row8_load(const double x[8])
{
    row8 r;
    memcpy(&r, x, sizeof r);
    return r;
}

/* Σ over the neighbours of the cells 0 3 5 6; numbers from 8 on are those of the face neighbour. */
static inline row4 row_sum_red(row8 o, const double *const n[6])
{
    row4 s = __builtin_shufflevector(o, row8_load(n[0]), 9, 2, 4, 15);
    s += __builtin_shufflevector(o, row8_load(n[2]), 10, 1, 15, 4);
    s += __builtin_shufflevector(o, row8_load(n[4]), 12, 15, 1, 2);
    s += __builtin_shufflevector(o, row8_load(n[1]), 1, 10, 12, 7);
    s += __builtin_shufflevector(o, row8_load(n[3]), 2, 9, 7, 12);
    return s + __builtin_shufflevector(o, row8_load(n[5]), 4, 7, 9, 10);
}

/* Of the cells 1 2 4 7. */
static inline row4 row_sum_black(row8 o, const double *const n[6])
{
    row4 s = __builtin_shufflevector(o, row8_load(n[0]), 0, 11, 13, 6);
    s += __builtin_shufflevector(o, row8_load(n[2]), 11, 0, 14, 5);
    s += __builtin_shufflevector(o, row8_load(n[4]), 13, 14, 0, 3);
    s += __builtin_shufflevector(o, row8_load(n[1]), 8, 3, 5, 14);
    s += __builtin_shufflevector(o, row8_load(n[3]), 3, 8, 6, 13);
    return s + __builtin_shufflevector(o, row8_load(n[5]), 5, 6, 8, 11);
}

/* Of all cells. */
static inline row8 row_sum(row8 o, const double *const n[6])
{
    row8 s = __builtin_shufflevector(o, row8_load(n[0]), 9, 0, 11, 2, 13, 4, 15, 6);
    s += __builtin_shufflevector(o, row8_load(n[2]), 10, 11, 0, 1, 14, 15, 4, 5);
    s += __builtin_shufflevector(o, row8_load(n[4]), 12, 13, 14, 15, 0, 1, 2, 3);
    s += __builtin_shufflevector(o, row8_load(n[1]), 1, 8, 3, 10, 5, 12, 7, 14);
    s += __builtin_shufflevector(o, row8_load(n[3]), 2, 3, 8, 9, 6, 7, 12, 13);
    return s + __builtin_shufflevector(o, row8_load(n[5]), 4, 5, 6, 7, 8, 9, 10, 11);
}

/* kern_relax of the red or black cells of a row whose neighbours are all there. */
static inline void row_relax(bool red, const double *const n[6], const double rhs[8], double dx2,
                             double u[8])
{
    row8 o = row8_load(u), f = row8_load(rhs);
    if (red) {
        row4 q = __builtin_shufflevector(f, f, 0, 3, 5, 6), v = (row_sum_red(o, n) - dx2 * q) / 6.0;
        row8 w = __builtin_shufflevector(v, v, 0, 0, 0, 1, 0, 2, 3, 0);
        o = __builtin_shufflevector(o, w, 8, 1, 2, 11, 4, 13, 14, 7);
    } else {
        row4 q = __builtin_shufflevector(f, f, 1, 2, 4, 7),
             v = (row_sum_black(o, n) - dx2 * q) / 6.0;
        row8 w = __builtin_shufflevector(v, v, 0, 0, 1, 0, 2, 0, 0, 3);
        o = __builtin_shufflevector(o, w, 0, 9, 10, 3, 12, 5, 6, 15);
    }
    memcpy(u, &o, sizeof o);
}

/* kern_residual of such a row. */
static inline void row_residual(const double *const n[6], const double rhs[8], const double u[8],
                                double inv_dx2, double r[8])
{
    row8 o = row8_load(u), s = row_sum(o, n), x = row8_load(rhs) - inv_dx2 * (s - 6.0 * o);
    memcpy(r, &x, sizeof x);
}
#else

static inline void row_relax(bool red, const double *const n[6], const double rhs[8], double dx2,
                             double u[8])
{
    double s[4];
    if (red)
        kern_sum_red(u, n, s);
    else
        kern_sum_black(u, n, s);
    for (int k = 0; k < 4; k++) {
        int cell = kern_cell(red, k);
        u[cell] = kern_relax(s[k], rhs[cell], dx2);
    }
}

static inline void row_residual(const double *const n[6], const double rhs[8], const double u[8],
                                double inv_dx2, double r[8])
{
    double s[8];
    kern_sum(u, n, s);
    for (int k = 0; k < 8; k++) r[k] = kern_residual(s[k], rhs[k], u[k], inv_dx2);
}
#endif
