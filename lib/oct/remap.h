/* oct/remap: a level whose list of octs has changed, on a device (oct/mirror). The host says where
 * each oct comes from, as runs; keys, links, hash table and fields are then made there. So what
 * crosses the bus is of the size of the change. Local. */
#pragma once
#include "oct/mirror.h"

/* New octs from `begin` to the next run: those from old oct `source` on, or, if it is negative,
 * those created, from number −1 − source on. */
struct remap_run {
    lidx begin, source;
};

/* Values of n octs to be created in cells `place` (8 × oct + cell) of level l, for the gas:
 * launches kernels that fill row[k * width … + nvar − 1][8]. place and row are the device's. */
struct remap_gas {
    void (*fill)(void *ctx, const struct mirror *x, int l, int32_t n, const int32_t *location,
                 double *row, int width);
    void *ctx;
};

/* Fields that are moved there, ascending; of the gas all or none. */
struct remap_fields {
    int n, fld[FLD_MAX];
};

/* Values of octs to be created, of these fields, into rows [n][fields][8] here; what they are made
 * of is there. (ERR_LIMIT: it does not fit) */
MUST_USE enum err remap_rows(struct mirror *x, const struct mesh *m, int l, int32_t n,
                             const int32_t *location, const struct remap_fields *f,
                             const struct remap_gas *gas, double (*rows)[8]);

/* A change of level l ≥ 2 on its way. */
struct remap {
    struct mirror *x; /* NULL: none */
    int l;
    struct remap_fields f;
    struct level now; /* new arrays there */
    lidx noct;
    lidx *source, *inverse;
    struct remap_run *run;
    int32_t *location;
    double *row;
};
/* Room for `noct` octs, of which `created` are new, `rows` with values; before the mesh of the host
 * changes. Links of levels l-1 … l+1 are there, and fields of level l, if it has octs. ERR_LIMIT:
 * it does not fit, and nothing has changed. */
MUST_USE enum err remap_begin(struct remap *r, struct mirror *x, const struct mesh *m, int l,
                              lidx noct, lidx created, lidx rows, const struct remap_fields *f);

struct remap_change {
    /* of each oct the old one, or −1 − number among the created ones */
    const lidx *source;
    /* created octs: cells in which they are, 8 × oct of level l-1 + cell; the first `here` get
     * values made there, the next ones, up to `rows`, those in come; the others none */
    lidx created, here, rows;
    int32_t *location; /* taken over */
    double (*come)[8]; /* [rows − here][fields]; taken over */
};
/* After mesh_replace of the host, which goes on while the device works. The fields then count as
 * equal here and there. */
void remap_end(struct remap *r, const struct mesh *m, const struct remap_change *c,
               const struct remap_gas *gas);
