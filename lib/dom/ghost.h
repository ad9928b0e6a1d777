/* dom/ghost: copies between ranks along a level's exchange plan. All functions are collective
 * (every rank calls them with the same level and the same kind of arrays). */
#pragma once
#include "comm/pack.h"
#include "oct/fields.h"

/* Ghost rows of each array := the owner's rows. arr[i] is an array with one row of stride[i] bytes
 * per oct. */
void ghost_fill_rows(const struct comm *c, enum comm_use use, const struct xplan *p, int narr,
                     void *const *arr, const size_t *stride);
/* Fills ghosts of fields of a level, given by number (enum field), and marks them valid. */
void ghost_fill(const struct comm *c, struct mesh *m, int l, int nfld, const int *fld);
void ghost_fill_set(const struct comm *c, struct mesh *m, int l, field_set set);
void ghost_fill_hydro(const struct comm *c, struct mesh *m, int l); /* all U */
void ghost_fill_flags(const struct comm *c, struct mesh *m, int l);

/* ghost_fill_rows in two halves. begin sends what the own octs hold now; until end has returned,
 * the level's octs must stay and its ghosts of these fields must not be read. *g is the caller's,
 * zeroed; end without begin does nothing. */
struct ghost_rows {
    const struct xplan *plan;
    struct comm_pack pack;
};
/* With the same arrays in both halves, of which rows of own octs may change in between. */
void ghost_rows_begin(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                      const struct xplan *p, int narr, void *const *arr, const size_t *stride);
void ghost_rows_end(struct ghost_rows *g, int narr, void *const *arr, const size_t *stride);
/* Fills four of the eight cells of each ghost of one array, in two halves; the others stay. */
void ghost_cells_begin(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                       const struct xplan *p, const int cell[4], const double (*arr)[8]);
void ghost_cells_end(struct ghost_rows *g, const int cell[4], double (*arr)[8]);

/* Rows of an array to a message, and back. */
void ghost_rows_get(char *to, const char *from, size_t stride, lidx n, const lidx *row);
void ghost_rows_put(char *to, const char *from, size_t stride, lidx n, const lidx *row);
/* Only the messages, of `row` bytes a row of the plan, or (back) from ghosts to their owners: the
 * caller packs g->pack.out, calls comm_pack_send and comm_pack_receive, unpacks g->pack.in, and
 * calls comm_pack_free (dom/ghost_dev). */
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

/* Do all ghosts come out of windows of this node (comm/share)? */
bool ghost_near(const struct comm *c, const struct xplan *p);

/* Do the ghosts of field f (of FIELD_ALL) hold, on all ranks, the bits of their owners? For checks.
 */
bool ghost_same(const struct comm *c, const struct mesh *m, int l, int f);
/* Owner's rows += ghost rows (integers: order-free) of each array; ghost rows are left as they
 * were. An array is [noct][8]. */
void ghost_add_i64(const struct comm *c, const struct xplan *p, int narr, int64_t (*const *arr)[8]);

/* lib/adapt builds the plan of a level from each own oct's list of ranks. A sub-plan over the octs
 * with keep[i] != 0 (same value on owner and ghosts), with indices mapped by map[i] (for
 * multigrid's compact levels). */
void xplan_subset(const struct xplan *p, const unsigned char *keep, const lidx *map,
                  struct xplan *out);
