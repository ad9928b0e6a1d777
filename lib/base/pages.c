#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CACHED = 64 };
static struct cached {
    char *at;
    size_t bytes;
} cached[CACHED];
static int ncached;
/* bytes in use now, maximum since pages_trim, maximum of the stretch before */
static size_t used, max, max_before, cached_bytes;

size_t pages_round(size_t bytes)
{
    static size_t page;
    if (!page) page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static struct cached take(int i)
{
    struct cached k = cached[i];
    cached_bytes -= k.bytes;
    cached[i] = cached[--ncached];
    return k;
}

/* Index of the smallest cached block of at least `bytes`, else of the largest; -1 if none. */
static int find(size_t bytes)
{
    int best = -1;
    for (int i = 0; i < ncached; i++) {
        if (best < 0) {
            best = i;
            continue;
        }
        bool fits = cached[i].bytes >= bytes, best_fits = cached[best].bytes >= bytes;
        bool smaller = cached[i].bytes < cached[best].bytes;
        if (fits != best_fits ? fits : fits == smaller) best = i;
    }
    return best;
}

/* Caches a free block, joined with its neighbours, so that a later request can use all of it. */
static void keep(char *at, size_t bytes)
{
    if (bytes == 0) return;
    for (int i = ncached - 1; i >= 0; i--) {
        if (cached[i].at + cached[i].bytes != at && at + bytes != cached[i].at) continue;
        struct cached k = take(i);
        at = k.at < at ? k.at : at;
        bytes += k.bytes;
    }
    if (ncached == CACHED) {
        struct cached min = take(find(0));
        munmap(min.at, min.bytes);
    }
    cached[ncached++] = (struct cached){at, bytes};
    cached_bytes += bytes;
}

/* Returns to the system the cached pages that exceed the maximum of both stretches. */
static void settle(void)
{
    if (used > max) max = used;
    size_t limit = max > max_before ? max : max_before;
    while (used + cached_bytes > limit) {
        size_t over = used + cached_bytes - limit;
        struct cached k = take(find(over));
        size_t cut = over < k.bytes ? over : k.bytes;
        munmap(k.at + k.bytes - cut, cut);
        keep(k.at, k.bytes - cut);
    }
}

void *pages_get(size_t bytes, size_t *old)
{
    int i = find(bytes);
    void *p;
    *old = 0;
    if (i < 0) {
        p = map(bytes);
    } else {
        struct cached k = take(i);
        p = k.at;
        *old = k.bytes < bytes ? k.bytes : bytes;
        if (k.bytes >= bytes)
            keep(k.at + bytes, k.bytes - bytes);
        else if ((p = mremap(k.at, k.bytes, bytes, MREMAP_MAYMOVE)) == MAP_FAILED) {
            munmap(k.at, k.bytes);
            p = map(bytes);
            *old = 0;
        }
    }
    if (!p) return NULL;
    used += bytes;
    settle();
    return p;
}

void pages_put(void *p, size_t bytes)
{
    used -= bytes;
    keep(p, bytes);
}

void pages_trim(void)
{
    max_before = max;
    max = used;
    settle();
}

void pages_wide(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    /* Kernels without large pages refuse; the block then has small ones. */
    (void)!madvise(p, bytes, MADV_HUGEPAGE);
#endif
}

void pages_touch(void *p, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    size_t page = pages_round(1);
    uintptr_t first = (uintptr_t)p / page * page, last = pages_round((uintptr_t)p + bytes);
    /* Kernels without MADV_POPULATE_WRITE fault pages one by one. */
    if (last > first) (void)!madvise((void *)first, last - first, MADV_POPULATE_WRITE);
#endif
}

void *pages_resize(void *p, size_t bytes, size_t want)
{
    void *q = mremap(p, bytes, want, MREMAP_MAYMOVE);
    if (q == MAP_FAILED) { /* a joined block may consist of two mappings */
        if (!(q = map(want))) return NULL;
        memcpy(q, p, bytes < want ? bytes : want);
        munmap(p, bytes);
    }
    used += want - bytes;
    settle();
    return q;
}
