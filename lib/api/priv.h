/* api/priv: types and functions that the files of this module share. */
#pragma once
#include "api/ptah.h"
#include "base/err.h"
#include "ckpt/source.h"
#include "view/gas.h"

struct ptah {
    struct source *s;
    struct gas gas;
    const char *computed[GAS_COMPUTED]; /* fields that are computed in each cell alone */
    int ncomputed;
};

/* The region of a request, in code units. */
struct zone {
    int shape, ndim; /* shape as in struct ptah_region */
    double centre[3], half[3], radius;
    double side[3]; /* of the box, if it is periodic, else 0 */
};

/* An error if numbers are not finite, the region is empty, or its centre is not in the box. */
MUST_USE enum err zone_of(struct zone *z, const struct ptah *p, const struct ptah_region *r);
/* Whether the cube from lo to lo + width meets the region; a point has the width 0. */
bool zone_meets(const struct zone *z, const double lo[3], double width);

/* Begins a call: sets the threads; returns the number to give to call_end. */
int call_begin(void);
int call_end(int threads, enum err e);

/* Adds a column without data. An error if the list is full. */
struct ptah_column *table_add(struct ptah_table *t, const char *name, const char *unit, char type);
/* Makes all columns of the table at least n long; values up to t->n stay. An error if the machine
 * does not have the memory. */
MUST_USE enum err table_room(struct ptah_table *t, int64_t *room, int64_t n, const char *path);
/* Gives back what lies behind t->n values or, after an error, all of it. */
void table_trim(struct ptah_table *t, int64_t room, enum err e);

/* An error that says which of the names of the lists (ptah_name) may have been meant. */
MUST_USE enum err no_name(const struct ptah *p, const char *name, const char *const list[2]);
