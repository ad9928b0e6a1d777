/* tree/near_find: searches in the tree of tree/near. */
#include "base/mem.h"
#include "tree/near_priv.h"

#include <math.h>

/* Bits of the members of a group that are near enough: near_meets, eight at a time. */
static inline unsigned meet(const struct near_query *q, const struct near_eight *g)
{
    double far2[NEAR_LANES] = {0}, reach[NEAR_LANES];
    const double weight = q->mutual ? 1 : 0;
    unsigned bits = 0;
    for (int d = 0; d < 3; d++) {
        const double lo = q->lo[d], hi = q->hi[d], period = q->period[d];
#pragma omp simd
        for (int k = 0; k < NEAR_LANES; k++) {
            double up = g->lo[d][k] - hi, down = lo - g->hi[d][k];
            double gap = up > down ? up : down, across = (up > down ? down : up) + period;
            gap = across < gap ? across : gap;
            gap = gap > 0 ? gap : 0;
            far2[k] += gap * gap;
        }
    }
#pragma omp simd
    for (int k = 0; k < NEAR_LANES; k++) {
        double own = weight * g->reach[k];
        reach[k] = own > q->radius ? own : q->radius;
    }
#pragma omp simd
    for (int k = 0; k < NEAR_LANES; k++)
        bits |= (unsigned)(far2[k] <= reach[k] * reach[k] * (1 + 1e-14)) << k;
    return bits;
}

/* Bits of the members that may be nearer across a boundary: near_wraps. */
static inline unsigned wrap(const struct near_query *q, const struct near_eight *g)
{
    unsigned bits = 0;
    for (int d = 0; d < 3; d++) {
        const double lo = q->lo[d], hi = q->hi[d], most = q->period[d] * (0.5 - 1e-14);
#pragma omp simd
        for (int k = 0; k < NEAR_LANES; k++) {
            double up = g->hi[d][k] - lo, down = hi - g->lo[d][k];
            bits |= (unsigned)((up > down ? up : down) > most) << k;
        }
    }
    return bits;
}

struct walk {
    const struct near_pack *pack;
    const struct near_query *q;
    struct near_list *list;
};

static void put_leaves(const struct walk *w, int64_t group, unsigned bits)
{
    struct near_list *l = w->list;
    if (l->n + NEAR_LANES > l->room) {
        l->room = 2 * l->room + 64;
        l->leaf = mem_grow(l->leaf, sizeof *l->leaf * (size_t)l->room, "near: list");
        l->wraps = mem_grow(l->wraps, sizeof *l->wraps * (size_t)l->room, "near: list");
    }
    unsigned wraps = wrap(w->q, &w->pack->group[0][group]);
    for (; bits; bits &= bits - 1) {
        int k = __builtin_ctz(bits);
        l->leaf[l->n] = NEAR_LANES * group + k;
        l->wraps[l->n++] = wraps >> k & 1;
    }
}

static void walk_group(const struct walk *w, int level, int64_t group)
{
    unsigned bits = meet(w->q, &w->pack->group[level][group]);
    int64_t left = w->pack->n[level] - NEAR_LANES * group;
    if (left < NEAR_LANES) bits &= (1u << left) - 1;
    if (level == 0)
        put_leaves(w, group, bits);
    else
        for (; bits; bits &= bits - 1)
            walk_group(w, level - 1, NEAR_LANES * group + __builtin_ctz(bits));
}

void near_leaves(const struct near *t, int64_t leaf, double radius, bool mutual,
                 struct near_list *list)
{
    const struct near_query q = near_query_of(near_leaf_node(t, leaf), t->frame.period,
                                              t->tree->slack, radius, mutual);
    const struct walk w = {&t->tree->pack, &q, list};
    list->n = 0;
    walk_group(&w, w.pack->levels - 1, 0);
}

void near_list_free(struct near_list *l)
{
    FREE(l->leaf);
    FREE(l->wraps);
    l->n = l->room = 0;
}

double near_leaf_reach(const struct near *t, int64_t leaf)
{
    return near_leaf_node(t, leaf)->reach;
}

void near_leaf_box(const struct near *t, int64_t leaf, double lo[3], double hi[3])
{
    const struct near_node *b = near_leaf_node(t, leaf);
    for (int k = 0; k < 3; k++) lo[k] = b->lo[k], hi[k] = b->hi[k];
}

/* ---- cuts ---- */

/* The inner node of a cut with the longest box; -1: all are leaves. */
static int longest(const struct near_node *node, const int32_t *cut, int n)
{
    int which = -1;
    double most = -1;
    for (int i = 0; i < n; i++) {
        const struct near_node *b = &node[cut[i]];
        double length = 0;
        for (int k = 0; k < 3; k++) length += (b->hi[k] - b->lo[k]) * (b->hi[k] - b->lo[k]);
        if (b->leaf < 0 && length > most) most = length, which = i;
    }
    return which;
}

int near_cut(const struct near *t, int max, struct near_box *box)
{
    const struct near_node *node = t->tree->node;
    BUG_ON(max < 1);
    if (t->nleaf == 0) return 0;
    int32_t *cut = mem_new(sizeof *cut * (size_t)max, "near: cut");
    int n = 1;
    cut[0] = 0;
    for (int which; n < max && (which = longest(node, cut, n)) >= 0;) {
        int32_t first = cut[which] + 1;
        cut[which] = first;
        cut[n++] = node[first].skip;
    }
    for (int i = 0; i < n; i++) {
        const struct near_node *b = &node[cut[i]];
        for (int k = 0; k < 3; k++) box[i].lo[k] = b->lo[k], box[i].hi[k] = b->hi[k];
        box[i].reach = b->reach;
    }
    FREE(cut);
    return n;
}
