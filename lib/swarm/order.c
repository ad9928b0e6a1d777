/* swarm/order: own particles in the order of their keys, for samples of the cost and for memory: no
 * result depends on it. */
#include <string.h>

#include "base/mem.h"
#include "swarm/priv.h"

enum { DIGIT = 8, DIGITS = 63 / DIGIT + 1, VALUES = 1 << DIGIT };

struct item {
    uint64_t key;
    int64_t row;
};

/* Least significant digit first; digits that all keys share cost one look. */
static struct item *sorted(struct item *a, struct item *b, int64_t n)
{
    int64_t(*count)[VALUES] = mem_zero(sizeof *count * DIGITS, "swarm order");
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++) count[d][a[i].key >> (d * DIGIT) & (VALUES - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        int64_t *at = count[d], sum = 0;
        if (n == 0 || at[a[0].key >> (d * DIGIT) & (VALUES - 1)] == n) continue;
        for (int v = 0; v < VALUES; v++) {
            int64_t here = at[v];
            at[v] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < n; i++) b[at[a[i].key >> (d * DIGIT) & (VALUES - 1)]++] = a[i];
        struct item *swap = a;
        a = b;
        b = swap;
    }
    FREE(count);
    return a;
}

int64_t *swarm_order(const struct swarm *s)
{
    int64_t n = s->n, *order = mem_new(sizeof *order * (size_t)n + 1, "swarm order");
    struct item *item = mem_new(sizeof *item * 2 * (size_t)n + 1, "swarm order");
#pragma omp parallel for schedule(static) if (n > SWARM_FEW)
    for (int64_t i = 0; i < n; i++) {
        const double x[3] = {s->x[0][i], s->x[1][i], s->x[2][i]};
        item[i] = (struct item){near_key(&s->frame, x), i};
    }
    const struct item *in_order = sorted(item, item + n, n);
    for (int64_t i = 0; i < n; i++) order[i] = in_order[i].row;
    FREE(item);
    return order;
}

void swarm_arrange(struct swarm *s, const int64_t *order)
{
    size_t widest = 1;
    for (int k = 0; k < s->ncolumn; k++)
        if (s->column[k].moves && s->column[k].bytes > widest) widest = s->column[k].bytes;
    char *old = mem_new(widest * (size_t)s->n + 1, "swarm order");
    for (int k = 0; k < s->ncolumn && s->n > 0; k++) {
        const struct swarm_column *col = &s->column[k];
        if (!col->moves) continue;
        memcpy(old, *col->data, col->bytes * (size_t)s->n);
        swarm_gather(*col->data, old, col->bytes, s->n, order);
    }
    FREE(old);
}
