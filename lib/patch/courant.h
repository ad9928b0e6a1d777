/* patch/courant: the Courant condition. A law has a signal of a cell, a number that grows as the
 * step that the cell allows falls: its speed, or minus the step. The highest signal of the leaf
 * cells of a level decides. NaNs are no signals.
 *
 * The signal is a point function, signal(ctx, lv, i, c) of cell c of oct i of level lv. On hosts
 * law.signal is a call of patch_rows_max with it, so that it is compiled into the loop over cells;
 * ctx is the law's own. On devices PATCH_COURANT makes a kernel of it, whose arguments are ctx. */
#pragma once
#include <math.h>
#include <stdbool.h>

#include "dev/kernel.h"
#include "patch/kernels.h"

PTAH_HD double patch_max(double a, double b)
{
    return a > b ? a : b;
}

#ifndef __CUDACC__
#include "vec/vec4.h"

/* Octs first … end − 1 of a level. */
struct patch_rows {
    const struct level *lv;
    double dx;
    lidx first, end;
};

/* Mask of the leaf cells of half an oct. */
static inline vec4_mask leaves_of(const lidx child[4])
{
    typedef lidx links
        __attribute__((vector_size(4 * sizeof(lidx)), may_alias, aligned(sizeof(lidx))));
    return __builtin_convertvector(*(const links *)child, vec4_mask) < 0;
}

/* Values of the leaf cells of half an oct; of others the lowest one. */
static inline vec4 leaf_values(const lidx child[4], vec4 x)
{
    const vec4 lowest = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    return vec4_pick(leaves_of(child), x, lowest);
}

/* max, or the highest signal of leaf cells if that is higher. cells: 8, or 4 where the others
 * repeat these. below (NULL: none): whether certainly no cell of an oct has a signal above max,
 * which spares the signals. */
static inline __attribute__((always_inline)) double patch_rows_max(
    const struct patch_rows *r, int cells, double max, void *ctx,
    double (*signal)(const void *ctx, const struct level *lv, lidx i, int c),
    bool (*below)(void *ctx, const struct level *lv, lidx i, double max))
{
    const struct level *lv = r->lv;
    for (lidx i = r->first; i < r->end; i++) {
        if (below && below(ctx, lv, i, max)) continue;
        double x[8];
#pragma omp simd simdlen(4)
        for (int c = 0; c < cells; c++) x[c] = signal(ctx, lv, i, c);
        vec4 highest = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
        for (int c = 0; c < cells; c += 4)
            highest = vec4_max(leaf_values(lv->child[i] + c, vec4_load(x + c)), highest);
        highest = vec4_max(__builtin_shufflevector(highest, highest, 2, 3, 0, 1), highest);
        max = patch_max(patch_max(highest[1], highest[0]), max);
    }
    return max;
}

/* A second reader of the octs of a level while they are in the cache: at most PATCH_BLOCK octs a
 * call, in any order and from any thread of the team. */
enum { PATCH_BLOCK = 256 };
struct patch_reader {
    void (*octs)(void *ctx, lidx first, lidx n);
    void *ctx;
};

/* A signal that the highest one is expected to reach, if that was `last` before: cells that are
 * certainly below are looked at no further. A signal of a step is negative. */
static inline double patch_expected(double last)
{
    if (!(last != 0.0)) return -HUGE_VAL;
    return last > 0.0 ? 0.9 * last : last * (1 / 0.9);
}

/* The longest step that own leaf cells of level l allow (law.step); HUGE_VAL: there are none.
 * last (NULL: not known): the highest signal of some step before, 0: none; becomes the
 * present one. Bits do not depend on it. also: NULL: nothing. */
double patch_courant(const struct mesh *m, int l, const struct law *law, double *last,
                     const struct patch_reader *also);
#endif

/* ---- devices ---- */

struct patch_courant_shared {
    double max[DEV_THREADS];
};

DEV_FN void patch_courant_end(const struct patch_courant_args *a, struct patch_courant_shared *s,
                              struct dev_block *b)
{
    for (int half = DEV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            s->max[t] = patch_max(s->max[t + half], s->max[t]);
        }
    PHASE (t, 1) {
        a->out[b->index] = s->max[0];
    }
}

/* args: a struct that begins with struct patch_courant_args. */
#define PATCH_COURANT(name, args, signal)                                                          \
    KERNEL(name, args, struct patch_courant_shared, DEV_THREADS)                                   \
    {                                                                                              \
        const struct patch_courant_args *p = (const struct patch_courant_args *)a;                 \
        const struct level *lv = &p->mesh->lev[p->l];                                              \
        const int64_t cells = (int64_t)lv->nown * 8, step = (int64_t)b->count * DEV_THREADS;       \
        PHASE (t, DEV_THREADS) {                                                                   \
            double max = -HUGE_VAL;                                                                \
            for (int64_t at = (int64_t)b->index * DEV_THREADS + t; at < cells; at += step)         \
                if (lv->child[at >> 3][at & 7] < 0)                                                \
                    max = patch_max(signal(a, lv, (lidx)(at >> 3), (int)(at & 7)), max);           \
            s->max[t] = max;                                                                       \
        }                                                                                          \
        patch_courant_end(p, s, b);                                                                \
    }
