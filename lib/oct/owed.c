/* oct/owed: lists of sums. */
#include "oct/owed.h"

#include "base/mem.h"

void owed_add(struct owed *s, int64_t *to, int64_t sum)
{
    if (sum == 0) return;
    if (s->n == s->cap) {
        s->cap = 2 * s->cap + 1024;
        s->list = mem_grow(s->list, sizeof *s->list * (size_t)s->cap, "deposit");
    }
    s->list[s->n++] = (struct debt){to, sum};
}

void owed_end(struct owed *s)
{
    for (int64_t i = 0; i < s->n; i++) {
#pragma omp atomic
        *s->list[i].to += s->list[i].sum;
    }
    FREE(s->list);
    s->n = s->cap = 0;
}
