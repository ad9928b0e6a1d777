/* sparse/rows: work of a host on few octs of a level that is on a device.
 *
 * Star formation, supernovae and sinks change few cells of a step. A kernel, or the host's own
 * knowledge of the mesh, lists the octs where anything can happen; rows_home brings their rows of
 * the fields to the host, which works with the code that it has for all octs, and rows_send returns
 * the rows that it has changed. Locations of fields stay as they are (oct/mirror.h): on hosts the
 * other rows are as old as before. If the newest copy is on the host, nothing is copied, so that
 * the same code serves with a device and without; x NULL: there is none. Local. */
#pragma once
#include "oct/mirror.h"
#include "sparse/births_kern.h"
#include "sparse/small_kern.h"

/* Octs of a level in ascending order. */
struct rows {
    int64_t n;
    lidx *oct; /* FREE */
};

/* Errors: the device failed, and its contents are lost. Without memory for a list or for packed
 * rows, whole fields or single rows are copied. */
MUST_USE enum err rows_home(struct mirror *x, struct mesh *m, int l, field_set set,
                            const struct rows *r);
/* rows_home for one variable of the gas. */
MUST_USE enum err rows_home_gas(struct mirror *x, struct mesh *m, int l, int var,
                                const struct rows *r);
/* The host has changed no other rows of the fields that rows_home has brought. */
MUST_USE enum err rows_send(struct mirror *x, struct mesh *m, int l, field_set set,
                            const struct rows *r);
/* Adds rows of integers of the host, by octs of the list, to those at a device address. */
MUST_USE enum err rows_add(struct mirror *x, const struct rows *r, int64_t (*from)[8],
                           int64_t (*to)[8]);
/* Own octs, `ghosts`: ghosts too, that have a cell, or a leaf cell, with a value of variable `var`
 * of the gas above min. */
MUST_USE enum err rows_above(struct mirror *x, struct mesh *m, int l, int var, double min,
                             bool leaf, bool ghosts, struct rows *out);
/* Own octs, among them all that have a leaf cell for which births_may holds. */
MUST_USE enum err rows_births(struct mirror *x, struct mesh *m, int l, const struct births_law *law,
                              struct rows *out);
/* Adds to bits[nown] a bit for each own cell for which small_wants holds. ERR_LIMIT: the device has
 * too little memory, and nothing has changed; or it failed. */
MUST_USE enum err rows_small(struct mirror *x, struct mesh *m, int l, const struct small_law *law,
                             unsigned char *bits);
/* Sorts octs and removes those that are there twice. */
void rows_tidy(struct rows *r);
/* Removes the octs of `other` from r. */
void rows_without(struct rows *r, const struct rows *other);
