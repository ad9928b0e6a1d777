/* hydro/gather: values of the octs in and around a tile, in planes of cells. Private to hydro. */
#pragma once
#include "hydro/tile.h"

/* The last four planes of constant z, ring by plane & 3. Cells (x,y) of a plane, from -2, are in
 * rows along x, at plane_at. */
struct gathered {
    const struct mesh *m;
    const struct hydro_par *par;
    const struct places *places;
    int l, w;                /* level; cells per row */
    double *u[4];            /* [nvar][PLANE_STRIDE] conserved */
    double *f[4];            /* [3][PLANE_STRIDE] acceleration (with gravity) */
    unsigned char *split[4]; /* [PLANE_STRIDE] 1: the cell is refined */
    /* a cell of this row of octs is refined; index as in places */
    bool split_row[PLACE_HEIGHT][PLACE_SIDE];
};

static inline int plane_at(int w, int x, int y)
{
    return x + 2 + w * (y + 2);
}

/* Eight cells: of an oct, or of four octs side by side in a row. */
typedef double cells8 __attribute__((vector_size(64), may_alias));
typedef double cells8_any __attribute__((vector_size(64), may_alias, aligned(8)));

/* Four rows through four octs side by side to these octs, or back. */
static inline void rows_octs(const cells8 from[4], cells8 to[4])
{
    cells8 a = __builtin_shufflevector(from[0], from[1], 0, 1, 2, 3, 8, 9, 10, 11),
           b = __builtin_shufflevector(from[0], from[1], 4, 5, 6, 7, 12, 13, 14, 15),
           c = __builtin_shufflevector(from[2], from[3], 0, 1, 2, 3, 8, 9, 10, 11),
           d = __builtin_shufflevector(from[2], from[3], 4, 5, 6, 7, 12, 13, 14, 15);
    to[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5, 8, 9, 12, 13);
    to[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7, 10, 11, 14, 15);
    to[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5, 8, 9, 12, 13);
    to[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7, 10, 11, 14, 15);
}

/* The planes of the octs -1 and 0, then, ascending, those of the others up to t[2]. */
void gather_begin(struct gathered *g, const struct places *p, const struct mesh *m, int l,
                  const struct hydro_par *par);
void gather_octs(struct gathered *g, int z);
/* Has octs (y,z), which gather_octs wants later, brought nearer. */
void gather_prefetch(const struct gathered *g, int y, int z);
