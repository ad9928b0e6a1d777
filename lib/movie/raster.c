/* movie/raster: which pixels a cell covers, and the cells of cameras that turn or have perspective.
 *
 * A pixel belongs to a cell if its centre lies in the footprint of the cell: a square, the disc in
 * it, or the projection of the turned cell, a hexagon. Centres within 0.01 pixels of a side of the
 * footprint's box are moved by as much first, so that a centre between two cells is in one. These
 * are RAMSES's rules, whose frames are reproduced pixel by pixel. */
#include <math.h>

#include "movie/priv.h"

/* ---- geometry ---- */

static double cross(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

/* Edges of a cube of half side h, projected, and what bounds the hexagon that they span. */
static void project_cube(const struct movie_view *v, double h, struct footprint *f)
{
    f->ext[0] = f->ext[1] = f->ext[2] = 0;
    for (int d = 0; d < 3; d++) {
        const double edge[3] = {d == 0 ? h : 0, d == 1 ? h : 0, d == 2 ? h : 0};
        double at[3];
        view_turn(v, edge, at);
        f->edge[d][0] = at[0], f->edge[d][1] = at[1];
        for (int k = 0; k < 3; k++) f->ext[k] += fabs(at[k]);
    }
    for (int d = 0; d < 3; d++)
        f->bound[d] = fabs(cross(f->edge[d], f->edge[(d + 1) % 3])) +
                      fabs(cross(f->edge[d], f->edge[(d + 2) % 3]));
}

void raster_plan(const struct paint *p, struct plan *k, int level)
{
    struct footprint *f = &k->foot[level];
    const double dx = p->head->boxlen / ldexp(1, level), h = dx / 2 * k->view.law.smooth;
    f->h = f->ext[0] = f->ext[1] = f->ext[2] = h;
    if (k->view.law.shader == SHADER_CUBE) project_cube(&k->view, h, f);
    f->far[0] = f->far[1] = f->far[2] = 0;
    for (int c = 0; c < 8; c++) {
        double x[3];
        for (int d = 0; d < 3; d++) x[d] = d < p->ndim ? (c >> d & 1 ? dx / 2 : -dx / 2) : 0;
        view_turn(&k->view, x, f->off[c]);
        for (int d = 0; d < 3; d++)
            if (f->off[c][d] + f->ext[d] > f->far[d]) f->far[d] = f->off[c][d] + f->ext[d];
    }
}

bool raster_misses(const struct movie_view *v, const double x[3], const double ext[3])
{
    const int axis[3] = {v->u, v->v, v->w};
    for (int d = 0; d < v->ndim; d++) {
        const double at = x[d] + v->centre[axis[d]];
        if (at + ext[d] < v->lo[axis[d]] || at - ext[d] >= v->hi[axis[d]]) return true;
    }
    return v->ndim == 3 && x[2] - ext[2] > v->dist;
}

/* ---- pixels ---- */

struct line {
    double lo, side, nudge;
    int n;
};

/* The first and the last of n pixels, from 0, that the interval from left to right may touch. */
static void touched(const struct line *l, double left, double right, int at[2])
{
    const double first = (left - l->lo) / l->side, last = (right - l->lo) / l->side;
    at[0] = first > 0 ? (int)fmin(first, l->n - 1) : 0;
    at[1] = (int)fmin(fmax(last, -1), l->n - 1);
}

/* Distance of the centre of pixel i from the middle x of an interval x ± half. */
static double distance(const struct line *l, int i, double x, double half)
{
    const double centre = l->lo + (i + 0.5) * l->side;
    double from = centre - x;
    if (fabs(centre - (x - half)) < l->nudge) from -= l->nudge;
    if (fabs(centre - (x + half)) < l->nudge) from -= l->nudge;
    return from;
}

static struct line line_along(const struct movie_view *v, int side)
{
    const int axis = side == 0 ? v->u : v->v;
    return (struct line){.lo = v->lo[axis],
                         .side = side == 0 ? v->px : v->py,
                         .nudge = 1e-2 * v->px,
                         .n = side == 0 ? v->nw : v->nh};
}

bool raster_reach(const struct movie_view *v, int side, double x, double half, int at[2])
{
    const struct line l = line_along(v, side);
    const bool closed = v->law.shader != SHADER_SQUARE;
    touched(&l, x - half, x + half, at);
    while (at[0] <= at[1]) {
        const double from = fabs(distance(&l, at[0], x, half));
        if (closed ? from <= half : from < half) break;
        at[0]++;
    }
    while (at[0] <= at[1]) {
        const double from = fabs(distance(&l, at[1], x, half));
        if (closed ? from <= half : from < half) break;
        at[1]--;
    }
    return at[0] <= at[1];
}

static bool in_quad(const double (*c)[2], const int k[4], const double at[2])
{
    int positive = 0, negative = 0;
    for (int i = 0; i < 4; i++) {
        const double *a = c[k[i]], *b = c[k[(i + 1) & 3]];
        const double side[2] = {b[0] - a[0], b[1] - a[1]}, to[2] = {at[0] - a[0], at[1] - a[1]};
        positive += cross(side, to) >= 0;
        negative += cross(side, to) <= 0;
    }
    return positive == 4 || negative == 4;
}

/* Whether a cell's projection contains a point: a hexagon, or, in perspective, the union of the
 * faces of the cell. */
static bool in_cube(const struct footprint *f, const double at[2])
{
    static const int face[6][4] = {{0, 1, 3, 2}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 3, 7, 5}};
    if (f->skew) {
        for (int k = 0; k < 6; k++)
            if (in_quad(f->corner, face[k], at)) return true;
        return false;
    }
    for (int d = 0; d < 3; d++)
        if (!(fabs(cross(f->edge[d], at)) <= f->bound[d])) return false;
    return true;
}

static bool covers(const struct movie_view *v, const struct footprint *f, const double at[2])
{
    const double r2 = at[0] * at[0] + at[1] * at[1];
    if (v->law.shader == SHADER_SPHERE) return r2 <= f->h * f->h;
    return (f->skew || r2 <= 3 * f->h * f->h) && in_cube(f, at);
}

/* The pixels of a row that a disc or a hexagon covers lie side by side. */
static void round_cell(const struct movie_view *v, const struct footprint *f, const double x[2],
                       raster_fn *fn, void *ctx)
{
    const struct line across = line_along(v, 0), up = line_along(v, 1);
    int i[2], j[2];
    touched(&across, x[0] - f->ext[0], x[0] + f->ext[0], i);
    touched(&up, x[1] - f->ext[1], x[1] + f->ext[1], j);
    for (int row = j[0]; row <= j[1]; row++) {
        double at[2] = {0, distance(&up, row, x[1], f->ext[1])};
        int first = -1, last = -1;
        for (int k = i[0]; k <= i[1]; k++) {
            at[0] = distance(&across, k, x[0], f->ext[0]);
            if (!covers(v, f, at)) continue;
            first = first < 0 ? k : first;
            last = k;
        }
        if (first >= 0) fn(ctx, row, first, last);
    }
}

void raster_cell(const struct movie_view *v, const struct footprint *f, const double x[3],
                 raster_fn *fn, void *ctx)
{
    const double at[2] = {x[0] + v->centre[v->u], x[1] + v->centre[v->v]};
    int i[2], j[2];
    if (v->law.shader != SHADER_SQUARE) {
        round_cell(v, f, at, fn, ctx);
        return;
    }
    if (!raster_reach(v, 0, at[0], f->h, i) || !raster_reach(v, 1, at[1], f->h, j)) return;
    for (int row = j[0]; row <= j[1]; row++) fn(ctx, row, i[0], i[1]);
}

/* ---- perspective ---- */

/* The footprint of a cell at depth x[2]; its projected centre replaces x. Returns false if it is
 * out of the field of view. */
static bool far_footprint(const struct paint *p, const struct plan *k, int level, double x[3],
                          struct footprint *f)
{
    const struct movie_view *v = &k->view;
    const double away = v->dist - x[2], scale = v->focal / away;
    if (!(away > 0) || atan(fabs(x[0]) / away) / 2 > v->fov || atan(fabs(x[1]) / away) / 2 > v->fov)
        return false;
    f->h = k->foot[level].h * scale;
    f->skew = v->law.shader == SHADER_CUBE;
    f->ext[0] = f->ext[1] = f->ext[2] = f->h;
    for (int c = 0; f->skew && c < 8; c++) {
        double at[3];
        for (int d = 0; d < 3; d++) at[d] = x[d] + k->foot[level].off[c][d] * v->law.smooth;
        const double near = v->dist - at[2];
        if (!(near > 0)) return false;
        for (int d = 0; d < 2; d++) {
            f->corner[c][d] = at[d] * (v->focal / near) - x[d] * scale;
            f->ext[d] = fmax(f->ext[d], fabs(f->corner[c][d]));
        }
    }
    x[0] *= scale, x[1] *= scale;
    return true;
}

/* ---- cells ---- */

/* A cell on its way to the pixels. */
struct stroke {
    struct sheet *sheet;
    int n;
    int64_t value[PAINT_VALUES * DIGITS];
};

static void add_span(void *ctx, int j, int from, int to)
{
    const struct stroke *s = ctx;
    for (int i = from; i <= to; i++) {
        int64_t *at = sheet_at(s->sheet, i, j);
        for (int k = 0; k < s->n; k++) at[k] += s->value[k];
    }
}

static void raise_span(void *ctx, int j, int from, int to)
{
    const struct stroke *s = ctx;
    for (int i = from; i <= to; i++) {
        int64_t *at = sheet_at(s->sheet, i, j);
        for (int k = 0; k < s->n; k++) at[k] = s->value[k] > at[k] ? s->value[k] : at[k];
    }
}

/* Digits of the sums of a cell, or keys. `more`: factor of the weight. Returns whether there is
 * anything to add. */
static bool load(const struct paint *p, struct painter *a, int g, const double *sum, double more,
                 struct stroke *s)
{
    const struct group *k = &p->group[g];
    bool any = false;
    s->n = 0;
    for (int v = 0; v < k->n; v++) {
        const double x = sum[(size_t)v * PAINT_CELLS] * more;
        if (k->method >= METHOD_MIN) {
            s->value[s->n++] = digits_key(x);
            any |= x > -INFINITY;
            continue;
        }
        if (!(fabs(x) < a->scale[g][v].limit))
            painter_raise(p, a, g, v, scale_for(&a->scale[g][v], fabs(x)));
        digits_of(&a->scale[g][v], x, s->value + s->n);
        s->n += DIGITS;
        any |= x != 0;
    }
    return any;
}

static void add_cell(struct paint *p, struct painter *a, int camera, const struct cells *c, int i,
                     const double x[3])
{
    const struct plan *k = &p->plan[camera];
    const struct movie_view *v = &k->view;
    const bool extreme = v->law.method >= METHOD_MIN, mean = v->law.method <= MEAN_VOLUME;
    const struct footprint *f = &k->foot[c->level];
    struct footprint far;
    double at[3] = {x[0], x[1], x[2]}, more = 1;
    struct stroke s = {.sheet = &a->pixels[camera]};
    if (p->ndim == 3 && x[2] > v->dist) return;
    if (v->law.perspective) {
        if (!far_footprint(p, k, c->level, at, &far)) return;
        f = &far;
        const double ratio = (v->dist - x[2]) / v->focal;
        if (mean) more = ratio * ratio;
    }
    if (raster_misses(v, at, f->ext)) return;
    if (load(p, a, k->group, c->sum[k->group] + i, more, &s))
        raster_cell(v, f, at, extreme ? raise_span : add_span, &s);
}

void raster_add(struct paint *p, struct painter *a, int camera, const struct cells *c)
{
    const struct plan *k = &p->plan[camera];
    const struct movie_view *v = &k->view;
    const struct footprint *f = &k->foot[c->level];
    const double side = p->head->boxlen / ldexp(1, c->level - 1);
    for (int i = 0; i < c->n; i++) {
        double x[3], at[3], cell[3];
        for (int d = 0; d < 3; d++)
            x[d] = d < p->ndim ? (c->x[d][i] + 0.5) * side - v->centre[d] : 0;
        view_turn(v, x, at);
        if (!v->law.perspective && raster_misses(v, at, f->far)) continue;
        for (int n = 0; n < 8; n++) {
            if (!(c->drawn[i] >> n & 1)) continue;
            for (int d = 0; d < 3; d++) cell[d] = at[d] + f->off[n][d];
            add_cell(p, a, camera, c, 8 * i + n, cell);
        }
    }
}
