/* progress/pace: see pace.h. Memory is fixed: where the points are full, every second one goes. */
#include "progress/pace.h"

#include <math.h>
#include <string.h>

/* Shares of the run so far: of its work, within which older steps lose their weight in the fits by
 * a factor e; of its work, which gives the amplitude; of its seconds, which gives the speed. */
static const double FADES = 0.1, FADES_LONG = 0.4, LAST_WORK = 0.25, LAST_WALL = 0.3;
/* Assumptions before the first step: a power is 0 ± 1; steps scatter by 0.1 % or more. */
static const double POWER_PRIOR = 1, SCATTER = 0.001;
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

/* Point i of the run; the last one is now. */
static struct pace_point point(const struct pace *p, int i)
{
    return i < p->n ? p->at[i] : p->now;
}

static int points(const struct pace *p)
{
    return p->n + (p->skipped > 0);
}

/* The power of x with which the work per x changes: ln x around which it was fitted, relative to
 * now, and the variance of the power. */
struct power {
    double q, middle, variance;
};

/* Weighted moments of x = ln of the place relative to now, and y = ln of the work per x. */
struct moments {
    double w, ww, x, y, xx, xy, yy;
};

static struct moments moments(const struct pace *p, double fades)
{
    struct moments m = {0};
    for (int i = 1; i < points(p); i++) {
        const struct pace_point a = point(p, i - 1), b = point(p, i);
        const double work = b.work - a.work, middle = (a.x + b.x) / 2;
        if (!(b.x > a.x) || !(work > 0) || !(middle > 0)) continue;
        const double x = log(middle / p->now.x), y = log(work / (b.x - a.x)),
                     w = work / p->now.work * exp((b.work / p->now.work - 1) / fades);
        m.w += w, m.ww += w * w, m.x += w * x, m.y += w * y;
        m.xx += w * x * x, m.xy += w * x * y, m.yy += w * y * y;
    }
    if (!(m.w > 0)) return m;
    m.x /= m.w, m.y /= m.w;
    m.xx = m.xx / m.w - m.x * m.x, m.xy = m.xy / m.w - m.x * m.y, m.yy = m.yy / m.w - m.y * m.y;
    return m;
}

/* A weighted fit of the logarithm, in which the scatter of the steps meets the prior. */
static struct power power(const struct pace *p, double fades)
{
    const struct moments m = moments(p, fades);
    if (!(m.w > 0)) return (struct power){.variance = POWER_PRIOR * POWER_PRIOR};
    const double n = m.w * m.w / m.ww, rest = m.yy - (m.xx > 0 ? m.xy * m.xy / m.xx : 0),
                 scatter = fmax(rest * n / fmax(n - 2, 1), SCATTER * SCATTER) / n,
                 width = m.xx + scatter / (POWER_PRIOR * POWER_PRIOR), q = m.xy / width;
    return (struct power){fmax(-POWER_MAX, fmin(POWER_MAX, q)), m.x, scatter / width};
}

/* Growth of the work per x: its power now, and the ln x within which that fades by a factor e. */
struct growth {
    double q, range;
};

/* The power fades as fast as it changed between the long memory and the short one, or may have
 * changed by their errors. */
static struct growth growth(const struct pace *p)
{
    const struct power now = power(p, FADES), before = power(p, FADES_LONG);
    const double apart = now.middle - before.middle,
                 change = sqrt(pow(now.q - before.q, 2) + now.variance + before.variance);
    return (struct growth){now.q, apart > 0 ? fabs(now.q) * apart / change : 0};
}

/* ln of the work per x at ln x = u, relative to that at 0 = now. */
static double rate(const struct growth *g, double u)
{
    if (u <= 0) return g->q * u;
    return g->range > 0 ? -g->q * g->range * expm1(-u / g->range) : 0;
}

/* ∫ of the rate over x from a to b, in units of now, by Simpson's rule in ln x. */
static double integral(const struct growth *g, double a, double b)
{
    enum { PARTS = 128 };
    const double from = log(a), h = (log(b) - from) / PARTS;
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        const double u = from + h * i, f = exp(rate(g, u) + u);
        sum += i == 0 || i == PARTS ? f : (2 + 2 * (i % 2)) * f;
    }
    return sum * h / 3;
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
    const double speed = pace_speed(p);
    if (!(speed > 0)) return NAN;
    /* the run began at 0: it is known as long as it is steady */
    if (!(work.x > 0)) return (p->now.work - work.work) * (x - p->now.x) / (p->now.x * speed);
    const struct growth g = growth(p);
    const double amplitude = (p->now.work - work.work) / integral(&g, work.x / p->now.x, 1);
    return amplitude * integral(&g, 1, x / p->now.x) / speed;
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
