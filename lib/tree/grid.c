/* tree/grid: a hash grid.
 *
 * Space is divided into cells no smaller than the reach, so neighbours are in the 27 cells around a
 * point. There are about as many buckets as points; along each axis cell i is in bucket i modulo
 * their number. Neighbouring buckets thus hold neighbouring cells, and memory does not depend on
 * the size of the box; a distant cell in the same bucket only costs distance tests with points that
 * are too far. Points are sorted by bucket, x fastest: three buckets along x are one range. An axis
 * of fewer than four cells has one bucket. */
#include "tree/tree_priv.h"

/* ---- building ---- */

static void plan_axis(struct tree *t, int k, int shift)
{
    struct grid *g = &t->grid;
    double lo = 0, size = t->space.period[k];
    if (!isfinite(size)) {
        lo = t->around.lo[k];
        size = t->around.hi[k] - lo;
    }
    /* min cell size with a margin for rounding; the number of cells is exact in a double */
    double min = t->reach * (1 + 1e-9) + 4 * t->space.slack;
    double cells = size > 0 ? fmin(floor(size / min), 0x1p40) : 0;
    g->lo[k] = lo;
    g->shift[k] = cells >= 4 ? (cells < ldexp(1, shift) ? (int)log2(cells) : shift) : 0;
    if (g->shift[k] < 2) g->shift[k] = 0;
    g->cells[k] = (int64_t)cells >> g->shift[k] << g->shift[k];
    g->scale[k] = g->shift[k] ? (double)g->cells[k] / size : 0;
}

static inline int64_t cell_of(const struct grid *g, int k, double x)
{
    return (int64_t)((x - g->lo[k]) * g->scale[k]);
}

static inline int64_t bucket_of(const struct grid *g, const double x[3])
{
    int64_t at[3];
    for (int k = 0; k < 3; k++) at[k] = cell_of(g, k, x[k]) & ((1 << g->shift[k]) - 1);
    return ((at[2] << g->shift[1] | at[1]) << g->shift[0]) | at[0];
}

static inline int64_t bucket_at(const struct tree *t, int64_t i)
{
    return bucket_of(&t->grid, (double[3]){t->p.x[0][i], t->p.x[1][i], t->p.x[2][i]});
}

bool grid_build(struct tree *t, double max)
{
    struct grid *g = &t->grid;
    int64_t n = t->p.n;
    if (n == 0) return true;
    int bits = 6;
    while (1l << bits < n) bits++;
    for (int k = 0; k < 3; k++) plan_axis(t, k, (bits + k) / 3);
    int64_t buckets = 1l << (g->shift[0] + g->shift[1] + g->shift[2]);
    g->first = mem_zero(sizeof *g->first * (size_t)(buckets + 2), "tree: buckets");
    int32_t *bucket = mem_new(sizeof *bucket * (size_t)n, "tree: buckets");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) bucket[i] = (int32_t)bucket_at(t, i);
    for (int64_t i = 0; i < n; i++) g->first[bucket[i] + 2]++;
    /* distance tests with points of the same bucket, summed over points; 13 more buckets cost about
     * as much */
    double looks = 0;
    for (int64_t b = 0; b < buckets; b++) {
        double c = g->first[b + 2];
        looks += c * c;
        g->first[b + 2] += g->first[b + 1];
    }
    if (14 * looks / (double)n > max) {
        FREE(bucket);
        FREE(g->first);
        return false;
    }
    t->order = mem_new(sizeof *t->order * (size_t)n, "tree: order");
    for (int64_t i = 0; i < n; i++) t->order[g->first[bucket[i] + 1]++] = (int32_t)i;
    FREE(bucket);
    tree_sort_points(t);
    return true;
}

void grid_free(struct tree *t)
{
    FREE(t->grid.first);
}

/* ---- walks ---- */

/* Buckets `from` to `from + n - 1` along an axis, modulo the number of buckets. */
struct reach {
    int64_t from;
    int n;
};

static inline struct reach around(const struct grid *g, int k, double x)
{
    if (g->shift[k] == 0) return (struct reach){0, 1};
    return (struct reach){cell_of(g, k, x) - 1, 3};
}

/* Sorted points in buckets x0..x0+n-1 of a row: one range, or two if the row wraps. */
struct pieces {
    int n;
    int64_t from[2], end[2];
};

static inline struct pieces row_points(const struct grid *g, int64_t x0, int n, int64_t y,
                                       int64_t z)
{
    struct pieces p = {.n = 1};
    int64_t mask = (1 << g->shift[0]) - 1;
    int64_t row = ((z & ((1 << g->shift[2]) - 1)) << g->shift[1] | (y & ((1 << g->shift[1]) - 1)))
                  << g->shift[0];
    int64_t a = x0 & mask, b = a + n;
    p.from[0] = g->first[row + a];
    p.end[0] = g->first[row + (b > mask + 1 ? mask + 1 : b)];
    if (b > mask + 1) {
        p.n = 2;
        p.from[1] = g->first[row];
        p.end[1] = g->first[row + b - mask - 1];
    }
    return p;
}

void grid_near(const struct tree *t, const double x[3], double radius, tree_visit *v, void *ctx)
{
    const struct grid *g = &t->grid;
    const double *at[3], r2 = radius * radius;
    struct reach r[3];
    tree_sorted(t, at);
    for (int k = 0; k < 3; k++) {
        double far = isfinite(t->space.period[k]) ? 0 : (x[k] - g->lo[k]) * g->scale[k];
        if (!(far > -2 && far < (double)g->cells[k] + 2)) return; /* no point is close enough */
        r[k] = around(g, k, x[k]);
    }
    for (int z = 0; z < r[2].n; z++)
        for (int y = 0; y < r[1].n; y++) {
            struct pieces p = row_points(g, r[0].from, r[0].n, r[1].from + y, r[2].from + z);
            for (int k = 0; k < p.n; k++)
                for (int64_t i = p.from[k]; i < p.end[k]; i++) {
                    double far2 = tree_point_distance2(&t->space, at, i, x);
                    if (far2 <= r2) v(t->order[i], far2, ctx);
                }
        }
}

static void point_lists(const struct tree_search *s, int64_t i)
{
    const struct tree *t = s->t;
    const struct grid *g = &t->grid;
    const double *at[3];
    struct reach r[3];
    tree_sorted(t, at);
    for (int k = 0; k < 3; k++) r[k] = around(g, k, at[k][i]);
    for (int z = 0; z < r[2].n; z++)
        for (int y = 0; y < r[1].n; y++) {
            struct pieces p = row_points(g, r[0].from, r[0].n, r[1].from + y, r[2].from + z);
            for (int k = 0; k < p.n; k++)
                for (int64_t j = p.from[k]; j < p.end[k]; j++)
                    if (j != i && tree_pair2(&t->space, at, i, j) <= tree_link2(t, s->radius, i, j))
                        tree_search_put(s, i, j);
        }
}

void grid_lists(const struct tree_search *s)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < s->t->p.n; i++) point_lists(s, i);
}

/* ---- groups ---- */

/* Links point i with the sorted points from..end-1. */
static inline void link_range(const struct tree *t, const double *const x[3], double r2, int64_t i,
                              int64_t from, int64_t end, int32_t *up)
{
    for (int64_t j = from; j < end; j++)
        if (tree_pair2(&t->space, x, i, j) <= r2) unite(up, (int32_t)i, (int32_t)j);
}

/* Links the points of a bucket with one another and with 13 of the surrounding buckets, so that
 * each pair of buckets is tested once. */
static void bucket_groups(const struct tree *t, double r2, int64_t y, int64_t z, int64_t b,
                          int32_t *up)
{
    const struct grid *g = &t->grid;
    int64_t row = (z << g->shift[1] | y) << g->shift[0], from = g->first[row + b],
            end = g->first[row + b + 1];
    bool wide[3];
    const double *x[3];
    if (from == end) return;
    tree_sorted(t, x);
    for (int k = 0; k < 3; k++) wide[k] = g->shift[k] > 0;
    struct pieces p[6];
    int n = 0;
    if (wide[0]) p[n++] = row_points(g, b + 1, 1, y, z);
    for (int dz = 0; dz <= wide[2]; dz++)
        for (int dy = dz && wide[1] ? -1 : !dz; dy <= wide[1]; dy++)
            p[n++] = row_points(g, b - wide[0], wide[0] ? 3 : 1, y + dy, z + dz);
    for (int64_t i = from; i < end; i++) {
        link_range(t, x, r2, i, i + 1, end, up);
        for (int k = 0; k < n; k++)
            for (int q = 0; q < p[k].n; q++) link_range(t, x, r2, i, p[k].from[q], p[k].end[q], up);
    }
}

void grid_groups(const struct tree *t, double link, int32_t *up)
{
    const struct grid *g = &t->grid;
    int64_t nx = 1l << g->shift[0], ny = 1l << g->shift[1], nz = 1l << g->shift[2];
#pragma omp parallel for collapse(2) schedule(dynamic, 16)
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t b = 0; b < nx; b++) bucket_groups(t, link * link, y, z, b, up);
}
