/* tree/near: a radix tree of points in a frame that all ranks share, for sums over neighbours whose
 * bits do not depend on ranks.
 *
 * Points are sorted by the Morton key of their position in the frame, 21 bits an axis, and by id
 * where keys are equal. This order of two points is the same in every set that has both. Leaves are
 * runs of at most `leaf` points of this order (more, if they have one key), inner nodes as Karras
 * (2012) has them; boxes are those of the points, joined upwards. Which points share a leaf depends
 * on the set, hence on the rank: a caller selects the neighbours of a point among those of the
 * leaves by the distance itself, in this order. Local; uses the threads of OpenMP. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tree/near_kern.h"

enum { NEAR_LEAF = 12 };

/* The box that keys divide: lo ≤ x < lo + side. Positions beyond it, of an open frame, get the key
 * of the nearest position within. period: of each axis, then equal to its side; 0: not periodic. */
struct near_frame {
    double lo[3], side[3], period[3];
};

struct near_points {
    int64_t n;
    const double *x[3]; /* lent until near_free; finite; inside the frame along periodic axes */
    const int64_t *id;  /* distinct where keys are equal; lent for near_new */
};

struct near {
    struct near_frame frame;
    int64_t n, nleaf;
    int64_t *order;         /* [n] sorted position → number of the point */
    double *x[3];           /* [n + TREE_PAD (tree.h)] sorted positions (copies), then zeros */
    int64_t *first;         /* [nleaf+1] first sorted position of each leaf */
    struct near_tree *tree; /* private */
};

/* leaf: points of a leaf, at most; 0: NEAR_LEAF. An error names the first point that is not finite
 * or not in the frame along a periodic axis, or says that there are more than 2^30 points. */
MUST_USE enum err near_new(const struct near_points *p, const struct near_frame *frame, int leaf,
                           struct near **out);
void near_free(struct near **t);
/* The key of a position; for tests, and for cutting ranges of it. */
uint64_t near_key(const struct near_frame *f, const double x[3]);

/* Sets the radius of each point (reach[number of the point]), and of each node the largest of its
 * points. */
void near_reach(struct near *t, const double *reach);

/* Leaves, ascending, whose box is within `radius` of the box of a leaf, or, with `mutual`, within
 * the larger of this and their own largest radius (near_reach), along periodic axes across the
 * boundary too. `leaf` itself is among them. wraps[i]: a point of list[i] may be nearer across a
 * boundary. The arrays grow; zero before the first use, near_list_free frees them. */
struct near_list {
    int64_t n, room;
    int64_t *leaf;
    bool *wraps;
};
void near_leaves(const struct near *t, int64_t leaf, double radius, bool mutual,
                 struct near_list *list);
void near_list_free(struct near_list *l);

/* The largest radius of the points of a leaf; the box of its points. */
double near_leaf_reach(const struct near *t, int64_t leaf);
void near_leaf_box(const struct near *t, int64_t leaf, double lo[3], double hi[3]);

/* A cut of the tree: at most `max` nodes which together have all points: their boxes, and the
 * largest radius of their points. Returns their number. */
struct near_box {
    double lo[3], hi[3], reach;
};
int near_cut(const struct near *t, int max, struct near_box *box);
