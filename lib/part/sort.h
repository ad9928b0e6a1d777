/* part/sort: sorts particles begin..end-1 by their host, if that saves time. Local. Private to
 * part. */
#pragma once
#include "part/part.h"

/* Makes room for n particles in the scratch rows; keeps their contents. */
void part_scratch_reserve(struct parts *p, int64_t n);
/* Frees the scratch rows and drops their contents. */
void part_scratch_free(struct parts *p);
/* Invalidates the force cached by part_synchro for level l and finer levels. */
void part_forget(struct parts *p, int l);
void part_sort(struct parts *p, int64_t begin, int64_t end);
