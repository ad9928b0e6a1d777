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
/* Copy one oct's registers to and from a buffer of reflux_row_bytes; an oct without registers
 * exports zeros and ignores the import. */
void reflux_export(const struct reflux *r, lidx oct, void *row);
void reflux_import(struct reflux *r, lidx oct, const void *row);

static inline double *reflux_row(const struct reflux *r, lidx i)
{
    return r->flux + (size_t)r->row[i] * (size_t)(6 * r->nflux + r->nedge);
}

/* Number of an edge in the registers: along an axis, on the upper side along the next axis in
 * cyclic order (b) and the one after (c), or not. */
static inline int reflux_edge(int axis, int b, int c)
{
    return 4 * axis + 2 * c + b;
}
