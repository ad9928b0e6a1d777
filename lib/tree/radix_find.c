/* tree/radix_find: searches in the radix tree.
 *
 * Neighbours are found in two stages (David-Cléris et al. 2025, Shamrock): first, for a leaf, all
 * leaves with boxes within reach; then, for each point of the leaf, the neighbours among the points
 * of these leaves. Groups are found by a walk over pairs of nodes: pairs that are too far apart are
 * skipped, a node no larger than the linking length is one group, and two such nodes are joined by
 * the first link found. */
#include "tree/tree_priv.h"

enum { STACK = 320, TASK = 20000, WIDTH = 8 };

static inline bool is_leaf(const struct radix *r, int32_t node)
{
    return node >= r->nleaf - 1;
}

static inline int64_t node_first(const struct radix *r, int32_t node)
{
    return r->first[is_leaf(r, node) ? node - (r->nleaf - 1) : r->range[node][0]];
}

static inline int64_t node_end(const struct radix *r, int32_t node)
{
    return r->first[1 + (is_leaf(r, node) ? node - (r->nleaf - 1) : r->range[node][1])];
}

/* Lower bound of the squared distance between x and any point of a box. */
static inline double box_far2(const struct tree_space *s, const struct tree_box *b,
                              const double x[3])
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = fabs(x[k] - 0.5 * (b->lo[k] + b->hi[k]));
        d = d > s->half[k] ? s->period[k] - d : d;
        d -= 0.5 * (b->hi[k] - b->lo[k]) + s->slack;
        if (d > 0) far2 += d * d;
    }
    return far2;
}

/* Two boxes: bounds of squared distances between their points; direct: no pair is closer across the
 * periodic boundary. */
struct between {
    double min, max;
    bool direct;
};

static inline struct between boxes(const struct tree_space *s, const struct tree_box *a,
                                   const struct tree_box *b)
{
    struct between w = {.direct = true};
    for (int k = 0; k < 3; k++) {
        double d = 0.5 * fabs((a->lo[k] + a->hi[k]) - (b->lo[k] + b->hi[k]));
        double half = 0.5 * ((a->hi[k] - a->lo[k]) + (b->hi[k] - b->lo[k])) + s->slack;
        w.direct &= d + half <= s->half[k];
        d = d > s->half[k] ? s->period[k] - d : d;
        double low = d - half, high = d + half < s->half[k] ? d + half : s->half[k];
        if (low > 0) w.min += low * low;
        w.max += high * high;
    }
    w.max *= 1 + 1e-12;
    return w;
}

/* ---- balls ---- */

void radix_near(const struct tree *t, const double x[3], double radius, tree_visit *v, void *ctx)
{
    const struct radix *r = &t->radix;
    const double *at[3], r2 = radius * radius;
    int32_t stack[STACK], n = 0;
    tree_sorted(t, at);
    stack[n++] = 0;
    while (n) {
        int32_t node = stack[--n];
        if (box_far2(&t->space, &r->box[node], x) > r2) continue;
        if (!is_leaf(r, node)) {
            stack[n++] = r->child[node][1], stack[n++] = r->child[node][0];
            continue;
        }
        for (int64_t i = node_first(r, node), end = node_end(r, node); i < end; i++) {
            double far2 = tree_point_distance2(&t->space, at, i, x);
            if (far2 <= r2) v(tree_number(t, i), far2, ctx);
        }
    }
}

static bool is_point(const struct tree_box *b)
{
    return b->lo[0] == b->hi[0] && b->lo[1] == b->hi[1] && b->lo[2] == b->hi[2];
}

void radix_nearest(const struct tree *t, const double x[3], const struct tree_nearest *q,
                   struct tree_heap *h)
{
    const struct radix *r = &t->radix;
    struct {
        int32_t node;
        double far2;
    } stack[STACK], next;
    int n = 0;
    stack[n].node = 0, stack[n++].far2 = 0;
    while (n) {
        next = stack[--n];
        if (next.far2 > q->max || (h->n == h->k && next.far2 > h->at[0])) continue;
        if (is_leaf(r, next.node)) {
            int64_t first = node_first(r, next.node), end = node_end(r, next.node);
            /* of points at one position, at most k can count */
            if (end - first > h->k && is_point(&r->box[next.node])) end = first + h->k;
            for (int64_t i = first; i < end; i++) tree_heap_offer(t, x, q, i, h);
            continue;
        }
        const int32_t *c = r->child[next.node];
        double far2[2];
        for (int k = 0; k < 2; k++) far2[k] = box_far2(&t->space, &r->box[c[k]], x);
        for (int k = 0; k < 2; k++) { /* the nearer child is on top of the stack */
            int which = far2[0] > far2[1] ? k : 1 - k;
            stack[n].node = c[which], stack[n++].far2 = far2[which];
        }
    }
}

/* ---- lists ---- */

struct leaves {
    int32_t n, cap, *leaf;
};

/* Stage one: finds the leaves with points within reach of points of leaf a. */
static void near_leaves(const struct tree *t, double radius, int32_t a, struct leaves *out)
{
    const struct radix *r = &t->radix;
    int32_t stack[STACK], n = 0;
    double own = r->reach ? fmax(radius, r->reach[a]) : radius;
    out->n = 0;
    stack[n++] = 0;
    while (n) {
        int32_t node = stack[--n];
        double reach = r->reach ? fmax(own, r->reach[node]) : own;
        if (boxes(&t->space, &r->box[a], &r->box[node]).min > reach * reach) continue;
        if (!is_leaf(r, node)) {
            stack[n++] = r->child[node][1], stack[n++] = r->child[node][0];
            continue;
        }
        MEM_ROOM(out->leaf, out->n, out->cap, 64, "tree: leaves");
        out->leaf[out->n++] = node;
    }
}

/* Stage two: finds the neighbours of the points of leaf a in the leaves `near`. */
static void leaf_lists(const struct tree_search *s, int32_t a, const struct leaves *near)
{
    const struct tree *t = s->t;
    const struct radix *r = &t->radix;
    const double *x[3];
    tree_sorted(t, x);
    for (int64_t i = node_first(r, a), end = node_end(r, a); i < end; i++)
        for (int32_t k = 0; k < near->n; k++) {
            int32_t b = near->leaf[k];
            for (int64_t j = node_first(r, b), last = node_end(r, b); j < last; j++)
                if (j != i && tree_pair2(&t->space, x, i, j) <= tree_link2(t, s->radius, i, j))
                    tree_search_put(s, i, j);
        }
}

void radix_lists(const struct tree_search *s)
{
    const struct radix *r = &s->t->radix;
#pragma omp parallel
    {
        struct leaves near = {0};
#pragma omp for schedule(dynamic, 64)
        for (int32_t k = 0; k < r->nleaf; k++) {
            near_leaves(s->t, s->radius, r->nleaf - 1 + k, &near);
            leaf_lists(s, r->nleaf - 1 + k, &near);
        }
        FREE(near.leaf);
    }
}

/* ---- groups ---- */

struct joining {
    const struct radix *r;
    const struct tree_space *space;
    const double *x[3];
    double link2;
    int32_t *up;
};

/* Whether all pairs of points of a box are closer than the linking length. */
static inline bool is_solid(const struct joining *g, const struct tree_box *b)
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double d = b->hi[k] - b->lo[k];
        far2 += d * d;
    }
    return far2 <= g->link2;
}

/* Bit mask of the WIDTH points from j on that are within the linking length of point i. */
static inline unsigned linked(const struct joining *g, int64_t i, int64_t j, bool direct)
{
    unsigned bits = 0;
    double far2[WIDTH];
    const struct tree_space *s = g->space;
    for (int k = 0; k < WIDTH; k++) far2[k] = 0;
    for (int a = 0; a < 3; a++) {
        const double xi = g->x[a][i], *xj = g->x[a] + j;
        double period = s->period[a];
        if (direct)
            for (int k = 0; k < WIDTH; k++) {
                double d = xi - xj[k];
                far2[k] += d * d;
            }
        else
            for (int k = 0; k < WIDTH; k++) {
                double d = tree_apart(xi, xj[k], period);
                far2[k] += d * d;
            }
    }
    for (int k = 0; k < WIDTH; k++) bits |= (unsigned)(far2[k] <= g->link2) << k;
    return bits;
}

/* Joins all linked pairs between points i0..i1-1 and j0..j1-1; once: stops after the first link. */
static void link_points(const struct joining *g, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                        bool direct, bool once)
{
    for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j += WIDTH) {
            unsigned bits = linked(g, i, j, direct);
            if (j1 - j < WIDTH) bits &= (1u << (j1 - j)) - 1;
            for (; bits; bits &= bits - 1) {
                unite(g->up, (int32_t)i, (int32_t)(j + __builtin_ctz(bits)));
                if (once) return;
            }
        }
}

static void join_pair(const struct joining *g, int32_t a, int32_t b)
{
    const struct radix *r = g->r;
    const struct tree_box *box[2] = {&r->box[a], &r->box[b]};
    const struct between w = boxes(g->space, box[0], box[1]);
    if (w.min > g->link2) return;
    const bool solid = is_solid(g, box[0]) && is_solid(g, box[1]);
    const int32_t i = (int32_t)node_first(r, a), j = (int32_t)node_first(r, b);
    if (solid && unite_find(g->up, i) == unite_find(g->up, j)) return;
    if (solid && w.max <= g->link2) {
        unite(g->up, i, j);
        return;
    }
    const bool leaf[2] = {is_leaf(r, a), is_leaf(r, b)};
    if (leaf[0] && leaf[1]) {
        link_points(g, i, node_end(r, a), j, node_end(r, b), w.direct, solid);
        return;
    }
    const int64_t size[2] = {node_end(r, a) - i, node_end(r, b) - j};
    const bool second = leaf[0] || (!leaf[1] && size[1] > size[0]);
    for (int k = 0; k < 2; k++)
        if (second)
            join_pair(g, a, r->child[b][k]);
        else
            join_pair(g, r->child[a][k], b);
}

static void join_within(const struct joining *g, int32_t node)
{
    const struct radix *r = g->r;
    int64_t first = node_first(r, node), end = node_end(r, node);
    if (is_solid(g, &r->box[node])) {
        for (int64_t i = first + 1; i < end; i++) unite(g->up, (int32_t)first, (int32_t)i);
        return;
    }
    if (is_leaf(r, node)) {
        bool direct = boxes(g->space, &r->box[node], &r->box[node]).direct;
        for (int64_t i = first; i + 1 < end; i++)
            link_points(g, i, i + 1, i + 1, end, direct, false);
        return;
    }
    const int32_t a = r->child[node][0], b = r->child[node][1];
#pragma omp task if (end - first > TASK)
    join_within(g, a);
#pragma omp task if (end - first > TASK)
    join_within(g, b);
    join_pair(g, a, b);
}

void radix_groups(const struct tree *t, double link, int32_t *up)
{
    struct joining g = {&t->radix, &t->space, {NULL}, link * link, up};
    tree_sorted(t, g.x);
#pragma omp parallel
#pragma omp single
    join_within(&g, 0);
}
