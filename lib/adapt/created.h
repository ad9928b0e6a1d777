/* adapt/created: the octs of the next finer level that flags create and remove, and the list of
 * keys that follows. Local. Private to adapt. */
#pragma once
#include "oct/mesh.h"

/* A created oct: where it stood in a list before that was sorted, and its index in the level. */
struct keyref {
    okey key;
    lidx at, oct;
};

/* n of them, ascending (owner: caller). */
struct keyref *keyrefs_sort(const okey *key, int64_t n);

struct created_cell {
    lidx parent;
    int cell, rank; /* owner of the new oct */
};

/* Cells of own octs that are flagged and not split; flags all. */
int64_t created_count(const struct level *lv);
/* Own octs of lv whose cells of up are not flagged. */
int64_t created_removed(const struct level *lv, const struct level *up);
/* The n places of created octs, in the order of their keys; rank 0. */
void created_find(const struct level *lv, int64_t n, struct created_cell *location);
/* The keys of the own octs of lv that stay, merged with n others (ascending), into own, with the
 * index of each before, or −1, in from; their number. The others receive theirs. */
lidx created_merge(const struct level *lv, const struct level *up, int64_t n, struct keyref *ref,
                   okey *own, lidx *from);
