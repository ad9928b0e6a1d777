/* part/part_sort: sorts particles begin..end-1 by their host, if it is worth the time. Private to
 * part. Local. */
#pragma once
#include "part/part.h"

/* Makes room to sort n particles at a time. */
void part_sort_reserve(struct parts *p, int64_t n);
void part_sort(struct parts *p, int64_t begin, int64_t end);
