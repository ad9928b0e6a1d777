/* dom/ghost: copies between ranks along a level's exchange plan. All functions are collective:
 * every rank calls them with equal level and kind of arrays. */
#pragma once
#include "comm/pack.h"
#include "oct/fields.h"

/* Copies the owners' rows to the ghost rows of each array. arr[i] is an array with one row of
 * stride[i] bytes per oct. */
void ghost_fill_rows(const struct comm *c, enum comm_use use, const struct xplan *p, int narr,
                     void *const *arr, const size_t *stride);
/* Fills ghosts of fields of a level, given by number (enum field), and marks them valid. */
void ghost_fill(const struct comm *c, struct mesh *m, int l, int nfld, const int *fld);
void ghost_fill_set(const struct comm *c, struct mesh *m, int l, field_set set);
void ghost_fill_hydro(const struct comm *c, struct mesh *m, int l); /* conserved variables */
void ghost_fill_flags(const struct comm *c, struct mesh *m, int l);

/* ghost_fill_rows in two halves. begin sends the present values of own octs; until end returns, the
 * octs of the level must not change and its ghosts of these fields must not be read. The caller
 * zeroes *g; end without begin has no effect. */
struct ghost_rows {
    const struct xplan *plan;
    struct comm_pack pack;
};
/* Both halves take equal arrays, whose rows of own octs may change in between. */
void ghost_rows_begin(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                      const struct xplan *p, int narr, void *const *arr, const size_t *stride);
void ghost_rows_end(struct ghost_rows *g, int narr, void *const *arr, const size_t *stride);
/* Fills four of the eight cells of each ghost of one array, in two halves. */
void ghost_cells_begin(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                       const struct xplan *p, const int cell[4], const double (*arr)[8]);
void ghost_cells_end(struct ghost_rows *g, const int cell[4], double (*arr)[8]);

/* ghost_rows_get copies rows of an array to a message, ghost_rows_put back. */
void ghost_rows_get(char *to, const char *from, size_t stride, lidx n, const lidx *row);
void ghost_rows_put(char *to, const char *from, size_t stride, lidx n, const lidx *row);
/* Allocates the messages only, with `row` bytes per row of the plan, or (back) from ghosts to their
 * owners. The caller packs g->pack.out, calls comm_pack_send and comm_pack_receive, unpacks
 * g->pack.in, and calls comm_pack_free (dom/ghost_dev). */
void ghost_rows_room(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                     const struct xplan *p, bool back, size_t row);

struct ghost_fill {
    struct level *lv; /* NULL: nothing is on its way */
    int nfld, fld[FIELD_ALL];
    struct ghost_rows rows;
};
void ghost_fill_begin(struct ghost_fill *g, const struct comm *c, struct mesh *m, int l, int nfld,
                      const int *fld);
void ghost_fill_hydro_begin(struct ghost_fill *g, const struct comm *c, struct mesh *m, int l);
void ghost_fill_end(struct ghost_fill *g);

/* Whether all ghosts come from windows of this node (comm/share). */
bool ghost_near(const struct comm *c, const struct xplan *p);

/* Check: whether ghosts of field f (of FIELD_ALL) equal their owners' values bit for bit. */
bool ghost_same(const struct comm *c, const struct mesh *m, int l, int f);
/* Adds ghost rows to the owners' rows of each array (integers, independent of order); ghost rows
 * keep their values. An array is [noct][8]. */
void ghost_add_i64(const struct comm *c, const struct xplan *p, int narr, int64_t (*const *arr)[8]);

/* Makes a sub-plan of the octs with keep[i] != 0 (equal on owner and ghosts), with indices mapped
 * by map[i], for multigrid's compact levels. lib/adapt builds the plan of a level itself. */
void xplan_subset(const struct xplan *p, const unsigned char *keep, const lidx *map,
                  struct xplan *out);
