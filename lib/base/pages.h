/* base/pages: large blocks in whole pages directly from the system for base/mem.
 *
 * The arrays of levels are replaced many times per step. Freed pages are kept for the next block of
 * any size, by splitting blocks and by remapping page tables (mremap), so that no page is faulted
 * twice. Used and cached pages together never exceed the maximum in use since the last pages_trim
 * but one. So the resident set matches the account (mem_peak); with an ordinary heap it was a third
 * larger. Not thread-safe. */
#pragma once
#include <stddef.h>

size_t pages_round(size_t bytes); /* rounds up to whole pages */
/* Allocates whole pages with arbitrary contents; NULL if no memory is left. The first *old bytes
 * were in use before; each page after them is faulted in by its first write or by pages_touch. */
void *pages_get(size_t bytes, size_t *old);
void pages_put(void *p, size_t bytes); /* bytes as in pages_get */
/* Ends a stretch of work: pages that were needed neither in this stretch nor in the one before
 * return to the system. */
void pages_trim(void);
/* Resizes a block and keeps its contents; the block may move. NULL: the block is unchanged. */
void *pages_resize(void *p, size_t bytes, size_t want);
/* Asks the system for large pages (2 MiB) within a block that has not been touched yet. */
void pages_wide(void *p, size_t bytes);
/* Faults in all pages of p..p+bytes-1 together. */
void pages_touch(void *p, size_t bytes);
