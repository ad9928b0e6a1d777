/* Laws of the octree of smoothed particles (lib/deposit): mass, momentum and energy of its leaf
 * cells are those of the particles; densities are positive; a lattice has the density it stands
 * for; the bits depend neither on the order of particles nor on threads; neighbouring cells differ
 * by one level. Columns: the total of all pixels is the mass, for kernels far smaller and far
 * larger than a pixel, and slabs of a region add up to it. Last line: N passed, N failed.
 *
 * Examples of faults caught: an image across a boundary that is left out, a share that is not
 * normalised, cells of a coarser level that are no means, a kernel cut at the depth of the region.
 *
 * test: tier=quick */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "deposit/deposit.h"

struct set {
    struct deposit_gas g;
    double *x[3], *v[3], *h, *e;
    int64_t *id;
};

static double uniform(int64_t i, int k)
{
    const uint64_t z = ((uint64_t)i * 16 + (uint64_t)k + 1) * 0x9e3779b97f4a7c15u;
    const uint64_t y = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
    return (double)((y ^ y >> 32) >> 11) * 0x1p-53;
}

static struct set set_new(int64_t n)
{
    struct set s = {.g = {.n = n, .mass = 0.25}};
    const size_t bytes = sizeof(double) * (size_t)n;
    for (int d = 0; d < 3; d++) s.x[d] = mem_new(bytes, "test"), s.v[d] = mem_new(bytes, "test");
    s.h = mem_new(bytes, "test"), s.e = mem_new(bytes, "test");
    s.id = mem_new(bytes, "test");
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++)
            s.x[d][i] = uniform(i, d), s.v[d][i] = 2 * uniform(i, 3 + d) - 1;
        s.h[i] = 1.2 * pow(1.0 / (double)n, 1. / 3) * (0.5 + uniform(i, 6));
        s.e[i] = 0.5 + uniform(i, 7);
        s.id[i] = i + 1;
    }
    for (int d = 0; d < 3; d++) s.g.x[d] = s.x[d], s.g.v[d] = s.v[d];
    s.g.h = s.h, s.g.e = s.e, s.g.id = s.id;
    return s;
}

static void set_free(struct set *s)
{
    for (int d = 0; d < 3; d++) mem_free(s->x[d]), mem_free(s->v[d]);
    mem_free(s->h), mem_free(s->e), mem_free(s->id);
}

static const double ZERO[3] = {0, 0, 0}, ONE[3] = {1, 1, 1};

static struct deposit *octree(const struct set *s, const double lo[3], const double side[3])
{
    const struct deposit_cube cube = deposit_cube(&s->g, lo, side);
    struct deposit *d;
    CHECK(deposit_new(&s->g, &cube, 0, LEVEL_MAX - 1, &d) == OK, "%s", err_message());
    deposit_fill(d, &s->g);
    return d;
}

/* ---- conservation ---- */

static void totals(const struct deposit *d, double q[DEPOSIT_VALUES], double *least)
{
    *least = INFINITY;
    for (int k = 0; k < DEPOSIT_VALUES; k++) q[k] = 0;
    for (int l = 1; l <= d->levelmax; l++)
        for (int64_t i = 0; i < 8 * d->level[l].n; i++) {
            const double *c = d->level[l].value[i];
            if (d->level[l].child[i] >= 0) continue;
            for (int k = 0; k < DEPOSIT_VALUES; k++)
                q[k] += c[k] * ldexp(pow(d->cube.side, 3), -3 * l);
            const double kinetic = 0.5 * (c[1] * c[1] + c[2] * c[2] + c[3] * c[3]) / c[0];
            *least = fmin(*least, fmin(c[0], c[4] - kinetic));
        }
}

static void check_conserved(const struct set *s, const double lo[3], const double side[3],
                            const char *what)
{
    struct deposit *d = octree(s, lo, side);
    double is[DEPOSIT_VALUES], want[DEPOSIT_VALUES] = {0}, size[DEPOSIT_VALUES] = {0}, least;
    for (int64_t i = 0; i < s->g.n; i++) {
        const double m = s->g.mass, *const *v = s->g.v;
        const double q[DEPOSIT_VALUES] = {
            m, m * v[0][i], m * v[1][i], m * v[2][i],
            m * (s->e[i] + 0.5 * (v[0][i] * v[0][i] + v[1][i] * v[1][i] + v[2][i] * v[2][i]))};
        for (int k = 0; k < DEPOSIT_VALUES; k++) want[k] += q[k], size[k] += fabs(q[k]);
    }
    totals(d, is, &least);
    for (int k = 0; k < DEPOSIT_VALUES; k++)
        CHECK(fabs(is[k] - want[k]) <= 1e-13 * size[k], "%s: value %d: %.17g, not %.17g", what, k,
              is[k], want[k]);
    CHECK(least > 0, "%s: a density or thermal energy of %g", what, least);
    deposit_free(&d);
}

static void conservation(void)
{
    static const double THIN_LO[3] = {-1, 0, 0}, THIN[3] = {3, 1, 1};
    for (enum smooth_kernel k = SMOOTH_M4; k < SMOOTH_KERNELS; k++) {
        struct set s = set_new(1000);
        s.g.kernel = k;
        check_conserved(&s, ZERO, ONE, "random");
        check_conserved(&s, ZERO, NULL, "random, open");
        check_conserved(&s, THIN_LO, THIN, "random, box that is no cube");
        for (int64_t i = 0; i < s.g.n; i++) { /* a cusp */
            const double f = pow(uniform(i, 8), 3);
            for (int d = 0; d < 3; d++) s.x[d][i] = 0.3 + f * (s.x[d][i] - 0.3);
            s.h[i] *= f + 1e-4;
        }
        check_conserved(&s, ZERO, ONE, "cluster");
        for (int64_t i = 0; i < s.g.n; i++)
            for (int d = 0; d < 3; d++) s.x[d][i] = 0.3;
        check_conserved(&s, ZERO, NULL, "coincident, open");
        set_free(&s);
    }
}

static void single(void)
{
    static const double AT[][3] = {{0, 0, 0}, {0.5, 0.5, 0.5}, {1, 1, 1}, {0.999, 0, 0.25}};
    static const double H[] = {1e-6, 0.01, 0.3, 5};
    struct set s = set_new(1);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            for (int d = 0; d < 3; d++) s.x[d][0] = AT[i][d];
            s.h[0] = H[k];
            check_conserved(&s, ZERO, ONE, "one particle");
            check_conserved(&s, ZERO, NULL, "one particle, open");
        }
    set_free(&s);
}

/* ---- a lattice ---- */

static void lattice(void)
{
    enum { N = 16 };
    for (enum smooth_kernel kernel = SMOOTH_M4; kernel < SMOOTH_KERNELS; kernel++) {
        struct set s = set_new(N * N * N);
        s.g.kernel = kernel;
        s.g.mass = 2.0 / (N * N * N);
        for (int64_t i = 0; i < s.g.n; i++) {
            const int64_t at[3] = {i % N, i / N % N, i / N / N};
            for (int d = 0; d < 3; d++) s.x[d][i] = ((double)at[d] + 0.37) / N;
            s.h[i] = (kernel == SMOOTH_M4 ? 1.2 : 1.0) / N;
        }
        struct deposit *d = octree(&s, ZERO, ONE);
        double lo = INFINITY, hi = 0;
        for (int64_t i = 0; i < 8 * d->level[d->levelmax].n; i++) {
            lo = fmin(lo, d->level[d->levelmax].value[i][0]);
            hi = fmax(hi, d->level[d->levelmax].value[i][0]);
        }
        CHECK(d->levelmin == d->levelmax, "levels %d to %d", d->levelmin, d->levelmax);
        CHECK(hi < 2.04 && lo > 1.96, "densities from %g to %g, not 2", lo, hi);
        deposit_free(&d);
        set_free(&s);
    }
}

/* ---- bits, levels ---- */

static void swap(double *a, double *b)
{
    const double t = *a;
    *a = *b, *b = t;
}

static void reverse(struct set *s)
{
    for (int64_t i = 0, j = s->g.n - 1; i < j; i++, j--) {
        for (int d = 0; d < 3; d++) swap(&s->x[d][i], &s->x[d][j]), swap(&s->v[d][i], &s->v[d][j]);
        swap(&s->h[i], &s->h[j]), swap(&s->e[i], &s->e[j]);
        const int64_t id = s->id[i];
        s->id[i] = s->id[j], s->id[j] = id;
    }
}

static void order(void)
{
    struct set s = set_new(3000);
    for (int d = 0; d < 3; d++) s.x[d][1] = s.x[d][0]; /* of one key */
    struct deposit *a = octree(&s, ZERO, ONE);
    reverse(&s);
    struct deposit *b = octree(&s, ZERO, ONE);
    CHECK(a->levelmax == b->levelmax, "levels %d and %d", a->levelmax, b->levelmax);
    for (int l = 1; l <= a->levelmax; l++) {
        const size_t n = 8 * (size_t)a->level[l].n;
        CHECK(a->level[l].n == b->level[l].n &&
                  memcmp(a->level[l].value, b->level[l].value, n * sizeof *a->level[l].value) == 0,
              "level %d differs", l);
    }
    deposit_free(&a);
    deposit_free(&b);
    set_free(&s);
}

static bool has(const struct deposit_level *l, okey key)
{
    int64_t lo = 0, hi = l->n;
    while (lo < hi) {
        const int64_t mid = (lo + hi) / 2;
        if (l->key[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->n && l->key[lo] == key;
}

static void graded(void)
{
    struct set s = set_new(500);
    for (int64_t i = 0; i < 400; i++) {
        for (int d = 0; d < 3; d++) s.x[d][i] = 0.99 + 1e-3 * s.x[d][i];
        s.h[i] = 1e-4;
    }
    struct deposit *d = octree(&s, ZERO, ONE);
    int64_t lacking = 0;
    for (int l = 2; l <= d->levelmax; l++)
        for (int64_t i = 0; i < d->level[l].n; i++)
            for (int k = 0; k < 27; k++)
                lacking += !has(&d->level[l - 1], okey_shift(d->level[l].key[i], l, k % 3 - 1,
                                                             k / 3 % 3 - 1, k / 9 - 1, NULL) >>
                                                      3);
    CHECK(d->levelmax > 8, "finest level %d", d->levelmax);
    CHECK(lacking == 0, "%ld neighbours are coarser by two levels", (long)lacking);
    deposit_free(&d);
    set_free(&s);
}

/* ---- columns ---- */

enum { PIXELS = 48 };

static double drawn(const struct set *s, double h, double near, double far, double sum[])
{
    struct deposit_line *l = mem_new(sizeof *l, "test");
    double norm[PIXELS * PIXELS] = {0}, total = 0;
    const struct deposit_raster r = {
        {PIXELS, PIXELS}, {-1, -1, near}, {2, 2, far}, near == -INFINITY, sum, norm};
    deposit_line_init(l, s->g.kernel);
    for (int64_t i = 0; i < s->g.n; i++)
        deposit_draw(l, &r, (double[3]){s->x[0][i], s->x[1][i], s->x[2][i]}, h, 1, 1);
    for (int i = 0; i < PIXELS * PIXELS; i++) total += sum[i] * 9 / (PIXELS * PIXELS);
    FREE(l);
    return total / (double)s->g.n;
}

static void columns(void)
{
    static const double H[] = {1e-9, 0.003, 0.03, 0.1, 0.3};
    for (enum smooth_kernel k = SMOOTH_M4; k < SMOOTH_KERNELS; k++) {
        struct set s = set_new(60);
        s.g.kernel = k;
        for (int i = 0; i < 5; i++) {
            double all[PIXELS * PIXELS] = {0}, part[PIXELS * PIXELS] = {0}, most = 0, far = 0;
            const double total = drawn(&s, H[i], -INFINITY, INFINITY, all);
            CHECK(fabs(total - 1) < (H[i] < 0.1 ? 1e-14 : 1e-4), "h %g: total %.17g", H[i], total);
            drawn(&s, H[i], -9, 0.43, part);
            drawn(&s, H[i], 0.43, 9, part);
            for (int p = 0; p < PIXELS * PIXELS; p++)
                most = fmax(most, all[p]), far = fmax(far, fabs(all[p] - part[p]));
            CHECK(far < 2e-3 * most, "h %g: slabs add up to %g of %g", H[i], far, most);
        }
        set_free(&s);
    }
}

/* Means over pixels on which the kernel is wide are those on which it is narrow. */
static void fine_columns(void)
{
    enum { N = 12, FINE = 20, M = N * FINE };
    struct deposit_line *l = mem_new(sizeof *l, "test");
    double *sum = mem_zero(sizeof *sum * 2 * M * M, "test"), coarse[N * N] = {0}, off[N * N] = {0};
    const double x[3] = {0.43, 0.61, 0.5}, lo[3] = {0, 0, 0.45};
    for (int slab = 0; slab < 2; slab++) {
        const struct deposit_raster a = {{N, N}, {lo[0], lo[1], lo[2]}, {1, 1, 1}, !slab, coarse,
                                         off},
                                    b = {{M, M},     {lo[0], lo[1], lo[2]}, {1, 1, 1}, !slab, sum,
                                         sum + M * M};
        double most = 0, far = 0;
        memset(coarse, 0, sizeof coarse);
        memset(sum, 0, sizeof *sum * M * M);
        deposit_line_init(l, SMOOTH_M4);
        deposit_draw(l, &a, x, 0.2, 1, 1);
        deposit_draw(l, &b, x, 0.2, 1, 1);
        for (int p = 0; p < N * N; p++) {
            double mean = 0;
            for (int k = 0; k < FINE * FINE; k++)
                mean += sum[(p / N * FINE + k / FINE) * M + p % N * FINE + k % FINE];
            mean /= FINE * FINE;
            most = fmax(most, mean), far = fmax(far, fabs(mean - coarse[p]));
        }
        CHECK(most > 1 && far < 3e-3 * most, "slab %d: differ by %g of %g", slab, far, most);
    }
    FREE(sum);
    FREE(l);
}

/* The closed form of the integral of the cubic kernel through its centre is 3/(2π). */
static void line(void)
{
    struct deposit_line *l = mem_new(sizeof *l, "test");
    deposit_line_init(l, SMOOTH_M4);
    const double centre = deposit_line(l, 0), want = 3 / (2 * M_PI);
    CHECK(fabs(centre - want) < 1e-8, "%.12g, not %.12g", centre, want);
    CHECK(deposit_line(l, 4 * l->scale) == 0 && deposit_line(l, 3.96 * l->scale) > 0, "support");
    FREE(l);
}

int main(void)
{
    conservation();
    single();
    lattice();
    order();
    graded();
    columns();
    fine_columns();
    line();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
