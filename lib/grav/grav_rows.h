/* grav/rows: the sums of grav_kern.h on whole octs in registers, where these hold eight numbers, or
 * four. Terms and their order are the same, and so are the bits. Host only. */
#pragma once
#include <stdbool.h>
#include <string.h>

#include "grav/grav_kern.h"

#ifdef __AVX2__
#include <immintrin.h>

typedef double row4 __attribute__((vector_size(32)));
typedef int64_t mask4 __attribute__((vector_size(32)));

/* ---- edges: four numbers ---- */

#define MIX __builtin_shufflevector
/* v with x in place i */
#define PUT(v, i, x) _mm256_blend_pd(v, _mm256_broadcast_sd(&(x)), 1 << (i))

static inline row4 row4_load(const double x[4])
{
    row4 r;
    memcpy(&r, x, sizeof r);
    return r;
}

/* The red cells 0 3 5 6, or the black ones 1 2 4 7. */
static inline row4 row_cells(bool red, const double x[8])
{
    row4 lo = row4_load(x), hi = row4_load(x + 4);
    return red ? MIX(lo, hi, 0, 3, 5, 6) : MIX(lo, hi, 1, 2, 4, 7);
}

static inline void row_put(bool red, row4 v, double x[8])
{
    for (int k = 0; k < 4; k++) x[kern_cell(red, k)] = v[k];
}

/* Σ over the neighbours of the red cells. Of the black cells of their oct x are those beside them
 * along x, y and z those along y and z. */
static inline row4 half_sum_red(const double o[8], const double *const n[6])
{
    row4 x = row_cells(false, o), y = MIX(x, x, 1, 0, 3, 2), z = MIX(x, x, 2, 3, 0, 1);
    row4 s = PUT(PUT(x, 0, n[0][1]), 3, n[0][7]);
    s += PUT(PUT(y, 0, n[2][2]), 2, n[2][7]);
    s += PUT(PUT(z, 0, n[4][4]), 1, n[4][7]);
    s += PUT(PUT(x, 1, n[1][2]), 2, n[1][4]);
    s += PUT(PUT(y, 1, n[3][1]), 3, n[3][4]);
    return s + PUT(PUT(z, 2, n[5][1]), 3, n[5][2]);
}

/* Of the black ones. */
static inline row4 half_sum_black(const double o[8], const double *const n[6])
{
    row4 x = row_cells(true, o), y = MIX(x, x, 1, 0, 3, 2), z = MIX(x, x, 2, 3, 0, 1);
    row4 s = PUT(PUT(x, 1, n[0][3]), 2, n[0][5]);
    s += PUT(PUT(y, 0, n[2][3]), 2, n[2][6]);
    s += PUT(PUT(z, 0, n[4][5]), 1, n[4][6]);
    s += PUT(PUT(x, 0, n[1][0]), 3, n[1][6]);
    s += PUT(PUT(y, 1, n[3][0]), 3, n[3][5]);
    return s + PUT(PUT(z, 2, n[5][0]), 3, n[5][3]);
}

/* kern_relax_edge of the red or black cells of a row. */
static inline void row_relax_edge(bool red, const double *const n[6], const double rhs[8],
                                  const double diag[8], double dx2, double u[8])
{
    const row4 one = {1, 1, 1, 1};
    row4 s = red ? half_sum_red(u, n) : half_sum_black(u, n), d = row_cells(red, diag),
         old = row_cells(red, u);
    mask4 in = d > 0.0;
    row4 v = (s - dx2 * row_cells(red, rhs)) / (row4)((in & (mask4)d) | (~in & (mask4)one));
    row_put(red, (row4)((in & (mask4)v) | (~in & (mask4)old)), u);
}
#else

static inline void row_relax_edge(bool red, const double *const n[6], const double rhs[8],
                                  const double diag[8], double dx2, double u[8])
{
    double s[4];
    if (red)
        kern_sum_red(u, n, s);
    else
        kern_sum_black(u, n, s);
    for (int k = 0; k < 4; k++) {
        int cell = kern_cell(red, k);
        u[cell] = kern_relax_edge(s[k], rhs[cell], diag[cell], dx2, u[cell]);
    }
}
#endif

/* ---- rows whose neighbours are all there ---- */

#ifdef __AVX512F__
typedef double row8 __attribute__((vector_size(64)));

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

#ifdef __AVX2__
/* Of the four cells o of one z, which begin at `at`, with those before and after them along z. */
static inline row4 half_sum(row4 o, const double *const n[6], int at, row4 before, row4 after)
{
    row4 s = MIX(row4_load(n[0] + at), o, 1, 4, 3, 6);
    s += MIX(row4_load(n[2] + at), o, 2, 3, 4, 5);
    s += before;
    s += MIX(o, row4_load(n[1] + at), 1, 4, 3, 6);
    s += MIX(o, row4_load(n[3] + at), 2, 3, 4, 5);
    return s + after;
}

static inline void row_residual(const double *const n[6], const double rhs[8], const double u[8],
                                double inv_dx2, double r[8])
{
    row4 lo = row4_load(u), hi = row4_load(u + 4);
    row4 x = half_sum(lo, n, 0, row4_load(n[4] + 4), hi),
         y = half_sum(hi, n, 4, lo, row4_load(n[5]));
    x = row4_load(rhs) - inv_dx2 * (x - 6.0 * lo);
    y = row4_load(rhs + 4) - inv_dx2 * (y - 6.0 * hi);
    memcpy(r, &x, sizeof x);
    memcpy(r + 4, &y, sizeof y);
}
#else

static inline void row_residual(const double *const n[6], const double rhs[8], const double u[8],
                                double inv_dx2, double r[8])
{
    double s[8];
    kern_sum(u, n, s);
    for (int k = 0; k < 8; k++) r[k] = kern_residual(s[k], rhs[k], u[k], inv_dx2);
}
#endif
#endif
#undef PUT
#undef MIX
