/* part/sort: sort by host. A radix sort of (host, index) pairs, then each array is permuted through
 * one scratch array.
 *
 * A particle out of order costs little on the mesh side while its cloud lies in the patch of the
 * block of its neighbours in memory (block.h); further out it costs a gather of its own, as much as
 * sorting thirty particles: below that fraction of disorder nothing is sorted. Tracers read one
 * number of their oct, so that much more disorder costs less than a sort. */
#include "part/sort.h"

#include <omp.h>
#include <string.h>

#include "base/mem.h"

enum { DISORDER = 32, TRACERS_DISORDER = 2, NEAR = 6, BITS = 8, BITS_MAX = 16 };

/* Number of descents, or of returns to a row of 2^NEAR octs if these are more: particles in lattice
 * order have few descents, but leave each row after a few particles. */
static int64_t count_disorder(const lidx *host, int64_t n)
{
    int64_t descents = 0, changes = 0;
    lidx low = host[0], high = host[0];
#pragma omp parallel for simd schedule(static) reduction(+ : descents, changes) \
    reduction(min : low) reduction(max : high)
    for (int64_t i = 1; i < n; i++) {
        descents += host[i] < host[i - 1];
        changes += host[i] >> NEAR != host[i - 1] >> NEAR;
        low = low < host[i] ? low : host[i];
        high = high > host[i] ? high : host[i];
    }
    int64_t returns = changes - ((high >> NEAR) - (low >> NEAR));
    return descents > returns ? descents : returns;
}

/* Whether the order of particles begin..end-1 costs more than a sort. */
static bool out_of_order(const struct parts *p, int64_t begin, int64_t n)
{
    enum { CHUNK = 4096 };
    const lidx *host = p->host + begin;
    const int64_t disorder = count_disorder(host, n);
    if (disorder * DISORDER <= n) return false;
    if (!p->tracers || disorder * TRACERS_DISORDER > n) return true;
    int64_t mass = 0, descents = 0;
#pragma omp parallel for schedule(static) reduction(+ : mass, descents)
    for (int64_t b = 0; b < n; b += CHUNK) {
        lidx last = -1;
        for (int64_t i = b; i < n && i < b + CHUNK; i++) {
            if (!family_has_mass(p->family[begin + i])) continue;
            mass++;
            descents += host[i] < last;
            last = host[i];
        }
    }
    return descents * DISORDER > mass;
}

void part_scratch_reserve(struct parts *p, int64_t n)
{
    if (n <= p->scratch_cap) return;
    p->scratch_cap = p->cap; /* full capacity, so that a row can be swapped with a column */
    for (int k = 0; k < 3; k++)
        p->scratch[k] = mem_grow(p->scratch[k], sizeof(uint64_t) * (size_t)p->scratch_cap,
                                 "particle sort");
}

void part_scratch_free(struct parts *p)
{
    for (int k = 0; k < 3; k++) FREE(p->scratch[k]);
    p->scratch_cap = 0;
    part_forget(p, 0);
}

void part_forget(struct parts *p, int l)
{
    for (int k = l; k < LEVEL_MAX + 3; k++) p->retained[k] = 0;
}

/* One stable pass on the digit of `bits` at `shift`. count: [threads][2^bits]. */
static void radix_pass(const uint64_t *in, uint64_t *out, int64_t n, int shift, int bits,
                       int64_t *count)
{
    const size_t buckets = (size_t)1 << bits;
#pragma omp parallel
    {
        int t = omp_get_thread_num(), nt = omp_get_num_threads();
        int64_t begin = n * t / nt, end = n * (t + 1) / nt, *at = count + buckets * (size_t)t;
        memset(at, 0, sizeof *at * buckets);
        for (int64_t i = begin; i < end; i++) at[in[i] >> shift & (buckets - 1)]++;
#pragma omp barrier
#pragma omp single
        {
            int64_t sum = 0;
            for (size_t b = 0; b < buckets; b++)
                for (size_t s = 0; s < (size_t)nt; s++) {
                    int64_t k = count[buckets * s + b];
                    count[buckets * s + b] = sum;
                    sum += k;
                }
        }
        for (int64_t i = begin; i < end; i++) out[at[in[i] >> shift & (buckets - 1)]++] = in[i];
    }
}

/* Sorts by the high words, which are at most `top`, in as few passes as there are buckets for:
 * particles that are nearly in order count in a few of them at a time. Returns the array with the
 * result. */
static uint64_t *radix_sort(uint64_t *a, uint64_t *b, int64_t n, lidx top)
{
    int all = 1, most = BITS;
    while (all < 31 && top >> all > 0) all++;
    while (most < BITS_MAX && n >> (most + 3) > 0) most++; /* four particles a bucket */
    const int passes = (all + most - 1) / most, bits = (all + passes - 1) / passes;
    int64_t *count = mem_new((sizeof *count << bits) * (size_t)omp_get_max_threads(),
                             "particle sort");
    for (int k = 0; k < passes; k++) {
        radix_pass(a, b, n, 32 + k * bits, bits, count);
        uint64_t *swap = a;
        a = b;
        b = swap;
    }
    FREE(count);
    return a;
}

/* Permutes arrays of each element size from `a` to `out`; the low words of the order are indices
 * relative to the first. */
#define PERMUTE(name, word)                                                                        \
    static void name(const void *a, int64_t n, const uint64_t *order, void *out)                   \
    {                                                                                              \
        const word *from = a;                                                                      \
        word *to = out;                                                                            \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < n; i++)               \
            to[i] = from[(uint32_t)order[i]];                                                      \
    }
typedef uint64_t __attribute__((may_alias)) word8; /* also for doubles */
PERMUTE(permute8, word8)
PERMUTE(permute4, int32_t)
PERMUTE(permute2, int16_t)
PERMUTE(permute1, int8_t)

static void permute(size_t size, const void *a, int64_t n, const uint64_t *order, void *out)
{
    switch (size) {
    case 8:
        permute8(a, n, order, out);
        break;
    case 4:
        permute4(a, n, order, out);
        break;
    case 2:
        permute2(a, n, order, out);
        break;
    default:
        permute1(a, n, order, out);
        break;
    }
}

static void copy_bytes(char *to, const char *from, size_t n)
{
    enum { PIECE = 1 << 16 };
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < n; b += PIECE) memcpy(to + b, from + b, n - b < PIECE ? n - b : PIECE);
}

/* Permutes a column. It is swapped with a scratch row if that copies less and the row holds no
 * cached force (with begin > 0 it does, for coarser levels). */
static void permute_column(struct parts *p, int c, int64_t begin, int64_t n, const uint64_t *order,
                           void **row)
{
    size_t size = (size_t)part_type_size(part_column(&p->columns, c)->type);
    char *a = p->col[c], *tmp = *row;
    bool swap = size == 8 && begin == 0 && 2 * n > p->n && p->scratch_cap == p->cap;
    a += size * (size_t)begin;
    if (memcmp(a, a + size, size * (size_t)(n - 1)) == 0) return; /* all values are equal */
    tmp += 8 * (size_t)begin;
    permute(size, a, n, order, tmp);
    if (swap) {
        copy_bytes(tmp + 8 * n, a + 8 * n, 8 * (size_t)(p->n - n));
        *row = p->col[c];
        p->col[c] = tmp;
    } else {
        copy_bytes(a, tmp, size * (size_t)n);
    }
}

void part_sort(struct parts *p, int64_t begin, int64_t end)
{
    int64_t n = end - begin;
    const lidx *host = p->host + begin;
    if (n < 2 || !out_of_order(p, begin, n)) return;
    BUG_ON(n > UINT32_MAX);
    part_scratch_reserve(p, end);
    uint64_t *a = (uint64_t *)p->scratch[0] + begin, *b = (uint64_t *)p->scratch[1] + begin;
    lidx top = 0;
#pragma omp parallel for simd schedule(static) reduction(max : top)
    for (int64_t i = 0; i < n; i++) {
        a[i] = (uint64_t)host[i] << 32 | (uint64_t)i;
        top = top > host[i] ? top : host[i];
    }
    uint64_t *order = radix_sort(a, b, n, top);
    void **row = &p->scratch[order == a];
    for (int c = 0; c < p->columns.n; c++)
        if (p->columns.has[c]) permute_column(p, c, begin, n, order, row);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) p->host[begin + i] = (lidx)(order[i] >> 32);
}
