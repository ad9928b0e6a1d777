/* tree/radix: construction of the radix tree.
 *
 * Points are sorted by a Morton key of 21 bits per axis over their bounding box; where more points
 * than a leaf holds have equal keys, by 21 further bits. Points that are still equal stay in one
 * leaf. Leaves are the largest nodes of the radix tree over all points that have LEAF points or
 * fewer: two neighbours in the order share a leaf if at most LEAF points share their common prefix.
 * Each position thus decides independently, and inner nodes are made for leaves only. Each inner
 * node is then made independently, from the keys of the leaves (Karras 2012, section 4), and boxes
 * and radii from the leaves upwards, by the second of two children that arrives. */
#include "oct/okey.h"
#include "tree/tree_priv.h"

enum { LEAF = 12 };

/* ---- keys ---- */

struct frame {
    double lo[3], scale; /* lower corner; scale such that (x - lo) * scale < 2^21 */
};

static struct frame frame_of(const struct tree *t)
{
    struct frame f = {.scale = 0};
    double side = 0;
    for (int k = 0; k < 3; k++) {
        f.lo[k] = t->around.lo[k];
        side = fmax(side, t->around.hi[k] - t->around.lo[k]);
    }
    double scale = (1 - 1e-12) * 0x1p21 / side;
    f.scale = isfinite(scale) ? scale : 0;
    return f;
}

static inline uint64_t key_of(const struct frame *f, const double x[3])
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++)
        key |= okey_spread21((uint64_t)(int64_t)((x[k] - f->lo[k]) * f->scale)) << k;
    return key;
}

/* Next 21 bits of the Morton key per axis. */
static inline uint64_t second_key(const struct frame *f, const double x[3])
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        double cell = (x[k] - f->lo[k]) * f->scale;
        key |= okey_spread21((uint64_t)((cell - (double)(int64_t)cell) * 0x1p21)) << k;
    }
    return key;
}

static uint64_t second_of(const struct frame *f, const double *const x[3], int64_t i)
{
    return second_key(f, (double[3]){x[0][i], x[1][i], x[2][i]});
}

/* ---- sort ---- */

/* Sorts a run of points with equal first keys by their second keys. */
static void sort_run(const struct tree *t, const struct frame *f, int32_t *order, int64_t n,
                     struct radix_items scratch)
{
    struct radix_items run = {mem_new(sizeof *run.key * (size_t)n, "tree: sort"), order};
    for (int64_t i = 0; i < n; i++) run.key[i] = second_of(f, t->p.x, order[i]);
    radix_sort(run, scratch, n);
    FREE(run.key);
}

static struct radix_items new_items(int64_t n)
{
    return (struct radix_items){mem_new(sizeof(uint64_t) * (size_t)n, "tree: sort"),
                                mem_new(sizeof(int32_t) * (size_t)n, "tree: order")};
}

/* Sorts the points: sets t->order, and returns the sorted keys. */
static uint64_t *sort_points(struct tree *t, const struct frame *f)
{
    int64_t n = t->p.n;
    struct radix_items s = new_items(n), scratch = new_items(n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        s.key[i] = key_of(f, (double[3]){t->p.x[0][i], t->p.x[1][i], t->p.x[2][i]});
        s.order[i] = (int32_t)i;
    }
    radix_sort(s, scratch, n);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && s.key[end] == s.key[i]; end++)
            ;
        if (end - i > LEAF) sort_run(t, f, s.order + i, end - i, scratch);
    }
    FREE(scratch.key);
    FREE(scratch.order);
    t->order = s.order;
    return s.key;
}

/* ---- leaves ---- */

/* Whether a leaf ends between the sorted points i - 1 and i. */
static bool parts(const struct tree *t, const struct frame *f, const uint64_t *key, int64_t i)
{
    const double *const x[3] = {t->x[0], t->x[1], t->x[2]};
    uint64_t differ = key[i - 1] ^ key[i];
    bool second = differ == 0;
    if (second) differ = second_of(f, x, i - 1) ^ second_of(f, x, i);
    if (differ == 0) return false;
    int shift = 64 - __builtin_clzl(differ), count = 2;
    uint64_t at = second ? second_of(f, x, i) : key[i];
    for (int side = -1; side <= 1; side += 2)
        for (int64_t k = side < 0 ? i - 2 : i + 1; k >= 0 && k < t->p.n && count <= LEAF;
             k += side, count++) {
            if (second && key[k] != key[i]) break;
            if (((second ? second_of(f, x, k) : key[k]) ^ at) >> shift) break;
        }
    return count > LEAF;
}

static void make_leaves(struct tree *t, const struct frame *f, const uint64_t *key)
{
    int64_t n = t->p.n;
    struct radix *r = &t->radix;
    unsigned char *begins = mem_new((size_t)n, "tree: leaves");
    int64_t leaves = 0;
#pragma omp parallel for schedule(static) reduction(+ : leaves)
    for (int64_t i = 0; i < n; i++) {
        begins[i] = i == 0 || parts(t, f, key, i);
        leaves += begins[i];
    }
    r->nleaf = (int32_t)leaves;
    r->first = mem_new(sizeof *r->first * ((size_t)leaves + 1), "tree: leaves");
    int32_t k = 0;
    for (int64_t i = 0; i < n; i++)
        if (begins[i]) r->first[k++] = (int32_t)i;
    r->first[k] = (int32_t)n;
    FREE(begins);
}

/* ---- inner nodes ---- */

void radix_make_nodes(struct radix *r, const radix_key *key, int32_t *parent)
{
    int32_t n = r->nleaf;
    r->child = mem_new(sizeof *r->child * (size_t)n, "tree: nodes");
    r->range = mem_new(sizeof *r->range * (size_t)n, "tree: nodes");
    const struct radix_nodes nodes = {n, key, r->child, r->range, parent};
    parent[0] = -1;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < n - 1; i++) radix_make_node(&nodes, i);
}

static void make_nodes(struct tree *t, const struct frame *f, int32_t *parent)
{
    struct radix *r = &t->radix;
    radix_key *key = mem_new(sizeof *key * (size_t)r->nleaf, "tree: nodes");
#pragma omp parallel for schedule(static)
    for (int32_t k = 0; k < r->nleaf; k++) {
        int64_t i = r->first[k];
        const double x[3] = {t->x[0][i], t->x[1][i], t->x[2][i]};
        key[k] = (radix_key)key_of(f, x) << 63 | second_key(f, x);
    }
    radix_make_nodes(r, key, parent);
    FREE(key);
}

/* ---- boxes ---- */

static void leaf_box(struct tree *t, int32_t leaf)
{
    struct radix *r = &t->radix;
    struct tree_box b;
    double reach = 0;
    for (int k = 0; k < 3; k++) b.lo[k] = INFINITY, b.hi[k] = -INFINITY;
    for (int64_t i = r->first[leaf]; i < r->first[leaf + 1]; i++) {
        for (int k = 0; k < 3; k++) {
            b.lo[k] = t->x[k][i] < b.lo[k] ? t->x[k][i] : b.lo[k];
            b.hi[k] = t->x[k][i] > b.hi[k] ? t->x[k][i] : b.hi[k];
        }
        if (t->h && t->h[i] > reach) reach = t->h[i];
    }
    r->box[r->nleaf - 1 + leaf] = b;
    if (r->reach) r->reach[r->nleaf - 1 + leaf] = reach;
}

static void join_boxes(struct radix *r, int32_t i)
{
    const int32_t *c = r->child[i];
    const struct tree_box *a = &r->box[c[0]], *b = &r->box[c[1]];
    for (int k = 0; k < 3; k++) {
        r->box[i].lo[k] = a->lo[k] < b->lo[k] ? a->lo[k] : b->lo[k];
        r->box[i].hi[k] = a->hi[k] > b->hi[k] ? a->hi[k] : b->hi[k];
    }
    if (r->reach) r->reach[i] = fmax(r->reach[c[0]], r->reach[c[1]]);
}

static void make_boxes(struct tree *t, const int32_t *parent)
{
    struct radix *r = &t->radix;
    size_t nodes = 2 * (size_t)r->nleaf - 1;
    unsigned char *arrived = mem_zero(nodes, "tree: nodes");
    r->box = mem_new(sizeof *r->box * nodes, "tree: boxes");
    if (t->h) r->reach = mem_new(sizeof *r->reach * nodes, "tree: boxes");
#pragma omp parallel for schedule(static)
    for (int32_t k = 0; k < r->nleaf; k++) {
        leaf_box(t, k);
        for (int32_t i = parent[r->nleaf - 1 + k]; i >= 0; i = parent[i]) {
            /* the first child to arrive leaves the parent to the second child */
            if (!__atomic_fetch_add(&arrived[i], 1, __ATOMIC_ACQ_REL)) break;
            join_boxes(r, i);
        }
    }
    FREE(arrived);
}

void radix_build(struct tree *t)
{
    t->radix = (struct radix){0};
    if (t->p.n == 0) return;
    struct frame f = frame_of(t);
    uint64_t *key = sort_points(t, &f);
    tree_sort_points(t);
    make_leaves(t, &f, key);
    FREE(key);
    int32_t *parent = mem_new(sizeof *parent * 2 * (size_t)t->radix.nleaf, "tree: nodes");
    make_nodes(t, &f, parent);
    make_boxes(t, parent);
    FREE(parent);
}

void radix_free(struct tree *t)
{
    FREE(t->radix.first);
    FREE(t->radix.child);
    FREE(t->radix.range);
    FREE(t->radix.box);
    FREE(t->radix.reach);
}
