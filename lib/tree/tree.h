/* tree: finding points by distance: neighbours, balls, groups.
 *
 * Three methods with the same results, to the last bit and in the same order: all pairs; a radix
 * tree built for each set of points (Karras 2012, "Maximizing parallelism in the construction of
 * BVHs, octrees, and k-d trees"); a hash grid. Two points are neighbours if the square of their
 * distance, as tree_far2 computes it, is at most the square of the radius. No result depends on the
 * method, the threads, or the order of the points. All functions are local. Method:
 * docs/method/tree.md. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum tree_method { TREE_AUTO, TREE_BRUTE, TREE_RADIX, TREE_GRID, TREE_METHODS };

/* Points, lent until tree_free. */
struct tree_points {
    int64_t n; /* number of points, below 2^31 */
    const double *x[3];
    const double *h;  /* radii, at least 0; NULL: none */
    double period[3]; /* period of each axis, 0 <= x < period; 0: not periodic */
};

struct tree;

/* reach: the largest radius or linking length of later searches; for points with radii 0, since
 * their radii define it. TREE_AUTO chooses the fastest method expected for this number of points
 * and reach. An error names the first point that is not finite or not in the box. Memory while
 * building: at most 100 bytes per point, including positions. */
MUST_USE enum err tree_new(const struct tree_points *p, enum tree_method method, double reach,
                           struct tree **out);
/* Builds a radix tree in the caller's arrays: x, the arrays of p, are sorted and stay lent;
 * (*order)[i] (owner: caller, FREE) is the former number of point i, and all functions use the new
 * numbers. Each array needs room for TREE_PAD further elements. Any reach; no radii. On error x is
 * unchanged. */
enum { TREE_PAD = 16 };
MUST_USE enum err tree_take(const struct tree_points *p, double *const x[3], int32_t **order,
                            struct tree **out);
/* to[i] = from[order[i]] */
void tree_gather(int64_t n, const int32_t *order, const double *from, double *to);
void tree_free(struct tree **t);
enum tree_method tree_method_of(const struct tree *t); /* never TREE_AUTO */
const char *tree_method_name(enum tree_method m);

/* Lists of neighbours: point i has neighbours at[first[i]] .. at[first[i+1] - 1], ascending,
 * without i. Zero before use. */
struct tree_lists {
    int64_t *first; /* [n+1] */
    int32_t *at;
};
/* Neighbours within a radius common to all points; with radii h, within max(radius, h of both
 * points), so that lists are symmetric. */
MUST_USE enum err tree_neighbours(const struct tree *t, double radius, struct tree_lists *out);
void tree_lists_free(struct tree_lists *l);

/* Visits the points within `radius` <= reach of a position (inside the box along periodic axes), in
 * any order; radii h of points are ignored. */
typedef void tree_visit(int32_t point, double far2, void *ctx);
void tree_ball(const struct tree *t, const double x[3], double radius, tree_visit *visit,
               void *ctx);
/* Search for at most k nearest points that `keep` accepts (NULL: all), within distance
 * sqrt(max). For points at one position `keep` must accept all or none. */
struct tree_nearest {
    int k;
    double max;
    bool (*keep)(int32_t point, const void *ctx);
    const void *ctx;
};
/* Fills far2[k] with squared distances, the largest first, the others in no order. Returns their
 * number. Fast with the radix tree only. */
int tree_nearest(const struct tree *t, const double x[3], const struct tree_nearest *q,
                 double *far2);

/* Friends of friends: label[n], the smallest number of a point in the group of point i. Points
 * closer than the linking length `link` <= reach belong to one group. */
void tree_groups(const struct tree *t, double link, int32_t *label);

/* Shorter distance of two coordinates on a periodic axis; period infinite: not periodic. */
static inline double tree_apart(double a, double b, double period)
{
    double direct = fabs(a - b), across = period - direct;
    /* compiles to a minimum instruction, without a branch */
    return across < direct ? across : direct;
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
