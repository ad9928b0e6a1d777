/* dom/ksection: the k-section tree of cuRAMSES (Kim 2026, section 2.1).
 *
 * The tree over ranks (comm/tree.h) cuts space: level l divides the box of every group of ranks
 * into the boxes of its children, along axis[l], the longest side of a cube after equal cuts on the
 * coarser levels (ties: the axis `first`, then the lowest). Each cut plane separates the ranks
 * below some rank r from ranks r and above, and each r > 0 is separated from r - 1 once: so cut[r]
 * describes the whole tree, 8 bytes a rank. A point on a cut plane belongs to the lower side, hence
 * all intervals are (lo,hi]. Coordinates begin at an origin, which along a periodic axis may be
 * anywhere.
 *
 * The ranks that need an oct as a ghost are found axis by axis: a box intersects the cube of octs
 * around it if their intervals overlap on each axis, and contains the centre of a coarser oct that
 * the oct touches if it contains one of two coordinates on each axis. So one descent suffices. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/domain_priv.h"

void ksection_plan(struct domain *d)
{
    struct ksection *k = &d->ksec;
    double side[3] = {1, 1, 1};
    tree_init(&k->tree, d->nrank);
    for (int l = 0; l < k->tree.nlev; l++) {
        int axis = k->first;
        for (int a = 0; a < d->ndim; a++)
            if (side[a] > side[axis]) axis = a;
        k->axis[l] = axis;
        side[axis] /= k->tree.factor[l];
    }
    for (int l = 0, n = d->nrank; l < k->tree.nlev; n /= k->tree.factor[l++]) {
        k->small[l] = n;
        for (int i = 0; i < 2; i++) {
            k->each[l][i] = (n + i) / k->tree.factor[l];
            k->more[l][i] = (n + i) % k->tree.factor[l];
        }
    }
    k->cut = mem_zero(sizeof *k->cut * (size_t)d->nrank, "domain cut planes");
}

void ksection_first(struct domain *d, int axis)
{
    if (axis == d->ksec.first) return;
    ksection_fini(d);
    d->ksec.first = axis;
    ksection_plan(d);
}

/* A node of the descent: tree level, ranks, box. */
struct node {
    int level;
    struct group group;
    int64_t side[3][2];
};

static struct node root_of(const struct domain *d)
{
    int64_t n = d->extent;
    return (struct node){.group = {0, d->nrank}, .side = {{0, n}, {0, n}, {0, n}}};
}

static bool node_is_leaf(const struct node *n)
{
    return n->group.n == 1;
}

/* Number of children that hold ranks. */
static inline int node_children(const struct domain *d, const struct node *n)
{
    int k = d->ksec.tree.factor[n->level];
    return k < n->group.n ? k : n->group.n;
}

/* group_child without its division: group sizes of one tree level differ by at most one. */
static inline struct group child_group(const struct ksection *k, int l, struct group g, int j)
{
    int i = g.n - k->small[l], each = k->each[l][i], more = k->more[l][i];
    return (struct group){g.first + j * each + (j < more ? j : more), each + (j < more)};
}

/* Narrows the interval of a group along the cut axis to the interval of a child. */
static inline void child_side(const struct ksection *k, struct group g, struct group c,
                              int64_t side[2])
{
    int end = c.first + c.n;
    if (c.first > g.first) side[0] = k->cut[c.first];
    if (end < g.first + g.n) side[1] = k->cut[end];
}

/* Child j among the children that hold ranks; only the interval along the level's axis differs. */
static struct node node_child(const struct domain *d, const struct node *n, int j)
{
    const struct ksection *k = &d->ksec;
    struct node c = *n;
    struct group g = child_group(k, c.level, c.group, j);
    child_side(k, c.group, g, c.side[k->axis[c.level]]);
    c.level++;
    c.group = g;
    return c;
}

/* Index of the child of a group of tree level l that contains x along the level's axis. */
static inline int child_at(const struct ksection *k, int l, struct group g, int64_t x)
{
    int f = k->tree.factor[l], j = (f < g.n ? f : g.n) - 1;
    while (j > 0 && x <= k->cut[child_group(k, l, g, j).first]) j--;
    return j;
}

static void cut_evenly(struct domain *d, const struct node *n)
{
    if (node_is_leaf(n)) return;
    const int64_t *side = n->side[d->ksec.axis[n->level]];
    struct group g = n->group;
    int children = node_children(d, n);
    for (int j = 1; j < children; j++) {
        int before = child_group(&d->ksec, n->level, g, j).first - g.first;
        d->ksec.cut[g.first + before] =
            side[0] + (int64_t)(((__int128)(side[1] - side[0]) * before + g.n / 2) / g.n);
    }
    for (int j = 0; j < children; j++) {
        struct node child = node_child(d, n, j);
        cut_evenly(d, &child);
    }
}

void ksection_uniform(struct domain *d)
{
    struct node root = root_of(d);
    cut_evenly(d, &root);
}

void ksection_fini(struct domain *d)
{
    FREE(d->ksec.cut);
}

void ksection_box(const struct domain *d, int rank, int64_t box[3][2])
{
    struct node n = root_of(d);
    while (!node_is_leaf(&n))
        n = node_child(d, &n, group_slot(n.group, d->ksec.tree.factor[n.level], rank));
    memcpy(box, n.side, sizeof n.side);
}

int ksection_rank(const struct domain *d, int level, okey key)
{
    const struct ksection *k = &d->ksec;
    int64_t x[3], half = domain_width(d, level) >> 1;
    struct group g = {0, d->nrank};
    domain_corner(d, level, key, x);
    for (int a = 0; a < 3; a++) x[a] = ksection_at(d, a, x[a] + half);
    for (int l = 0; g.n > 1; l++) g = child_group(k, l, g, child_at(k, l, g, x[k->axis[l]]));
    return g.first;
}

/* Lower corner of an oct in tree coordinates, 0..extent-1; its upper end may exceed the extent:
 * then no child contains the oct. */
static void tree_corner(const struct domain *d, const int64_t x[3], int64_t at[3])
{
    for (int a = 0; a < 3; a++) at[a] = (x[a] - d->ksec.origin[a]) & (d->extent - 1);
}

/* Descends from the root as long as (low,high] lies within one child along the cut axes. */
static struct node node_around(const struct domain *d, const int64_t low[3], const int64_t high[3])
{
    const struct ksection *k = &d->ksec;
    struct node n = root_of(d);
    while (!node_is_leaf(&n)) {
        int a = k->axis[n.level];
        int64_t side[2] = {n.side[a][0], n.side[a][1]};
        struct group c = child_group(k, n.level, n.group,
                                     child_at(k, n.level, n.group, low[a] + 1));
        child_side(k, n.group, c, side);
        if (low[a] < side[0] || high[a] > side[1]) break;
        n.group = c;
        n.level++;
        memcpy(n.side[a], side, sizeof side);
    }
    return n;
}

int ksection_whole(const struct domain *d, int level, okey key)
{
    int64_t x[3], end[3], w = domain_width(d, level);
    domain_corner(d, level, key, x);
    tree_corner(d, x, x);
    for (int a = 0; a < 3; a++) end[a] = x[a] + w;
    struct node n = node_around(d, x, end);
    return node_is_leaf(&n) ? n.group.first : -1;
}

/* ---- layout of cuRAMSES ---- */

static void put_box(struct domain_tree *t, const struct domain *d, const struct node *n)
{
    for (int a = 0; a < 3; a++) {
        t->low[a * d->nrank + n->group.first] = (double)n->side[a][0] / (double)d->extent;
        t->high[a * d->nrank + n->group.first] = (double)n->side[a][1] / (double)d->extent;
    }
}

/* Stores the children of node `at`; the children of the whole level begin at node `next`. Missing
 * children have their cut plane at the end of the box: a search that takes the first child whose
 * cut plane is not below a point then ends correctly even if a rank is alone on an early level.
 * Returns the number of children. */
static int put_children(struct domain_tree *t, const struct domain *d, const struct node *n, int at,
                        int next)
{
    int axis = d->ksec.axis[n->level], children = node_children(d, n);
    for (int j = 0; j < t->kmax; j++) {
        struct node c = node_child(d, n, j < children ? j : children - 1);
        if (j < children) t->next[j * t->nnode + at] = next + j + 1;
        if (j < d->ksec.tree.factor[n->level] - 1)
            t->cut[j * t->nnode + at] = (double)c.side[axis][1] / (double)d->extent;
    }
    return children;
}

static int tree_nodes(const struct domain *d)
{
    const struct tree *t = &d->ksec.tree;
    int64_t nodes = 1, width = 1;
    for (int l = 0; l < t->nlev; l++) {
        width *= t->factor[l];
        nodes += width < d->nrank ? width : d->nrank;
    }
    return (int)nodes;
}

static void put_nodes(struct domain_tree *t, const struct domain *d)
{
    struct node *row = mem_new(sizeof *row * (size_t)t->nnode, "domain tree");
    int next = 1;
    row[0] = root_of(d);
    for (int i = 0; i < t->nnode; i++) {
        if (row[i].level == t->nlev) {
            t->rank[i] = row[i].group.first + 1;
            put_box(t, d, &row[i]);
            continue;
        }
        int children = put_children(t, d, &row[i], i, next);
        for (int j = 0; j < children; j++) row[next++] = node_child(d, &row[i], j);
    }
    mem_free(row);
}

void domain_tree(const struct domain *d, struct domain_tree *t)
{
    const struct ksection *k = &d->ksec;
    size_t nlev = (size_t)k->tree.nlev, nrank = (size_t)d->nrank;
    BUG_ON(d->kind != DOMAIN_KSECTION || k->origin[0] || k->origin[1] || k->origin[2]);
    *t = (struct domain_tree){.nlev = k->tree.nlev, .kmax = 1, .nnode = tree_nodes(d)};
    t->factor = mem_zero(sizeof *t->factor * nlev + 1, "domain tree");
    t->axis = mem_zero(sizeof *t->axis * nlev + 1, "domain tree");
    for (int l = 0; l < t->nlev; l++) {
        t->factor[l] = k->tree.factor[l];
        t->axis[l] = k->axis[l] + 1;
        if (t->factor[l] > t->kmax) t->kmax = t->factor[l];
    }
    t->cut = mem_zero(sizeof *t->cut * (size_t)t->nnode * (size_t)t->kmax, "domain tree");
    t->next = mem_zero(sizeof *t->next * (size_t)t->nnode * (size_t)t->kmax, "domain tree");
    t->rank = mem_zero(sizeof *t->rank * (size_t)t->nnode, "domain tree");
    t->low = mem_new(sizeof *t->low * 3 * nrank, "domain tree");
    t->high = mem_new(sizeof *t->high * 3 * nrank, "domain tree");
    put_nodes(t, d);
}

void domain_tree_free(struct domain_tree *t)
{
    FREE(t->factor);
    FREE(t->axis);
    FREE(t->cut);
    FREE(t->next);
    FREE(t->rank);
    FREE(t->low);
    FREE(t->high);
}

/* ---- nearby ranks ---- */

/* domain_ball_off of an interval that may pass the end of the box. */
static double side_off(const struct domain_ball *b, int axis, const int64_t side[2])
{
    int64_t end = b->d->extent, low = side[0] + b->d->ksec.origin[axis],
            high = side[1] + b->d->ksec.origin[axis];
    if (low >= end) low -= end, high -= end;
    if (high <= end) return domain_ball_off(b, axis, low, high);
    return fmin(domain_ball_off(b, axis, low, end), domain_ball_off(b, axis, 0, high - end));
}

static void ball_descend(const struct domain_ball *b, const struct node *n)
{
    double off[3];
    for (int a = 0; a < 3; a++) off[a] = side_off(b, a, n->side[a]);
    if (!domain_ball_meets(b, off)) return;
    if (node_is_leaf(n)) {
        rank_list_add(b->ranks, n->group.first);
        return;
    }
    int axis = b->d->ksec.axis[n->level], children = node_children(b->d, n);
    for (int j = 0; j < children; j++) {
        struct node c = node_child(b->d, n, j);
        if (c.side[axis][0] < c.side[axis][1]) ball_descend(b, &c);
    }
}

void ksection_ball(const struct domain_ball *b)
{
    struct node root = root_of(b->d);
    ball_descend(b, &root);
}

/* Bits of the parts of an oct's surroundings that a node may still intersect. */
enum { CUBE = 1, CENTRES = 2, ABOVE = 4 };
enum { PIECES = 2, POINTS = 2 };

/* Surroundings of an oct along one axis: integer units first[i]..last[i] of the cube, centres of
 * the parent and of its neighbour that the oct touches, and of the grandparent. */
struct span {
    int npiece, npoint;
    int64_t first[PIECES], last[PIECES];
    int64_t point[POINTS], above;
};

struct near {
    const struct domain *d;
    struct span span[3];
    int me, n, *rank;
};

static void span_set(struct span *s, const struct domain *d, int axis, int level, int64_t x);
static void near_descend(struct near *s, struct node *n, int alive); /* restores *n on return */

int ksection_near(const struct domain *d, int me, int level, okey key, int *rank)
{
    int64_t x[3], at[3], low[3], high[3], w = domain_width(d, level), margin = d->margin * w;
    domain_corner(d, level, key, x);
    tree_corner(d, x, at);
    for (int a = 0; a < 3; a++) { /* closed cube: contains all the centres */
        low[a] = at[a] - margin - 1;
        high[a] = at[a] + w + margin;
    }
    struct node n = level > 1 ? node_around(d, low, high) : root_of(d);
    if (node_is_leaf(&n) && n.group.first == me) return 0;

    struct near s = {.d = d, .me = me, .rank = rank};
    for (int a = 0; a < 3; a++) span_set(&s.span[a], d, a, level, x[a]);
    near_descend(&s, &n, level > 2 ? CUBE | CENTRES | ABOVE : level > 1 ? CUBE | CENTRES : CUBE);
    return s.n;
}

/* Computes the surroundings of an oct along an axis, in box coordinates. */
static void span_set(struct span *s, const struct domain *d, int axis, int level, int64_t x)
{
    int64_t n = d->extent, w = domain_width(d, level), parent = x & ~(2 * w - 1),
            beside = parent + (x == parent ? -w : 3 * w), at = (x - d->ksec.origin[axis]) & (n - 1),
            margin = d->margin * w, first = at - margin + 1, last = at + w + margin - 1;
    bool wrap = d->periodic[axis];
    s->npiece = 1;
    s->first[0] = first < 1 ? 1 : first;
    s->last[0] = last > n ? n : last;
    if (wrap && last - first >= n - 1) {
        s->first[0] = 1;
        s->last[0] = n;
    } else if (wrap && (first < 1 || last > n)) {
        s->npiece = 2;
        s->first[1] = first < 1 ? first + n : 1;
        s->last[1] = first < 1 ? n : last - n;
    }
    s->point[0] = ksection_at(d, axis, parent + w);
    s->npoint = 1;
    if (wrap || (beside > 0 && beside < n)) s->point[s->npoint++] = ksection_at(d, axis, beside);
    s->above = ksection_at(d, axis, (x & ~(4 * w - 1)) + 2 * w);
}

/* The bits of `alive` that hold for the interval (lo,hi]. */
static int span_meets(const struct span *s, int alive, int64_t lo, int64_t hi)
{
    int meets = 0;
    for (int i = 0; i < s->npiece; i++)
        if (s->first[i] <= hi && s->last[i] > lo && hi > lo) meets |= CUBE;
    for (int i = 0; i < s->npoint; i++)
        if (s->point[i] > lo && s->point[i] <= hi) meets |= CENTRES;
    if (s->above > lo && s->above <= hi) meets |= ABOVE;
    return meets & alive;
}

static void near_descend(struct near *s, struct node *n, int alive)
{
    const struct ksection *k = &s->d->ksec;
    struct group g = n->group;
    if (g.n == 1) {
        if (g.first != s->me) s->rank[s->n++] = g.first;
        return;
    }
    int l = n->level++, axis = k->axis[l], children = k->tree.factor[l];
    int64_t *side = n->side[axis], low = side[0], high = side[1];
    for (int j = 0; j < children && j < g.n; j++) {
        n->group = child_group(k, l, g, j);
        side[0] = low, side[1] = high;
        child_side(k, g, n->group, side);
        int meets = span_meets(&s->span[axis], alive, side[0], side[1]);
        if (meets) near_descend(s, n, meets);
    }
    side[0] = low, side[1] = high;
    n->group = g;
    n->level = l;
}
