#include "plot/scale.h"

#include <math.h>

#include "base/mem.h"
#include "plot/colours.h"

enum { SAMPLE = 1 << 20 }; /* number of values, about, that are sorted for percentiles */
static const double TAIL = 0.01, REACH = 0.5, MIN_SHARE = 1e-4,
                    LEAST_SHARE = 1e-12, /* of the largest value, where an automatic scale ends */
    FLAT = 1e-9;                         /* percentiles that differ by less are one value */

void scale_add(struct scale_values *v, const double *x, size_t n)
{
    const size_t images = v->images > 1 ? (size_t)v->images : 1, step = n * images / SAMPLE | 1,
                 more = n / step + 1;
    if (v->n == 0) v->min = INFINITY, v->max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) continue;
        v->min = x[i] < v->min ? x[i] : v->min;
        v->max = x[i] > v->max ? x[i] : v->max;
        v->total += x[i], v->n++;
    }
    if (v->samples + more > v->room) {
        v->room = 2 * v->room + more;
        v->sample = mem_grow(v->sample, sizeof *v->sample * v->room, "map");
    }
    for (size_t i = 0; i < n; i += step)
        if (isfinite(x[i])) v->sample[v->samples++] = x[i];
}

void scale_free(struct scale_values *v)
{
    FREE(v->sample);
}

MEM_ORDER_OF(ascending, double)

/* Limits the range of colours if a few values are far from all others: it extends beyond the 1st
 * and 99th percentiles by at most half of their distance, on the scale of the colours. Zeros do not
 * count on a logarithmic scale. Where nearly all values are one, the others are what there is to
 * see, and the range has them all. */
static void cut_tails(const struct scale_values *v, struct colour_scale *s)
{
    double *x = mem_new(sizeof *x * (v->samples + 1), "map");
    size_t n = 0;
    for (size_t i = 0; i < v->samples; i++) {
        const double y = s->logarithmic ? log(v->sample[i]) : v->sample[i];
        if (isfinite(y)) x[n++] = y;
    }
    mem_sort(x, n, sizeof *x, ascending);
    const double a = n ? x[(size_t)(TAIL * (double)(n - 1))] : 0,
                 b = n ? x[n - 1 - (size_t)(TAIL * (double)(n - 1))] : 0;
    FREE(x);
    if (!(b - a > FLAT * fmax(fabs(a), fabs(b)))) return;
    double lo = a - REACH * (b - a), hi = b + REACH * (b - a);
    if (s->logarithmic) lo = exp(lo), hi = exp(hi);
    if (lo > s->lo) s->lo = lo;
    if (hi < s->hi) s->hi = hi;
}

/* Chooses a linear or logarithmic scale. A logarithmic scale starts above 0. */
static void find_kind(const struct scale_values *v, const struct scale_ask *ask,
                      struct colour_scale *s)
{
    const bool automatic = ask->kind == SCALE_AUTO;
    s->threshold = ask->threshold;
    const bool some = s->lo == 0 && s->hi > 0 && !(ask->from > 0) && !ask->full && !ask->has_range;
    if (ask->from > 0) s->lo = fmax(s->lo, ask->from * (v->n ? v->total / (double)v->n : 0));
    if (some && !(s->threshold > 0) && (automatic || ask->kind == SCALE_LOG))
        s->lo = MIN_SHARE * s->hi;
    if (automatic && !ask->full && s->lo > 0) s->lo = fmax(s->lo, LEAST_SHARE * s->hi);
    if (ask->has_range) s->lo = ask->lo, s->hi = ask->hi;
    s->logarithmic = !(s->threshold > 0) && (ask->kind == SCALE_LOG || (automatic && s->lo > 0));
}

/* Widens a range without contrast, so that a uniform image gets the middle colour. */
static void widen(struct colour_scale *s)
{
    const double max = fmax(fabs(s->lo), fabs(s->hi));
    if (s->hi - s->lo > 1e-9 * max || !(max > 0)) return;
    s->lo -= 0.1 * max, s->hi += 0.1 * max;
}

/* Values of both signs get a diverging map with 0 in the middle. */
void scale_choose(const struct scale_values *v, const struct scale_ask *ask, struct colour_scale *s)
{
    *s = (struct colour_scale){.min = INFINITY, .max = -INFINITY};
    if (v->n) s->min = v->min, s->max = v->max;
    s->lo = s->min, s->hi = s->max;
    bool both = s->lo < 0 && s->hi > 0;
    find_kind(v, ask, s);
    if (!ask->has_range && !ask->full && !(s->threshold > 0) && (s->lo > 0 || !s->logarithmic))
        cut_tails(v, s);
    if (!ask->has_range) widen(s);
    both &= !ask->has_range && !ask->has_colours && !s->logarithmic;
    if (both) s->hi = fmax(-s->lo, s->hi), s->lo = -s->hi;
    s->colours = both ? colours_find("coolwarm") : ask->colours;
}

struct axis scale_axis(const struct colour_scale *s, const char *name)
{
    struct axis a = {.log = s->logarithmic, .threshold = s->threshold, .name = name};
    a.lo = axis_shape(&a, s->lo), a.hi = axis_shape(&a, s->hi);
    return a;
}

double scale_share(const struct colour_scale *s, double x)
{
    const struct axis a = scale_axis(s, NULL);
    if (s->logarithmic && !(x > s->lo)) return 0;
    return a.hi > a.lo ? (axis_shape(&a, x) - a.lo) / (a.hi - a.lo) : 0;
}

double scale_value(const struct colour_scale *s, double share)
{
    const struct axis a = scale_axis(s, NULL);
    const double y = a.lo + share * (a.hi - a.lo);
    if (s->logarithmic) return pow(10, y);
    if (!(s->threshold > 0)) return y;
    return s->threshold * (fabs(y) <= 1 ? y : copysign(pow(10, fabs(y) - 1), y));
}

const char *scale_name(const struct colour_scale *s)
{
    return s->threshold > 0 ? "symmetric logarithmic" : s->logarithmic ? "logarithmic" : "linear";
}

unsigned char *scale_paint(const struct colour_scale *s, int n, int rows, const double *x)
{
    unsigned char *rgb = mem_zero(3 * (size_t)n * (size_t)rows, "map");
    const struct axis t = scale_axis(s, NULL);
    for (int64_t v = 0; v < rows; v++)
        for (int64_t u = 0; u < n; u++) {
            /* rows of the image go down, those of the values up */
            const double q = x[(rows - 1 - v) * n + u];
            const double y = s->logarithmic && !(q > s->lo) ? t.lo : axis_shape(&t, q);
            if (!isnan(q))
                colours_at(s->colours, t.hi > t.lo ? (y - t.lo) / (t.hi - t.lo) : 0,
                           rgb + 3 * (v * n + u));
        }
    return rgb;
}
