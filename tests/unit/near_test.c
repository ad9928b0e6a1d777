/* The tree for sums over neighbours: order, leaves, nodes, lists and cuts compared with all pairs
 * and with their definitions, for random, clustered, coincident and collinear points and points at
 * the boundary, periodic and not, with radii over six orders of magnitude, with one thread and two.
 * Catches: a neighbour that no leaf of a list has, a distance across a boundary that is called
 * direct, ties not ordered by id, a leaf that could be larger.
 *
 * With an argument: neighbours of so many points, compared with those of the hash grid of tree.
 * test: tier=quick
 * test: 1000000 tier=long */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "near_set.h"
#include "tree/near.h"
#include "tree/near_priv.h"
#include "tree/tree.h"
#include "tree/tree_priv.h"

static struct near *tree_of(const struct set *s, const struct near_frame *f, int leaf)
{
    struct near *t;
    if (near_new(&s->p, f, leaf, &t) != OK) {
        CHECK(false, "%s", err_message());
        exit(1);
    }
    near_reach(t, s->reach);
    return t;
}

/* ---- order ---- */

/* The key of a point, bit by bit. */
static uint64_t slow_key(const struct near_frame *f, const struct near_points *p, int64_t i)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        double cell = floor((p->x[k][i] - f->lo[k]) * (0x1p21 / f->side[k]));
        uint64_t at = (uint64_t)fmin(fmax(cell, 0), 0x1p21 - 1);
        for (int bit = 0; bit < 21; bit++) key |= (at >> bit & 1) << (3 * bit + k);
    }
    return key;
}

static uint64_t *sorted_keys(const struct near *t, const struct near_points *p)
{
    uint64_t *key = mem_new(sizeof *key * (size_t)t->n + 1, "test");
    for (int64_t i = 0; i < t->n; i++) key[i] = slow_key(&t->frame, p, t->order[i]);
    return key;
}

static void check_order(const struct near *t, const struct set *s, const uint64_t *key,
                        const char *name)
{
    int64_t wrong = 0, *seen = mem_zero(sizeof *seen * (size_t)t->n + 1, "test");
    for (int64_t i = 0; i < t->n; i++) {
        int64_t j = t->order[i];
        wrong += seen[j]++ != 0;
        for (int k = 0; k < 3; k++) wrong += t->x[k][i] != s->x[k][j];
        wrong += key[i] != near_key(&t->frame, (double[3]){s->x[0][j], s->x[1][j], s->x[2][j]});
        if (i == 0) continue;
        wrong += key[i] < key[i - 1];
        wrong += key[i] == key[i - 1] && s->id[j] <= s->id[t->order[i - 1]];
    }
    CHECK(wrong == 0, "%s: %ld points of %ld are in the wrong place", name, (long)wrong,
          (long)t->n);
    FREE(seen);
}

/* A subset, in another order, has the order that its points have in the set. */
static void test_subset(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct set s = new_set((enum kind)kind, 3000, 5), part = new_set(UNIFORM, 1000, 5);
        for (int64_t i = 0; i < 1000; i++) {
            int64_t from = 3 * (999 - i);
            for (int k = 0; k < 3; k++) part.x[k][i] = s.x[k][from];
            part.id[i] = s.id[from];
        }
        struct near *t = tree_of(&s, &PERIODIC, 0), *q = tree_of(&part, &PERIODIC, 5);
        int64_t at = 0, wrong = 0;
        for (int64_t i = 0; i < t->n; i++)
            if (t->order[i] % 3 == 0) wrong += part.id[q->order[at++]] != s.id[t->order[i]];
        CHECK(at == 1000 && wrong == 0, "%s: %ld points of a subset are in another order",
              KIND[kind], (long)wrong);
        near_free(&t);
        near_free(&q);
        free_set(&s);
        free_set(&part);
    }
}

/* ---- leaves and nodes ---- */

static int top_bit(uint64_t differ)
{
    return differ ? 63 - __builtin_clzl(differ) : -1;
}

/* Number of points up to `most` + 1 whose keys agree with that of point i above bit `shift`. */
static int64_t alike(const uint64_t *key, int64_t n, int64_t i, int shift, int64_t most)
{
    int64_t lo = i, hi = i;
    while (lo > 0 && i - lo <= most && top_bit(key[lo - 1] ^ key[i]) <= shift) lo--;
    while (hi < n && hi - i <= most && top_bit(key[hi] ^ key[i]) <= shift) hi++;
    return hi - lo;
}

/* Leaves are radix nodes that have no more points than allowed, or one key; the nodes above them
 * have more. */
static void check_leaves(const struct near *t, const uint64_t *key, int leaf, const char *name)
{
    int64_t wrong = t->first[0] != 0 || t->first[t->nleaf] != t->n;
    for (int64_t a = 0; a < t->nleaf; a++) {
        int64_t i = t->first[a], end = t->first[a + 1];
        wrong += end - i > leaf && key[i] != key[end - 1];
        int before = i > 0 ? top_bit(key[i - 1] ^ key[i]) : 64;
        int behind = end < t->n ? top_bit(key[end] ^ key[i]) : 64;
        int shift = before < behind ? before : behind;
        wrong += shift < 0 || top_bit(key[i] ^ key[end - 1]) >= shift;
        if (shift < 64) wrong += alike(key, t->n, i, shift, leaf) <= leaf; /* else the root */
    }
    CHECK(wrong == 0, "%s: %ld of %ld leaves are not the largest nodes", name, (long)wrong,
          (long)t->nleaf);
}

/* Inner nodes have their children behind them and what these have. */
static void check_nodes(const struct near *t, const struct set *s, const char *name)
{
    const struct near_node *node = t->tree->node;
    int64_t wrong = 0, leaves = 0;
    for (int32_t i = 0; i < near_nodes(t); i++) {
        double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
        double reach = 0;
        int64_t below = 0;
        for (int32_t k = i; k < node[i].skip; k++) {
            int64_t leaf = node[k].leaf;
            if (leaf < 0) continue;
            below++;
            for (int64_t j = t->first[leaf]; j < t->first[leaf + 1]; j++) {
                for (int d = 0; d < 3; d++) lo[d] = fmin(lo[d], t->x[d][j]);
                for (int d = 0; d < 3; d++) hi[d] = fmax(hi[d], t->x[d][j]);
                reach = fmax(reach, s->reach[t->order[j]]);
            }
        }
        wrong += memcmp(lo, node[i].lo, sizeof lo) != 0 || memcmp(hi, node[i].hi, sizeof hi) != 0;
        wrong += reach != node[i].reach || node[i].skip != i + 2 * below - 1;
        if (node[i].leaf >= 0) wrong += node[i].leaf != leaves++ || below != 1;
    }
    CHECK(wrong == 0 && leaves == t->nleaf, "%s: %ld of %ld nodes are wrong", name, (long)wrong,
          (long)near_nodes(t));
}

/* ---- lists ---- */

static double apart(double a, double b, double period)
{
    double d = a - b;
    return period > 0 ? d - period * rint(d / period) : d;
}

static double far2_of(const struct near *t, int64_t i, int64_t j, bool *across)
{
    double far2 = 0;
    *across = false;
    for (int k = 0; k < 3; k++) {
        double d = apart(t->x[k][i], t->x[k][j], t->frame.period[k]);
        *across |= d != t->x[k][i] - t->x[k][j];
        far2 += d * d;
    }
    return far2;
}

/* Distance of the boxes of two leaves, over all images. */
static double leaf_gap(const struct near *t, int64_t a, int64_t b)
{
    double lo[2][3], hi[2][3], far2 = 0;
    near_leaf_box(t, a, lo[0], hi[0]);
    near_leaf_box(t, b, lo[1], hi[1]);
    for (int k = 0; k < 3; k++) {
        double least = INFINITY;
        for (int image = -1; image <= 1; image++) {
            double shift = image * t->frame.period[k];
            double gap = fmax(lo[1][k] + shift - hi[0][k], lo[0][k] - hi[1][k] - shift);
            least = fmin(least, fmax(gap, 0));
        }
        far2 += least * least;
    }
    return sqrt(far2);
}

struct law {
    const struct near *t;
    const struct set *s;
    bool mutual;
    char *listed; /* [nleaf] 0: not in the list, 1: in it, 2: and wraps */
    int64_t missing, across, loose, unordered, pairs, direct;
};

static void mark_list(struct law *w, int64_t a, double radius, const struct near_list *l)
{
    memset(w->listed, 0, (size_t)w->t->nleaf);
    for (int64_t k = 0; k < l->n; k++) {
        int64_t b = l->leaf[k];
        double reach = w->mutual ? fmax(radius, near_leaf_reach(w->t, b)) : radius;
        w->unordered += k > 0 && l->leaf[k - 1] >= b;
        w->loose += leaf_gap(w->t, a, b) > reach * (1 + 1e-12) + 1e-13;
        w->listed[b] = (char)(1 + l->wraps[k]);
        w->direct += !l->wraps[k];
    }
}

static void compare_pairs(struct law *w, int64_t a, double radius)
{
    const struct near *t = w->t;
    const double *reach = w->s->reach;
    for (int64_t i = t->first[a]; i < t->first[a + 1]; i++)
        for (int64_t b = 0; b < t->nleaf; b++)
            for (int64_t j = t->first[b]; j < t->first[b + 1]; j++) {
                bool across;
                double far2 = far2_of(t, i, j, &across), r = radius;
                if (w->mutual) r = fmax(reach[t->order[i]], reach[t->order[j]]);
                w->pairs += far2 <= r * r;
                w->missing += far2 <= r * r && !w->listed[b];
                w->across += across && w->listed[b] == 1;
            }
}

static void check_lists(const struct near *t, const struct set *s, double radius, bool mutual,
                        const char *name)
{
    struct near_list list = {0};
    struct law w = {.t = t, .s = s, .mutual = mutual};
    w.listed = mem_new((size_t)t->nleaf + 1, "test");
    for (int64_t a = 0; a < t->nleaf; a++) {
        double r = mutual ? near_leaf_reach(t, a) : radius;
        near_leaves(t, a, r, mutual, &list);
        mark_list(&w, a, r, &list);
        compare_pairs(&w, a, radius);
    }
    CHECK(w.missing + w.across + w.loose + w.unordered == 0 && w.pairs >= t->n,
          "%s, radius %g: of %ld pairs %ld are missing, %ld are across unannounced; %ld leaves too "
          "far, %ld not in order",
          name, radius, (long)w.pairs, (long)w.missing, (long)w.across, (long)w.loose,
          (long)w.unordered);
    CHECK(w.direct > 0 || t->nleaf < 10, "%s: all pairs of leaves wrap", name);
    FREE(w.listed);
    near_list_free(&list);
}

/* ---- cuts ---- */

static bool is_in(const struct near *t, const struct near_box *b, int64_t i, double reach)
{
    bool in = reach <= b->reach;
    for (int k = 0; k < 3; k++) in &= t->x[k][i] >= b->lo[k] && t->x[k][i] <= b->hi[k];
    return in;
}

static void check_cut(const struct near *t, const struct set *s, const char *name)
{
    static const int max[] = {1, 2, 7, 50, 5000};
    static struct near_box box[5000];
    for (int c = 0; c < 5; c++) {
        int64_t lost = 0;
        int n = near_cut(t, max[c], box);
        for (int64_t i = 0; i < t->n; i++) {
            bool found = false;
            for (int b = 0; b < n; b++) found |= is_in(t, &box[b], i, s->reach[t->order[i]]);
            lost += !found;
        }
        CHECK(n == (t->nleaf < max[c] ? t->nleaf : max[c]) && lost == 0,
              "%s: a cut of %d for %d loses %ld points", name, n, max[c], (long)lost);
    }
}

static void test_laws(void)
{
    static const int64_t number[] = {1, 2, 13, 700};
    static const struct near_frame *const frame[] = {&PERIODIC, &OPEN, &SLAB};
    static const double radius[] = {0, 0.003, 0.05, 0.3};
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 12; k++) {
            const struct near_frame *f = frame[k / 4];
            struct set s = new_set((enum kind)kind, number[k % 4], (uint64_t)k);
            int leaf = k / 4 == 1 ? 3 : NEAR_LEAF;
            struct near *t = tree_of(&s, f, k / 4 == 1 ? 3 : 0);
            uint64_t *key = sorted_keys(t, &s.p);
            check_order(t, &s, key, KIND[kind]);
            check_leaves(t, key, leaf, KIND[kind]);
            check_nodes(t, &s, KIND[kind]);
            check_lists(t, &s, 0, true, KIND[kind]);
            check_lists(t, &s, radius[(k + kind) % 4], false, KIND[kind]);
            check_cut(t, &s, KIND[kind]);
            near_free(&t);
            FREE(key);
            free_set(&s);
        }
}

/* ---- the rest ---- */

/* The ends of inner nodes of the example of David-Cléris et al. (2025), of twelve leaves; these
 * keys have its tree. */
static void test_example(void)
{
    static const unsigned char key[12] = {0, 1, 2, 3, 4, 6, 7, 8, 12, 13, 14, 15};
    static const int32_t want[11] = {11, 0, 3, 0, 6, 6, 0, 11, 11, 8, 11};
    struct radix r = {.nleaf = 12};
    radix_key wide[12];
    int32_t parent[24];
    for (int i = 0; i < 12; i++) wide[i] = key[i];
    radix_make_nodes(&r, wide, parent);
    for (int i = 0; i < 11; i++) {
        int32_t end = r.range[i][0] == i ? r.range[i][1] : r.range[i][0];
        CHECK(end == want[i], "inner node %d ends at leaf %d, not %d", i, end, want[i]);
    }
    FREE(r.child);
    FREE(r.range);
}

/* A hundred thousand points at one place are one leaf, in the order of their ids. */
static void test_crowd(void)
{
    const int64_t n = 100000;
    struct set s = new_set(UNIFORM, n + 500, 8);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) s.x[k][i] = PERIODIC.lo[k] + 0.3 * PERIODIC.side[k];
    struct near *t = tree_of(&s, &PERIODIC, 0);
    struct near_list list = {0};
    int64_t big = 0;
    for (int64_t a = 0; a < t->nleaf; a++) {
        if (t->first[a + 1] - t->first[a] < n) continue;
        big++;
        near_leaves(t, a, 1e-9, false, &list);
        CHECK(list.n == 1 && list.leaf[0] == a && !list.wraps[0], "%ld leaves near the crowd",
              (long)list.n);
    }
    CHECK(big == 1 && t->nleaf > 40, "%ld leaves have the crowd", (long)big);
    uint64_t *key = sorted_keys(t, &s.p);
    check_order(t, &s, key, "crowd");
    FREE(key);
    near_list_free(&list);
    near_free(&t);
    free_set(&s);
}

static void compare_threads(enum kind kind, int64_t n)
{
    struct set s = new_set(kind, n, 4);
    struct near *t[2];
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(k + 1);
        t[k] = tree_of(&s, &PERIODIC, 0);
    }
    omp_set_num_threads(1);
    size_t leaves = (size_t)t[0]->nleaf;
    CHECK(t[1]->nleaf == t[0]->nleaf &&
              memcmp(t[0]->order, t[1]->order, sizeof *t[0]->order * (size_t)n) == 0 &&
              memcmp(t[0]->first, t[1]->first, sizeof *t[0]->first * (leaves + 1)) == 0 &&
              memcmp(t[0]->tree->node, t[1]->tree->node,
                     sizeof(struct near_node) * (2 * leaves - 1)) == 0,
          "%s: the tree depends on threads", KIND[kind]);
    for (int k = 0; k < 2; k++) near_free(&t[k]);
    free_set(&s);
}

/* Threads share the work by 2^12 points: sets that end just behind a share. */
static void test_shares(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        compare_threads((enum kind)kind, 10000);
        for (int more = 1; more < 14; more++) {
            struct set s = new_set((enum kind)kind, 4096 + more, 4);
            struct near *t = tree_of(&s, &PERIODIC, 0);
            uint64_t *key = sorted_keys(t, &s.p);
            check_order(t, &s, key, KIND[kind]);
            check_leaves(t, key, NEAR_LEAF, KIND[kind]);
            FREE(key);
            near_free(&t);
            free_set(&s);
        }
    }
}

/* ---- many points ---- */

/* Counts the neighbours of the points of a leaf in a list, and adds up their numbers. */
static void count_near(const struct near *t, int64_t a, const struct near_list *l, double radius,
                       int64_t *count, int64_t *sum)
{
    for (int64_t i = t->first[a]; i < t->first[a + 1]; i++)
        for (int64_t k = 0; k < l->n; k++)
            for (int64_t j = t->first[l->leaf[k]]; j < t->first[l->leaf[k] + 1]; j++) {
                double far2 = 0;
                for (int d = 0; d < 3; d++) {
                    double far = fabs(t->x[d][i] - t->x[d][j]);
                    if (l->wraps[k]) far = fmin(far, t->frame.period[d] - far);
                    far2 += far * far;
                }
                if (far2 > radius * radius || i == j) continue;
                count[t->order[i]]++;
                sum[t->order[i]] += t->order[j];
            }
}

static void test_many(int64_t n)
{
    const struct near_frame unit = {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}};
    struct set s = new_set(UNIFORM, n, 3);
    for (int64_t i = 0; i < n; i++) /* half of the points in groups of eight */
        for (int k = 0; k < 3; k++) {
            double u = (s.x[k][i] - PERIODIC.lo[k]) / PERIODIC.side[k];
            if (i % 16 >= 8 && i % 16 < 15) u = s.x[k][i / 16 * 16] + 0.001 * (u - 0.5);
            s.x[k][i] = u - floor(u) < 1 ? u - floor(u) : 0;
        }
    const double radius = 1.5 / cbrt((double)n);
    struct near *t = tree_of(&s, &unit, 0);
    struct near_list list = {0};
    int64_t *count = mem_zero(sizeof *count * (size_t)n, "test");
    int64_t *sum = mem_zero(sizeof *sum * (size_t)n, "test");
    for (int64_t a = 0; a < t->nleaf; a++) {
        near_leaves(t, a, radius, false, &list);
        count_near(t, a, &list, radius, count, sum);
    }
    struct tree_points p = {n, {s.x[0], s.x[1], s.x[2]}, NULL, {1, 1, 1}};
    struct tree *grid;
    struct tree_lists want = {0};
    int64_t wrong = 0;
    CHECK(tree_new(&p, TREE_GRID, radius, &grid) == OK, "%s", err_message());
    CHECK(tree_neighbours(grid, radius, &want) == OK, "%s", err_message());
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = want.first[i]; k < want.first[i + 1]; k++) sum[i] -= want.at[k];
        wrong += sum[i] != 0 || count[i] != want.first[i + 1] - want.first[i];
    }
    CHECK(wrong == 0 && want.first[n] > 10 * n, "%ld of %ld points have other neighbours",
          (long)wrong, (long)n);
    tree_lists_free(&want);
    tree_free(&grid);
    near_list_free(&list);
    near_free(&t);
    FREE(count);
    FREE(sum);
    free_set(&s);
}

/* Within an infinite radius are all leaves, and nothing else. */
static void test_all(void)
{
    for (int64_t n = 1; n < 700; n += 37) {
        struct set s = new_set(UNIFORM, n, 2);
        struct near *t = tree_of(&s, n % 2 ? &OPEN : &PERIODIC, 0);
        struct near_list list = {0};
        near_leaves(t, t->nleaf / 2, INFINITY, n % 3 == 0, &list);
        CHECK(list.n == t->nleaf && list.leaf[list.n - 1] == t->nleaf - 1, "%ld leaves of %ld",
              (long)list.n, (long)t->nleaf);
        near_list_free(&list);
        near_free(&t);
        free_set(&s);
    }
}

static void test_bad(void)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1.1, -0x1p-40};
    struct set s = new_set(UNIFORM, 40, 1);
    struct near *t;
    for (int k = 0; k < 5; k++) {
        double was = s.x[1][17];
        s.x[1][17] = bad[k];
        s.id[17] = 1234567;
        CHECK_FAILS(near_new(&s.p, &PERIODIC, 0, &t), "id 1234567");
        if (k < 3) CHECK_FAILS(near_new(&s.p, &OPEN, 0, &t), "id 1234567");
        s.x[1][17] = was;
    }
    s.p.n = 0;
    t = tree_of(&s, &OPEN, 0);
    struct near_box box;
    CHECK(t->n == 0 && t->nleaf == 0 && t->first[0] == 0 && near_cut(t, 1, &box) == 0,
          "a tree without points");
    near_free(&t);
    CHECK(!t, "near_free");
    free_set(&s);
}

int main(int argc, char **argv)
{
    omp_set_num_threads(1);
    if (argc > 1) {
        test_many(strtol(argv[1], NULL, 10));
        printf("%d passed, %d failed\n", passed, failed);
        return failed != 0;
    }
    test_laws();
    test_subset();
    test_example();
    test_crowd();
    test_shares();
    test_all();
    test_bad();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
