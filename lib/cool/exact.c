/* cool/exact: see exact.h. With λ the net cooling per n_H², dT2/dt = -λ has the solution t = ∫
 * dT2/λ, integrated segment by segment of the table: a power law of T2 where λ has one sign at both
 * ends, a straight line where λ changes sign, so that a cell approaches equilibrium and never
 * crosses it. The result for dt does not depend on its subdivision. */
#include "cool/exact.h"

#include <math.h>

#include "base/cgs.h"
#include "cool/exact_priv.h"

/* ---- rates of a cell ---- */

/* The rates of a cell by temperature, interpolated in log n_H and log Z from four columns. */
struct column {
    const double *rate[4], *mu[4];
    double w[4];
    const double *T; /* [N] temperatures, K */
    int N;
};

static double axis(double x, double low, double high, int n, int *i)
{
    if (n == 1) return *i = 0;
    double at = fmin(fmax((x - low) / (high - low), 0), 1) * (n - 1);
    *i = at < n - 2 ? (int)at : n - 2;
    return at - *i;
}

static struct column column_at(const struct exact_table *t, double nH, double Z)
{
    const struct exact_head *h = &t->head;
    int i, j;
    double f = axis(log10(nH), h->low[0], h->high[0], h->L, &i);
    double g = axis(Z > 0 ? log10(Z) : -HUGE_VAL, h->low[1], h->high[1], h->M, &j);
    struct column c = {.T = t->T, .N = h->N};
    for (int k = 0; k < 4; k++) {
        int a = i + (k & 1), b = j + (k >> 1);
        c.w[k] = (k & 1 ? f : 1 - f) * (k >> 1 ? g : 1 - g);
        if (a >= h->L) a = h->L - 1;
        if (b >= h->M) b = h->M - 1;
        size_t at = ((size_t)a * (size_t)h->M + (size_t)b) * (size_t)h->N;
        c.rate[k] = t->now_rate + at;
        c.mu[k] = t->now_mu + at;
    }
    return c;
}

static double rate_of(const struct column *c, int i)
{
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += c->w[k] * c->rate[k][i];
    return sum;
}

static double T2_of(const struct column *c, int i)
{
    double mu = 0;
    for (int k = 0; k < 4; k++) mu += c->w[k] * c->mu[k][i];
    return c->T[i] / mu;
}

/* ---- one segment ---- */

struct segment {
    double x0, x1, r0, r1; /* T2 and λ at the two ends, x0 < x1 */
    double power;          /* exponent of T2; NAN: a straight line */
};

static struct segment segment_at(const struct column *c, int i)
{
    struct segment s = {T2_of(c, i), T2_of(c, i + 1), rate_of(c, i), rate_of(c, i + 1), NAN};
    if (s.r0 * s.r1 > 0) s.power = log(s.r1 / s.r0) / log(s.x1 / s.x0);
    return s;
}

static double segment_rate(const struct segment *s, double x)
{
    if (isnan(s->power)) return s->r0 + (s->r1 - s->r0) * (x - s->x0) / (s->x1 - s->x0);
    return s->r0 * pow(x / s->x0, s->power);
}

/* (e^(k y) - 1)/k and its inverse, accurate also at small k. */
static double stretched(double k, double y)
{
    return fabs(k * y) < 1e-12 ? y : expm1(k * y) / k;
}

static double unstretched(double k, double v)
{
    return fabs(k * v) < 1e-12 ? v : log1p(k * v) / k;
}

/* Advances x over time dt within the segment: returns the end of the segment, or the value reached
 * if dt runs out; *dt becomes the remaining time. Power law: with y = ln x/x_now, k = 1 - power, dt
 * = -(x/λ) (e^(k y) - 1)/k. Straight line of slope b: dt = -ln(1 + b (x' - x)/λ)/b. */
static double segment_go(const struct segment *s, double x, double *dt)
{
    double rate = segment_rate(s, x), end = rate > 0 ? s->x0 : s->x1;
    if (rate == 0) {
        *dt = 0;
        return x;
    }
    bool line = isnan(s->power);
    double k = 1 - s->power, b = (s->r1 - s->r0) / (s->x1 - s->x0), needed;
    if (line)
        needed = 1 + b * (end - x) / rate > 0 ? -unstretched(b, (end - x) / rate) : HUGE_VAL;
    else
        needed = -x / rate * stretched(k, log(end / x));
    if (needed <= *dt) {
        *dt -= needed;
        return end;
    }
    double by = line ? rate * stretched(-b, *dt) : 0;
    x = line ? x - by : x * exp(unstretched(k, -*dt * rate / x));
    *dt = 0;
    return fmin(fmax(x, s->x0), s->x1);
}

/* ---- cells ---- */

static int find_segment(const struct column *c, double T2)
{
    int low = 0, high = c->N - 1;
    while (high - low > 1) {
        int mid = (low + high) / 2;
        *(T2_of(c, mid) <= T2 ? &low : &high) = mid;
    }
    return low;
}

/* Advances a cell outside the table until it enters, if the rate leads into the table:
 * bremsstrahlung above, the rate of the lowest temperature below. */
static double enter(const struct column *c, double T2, double *dt)
{
    double first = T2_of(c, 0), last = T2_of(c, c->N - 1);
    double cold = rate_of(c, 0), hot = rate_of(c, c->N - 1);
    struct segment below = {T2, first, cold, cold, 0};
    struct segment above = {last, T2, hot, hot * sqrt(T2 / last), 0.5};
    if (T2 < first && cold < 0) return segment_go(&below, T2, dt);
    if (T2 > last && hot > 0) return segment_go(&above, T2, dt);
    if (T2 < first || T2 > last) *dt = 0;
    return T2;
}

static double advance(const struct column *c, double T2, double dt, int64_t *steps)
{
    T2 = enter(c, T2, &dt);
    for (int i = find_segment(c, T2); dt > 0 && i >= 0 && i < c->N - 1;) {
        struct segment s = segment_at(c, i);
        double rate = segment_rate(&s, T2);
        ++*steps;
        if (rate == 0) break;
        if (rate > 0 ? T2 > s.x0 : T2 < s.x1) T2 = segment_go(&s, T2, &dt);
        if (dt <= 0 || (rate > 0 ? T2 > s.x0 : T2 < s.x1)) break;
        i += rate > 0 ? -1 : 1;
        if ((rate > 0) != (rate_of(c, rate > 0 ? i + 1 : i) > 0)) break; /* equilibrium reached */
    }
    return T2;
}

double exact_rate(const struct exact_table *t, double nH, double Z, double T2)
{
    struct column c = column_at(t, nH, Z);
    struct segment s = segment_at(&c, find_segment(&c, T2));
    return segment_rate(&s, T2);
}

void solve_exact(const struct exact_table *t, double dt, struct solve_cells *c)
{
    const double unit = 2 * RAMSES_HYDROGEN / (3 * CGS_KB);
    for (int k = 0; k < c->n; k++) {
        struct column col = column_at(t, c->seen[k], c->Z[k]);
        c->T2[k] = advance(&col, c->T2[k], dt * unit * c->nH[k], &c->steps);
    }
}
