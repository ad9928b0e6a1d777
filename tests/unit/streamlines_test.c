/* streamlines_test: lines of given fields, by laws: circles are closed and keep their radius, a
 * uniform field has straight lines, no line is closer to another than half of the separation, every
 * place is near a line, two calls give the same bits, and a field without direction has no lines.
 * Catches: components that are swapped, a lattice of pixels that is half a pixel off, lines that
 * cross, seeds on one side only, a square of the search that is left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "streamlines/streamlines.h"

enum { N = 64, PLACES = 25 };
static double u[N * N], v[N * N];

enum shape { CIRCLES, SLOPE, SADDLE, HOLE, STILL };

static void fill(enum shape shape)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            const double x = (i + 0.5) / N - 0.5, y = (j + 0.5) / N - 0.5;
            double *a = &u[j * N + i], *b = &v[j * N + i];
            *a = 1, *b = 0.5;
            if (shape == CIRCLES) *a = -y, *b = x;
            if (shape == SADDLE) *a = x, *b = -y;
            if (shape == HOLE && hypot(x, y) < 0.2) *a = *b = NAN;
            if (shape == STILL) *a = *b = 0;
        }
}

static struct streamlines lines_of(enum shape shape, double separation)
{
    struct streamlines l;
    fill(shape);
    streamlines_make(&(struct streamlines_field){N, u, v}, separation, &l);
    return l;
}

/* The largest change of a function of the place along a line. */
static double change(const struct streamlines *l, double (*of)(double x, double y))
{
    double worst = 0;
    for (int i = 0; i < l->n; i++) {
        const double(*p)[2];
        const int n = streamlines_points(l, i, &p);
        for (int k = 0; k < n; k++)
            worst = fmax(worst,
                         fabs(of(p[k][0] - 0.5, p[k][1] - 0.5) - of(p[0][0] - 0.5, p[0][1] - 0.5)));
    }
    return worst;
}

static double radius(double x, double y)
{
    return hypot(x, y);
}

static double across(double x, double y)
{
    return 0.5 * x - y;
}

static double product(double x, double y)
{
    return x * y;
}

/* Least distance of points of different lines. */
static double nearest(const struct streamlines *l)
{
    double least = 9;
    for (int i = 0; i < l->n; i++)
        for (int j = 0; j < i; j++) {
            const double(*p)[2], (*q)[2];
            const int n = streamlines_points(l, i, &p), m = streamlines_points(l, j, &q);
            for (int a = 0; a < n; a += 3)
                for (int b = 0; b < m; b++)
                    least = fmin(least, hypot(p[a][0] - q[b][0], p[a][1] - q[b][1]));
        }
    return least;
}

/* Greatest distance of a place from the lines. */
static double farthest(const struct streamlines *l)
{
    double most = 0;
    for (int j = 0; j < PLACES; j++)
        for (int i = 0; i < PLACES; i++) {
            const double x = (i + 0.5) / PLACES, y = (j + 0.5) / PLACES;
            double least = 9;
            for (int k = 0; k < l->points; k++)
                least = fmin(least, hypot(l->at[k][0] - x, l->at[k][1] - y));
            most = fmax(most, least);
        }
    return most;
}

static void shapes(void)
{
    static double (*const of[])(double, double) = {radius, across, product};
    static const double few[] = {8, 17};
    for (enum shape s = CIRCLES; s <= SADDLE; s++)
        for (int k = 0; k < 2; k++) {
            const double separation = 1 / few[k];
            struct streamlines l = lines_of(s, separation);
            CHECK(l.n > few[k] / 3, "shape %d: %d lines", s, l.n);
            CHECK(change(&l, of[s]) < 2e-4, "shape %d, 1/%g: %g", s, few[k], change(&l, of[s]));
            CHECK(nearest(&l) > 0.499 * separation, "shape %d: %g", s, nearest(&l) / separation);
            CHECK(farthest(&l) < 1.5 * separation, "shape %d: %g", s, farthest(&l) / separation);
            streamlines_free(&l);
        }
}

/* Circles that lie within the square are closed, and point along the field. */
static void closed(void)
{
    struct streamlines l = lines_of(CIRCLES, 0.1);
    int rings = 0;
    for (int i = 0; i < l.n; i++) {
        const double(*p)[2];
        const int n = streamlines_points(&l, i, &p);
        const double x = p[0][0] - 0.5, y = p[0][1] - 0.5;
        CHECK(x * (p[1][1] - p[0][1]) - y * (p[1][0] - p[0][0]) > 0, "line %d runs backwards", i);
        if (hypot(x, y) > 0.49) continue;
        CHECK(p[0][0] == p[n - 1][0] && p[0][1] == p[n - 1][1], "line %d of radius %g is open", i,
              hypot(x, y));
        rings++;
    }
    CHECK(rings >= 4, "%d rings", rings);
    streamlines_free(&l);
}

static void same(void)
{
    struct streamlines a = lines_of(SADDLE, 0.05), b = lines_of(SADDLE, 0.05);
    CHECK(a.n == b.n && a.points == b.points, "%d and %d lines", a.n, b.n);
    CHECK(memcmp(a.at, b.at, sizeof *a.at * (size_t)a.points) == 0);
    streamlines_free(&a);
    streamlines_free(&b);
}

static void gaps(void)
{
    struct streamlines l = lines_of(HOLE, 0.05);
    int within = 0;
    for (int k = 0; k < l.points; k++)
        within += hypot(l.at[k][0] - 0.5, l.at[k][1] - 0.5) < 0.2 - 1.5 / N;
    CHECK(within == 0 && l.n > 10, "%d points without a field, %d lines", within, l.n);
    streamlines_free(&l);
    l = lines_of(STILL, 0.05);
    CHECK(l.n == 0 && l.points == 0, "%d lines at rest", l.n);
    streamlines_free(&l);
}

int main(void)
{
    shapes();
    closed();
    same();
    gaps();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
