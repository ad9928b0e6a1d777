/* oct/owed: integer sums of threads that share an array. Each thread alone writes some rows while
 * all run; what it has for the rows of others waits in a list until all have ended. Sums have no
 * order, so they do not depend on who writes what. */
#pragma once
#include <stdint.h>

struct owed {
    int64_t n, cap;
    struct debt {
        int64_t *to, sum;
    } * list;
};

/* s: zeros at first. */
void owed_add(struct owed *s, int64_t *to, int64_t sum);
/* After a barrier, of all threads at once: adds what waits, and empties the list. */
void owed_end(struct owed *s);
