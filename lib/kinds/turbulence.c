/* kinds/turbulence: velocities on a grid of the box from RAMSES's text file init_turb.data: a line
 * with the number of points along an axis and four more numbers, then, x fastest, lines of a
 * position and a velocity. A cell takes the value of the nearest point. */
#include <math.h>
#include <stdint.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/table.h"
#include "kinds/priv.h"

static const char FILE_NAME[] = "init_turb.data";
enum { POINTS_MAX = 512 };

static enum err read_points(struct kind_turbulence *t, struct table *file)
{
    double head[5], row[6];
    bool got;
    TRY(table_next(file, &got));
    if (!got) FAIL(ERR_FORMAT, "%s is empty", FILE_NAME);
    TRY(table_numbers(file, 5, "the number of points and four seeds", head));
    if (!(head[0] >= 2 && head[0] <= POINTS_MAX && head[0] == floor(head[0])))
        FAIL(ERR_FORMAT, "%s: has %g points along an axis, where 2 to %d are expected", FILE_NAME,
             head[0], POINTS_MAX);
    t->n = (int)head[0];
    const size_t points = (size_t)t->n * (size_t)t->n * (size_t)t->n;
    TRY(table_holds(file, 6 * (double)points));
    t->v = mem_new(3 * points * sizeof *t->v, "kinds");
    for (size_t i = 0; i < points; i++) {
        TRY(table_next(file, &got));
        if (!got) FAIL(ERR_FORMAT, "%s: ends after %zu of %zu points", FILE_NAME, i, points);
        TRY(table_row(file, 6, "a position and a velocity", row));
        for (int d = 0; d < 3; d++) t->v[3 * i + (size_t)d] = row[3 + d];
    }
    return OK;
}

/* Mean velocity of the points in a sphere, and its dispersion. */
static void measure(const struct kind_turbulence *t, double radius, double mean[3],
                    double *dispersion)
{
    const size_t n = (size_t)t->n;
    double sum[3] = {0}, squares = 0, count = 0;
    for (size_t i = 0; i < n * n * n; i++) {
        const size_t at[3] = {i % n, i / n % n, i / n / n};
        double r2 = 0;
        for (int d = 0; d < 3; d++) {
            const double r = t->boxlen * (((double)at[d] + 0.5) / t->n - 0.5);
            r2 += r * r;
        }
        if (r2 > radius * radius) continue;
        for (int d = 0; d < 3; d++) {
            const double v = t->v[3 * i + (size_t)d];
            sum[d] += v;
            squares += v * v;
        }
        count++;
    }
    double variance = squares / count;
    for (int d = 0; d < 3; d++) {
        mean[d] = sum[d] / count;
        variance -= mean[d] * mean[d];
    }
    *dispersion = sqrt(variance);
}

enum err kind_turbulence_read(struct kind_turbulence *t, const struct kind_setup *s, double radius,
                              double speed)
{
    struct table file;
    double mean[3], dispersion;
    t->boxlen = s->mesh->boxlen;
    TRY(table_open(&file, FILE_NAME, 0, (int64_t)1 << 40));
    enum err err = read_points(t, &file);
    table_close(&file);
    if (err != OK) return err;
    measure(t, radius, mean, &dispersion);
    if (!(dispersion > 0))
        FAIL(ERR_FORMAT,
             "%s: the velocities within the core do not differ: mach=%g of &INIT_PARAMS "
             "cannot be reached",
             FILE_NAME, s->par->init.mach);
    const size_t n = (size_t)t->n;
    for (size_t i = 0; i < 3 * n * n * n; i++)
        t->v[i] = speed / dispersion * (t->v[i] - mean[i % 3]);
    log_info(" Turbulence of %s: %d^3 points, dispersion %.6g becomes %.6g", FILE_NAME, t->n,
             dispersion, speed);
    return OK;
}

void kind_turbulence_add(const struct kind_turbulence *t, const double x[3], double *v)
{
    size_t at = 0;
    for (int d = 2; d >= 0; d--) {
        const int i = (int)(x[d] / t->boxlen * t->n);
        at = at * (size_t)t->n + (size_t)(i < 0 ? 0 : i >= t->n ? t->n - 1 : i);
    }
    for (int d = 0; d < 3; d++) v[d] += t->v[3 * at + (size_t)d];
}
