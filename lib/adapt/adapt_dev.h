/* adapt/adapt_dev: refinement of levels whose fields are on a device (oct/mirror, oct/remap). The
 * set of fields on the device may differ between ranks; messages have one layout everywhere. */
#pragma once
#include "dom/ghost_dev.h"
#include "oct/remap.h"

struct adapt_dev {
    struct mirror *mirror;   /* lent */
    struct ghost_dev *ghost; /* lent; NULL on a single rank */
    struct remap_gas gas;    /* interpolation; fill NULL: injection of the parent cell's values */
    /* State of a single change. */
    struct remap_fields f; /* fields remapped on the device; none: the host does all */
    struct mesh_moves moves;
    struct remap remap;
};

/* ---- for lib/adapt ---- */
/* Chooses the fields that are remapped on the device; call before level l changes. alone: the run
 * has a single rank. */
void adapt_dev_begin(struct adapt_dev *v, struct mesh *m, int l, bool alone);
/* True if the values of field f are on the host. */
bool adapt_dev_here(const struct adapt_dev *v, int f);
/* Fetches from the device the values of n octs created in level l: rows[n][v->f.n][8]. */
void adapt_dev_rows(struct adapt_dev *v, struct mesh *m, int l, int32_t n, const int32_t *location,
                    double (*rows)[8]);
/* Reserves device memory before mesh_replace of level l by `noct` octs, of which at most `created`
 * are new and `rows` arrive with values. */
void adapt_dev_room(struct adapt_dev *v, struct mesh *m, int l, lidx noct, lidx created, lidx rows);
/* Remaps the fields on the device after mesh_replace, if adapt_dev_room found memory. c->source is
 * v->moves.from, in which the caller has numbered the created octs; ownership of its other arrays
 * passes to this function. */
void adapt_dev_end(struct adapt_dev *v, struct mesh *m, int l, const struct remap_change *c);
/* Fills the ghosts of nfld fields and of the flags of level l, on host or device. (collective) */
void adapt_dev_fill(struct adapt_dev *v, const struct comm *c, struct mesh *m, int l, int nfld,
                    const int *fld);
