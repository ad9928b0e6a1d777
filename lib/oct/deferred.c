#include "oct/deferred.h"

#include "base/mem.h"

void deferred_add(struct deferred *o, int64_t *to, int64_t sum)
{
    if (sum == 0) return;
    MEM_ROOM(o->list, o->n, o->cap, 1024, "deposit");
    o->list[o->n++] = (struct deferred_sum){to, sum};
}

void deferred_end(struct deferred *o)
{
    for (int64_t i = 0; i < o->n; i++) {
#pragma omp atomic
        *o->list[i].to += o->list[i].sum;
    }
    FREE(o->list);
    o->n = o->cap = 0;
}
