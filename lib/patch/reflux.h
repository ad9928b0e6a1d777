/* patch/reflux: registers of the fluxes at coarse–fine boundaries (struct level.reflux), separately
 * for each system (Berger & Colella 1989). Local. */
#pragma once
#include "oct/mesh.h"

enum { REFLUX_EDGES = 12 }; /* of an oct */

/* Creates the registers of a system (zeroed) before the sub-steps of level l within one step of
 * level l−1: double[6 faces][nflux] for octs with a face that has no neighbour on the level, and
 * with nedge = 12 double[12] for the edges too, also for octs with such an edge only; with nedge =
 * 24 what reflux_keep keeps follows. The caller copies the registers of ghost octs from their
 * owners (reflux_export there, reflux_import here) before level l−1 is updated. */
void reflux_begin(struct mesh *m, int l, int system, int nflux, int nedge);
/* Multiplies the forces at edges that were added so far. */
void reflux_grow(struct mesh *m, int l, int system, double factor);
void reflux_keep(struct mesh *m, int l, int system); /* keeps these forces besides */
void reflux_end(struct mesh *m, int l, int system);  /* frees the registers */
size_t reflux_row_bytes(int nflux, int nedge);
size_t reflux_oct_bytes(int ndim, int nflux, int nedge); /* of an oct with registers */
/* Copy one oct's registers to and from a buffer of reflux_row_bytes; an oct without registers
 * exports zeros and ignores the import. */
void reflux_export(const struct reflux *r, lidx oct, void *row);
void reflux_import(struct reflux *r, lidx oct, const void *row);
/* Copy the rows of a level's plan to messages for each peer, and from messages to ghost octs. */
void reflux_pack(const struct level *lv, int system, char *const *out);
void reflux_unpack(struct level *lv, int system, const char *const *in);

PTAH_HD_FN double *reflux_row(const struct reflux *r, lidx i)
{
    return r->flux + (size_t)r->row[i] * (size_t)(6 * r->nflux + r->nedge);
}

/* Numbers of reflux_lower of an oct. */
static inline int reflux_nlower(int ndim, int nflux, int nedge)
{
    return nedge > 0 && ndim > 2 ? 4 * nflux + 4 : 0;
}

/* Of a law with a field on faces in three dimensions, while the level is updated: parts of the sums
 * of oct i that lie in its lower plane of cells, through the faces −x,+x,−y,+y [4][nflux], then
 * along the edges in z [4]. They follow all rows. */
static inline double *reflux_lower(const struct reflux *r, lidx i)
{
    double *rows = r->flux + (size_t)r->n * (size_t)(6 * r->nflux + r->nedge);
    return rows + (size_t)r->row[i] * (size_t)r->nlower;
}

/* Number of an edge in the registers: along an axis, on the upper side along the next axis in
 * cyclic order (b) and the one after (c), or not. */
PTAH_HD_FN int reflux_edge(int axis, int b, int c)
{
    return 4 * axis + 2 * c + b;
}

/* Whether the oct across face f, or the oct across face g of that one, is missing on the level. In
 * ghosts it may only be missing on this rank. */
PTAH_HD_FN bool reflux_edge_ends(const lidx (*nbr)[6], lidx i, int f, int g)
{
    const lidx j = nbr[i][f];
    return j == NBR_NONE || (j >= 0 && nbr[j][g] == NBR_NONE);
}

/* Whether oct i with these links has registers; edges: also for its edges. */
PTAH_HD_FN bool reflux_has(const lidx (*nbr)[6], lidx i, bool edges)
{
    bool any = false;
    for (int f = 0; f < 6; f++) any |= nbr[i][f] == NBR_NONE;
    for (int f = 0; f < 4 && edges; f++)
        for (int g = (f | 1) + 1; g < 6; g++) any |= reflux_edge_ends(nbr, i, f, g);
    return any;
}
