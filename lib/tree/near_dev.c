/* tree/near_dev: see near_dev.h. The steps are those of near.c; whereas threads of the CPU go from
 * one leaf to the next, each point decides by itself whether a leaf begins with it. */
#include "tree/near_dev.h"

#include "base/mem.h"
#include "tree/near_kernel.h"
#include "tree/near_priv.h"

enum { POINTS_MAX = 1 << 30 };

struct near_dev_work {
    struct dev *dev;           /* lent */
    struct dev_stream *stream; /* lent */
    int32_t *parent, *where, *arrived;
    int64_t *counter; /* [NEAR_COUNTERS] */
};

/* Arrays that are needed while the tree is made. */
struct making {
    struct near_cutting cut;
    uint64_t *key;
    int32_t *mark, *index, *chain, *sum;
    int32_t (*range)[2];
    radix_key *leaf_key;
};

static enum err room(const struct near_dev *t, void *at, size_t size, int64_t n)
{
    return dev_new(t->work->dev, at, size * (size_t)(n > 0 ? n : 1), "near");
}

/* ---- order ---- */

static void by_id_then_key(struct near_dev *t, const struct near_sort_args *a)
{
    struct dev_stream *s = t->work->stream;
    dev_launch(s, &near_ids, dev_blocks(a->n), a);
    dev_sort(s, a->key, a->order, a->n);
    dev_launch(s, &near_again, dev_blocks(a->n), a);
    dev_sort(s, a->key, a->order, a->n);
}

/* Sorts the points and counts the leaves. */
static enum err sort_points(struct near_dev *t, struct making *m, const struct near_points *p)
{
    struct dev_stream *s = t->work->stream;
    int64_t counter[NEAR_COUNTERS];
    int32_t leaves;
    const struct near_sort_args a = {
        p->n,     near_cells_of(&t->frame),   {p->x[0], p->x[1], p->x[2]}, p->id, m->key,
        t->order, {t->x[0], t->x[1], t->x[2]}};
    const struct near_runs_args runs = {m->cut, p->id, t->order, m->mark, t->work->counter};
    dev_fill(s, t->work->counter, 0, sizeof counter);
    dev_launch(s, &near_keys, dev_blocks(p->n), &a);
    dev_sort(s, m->key, t->order, p->n);
    dev_launch(s, &near_ties, dev_blocks(p->n - 1), &runs);
    dev_launch(s, &near_mark, dev_blocks(p->n), &runs);
    dev_scan(s, m->index, m->mark, p->n);
    dev_get(s, counter, t->work->counter, sizeof counter);
    dev_get(s, &leaves, m->index + p->n, sizeof leaves);
    TRY(dev_wait(s));
    t->nleaf = leaves;
    if (counter[NEAR_LONG]) by_id_then_key(t, &a);
    dev_launch(s, &near_copy, dev_blocks(p->n), &a);
    return OK;
}

/* ---- nodes ---- */

static enum err make_nodes(struct near_dev *t, struct making *m)
{
    struct near_dev_work *w = t->work;
    struct dev_stream *s = w->stream;
    const int64_t n = t->nleaf;
    TRY(room(t, &t->first, sizeof *t->first, n + 1));
    TRY(room(t, &t->node, sizeof *t->node, 2 * n));
    TRY(room(t, &t->at, sizeof *t->at, n));
    TRY(room(t, &w->parent, sizeof *w->parent, 2 * n));
    TRY(room(t, &w->where, sizeof *w->where, n));
    TRY(room(t, &w->arrived, sizeof *w->arrived, n));
    TRY(room(t, &m->range, sizeof *m->range, n));
    TRY(room(t, &m->leaf_key, sizeof *m->leaf_key, n));
    TRY(room(t, &m->chain, sizeof *m->chain, n));
    TRY(room(t, &m->sum, sizeof *m->sum, n + 1));
    dev_launch(
        s, &near_first, dev_blocks(t->n + 1),
        &(struct near_first_args){m->cut, m->mark, m->index, t->first, (int32_t)n, m->leaf_key});
    const struct near_nodes_args a = {
        .r = {(int32_t)n, m->leaf_key, NULL, m->range, w->parent},
        .chain = m->chain,
        .sum = m->sum,
        .at = t->at,
        .where = w->where,
        .node = t->node,
    };
    dev_fill(s, w->parent, 0xff, sizeof *w->parent); /* the root has none */
    dev_launch(s, &near_inner, dev_blocks(n - 1), &a);
    dev_launch(s, &near_count_chain, dev_blocks(n), &a);
    dev_scan(s, m->sum, m->chain, n);
    dev_launch(s, &near_put, dev_blocks(n), &a);
    return OK;
}

static void climb(struct near_dev *t, const struct dev_kernel *k, const double *reach)
{
    const struct near_dev_work *w = t->work;
    const struct near_up_args a = {.nleaf = (int32_t)t->nleaf,
                                   .first = t->first,
                                   .parent = w->parent,
                                   .at = t->at,
                                   .where = w->where,
                                   .order = t->order,
                                   .x = {t->x[0], t->x[1], t->x[2]},
                                   .reach = reach,
                                   .arrived = w->arrived,
                                   .node = t->node};
    dev_fill(w->stream, w->arrived, 0, sizeof *w->arrived * (size_t)t->nleaf);
    dev_launch(w->stream, k, dev_blocks(t->nleaf), &a);
}

void near_dev_reach(struct near_dev *t, const double *reach)
{
    if (t->nleaf) climb(t, &near_reaches, reach);
}

/* ---- life ---- */

static enum err make(struct near_dev *t, struct making *m, const struct near_points *p)
{
    struct near_node root;
    TRY(room(t, &t->order, sizeof *t->order, p->n));
    for (int k = 0; k < 3; k++) TRY(room(t, &t->x[k], sizeof *t->x[k], p->n));
    TRY(room(t, &t->work->counter, sizeof *t->work->counter, NEAR_COUNTERS));
    if (p->n == 0) return OK;
    TRY(room(t, &m->key, sizeof *m->key, p->n));
    TRY(room(t, &m->mark, sizeof *m->mark, p->n));
    TRY(room(t, &m->index, sizeof *m->index, p->n + 1));
    m->cut.key = m->key;
    TRY(sort_points(t, m, p));
    TRY(make_nodes(t, m));
    climb(t, &near_boxes, NULL);
    dev_get(t->work->stream, &root, t->node, sizeof root);
    TRY(dev_wait(t->work->stream));
    t->slack = near_slack(&t->frame, &root);
    return OK;
}

enum err near_dev_new(struct dev *d, struct dev_stream *s, const struct near_points *p,
                      const struct near_frame *frame, int leaf, struct near_dev **out)
{
    *out = NULL;
    if (p->n > POINTS_MAX)
        FAIL(ERR_LIMIT, "%ld points are more than a tree of one device can hold, %d: use more",
             (long)p->n, (int)POINTS_MAX);
    struct near_dev *t = mem_zero(sizeof *t, "near");
    t->work = mem_zero(sizeof *t->work, "near");
    t->work->dev = d;
    t->work->stream = s;
    t->frame = *frame;
    t->n = p->n;
    struct making m = {.cut = {.n = p->n, .leaf = leaf ? leaf : NEAR_LEAF}};
    enum err err = make(t, &m, p);
    void *const scratch[] = {m.key, m.mark, m.index, m.range, m.leaf_key, m.chain, m.sum};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) dev_drop(s, scratch[i]);
    if (err != OK) near_dev_free(&t);
    *out = t;
    return err;
}

void near_dev_free(struct near_dev **at)
{
    struct near_dev *t = *at;
    if (!t) return;
    void *const array[] = {t->order,       t->x[0],          t->x[1],         t->x[2],
                           t->first,       t->node,          t->at,           t->work->parent,
                           t->work->where, t->work->arrived, t->work->counter};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) dev_drop(t->work->stream, array[i]);
    FREE(t->work);
    FREE(*at);
}

/* ---- lists ---- */

enum err near_dev_find(struct near_dev *t, bool mutual, struct near_dev_lists *lists)
{
    struct dev_stream *s = t->work->stream;
    struct near_lists_args a = {.nleaf = (int32_t)t->nleaf,
                                .mutual = mutual,
                                .slack = t->slack,
                                .at = t->at,
                                .node = t->node,
                                .counter = t->work->counter};
    int64_t counter[NEAR_COUNTERS];
    size_t leaves = (size_t)t->nleaf;
    lists->n = 0;
    TRY(dev_room_need(s, &lists->room[0], sizeof *lists->first * (leaves + 1), "near: lists"));
    lists->first = lists->room[0].p;
    dev_fill(s, lists->first, 0, sizeof *lists->first);
    if (leaves == 0) return OK;
    for (int k = 0; k < 3; k++) a.period[k] = t->frame.period[k];
    TRY(room(t, &a.count, sizeof *a.count, t->nleaf));
    dev_fill(s, t->work->counter, 0, sizeof counter);
    dev_launch(s, &near_count, dev_blocks(t->nleaf), &a);
    dev_scan(s, lists->first, a.count, t->nleaf);
    dev_get(s, counter, t->work->counter, sizeof counter);
    dev_drop(s, a.count);
    TRY(dev_wait(s));
    if (counter[NEAR_TOTAL] > INT32_MAX)
        FAIL(ERR_LIMIT, "lists of neighbours have %ld leaves, more than the device can hold",
             (long)counter[NEAR_TOTAL]);
    lists->n = counter[NEAR_TOTAL];
    TRY(dev_room_need(s, &lists->room[1], sizeof *lists->leaf * (size_t)lists->n, "near: lists"));
    lists->leaf = a.leaf = lists->room[1].p;
    a.begin = lists->first;
    dev_launch(s, &near_fill, dev_blocks(t->nleaf), &a);
    return OK;
}

void near_dev_lists_free(struct dev_stream *s, struct near_dev_lists *lists)
{
    for (int k = 0; k < 2; k++) dev_drop(s, lists->room[k].p);
    *lists = (struct near_dev_lists){0};
}
