/* audit/tree_table: the tree of a checkpoint without its values: a row of 16 bytes per oct, by
 * level, in Morton order. Code that looks up octs at random uses it while values are read in
 * batches. */
#pragma once
#include "ckpt/source.h"

struct tree_row {
    okey key;
    int32_t piece;
    unsigned char split, mark; /* bit c: cell c is refined · for the caller */
};

struct tree_table {
    int64_t n[LEVEL_MAX + 2], base[LEVEL_MAX + 3]; /* rows of a level · before it */
    struct tree_row *row[LEVEL_MAX + 2];
};

/* Reads all pieces without values. Nothing in the tree is assumed: octs may occur twice, or without
 * a parent. */
MUST_USE enum err tree_table_read(struct source *s, struct tree_table *t);
void tree_table_free(struct tree_table *t);
struct tree_row *tree_table_find(const struct tree_table *t, int level, okey key); /* or NULL */
