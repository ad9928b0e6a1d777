/* patch/reflux: registers of the fluxes at coarse–fine boundaries (struct level.reflux), separately
 * for each system (Berger & Colella 1989). Local. */
#pragma once
#include "oct/mesh.h"

/* Creates the registers of a system (zeroed) before the sub-steps of level l within one step of
 * level l−1: double[6 faces][nflux] for octs with a face that has no neighbour on the level. The
 * caller copies the registers of ghost octs from their owners (reflux_export there, reflux_import
 * here) before level l−1 is updated. */
void reflux_begin(struct mesh *m, int l, int system, int nflux);
void reflux_end(struct mesh *m, int l, int system); /* frees the registers */
size_t reflux_row_bytes(int nflux);
/* Copy one oct's registers to and from a buffer of reflux_row_bytes; an oct without registers
 * exports zeros and ignores the import. */
void reflux_export(const struct reflux *r, lidx oct, void *row);
void reflux_import(struct reflux *r, lidx oct, const void *row);

static inline double *reflux_row(const struct reflux *r, lidx i)
{
    return r->flux + (size_t)r->row[i] * 6 * (size_t)r->nflux;
}
