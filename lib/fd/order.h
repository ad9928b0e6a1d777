/* fd/order: a substep of a box of cells with differences of one order, ORDER of the file that
 * includes this one; TABLE is the name of its table of functions. */
#pragma once
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
        change[i] = w;
        next[i] = now[i] + w * s.beta;
    }
}

VEC_INLINE void put(const struct fd_rows *r, enum fd_field f, struct span s, vec rate)
{
    const int64_t at = s.at + s.skip;
    if (s.n == VEC) {
        fd_put(&r->stage, r->change[f] + at, r->next[f] + at, r->now[f] + at, rate);
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

/* Asks for lines that no row before the next one has read: of the fields, those of the last plane
 * of the differences, and what the substep writes. */
VEC_INLINE void fetch(const struct fd_rows *r, const int parts, int64_t at)
{
    const int64_t next = at + r->stride[1], last = next + ORDER / 2 * r->stride[2];
#define FIELD(symbol, name, needs)                                                                 \
    if (parts & fd_needs(FD_##symbol)) {                                                           \
        __builtin_prefetch(r->now[FD_##symbol] + last);                                            \
        __builtin_prefetch(r->change[FD_##symbol] + next, 1);                                      \
        __builtin_prefetch(r->next[FD_##symbol] + next, 1);                                        \
    }
#include "fd/fields.def"
}

/* n vectors of a row through all stages. */
VEC_INLINE void advance_piece(const struct fd_rows *r, const int parts, const struct span *s, int n)
{
    struct fd_current j[PIECE];
    vec push[PIECE][3], out[FD_FIELDS];
    for (int v = 0; v < n; v++) fetch(r, parts, s[v].at);
    for (int v = 0; v < n && parts & FD_PART_MAGNETIC; v++) {
        const struct fd_cell c = cell(r, s[v].at);
        fd_induction(r->law, ORDER, &c, &j[v], out);
        FD_AXES(i, put(r, FD_AX + i, s[v], out[FD_AX + i]););
    }
    if (!(parts & FD_PART_FLOW)) return;
    for (int v = 0; v < n; v++) {
        const struct fd_cell c = cell(r, s[v].at);
        fd_flow(r->law, ORDER, parts, &c, &j[v], out);
#define FIELD(symbol, name, needs)                                                                 \
    if (fd_by_flow(parts, FD_##symbol)) put(r, FD_##symbol, s[v], out[FD_##symbol]);
#include "fd/fields.def"
        FD_AXES(i, push[v][i] = out[FD_UX + i];);
    }
    for (int v = 0; v < n; v++) {
        const struct fd_cell c = cell(r, s[v].at);
        FD_AXES(i, out[FD_UX + i] = push[v][i];);
        fd_viscosity(r->law, ORDER, &c, out);
        FD_AXES(i, put(r, FD_UX + i, s[v], out[FD_UX + i]););
    }
}

/* Cells x to hi of a row whose cell 0 is number `row`. Where fewer than VEC cells are left, the
 * others of the vector are cells before them, or behind the row if it is shorter than a vector. */
VEC_INLINE void advance_row(const struct fd_rows *r, const int parts, int64_t row, int x, int hi)
{
    while (x < hi) {
        struct span s[PIECE];
        int n = 0;
        for (; n < PIECE && x < hi; n++, x += VEC) {
            int from = x;
            if (from + VEC > r->own) from = r->own < VEC ? 0 : r->own - VEC;
            s[n] = (struct span){row + from, x - from, x + VEC <= hi ? VEC : hi - x};
        }
        advance_piece(r, parts, s, n);
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
