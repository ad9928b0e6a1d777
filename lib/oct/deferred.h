/* oct/deferred: integer sums of threads that share an array of rows. Each thread writes only its
 * own rows; sums for rows of other threads are deferred in a list until all threads have ended.
 * Integer addition commutes, so the result does not depend on the threads. */
#pragma once
#include <stdbool.h>

#include "oct/okey.h"

struct deferred {
    lidx low, high; /* own rows: low..high-1 */
    int64_t n, cap; /* length and capacity of list; zero at first */
    struct deferred_sum {
        int64_t *to, sum;
    } * list;
};

static inline bool deferred_is_own(const struct deferred *o, lidx row)
{
    return row >= o->low && row < o->high;
}

/* Defers a sum for a row of another thread. */
void deferred_add(struct deferred *o, int64_t *to, int64_t sum);

/* Adds a sum to any row; to: address of the value in the row. */
static inline void deferred_put(struct deferred *o, lidx row, int64_t *to, int64_t sum)
{
    if (deferred_is_own(o, row))
        *to += sum;
    else
        deferred_add(o, to, sum);
}

/* Adds the deferred sums, and empties the list; called by all threads after a barrier. */
void deferred_end(struct deferred *o);
