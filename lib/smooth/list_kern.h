/* smooth/list_kern: lists of neighbours on a device. A block takes the candidates of a leaf tile by
 * tile into shared memory; thread k of a particle compares a part of them, and adds neighbours k,
 * k + 8, … of the particle's list, as the partial sums of smooth.h. A list that is longer than its
 * place in shared memory is passed in windows, selected anew each time. */
#pragma once
#ifndef VEC_ONE
#define VEC_ONE
#endif
#include "dev/kernel.h"
#include "smooth/kernels.h"
#include "smooth/pair_kern.h"

/* The number of bits, and the number of the lowest one. */
DEV_FN int smooth_bits(uint32_t x)
{
#ifdef __CUDACC__
    return __popc(x);
#else
    return __builtin_popcount(x);
#endif
}

DEV_FN int smooth_lowest(uint32_t x)
{
#ifdef __CUDACC__
    return __ffs((int)x) - 1;
#else
    return __builtin_ctz(x);
#endif
}

/* The candidates of thread k begin at place k SMOOTH_LANE: one more than it tests, so that the
 * threads of a particle use different banks. */
enum { SMOOTH_LANE = SMOOTH_TESTS + 1, SMOOTH_PLACES = SMOOTH_PARTS * SMOOTH_LANE };

struct smooth_select {
    double x[3][SMOOTH_PLACES], r2[SMOOTH_PLACES];
    int32_t at[SMOOTH_PLACES];
    uint32_t near[SMOOTH_THREADS]; /* a bit for each candidate of a thread */
    /* Of particles: position, square of the radius (negative: no particle), its number in the order
     * of the tree, neighbours. */
    double self[3][SMOOTH_ROWS], limit2[SMOOTH_ROWS];
    int32_t point[SMOOTH_ROWS], n[SMOOTH_ROWS], most;
};

/* Where a block keeps lists: `room` neighbours of each particle. */
struct smooth_place {
    int room, window; /* window: the number of the first one */
    int32_t *at;
    double *r; /* distances; NULL: not kept */
};

DEV_FN double smooth_far2(const struct smooth_tree_args *a, const struct smooth_select *s, int p,
                          int place)
{
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = s->self[k][p] - s->x[k][place];
        if (a->period[k] > 0) d[k] = smooth_nearest(d[k], a->period[k]);
    }
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* The point that is candidate number c of a list of n leaves. */
DEV_FN int32_t smooth_candidate(const struct smooth_tree_args *a, const int32_t *list,
                                const int32_t *begin, int32_t n, int32_t c)
{
    int32_t lo = 0, hi = n;
    while (hi - lo > 1) {
        const int32_t mid = (lo + hi) / 2;
        if (begin[mid] <= c)
            lo = mid;
        else
            hi = mid;
    }
    return a->first[list[lo] / 2] + (c - begin[lo]);
}

/* The bits of the neighbours among `n` candidates of a thread; mutual: within the radius of either,
 * and not the particle itself. */
DEV_FN uint32_t smooth_compare(const struct smooth_tree_args *a, const struct smooth_select *s,
                               const bool mutual, int p, int first, int n)
{
    const double limit2 = s->limit2[p];
    uint32_t near = 0;
    if (limit2 < 0) return 0;
    for (int j = 0; j < n; j++) {
        const double most = mutual ? vec_max(limit2, s->r2[first + j]) : limit2;
        const bool in = smooth_far2(a, s, p, first + j) < most &&
                        !(mutual && s->at[first + j] == s->point[p]);
        near |= (uint32_t)in << j;
    }
    return near;
}

/* Neighbours of a particle that the first `parts` of its threads have found. */
DEV_FN int smooth_found_by(const struct smooth_select *s, int p, int parts)
{
    int n = 0;
    for (int k = 0; k < parts; k++) n += smooth_bits(s->near[p * SMOOTH_PARTS + k]);
    return n;
}

DEV_FN void smooth_store(const struct smooth_tree_args *a, const struct smooth_select *s,
                         const struct smooth_place *to, int t)
{
    const int p = t / SMOOTH_PARTS, k = t % SMOOTH_PARTS;
    int number = s->n[p] + smooth_found_by(s, p, k) - to->window;
    for (uint32_t near = s->near[t]; near; near &= near - 1, number++) {
        const int place = k * SMOOTH_LANE + smooth_lowest(near);
        if (number < 0 || number >= to->room) continue;
        to->at[p * to->room + number] = s->at[place];
        if (to->r) to->r[p * to->room + number] = sqrt(smooth_far2(a, s, p, place));
    }
}

/* Fills the window, s->n and s->most. reach2: of mutual neighbours, or NULL. */
DEV_FN void smooth_find(const struct smooth_tree_args *a, struct smooth_select *s,
                        struct dev_block *b, const struct smooth_place *to, const double *reach2)
{
    const int32_t from = a->list_first[b->index], leaves = a->list_first[b->index + 1] - from;
    const int32_t *list = a->list + from, *begin = a->begin + from + b->index;
    const int32_t total = begin[leaves];
    PHASE (p, SMOOTH_ROWS) {
        s->n[p] = 0;
    }
    for (int32_t tile = 0; tile < total; tile += SMOOTH_TILE) {
        PHASE (i, SMOOTH_TILE) {
            if (i < SMOOTH_ROWS && tile > 0) s->n[i] += smooth_found_by(s, i, SMOOTH_PARTS);
            if (tile + i >= total) continue;
            const int place = i / SMOOTH_TESTS * SMOOTH_LANE + i % SMOOTH_TESTS;
            const int32_t point = smooth_candidate(a, list, begin, leaves, tile + i);
            s->at[place] = point;
            for (int k = 0; k < 3; k++) dev_load(&s->x[k][place], a->x[k] + point);
            if (reach2) dev_load(&s->r2[place], reach2 + point);
        }
        PHASE (t, SMOOTH_THREADS) {
            const int k = t % SMOOTH_PARTS, left = total - tile - k * SMOOTH_TESTS;
            s->near[t] = smooth_compare(a, s, reach2 != NULL, t / SMOOTH_PARTS, k * SMOOTH_LANE,
                                        left < SMOOTH_TESTS ? left : SMOOTH_TESTS);
        }
        PHASE (t, SMOOTH_THREADS) {
            smooth_store(a, s, to, t);
        }
    }
    PHASE (p, SMOOTH_ROWS) {
        s->n[p] += smooth_found_by(s, p, SMOOTH_PARTS);
    }
    PHASE (p, 1) {
        s->most = 0;
        for (int i = 0; i < SMOOTH_ROWS; i++) s->most = s->n[i] > s->most ? s->n[i] : s->most;
    }
}

/* One pass over the lists: the window moves on while there are neighbours beyond it. */
#define SMOOTH_PASS(a, s, b, to, reach2)                                                           \
    for (int window_ = 0; window_ == 0 || window_ < (s)->most; window_ += (to)->room)              \
        if (window_ == (to)->window || smooth_move(a, s, b, to, reach2, window_))

DEV_FN bool smooth_move(const struct smooth_tree_args *a, struct smooth_select *s,
                        struct dev_block *b, struct smooth_place *to, const double *reach2,
                        int window)
{
    to->window = window;
    smooth_find(a, s, b, to, reach2);
    return true;
}

/* Neighbours of a particle in the window. */
DEV_FN int smooth_inside(const struct smooth_select *s, const struct smooth_place *to, int p)
{
    const int left = s->n[p] - to->window;
    return left < to->room ? left : to->room;
}

DEV_FN void smooth_between_points(const struct smooth_tree_args *a, const struct smooth_select *s,
                                  int p, int32_t at, double d[3])
{
    for (int k = 0; k < 3; k++) {
        d[k] = s->self[k][p] - a->x[k][at];
        if (a->period[k] > 0) d[k] = smooth_nearest(d[k], a->period[k]);
    }
}

/* Sets what lists need of the particle in row p of a batch that begins with point `first`; returns
 * whether it is an own one. */
DEV_FN bool smooth_row_begin(const struct smooth_tree_args *a, struct smooth_select *s,
                             int32_t leaf, int32_t first, int p)
{
    const int32_t point = first + p;
    const bool own = point < a->first[leaf + 1] && a->order[point] < a->own;
    s->limit2[p] = -1;
    s->point[p] = own ? point : -1;
    for (int k = 0; k < 3; k++) s->self[k][p] = own ? a->x[k][point] : 0;
    return own;
}
