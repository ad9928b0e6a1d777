/* oct/remap: changes the list of octs of a level on a device (oct/mirror). The host sends the
 * source of each oct, as runs; keys, links, hash table and fields are then made on the device. Thus
 * transfers are proportional to the change. Local. */
#pragma once
#include "oct/mirror.h"

/* Run of new octs from `begin` to the next run: copies of old octs from `source` on, or, if source
 * is negative, created octs from number −1 − source on. */
struct remap_run {
    lidx begin, source;
};

/* Interpolation of the gas to n created octs in cells `location` (8 × oct + cell) of level l:
 * launches kernels that fill row[k * width … + nvar − 1][8]. location and row are device pointers.
 */
struct remap_gas {
    void (*fill)(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *location,
                 double *row, int width);
    void *ctx;
};

/* Fields moved on the device, ascending; of the gas all or none. */
struct remap_fields {
    int n, fld[FLD_MAX];
};

/* Computes the values of created octs on the device and copies them to rows [n][fields][8] on the
 * host. (ERR_LIMIT: insufficient device memory) */
MUST_USE enum err remap_rows(struct mirror *x, const struct mesh *m, int l, int32_t n,
                             const int32_t *location, const struct remap_fields *f,
                             const struct remap_gas *gas, double (*rows)[8]);

/* A change of level l ≥ 2 in progress. */
struct remap {
    struct mirror *x; /* mirror of the mesh; NULL: no change in progress */
    int l;
    struct remap_fields f;
    struct level now; /* new device arrays */
    lidx noct;
    lidx *source, *inverse;
    struct remap_run *run;
    int32_t *location;
    double *row;
};
/* Allocates memory for `noct` octs, of which `created` are new, `rows` of them with values from the
 * host or the device; before the mesh of the host changes. Links of levels l-1 … l+1, and fields of
 * level l, if it has octs, must be on the device. ERR_LIMIT: insufficient device memory; nothing
 * has changed. */
MUST_USE enum err remap_begin(struct remap *r, struct mirror *x, const struct mesh *m, int l,
                              lidx noct, lidx created, lidx rows, const struct remap_fields *f);

struct remap_change {
    /* [noct] old index of each oct, or −1 − number among the created octs */
    const lidx *source;
    /* numbers of created octs: all; with values made on the device, which come first; with values
     */
    lidx created, here, rows;
    /* [created] cells of the created octs, 8 × oct of level l-1 + cell; taken over */
    int32_t *location;
    double (*come)[8]; /* [rows − here][fields] values from the host; taken over */
};
/* Applies a change after mesh_replace of the host, which continues while the device works.
 * Afterwards the fields count as equal on host and device. */
void remap_end(struct remap *r, const struct mesh *m, const struct remap_change *c,
               const struct remap_gas *gas);
