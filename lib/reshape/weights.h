/* reshape/weights: what each part of the box holds, for cutting it into equal shares before the
 * data is read.
 *
 * A table from oct to what lies in it and its descendants, octs of all levels down to one at which
 * the table has a bounded number of rows. That level follows from the octs alone, and counts are
 * whole numbers: whoever reads which file, the domains are the same. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"

struct weights {
    int64_t limit, n, cap; /* rows wanted at most, rows, room */
    int level;             /* deeper octs count with their ancestor of this level */
    struct weight {
        okey code; /* 1 before the key: gives the level too; 0: no row */
        int64_t octs, parts, clouds;
    } * row; /* hashed */
    int64_t octs[LEVEL_MAX + 2];
    struct weight *last;
};

void weights_begin(struct weights *w, int64_t limit);
void weights_end(struct weights *w);
void weights_add_octs(struct weights *w, int level, int n, const okey *key);
void weights_add_part(struct weights *w, int level, okey key, bool cloud); /* in this oct */
/* Each row of all ranks on one rank; then `row` is a list of n. (collective) */
void weights_merge(struct weights *w, const struct comm *c);
int weight_level(okey code);
okey weight_key(okey code);
