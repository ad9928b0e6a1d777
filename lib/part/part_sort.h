/* part/part_sort: puts particles begin..end-1 in order of their host, if it is worth it. Private to
 * part. Local. */
#pragma once
#include "part/part.h"

void part_sort(struct parts *p, int64_t begin, int64_t end);
