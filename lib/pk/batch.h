/* pk/batch: collects items one by one on ranks with different numbers of items. Adding to the mesh
 * is collective: a rank whose batch is full, or that has no more items, waits for the others. */
#pragma once
#include "base/sum.h"
#include "pk/pk.h"

struct pk_batch {
    const struct comm *c;
    struct pk *pk; /* meshes; NULL: only the mass is added up */
    struct pk_item *item;
    int64_t n;
    struct sum_batch total;
};

void pk_batch_begin(struct pk_batch *b, const struct comm *c, struct pk *pk);
void pk_batch_put(struct pk_batch *b, const struct pk_item *item);
/* returns the mass of all items of all ranks (collective) */
double pk_batch_end(struct pk_batch *b);
