/* tree/tree_priv: declarations shared by the files of this module. Private to tree. */
#pragma once
#include <string.h>

#include "base/mem.h"
#include "tree/radix_kern.h"
#include "tree/tree.h"

/* Max-heap of the k smallest squared distances. */
struct tree_heap {
    int n, k;
    double *at;
};
void tree_heap_put(struct tree_heap *h, double far2);

/* Closed bounding box of points. */
struct tree_box {
    double lo[3], hi[3];
};

/* Axes of space: periods (infinite if not periodic) and half periods; slack: max rounding error of
 * a distance. */
struct tree_space {
    double period[3], half[3], slack;
};

/* Binary radix tree over leaves of neighbouring points. Nodes 0..nleaf-2 are inner nodes, node 0 is
 * the root; leaf k is node nleaf-1+k. */
struct radix {
    int32_t nleaf;
    int32_t *first;       /* [nleaf+1] first sorted point of each leaf */
    int32_t (*child)[2];  /* [nleaf-1] child nodes */
    int32_t (*range)[2];  /* [nleaf-1] first and last leaf of each inner node */
    struct tree_box *box; /* [2 nleaf-1] bounding box of each node */
    double *reach;        /* [2 nleaf-1] max radius of the points of each node; NULL: no radii */
};

/* Hash grid with cells of side >= reach; cell i of an axis is in bucket i & (buckets - 1). */
struct grid {
    /* log2 of the number of buckets along an axis; 0: one bucket holds all cells */
    int shift[3];
    double lo[3], scale[3]; /* cell = (x - lo) * scale */
    /* number of cells along an axis; a multiple of the buckets if periodic */
    int64_t cells[3];
    int32_t *first; /* [buckets+1] first sorted point of each bucket */
};

struct tree {
    enum tree_method method;
    struct tree_points p;
    struct tree_space space;
    double reach;
    /* Points in the order of the method; order NULL: order of the caller. lent: x belongs to the
     * caller (tree_take). */
    int32_t *order; /* sorted position → point */
    double *x[3], *h;
    bool lent;
    struct tree_box around;
    union {
        struct radix radix;
        struct grid grid;
    };
};

static inline double tree_pair2(const struct tree_space *s, const double *const x[3], int64_t i,
                                int64_t j)
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = tree_apart(x[k][i], x[k][j], s->period[k]);
        far2 += d * d;
    }
    return far2;
}

static inline double tree_point_distance2(const struct tree_space *s, const double *const x[3],
                                          int64_t i, const double at[3])
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = tree_apart(x[k][i], at[k], s->period[k]);
        far2 += d * d;
    }
    return far2;
}

/* Coordinates of the points in sorted order. */
static inline void tree_sorted(const struct tree *t, const double *x[3])
{
    for (int k = 0; k < 3; k++) x[k] = t->order ? t->x[k] : t->p.x[k];
}

/* Number by which the caller knows a sorted point. */
static inline int32_t tree_number(const struct tree *t, int64_t i)
{
    return t->order ? t->order[i] : (int32_t)i;
}

/* Offers sorted point i to the heap; returns whether q accepts it. */
static inline bool tree_heap_offer(const struct tree *t, const double x[3],
                                   const struct tree_nearest *q, int64_t i, struct tree_heap *h)
{
    const double *at[3];
    tree_sorted(t, at);
    double far2 = tree_point_distance2(&t->space, at, i, x);
    if (far2 > q->max || (q->keep && !q->keep(tree_number(t, i), q->ctx))) return false;
    tree_heap_put(h, far2);
    return true;
}

/* Fills x and h in sorted order. */
void tree_sort_points(struct tree *t);

/* Keys, and numbers of the points that they belong to. */
struct radix_items {
    uint64_t *key;
    int32_t *order;
};
/* Sorts by key; stable for equal keys. */
void radix_sort(struct radix_items a, struct radix_items scratch, int64_t n);

/* Inner nodes of a radix tree from the distinct, ascending keys of its leaves: fills child, range,
 * and parent[2 nleaf - 1], that of the root being -1. */
void radix_make_nodes(struct radix *r, const radix_key *key, int32_t *parent);

/* Functions of each method. */
void radix_build(struct tree *t);
void radix_free(struct tree *t);
void radix_nearest(const struct tree *t, const double x[3], const struct tree_nearest *q,
                   struct tree_heap *h);
void radix_near(const struct tree *t, const double x[3], double radius, tree_visit *v, void *ctx);
void radix_groups(const struct tree *t, double link, int32_t *up);
/* Returns false without a grid if there are more than `max` distance tests per point. */
bool grid_build(struct tree *t, double max);
void grid_free(struct tree *t);
void grid_near(const struct tree *t, const double x[3], double radius, tree_visit *v, void *ctx);
void grid_groups(const struct tree *t, double link, int32_t *up);
void brute_near(const struct tree *t, const double x[3], double radius, tree_visit *v, void *ctx);
void brute_groups(const struct tree *t, double link, int32_t *up);

/* Search for the neighbours of all points. count: number of neighbours of each point; if `at` is
 * not NULL, count holds the positions in `at` where they are stored. */
struct tree_search {
    const struct tree *t;
    double radius;
    int64_t *count;
    int32_t *at;
};
void brute_lists(const struct tree_search *s);
void radix_lists(const struct tree_search *s);
void grid_lists(const struct tree_search *s);

/* Squared radius for a pair of sorted points. */
static inline double tree_link2(const struct tree *t, double radius, int64_t i, int64_t j)
{
    const double *h = t->order ? t->h : t->p.h;
    double r = radius;
    if (h && h[i] > r) r = h[i];
    if (h && h[j] > r) r = h[j];
    return r * r;
}

static inline void tree_search_put(const struct tree_search *s, int64_t i, int64_t j)
{
    const int32_t *order = s->t->order;
    int64_t a = order ? order[i] : i;
    int64_t at = s->count[a]++;
    if (s->at) s->at[at] = order ? order[j] : (int32_t)j;
}

/* ---- disjoint sets, joined by several threads at a time ----
 *
 * up[i] <= i is another member of the set of i, or i itself for a root. Sets are joined by making
 * the smaller root the parent of the larger one, so the root of a set is always its smallest
 * member, in whichever order sets are joined. */
static inline int32_t unite_find(int32_t *up, int32_t i)
{
    int32_t p = __atomic_load_n(&up[i], __ATOMIC_RELAXED);
    while (p != i) {
        int32_t q = __atomic_load_n(&up[p], __ATOMIC_RELAXED);
        if (q != p) __atomic_store_n(&up[i], q, __ATOMIC_RELAXED); /* path halving */
        i = p, p = q;
    }
    return i;
}

static inline void unite(int32_t *up, int32_t i, int32_t j)
{
    for (;;) {
        i = unite_find(up, i), j = unite_find(up, j);
        if (i == j) return;
        int32_t high = i > j ? i : j, low = i > j ? j : i, seen = high;
        if (__atomic_compare_exchange_n(&up[high], &seen, low, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}
