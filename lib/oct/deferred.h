/* oct/deferred: integer sums of threads that share an array of rows. While all run each writes its
 * own rows alone; what it has for others waits in a list until all have ended. Sums have no order,
 * so they do not depend on who writes what. */
#pragma once
#include <stdbool.h>

#include "oct/okey.h"

struct deferred {
    lidx low, high; /* own rows: low..high-1 */
    int64_t n, cap; /* zeros at first */
    struct deferred_sum {
        int64_t *to, sum;
    } * list;
};

static inline bool deferred_is_own(const struct deferred *o, lidx row)
{
    return row >= o->low && row < o->high;
}

/* For a row of another thread. */
void deferred_add(struct deferred *o, int64_t *to, int64_t sum);

/* to: in any row. */
static inline void deferred_put(struct deferred *o, lidx row, int64_t *to, int64_t sum)
{
    if (deferred_is_own(o, row))
        *to += sum;
    else
        deferred_add(o, to, sum);
}

/* After a barrier, of all threads at once: adds what waits, and empties the list. */
void deferred_end(struct deferred *o);
