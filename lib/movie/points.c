/* movie/points: particles on the pixels of all cameras, in batches. */
#include <math.h>

#include "base/mem.h"
#include "movie/priv.h"

enum { BATCH = 256 };

/* A batch of particles. Columns may be NULL. */
struct points {
    int n;
    double x[3][BATCH], m[BATCH], birth[BATCH];
    int family[BATCH];
    int64_t digit[BATCH * MOVIE_VARIABLES * DIGITS]; /* those of a particle side by side */
    bool heavy[BATCH], any[BATCH];                   /* not in zooms; whether it has any value */
    int i[BATCH], j[BATCH];                          /* pixel; i < 0: none */
};

/* ---- values ---- */

static double value_of(const struct paint *p, const struct points *q, enum movie_quantity k, int i)
{
    switch ((int)k) {
    case MOVIE_DM:
        return q->family[i] == FAM_DM ? q->m[i] : 0;
    case MOVIE_STARS:
        return q->family[i] == FAM_STAR ? q->m[i] : 0;
    case MOVIE_LUMINOSITY:
        return q->family[i] == FAM_STAR ? light_of(p->light, q->birth[i], q->m[i]) : 0;
    default:
        return q->family[i] == FAM_GAS_TRACER ? 1 : 0;
    }
}

static void measure(const struct paint *p, struct painter *a, struct points *q, int v)
{
    const enum movie_quantity k = p->movie.variable[p->dot[v]].quantity;
    double x[BATCH], high = 0, sum = 0;
    for (int i = 0; i < q->n; i++) {
        x[i] = value_of(p, q, k, i);
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

/* Numbers of the intervals of width `side` in which positions are, from 0 to last; −1: none. */
static void number_all(const double *x, double lo, double hi, double side, int last, int n, int *at)
{
    double of[BATCH];
    for (int i = 0; i < n; i++) {
        const double k = (x[i] - lo) / side;
        of[i] = (x[i] >= lo) & (x[i] < hi) ? k : -1;
    }
    for (int i = 0; i < n; i++) {
        const int k = (int)of[i];
        at[i] = k < last ? k : last;
    }
}

static void find_pixels(const struct movie_view *v, struct points *q)
{
    double turned[3][BATCH];
    const double *x = q->x[v->u], *y = q->x[v->v], *z = q->x[v->w];
    const double lo[3] = {v->lo[v->u], v->lo[v->v], v->lo[v->w]};
    double hi[3] = {v->hi[v->u], v->hi[v->v], v->hi[v->w]};
    if (v->turned || v->law.perspective) {
        turn_all(v, q, turned);
        x = turned[0], y = turned[1], z = turned[2];
    }
    const double near = v->dist + v->centre[v->w], flat = v->ndim == 2 ? INFINITY : 0;
    number_all(x, lo[0], hi[0], v->px, v->nw - 1, q->n, q->i);
    number_all(y, lo[1], hi[1], v->py, v->nh - 1, q->n, q->j);
    for (int i = 0; i < q->n; i++) {
        const bool in = (z[i] + flat >= lo[2]) & (z[i] - flat < hi[2]) & (z[i] - flat <= near);
        q->i[i] = in & (q->j[i] >= 0) ? q->i[i] : -1;
    }
}

static void add_all(const struct paint *p, struct painter *a, int camera, const struct points *q)
{
    const struct plan *k = &p->plan[camera];
    struct sheet *s = &a->dots[camera];
    const bool light_only = k->view.law.zoom_only && p->movie.mass_cut > 0;
    const int64_t *digit = q->digit;
    for (int i = 0; i < q->n; i++, digit += s->site) {
        if (q->i[i] < 0 || !q->any[i] || (light_only && q->heavy[i])) continue;
        int64_t *at = sheet_at(s, q->i[i], q->j[i]);
        for (int d = 0; d < DIGITS; d++) at[d] += digit[d];
        for (int d = DIGITS; d < s->site; d++) at[d] += digit[d];
    }
}

static void draw(const struct paint *p, struct painter *a, struct points *q)
{
    for (int i = 0; i < q->n; i++) {
        q->any[i] = false;
        q->heavy[i] = q->family[i] == FAM_DM && !(q->m[i] < p->movie.mass_cut);
    }
    for (int v = 0; v < p->ndots; v++) measure(p, a, q, v);
    for (int k = 0; k < p->ncamera; k++) {
        find_pixels(&p->plan[k].view, q);
        add_all(p, a, k, q);
    }
}

/* ---- sources of particles ---- */

static void draw_run(const struct paint *p, struct painter *a, const struct mesh *m,
                     const struct parts *r, struct points *q, int64_t at)
{
    q->n = r->n - at < BATCH ? (int)(r->n - at) : BATCH;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < q->n; i++) q->x[d][i] = mesh_wrapped(m, d, r->x[d][at + i]);
    for (int i = 0; i < q->n; i++) {
        q->m[i] = r->m[at + i];
        q->family[i] = r->family[at + i];
        q->birth[i] = r->birth ? r->birth[at + i] : 0;
    }
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
        draw(p, &p->painter[0], q);
    }
    FREE(q);
    return OK;
}
