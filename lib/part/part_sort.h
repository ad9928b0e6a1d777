/* part/part_sort: sorts particles begin..end-1 by their host, if it is worth the time. Private to
 * part. Local. */
#pragma once
#include "part/part.h"

/* Makes room in the scratch rows of n particles; keeps what they hold. */
void part_scratch_reserve(struct parts *p, int64_t n);
/* Gives them back; nothing is kept in them. */
void part_scratch_free(struct parts *p);
/* What part_synchro has kept for levels from l on no longer counts. */
void part_forget(struct parts *p, int l);
void part_sort(struct parts *p, int64_t begin, int64_t end);
