/* patch/gather: values of the octs in and around a tile, in planes of cells, and functions by which
 * a law writes octs that do not exist into the planes. */
#pragma once
#include <string.h>

#include "patch/law.h"
#include "patch/tile.h"

/* The last four planes of constant z, a ring indexed by plane & 3. Cells (x,y) of a plane, from -2,
 * are in rows along x, at plane_at. */
struct gathered {
    const struct mesh *m;
    const struct law *law;
    const struct slots *slots;
    int l, w;                /* level; stride between rows of cells, 0 in 1-D */
    bool finer;              /* whether cells may be refined; otherwise split is not filled */
    double *u[4];            /* [nfield][PLANE_STRIDE] fields in a plane */
    unsigned char *split[4]; /* [PLANE_STRIDE] 1: refined cell */
    /* [z+1][y+1] masks of this row of octs: those of which a cell is refined; all cells are */
    uint32_t split_octs[SLOT_HEIGHT][SLOT_SIDE], whole_octs[SLOT_HEIGHT][SLOT_SIDE];
    /* fields of the level, and of the coarser level */
    double (*from[LAW_FIELDS])[8], (*up[LAW_FIELDS])[8];
};

static inline int plane_at(int w, int x, int y)
{
    return x + 2 + w * (y + 2);
}

/* Cells of a plane, with halos. */
static inline int plane_cells(const struct gathered *g)
{
    const int *t = g->slots->tile->t;
    return (2 * t[0] + ROW_GAP) * (g->w > 0 ? 2 * t[1] + 4 : 1);
}

/* Four cells: of one layer of an oct, or of two octs adjacent in a row. Wider vectors are avoided:
 * gcc 12 shuffles vectors element by element if the processor lacks them. */
typedef double cells4 __attribute__((vector_size(32)));
typedef double cells4_any __attribute__((vector_size(32), may_alias, aligned(8)));

/* Converts one layer in z of two octs adjacent in x to two rows of four cells, and vice versa. */
static inline void layer_transpose(cells4 a, cells4 b, cells4 *lower, cells4 *upper)
{
    *lower = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    *upper = __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

/* gather_begin gathers the planes of octs z = -1 and 0; then gather_octs the planes of octs z = 1
 * .. t[2], in ascending order. */
void gather_begin(struct gathered *g, const struct slots *p, const struct mesh *m, int l,
                  const struct law *law);
void gather_octs(struct gathered *g, int z);
/* In fewer dimensions gather_begin gathers nothing, and gather_line row y of octs, in ascending
 * order; cells beyond the boundary below row 0 come with row 0. */
void gather_line(struct gathered *g, int y);
/* Prefetches a part (slots_part) of the octs (y,z), which gather_octs will read later. */
void gather_prefetch(const struct gathered *g, int y, int z, int part);

/* ---- octs that do not exist ---- */

/* Location of an oct in the ring: planes of its two layers of cells, index of its first cell,
 * stride between rows. */
struct target {
    int a, b, at, w;
};

/* Puts the cells of an oct into the planes; in fewer dimensions the lower layer alone, which the
 * upper one repeats. */
static inline void put_layers8(int ndim, double *const *ring, int v, struct target t,
                               const double *restrict from)
{
    double *a = ring[t.a] + v * PLANE_STRIDE + t.at, *b = ring[t.b] + v * PLANE_STRIDE + t.at;
    memcpy(a, from, 16);
    memcpy(a + t.w, from + 2, 16);
    if (ndim < 3) return;
    memcpy(b, from + 4, 16);
    memcpy(b + t.w, from + 6, 16);
}

/* Likewise, in any number of dimensions: in one plane both layers have the same place. */
static inline void put8(double *const *ring, int v, struct target t, const double *restrict from)
{
    put_layers8(ring[t.a] == ring[t.b] ? 2 : 3, ring, v, t, from);
}

/* Two adjacent cells. */
typedef double pair __attribute__((vector_size(16), may_alias, aligned(8)));

/* Sets all cells of an oct to one value. */
static inline void put_flat(double *const *ring, int v, struct target t, double x)
{
    const pair both = {x, x};
    double *a = ring[t.a] + v * PLANE_STRIDE + t.at, *b = ring[t.b] + v * PLANE_STRIDE + t.at;
    *(pair *)a = *(pair *)(a + t.w) = both;
    *(pair *)b = *(pair *)(b + t.w) = both;
}
