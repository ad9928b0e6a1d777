/* base/pages: large blocks in whole pages straight from the system; for base/mem alone.
 *
 * The arrays of levels are replaced many times a step. Freed pages are kept for the next block of
 * whatever size, by cutting and by moving page tables (mremap), so that nothing is paid for twice;
 * and what is in use and kept together never exceeds what was once in use. So the resident set is
 * that of the account (mem_peak), which a heap of blocks that change their sizes is far from: it
 * was a third more. Not for two threads at a time. */
#pragma once
#include <stddef.h>

size_t pages_round(size_t bytes); /* up to whole pages */
/* whole pages; contents anything; NULL: none left */
void *pages_get(size_t bytes);
void pages_put(void *p, size_t bytes); /* as it was got */
/* keeps the contents; may move; NULL: as it was */
void *pages_resize(void *p, size_t bytes, size_t want);
