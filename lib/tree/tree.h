/* tree: finding points by distance: neighbours, balls, groups.
 *
 * Three methods with the same results, to the last bit and in the same order: all pairs; a radix
 * tree that is built anew for each set of points (Karras 2012, "Maximizing parallelism in the
 * construction of BVHs, octrees, and k-d trees"); a hash grid. Two points are neighbours if the
 * square of their distance, as tree_far2 computes it, is at most the square of the radius. No
 * result depends on the method, the threads, or the order of the points. All functions are local.
 * Method: docs/method/tree.md. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum tree_method { TREE_AUTO, TREE_BRUTE, TREE_RADIX, TREE_GRID, TREE_METHODS };

/* Points, lent until tree_free. */
struct tree_points {
    int64_t n; /* below 2^31 */
    const double *x[3];
    const double *h;  /* radii, 0 or more; NULL: none */
    double period[3]; /* 0: not periodic; else 0 <= x < period */
};

struct tree;

/* reach: the largest radius or link that will be asked for; points with radii: 0, theirs decide.
 * TREE_AUTO: the method that should be fastest for this number of points and this reach. An error
 * names the first point that is not finite or not in the box. At most 100 bytes a point while it
 * is built, those of the caller's positions included. */
MUST_USE enum err tree_new(const struct tree_points *p, enum tree_method method, double reach,
                           struct tree **out);
/* A radix tree without points of its own: x, the arrays of p, are sorted and stay lent; (*order)[i]
 * (owner: caller, FREE) is the former number of point i, and all functions number points as they
 * are now. Each array has room for TREE_PAD more. Any reach; no radii. On error x is as before. */
enum { TREE_PAD = 16 };
MUST_USE enum err tree_take(const struct tree_points *p, double *const x[3], int32_t **order,
                            struct tree **out);
/* to[i] = from[order[i]] */
void tree_gather(int64_t n, const int32_t *order, const double *from, double *to);
void tree_free(struct tree **t);
enum tree_method tree_method_of(const struct tree *t); /* never TREE_AUTO */
const char *tree_method_name(enum tree_method m);

/* Lists of neighbours: those of point i are at[first[i]] .. at[first[i+1] - 1], ascending, without
 * i. Begins as zeros. */
struct tree_lists {
    int64_t *first; /* [n+1] */
    int32_t *at;
};
/* Radius for all points; points with radii: max(radius, h of both), so that lists are symmetric. */
MUST_USE enum err tree_neighbours(const struct tree *t, double radius, struct tree_lists *out);
void tree_lists_free(struct tree_lists *l);

/* Points within `radius` <= reach of any place (in the box, where it is periodic), in any order;
 * their own radii do not count. */
typedef void tree_visit(int32_t point, double far2, void *ctx);
void tree_ball(const struct tree *t, const double x[3], double radius, tree_visit *visit,
               void *ctx);
/* The nearest points of a place that `keep` wants (NULL: all), at most k of them, none further than
 * the square root of `most`. Of points in one place, either all or none are wanted. */
struct tree_nearest {
    int k;
    double max;
    bool (*keep)(int32_t point, const void *ctx);
    const void *ctx;
};
/* The squares of their distances in far2[k], the largest first, the others in no order. Returns how
 * many there are. Fast with the radix tree only. */
int tree_nearest(const struct tree *t, const double x[3], const struct tree_nearest *q,
                 double *far2);

/* Friends of friends: label[i] is the least number of a point of the group of i: groups are joined
 * by links of length <= link <= reach. label: [n]. */
void tree_groups(const struct tree *t, double link, int32_t *label);

/* The distance of two coordinates by the shorter way; period infinite: there is one way only. */
static inline double tree_apart(double a, double b, double period)
{
    double direct = fabs(a - b), across = period - direct;
    return across < direct ? across : direct; /* a minimum, no branch */
}

static inline double tree_far2(const double a[3], const double b[3], const double period[3])
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = tree_apart(a[k], b[k], period[k] > 0 ? period[k] : INFINITY);
        far2 += d * d;
    }
    return far2;
}
