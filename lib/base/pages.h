/* base/pages: large blocks in whole pages directly from the system for base/mem.
 *
 * The arrays of levels are replaced many times per step. Freed pages are kept for the next block of
 * any size, by splitting blocks and by remapping page tables (mremap), so that no page is faulted
 * twice. Pages in use and kept pages together never exceed the max that was in use since the last
 * pages_trim but one. So the resident set is that of the account (mem_peak); with an ordinary heap
 * it was a third larger. Not for two threads at a time. */
#pragma once
#include <stddef.h>

size_t pages_round(size_t bytes); /* up to whole pages */
/* Whole pages; contents anything; NULL: none left. The first *old bytes were in use before: of the
 * others each page comes from the system when it is first written, or by pages_touch. */
void *pages_get(size_t bytes, size_t *old);
void pages_put(void *p, size_t bytes); /* as it was got */
/* A stretch of work ends: what neither it nor the one before needed goes back to the system. */
void pages_trim(void);
/* keeps the contents; may move; NULL: as it was */
void *pages_resize(void *p, size_t bytes, size_t want);
/* maps the whole pages of p..p+bytes-1 together */
void pages_touch(void *p, size_t bytes);
