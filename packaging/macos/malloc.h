/* The header of glibc, for macOS: its allocator has no such settings. */
#pragma once
#include <stdlib.h>

enum { M_TRIM_THRESHOLD = -1, M_MMAP_THRESHOLD = -3 };

static inline int mallopt(int what, int value)
{
    (void)what, (void)value;
    return 0;
}
