/* base/mem: a 64-byte header before each block holds its size and its index in the table of names.
 * Large blocks consist of whole pages (base/pages); small ones come from the C library. */
#include "base/mem.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/pages.h"

/* clang has a name of its own for this */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

enum { ROWS = 256, HEAD = 64, COLOURS = 16, COLOUR = 256 };
#ifdef __SANITIZE_ADDRESS__
static const size_t LARGE = SIZE_MAX; /* sanitizers watch blocks of malloc only */
#else
static const size_t LARGE = 256 << 10;
#endif

struct head {
    size_t bytes;
    size_t row;
    size_t magic;
    char *pages; /* first page of a large block; NULL for a small one */
    size_t mapped;
    size_t old; /* approximate bytes at the start whose pages were in use before */
};

/* Blocks are multiples of HEAD; the address sanitizer is told the actual end. */
#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *p, size_t n);
#define POISON(p, n) __asan_poison_memory_region(p, n)
#else
#define POISON(p, n) (void)(p)
#endif

static struct mem_row rows[ROWS];
static size_t nrow, total_now, total_peak;
/* true if no memory was freed since total_peak rose; at_peak entries are then out of date */
static bool at_peak;

static const size_t MAGIC = 0x50746168a110c8edu;

/* Finds the row of a name. Linkers merge equal literals, so comparing pointers mostly suffices. */
static size_t row_find(const char *name)
{
    for (size_t i = 0; i < nrow; i++)
        if (rows[i].name == name) return i;
    for (size_t i = 0; i < nrow; i++)
        if (strcmp(rows[i].name, name) == 0) return i;
    BUG_ON(nrow == ROWS);
    rows[nrow].name = name;
    return nrow++;
}

static void keep_peak(void)
{
    if (!at_peak) return;
    for (size_t i = 0; i < nrow; i++) rows[i].at_peak = rows[i].now;
    at_peak = false;
}

static void account(size_t row, size_t add, size_t sub)
{
    if (sub) keep_peak();
    rows[row].now += add - sub;
    if (rows[row].now > rows[row].peak) rows[row].peak = rows[row].now;
    total_now += add - sub;
    if (total_now <= total_peak) return;
    total_peak = total_now;
    at_peak = true;
}

_Noreturn static void none_left(size_t bytes, const char *name)
{
    char sentence[256];
    fflush(stdout);
    snprintf(sentence, sizeof sentence, "ptah: out of memory: %s needs %zu bytes, %zu are held\n",
             name, bytes, total_now);
    alloc_end(sentence);
}

_Noreturn void mem_exhausted(const char *library)
{
    char sentence[256];
    fflush(stdout);
    snprintf(sentence, sizeof sentence, "ptah: out of memory in %s; %zu bytes are held\n", library,
             total_now);
    alloc_end(sentence);
}

/* Allocates a large block. Blocks begin at different offsets in their first page, so that arrays
 * read together do not compete for cache sets. */
static struct head *large_new(size_t bytes)
{
    static size_t colour;
    size_t skip = colour++ % COLOURS * COLOUR, mapped = pages_round(skip + HEAD + bytes);
    size_t old;
    char *p = pages_get(mapped, &old);
    if (!p) return NULL;
    struct head *h = (struct head *)(p + skip);
    *h = (struct head){.pages = p, .mapped = mapped, .old = old};
    return h;
}

/* Free memory at the end of the heap that the C library keeps. What recurs in each step, such as
 * the sums of a frame of a movie, is then not taken anew from the system, page by page. Without a
 * threshold for blocks of their own, the library would map each block above 128 kB anew. */
enum { KEPT = 8 << 20 };

static bool keeps_small; /* freed blocks of up to 8 kB; set by keep_heap */

static void keep_heap(void)
{
    static bool done;
    if (done) return;
    done = true;
    keeps_small = LARGE != SIZE_MAX && !getenv("PTAH_VALGRIND");
#ifdef M_TRIM_THRESHOLD
    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_MMAP_THRESHOLD, 2 * (256 << 10));
#endif
}

/* Freed blocks of up to 8 kB, of a few sizes in units of HEAD: the lists of a step are wanted again
 * in the next one, a little longer or shorter, and the C library cuts aligned blocks from its heap
 * anew each time. At most 230 kB are kept. */
static const unsigned char SIZES[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
enum { SHELVES = sizeof SIZES, SHELF = 8 };
static struct shelf {
    int n;
    struct head *block[SHELF];
} shelves[SHELVES];

/* Returns the size of a block with its header, in units of HEAD; *of is the shelf of such blocks,
 * NULL if they are not kept. */
static size_t units_of(size_t bytes, struct shelf **of)
{
    const size_t units = (bytes + 2 * HEAD - 1) / HEAD;
    int k = 0;
    *of = NULL;
    /* sanitizers and valgrind watch blocks of malloc only */
    if (!keeps_small || units > SIZES[SHELVES - 1]) return units;
    while (SIZES[k] < units) k++;
    *of = &shelves[k];
    return SIZES[k];
}

static struct head *small_get(size_t bytes)
{
    struct shelf *of;
    const size_t units = units_of(bytes, &of);
    return of && of->n > 0 ? of->block[--of->n] : alloc_try(HEAD, units * HEAD);
}

static void small_put(struct head *h)
{
    struct shelf *of;
    units_of(h->bytes, &of);
    if (of && of->n < SHELF)
        of->block[of->n++] = h;
    else
        free(h);
}

static struct head *small_new(size_t bytes)
{
    keep_heap();
    struct head *h = small_get(bytes);
    if (h) *h = (struct head){0};
    return h;
}

void *mem_new(size_t bytes, const char *name)
{
    struct head *h = NULL;
#pragma omp critical(mem)
    {
        if (bytes <= (size_t)1 << 48) h = bytes >= LARGE ? large_new(bytes) : small_new(bytes);
        if (h) {
            h->bytes = bytes;
            h->row = row_find(name);
            h->magic = MAGIC;
            account(h->row, bytes, 0);
        }
    }
    if (!h) none_left(bytes, name);
    if (!h->pages)
        POISON((char *)h + HEAD + bytes, (bytes + 2 * HEAD - 1) / HEAD * HEAD - HEAD - bytes);
    return (char *)h + HEAD;
}

static struct head *head_of(void *p)
{
    struct head *h = (struct head *)((char *)p - HEAD);
    BUG_ON(h->magic != MAGIC);
    return h;
}

/* Size of the parts of large blocks that threads touch in turn. The pages of a part are requested
 * together, since faulting them one by one takes almost twice as long. */
static const size_t PART = 64 << 10;

static size_t part_of(size_t bytes, size_t at)
{
    return bytes - at < PART ? bytes - at : PART;
}

static void part_touch(char *p, size_t at)
{
    const struct head *h = head_of(p);
    if (at + PART > h->old) pages_touch(p + at, part_of(h->bytes, at));
}

/* Sets a part; zeros are written to pages that were in use before alone, since those from the
 * system have them. */
static void part_fill(char *p, size_t at, int byte)
{
    const struct head *h = head_of(p);
    part_touch(p, at);
    if (byte || at < h->old) memset(p + at, byte, part_of(h->bytes, at));
}

static void *fill(char *p, size_t bytes, int byte)
{
    if (bytes < LARGE) return memset(p, byte, bytes);
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < bytes; at += PART) part_fill(p, at, byte);
    return p;
}

void *mem_filled(size_t bytes, int byte, const char *name)
{
    return fill(mem_new(bytes, name), bytes, byte);
}

void *mem_zero(size_t bytes, const char *name)
{
    return mem_filled(bytes, 0, name);
}

void *mem_zero_wide(size_t bytes, const char *name)
{
    char *p = mem_new(bytes, name);
    mem_wide(p);
    return fill(p, bytes, 0);
}

void mem_wide(void *p)
{
    const struct head *h = head_of(p);
    if (h->pages) pages_wide(h->pages, h->mapped);
}

void mem_touch(void *p)
{
    const struct head *h = head_of(p);
    if (!h->pages || h->old >= h->bytes) return;
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < h->bytes; at += PART) part_touch(p, at);
}

/* Grows a large block in place or by remapping, keeping its pages. NULL if impossible. */
static void *large_grow(struct head *h, size_t bytes, const char *name)
{
    size_t skip = (size_t)((char *)h - h->pages), want = pages_round(skip + HEAD + bytes);
    char *p = NULL;
#pragma omp critical(mem)
    {
        account(h->row, 0, h->bytes);
        p = pages_resize(h->pages, h->mapped, want);
        if (p) {
            h = (struct head *)(p + skip);
            *h = (struct head){
                .bytes = bytes, .row = row_find(name), .magic = MAGIC, .pages = p, .mapped = want};
        }
        account(h->row, h->bytes, 0);
    }
    return p ? (char *)h + HEAD : NULL;
}

void *mem_grow(void *p, size_t bytes, const char *name)
{
    if (p && head_of(p)->pages && bytes >= LARGE && bytes <= (size_t)1 << 48) {
        void *same = large_grow(head_of(p), bytes, name);
        if (same) return same;
    }
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
    {
        account(h->row, 0, h->bytes);
        h->magic = 0;
        if (h->pages)
            pages_put(h->pages, h->mapped);
        else
            small_put(h);
    }
}

void mem_trim(void)
{
#pragma omp critical(mem)
    pages_trim();
}

void mem_count(const char *name, ptrdiff_t more)
{
#pragma omp critical(mem)
    account(row_find(name), more > 0 ? (size_t)more : 0, more < 0 ? (size_t)-more : 0);
}

size_t mem_now(void)
{
    return total_now;
}

size_t mem_peak(void)
{
    return total_peak;
}

size_t mem_rss(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return mem_peak_rss(); /* no Linux */
    if (fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

size_t mem_machine(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

size_t mem_peak_rss(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
#ifdef __APPLE__
    return (size_t)r.ru_maxrss;
#else
    return (size_t)r.ru_maxrss * 1024;
#endif
}

int mem_rows(void)
{
    return (int)nrow;
}

struct mem_row mem_row(int i)
{
    keep_peak();
    return rows[i];
}

void mem_print(FILE *out)
{
    keep_peak();
    fprintf(out, "%-28s %14s %14s %14s\n", "memory", "now [bytes]", "peak [bytes]", "at the peak");
    for (size_t i = 0; i < nrow; i++)
        fprintf(out, "%-28s %14zu %14zu %14zu\n", rows[i].name, rows[i].now, rows[i].peak,
                rows[i].at_peak);
    fprintf(out, "%-28s %14zu %14zu %14zu\n", "total", total_now, total_peak, total_peak);
}

char *mem_close_text(FILE *f, char **text, const size_t *bytes, const char *name)
{
    fclose(f);
    BUG_ON(!*text);
    char *copy = mem_new(*bytes + 1, name);
    memcpy(copy, *text, *bytes + 1);
    free(*text);
    return copy;
}
