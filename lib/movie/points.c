/* movie/points: particles on the pixels of all cameras, in batches. */
#include <math.h>

#include "base/mem.h"
#include "movie/priv.h"

enum { BATCH = 256 };

/* A batch of particles. */
struct points {
    int n;
    double x[3][BATCH], m[BATCH], birth[BATCH];
    int family[BATCH];
    double lo[3], hi[3]; /* the box around them */
    bool counted[BATCH]; /* like the painter's common particle: only their number is added up */
    int uncounted;
    int64_t digit[BATCH * MOVIE_VARIABLES * DIGITS];   /* those of a particle side by side */
    bool heavy[BATCH], any[BATCH];                     /* not in zooms; whether it has any value */
    int pass[2 * MOVIE_CAMERAS][BATCH], own[2][BATCH]; /* numbers of pixels along an axis */
    bool passed[2 * MOVIE_CAMERAS];
    int tile[BATCH], site[BATCH]; /* tile of the frame, −1: none, and site of the tile */
};

/* ---- values ---- */

static double value_of(const struct paint *p, enum movie_quantity k, const struct dot *at)
{
    switch ((int)k) {
    case MOVIE_DM:
        return at->family == FAM_DM ? at->m : 0;
    case MOVIE_STARS:
        return at->family == FAM_STAR ? at->m : 0;
    case MOVIE_LUMINOSITY:
        return at->family == FAM_STAR ? light_of(p->light, at->birth, at->m) : 0;
    default:
        return at->family == FAM_GAS_TRACER ? 1 : 0;
    }
}

static enum movie_quantity quantity_of(const struct paint *p, int v)
{
    return p->movie.variable[p->dot[v]].quantity;
}

static bool is_heavy(const struct paint *p, const struct dot *at)
{
    return at->family == FAM_DM && !(at->m < p->movie.mass_cut);
}

/* The first particle is the common one, unless a value of it is not finite. */
static void choose_common(const struct paint *p, struct painter *a, const struct points *q)
{
    const struct dot first = {q->m[0], p->light ? q->birth[0] : 0, q->family[0]};
    double sum = first.m - first.m + first.birth - first.birth;
    for (int v = 0; v < p->ndots; v++)
        sum += 0 * (value_of(p, quantity_of(p, v), &first) * PAINT_HUGE);
    if (a->chosen || sum != 0) return;
    a->chosen = true;
    a->common = first;
    for (int v = 0; v < p->ndots; v++) {
        const double x = value_of(p, quantity_of(p, v), &first);
        if (!(fabs(x) < a->light[v].limit))
            painter_raise_dots(p, a, v, scale_for(&a->light[v], fabs(x)));
        a->drawn |= x != 0;
    }
}

/* Finds the particles that are like the common one. */
static void compare(const struct paint *p, const struct painter *a, struct points *q)
{
    const struct dot c = a->common;
    int same = 0;
    for (int i = 0; i < q->n; i++) {
        q->counted[i] = a->chosen & (q->m[i] == c.m) & (q->family[i] == c.family);
        if (p->light) q->counted[i] &= q->birth[i] == c.birth;
        same += q->counted[i];
    }
    q->uncounted = q->n - same;
}

/* Digits of the values of particles that are not counted. */
static void measure(const struct paint *p, struct painter *a, struct points *q, int v)
{
    const enum movie_quantity k = quantity_of(p, v);
    double x[BATCH], high = 0, sum = 0;
    for (int i = 0; i < q->n; i++) {
        const struct dot at = {q->m[i], q->birth[i], q->family[i]};
        x[i] = q->counted[i] ? 0 : value_of(p, k, &at);
        high = fabs(x[i]) > high ? fabs(x[i]) : high;
        sum += 0 * (x[i] * PAINT_HUGE);
        q->any[i] |= x[i] != 0;
    }
    for (int i = 0; sum != 0 && i < q->n; i++)
        if (!isfinite(x[i] * PAINT_HUGE)) x[i] = 0, a->bad++;
    if (sum != 0) high = 1 / PAINT_HUGE;
    if (!(high < a->light[v].limit)) painter_raise_dots(p, a, v, scale_for(&a->light[v], high));
    const int site = p->ndots * DIGITS;
    for (int i = 0; i < q->n; i++) {
        int64_t *d = q->digit + i * site + DIGITS * v;
        if (i > 0 && x[i] == x[i - 1])
            memcpy(d, d - site, sizeof *d * DIGITS);
        else
            digits_of(&a->light[v], x[i], d);
    }
}

/* ---- places ---- */

/* Positions along u, v, w. */
static void turn_all(const struct movie_view *v, const struct points *q, double (*at)[BATCH])
{
    for (int i = 0; i < q->n; i++) {
        double x[3], y[3];
        for (int d = 0; d < 3; d++) x[d] = q->x[d][i] - v->centre[d];
        view_turn(v, x, y);
        if (v->law.perspective) {
            const double scale = v->focal / (v->dist - y[2]);
            y[0] *= scale, y[1] *= scale;
        }
        at[0][i] = y[0] + v->centre[v->u];
        at[1][i] = y[1] + v->centre[v->v];
        at[2][i] = y[2] + v->centre[v->w];
    }
}

/* Numbers of the intervals of width `side` in which positions are, from 0 to last; −1: none. The
 * inverse of a power of two is exact. */
static void number_all(const double *x, const struct pass *s, int n, int *at)
{
    double of[BATCH];
    const double lo = s->lo, hi = s->hi, side = s->side, inverse = 1 / side;
    int power;
    if (frexp(side, &power) == 0.5)
        for (int i = 0; i < n; i++)
            of[i] = ((x[i] >= lo) & (x[i] < hi)) ? (x[i] - lo) * inverse : -1;
    else
        for (int i = 0; i < n; i++) of[i] = ((x[i] >= lo) & (x[i] < hi)) ? (x[i] - lo) / side : -1;
    for (int i = 0; i < n; i++) {
        const int k = (int)of[i];
        at[i] = k < s->last ? k : s->last;
    }
}

/* Pixels along an axis, which cameras that look at the same interval of it share. */
static const int *passed(const struct paint *p, struct points *q, int s)
{
    if (!q->passed[s]) number_all(q->x[p->pass[s].axis], &p->pass[s], q->n, q->pass[s]);
    q->passed[s] = true;
    return q->pass[s];
}

/* Whether the camera cannot see the box around the batch. */
static bool misses(const struct movie_view *v, const struct points *q, double boxlen)
{
    double x[3], at[3], reach = 0;
    if (v->law.perspective) return false;
    if (!v->turned) {
        for (int side = 0; side < 3; side++) {
            const int d = side == 0 ? v->u : side == 1 ? v->v : v->w;
            if ((d != v->w || v->ndim == 3) && (q->hi[d] < v->lo[d] || q->lo[d] >= v->hi[d]))
                return true;
        }
        return false;
    }
    for (int d = 0; d < 3; d++) {
        const double half = (q->hi[d] - q->lo[d]) / 2;
        x[d] = q->lo[d] + half - v->centre[d];
        reach += half * half;
    }
    view_turn(v, x, at);
    const double ext = sqrt(reach) + 1e-9 * boxlen;
    return raster_misses(v, at, (const double[3]){ext, ext, ext});
}

static void find_pixels(const struct paint *p, const struct plan *k, struct points *q)
{
    const struct movie_view *v = &k->view;
    const int across = (v->nw + PAINT_TILE - 1) / PAINT_TILE;
    const int *i = q->own[0], *j = q->own[1];
    double turned[3][BATCH];
    const double *z = q->x[v->w];
    if (v->turned || v->law.perspective) {
        turn_all(v, q, turned);
        z = turned[2];
        for (int side = 0; side < 2; side++)
            number_all(turned[side], &p->pass[k->pass[side]], q->n, q->own[side]);
    } else {
        i = passed(p, q, k->pass[0]), j = passed(p, q, k->pass[1]);
    }
    const double near = v->dist + v->centre[v->w], flat = v->ndim == 2 ? INFINITY : 0;
    const double lo = v->lo[v->w], hi = v->hi[v->w];
    for (int n = 0; n < q->n; n++) {
        const bool in = (z[n] + flat >= lo) & (z[n] - flat < hi) & (z[n] - flat <= near);
        const unsigned x = (unsigned)i[n], y = (unsigned)j[n];
        q->tile[n] = (in & ((i[n] | j[n]) >= 0))
                         ? (int)(y / PAINT_TILE) * across + (int)(x / PAINT_TILE)
                         : -1;
        q->site[n] = (int)(y % PAINT_TILE * PAINT_TILE + x % PAINT_TILE);
    }
}

/* ---- adding ---- */

static int64_t *tile_at(struct sheet *s, int k)
{
    return s->tile[k] ? s->tile[k] : sheet_tile(s, k);
}

static void count_all(struct sheet *s, const struct points *q)
{
    for (int i = 0; i < q->n; i++)
        if (q->tile[i] >= 0 && q->counted[i]) tile_at(s, q->tile[i])[q->site[i]]++;
}

static void add_all(struct sheet *s, const struct points *q, bool light_only)
{
    const int64_t *digit = q->digit;
    for (int i = 0; i < q->n; i++, digit += s->site) {
        if (q->tile[i] < 0 || !q->any[i] || (light_only && q->heavy[i])) continue;
        int64_t *at = tile_at(s, q->tile[i]) + q->site[i] * s->site;
        for (int d = 0; d < DIGITS; d++) at[d] += digit[d];
        for (int d = DIGITS; d < s->site; d++) at[d] += digit[d];
    }
}

static void draw(const struct paint *p, struct painter *a, struct points *q)
{
    choose_common(p, a, q);
    compare(p, a, q);
    for (int i = 0; q->uncounted && i < q->n; i++) {
        const struct dot at = {q->m[i], 0, q->family[i]};
        q->any[i] = false;
        q->heavy[i] = is_heavy(p, &at);
    }
    for (int v = 0; q->uncounted && v < p->ndots; v++) measure(p, a, q, v);
    memset(q->passed, 0, sizeof q->passed);
    for (int k = 0; k < p->ncamera; k++) {
        const struct movie_view *view = &p->plan[k].view;
        const bool light_only = view->law.zoom_only && p->movie.mass_cut > 0;
        const bool count = a->drawn && q->uncounted < q->n &&
                           !(light_only && is_heavy(p, &a->common));
        if ((!count && !q->uncounted) || misses(view, q, p->head->boxlen)) continue;
        find_pixels(p, &p->plan[k], q);
        if (count) count_all(&a->count[k], q);
        if (q->uncounted) add_all(&a->dots[k], q, light_only);
    }
}

void points_uncount(const struct paint *p, struct painter *a, int camera)
{
    struct sheet *s = &a->dots[camera], *count = &a->count[camera];
    int64_t digit[MOVIE_VARIABLES * DIGITS];
    if (!a->drawn) return;
    for (int v = 0; v < p->ndots; v++)
        digits_of(&a->light[v], value_of(p, quantity_of(p, v), &a->common), digit + DIGITS * v);
    for (int k = 0; k < count->across * count->down; k++) {
        const int64_t *n = count->tile[k];
        if (!n) continue;
        int64_t *at = tile_at(s, k);
        for (int i = 0; i < PAINT_TILE * PAINT_TILE; i++, at += s->site)
            for (int d = 0; n[i] && d < s->site; d++)
                at[d] = (int64_t)((uint64_t)at[d] + (uint64_t)n[i] * (uint64_t)digit[d]);
    }
    sheet_fini(count);
}

/* The pixels of a camera along its sides; cameras that are not turned share equal ones. */
void points_plan(struct paint *p, struct plan *k)
{
    const struct movie_view *v = &k->view;
    for (int side = 0; side < 2; side++) {
        const int axis = side == 0 ? v->u : v->v;
        const struct pass s = {axis, (side == 0 ? v->nw : v->nh) - 1, v->lo[axis], v->hi[axis],
                               side == 0 ? v->px : v->py};
        int i = 0;
        while (i < p->npass &&
               !(p->pass[i].axis == s.axis && p->pass[i].last == s.last && p->pass[i].lo == s.lo &&
                 p->pass[i].hi == s.hi && p->pass[i].side == s.side))
            i++;
        if (i == p->npass) p->pass[p->npass++] = s;
        k->pass[side] = i;
    }
}

/* ---- sources of particles ---- */

/* The box around the batch. */
static void bound(struct points *q)
{
    for (int d = 0; d < 3; d++) {
        double lo = INFINITY, hi = -INFINITY;
#pragma omp simd reduction(min : lo) reduction(max : hi)
        for (int i = 0; i < q->n; i++) {
            lo = q->x[d][i] < lo ? q->x[d][i] : lo;
            hi = q->x[d][i] > hi ? q->x[d][i] : hi;
        }
        q->lo[d] = lo, q->hi[d] = hi;
    }
}

/* Coordinates as mesh_wrapped has them. */
static void load_wrapped(const struct mesh *m, int d, const double *x, int n, double *to)
{
    const double boxlen = m->boxlen;
    if (m->bounded[2 * d] || m->bounded[2 * d + 1])
        memcpy(to, x, sizeof *to * (size_t)n);
    else
        for (int i = 0; i < n; i++) to[i] = coordinate_wrapped(x[i], boxlen);
}

static void draw_run(const struct paint *p, struct painter *a, const struct mesh *m,
                     const struct parts *r, struct points *q, int64_t at)
{
    q->n = r->n - at < BATCH ? (int)(r->n - at) : BATCH;
    for (int d = 0; d < 3; d++) load_wrapped(m, d, r->x[d] + at, q->n, q->x[d]);
    for (int i = 0; i < q->n; i++) q->m[i] = r->m[at + i];
    for (int i = 0; i < q->n; i++) q->family[i] = r->family[at + i];
    for (int i = 0; p->light && i < q->n; i++) q->birth[i] = r->birth ? r->birth[at + i] : 0;
    bound(q);
    draw(p, a, q);
}

void paint_parts(struct paint *p, const struct mesh *m, const struct parts *r)
{
    if (p->ndots == 0) return;
    const int64_t batches = (r->n + BATCH - 1) / BATCH;
    paint_painters(p);
#pragma omp parallel
    {
        const int t = paint_thread(), nt = paint_threads();
        struct points *q = mem_new(sizeof *q, "movie frame");
        const int64_t end = batches * (t + 1) / nt;
        for (int64_t b = batches * t / nt; b < end; b++)
            draw_run(p, &p->painter[t], m, r, q, b * BATCH);
        FREE(q);
    }
}

enum err paint_source_parts(const struct source_parts *r, void *ctx)
{
    struct paint *p = ctx;
    struct points *q = mem_new(sizeof *q, "movie frame");
    for (int64_t at = 0; p->ndots > 0 && at < r->n; at += BATCH) {
        q->n = r->n - at < BATCH ? (int)(r->n - at) : BATCH;
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < q->n; i++) q->x[d][i] = r->x[d][at + i];
        for (int i = 0; i < q->n; i++) {
            q->m[i] = r->m[at + i];
            q->family[i] = (int)r->family[at + i];
            q->birth[i] = r->birth ? r->birth[at + i] : 0;
        }
        bound(q);
        draw(p, &p->painter[0], q);
    }
    FREE(q);
    return OK;
}
