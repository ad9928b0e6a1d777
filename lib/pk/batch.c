#include "pk/batch.h"

#include "base/mem.h"

enum { ITEMS = 1 << 16 };

void pk_batch_begin(struct pk_batch *b, const struct comm *c, struct pk *pk)
{
    *b = (struct pk_batch){.c = c, .pk = pk};
    if (pk) b->item = mem_new(sizeof *b->item * ITEMS, "pk batch");
    sum_batch_begin(&b->total);
}

/* Adds the batches of all ranks, also of ranks without items. Returns whether any rank has more. */
static bool deliver(struct pk_batch *b, bool go_on)
{
    int64_t any = go_on;
    comm_max_i64(b->c, &any, 1);
    pk_add(b->pk, b->n, b->item);
    b->n = 0;
    return any;
}

void pk_batch_put(struct pk_batch *b, const struct pk_item *item)
{
    sum_batch_add(&b->total, item->m);
    if (!b->pk) return;
    b->item[b->n++] = *item;
    if (b->n == ITEMS) deliver(b, true);
}

double pk_batch_end(struct pk_batch *b)
{
    bool more = b->pk != NULL;
    while (more) more = deliver(b, false);
    FREE(b->item);
    sum_batch_end(&b->total);
    comm_sum(b->c, &b->total.sum);
    return sum_get(&b->total.sum);
}
