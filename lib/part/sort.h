/* part/sort: sorts particles begin..end-1 by their host, if it is worth the time. Local.
 * Private to part. */
#pragma once
#include "part/part.h"

/* Makes room in the scratch rows of n particles; keeps what they hold. */
void part_scratch_reserve(struct parts *p, int64_t n);
/* Gives them back; nothing is kept in them. */
void part_scratch_free(struct parts *p);
/* Invalidates what part_synchro has kept for level l and finer levels. */
void part_forget(struct parts *p, int l);
void part_sort(struct parts *p, int64_t begin, int64_t end);
