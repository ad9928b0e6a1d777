/* patch/gather: values of the octs in and around a tile, in planes of cells; and how a law writes
 * octs that do not exist into them. */
#pragma once
#include <string.h>

#include "patch/law.h"
#include "patch/tile.h"

/* The last four planes of constant z, ring by plane & 3. Cells (x,y) of a plane, from -2, are in
 * rows along x, at plane_at. */
struct gathered {
    const struct mesh *m;
    const struct law *law;
    const struct slots *slots;
    int l, w;                /* level; cells per row */
    bool finer;              /* cells may be refined; else split is not filled */
    double *u[4];            /* [nfield][PLANE_STRIDE] */
    unsigned char *split[4]; /* [PLANE_STRIDE] 1: the cell is refined */
    /* a cell of this row of octs is refined; index as in places */
    bool split_row[SLOT_HEIGHT][SLOT_SIDE];
    double (*from[LAW_FIELDS])[8], (*up[LAW_FIELDS])[8]; /* the fields, here and a level up */
};

static inline int plane_at(int w, int x, int y)
{
    return x + 2 + w * (y + 2);
}

/* Four cells: of one layer of an oct, or of two octs side by side in a row. Not eight: vectors that
 * the processor does not have are shuffled number by number (gcc 12). */
typedef double cells4 __attribute__((vector_size(32)));
typedef double cells4_any __attribute__((vector_size(32), may_alias, aligned(8)));

/* Turns one layer in z of two octs side by side in x into two rows of four cells, or back. */
static inline void layer_transpose(cells4 a, cells4 b, cells4 *lower, cells4 *upper)
{
    *lower = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    *upper = __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

/* The planes of the octs -1 and 0, then, ascending, those of the others up to t[2]. */
void gather_begin(struct gathered *g, const struct slots *p, const struct mesh *m, int l,
                  const struct law *law);
void gather_octs(struct gathered *g, int z);
/* Has a part (slots_part) of the octs (y,z), which gather_octs wants later, brought nearer. */
void gather_prefetch(const struct gathered *g, int y, int z, int part);

/* ---- octs that do not exist ---- */

/* The planes of the two layers of cells of an oct, and where its first cell is. */
struct target {
    int a, b, at, w;
};

static inline void put8(double *const *ring, int v, struct target t, const double *restrict from)
{
    double *a = ring[t.a] + v * PLANE_STRIDE + t.at, *b = ring[t.b] + v * PLANE_STRIDE + t.at;
    memcpy(a, from, 16);
    memcpy(a + t.w, from + 2, 16);
    memcpy(b, from + 4, 16);
    memcpy(b + t.w, from + 6, 16);
}

/* Two cells side by side. */
typedef double pair __attribute__((vector_size(16), may_alias, aligned(8)));

/* One value in all cells of an oct. */
static inline void put_flat(double *const *ring, int v, struct target t, double x)
{
    const pair both = {x, x};
    double *a = ring[t.a] + v * PLANE_STRIDE + t.at, *b = ring[t.b] + v * PLANE_STRIDE + t.at;
    *(pair *)a = *(pair *)(a + t.w) = both;
    *(pair *)b = *(pair *)(b + t.w) = both;
}
