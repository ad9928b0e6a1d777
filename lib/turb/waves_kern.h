/* turb/waves_kern: the acceleration of driven turbulence from a field of few waves, of wave numbers
 * up to TURB_REACH along each axis, for hosts and devices.
 *
 * Interpolation along an axis replaces each wave along it by the interpolated one, so trilinear
 * interpolation of a sum of waves needs no values of nodes: at each node in y and z the field along
 * x is a sum of constant, cosines and sines, whose coefficients are stored, TURB_COEFS numbers
 * instead of 64 nodes. A row of octs along x interpolates them once, first along y, and a cell adds
 * its five terms. Tables are small enough for caches. */
#pragma once
#include "turb/force.h"

enum {
    /* [wave][component]: the constant first; then padding */
    TURB_TERMS = 3 * (1 + TURB_WAVES),
    TURB_COEFS = 16
};

/* The table is [z][y][TURB_COEFS], after these [x][TURB_WAVES] waves at the nodes along x. */
enum { TURB_ALONG_X = TURB_NODES * TURB_WAVES };

PTAH_HD double turb_coef(const struct turb_force *f, int z, int y, int j)
{
    const int i = TURB_ALONG_X + (z * TURB_NODES + y) * TURB_COEFS + j;
    return f->wa * f->a[i] + f->wb * f->b[i];
}

PTAH_HD void turb_of_waves(const struct turb_force *f, const struct turb_place *p, double out[3])
{
    for (int k = 0; k <= TURB_WAVES; k++) {
        double wave = 1.0;
        if (k > 0)
            wave = turb_between(f->a[p->at[0][0] * TURB_WAVES + k - 1],
                                f->a[p->at[0][1] * TURB_WAVES + k - 1], p->w[0]);
        for (int d = 0; d < 3; d++) {
            double plane[2];
            for (int z = 0; z < 2; z++)
                plane[z] = turb_between(turb_coef(f, p->at[2][z], p->at[1][0], 3 * k + d),
                                        turb_coef(f, p->at[2][z], p->at[1][1], 3 * k + d), p->w[1]);
            const double x = turb_between(plane[0], plane[1], p->w[2]);
            out[d] = k > 0 ? out[d] + x * wave : x;
        }
    }
}

#ifndef __CUDACC__
#include "vec/vec4.h"

/* Coefficients along a line of cells in x. */
struct turb_line {
    double x[TURB_COEFS];
};

/* Of the cells at y, z of the level. */
static inline void turb_find_line(const struct turb_force *f, int64_t y, int64_t z,
                                  struct turb_line *to)
{
    int at[2][2] = {{0, 0}, {0, 0}};
    double w[2] = {0.0, 0.0};
    const double *a[4], *b[4], wa = f->wa, wb = f->wb;
    if (f->ndim > 1) turb_axis(f, y, at[0], &w[0]);
    if (f->ndim > 2) turb_axis(f, z, at[1], &w[1]);
    for (int i = 0; i < 4; i++) {
        const int k = TURB_ALONG_X + (at[1][i >> 1] * TURB_NODES + at[0][i & 1]) * TURB_COEFS;
        a[i] = f->a + k, b[i] = f->b + k;
    }
#pragma omp simd
    for (int j = 0; j < TURB_COEFS; j++) {
        const double low = turb_between(wa * a[0][j] + wb * b[0][j], wa * a[1][j] + wb * b[1][j],
                                        w[0]),
                     high = turb_between(wa * a[2][j] + wb * b[2][j], wa * a[3][j] + wb * b[3][j],
                                         w[0]);
        to->x[j] = turb_between(low, high, w[1]);
    }
}

/* Terms [1 + wave, component] of octs in a row along x, of the cells at both places along y and z
 * [2 z + y]: with the waves of an oct a = term[d] + Σ term[3 (k + 1) + d] wave[k], added in this
 * order. */
struct turb_row {
    double term[TURB_COEFS][4];
};

/* Of the row of octs with coordinates q[1], q[2]. */
static inline void turb_find_row(const struct turb_force *f, const int64_t q[3],
                                 struct turb_row *row)
{
    struct turb_line line[4];
    for (int c = 0; c < 4; c++)
        turb_find_line(f, f->ndim > 1 ? 2 * q[1] + (c & 1) : 0,
                       f->ndim > 2 ? 2 * q[2] + (c >> 1) : 0, &line[c]);
    for (int j = 0; j < TURB_COEFS; j += 4) {
        vec4 in[4], term[4];
        for (int c = 0; c < 4; c++) in[c] = vec4_load(line[c].x + j);
        vec4_transpose(in, term);
        for (int i = 0; i < 4; i++) *(vec4_any *)row->term[j + i] = term[i];
    }
}

/* The row, of those that are known or in `own`. */
static inline const struct turb_row *turb_row_of(const struct turb_force *f, const int64_t q[3],
                                                 struct turb_row *own)
{
    if (!f->rows) {
        turb_find_row(f, q, own);
        return own;
    }
    const int side = f->level - 1;
    const struct turb_row *row = f->rows + (f->ndim > 2 ? q[2] << side : 0) +
                                 (f->ndim > 1 ? q[1] : 0);
    for (int i = 0; i < TURB_COEFS; i += 2) __builtin_prefetch(row[1].term[i], 0, 3); /* the next */
    return row;
}

/* Waves along x at the cells of oct x of a row. */
struct turb_along {
    double wave[TURB_WAVES][8];
};

static inline void turb_find_along(const struct turb_force *f, int64_t x, struct turb_along *to)
{
    for (int c = 0; c < 2; c++) {
        int at[2];
        double w;
        turb_axis(f, 2 * x + c, at, &w);
        for (int k = 0; k < TURB_WAVES; k++) {
            const double between = turb_between(f->a[at[0] * TURB_WAVES + k],
                                                f->a[at[1] * TURB_WAVES + k], w);
            for (int i = c; i < 8; i += 2) to->wave[k][i] = between;
        }
    }
}
#endif
