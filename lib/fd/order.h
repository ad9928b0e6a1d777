/* fd/order: a substep of a box of cells with differences of one order, ORDER of the file that
 * includes this one; TABLE is the name of its table of functions. */
#pragma once
#ifdef __AVX__
#include <immintrin.h>
#endif
#include <string.h>

#include "fd/rows.h"

#define VEC_REGISTER /* must precede vec/vec.h */
#include "fd/rhs_kern.h"

#ifndef ORDER
#define ORDER 2
#define TABLE fd_advance_2
#endif

enum { PIECE = 64 / VEC }; /* vectors of a row that complete a stage before the next begins */

/* A vector of a piece: its first cell's number; its cells to advance, n from number `skip` on; the
 * number of its first cell in struct fd_ends, from −FD_END on in `first`, from 0 on in `last`; NONE
 * if it has no cell that the halo beyond x has. */
enum { NONE = FD_END };
struct span {
    int64_t at;
    int skip, n, end;
};

/* fd_put for n numbers. */
__attribute__((noinline)) static void put_some(struct fd_stage s, double *change, double *next,
                                               const double *now, const double *rate, int n)
{
    for (int i = 0; i < n; i++) {
        double w = rate[i] * s.dt;
        if (!s.fresh) w = change[i] * s.alpha + w;
        if (!s.last) change[i] = w;
        next[i] = now[i] + w * s.beta;
    }
}

/* Stores past the caches, where p begins a vector and the compiler can. */
VEC_INLINE void put_past(double *p, vec x)
{
    if ((uintptr_t)p % sizeof x == 0) {
#ifdef __AVX512F__
        _mm512_stream_pd(p, (__m512d)x);
        return;
#elif defined(__AVX__)
        _mm256_stream_pd(p, (__m256d)x);
        return;
#endif
    }
    vec_store(p, x);
}

/* Where the ends of a row keep a field of this vector. */
VEC_INLINE double *end_of(const struct fd_rows *r, enum fd_field f, struct span s)
{
    return s.end < 0 ? r->ends->first[f] + FD_END + s.end : r->ends->last[f] + s.end;
}

VEC_INLINE void put(const struct fd_rows *r, enum fd_field f, struct span s, vec rate)
{
    const int64_t at = s.at + s.skip;
    if (s.n == VEC) {
        const vec next = fd_put(&r->stage, r->change[f] + at, r->now[f] + at, rate);
        if (r->past)
            put_past(r->next[f] + at, next);
        else
            vec_store(r->next[f] + at, next);
        if (s.end != NONE) vec_store(end_of(r, f, s), next);
        return;
    }
    double rates[VEC];
    vec_store(rates, rate);
    put_some(r->stage, r->change[f] + at, r->next[f] + at, r->now[f] + at, rates + s.skip, s.n);
    if (s.end != NONE) memcpy(end_of(r, f, s) + s.skip, r->next[f] + at, sizeof rates[0] * s.n);
}

VEC_INLINE struct fd_cell cell(const struct fd_rows *r, int64_t at)
{
    struct fd_cell c = {.step = {1, r->stride[1], r->stride[2]}};
#define FIELD(symbol, name, needs) c.f[FD_##symbol] = r->now[FD_##symbol] + at;
#include "fd/fields.def"
    return c;
}

/* Asks for lines that no row before the next one has read: of a field, that of the last plane of
 * the differences, and what the substep reads and writes. Stages ask for some each: many at once
 * would keep the differences waiting for numbers that are in the second cache. */
VEC_INLINE void fetch(const struct fd_rows *r, enum fd_field f, int64_t at)
{
    const int64_t next = at + r->stride[1];
    __builtin_prefetch(r->now[f] + next + ORDER / 2 * r->stride[2]);
    __builtin_prefetch(r->change[f] + next, 1);
    if (!r->far) __builtin_prefetch(r->next[f] + next, 1);
}

/* ∂_t A of n vectors. */
VEC_INLINE void advance_field(const struct fd_rows *r, const struct span *s, int n,
                              struct fd_known *k)
{
    vec out[FD_FIELDS];
    for (int v = 0; v < n; v++) {
        const struct fd_cell c = cell(r, s[v].at);
        FD_AXES(i, fetch(r, FD_AX + i, s[v].at););
        fd_induction(r->law, ORDER, &c, &k[v].j, out);
        FD_AXES(i, put(r, FD_AX + i, s[v], out[FD_AX + i]););
    }
}

VEC_INLINE void advance_shear(const struct fd_rows *r, const int i, const struct span *s, int n,
                              struct fd_known *k)
{
    for (int v = 0; v < n; v++) {
        const struct fd_cell c = cell(r, s[v].at);
        fetch(r, FD_UX + i, s[v].at);
        fd_shear(r->law, ORDER, &c, i, &k[v]);
    }
}

/* The other fields of n vectors. */
VEC_INLINE void advance_flow(const struct fd_rows *r, const int parts, const struct span *s, int n,
                             struct fd_known *k)
{
    vec out[FD_FIELDS];
    FD_AXES(i, advance_shear(r, i, s, n, k););
    for (int v = 0; v < n; v++) {
        const struct fd_cell c = cell(r, s[v].at);
        fetch(r, FD_LNRHO, s[v].at);
        if (parts & FD_PART_ENTROPY) fetch(r, FD_S, s[v].at);
        fd_flow(r->law, ORDER, parts, &c, &k[v], out);
#define FIELD(symbol, name, needs)                                                                 \
    if (fd_by_flow(parts, FD_##symbol)) put(r, FD_##symbol, s[v], out[FD_##symbol]);
#include "fd/fields.def"
        FD_AXES(i, put(r, FD_UX + i, s[v], out[FD_UX + i] + k[v].viscous[i]););
    }
}

/* The number of a vector from cell `from` on in struct fd_ends. */
VEC_INLINE int end_number(const struct fd_rows *r, int from)
{
    if (!r->keeps) return NONE;
    if (from < r->halo) return from - FD_END;
    return from + VEC > r->own[0] - r->halo ? from - r->own[0] + FD_END : NONE;
}

/* Cells x to hi of a row whose cell 0 is number `row`. Where fewer than VEC cells are left, the
 * others of the vector are cells before them, or behind the row if it is shorter than a vector. */
VEC_INLINE void advance_row(const struct fd_rows *r, const int parts, int64_t row, int x, int hi)
{
    const int own = r->own[0];
    while (x < hi) {
        struct span s[PIECE];
        struct fd_known k[PIECE];
        int n = 0;
        for (; n < PIECE && x < hi; n++, x += VEC) {
            int from = x;
            if (from + VEC > own) from = own < VEC ? 0 : own - VEC;
            s[n] = (struct span){row + from, x - from, x + VEC <= hi ? VEC : hi - x,
                                 end_number(r, from)};
        }
        if (parts & FD_PART_MAGNETIC) advance_field(r, s, n, k);
        if (parts & FD_PART_FLOW) advance_flow(r, parts, s, n, k);
    }
}

/* ---- halos beyond axes that are not cut ---- */

/* Stores next values of cells lo to hi of a row of a field in its halo beyond x. */
static void wrap_ends(const struct fd_rows *r, const struct fd_ends *e, int f, double *row, int lo,
                      int hi)
{
    const int own = r->own[0], h = r->halo, last = lo > own - h ? lo : own - h;
    if (!r->wraps[0]) return;
    const double *begin = r->keeps ? e->first[f] : row,
                 *end = r->keeps ? e->last[f] + FD_END : row + own;
    for (int x = lo; x < h && x < hi; x++) row[own + x] = begin[x];
    for (int x = last; x < hi; x++) row[x - own] = end[x - own];
}

/* Distances in rows or planes from row or plane i along axis a to itself and to the halos that have
 * it; their number. */
static int images(const struct fd_rows *r, int a, int i, int d[3])
{
    int n = 1;
    d[0] = 0;
    if (r->wraps[a] && i < r->halo) d[n++] = r->own[a];
    if (r->wraps[a] && i >= r->own[a] - r->halo) d[n++] = -r->own[a];
    return n;
}

static void copy_row(double *to, const double *from, int n, bool past)
{
    int i = 0;
    for (; past && i + VEC <= n; i += VEC) put_past(to + i, vec_load(from + i));
    memcpy(to + i, from + i, sizeof *to * (size_t)(n - i));
}

/* Stores the next values of cells lo to hi of row (y, z) in the halos that have them. */
__attribute__((noinline)) static void wrap(const struct fd_rows *r, const struct fd_ends *e, int y,
                                           int z, int lo, int hi)
{
    int dy[3], dz[3];
    const int ny = images(r, 1, y, dy), nz = images(r, 2, z, dz);
    for (int f = 0; f < FD_FIELDS; f++) {
        if (!r->next[f]) continue;
        double *row = r->next[f] + r->start + y * r->stride[1] + z * r->stride[2];
        wrap_ends(r, e, f, row, lo, hi);
        for (int k = 1; k < ny * nz; k++) {
            double *to = row + dy[k % ny] * r->stride[1] + dz[k / ny] * r->stride[2];
            copy_row(to + lo, row + lo, hi - lo, r->past);
            wrap_ends(r, e, f, to, lo, hi);
        }
    }
}

/* Asks for the lines of the halo beyond x that the end of this row will write. */
static void fetch_ends(const struct fd_rows *r, int64_t row)
{
    for (int f = 0; f < FD_FIELDS && r->keeps; f++) {
        if (!r->next[f]) continue;
        __builtin_prefetch(r->next[f] + row - 1, 1);
        __builtin_prefetch(r->next[f] + row + r->own[0], 1);
    }
}

/* Whether a row is copied to a halo, of this brick or by a message: it then stays in the caches. */
static bool is_surface(const struct fd_rows *r, int y, int z)
{
    const int h = r->halo;
    return y < h || y >= r->own[1] - h || z < h || z >= r->own[2] - h;
}

/* Copies of what r points to: the compiler knows that no store into an array changes them, so that
 * addresses of rows and weights stay in registers and on the stack. */
VEC_INLINE void advance(const struct fd_rows *r, const int parts, const int lo[3], const int hi[3])
{
    const struct fd_law law = *r->law;
    struct fd_ends ends;
    struct fd_rows own = *r;
    own.law = &law;
    own.ends = &ends;
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++) {
            const int64_t row = own.start + y * own.stride[1] + z * own.stride[2];
            own.past = r->past && !is_surface(r, y, z);
            own.far = r->past && !is_surface(r, y + 1, z);
            fetch_ends(r, row);
            advance_row(&own, parts, row, lo[0], hi[0]);
            wrap(r, &ends, y, z, lo[0], hi[0]);
        }
#ifdef __SSE2__
    __builtin_ia32_sfence(); /* other threads and ranks see what put_past stored */
#endif
}

#define ADVANCE(name, parts)                                                                       \
    static void name(const struct fd_rows *r, const int lo[3], const int hi[3])                    \
    {                                                                                              \
        advance(r, parts, lo, hi);                                                                 \
    }
ADVANCE(flow, FD_PART_FLOW)
ADVANCE(flow_entropy, FD_PART_FLOW | FD_PART_ENTROPY)
ADVANCE(induction, FD_PART_MAGNETIC)
ADVANCE(magnetic, FD_PART_FLOW | FD_PART_MAGNETIC)
ADVANCE(whole, FD_PART_FLOW | FD_PART_ENTROPY | FD_PART_MAGNETIC)

fd_advance *const TABLE[FD_PARTS] = {[FD_PART_FLOW] = flow,
                                     [FD_PART_FLOW | FD_PART_ENTROPY] = flow_entropy,
                                     [FD_PART_MAGNETIC] = induction,
                                     [FD_PART_FLOW | FD_PART_MAGNETIC] = magnetic,
                                     [FD_PART_FLOW | FD_PART_ENTROPY | FD_PART_MAGNETIC] = whole};
