/* Neighbours, balls and groups of all methods compared with all pairs, for random, clustered
 * (Soneira & Peebles 1978) and coincident points, lattices and lines, periodic and not, in any
 * order, with one thread and two. Catches: a bound of boxes that leaves out a pair, a lost link
 * across the periodic boundary, a bucket searched twice, a label that depends on the order, an
 * ignored digit of a key.
 *
 * With arguments: tree_test METHOD RADIUS OUT, the points as doubles x y z on standard input in the
 * unit box, periodic: writes for each point its label, its number of neighbours and the sum of
 * their numbers, as int64, to OUT: for tests/property/tree.py. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "tree/tree.h"
#include "tree/tree_priv.h"

enum kind { UNIFORM, CLUSTERED, COINCIDENT, LATTICE, LINE, DEEP, KINDS };

static const char *const KIND[] = {"random", "clustered", "coincident", "lattice", "line", "deep"};

struct set {
    int64_t n;
    double *x[3], *h;
};

static double wrap(double x)
{
    x -= floor(x);
    return x < 1 ? x : 0;
}

/* Spheres in spheres: each contains the centres of 2 smaller ones, 1.9 times smaller. */
static void put_cluster(struct set *s, struct rng *r, const double c[3], double radius)
{
    double u[3], far2;
    for (int child = 0; child < 2; child++) {
        do {
            far2 = 0;
            for (int k = 0; k < 3; k++) {
                u[k] = 2 * rng_uniform(r) - 1;
                far2 += u[k] * u[k];
            }
        } while (far2 > 1);
        for (int k = 0; k < 3; k++) u[k] = c[k] + radius * u[k];
        if (radius > 1e-4)
            put_cluster(s, r, u, radius / 1.9);
        else if (s->n < 1 << 20) {
            for (int k = 0; k < 3; k++) s->x[k][s->n] = wrap(u[k]);
            s->n++;
        }
    }
}

static double place_of(enum kind kind, struct rng *r, int64_t i, int k)
{
    switch (kind) {
    case COINCIDENT: /* 40 positions, two of which are neighbours across the periodic boundary */
        return i % 40 == 0   ? 0
               : i % 40 == 1 ? 1 - 0x1p-30
                             : wrap(0.618 * (double)(i % 40 * (k + 1)));
    case LATTICE:
        return (double)(i / (k == 0 ? 1 : k == 1 ? 9 : 81) % 9) / 9;
    case LINE:
        return k == 1 ? rng_uniform(r) : 0.25;
    case DEEP: /* half of the points within 1e-9 of the box: below the resolution of one key */
        return i % 2 ? rng_uniform(r) : 0.3 + 1e-9 * rng_uniform(r);
    case UNIFORM:
    case CLUSTERED:
    case KINDS:
        break;
    }
    return rng_uniform(r);
}

static void make_set(struct set *s, enum kind kind, int64_t n, uint64_t seed)
{
    struct rng r = rng_make(seed, (uint64_t)kind, 0);
    int64_t max = kind == CLUSTERED ? 1 << 20 : n;
    for (int k = 0; k < 3; k++) s->x[k] = mem_new(sizeof(double) * (size_t)max + 1, "test");
    s->h = NULL;
    s->n = 0;
    if (kind == CLUSTERED)
        for (const double top = 0.3; s->n < n;) {
            double c[3] = {rng_uniform(&r), rng_uniform(&r), rng_uniform(&r)};
            put_cluster(s, &r, c, top);
        }
    for (int64_t i = 0; i < n && kind != CLUSTERED; i++)
        for (int k = 0; k < 3; k++) s->x[k][i] = place_of(kind, &r, i, k);
    s->n = n;
}

static void free_set(struct set *s)
{
    for (int k = 0; k < 3; k++) FREE(s->x[k]);
    FREE(s->h);
}

static struct tree_points points_of(const struct set *s, bool periodic)
{
    double p = periodic ? 1 : 0;
    return (struct tree_points){s->n, {s->x[0], s->x[1], s->x[2]}, s->h, {p, p, p}};
}

/* ---- the laws ---- */

struct answer {
    int32_t *label;
    struct tree_lists lists;
    double nearest;
    int64_t inside, sum;
};

static void count_ball(int32_t point, double far2, void *ctx)
{
    struct answer *a = ctx;
    a->inside++;
    a->sum += point;
}

static bool is_left(int32_t point, const void *ctx)
{
    const double *x = ctx;
    return x[point] < 0.7;
}

static struct answer ask(const struct set *s, bool periodic, enum tree_method m, double radius,
                         int threads)
{
    struct tree_points p = points_of(s, periodic);
    struct answer a = {.label = mem_new(sizeof *a.label * (size_t)s->n + 1, "test")};
    struct tree *t;
    omp_set_num_threads(threads);
    enum err err = tree_new(&p, m, radius, &t);
    CHECK(err == OK, "%s", err_message());
    if (err != OK) exit(1);
    tree_groups(t, radius, a.label);
    err = tree_neighbours(t, s->h ? 0 : radius, &a.lists);
    CHECK(err == OK, "lists");
    for (int i = 0; i < 20 && i < s->n; i++) {
        const double x[3] = {wrap(s->x[0][i] + 0.3 * radius), s->x[1][i], s->x[2][i]};
        tree_ball(t, x, radius, count_ball, &a);
        double far2[100];
        struct tree_nearest q = {.k = 1 + 5 * i, .max = INFINITY};
        a.nearest += tree_nearest(t, x, &q, far2) == q.k ? far2[0] : -1;
        q.keep = is_left, q.ctx = s->x[0], q.max = 2 * radius * radius;
        a.nearest += tree_nearest(t, x, &q, far2) == q.k ? far2[0] : -1;
    }
    tree_free(&t);
    return a;
}

static void free_answer(struct answer *a)
{
    FREE(a->label);
    tree_lists_free(&a->lists);
}

static bool same(const struct answer *a, const struct answer *b, int64_t n)
{
    size_t count = (size_t)a->lists.first[n];
    return memcmp(a->label, b->label, sizeof *a->label * (size_t)n) == 0 &&
           memcmp(a->lists.first, b->lists.first, sizeof(int64_t) * (size_t)(n + 1)) == 0 &&
           memcmp(a->lists.at, b->lists.at, sizeof(int32_t) * count) == 0 &&
           a->inside == b->inside && a->sum == b->sum && a->nearest == b->nearest;
}

static void test_methods(void)
{
    static const double radius[] = {0, 0.004, 0.03, 0.2, 0.6, 2};
    static const int64_t number[] = {1, 2, 13, 300, 729};
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 5 * 6 * 2; k++) {
            struct set s;
            double r = radius[k % 6];
            bool periodic = k / 30;
            if (r > 0.1 && number[k / 6 % 5] > 300) continue; /* lists would contain all points */
            make_set(&s, (enum kind)kind, number[k / 6 % 5], (uint64_t)k);
            if (kind == LATTICE && k % 6 == 2) r = 1.0 / 9; /* distances equal to the link */
            struct answer want = ask(&s, periodic, TREE_BRUTE, r, 1);
            for (int m = TREE_AUTO; m < TREE_METHODS; m++) {
                if (m == TREE_BRUTE) continue;
                struct answer got = ask(&s, periodic, (enum tree_method)m, r,
                                        s.n > 300 && kind == CLUSTERED ? 2 : 1);
                CHECK(same(&want, &got, s.n), "%s, %ld %s points, radius %g, periodic %d",
                      tree_method_name((enum tree_method)m), (long)s.n, KIND[kind], r, periodic);
                free_answer(&got);
            }
            free_answer(&want);
            free_set(&s);
        }
}

/* Lists within max(h_a, h_b) are symmetric. */
static void test_radii(void)
{
    struct set s;
    make_set(&s, CLUSTERED, 1500, 3);
    struct rng r = rng_make(7, 7, 7);
    s.h = mem_new(sizeof *s.h * (size_t)s.n, "test");
    for (int64_t i = 0; i < s.n; i++) s.h[i] = 0.1 * pow(rng_uniform(&r), 4);
    struct answer want = ask(&s, true, TREE_BRUTE, 0.1, 1);
    for (int m = TREE_BRUTE; m < TREE_METHODS; m++) {
        struct answer got = ask(&s, true, (enum tree_method)m, 0.1, 2);
        CHECK(same(&want, &got, s.n), "%s, with radii", tree_method_name((enum tree_method)m));
        free_answer(&got);
    }
    int64_t one_way = 0;
    const struct tree_lists *l = &want.lists;
    for (int32_t i = 0; i < s.n; i++)
        for (int64_t k = l->first[i]; k < l->first[i + 1]; k++) {
            int32_t j = l->at[k];
            bool back = false;
            for (int64_t q = l->first[j]; q < l->first[j + 1]; q++) back |= l->at[q] == i;
            one_way += !back;
        }
    CHECK(one_way == 0 && l->first[s.n] > s.n, "%ld of %ld pairs are in one list only",
          (long)one_way, (long)l->first[s.n]);
    free_answer(&want);
    free_set(&s);
}

/* Groups do not depend on the order of points. */
static void test_order(void)
{
    struct set s, q;
    const int64_t n = 5000;
    make_set(&s, CLUSTERED, n, 11);
    make_set(&q, UNIFORM, n, 11);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) q.x[k][i * 7919 % n] = s.x[k][i];
    struct answer a = ask(&s, true, TREE_RADIX, 0.003, 2), b = ask(&q, true, TREE_GRID, 0.003, 2);
    int64_t wrong = 0, groups = 0, *other = mem_new(sizeof *other * (size_t)n, "test");
    for (int64_t i = 0; i < n; i++) other[i] = -1;
    for (int64_t i = 0; i < n; i++) { /* labels must be in bijection */
        int64_t *o = &other[a.label[i]], l = b.label[i * 7919 % n];
        if (*o < 0) *o = l, groups++;
        wrong += *o != l;
    }
    int64_t there = 0;
    for (int64_t i = 0; i < n; i++) there += b.label[i] == i;
    CHECK(wrong == 0 && there == groups && groups > 10 && groups < n / 2,
          "%ld points in other groups, %ld and %ld groups", (long)wrong, (long)groups, (long)there);
    FREE(other);
    free_answer(&a);
    free_answer(&b);
    free_set(&s);
    free_set(&q);
}

static void test_bad(void)
{
    struct set s;
    struct tree *t;
    make_set(&s, UNIFORM, 100, 1);
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1, -0x1p-60, 1e300};
    for (int k = 0; k < 6; k++) {
        double was = s.x[1][17];
        s.x[1][17] = bad[k];
        struct tree_points p = points_of(&s, true);
        CHECK(tree_new(&p, TREE_AUTO, 0.1, &t) != OK && !t && strstr(err_message(), "point 17"),
              "%g: %s", bad[k], err_message());
        s.x[1][17] = was;
    }
    struct tree_points p = points_of(&s, true);
    CHECK(tree_new(&p, TREE_RADIX, NAN, &t) != OK, "a radius of NaN");
    CHECK(tree_new(&p, TREE_RADIX, -1, &t) != OK, "a radius below 0");
    for (int m = TREE_AUTO; m < TREE_METHODS; m++) {
        struct set none = {.n = 0, .x = {s.x[0], s.x[1], s.x[2]}};
        struct answer a = ask(&none, true, (enum tree_method)m, 0.1, 1);
        CHECK(a.inside == 0 && a.lists.first[0] == 0, "no points");
        free_answer(&a);
    }
    free_set(&s);
}

/* ---- sort ---- */

/* Keys that differ in all bits, few bits, one bit per thousand keys, in runs of equal keys, or not
 * at all. */
static uint64_t key_like(int kind, struct rng *r, int64_t i)
{
    uint64_t any = (uint64_t)rng_word(r) << 32;
    any |= rng_word(r);
    switch (kind) {
    case 0:
        return any >> 1;
    case 1:
        return any & 0x0f0000000000f003u;
    case 2:
        return i % 1000 ? 5 : any;
    case 3:
        return any % 100 * 0x0123456789abcdu;
    case 4:
        return (any & 7) ? (any >> 60) << 40 | (any & 0xff) : any;
    default:
        return 42;
    }
}

/* Checks that keys ascend, keep their points, and that equal keys stay in order. */
static void check_sort(int kind, int64_t n)
{
    struct rng r = rng_make(3, 4, (uint64_t)kind);
    struct radix_items s[2];
    uint64_t *key = mem_new(sizeof *key * (size_t)n + 1, "test");
    int64_t wrong = 0;
    for (int k = 0; k < 2; k++) {
        s[k].key = mem_new(sizeof *key * (size_t)n + 1, "test");
        s[k].order = mem_new(sizeof *s[k].order * (size_t)n + 1, "test");
    }
    for (int64_t i = 0; i < n; i++) {
        key[i] = s[0].key[i] = key_like(kind, &r, i);
        s[0].order[i] = (int32_t)i;
    }
    radix_sort(s[0], s[1], n);
    for (int64_t i = 0; i < n; i++) {
        wrong += key[s[0].order[i]] != s[0].key[i];
        if (i == 0) continue;
        wrong += s[0].key[i - 1] > s[0].key[i];
        wrong += s[0].key[i - 1] == s[0].key[i] && s[0].order[i - 1] >= s[0].order[i];
    }
    CHECK(wrong == 0, "%ld keys of kind %d: %ld are in the wrong place", (long)n, kind,
          (long)wrong);
    for (int k = 0; k < 2; k++) {
        FREE(s[k].key);
        FREE(s[k].order);
    }
    FREE(key);
}

static void test_sort(void)
{
    static const int64_t number[] = {0, 1, 2, 24, 25, 1000, 16384, 16385, 300000};
    for (int threads = 1; threads <= 2; threads++) {
        omp_set_num_threads(threads);
        for (int kind = 0; kind < 6; kind++)
            for (int k = 0; k < 9; k++) check_sort(kind, number[k]);
    }
    omp_set_num_threads(1);
}

/* A tree that sorts the caller's points finds the groups of a tree that copies them. */
static void test_take(void)
{
    struct set s;
    struct tree *t;
    const double link = 0.01;
    const int64_t n = 20000;
    int32_t *order;
    make_set(&s, CLUSTERED, n, 8);
    struct tree_points p = points_of(&s, true);
    int32_t *label = mem_new(sizeof *label * (size_t)n, "test"),
            *own = mem_new(sizeof *own * (size_t)n, "test");
    double *x[3];
    CHECK(tree_new(&p, TREE_GRID, link, &t) == OK, "%s", err_message());
    tree_groups(t, link, label);
    tree_free(&t);
    for (int k = 0; k < 3; k++) {
        p.x[k] = x[k] = mem_new(sizeof(double) * (size_t)(n + TREE_PAD), "test");
        memcpy(x[k], s.x[k], sizeof(double) * (size_t)n);
    }
    CHECK(tree_take(&p, x, &order, &t) == OK, "%s", err_message());
    tree_groups(t, link, own);
    tree_free(&t);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) wrong += x[k][i] != s.x[k][order[i]];
        wrong += own[i] > i || label[order[i]] != label[order[own[i]]];
        wrong += (own[i] == i) != (own[own[i]] == i);
    }
    int64_t groups[2] = {0, 0};
    for (int64_t i = 0; i < n; i++) groups[0] += label[i] == i, groups[1] += own[i] == i;
    CHECK(wrong == 0 && groups[0] == groups[1], "%ld wrong, %ld groups of %ld", (long)wrong,
          (long)groups[1], (long)groups[0]);
    for (int k = 0; k < 3; k++) FREE(x[k]);
    FREE(order);
    FREE(own);
    FREE(label);
    free_set(&s);
}

/* Many points at one position, and memory. */
static void test_memory(void)
{
    static const enum kind kinds[] = {UNIFORM, COINCIDENT};
    for (int k = 0; k < 2; k++) {
        struct set s;
        struct tree *t;
        const int64_t n = 300000;
        make_set(&s, kinds[k], n, 5);
        struct tree_points p = points_of(&s, true);
        size_t before = mem_now();
        int32_t *label = mem_new(sizeof *label * (size_t)n, "test");
        for (int m = TREE_RADIX; m < TREE_METHODS; m++) {
            /* 40 buckets contain all points */
            if (kinds[k] == COINCIDENT && m == TREE_GRID) continue;
            CHECK(tree_new(&p, (enum tree_method)m, 0.003, &t) == OK, "%s", err_message());
            tree_groups(t, 0.003, label);
            tree_free(&t);
        }
        CHECK(tree_new(&p, TREE_AUTO, 0.003, &t) == OK, "%s", err_message());
        CHECK(tree_method_of(t) == (kinds[k] == COINCIDENT ? TREE_RADIX : TREE_GRID), "%s for %s",
              tree_method_name(tree_method_of(t)), KIND[kinds[k]]);
        tree_free(&t);
        double each = (double)(mem_peak() - before) / (double)n + 24;
        CHECK(each <= 100, "%g bytes a point", each);
        FREE(label);
        CHECK(mem_now() == before, "%zu bytes are left", mem_now() - before);
        free_set(&s);
    }
}

/* ---- for tests/property/tree.py ---- */

static int write_answer(const char *method, double radius, const char *path)
{
    struct set s = {0};
    double x[3];
    int64_t cap = 0;
    while (fread(x, sizeof x, 1, stdin) == 1) {
        if (s.n == cap) {
            cap = 2 * cap + 1024;
            for (int k = 0; k < 3; k++)
                s.x[k] = mem_grow(s.x[k], sizeof(double) * (size_t)cap, "test");
        }
        for (int k = 0; k < 3; k++) s.x[k][s.n] = x[k];
        s.n++;
    }
    struct answer a = ask(&s, true, (enum tree_method)strtol(method, NULL, 10), radius, 2);
    FILE *f = fopen(path, "wb");
    bool good = f != NULL;
    for (int64_t i = 0; i < s.n && good; i++) {
        int64_t row[3] = {a.label[i], a.lists.first[i + 1] - a.lists.first[i], 0};
        for (int64_t k = a.lists.first[i]; k < a.lists.first[i + 1]; k++) row[2] += a.lists.at[k];
        good = fwrite(row, sizeof row, 1, f) == 1;
    }
    if (f && fclose(f) != 0) good = false;
    free_answer(&a);
    free_set(&s);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 4) return write_answer(argv[1], strtod(argv[2], NULL), argv[3]);
    test_memory(); /* must be first: the peak counts all tests */
    test_methods();
    test_radii();
    test_order();
    test_bad();
    test_sort();
    test_take();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
