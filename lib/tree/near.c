/* tree/near: see near.h. Construction.
 *
 * Leaves are the largest radix nodes that have few enough points (docs/method/tree.md). A leaf that
 * begins at point i of the order has the points that share one more bit with i than point i - 1
 * does, and one more than point i + `leaf` does, so that the leaves follow from each other without
 * nodes. Nodes are made from the keys of the leaves (Karras 2012) and then put in the order of a
 * walk, parents first. */
#include "tree/near_priv.h"

#include <omp.h>

#include "tree/tree_priv.h"

enum {
    POINTS_MAX = 1 << 30,
    CHUNK = 1 << 12, /* points for whose leaves a thread looks at a time */
    FEW = 24,        /* points that are sorted by insertion */
    AHEAD = 32       /* prefetch distance, elements */
};

/* ---- keys ---- */

struct near_cells near_cells_of(const struct near_frame *f)
{
    struct near_cells c;
    for (int k = 0; k < 3; k++) {
        double scale = (double)(1 << NEAR_AXIS_BITS) / f->side[k];
        c.lo[k] = f->lo[k];
        c.scale[k] = isfinite(scale) ? scale : 0;
    }
    return c;
}

uint64_t near_key(const struct near_frame *f, const double x[3])
{
    const struct near_cells c = near_cells_of(f);
    return near_key_of(&c, x);
}

static bool is_inside(const struct near_points *p, const struct near_frame *f, int64_t i)
{
    bool good = true;
    for (int k = 0; k < 3; k++) {
        double x = p->x[k][i];
        good &= f->period[k] > 0 ? x >= f->lo[k] && x <= f->lo[k] + f->side[k] : isfinite(x) != 0;
    }
    return good;
}

static enum err check_points(const struct near_points *p, const struct near_frame *f)
{
    int64_t bad = INT64_MAX;
    if (p->n > POINTS_MAX)
        FAIL(ERR_LIMIT, "%ld points are more than a tree of one rank can hold, %d: use more ranks",
             (long)p->n, (int)POINTS_MAX);
#pragma omp parallel for reduction(min : bad)
    for (int64_t i = 0; i < p->n; i++)
        if (!is_inside(p, f, i) && i < bad) bad = i;
    if (bad == INT64_MAX) return OK;
    FAIL(ERR_PARAM, "the particle with id %ld, at %g %g %g, has no finite position in the box",
         (long)p->id[bad], p->x[0][bad], p->x[1][bad], p->x[2][bad]);
}

/* ---- order ---- */

/* Sorts points that have one key by id. */
static void sort_run(int32_t *order, int64_t n, const int64_t *id)
{
    if (n <= FEW) {
        near_sort_few(order, n, id);
        return;
    }
    size_t count = (size_t)n;
    struct radix_items run = {mem_new(sizeof *run.key * count, "tree: sort"), order};
    struct radix_items scratch = {mem_new(sizeof *run.key * count, "tree: sort"),
                                  mem_new(sizeof *order * count, "tree: sort")};
    for (int64_t i = 0; i < n; i++) run.key[i] = (uint64_t)id[order[i]] ^ (uint64_t)1 << 63;
    radix_sort(run, scratch, n);
    FREE(run.key);
    FREE(scratch.key);
    FREE(scratch.order);
}

static void sort_runs(const uint64_t *key, int32_t *order, int64_t n, const int64_t *id)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n - 1; i++) {
        if (key[i] != key[i + 1] || (i > 0 && key[i - 1] == key[i])) continue;
        int64_t end = i + 2;
        while (end < n && key[end] == key[i]) end++;
        sort_run(order + i, end - i, id);
    }
}

static void copy_points(struct near *t, const struct near_points *p, const int32_t *order)
{
    int64_t n = p->n;
    t->order = mem_new(sizeof *t->order * (size_t)n + 1, "near: order");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) t->order[i] = order[i];
    for (int k = 0; k < 3; k++) {
        t->x[k] = mem_new(sizeof(double) * (size_t)(n + TREE_PAD), "near: points");
        tree_gather(n, order, p->x[k], t->x[k]);
        memset(t->x[k] + n, 0, sizeof(double) * TREE_PAD);
    }
}

/* Sorts the points, and returns the sorted keys. */
static uint64_t *sort_points(struct near *t, const struct near_points *p)
{
    size_t n = (size_t)p->n;
    const struct near_cells c = near_cells_of(&t->frame);
    struct radix_items s = {mem_new(sizeof *s.key * n + 1, "near: keys"),
                            mem_new(sizeof *s.order * n + 1, "near: sort")};
    struct radix_items scratch = {mem_new(sizeof *s.key * n + 1, "near: sort"),
                                  mem_new(sizeof *s.order * n + 1, "near: sort")};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        s.key[i] = near_key_of(&c, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]});
        s.order[i] = (int32_t)i;
    }
    radix_sort(s, scratch, p->n);
    FREE(scratch.key);
    FREE(scratch.order);
    sort_runs(s.key, s.order, p->n, p->id);
    copy_points(t, p, s.order);
    FREE(s.order);
    return s.key;
}

/* ---- leaves ---- */

/* The first of the points behind those of a leaf that begins at point i. */
static inline int64_t leaf_end(const struct near_cutting *c, int64_t i)
{
    const uint64_t *key = c->key, own = key[i];
    int before = i > 0 ? near_top_bit(key[i - 1] ^ own) : 63;
    int behind = i + c->leaf < c->n ? near_top_bit(key[i + c->leaf] ^ own) : 63;
    int shift = before < behind ? before : behind;
    int64_t end = i + 1;
    while (end < c->n && (key[end] ^ own) >> shift == 0) end++;
    return end;
}

/* Number of leaves that begin in [from, to); first: where they begin, NULL: not wanted. */
static int64_t cut_leaves(const struct near_cutting *c, int64_t from, int64_t to, int64_t *first)
{
    int64_t count = 0, i = from;
    while (i < to && !near_begins_leaf(c, i)) i++;
    for (; i < to; i = leaf_end(c, i)) {
        if (first) first[count] = i;
        count++;
    }
    return count;
}

static void make_leaves(struct near *t, const struct near_cutting *c)
{
    int64_t chunks = c->n / CHUNK + 1;
    int64_t *begin = mem_zero(sizeof *begin * (size_t)(chunks + 1), "near: leaves");
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t k = 0; k < chunks; k++) {
        int64_t end = (k + 1) * CHUNK;
        begin[k + 1] = cut_leaves(c, k * CHUNK, end < c->n ? end : c->n, NULL);
    }
    for (int64_t k = 0; k < chunks; k++) begin[k + 1] += begin[k];
    t->nleaf = begin[chunks];
    t->first = mem_new(sizeof *t->first * (size_t)(t->nleaf + 1), "near: leaves");
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t k = 0; k < chunks; k++) {
        int64_t end = (k + 1) * CHUNK;
        cut_leaves(c, k * CHUNK, end < c->n ? end : c->n, t->first + begin[k]);
    }
    t->first[t->nleaf] = c->n;
    FREE(begin);
}

/* ---- nodes ---- */

/* Places nodes in the order of a walk: those that begin with a leaf before those that begin with
 * the next one. */
static void place_nodes(struct near_tree *t, const struct radix_nodes *r)
{
    int32_t n = r->n, next = 0;
#pragma omp parallel for schedule(static)
    for (int32_t k = 0; k < n; k++) t->at[k] = near_chain(r, k);
    for (int32_t k = 0; k < n; k++) {
        t->at[k] += next; /* its leaf comes after the chain */
        next = t->at[k] + 1;
    }
#pragma omp parallel for schedule(static)
    for (int32_t k = 0; k < n; k++) near_place(r, k, t->at[k], t->node, NULL);
}

static void make_nodes(struct near *t, const uint64_t *key)
{
    struct near_tree *tree = t->tree;
    size_t n = (size_t)t->nleaf;
    struct radix r = {.nleaf = (int32_t)n};
    radix_key *leaf_key = mem_new(sizeof *leaf_key * n, "near: nodes");
    int32_t *parent = mem_new(sizeof *parent * 2 * n, "near: nodes");
    tree->node = mem_new(sizeof *tree->node * 2 * n, "near: nodes");
    tree->at = mem_new(sizeof *tree->at * n, "near: nodes");
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < n; k++) leaf_key[k] = key[t->first[k]];
    radix_make_nodes(&r, leaf_key, parent);
    place_nodes(tree, &(struct radix_nodes){r.nleaf, leaf_key, NULL, r.range, parent});
    FREE(leaf_key);
    FREE(parent);
    FREE(r.child);
    FREE(r.range);
}

/* ---- boxes ---- */

static void make_boxes(struct near *t)
{
    struct near_node *node = t->tree->node;
    const double *const x[3] = {t->x[0], t->x[1], t->x[2]};
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < t->nleaf; k++)
        near_box_leaf(&node[t->tree->at[k]], x, t->first[k], t->first[k + 1]);
    for (int32_t i = near_nodes(t) - 1; i >= 0; i--)
        if (node[i].leaf < 0) near_box_join(node, i);
}

double near_slack(const struct near_frame *f, const struct near_node *root)
{
    double max = 0;
    for (int k = 0; k < 3; k++)
        max = fmax(max, fmax(fabs(root->lo[k]), fabs(root->hi[k])) + f->period[k]);
    return 1e-15 * max;
}

/* Largest of the radii of the points of a leaf. */
static double leaf_reach(const struct near *t, int64_t leaf, const double *reach)
{
    double max = 0;
    for (int64_t i = t->first[leaf]; i < t->first[leaf + 1]; i++) {
        if (i + AHEAD < t->n) __builtin_prefetch(&reach[t->order[i + AHEAD]]);
        double own = reach[t->order[i]];
        max = own > max ? own : max;
    }
    return max;
}

void near_reach(struct near *t, const double *reach)
{
    struct near_node *node = t->tree->node;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < t->nleaf; k++) node[t->tree->at[k]].reach = leaf_reach(t, k, reach);
    for (int32_t i = near_nodes(t) - 1; i >= 0; i--)
        if (node[i].leaf < 0) near_reach_join(node, i);
    near_pack_reach(t);
}

/* ---- life ---- */

enum err near_new(const struct near_points *p, const struct near_frame *frame, int leaf,
                  struct near **out)
{
    *out = NULL;
    BUG_ON(leaf < 0);
    TRY(check_points(p, frame));
    struct near *t = mem_zero(sizeof *t, "near");
    t->frame = *frame;
    t->n = p->n;
    t->tree = mem_zero(sizeof *t->tree, "near");
    uint64_t *key = sort_points(t, p);
    const struct near_cutting c = {key, p->n, leaf ? leaf : NEAR_LEAF};
    make_leaves(t, &c);
    if (t->nleaf) make_nodes(t, key);
    FREE(key);
    make_boxes(t);
    near_pack_boxes(t);
    if (t->nleaf) t->tree->slack = near_slack(frame, t->tree->node);
    *out = t;
    return OK;
}

void near_free(struct near **t)
{
    if (!*t) return;
    FREE((*t)->order);
    for (int k = 0; k < 3; k++) FREE((*t)->x[k]);
    FREE((*t)->first);
    near_pack_free(&(*t)->tree->pack);
    FREE((*t)->tree->node);
    FREE((*t)->tree->at);
    FREE((*t)->tree);
    FREE(*t);
}
