/* adapt/created: the octs of the next finer level that flags create and remove, and the resulting
 * list of keys. Local. Private to adapt. */
#pragma once
#include "oct/bits.h"
#include "oct/mesh.h"

/* A created oct: its index in the unsorted list and its index in the level. */
struct keyref {
    okey key;
    lidx at, oct;
};

/* References to n keys, sorted by key (owner: caller). */
struct keyref *keyrefs_sort(const okey *key, int64_t n);

struct created_cell {
    lidx parent;
    int cell, rank; /* owner of the new oct */
};

/* Bit mask of the cells of oct i that are flagged and not split; empty for most octs. */
static inline unsigned cells_created(const struct level *lv, lidx i)
{
    unsigned flags = bits_of_bytes(lv->flag[i]);
    return flags ? flags & bits_of_leaves(lv->child[i]) : 0;
}

/* The number of cells of own octs that are flagged and not split; ghosts are not counted. */
int64_t created_count(const struct level *lv);
/* The number of own octs of lv whose parent cells in `up` are not flagged. */
int64_t created_removed(const struct level *lv, const struct level *up);
/* Lists the n cells in which octs are created, in key order; the owner is set to rank 0. */
void created_find(const struct level *lv, int64_t n, struct created_cell *location);
/* Merges the keys of the retained own octs of lv with n created octs (ascending) into `own`. `from`
 * receives the old index of each oct, or −1 for a created oct, and ref[].oct the new index. Returns
 * the merged number of octs. */
lidx created_merge(const struct level *lv, const struct level *up, int64_t n, struct keyref *ref,
                   okey *own, lidx *from);
