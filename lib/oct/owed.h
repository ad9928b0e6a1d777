/* oct/owed: integer sums of threads that share an array of rows. While all run each writes its own
 * rows alone; what it has for others waits in a list until all have ended. Sums have no order, so
 * they do not depend on who writes what. */
#pragma once
#include <stdbool.h>

#include "oct/okey.h"

struct owed {
    lidx low, high; /* own rows: low..high-1 */
    int64_t n, cap; /* zeros at first */
    struct debt {
        int64_t *to, sum;
    } * list;
};

static inline bool owed_is_mine(const struct owed *o, lidx row)
{
    return row >= o->low && row < o->high;
}

/* For a row of another thread. */
void owed_add(struct owed *o, int64_t *to, int64_t sum);

/* to: in any row. */
static inline void owed_put(struct owed *o, lidx row, int64_t *to, int64_t sum)
{
    if (owed_is_mine(o, row))
        *to += sum;
    else
        owed_add(o, to, sum);
}

/* After a barrier, of all threads at once: adds what waits, and empties the list. */
void owed_end(struct owed *o);
