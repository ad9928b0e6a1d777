/* reshape/weights: the number of octs and particles in each part of the box, to divide the box into
 * equal shares before the data are read.
 *
 * A table gives, for octs of all levels down to one, the octs and particles in them and in their
 * descendants. That level is the deepest at which the number of rows is bounded. It follows from
 * the octs alone, and counts are integers, so the domains do not depend on which rank reads which
 * file. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"

struct weights {
    int64_t limit, n, cap; /* max number of rows, rows, rows allocated */
    int level;             /* finer octs are counted in their ancestor of this level */
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
/* Distributes the rows of all ranks, each to one rank; then `row` is a list of n. (collective) */
void weights_merge(struct weights *w, const struct comm *c);
int weight_level(okey code);
okey weight_key(okey code);
