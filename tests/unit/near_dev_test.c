/* The tree of tree/near on the emulated device equals that of the CPU to the last bit: order,
 * leaves, nodes and lists, for random, clustered, coincident and collinear points and points at the
 * boundary, periodic and not, and eight random orders of execution. A device that is too small
 * says so and keeps nothing. Catches: a node whose children are not ready, runs of one key in the
 * order of threads. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "near_set.h"
#include "test_device.h"
#include "tree/near_dev.h"
#include "tree/near_priv.h"

enum { SEEDS = 8 };

struct place {
    struct dev *dev;
    struct dev_stream *stream;
    double *x[3], *reach;
    int64_t *id;
};

static enum err open_place(struct place *q, const struct set *s, uint64_t seed, size_t max)
{
    char why[DEV_WHY];
    *q = (struct place){
        .dev = dev_open(&(struct dev_how){.kind = test_device(), .seed = seed, .max = max}, why)};
    if (!q->dev) FAIL(ERR_LIMIT, "%s", why);
    q->stream = dev_stream_new(q->dev);
    size_t bytes = sizeof(double) * (size_t)(s->p.n + 1);
    for (int k = 0; k < 3; k++) TRY(dev_new(q->dev, &q->x[k], bytes, "test"));
    TRY(dev_new(q->dev, &q->reach, bytes, "test"));
    TRY(dev_new(q->dev, &q->id, bytes, "test"));
    bytes = sizeof(double) * (size_t)s->p.n;
    for (int k = 0; k < 3; k++) dev_put(q->stream, q->x[k], s->x[k], bytes);
    dev_put(q->stream, q->reach, s->reach, bytes);
    dev_put(q->stream, q->id, s->id, bytes);
    return OK;
}

/* Returns the bytes that the tree left behind. */
static size_t close_place(struct place *q)
{
    dev_settle(q->dev);
    for (int k = 0; k < 3; k++) dev_free(q->dev, q->x[k]);
    dev_free(q->dev, q->reach);
    dev_free(q->dev, q->id);
    dev_stream_free(&q->stream);
    size_t left = dev_bytes(q->dev);
    dev_close(&q->dev);
    return left;
}

static struct near_points points_of(const struct place *q, int64_t n)
{
    return (struct near_points){n, {q->x[0], q->x[1], q->x[2]}, q->id};
}

/* Whether an array of the device equals one of the host. */
static bool same(struct dev_stream *s, const void *there, const void *here, size_t bytes)
{
    void *got = mem_new(bytes + 1, "test");
    dev_get(s, got, there, bytes);
    bool equal = dev_wait(s) == OK && memcmp(got, here, bytes) == 0;
    FREE(got);
    return equal;
}

static bool same_numbers(struct dev_stream *s, const int32_t *there, const int64_t *here, int64_t n)
{
    int32_t *narrow = mem_new(sizeof *narrow * (size_t)n + 1, "test");
    for (int64_t i = 0; i < n; i++) narrow[i] = (int32_t)here[i];
    bool equal = same(s, there, narrow, sizeof *narrow * (size_t)n);
    FREE(narrow);
    return equal;
}

static bool same_tree(struct dev_stream *s, const struct near_dev *t, const struct near *want)
{
    if (t->n != want->n || t->nleaf != want->nleaf) return false;
    bool equal = same_numbers(s, t->order, want->order, t->n);
    for (int k = 0; k < 3; k++)
        equal &= same(s, t->x[k], want->x[k], sizeof(double) * (size_t)t->n);
    if (t->nleaf == 0) return equal;
    return equal && same_numbers(s, t->first, want->first, t->nleaf + 1) &&
           same(s, t->node, want->tree->node, sizeof *t->node * (size_t)near_nodes(want)) &&
           same(s, t->at, want->tree->at, sizeof *t->at * (size_t)t->nleaf) &&
           t->slack == want->tree->slack;
}

static bool same_lists(struct near_dev *t, struct dev_stream *s, const struct near *want,
                       bool mutual, struct near_dev_lists *lists)
{
    struct near_list l = {0};
    int64_t n = want->nleaf, entries = 0, room = 0;
    int32_t *all = NULL, *first = mem_zero(sizeof *first * (size_t)(n + 1), "test");
    for (int64_t a = 0; a < n; a++) {
        near_leaves(want, a, near_leaf_reach(want, a), mutual, &l);
        for (int64_t i = 0; i < l.n; i++) {
            MEM_ROOM(all, entries, room, 64, "test");
            all[entries++] = (int32_t)(2 * l.leaf[i] + l.wraps[i]);
        }
        first[a + 1] = (int32_t)entries;
    }
    bool equal = near_dev_find(t, mutual, lists) == OK && lists->n == entries &&
                 same(s, lists->first, first, sizeof *first * (size_t)(n + 1)) &&
                 (entries == 0 || same(s, lists->leaf, all, sizeof *all * (size_t)entries));
    FREE(all);
    FREE(first);
    near_list_free(&l);
    return equal;
}

static void compare(enum kind kind, int64_t n, const struct near_frame *f, uint64_t seed)
{
    struct set s = new_set(kind, n, seed);
    struct place q;
    struct near *want;
    struct near_dev *t;
    struct near_dev_lists lists = {0};
    int leaf = seed % 3 == 0 ? 4 : 0;
    enum err err = near_new(&s.p, f, leaf, &want);
    if (err == OK) err = open_place(&q, &s, seed, 0);
    CHECK(err == OK, "%s", err_message());
    if (err != OK) exit(1);
    const struct near_points p = points_of(&q, n);
    err = near_dev_new(q.dev, q.stream, &p, f, leaf, &t);
    CHECK(err == OK, "%s", err_message());
    if (err != OK) exit(1);
    CHECK(same_tree(q.stream, t, want), "%ld %s points: another tree", (long)n, KIND[kind]);
    for (int k = 0; k < 2; k++) { /* radii change between searches */
        for (int64_t i = 0; i < n && k == 1; i++) s.reach[i] *= 0.5 + (double)(i % 7);
        dev_put(q.stream, q.reach, s.reach, sizeof *s.reach * (size_t)n);
        near_reach(want, s.reach);
        near_dev_reach(t, q.reach);
        CHECK(same_tree(q.stream, t, want), "%ld %s points: other radii", (long)n, KIND[kind]);
        CHECK(same_lists(t, q.stream, want, k == 0, &lists), "%ld %s points: other lists", (long)n,
              KIND[kind]);
    }
    near_dev_lists_free(q.stream, &lists);
    near_dev_free(&t);
    size_t left = close_place(&q);
    CHECK(left == 0, "%zu bytes are left", left);
    near_free(&want);
    free_set(&s);
}

static void test_full(void)
{
    struct set s = new_set(UNIFORM, 3000, 1);
    int failures = 0, built = 0;
    for (size_t max = 100000; max < 700000; max += 30000) {
        struct place q;
        struct near_dev *t = NULL;
        enum err err = open_place(&q, &s, 1, max);
        const struct near_points p = points_of(&q, s.p.n);
        if (err == OK) err = near_dev_new(q.dev, q.stream, &p, &PERIODIC, 0, &t);
        CHECK(err == OK ? t != NULL : err == ERR_LIMIT && !t, "%s", err_message());
        failures += err != OK;
        built += err == OK;
        near_dev_free(&t);
        CHECK(close_place(&q) == 0, "memory of a device of %zu bytes is left", max);
    }
    CHECK(failures > 3 && built > 3, "%d devices were too small, %d not", failures, built);
    free_set(&s);
}

int main(void)
{
    static const int64_t number[] = {0, 1, 2, 13, 300, 5000};
    static const struct near_frame *const frame[] = {&PERIODIC, &OPEN, &SLAB};
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 6; k++)
            for (uint64_t seed = 0; seed < (k < 5 ? 3 : SEEDS); seed++)
                compare((enum kind)kind, number[k], frame[(kind + (int)seed) % 3], seed);
    test_full();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
