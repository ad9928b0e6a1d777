/* audit/tree_table: the tree of a checkpoint without its values: a row of 16 bytes per oct, by
 * level, in Morton order. It allows random access to octs while values are read in batches. */
#pragma once
#include "ckpt/source.h"

struct tree_row {
    okey key;
    int32_t piece;
    unsigned char split, mark; /* bit mask of refined cells · bits for the caller */
};

struct tree_table {
    int64_t n[LEVEL_MAX + 2], base[LEVEL_MAX + 3]; /* rows per level · row offset per level */
    struct tree_row *row[LEVEL_MAX + 2];
};

/* Reads all pieces without values. Octs may occur twice or lack a parent. */
MUST_USE enum err tree_table_read(struct source *s, struct tree_table *t);
void tree_table_free(struct tree_table *t);
/* NULL: not found */
struct tree_row *tree_table_find(const struct tree_table *t, int level, okey key);
