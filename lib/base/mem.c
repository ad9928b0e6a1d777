/* base/mem: a 64-byte header before each block holds its size and row in the table of names. */
#include "base/mem.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/err.h"

enum { ROWS = 256, HEAD = 64 };

struct head {
    size_t bytes;
    size_t row;
    size_t magic;
};

static struct {
    const char *name;
    size_t now, peak;
} rows[ROWS];
static size_t nrow, total_now, total_peak;

static const size_t MAGIC = 0x50746168a110c8edu;

static size_t row_find(const char *name)
{
    for (size_t i = 0; i < nrow; i++)
        if (rows[i].name == name || strcmp(rows[i].name, name) == 0) return i;
    BUG_ON(nrow == ROWS);
    rows[nrow].name = name;
    return nrow++;
}

static void account(size_t row, size_t add, size_t sub)
{
    rows[row].now += add - sub;
    if (rows[row].now > rows[row].peak) rows[row].peak = rows[row].now;
    total_now += add - sub;
    if (total_now > total_peak) total_peak = total_now;
}

/* Levels' arrays are replaced many times a step: keep what is freed, up to KEEP, instead of paying for fresh pages. */
static void settle_heap(void)
{
    static bool settled;
    enum { KEEP = 256 << 20, LARGEST = 32 << 20 };
    if (settled) return;
    settled = true;
    mallopt(M_MMAP_THRESHOLD, LARGEST);
    mallopt(M_TRIM_THRESHOLD, KEEP);
}

void *mem_new(size_t bytes, const char *name)
{
    settle_heap();
    char *p = NULL;
    size_t size = (bytes + 2 * HEAD - 1) / HEAD * HEAD;
    if (bytes > (size_t)1 << 48 || !(p = aligned_alloc(HEAD, size))) {
        fprintf(stderr, "ptah: out of memory: %s needs %zu bytes, %zu are held\n", name, bytes, total_now);
        exit(2);
    }
    struct head *h = (struct head *)p;
#pragma omp critical(mem)
    {
        size_t row = row_find(name);
        *h = (struct head){.bytes = bytes, .row = row, .magic = MAGIC};
        account(row, bytes, 0);
    }
    return p + HEAD;
}

void *mem_zero(size_t bytes, const char *name)
{
    return memset(mem_new(bytes, name), 0, bytes);
}

static struct head *head_of(void *p)
{
    struct head *h = (struct head *)((char *)p - HEAD);
    BUG_ON(h->magic != MAGIC);
    return h;
}

void *mem_grow(void *p, size_t bytes, const char *name)
{
    void *q = mem_new(bytes, name);
    if (p) {
        size_t old = head_of(p)->bytes;
        memcpy(q, p, old < bytes ? old : bytes);
        mem_free(p);
    }
    return q;
}

void mem_free(void *p)
{
    if (!p) return;
    struct head *h = head_of(p);
#pragma omp critical(mem)
    account(h->row, 0, h->bytes);
    h->magic = 0;
    free(h);
}

size_t mem_now(void)
{
    return total_now;
}

size_t mem_peak(void)
{
    return total_peak;
}

size_t mem_peak_rss(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (size_t)r.ru_maxrss * 1024;
}

void mem_print(FILE *out)
{
    fprintf(out, "%-28s %14s %14s\n", "memory", "now [bytes]", "peak [bytes]");
    for (size_t i = 0; i < nrow; i++) fprintf(out, "%-28s %14zu %14zu\n", rows[i].name, rows[i].now, rows[i].peak);
    fprintf(out, "%-28s %14zu %14zu\n", "total", total_now, total_peak);
}
