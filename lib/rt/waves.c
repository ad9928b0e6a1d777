/* rt/waves: speeds of waves as RAMSES-RT has them, for rt_rule='ramses': bilinear interpolation, in
 * f and in the angle between flux and axis, of a table of 101 × 101 values with five digits. That
 * is not as accurate as the formulas (rt/m1_kern.h), from which the table is made here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "rt/law.h"

enum { CELLS = 100 };

struct rt_waves {
    double lo[CELLS + 1][CELLS + 1], hi[CELLS + 1][CELLS + 1]; /* by f and angle */
};

static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.4e", x);
    return strtod(text, NULL);
}

struct rt_waves *rt_waves_new(void)
{
    struct rt_waves *t = mem_new(sizeof *t, "radiation");
    const double pi = acos(-1.0);
    for (int i = 0; i <= CELLS; i++)
        for (int j = 0; j <= CELLS; j++) {
            const double f = i / (double)CELLS, angle = j * pi / CELLS;
            const struct m1_shape s = m1_shape(1, f * cos(angle), f * sin(angle), 0, 1);
            const struct m1_waves w = m1_waves(s, f * cos(angle));
            t->lo[i][j] = rounded(w.lo), t->hi[i][j] = rounded(w.hi);
        }
    return t;
}

static double between(const double (*a)[CELLS + 1], int i, int j, double x, double y)
{
    return (1 - x) * (1 - y) * a[i][j] + x * (1 - y) * a[i + 1][j] + (1 - x) * y * a[i][j + 1] +
           x * y * a[i + 1][j + 1];
}

static double clipped(double x, double low)
{
    return m1_max(m1_min(x, 1.0), low);
}

struct m1_waves rt_waves_at(const struct rt_waves *t, const double u[RT_COMPONENTS], int d,
                            double c)
{
    const double F = sqrt(m1_flux2(u[1], u[2], u[3]));
    const double f = clipped(u[0] > 0 ? F / c / u[0] : 0.0, 0.0),
                 mu = clipped(F > 0 ? u[1 + d] / F : 0.0, -1.0);
    const double x = f * CELLS, y = acos(mu) / acos(-1.0) * CELLS;
    const int i = x < CELLS ? (int)x : CELLS - 1, j = y < CELLS ? (int)y : CELLS - 1;
    const struct m1_waves w = {between((const double(*)[CELLS + 1]) t->lo, i, j, x - i, y - j),
                               between((const double(*)[CELLS + 1]) t->hi, i, j, x - i, y - j)};
    return w;
}
