/* tree/radix_sort: sorts keys with point numbers, then the points in this order.
 *
 * A large set is divided once by its leading bits that differ, into parts that fit into the cache
 * of a core. Each part is then sorted by as many further bits as distinguish most of its keys,
 * least significant digit first; runs of keys that are still equal are sorted separately. Memory is
 * thus traversed twice, whatever the width of a key, and bits common to all keys cost nothing. */
#include "tree/tree_priv.h"

enum {
    SMALL = 24, /* maximum number of keys for insertion sort */
    /* maximum number of keys for which keys and numbers, twice, fill less than half of a 1 MiB
     * cache */
    LOCAL = 1 << 14,
    PART = 12, /* log2 of the number of keys in each part of a larger set */
    WIDE = 11, /* log2 of the maximum number of parts */
    SPARE = 6, /* bits in excess of log2 of the number of keys */
    THREADS_FROM = 1 << 16,
    AHEAD = 32 /* prefetch distance, elements */
};

static struct radix_items after(struct radix_items a, int64_t n)
{
    return (struct radix_items){a.key + n, a.order + n};
}

static void copy_items(struct radix_items from, struct radix_items to, int64_t n)
{
    memcpy(to.key, from.key, sizeof *to.key * (size_t)n);
    memcpy(to.order, from.order, sizeof *to.order * (size_t)n);
}

static void insert_items(struct radix_items a, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t key = a.key[i];
        int32_t point = a.order[i];
        int64_t k = i;
        for (; k > 0 && a.key[k - 1] > key; k--) {
            a.key[k] = a.key[k - 1];
            a.order[k] = a.order[k - 1];
        }
        a.key[k] = key;
        a.order[k] = point;
    }
}

/* Number of low bits below which keys may differ; 0: all keys are equal. */
static int bits_of(const uint64_t *key, int64_t n)
{
    uint64_t differ = 0, first = key[0];
#pragma omp parallel for simd reduction(| : differ) if (n > THREADS_FROM)
    for (int64_t i = 0; i < n; i++) differ |= key[i] ^ first;
    return differ ? 64 - __builtin_clzl(differ) : 0;
}

static int log2_above(int64_t n)
{
    return n > 1 ? 64 - __builtin_clzl((uint64_t)n - 1) : 0;
}

/* Stable counting sort by `bits` bits from bit `shift` upwards; start[2^bits + 1]: begin of each
 * value. */
static void scatter(struct radix_items a, struct radix_items b, int64_t n, int shift, int bits,
                    int64_t *start)
{
    const int64_t mask = (1 << bits) - 1;
    memset(start, 0, sizeof *start * (size_t)(mask + 2));
    for (int64_t i = 0; i < n; i++) start[1 + (a.key[i] >> shift & (uint64_t)mask)]++;
    for (int64_t k = 0; k < mask; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++) {
        int64_t to = start[a.key[i] >> shift & (uint64_t)mask]++;
        b.key[to] = a.key[i];
        b.order[to] = a.order[i];
    }
    for (int64_t k = mask + 1; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
}

static void sort_items(struct radix_items a, struct radix_items b, int64_t n, bool move);

/* Divides a large set from a into parts in b, and sorts each part; move: the result is wanted in
 * b. */
static void sort_large(struct radix_items a, struct radix_items b, int64_t n, int top, bool move)
{
    int64_t start[(1 << WIDE) + 1];
    int bits = log2_above(n) - PART;
    bits = bits < WIDE ? bits : WIDE;
    bits = bits < top ? bits : top;
    scatter(a, b, n, top - bits, bits, start);
#pragma omp parallel for schedule(dynamic, 1) if (n > THREADS_FROM)
    for (int k = 0; k < 1 << bits; k++)
        sort_items(after(b, start[k]), after(a, start[k]), start[k + 1] - start[k], !move);
}

/* Sorts by as many bits as distinguish most keys; then sorts runs that are equal in these bits. */
static void sort_local(struct radix_items a, struct radix_items b, int64_t n, int top, bool move)
{
    int64_t start[(1 << WIDE) + 1];
    int need = log2_above(n) + SPARE, passes;
    need = need < top ? need : top;
    passes = (need + WIDE - 1) / WIDE;
    const int bits = (need + passes - 1) / passes, low = top - bits * passes;
    const int shift = low > 0 ? low : 0;
    for (int p = 0; p < passes; p++) {
        scatter(a, b, n, shift + p * bits, bits, start);
        struct radix_items c = a;
        a = b, b = c, move = !move;
    }
    for (int64_t i = 0, end; shift && i < n; i = end) {
        for (end = i + 1; end < n && a.key[end] >> shift == a.key[i] >> shift; end++)
            ;
        if (end - i > 1) sort_items(after(a, i), after(b, i), end - i, false);
    }
    if (move) copy_items(a, b, n);
}

/* move: the sorted items are wanted in b, else in a. */
static void sort_items(struct radix_items a, struct radix_items b, int64_t n, bool move)
{
    if (n == 0) return;
    if (n <= SMALL) {
        insert_items(a, n);
        if (move) copy_items(a, b, n);
        return;
    }
    int top = bits_of(a.key, n);
    if (top && n > LOCAL)
        sort_large(a, b, n, top, move);
    else if (top)
        sort_local(a, b, n, top, move);
    else if (move)
        copy_items(a, b, n);
}

void radix_sort(struct radix_items a, struct radix_items scratch, int64_t n)
{
    sort_items(a, scratch, n, false);
}

/* ---- points in the order of their keys ---- */

void tree_gather(int64_t n, const int32_t *order, const double *from, double *to)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(&from[order[i + AHEAD]]);
        to[i] = from[order[i]];
    }
}

/* Sorts the arrays lent by the caller one after the other, through a copy. */
static void sort_lent(struct tree *t)
{
    size_t bytes = sizeof(double) * (size_t)t->p.n;
    double *old = mem_new(bytes + 1, "tree: points");
    for (int k = 0; k < 3; k++) {
        memcpy(old, t->x[k], bytes);
        tree_gather(t->p.n, t->order, old, t->x[k]);
    }
    FREE(old);
}

void tree_sort_points(struct tree *t)
{
    int64_t n = t->p.n;
    if (t->lent) {
        sort_lent(t);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const double *from = k < 3 ? t->p.x[k] : t->p.h;
        if (!from) continue;
        double *to = mem_new(sizeof *to * (size_t)(n + TREE_PAD), "tree: points");
        tree_gather(n, t->order, from, to);
        for (int i = 0; i < TREE_PAD; i++) to[n + i] = 0;
        *(k < 3 ? &t->x[k] : &t->h) = to;
    }
}
