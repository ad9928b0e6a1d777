/* smooth/select: candidates and lists of neighbours. */
#include "smooth/select.h"

#include <math.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/mem.h"

static const char NAME[] = "neighbours of particles";

static void crowd_room(struct smooth_crowd *c, int64_t n)
{
    if (n <= c->room) return;
    c->room = n + n / 2 + 8 * SMOOTH_PARTS;
    const size_t bytes = (size_t)c->room * sizeof(double);
    for (int k = 0; k < 3; k++) c->x[k] = mem_grow(c->x[k], bytes, NAME);
    c->r2 = mem_grow(c->r2, bytes, NAME);
    c->at = mem_grow(c->at, bytes, NAME);
}

/* Appends points from number `first` to before `end` of the order of the tree. */
static void crowd_run(struct smooth_crowd *c, int64_t first, int64_t end)
{
    const size_t bytes = (size_t)(end - first) * sizeof(double);
    crowd_room(c, c->n + end - first + SMOOTH_PARTS);
    for (int k = 0; k < 3; k++) memcpy(c->x[k] + c->n, c->near->x[k] + first, bytes);
    if (c->reach2) memcpy(c->r2 + c->n, c->reach2 + first, bytes);
    for (int64_t i = first; i < end; i++) c->at[c->n++] = i;
}

void smooth_crowd_free(struct smooth_crowd *c)
{
    for (int k = 0; k < 3; k++) FREE(c->x[k]);
    FREE(c->r2);
    FREE(c->at);
    near_list_free(&c->list);
}

static void list_room(struct smooth_list *l, int64_t n)
{
    if (n + 2 * SMOOTH_PARTS <= l->room) return;
    l->room = n + n / 2 + 4 * SMOOTH_PARTS;
    const size_t bytes = (size_t)l->room * sizeof(double);
    l->at = mem_grow(l->at, bytes, NAME);
    l->r = mem_grow(l->r, bytes, NAME);
    for (int k = 0; k < 3; k++) l->d[k] = mem_grow(l->d[k], bytes, NAME);
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* Halves of four numbers in the order in which those of a mask come first. */
#define PAIR(k) 2 * (k), 2 * (k) + 1
#define FIRST(a, b, c, d)                                                                          \
    {                                                                                              \
        PAIR(a), PAIR(b), PAIR(c), PAIR(d)                                                         \
    }
static const int32_t KEPT[16][8] __attribute__((aligned(32))) = {
    FIRST(0, 0, 0, 0), FIRST(0, 0, 0, 0), FIRST(1, 0, 0, 0), FIRST(0, 1, 0, 0),
    FIRST(2, 0, 0, 0), FIRST(0, 2, 0, 0), FIRST(1, 2, 0, 0), FIRST(0, 1, 2, 0),
    FIRST(3, 0, 0, 0), FIRST(0, 3, 0, 0), FIRST(1, 3, 0, 0), FIRST(0, 1, 3, 0),
    FIRST(2, 3, 0, 0), FIRST(0, 2, 3, 0), FIRST(1, 2, 3, 0), FIRST(0, 1, 2, 3)};
#endif

/* Which elements of a vector are kept: those with a < b. */
#if defined(__AVX512F__)
typedef __mmask8 kept;
VEC_INLINE kept below(vec a, vec b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
}
#elif defined(__AVX2__)
typedef int kept;
VEC_INLINE kept below(vec a, vec b)
{
    return _mm256_movemask_pd((__m256d)(a < b));
}
#else
typedef vec_bits kept;
VEC_INLINE kept below(vec a, vec b)
{
    return (vec_bits)(a < b);
}
#endif

VEC_INLINE int64_t count(kept keep)
{
#ifdef __AVX2__
    return __builtin_popcount((unsigned)keep);
#else
    int64_t n = 0;
    for (int k = 0; k < VEC; k++) n += (int64_t)(keep[k] & 1);
    return n;
#endif
}

/* Writes the kept ones of VEC numbers of eight bytes, first, and something behind them up to VEC;
 * they may lie in the same place or before. */
VEC_INLINE void pack(void *to, const void *from, kept keep)
{
#if defined(__AVX512F__)
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(keep, _mm512_loadu_si512(from)));
#elif defined(__AVX2__)
    const __m256i order = _mm256_load_si256((const __m256i *)KEPT[keep]);
    _mm256_storeu_si256(to, _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from), order));
#else
    uint64_t x[VEC], y[VEC] = {0};
    int n = 0;
    memcpy(x, from, sizeof x);
    for (int k = 0; k < VEC; k++) {
        y[n] = x[k];
        n += (int)(keep[k] & 1);
    }
    memcpy(to, y, sizeof y);
#endif
}

/* How far a coordinate is from an interval, or, along a periodic axis, from the nearest of its
 * images. Rounding is monotonic: never farther than from a point of the interval. */
VEC_INLINE vec outside(vec x, double lo, double hi, double period)
{
    const vec below_lo = lo - x, above_hi = x - hi;
    vec far = vec_max(below_lo, above_hi);
    if (period > 0) {
        far = vec_min(far, vec_max(below_lo + period, above_hi - period));
        far = vec_min(far, vec_max(below_lo - period, above_hi + period));
    }
    return vec_max(far, vec_of(0.0));
}

/* Drops the candidates that are too far from the box of the leaf. */
static void cull(struct smooth_crowd *c)
{
    const double radius2 = c->radius * c->radius, *period = c->near->frame.period;
    const double wrap[3] = {c->wraps ? period[0] : 0, c->wraps ? period[1] : 0,
                            c->wraps ? period[2] : 0};
    double lo[3], hi[3];
    int64_t n = 0;
    near_leaf_box(c->near, c->leaf, lo, hi);
    for (int64_t i = 0; i < c->n; i += VEC) {
        const vec dx = outside(vec_load(c->x[0] + i), lo[0], hi[0], wrap[0]),
                  dy = outside(vec_load(c->x[1] + i), lo[1], hi[1], wrap[1]),
                  dz = outside(vec_load(c->x[2] + i), lo[2], hi[2], wrap[2]);
        vec most = vec_of(radius2);
        if (c->reach2) most = vec_max(most, vec_load(c->r2 + i));
        const kept keep = below(dx * dx + dy * dy + dz * dz, most);
        for (int k = 0; k < 3; k++) pack(c->x[k] + n, c->x[k] + i, keep);
        if (c->reach2) pack(c->r2 + n, c->r2 + i, keep);
        pack(c->at + n, c->at + i, keep);
        n += count(keep);
    }
    c->n = n;
}

/* Points at infinity, which are near nothing. */
static void end_with_none(struct smooth_crowd *c)
{
    for (int64_t i = c->n; i < c->n + SMOOTH_PARTS; i++) {
        c->x[0][i] = c->x[1][i] = c->x[2][i] = INFINITY;
        c->r2[i] = 0, c->at[i] = 0;
    }
}

void smooth_crowd_gather(struct smooth_crowd *c, int64_t leaf, double radius)
{
    const struct near_list *l = &c->list;
    const int64_t *first = c->near->first;
    near_leaves(c->near, leaf, radius, c->reach2 != NULL, &c->list);
    c->leaf = leaf, c->radius = radius, c->n = 0, c->wraps = false;
    for (int64_t i = 0, next; i < l->n; i = next) {
        for (next = i; next < l->n && l->leaf[next] == l->leaf[i] + next - i; next++)
            c->wraps |= l->wraps[next];
        crowd_run(c, first[l->leaf[i]], first[l->leaf[next - 1] + 1]);
    }
    end_with_none(c);
    cull(c);
    end_with_none(c);
}

VEC_INLINE void select_near(const struct smooth_crowd *c, const double x[3], double limit2,
                            const bool wraps, const bool mutual, struct smooth_list *l)
{
    const double *period = c->near->frame.period;
    const vec x0 = vec_of(x[0]), x1 = vec_of(x[1]), x2 = vec_of(x[2]), limit = vec_of(limit2);
    int64_t n = 0, *at = l->at;
    for (int64_t i = 0; i < c->n; i += VEC) {
        vec dx = x0 - vec_load(c->x[0] + i), dy = x1 - vec_load(c->x[1] + i),
            dz = x2 - vec_load(c->x[2] + i);
        if (wraps && period[0] > 0) dx = smooth_nearest(dx, period[0]);
        if (wraps && period[1] > 0) dy = smooth_nearest(dy, period[1]);
        if (wraps && period[2] > 0) dz = smooth_nearest(dz, period[2]);
        const vec far2 = dx * dx + dy * dy + dz * dz;
        const vec most = mutual ? vec_max(limit, vec_load(c->r2 + i)) : limit;
        const kept keep = below(far2, most);
        pack(at + n, c->at + i, keep);
        n += count(keep);
    }
    l->n = n;
    l->padded = (n + SMOOTH_PARTS - 1) / SMOOTH_PARTS * SMOOTH_PARTS;
    const int64_t last = n > 0 ? at[n - 1] : 0;
    for (int k = 0; k < SMOOTH_PARTS; k++) at[n + k] = last;
}

/* The number of a point among the candidates. */
static int64_t crowd_find(const struct smooth_crowd *c, int64_t point)
{
    int64_t lo = 0, hi = c->n;
    while (hi - lo > 1) {
        const int64_t mid = (lo + hi) / 2;
        if (c->at[mid] <= point)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

void smooth_list_make(struct smooth_crowd *c, int64_t self, double limit2, bool alone,
                      struct smooth_list *l)
{
    const double *const *from = (const double *const *)c->near->x;
    const double x[3] = {from[0][self], from[1][self], from[2][self]};
    const int64_t own = alone ? crowd_find(c, self) : -1;
    list_room(l, c->n);
    if (alone) c->x[0][own] = INFINITY;
    if (c->reach2 && c->wraps)
        select_near(c, x, limit2, true, true, l);
    else if (c->reach2)
        select_near(c, x, limit2, false, true, l);
    else if (c->wraps)
        select_near(c, x, limit2, true, false, l);
    else
        select_near(c, x, limit2, false, false, l);
    if (alone) c->x[0][own] = x[0];
}

void smooth_list_far(const struct smooth_crowd *c, int64_t self, double beyond,
                     struct smooth_list *l)
{
    for (int64_t i = 0; i < l->padded; i += VEC) {
        vec d[3];
        smooth_apart(c, self, l->at + i, d);
        vec_store(l->d[0] + i, d[0]);
        vec_store(l->d[1] + i, d[1]);
        vec_store(l->d[2] + i, d[2]);
        vec_store(l->r + i, vec_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    for (int64_t i = l->n; i < l->padded; i++) l->r[i] = beyond;
}

void smooth_list_free(struct smooth_list *l)
{
    FREE(l->at);
    FREE(l->r);
    for (int k = 0; k < 3; k++) FREE(l->d[k]);
}

double *smooth_sorted(const struct near *t, const double *from)
{
    double *to = mem_new((size_t)(t->n + 1) * sizeof *to, "sorted particles");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->n; i++) to[i] = from[t->order[i]];
    return to;
}

bool smooth_leaf_owned(const struct near *t, int64_t leaf, int64_t n)
{
    for (int64_t i = t->first[leaf]; i < t->first[leaf + 1]; i++)
        if (t->order[i] < n) return true;
    return false;
}
