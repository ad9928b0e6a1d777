/* adapt/adapt_dev: refinement of levels whose fields are on a device (oct/mirror, oct/remap). Which
 * fields are there may differ between ranks: messages are the same. */
#pragma once
#include "dom/ghost_dev.h"
#include "oct/remap.h"

struct adapt_dev {
    struct mirror *mirror;   /* lent, as the next one */
    struct ghost_dev *ghost; /* NULL on a single rank */
    struct remap_gas gas;    /* fill NULL: the parent cell's values */
    /* of a change */
    struct remap_fields f; /* moved there; none: the host does all */
    struct mesh_moves moves;
    struct remap remap;
};

/* ---- for lib/adapt ---- */
/* Before level l changes: which fields move there. alone: on a single rank. */
void adapt_dev_begin(struct adapt_dev *v, struct mesh *m, int l, bool alone);
/* Are there values of field f on the host? */
bool adapt_dev_here(const struct adapt_dev *v, int f);
/* Values of n octs created in level l, of which the device has some: rows [n][v->f.n][8] */
void adapt_dev_rows(struct adapt_dev *v, struct mesh *m, int l, int32_t n, const int32_t *location,
                    double (*rows)[8]);
/* Before mesh_replace of level l by `noct` octs: room there. Those created are
 * `created` at most, `rows` of them with values. */
void adapt_dev_room(struct adapt_dev *v, struct mesh *m, int l, lidx noct, lidx created, lidx rows);
/* After mesh_replace, if there was room: c->source is v->moves.from, in which the caller has
 * numbered the created octs; its other arrays are taken over. */
void adapt_dev_end(struct adapt_dev *v, struct mesh *m, int l, const struct remap_change *c);
/* Ghosts of these arrays of level l, fields and flags, here or there. (collective) */
void adapt_dev_fill(struct adapt_dev *v, const struct comm *c, struct mesh *m, int l, int nfld,
                    const int *fld);
