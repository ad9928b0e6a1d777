/* grav/grav_rows: the sums of grav_kern.h for the cells of one colour of an oct as one vector, with
 * equal terms in equal order, so with equal bits. Host only.
 *
 * During multigrid a row of eight cells is stored in colour order: red 0 3 5 6, then black 1 2 4 7.
 * All neighbours of a cell have the other colour, so half a sweep reads whole vectors of one colour
 * and writes one of the other: no load has to wait for stores of another width, or for a row of
 * which only the other half was just written. */
#pragma once
#include <stdbool.h>
#include <string.h>

#include "grav/grav_kern.h"
#include "oct/okey.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* all functions are inlined */

typedef double row4 __attribute__((vector_size(32)));
typedef int64_t mask4 __attribute__((vector_size(32)));

#define MIX __builtin_shufflevector

static inline row4 row_load(const double x[4])
{
    row4 r;
    memcpy(&r, x, sizeof r);
    return r;
}

/* The cells of one colour of a row in colour order. */
static inline const double *row_half(bool red, const double x[8])
{
    return red ? x : x + 4;
}

/* Index of each cell in a row in colour order. */
static const int ROW_ORDER[8] = {0, 4, 5, 1, 6, 2, 3, 7};

/* The cells of one colour of a row in cell order. */
static inline row4 row_pick(bool red, const double x[8])
{
    row4 lo = row_load(x), hi = row_load(x + 4);
    return red ? MIX(lo, hi, 0, 3, 5, 6) : MIX(lo, hi, 1, 2, 4, 7);
}

/* The cells of low or high z, in cell order, from a row in colour order. */
static inline row4 row_layer(bool high, const double x[8])
{
    row4 r = row_load(x), b = row_load(x + 4);
    return high ? MIX(r, b, 6, 2, 3, 7) : MIX(r, b, 0, 4, 5, 1);
}

/* The cells of low or high y from the z layers of three octs along x: the last of `left`, both of
 * `mid`, the first of `right`. */
static inline row4 row_across(bool high, row4 left, row4 mid, row4 right)
{
    row4 l = high ? MIX(left, mid, 3, 6, 7, 7) : MIX(left, mid, 1, 4, 5, 5);
    return high ? MIX(l, right, 0, 1, 2, 6) : MIX(l, right, 0, 1, 2, 4);
}

/* Sorts the cells of two octs adjacent along x by oct and colour. x: vectors at low and high y of
 * low z, then of high z. */
static inline void row_pair_by_colour(const row4 x[4], row4 at[2][2])
{
    row4 red0 = MIX(x[0], x[1], 0, 5, 2, 7), red1 = MIX(x[2], x[3], 1, 4, 3, 6),
         black0 = MIX(x[0], x[1], 1, 4, 3, 6), black1 = MIX(x[2], x[3], 0, 5, 2, 7);
    at[0][0] = MIX(red0, red1, 0, 1, 4, 5);
    at[1][0] = MIX(red0, red1, 2, 3, 6, 7);
    at[0][1] = MIX(black0, black1, 0, 1, 4, 5);
    at[1][1] = MIX(black0, black1, 2, 3, 6, 7);
}

/* row_by_colour converts a row from cell order to colour order, row_in_order back. */
static inline void row_by_colour(double x[8])
{
    row4 r = row_pick(true, x), b = row_pick(false, x);
    memcpy(x, &r, sizeof r);
    memcpy(x + 4, &b, sizeof b);
}

static inline void row_in_order(double x[8])
{
    row4 lo = row_layer(false, x), hi = row_layer(true, x);
    memcpy(x, &lo, sizeof lo);
    memcpy(x + 4, &hi, sizeof hi);
}

/* Neighbours of the cells of one colour, in the order of kern_sum: −x −y −z +x +y +z. o: cells of
 * the other colour in the oct, a[f]: in the octs beyond its faces. */
static inline void row_around(bool red, row4 o, const row4 a[6], row4 at[6])
{
    at[0] = red ? MIX(o, a[0], 4, 1, 2, 7) : MIX(o, a[0], 0, 5, 6, 3);
    at[1] = MIX(o, a[2], 5, 0, 7, 2);
    at[2] = MIX(o, a[4], 6, 7, 0, 1);
    at[3] = red ? MIX(o, a[1], 0, 5, 6, 3) : MIX(o, a[1], 4, 1, 2, 7);
    at[4] = MIX(o, a[3], 1, 4, 3, 6);
    at[5] = MIX(o, a[5], 2, 3, 4, 5);
}

/* Sum over the neighbours of the cells of one colour; n[f]: the rows beyond the faces. */
static inline row4 row_sum(bool red, row4 o, const double *const n[6])
{
    row4 a[6], at[6];
    for (int f = 0; f < 6; f++) a[f] = row_load(row_half(!red, n[f]));
    row_around(red, o, a, at);
    return ((((at[0] + at[1]) + at[2]) + at[3]) + at[4]) + at[5];
}

static inline row4 row_choose(mask4 in, row4 a, row4 b)
{
    return (row4)((in & (mask4)a) | (~in & (mask4)b));
}

/* Zero where the diagonal is not positive. */
static inline row4 row_mask_inside(row4 diag, row4 a)
{
    return (row4)((diag > 0.0) & (mask4)a);
}

/* kern_relax for the cells of one colour of a row; diag: their diagonal. */
static inline row4 row_relax(bool red, const double *const n[6], const double rhs[8], row4 diag,
                             double dx2, const double u[8])
{
    row4 s = row_sum(red, row_load(row_half(!red, u)), n);
    return (s - dx2 * row_load(row_half(red, rhs))) / diag;
}

/* kern_residual for the cells of one colour of a row; diag: their diagonal. */
static inline row4 row_residual(bool red, const double *const n[6], const double rhs[8], row4 diag,
                                const double u[8], double inv_dx2)
{
    row4 s = row_sum(red, row_load(row_half(!red, u)), n), own = row_load(row_half(red, u));
    return row_load(row_half(red, rhs)) - inv_dx2 * (s - diag * own);
}

/* kern_sum8 of the cells of both colours. */
static inline double row_sum8(row4 red, row4 black)
{
    row4 pair = red + black;
    return (pair[0] + pair[1]) + (pair[2] + pair[3]);
}

/* Copies one layer of cells of three octs along x to the 4³ patch around an oct: low y, then high
 * y. */
static inline double *patch_rows(const double (*u)[8], const lidx nb[3], bool high_z, bool low,
                                 bool high, double *patch)
{
    row4 o[3];
    for (int k = 0; k < 3; k++) o[k] = row_layer(high_z, u[nb[k]]);
    for (int y = !low; y <= high; y++, patch += 4) {
        row4 x = row_across(y, o[0], o[1], o[2]);
        memcpy(patch, &x, sizeof x);
    }
    return patch;
}

/* Gathers the 4³ cells around an oct, own and one layer of neighbours, from rows in colour
 * order. */
static inline void row_patch(const double (*u)[8], const lidx nb[27], double *patch)
{
    static const int oct[4] = {0, 1, 1, 2};
    for (int z = 0; z < 4; z++) {
        const lidx *o = nb + 9 * oct[z];
        const bool high = z == 0 || z == 2;
        patch = patch_rows(u, o, high, false, true, patch);
        patch = patch_rows(u, o + 3, high, true, true, patch);
        patch = patch_rows(u, o + 6, high, true, false, patch);
    }
}
#undef MIX
