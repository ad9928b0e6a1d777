/* contour_test: lines of equal value. Of a cone they are circles: each point is at the radius of
 * its level to second order in the pixel, lines are closed unless the circle leaves the image,
 * and their length is that of the circle. Of noise: every line ends at the border or where it
 * began, and points are between a value below and one above. Catches: a saddle that joins other
 * edges than it should, an edge of the neighbour, pixels counted from their corner, a line that
 * is cut in two. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/rng.h"
#include "check.h"
#include "plot/contour.h"

enum { N = 64, ROWS = 48 };

struct seen {
    int lines, open;
    double length, worst; /* worst: difference of a point's radius */
    double radius, centre[2];
    const double *x;
    double level;
};

static void look(void *ctx, int k, const double (*xy)[2])
{
    struct seen *s = ctx;
    s->lines++;
    const bool closed = xy[0][0] == xy[k - 1][0] && xy[0][1] == xy[k - 1][1];
    if (!closed) {
        s->open++;
        for (int e = 0; e < k; e += k - 1) {
            const bool border = xy[e][0] == 0.5 || xy[e][0] == N - 0.5 || xy[e][1] == 0.5 ||
                                xy[e][1] == ROWS - 0.5;
            CHECK(border, "a line ends at %g %g", xy[e][0], xy[e][1]);
        }
    }
    for (int i = 0; i < k; i++) {
        const double r = hypot(xy[i][0] - s->centre[0], xy[i][1] - s->centre[1]);
        s->worst = fmax(s->worst, fabs(r - s->radius));
        if (i) s->length += hypot(xy[i][0] - xy[i - 1][0], xy[i][1] - xy[i - 1][1]);
    }
}

static double x[ROWS * N];

static void test_circles(void)
{
    for (int r = 5; r < 40; r += 5) {
        struct seen s = {.radius = r + 0.37, .centre = {30.2, 23.1}};
        for (int j = 0; j < ROWS; j++)
            for (int i = 0; i < N; i++)
                x[j * N + i] = -hypot(i + 0.5 - s.centre[0], j + 0.5 - s.centre[1]);
        contour_trace(N, ROWS, x, -s.radius, look, &s);
        CHECK(s.worst < 0.3 / s.radius, "radius %g: off by %g", s.radius, s.worst);
        CHECK(s.open == 0 || s.radius > 22, "radius %g: %d open lines", s.radius, s.open);
        const double around = 2 * M_PI * s.radius;
        if (s.radius < 22)
            CHECK(s.lines == 1 && fabs(s.length - around) < 0.01 * around, "radius %g: %d, %g",
                  s.radius, s.lines, s.length);
    }
}

/* Pieces between the two edges of a square: each line has one more point than pieces; each crossed
 * edge is met once, at the border, or twice. */
static void count(void *ctx, int k, const double (*xy)[2])
{
    look(ctx, k, xy);
    for (int i = 0; i < k; i++) {
        const double u = xy[i][0] - 0.5, v = xy[i][1] - 0.5;
        const struct seen *s = ctx;
        const bool along = v == floor(v);
        const int a = (int)floor(u), b = (int)floor(v);
        CHECK(along || u == floor(u), "%g %g is on no edge", u, v);
        const double p = s->x[b * N + a], q = s->x[(b + !along) * N + a + along];
        const bool crossed = (p >= s->level) != (q >= s->level) || u == floor(u);
        CHECK(crossed, "%g %g: %g and %g", u, v, p, q);
    }
}

static void test_noise(void)
{
    struct rng seed = rng_make(3, 0, 0);
    for (int i = 0; i < ROWS * N; i++) x[i] = rng_uniform(&seed);
    struct seen s = {.x = x, .level = 0.5};
    int crossed = 0;
    contour_trace(N, ROWS, x, s.level, count, &s);
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < N; i++) {
            const bool in = x[j * N + i] >= s.level;
            if (i + 1 < N) crossed += in != (x[j * N + i + 1] >= s.level);
            if (j + 1 < ROWS) crossed += in != (x[(j + 1) * N + i] >= s.level);
        }
    CHECK(s.lines > 100 && crossed > 2000, "%d lines, %d edges", s.lines, crossed);
    x[N + 1] = NAN;
    contour_trace(N, ROWS, x, 2, look, &(struct seen){0});
    struct seen none = {0};
    for (int i = 0; i < ROWS * N; i++) x[i] = 1;
    contour_trace(N, ROWS, x, 1, look, &none);
    contour_trace(N, ROWS, x, 5, look, &none);
    CHECK(none.lines == 0, "%d lines of a plain", none.lines);
}

/* In a saddle the mean of the corners tells which of them are joined. */
static void saddle(void *ctx, int k, const double (*xy)[2])
{
    const bool high = *(bool *)ctx; /* the high corners, lower left and upper right, are joined */
    /* both points of a piece are on the edges of one corner, low ones if the high are joined */
    const double u = xy[0][0] + xy[1][0] - 2, v = xy[0][1] + xy[1][1] - 2;
    CHECK(k == 2 && (u * v < 0) == high, "%d points, %g %g", k, u, v);
}

static void test_saddle(void)
{
    const double corner[4] = {1, 0, 0, 1};
    for (int high = 0; high < 2; high++) {
        bool joined = high;
        contour_trace(2, 2, corner, high ? 0.4 : 0.6, saddle, &joined);
    }
}

int main(void)
{
    test_circles();
    test_noise();
    test_saddle();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
