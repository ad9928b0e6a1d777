/* Division of uniform meshes in bricks (lib/brick), and the ranks that have them: the tables of
 * Pekkilä et al. (2022), and all divisions of random meshes, compared one by one. Catches: a
 * surface without its edges, a node's own halos counted as those of others, a division that is
 * skipped, two ranks with one brick.
 *
 * test: mpi=1 */
#include <math.h>
#include <time.h>

#include "base/rng.h"
#include "brick/brick.h"
#include "brick/divide.h"
#include "check.h"

/* Rows for 1, 2, 4 … 64 nodes, then ranks of a node: appendix A. */
static const struct {
    int64_t n[3];
    const char *table[2]; /* A.1, A.2 */
} PAPER[] = {{{512, 512, 512}, {"111 211 221 222 422 442 444", "111 211 221 222 422 442 444"}},
             {{1024, 512, 512}, {"111 211 411 421 422 822 842", "111 211 221 222 422 822 842"}},
             {{1024, 1024, 512}, {"111 211 221 421 441 442 842", "111 211 221 222 422 442 842"}}};

struct cost {
    double work, halo;
};

/* Cells of the largest brick, and its halo cells that come from elsewhere. q: parts of the boxes of
 * nodes; NULL: the halo of p as a whole counts. */
static struct cost cost_of(const int64_t n[3], int r, const int p[3], const int q[3])
{
    double w[3], own, all, near = 1;
    for (int d = 0; d < 3; d++) {
        w[d] = ceil((double)n[d] / (p[d] * (q ? q[d] : 1)));
        near *= w[d] + (q && p[d] > 1 ? r : 0);
    }
    own = w[0] * w[1] * w[2];
    all = (w[0] + 2 * r) * (w[1] + 2 * r) * (w[2] + 2 * r);
    double halo = q ? all - near : all - own;
    return (struct cost){own, halo};
}

static void test_paper(void)
{
    int rows = 0;
    for (int k = 0; k < 3; k++)
        for (int within = 0; within < 2; within++)
            for (int r = 1; r <= 3; r += 2)
                for (int i = 0; i < 7; i++) {
                    const int one[3] = {1, 1, 1}, ranks = 1 << i;
                    const char *row = PAPER[k].table[within] + 4 * i;
                    int want[3] = {row[0] - '0', row[1] - '0', row[2] - '0'}, p[3];
                    brick_best(PAPER[k].n, ranks, within ? ranks : 1, r, p);
                    double a = cost_of(PAPER[k].n, r, p, within ? one : NULL).halo,
                           b = cost_of(PAPER[k].n, r, want, within ? one : NULL).halo;
                    CHECK(a == b && p[0] * p[1] * p[2] == ranks,
                          "%d: %d %d %d for %d %d %d, radius %d", ranks, p[0], p[1], p[2], want[0],
                          want[1], want[2], r);
                    rows++;
                }
    CHECK(rows == 84, "42 rows for two radii");
}

/* ---- all divisions ---- */

static bool is_possible(int64_t n, int p, int r)
{
    return p == 1 || n / p >= r;
}

/* The best of all divisions in at most `max` parts; q as in cost_of. */
static struct cost all_divisions(const int64_t n[3], int max, int r, const int q[3], int best[3])
{
    struct cost least = {0, 0};
    const int one[3] = {1, 1, 1}, *o = q ? q : one;
    for (int x = 1; x <= max; x++)
        for (int y = 1; y <= max / x; y++)
            for (int z = 1; z <= max / x / y; z++) {
                int p[3] = {x, y, z};
                bool can = is_possible(n[0], o[0] * x, r) && is_possible(n[1], o[1] * y, r) &&
                           is_possible(n[2], o[2] * z, r);
                if (!can) continue;
                struct cost t = cost_of(n, r, p, q);
                bool better = least.work == 0 || t.work < least.work ||
                              (t.work == least.work && t.halo < least.halo);
                if (!better) continue;
                least = t;
                memcpy(best, p, sizeof p);
            }
    return least;
}

static double largest(const int64_t n[3], const int p[3])
{
    return ceil((double)n[0] / p[0]) * ceil((double)n[1] / p[1]) * ceil((double)n[2] / p[2]);
}

static bool divides(const int64_t n[3], const int p[3])
{
    return n[0] % p[0] == 0 && n[1] % p[1] == 0 && n[2] % p[2] == 0;
}

/* 1 to `max`, small numbers as often as large ones. */
static int64_t draw(struct rng *g, double max)
{
    return (int64_t)exp(rng_uniform(g) * log(max + 0.99));
}

static void case_print(const char *what, const int64_t n[3], int ranks, int node, int r,
                       const int p[3])
{
    printf("%s: %ld × %ld × %ld, %d ranks, %d of a node, radius %d: %d %d %d\n", what, (long)n[0],
           (long)n[1], (long)n[2], ranks, node, r, p[0], p[1], p[2]);
}

/* Nodes with one rank: the best of all. Returns whether the parts are even. */
static bool one_level(const int64_t n[3], int ranks, int r)
{
    int p[3], best[3];
    brick_best(n, ranks, 1, r, p);
    struct cost a = cost_of(n, r, p, NULL), b = all_divisions(n, ranks, r, NULL, best);
    bool good = a.work == b.work && a.halo == b.halo;
    CHECK(good, "%d %d %d is better", best[0], best[1], best[2]);
    if (!good) case_print("division", n, ranks, 1, r, p);
    bool fits = (int64_t)p[0] * p[1] * p[2] <= ranks;
    for (int d = 0; d < 3; d++) fits &= is_possible(n[d], p[d], r);
    CHECK(fits, "too many parts");
    return divides(n, p);
}

/* First among nodes, then within one, unless one level has smaller bricks. */
static void two_levels(const int64_t n[3], int ranks, int node, int r)
{
    int p[3], outer[3], inner[3], flat[3];
    if (node > ranks) node = ranks;
    all_divisions(n, ranks / node, r, NULL, outer);
    struct cost nodes = cost_of(n, r, outer, NULL);
    brick_best(n, ranks, 1, r, flat);
    brick_best(n, ranks, node, r, p);
    bool fits = (int64_t)p[0] * p[1] * p[2] <= ranks;
    for (int d = 0; d < 3; d++) fits &= is_possible(n[d], p[d], r);
    CHECK(fits, "too many parts");
    CHECK(largest(n, p) <= largest(n, flat), "the largest brick");
    bool found = memcmp(p, flat, sizeof p) == 0 && node > 1;
    /* any of the best divisions among nodes will do */
    for (int x = 1; x <= p[0] && !found; x++)
        for (int y = 1; y <= p[1] && !found; y++)
            for (int z = 1; z <= p[2] && !found; z++) {
                int q[3] = {x, y, z}, s[3] = {p[0] / x, p[1] / y, p[2] / z};
                if (p[0] % x || p[1] % y || p[2] % z) continue;
                struct cost t = cost_of(n, r, q, NULL);
                if (t.work != nodes.work || t.halo != nodes.halo) continue;
                struct cost a = cost_of(n, r, s, q), b = all_divisions(n, node, r, q, inner);
                found = a.work == b.work && a.halo == b.halo;
            }
    CHECK(found, "neither the best of nodes and ranks nor of ranks");
    if (!found) case_print("division", n, ranks, node, r, p);
}

static void test_random(void)
{
    struct rng g = rng_make(2022, 1, 0);
    int even = 0;
    for (int i = 0; i < 120; i++) {
        int64_t n[3];
        int r = 1 + (int)draw(&g, 4) % 4, ranks = i % 20 ? (int)draw(&g, 500) : 9990 + i / 20;
        for (int d = 0; d < 3; d++) n[d] = draw(&g, i % 3 ? 300 : 3000);
        even += one_level(n, ranks, r);
        if (ranks <= 500) two_levels(n, ranks, (int)draw(&g, 16), r);
    }
    for (int i = 0; i < 60; i++) { /* numbers of many factors */
        int64_t n[3];
        for (int d = 0; d < 3; d++) n[d] = (int64_t)1 << (2 + rng_word(&g) % 9);
        int ranks = 1 << rng_word(&g) % 10;
        CHECK(one_level(n, ranks, 1 + (int)(rng_word(&g) % 4)) || ranks > 1, "one brick");
        two_levels(n, ranks, 1 << rng_word(&g) % 4, 3);
    }
    CHECK(even > 10, "%d even divisions", even);
}

/* Small meshes on numbers of ranks that do not divide them. */
static void test_awkward(void)
{
    static const struct {
        int64_t n[3];
        int ranks, halo, bricks;
        double cells;
    } CASES[] = {{{32, 32, 32}, 3, 3, 3, 11 * 32 * 32},
                 {{32, 32, 32}, 5, 3, 5, 7 * 32 * 32},
                 {{32, 32, 32}, 7, 3, 7, 5 * 32 * 32},
                 {{32, 32, 32}, 31, 3, 30, 7 * 11 * 16},
                 {{1, 1, 1}, 64, 4, 1, 1},
                 {{7, 1, 1}, 5, 2, 3, 3},
                 {{2, 2, 2}, 8, 1, 8, 1},
                 {{64, 64, 1}, 4, 3, 4, 32 * 32},
                 {{1000, 1000, 1000}, 97, 3, 96, 1.044e7},
                 {{8, 8, 8}, 100, 4, 8, 64}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int p[3];
        brick_best(CASES[i].n, CASES[i].ranks, 1, CASES[i].halo, p);
        int bricks = p[0] * p[1] * p[2];
        double cells = largest(CASES[i].n, p);
        CHECK(bricks == CASES[i].bricks || cells < CASES[i].cells, "case %zu: %d %d %d", i, p[0],
              p[1], p[2]);
        CHECK(cells <= CASES[i].cells, "case %zu: %g cells", i, cells);
    }
}

static void test_speed(void)
{
    const int64_t n[3] = {4096, 4096, 4096};
    int p[3];
    clock_t began = clock();
    for (int ranks = 99990; ranks <= 100000; ranks++) brick_best(n, ranks, 1, 3, p);
    double each = (double)(clock() - began) / CLOCKS_PER_SEC / 11;
    CHECK(each < 0.5, "%g s for 100000 ranks", each);
    CHECK(divides(n, p) || largest(n, p) > 0, "%d", p[0]);
}

/* ---- parts and ranks ---- */

static void test_parts(void)
{
    struct rng g = rng_make(2022, 2, 0);
    for (int i = 0; i < 200; i++) {
        int64_t n = draw(&g, i % 2 ? 100 : 1e9), wide = 0, narrow = n;
        int p = (int)draw(&g, n < 1000 ? (double)n : 1000);
        for (int k = 0; k < p; k++) {
            int64_t w = brick_first(n, p, k + 1) - brick_first(n, p, k);
            wide = w > wide ? w : wide;
            narrow = w < narrow ? w : narrow;
        }
        CHECK(brick_first(n, p, 0) == 0 && brick_first(n, p, p) == n, "%ld in %d", (long)n, p);
        CHECK(wide - narrow <= 1 && narrow >= 1, "%ld in %d: %ld to %ld", (long)n, p, (long)narrow,
              (long)wide);
    }
}

/* Each brick has one rank, and ranks without cells have none. Returns the bricks with neighbours
 * along `d` of another node. */
static int64_t place(const int64_t n[3], int ranks, int node, const int p[3], int64_t other[3])
{
    struct brick_place w = brick_place_new(n, ranks, node, 1, p);
    int64_t bricks = 0;
    other[0] = other[1] = other[2] = 0;
    for (int r = 0; r < ranks; r++) {
        int at[3], next[3];
        if (!brick_place_at(&w, r, at)) continue;
        bricks++;
        CHECK(brick_place_rank(&w, at) == r, "rank %d", r);
        for (int d = 0; d < 3; d++) {
            memcpy(next, at, sizeof at);
            next[d] = at[d] + (r % 2 ? 1 - 2 * p[d] : 1);
            int peer = brick_place_rank(&w, next);
            other[d] += peer / node != r / node;
        }
    }
    CHECK(bricks == (int64_t)p[0] * p[1] * p[2], "%ld bricks of %d × %d × %d", (long)bricks, p[0],
          p[1], p[2]);
    return bricks;
}

static void test_places(void)
{
    struct rng g = rng_make(2022, 3, 0);
    const int64_t n[3] = {512, 512, 512};
    int64_t other[3];
    for (int i = 0; i < 100; i++) {
        int p[3], node = (int)draw(&g, 20);
        for (int d = 0; d < 3; d++) p[d] = (int)draw(&g, 12);
        place(n, p[0] * p[1] * p[2] + (int)draw(&g, 30) - 1, node, p, other);
    }
    /* cubes of eight ranks: each has three faces to other nodes, one along each axis */
    place(n, 64, 8, (int[3]){4, 4, 4}, other);
    CHECK(other[0] == 32 && other[1] == 32 && other[2] == 32, "%ld %ld %ld", (long)other[0],
          (long)other[1], (long)other[2]);
    /* nodes of three ranks, in the order of a division by three */
    place(n, 12, 3, (int[3]){3, 2, 2}, other);
    CHECK(other[0] == 0 && other[1] == 12 && other[2] == 12, "%ld %ld %ld", (long)other[0],
          (long)other[1], (long)other[2]);
}

/* Coordinates are the interleaved bits of the rank, x first. */
static void test_morton(void)
{
    const int64_t n[3] = {512, 512, 512};
    struct brick_place w = brick_place_new(n, 512, 1, 3, (int[3]){8, 8, 8});
    for (int r = 0; r < 512; r++) {
        int at[3] = {0}, got[3];
        for (int k = 0; k < 9; k++) at[k % 3] |= (r >> k & 1) << k / 3;
        CHECK(brick_place_at(&w, r, got) && memcmp(at, got, sizeof at) == 0, "rank %d", r);
    }
}

int main(void)
{
    test_paper();
    test_random();
    test_awkward();
    test_speed();
    test_parts();
    test_places();
    test_morton();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
