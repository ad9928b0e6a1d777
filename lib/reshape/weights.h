/* reshape/weights: the number of octs and particles in each part of the box, to divide the box into
 * equal shares before the data are read.
 *
 * A table gives, for octs of all levels down to one, the octs and particles in them and in their
 * descendants. The finest level of the table is the deepest at which the number of rows stays
 * within a limit. This level follows from the octs alone, and counts are integers, so the domains
 * do not depend on which rank reads which file. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"

struct weights {
    int64_t limit, n, cap; /* maximum number of rows; number of rows; rows allocated */
    /* finest level with rows: a finer oct is counted in its ancestor of this level */
    int level;
    struct weight {
        okey code; /* key with a leading 1 bit, which encodes the level; 0: empty row */
        int64_t octs, parts, clouds;
    } * row; /* hash table */
    int64_t octs[LEVEL_MAX + 2];
    struct weight *last;
};

void weights_begin(struct weights *w, int64_t limit);
void weights_end(struct weights *w);
void weights_add_octs(struct weights *w, int level, int n, const okey *key);
/* adds a particle in this oct */
void weights_add_part(struct weights *w, int level, okey key, bool cloud);
/* Distributes the rows of all ranks, each to one rank; afterwards `row` is a list of n rows.
 * (collective) */
void weights_merge(struct weights *w, const struct comm *c);
int weight_level(okey code);
okey weight_key(okey code);
