/* dom/created: the octs of the next finer level that flags create and remove, and the list of keys
 * that follows. Local; private to dom. */
#pragma once
#include "oct/mesh.h"

struct keyref {
    okey key;
    int64_t at;
};

struct created_place {
    lidx parent;
    int cell, rank; /* owner of the new oct */
};

/* Cells of own octs that are flagged and not split; flags all. */
int64_t created_count(const struct level *lv);
/* Own octs of lv whose cells of up are not flagged. */
int64_t created_removed(const struct level *lv, const struct level *up);
/* The n places of created octs, in the order of their keys; rank 0. */
void created_find(const struct level *lv, int64_t n, struct created_place *place);
/* The keys of the own octs of lv that stay, merged with n others (ascending), into own; their
 * number. */
lidx created_merge(const struct level *lv, const struct level *up, int64_t n,
                   const struct keyref *ref, okey *own);
