/* grid/value: values at the cells of a checkpoint: its fields, and values that follow from them by
 * the differences of the run (fd/derived.def). */
#pragma once
#include "fd/fd.h"
#include "grid/grid.h"

struct grid_value {
    const char *name, *text; /* for options, for pictures; lent */
    int field;               /* a field of the checkpoint; −1: derived */
    enum fd_derived derived;
};
enum { GRID_VALUES = GRID_FIELDS + FD_DERIVED };

/* All values that a checkpoint has; returns their number. */
int grid_values(const struct grid *g, struct grid_value list[GRID_VALUES]);
/* Finds a value by its name. The error lists the names. Local. */
MUST_USE enum err grid_value_find(const struct grid *g, const char *name, struct grid_value *v);
/* Planes that grid_value_read reads at once in bounded memory. */
int64_t grid_value_planes(const struct grid *g);
/* Reads n planes from plane z on: to[n][ny][nx]. Local. */
MUST_USE enum err grid_value_read(struct grid *g, const struct grid_value *v, int64_t z, int64_t n,
                                  double *to);
