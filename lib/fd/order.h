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

/* A vector of a piece: its first cell's number; its cells to advance, n from number `skip` on. */
struct span {
    int64_t at;
    int skip, n;
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

VEC_INLINE void put(const struct fd_rows *r, enum fd_field f, struct span s, vec rate)
{
    const int64_t at = s.at + s.skip;
    if (s.n == VEC) {
        const vec next = fd_put(&r->stage, r->change[f] + at, r->now[f] + at, rate);
        if (r->past)
            put_past(r->next[f] + at, next);
        else
            vec_store(r->next[f] + at, next);
        return;
    }
    double rates[VEC];
    vec_store(rates, rate);
    put_some(r->stage, r->change[f] + at, r->next[f] + at, r->now[f] + at, rates + s.skip, s.n);
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
    if (!r->past) __builtin_prefetch(r->next[f] + next, 1);
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

/* Cells x to hi of a row whose cell 0 is number `row`. Where fewer than VEC cells are left, the
 * others of the vector are cells before them, or behind the row if it is shorter than a vector. */
VEC_INLINE void advance_row(const struct fd_rows *r, const int parts, int64_t row, int x, int hi)
{
    while (x < hi) {
        struct span s[PIECE];
        struct fd_known k[PIECE];
        int n = 0;
        for (; n < PIECE && x < hi; n++, x += VEC) {
            int from = x;
            if (from + VEC > r->own) from = r->own < VEC ? 0 : r->own - VEC;
            s[n] = (struct span){row + from, x - from, x + VEC <= hi ? VEC : hi - x};
        }
        if (parts & FD_PART_MAGNETIC) advance_field(r, s, n, k);
        if (parts & FD_PART_FLOW) advance_flow(r, parts, s, n, k);
    }
}

/* Copies of what r points to: the compiler knows that no store into an array changes them, so that
 * addresses of rows and weights stay in registers and on the stack. */
VEC_INLINE void advance(const struct fd_rows *r, const int parts, const int lo[3], const int hi[3])
{
    const struct fd_law law = *r->law;
    struct fd_rows own = *r;
    own.law = &law;
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            advance_row(&own, parts, own.start + y * own.stride[1] + z * own.stride[2], lo[0],
                        hi[0]);
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
