/* progress/pace: see pace.h. Memory is fixed: where the points are full, every second one goes. */
#include "progress/pace.h"

#include <math.h>
#include <string.h>

/* Shares of the run so far: of its work, within which older steps lose their weight in the fit by a
 * factor e, and which gives the amplitude; of its seconds, which gives the speed. */
static const double FADES = 0.35, LAST_WORK = 0.25, LAST_WALL = 0.3;
/* Variance of ln x that a fit needs; with less, the power is shrunk towards 0. */
static const double NARROW = 3e-4;
static const double POWER_MAX = 8;

void pace_begin(struct pace *p, double x)
{
    *p = (struct pace){.n = 1, .stride = 1, .now = {.x = x}};
    p->at[0] = p->now;
}

void pace_step(struct pace *p, double x, double work, double seconds)
{
    p->now.x = x;
    p->now.work += work;
    p->now.wall += seconds > 0 ? seconds : 0;
    if (++p->skipped < p->stride) return;
    p->skipped = 0;
    if (p->n == PACE_POINTS) {
        for (int i = 0; i < PACE_POINTS / 2; i++) p->at[i] = p->at[2 * i];
        p->n = PACE_POINTS / 2;
        p->stride *= 2;
    }
    p->at[p->n++] = p->now;
}

/* ∫ x^q dx from a to b. */
static double integral(double q, double a, double b)
{
    if (fabs(q + 1) < 1e-9) return log(b / a);
    return (pow(b, q + 1) - pow(a, q + 1)) / (q + 1);
}

/* Point i of the run; the last one is now. */
static struct pace_point point(const struct pace *p, int i)
{
    return i < p->n ? p->at[i] : p->now;
}

static int points(const struct pace *p)
{
    return p->n + (p->skipped > 0);
}

/* The power of x with which the work per x changes: a weighted fit of its logarithm. */
static double power(const struct pace *p)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    const double fades = FADES * p->now.work;
    for (int i = 1; i < points(p); i++) {
        const struct pace_point a = point(p, i - 1), b = point(p, i);
        const double work = b.work - a.work, middle = (a.x + b.x) / 2;
        if (!(b.x > a.x) || !(work > 0) || !(middle > 0)) continue;
        const double lx = log(middle / p->now.x), ly = log(work / (b.x - a.x)),
                     weight = work * exp((b.work - p->now.work) / fades);
        w += weight, x += weight * lx, y += weight * ly;
        xx += weight * lx * lx, xy += weight * lx * ly;
    }
    if (!(w > 0)) return 0;
    const double q = (xy / w - x / w * (y / w)) / (xx / w - x / w * (x / w) + NARROW);
    return fmax(-POWER_MAX, fmin(POWER_MAX, q));
}

/* The last point before the last `share` of the work, or of the seconds. */
static struct pace_point before(const struct pace *p, double share, bool wall)
{
    int i = p->skipped > 0 ? p->n - 1 : p->n - 2;
    const double limit = (1 - share) * (wall ? p->now.wall : p->now.work);
    while (i > 0 && (wall ? p->at[i].wall : p->at[i].work) > limit) i--;
    return p->at[i > 0 ? i : 0];
}

double pace_left(const struct pace *p, double x)
{
    if (points(p) < 2 || !(p->now.work > 0)) return NAN;
    if (x <= p->now.x) return 0;
    const struct pace_point work = before(p, LAST_WORK, false);
    if (!(p->now.x > work.x) || !(p->now.x > 0)) return NAN;
    const double speed = pace_speed(p), q = work.x > 0 ? power(p) : 0,
                 amplitude = (p->now.work - work.work) / integral(q, work.x / p->now.x, 1);
    return speed > 0 ? amplitude * integral(q, 1, x / p->now.x) / speed : NAN;
}

double pace_speed(const struct pace *p)
{
    if (points(p) < 2) return 0;
    const struct pace_point last = before(p, LAST_WALL, true);
    const double wall = p->now.wall - last.wall;
    return wall > 0 ? (p->now.work - last.work) / wall : 0;
}

double pace_next(const struct pace *p)
{
    if (points(p) < 2) return NAN;
    const struct pace_point last = p->at[p->skipped > 0 ? p->n - 1 : p->n - 2];
    return (p->now.wall - last.wall) / (p->skipped > 0 ? p->skipped : p->stride);
}
