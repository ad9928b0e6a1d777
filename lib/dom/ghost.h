/* dom/ghost: copies between ranks along a level's exchange plan. All functions are collective
 * (every rank calls them with the same level and the same kind of arrays). */
#pragma once
#include "comm/comm.h"
#include "oct/mesh.h"

/* Ghost rows of each array := the owner's rows. arr[i] is an array with one row of stride[i] bytes
 * an oct. */
void ghost_fill_rows(const struct comm *c, const struct xplan *p, int narr, void *const *arr,
                     const size_t *stride);
/* The same for fields of a level by number (enum field). */
void ghost_fill(const struct comm *c, struct mesh *m, int l, int nfld, const int *fld);
void ghost_fill_hydro(const struct comm *c, struct mesh *m, int l); /* all U */
/* Owner's rows += ghost rows (integers: order-free); ghost rows are left as they were. a is
 * [noct][8]. */
void ghost_add_i64(const struct comm *c, const struct xplan *p, int64_t (*a)[8]);

/* Builds the plan of a level from each own oct's list of ranks: done by dom/adapt. A sub-plan over
 * the octs with keep[i]
 * != 0 (same value on owner and ghosts), with indices mapped by map[i] (for multigrid's compact
 * levels). */
void xplan_subset(const struct xplan *p, const unsigned char *keep, const lidx *map,
                  struct xplan *out);
