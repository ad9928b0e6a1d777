/* tree/near_kern: keys, leaves and bounds of distances of tree/near, on the host and on devices. */
#pragma once
#include <math.h>
#include <stdbool.h>

#include "oct/okey.h"
#include "tree/radix_kern.h"

enum { NEAR_AXIS_BITS = 21 };

/* A node with its children behind it: the first child is the next node, the other one is `skip` of
 * the first. So a walk needs no stack, and meets leaves in ascending order. */
struct near_node {
    double lo[3], hi[3], reach;
    int32_t skip; /* the node after all those below this one */
    int32_t leaf; /* -1: an inner node */
};

/* Keys: cells of an axis are (x - lo) * scale. */
struct near_cells {
    double lo[3], scale[3];
};

PTAH_HD_FN uint64_t near_key_of(const struct near_cells *c, const double x[3])
{
    const double last = (double)((1 << NEAR_AXIS_BITS) - 1);
    uint64_t at[3];
    for (int k = 0; k < 3; k++) {
        double cell = (x[k] - c->lo[k]) * c->scale[k];
        cell = cell > 0 ? cell : 0;
        at[k] = (uint64_t)(int64_t)(cell < last ? cell : last);
    }
    return okey_spread21(at[0]) | okey_spread21(at[1]) << 1 | okey_spread21(at[2]) << 2;
}

/* Sorts a few points by id. */
PTAH_HD_FN void near_sort_few(int32_t *order, int64_t n, const int64_t *id)
{
    for (int64_t i = 1, k; i < n; i++) {
        int32_t point = order[i];
        for (k = i; k > 0 && id[order[k - 1]] > id[point]; k--) order[k] = order[k - 1];
        order[k] = point;
    }
}

/* The highest bit in which two keys differ; none: the highest there is. */
PTAH_HD_FN int near_top_bit(uint64_t differ)
{
    int bit = 0;
    for (int step = 32; step; step /= 2)
        if (differ >> (bit + step)) bit += step;
    return bit;
}

/* Sorted keys, and the most points of a leaf. */
struct near_cutting {
    const uint64_t *key;
    int64_t n;
    int leaf;
};

/* Whether a leaf begins at point i: all nodes that have both i - 1 and i have more points than a
 * leaf. */
PTAH_HD_FN bool near_begins_leaf(const struct near_cutting *c, int64_t i)
{
    if (i == 0) return true;
    const uint64_t differ = c->key[i - 1] ^ c->key[i];
    if (differ == 0) return false;
    int shift = near_top_bit(differ) + 1;
    for (int64_t k = i - c->leaf; k < i; k++)
        if (k >= 0 && k + c->leaf < c->n && (c->key[k] ^ c->key[k + c->leaf]) >> shift == 0)
            return true;
    return false;
}

/* Number of inner nodes that begin with a leaf. */
PTAH_HD_FN int32_t near_chain(const struct radix_nodes *r, int32_t leaf)
{
    int32_t count = 0;
    for (int32_t p = r->parent[r->n - 1 + leaf]; p >= 0 && r->range[p][0] == leaf; p = r->parent[p])
        count++;
    return count;
}

/* Places a leaf and the inner nodes that begin with it in the order of a walk: the largest first,
 * the leaf last, at `at`. where: the places of the nodes of r, NULL: not wanted. */
PTAH_HD_FN void near_place(const struct radix_nodes *r, int32_t leaf, int32_t at,
                           struct near_node *node, int32_t *where)
{
    node[at].skip = at + 1;
    node[at].leaf = leaf;
    for (int32_t p = r->parent[r->n - 1 + leaf]; p >= 0 && r->range[p][0] == leaf;
         p = r->parent[p]) {
        at--;
        node[at].skip = at + 2 * (r->range[p][1] - leaf) + 1;
        node[at].leaf = -1;
        if (where) where[p] = at;
    }
}

/* The box of the points of a leaf, from sorted positions. */
PTAH_HD_FN void near_box_leaf(struct near_node *b, const double *const x[3], int64_t first,
                              int64_t end)
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int64_t i = first; i < end; i++) {
            lo = x[k][i] < lo ? x[k][i] : lo;
            hi = x[k][i] > hi ? x[k][i] : hi;
        }
        b->lo[k] = lo, b->hi[k] = hi;
    }
    b->reach = 0;
}

PTAH_HD_FN void near_box_join(struct near_node *node, int32_t i)
{
    const struct near_node *a = &node[i + 1], *b = &node[a->skip];
    for (int k = 0; k < 3; k++) {
        node[i].lo[k] = a->lo[k] < b->lo[k] ? a->lo[k] : b->lo[k];
        node[i].hi[k] = a->hi[k] > b->hi[k] ? a->hi[k] : b->hi[k];
    }
    node[i].reach = 0;
}

PTAH_HD_FN void near_reach_join(struct near_node *node, int32_t i)
{
    double a = node[i + 1].reach, b = node[node[i + 1].skip].reach;
    node[i].reach = a > b ? a : b;
}

/* Whether a position is finite and so near that squares of distances are, too. */
#define NEAR_FAR 1e150
PTAH_HD_FN bool near_has_place(const double x[3])
{
    return fabs(x[0]) <= NEAR_FAR && fabs(x[1]) <= NEAR_FAR && fabs(x[2]) <= NEAR_FAR;
}

/* A position along a periodic axis, inside the box: one that is there stays as it is. Rounding may
 * put one from just below the box on its upper side, which is its lower side. */
PTAH_HD_FN double near_wrapped(double x, double lo, double side)
{
    if (x >= lo && x < lo + side) return x;
    x -= side * floor((x - lo) / side);
    return x >= lo && x < lo + side ? x : lo;
}

/* A search for nodes near a box, which has a margin for rounding; periods are infinite along axes
 * that are not periodic. */
struct near_query {
    double lo[3], hi[3], period[3], radius;
    bool mutual;
};

/* period: of each axis, 0: not periodic. */
PTAH_HD_FN struct near_query near_query_of(const struct near_node *leaf, const double period[3],
                                           double slack, double radius, bool mutual)
{
    struct near_query q;
    for (int k = 0; k < 3; k++) {
        q.lo[k] = leaf->lo[k] - slack;
        q.hi[k] = leaf->hi[k] + slack;
        q.period[k] = period[k] > 0 ? period[k] : INFINITY;
    }
    q.radius = radius;
    q.mutual = mutual;
    return q;
}

/* Whether a point of the box of a node may be near enough to one of the box of the query. */
PTAH_HD_FN bool near_meets(const struct near_query *q, const struct near_node *b)
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double up = b->lo[k] - q->hi[k], down = q->lo[k] - b->hi[k];
        double gap = up > down ? up : down, across = (up > down ? down : up) + q->period[k];
        gap = across < gap ? across : gap;
        gap = gap > 0 ? gap : 0;
        far2 += gap * gap;
    }
    double reach = q->mutual && b->reach > q->radius ? b->reach : q->radius;
    return far2 <= reach * reach * (1 + 1e-14);
}

/* Whether points of the two boxes may be nearer across a boundary. */
PTAH_HD_FN bool near_wraps(const struct near_query *q, const struct near_node *b)
{
    bool wraps = false;
    for (int k = 0; k < 3; k++) {
        double up = b->hi[k] - q->lo[k], down = q->hi[k] - b->lo[k];
        wraps |= (up > down ? up : down) > q->period[k] * (0.5 - 1e-14);
    }
    return wraps;
}
