/* grid/priv: names and limits shared by the reader and the writer. Private to grid. */
#pragma once
#include "grid/grid.h"

enum { GRID_VERSION = 1, GRID_BLOCK = 1 << 20 }; /* bytes of a block, roughly */

/* Lines of cells along x in a block of a mesh. */
static inline int64_t grid_rows(const int64_t n[3])
{
    int64_t rows = GRID_BLOCK / (8 * n[0]), all = n[1] * n[2];
    return rows < 1 ? 1 : rows < all ? rows : all;
}

/* Whether a field is a component of a vector px, py, pz. prefix: p. */
bool grid_is_component(const struct grid_head *h, int field, char prefix[GRID_NAME]);
/* Fails if names of fields or keys are not lower-case words of letters, digits and underscores, or
 * occur twice, or numbers are not those of a mesh. file: for messages. */
MUST_USE enum err grid_check_head(const struct grid_head *h, const char *file);
static inline struct onefile_head grid_common(const struct grid_head *h)
{
    return (struct onefile_head){h->t, h->dt, h->it, &h->keys};
}
