#include "sink/cloud.h"

#include <math.h>

#include "base/mem.h"
#include "part/part.h"

/* The cells of a level around a copy of a sink, and the weights of its points in them. */
struct window {
    const struct mesh *m;
    const struct level *lv;
    int64_t base[3];     /* coordinates of the first cell: even, may be outside of the box */
    int64_t cells;       /* cells of the level along the box */
    int edge;            /* cells of the window along each axis, even */
    lidx *oct;           /* [(edge/2)^3] octs; -1: not on this rank */
    double *w;           /* [edge^3] weights of all points */
    double *heavy;       /* [edge^3] weights of heavy points, or NULL */
    unsigned char *seen; /* [edge^3] cells touched by a point, or NULL */
};

void sink_cloud_make(struct sink_cloud *c, int radius, int massive, double dx)
{
    int max = 2 * radius, side = 2 * max + 1;
    size_t room = (size_t)side * (size_t)side * (size_t)side;
    *c = (struct sink_cloud){.radius = radius * dx, .volume = 0.125 * dx * dx * dx};
    c->at = mem_new(sizeof *c->at * room, "sinks");
    c->heavy = mem_new(sizeof *c->heavy * room, "sinks");
    for (int k = -max; k <= max; k++)
        for (int j = -max; j <= max; j++)
            for (int i = -max; i <= max; i++) {
                int r2 = i * i + j * j + k * k;
                if (r2 > max * max) continue;
                double *x = c->at[c->n];
                x[0] = i * dx / 2, x[1] = j * dx / 2, x[2] = k * dx / 2;
                c->heavy[c->n] = r2 <= 4 * massive * massive;
                c->nheavy += c->heavy[c->n++];
            }
}

void sink_cloud_free(struct sink_cloud *c)
{
    FREE(c->at);
    FREE(c->heavy);
    c->n = c->nheavy = 0;
}

double sink_cloud_reach(const struct sink_cloud *c, const struct mesh *m, int l)
{
    return c->radius + mesh_dx(m, l);
}

/* ---- windows ---- */

static void window_open(struct window *w, const struct sink_cloud *c, const struct mesh *m, int l,
                        const double x[3])
{
    int64_t edge = 0;
    *w = (struct window){.m = m, .lv = &m->lev[l], .cells = (int64_t)1 << l};
    for (int d = 0; d < 3; d++) {
        w->base[d] = (int64_t)floor(mesh_cells(m, l, x[d] - c->radius) - 0.5) & ~(int64_t)1;
        int64_t end = (int64_t)floor(mesh_cells(m, l, x[d] + c->radius) - 0.5) + 2;
        edge = end - w->base[d] > edge ? end - w->base[d] : edge;
    }
    w->edge = (int)(edge + (edge & 1));
    int64_t half = w->edge / 2;
    size_t cells = (size_t)(8 * half * half * half);
    w->oct = mem_new(sizeof *w->oct * cells / 8 + 1, "sinks");
    w->w = mem_zero(sizeof *w->w * cells + 1, "sinks");
    for (int64_t i = 0; i < half * half * half; i++) {
        int64_t q[3] = {w->base[0] / 2 + i % half, w->base[1] / 2 + i / half % half,
                        w->base[2] / 2 + i / half / half};
        okey key;
        w->oct[i] = mesh_key_at(m, l, q, &key) ? mesh_find(w->lv, key) : -1;
    }
}

static void window_close(struct window *w)
{
    FREE(w->oct);
    FREE(w->w);
    FREE(w->heavy);
    FREE(w->seen);
}

/* Oct that contains a cell, given by its offset from the base, and index of the cell in the oct. */
static inline lidx window_oct(const struct window *w, const int64_t q[3], int *cell)
{
    int64_t half = w->edge / 2;
    *cell = (int)((q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2);
    return w->oct[q[0] / 2 + half * (q[1] / 2 + half * (q[2] / 2))];
}

struct point {
    int64_t cell[3]; /* first of the eight cells, as offset from the base */
    double w[3];
    lidx oct; /* oct of the level on this rank, own or ghost; -1: none */
    bool finer;
};

static struct point point_find(const struct window *w, int l, const double x[3],
                               const double off[3])
{
    struct point p;
    int64_t in[3];
    int cell;
    for (int d = 0; d < 3; d++) {
        double q = mesh_cells(w->m, l, x[d] + off[d]), u = q - 0.5, f = floor(u);
        p.cell[d] = (int64_t)f - w->base[d];
        p.w[d] = u - f;
        in[d] = (int64_t)floor(q) - w->base[d];
    }
    p.oct = window_oct(w, in, &cell);
    p.finer = p.oct >= 0 && w->lv->child[p.oct][cell] >= 0;
    return p;
}

/* Overlap of the point's cube with the eight cells, x fastest, as for particles. */
static void volumes(const double w[3], double vol[8])
{
    for (int c = 0; c < 8; c++) {
        double x = c & 1 ? w[0] : 1 - w[0], y = c & 2 ? w[1] : 1 - w[1];
        vol[c] = x * y * (c & 4 ? w[2] : 1 - w[2]);
    }
}

static void window_add(struct window *w, const struct point *p, bool heavy)
{
    double vol[8];
    volumes(p->w, vol);
    for (int c = 0; c < 8; c++) {
        int64_t x = p->cell[0] + (c & 1), y = p->cell[1] + (c >> 1 & 1), z = p->cell[2] + (c >> 2);
        int64_t at = x + w->edge * (y + w->edge * z);
        w->w[at] += vol[c];
        if (w->heavy && heavy) w->heavy[at] += vol[c];
        if (w->seen) w->seen[at] = 1;
    }
}

/* Whether cell i of the window is an own cell inside the box. Cells outside belong to another image
 * of the sink. */
static bool window_own(const struct window *w, int64_t i, lidx *oct, int *cell, int64_t q[3])
{
    bool in = true;
    q[0] = i % w->edge, q[1] = i / w->edge % w->edge, q[2] = i / w->edge / w->edge;
    *oct = window_oct(w, q, cell);
    for (int d = 0; d < 3; d++) {
        q[d] += w->base[d];
        in &= q[d] >= 0 && q[d] < w->cells;
    }
    return in && *oct >= 0 && *oct < w->lv->nown;
}

static int64_t window_size(const struct window *w)
{
    return (int64_t)w->edge * w->edge * w->edge;
}

void sink_cloud_octs(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                     bool ghosts, struct rows *out)
{
    struct window w;
    window_open(&w, c, m, l, x);
    const int64_t half = w.edge / 2, n = half * half * half;
    const lidx end = ghosts ? w.lv->noct : w.lv->nown;
    out->oct = mem_grow(out->oct, sizeof *out->oct * (size_t)(out->n + n) + 1, "sinks");
    for (int64_t i = 0; i < n; i++)
        if (w.oct[i] >= 0 && w.oct[i] < end) out->oct[out->n++] = w.oct[i];
    window_close(&w);
}

/* ---- deposit, gas and force ---- */

void sink_cloud_cells(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                      struct sink_cells *out)
{
    struct window w;
    double dx = mesh_dx(m, l);
    *out = (struct sink_cells){0};
    window_open(&w, c, m, l, x);
    for (int k = 0; k < c->n; k++) {
        struct point p = point_find(&w, l, x, c->at[k]);
        if (p.oct >= 0 && !p.finer) window_add(&w, &p, false);
    }
    out->cell = mem_new(sizeof *out->cell * (size_t)window_size(&w) + 1, "sinks");
    for (int64_t i = 0; i < window_size(&w); i++) {
        struct sink_cell s = {.w = w.w[i]};
        int64_t q[3];
        if (!(s.w > 0) || !window_own(&w, i, &s.oct, &s.cell, q)) continue;
        if (w.lv->child[s.oct][s.cell] >= 0) continue;
        for (int d = 0; d < 3; d++) s.r[d] = ((double)q[d] + 0.5) * dx - x[d];
        out->cell[out->n++] = s;
    }
    window_close(&w);
    out->cell = mem_grow(out->cell, sizeof *out->cell * (size_t)out->n + 1, "sinks");
}

void sink_cloud_deposit(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                        const struct sink_trace *t, int64_t (*mass)[8], int64_t (*number)[8])
{
    static const double UNIT = 4294967296.0;
    struct window w;
    window_open(&w, c, m, l, x);
    w.heavy = mem_zero(sizeof *w.heavy * (size_t)window_size(&w) + 1, "sinks");
    w.seen = mem_zero((size_t)window_size(&w) + 1, "sinks");
    for (int k = 0; k < c->n; k++) {
        struct point p = point_find(&w, l, x, c->at[k]);
        if (p.oct >= 0) window_add(&w, &p, c->heavy[k]);
    }
    for (int64_t i = 0; i < window_size(&w); i++) {
        lidx oct;
        int cell;
        int64_t q[3];
        if (!w.seen[i] || !window_own(&w, i, &oct, &cell, q)) continue;
        mass[oct][cell] += llrint(w.heavy[i] * t->mass / t->quantum);
        double n = w.w[i] * t->each + w.heavy[i] * t->each_heavy + t->mark;
        if (number) number[oct][cell] += llrint(n * UNIT);
    }
    window_close(&w);
}

/* Force in a cell of level l, which may lie beyond a boundary; false: no such cell on this rank. */
static bool force_of_cell(const struct mesh *m, int l, const int64_t cell[3], const bool reflect[6],
                          double f[3])
{
    const struct level *lv = &m->lev[l];
    int64_t q[3], o[3];
    double sign[3] = {1, 1, 1};
    okey key;
    for (int d = 0; d < 3; d++) {
        int64_t last = ((int64_t)1 << l) - 1;
        q[d] = cell[d];
        for (int side = 0; side < 2; side++) {
            if (!m->bounded[2 * d + side] || (side ? q[d] <= last : q[d] >= 0)) continue;
            q[d] = side ? last : 0;
            if (reflect[2 * d + side]) sign[d] = -1;
        }
        o[d] = q[d] >> 1;
    }
    lidx i = mesh_key_at(m, l, o, &key) ? mesh_find(lv, key) : -1;
    int c = (int)((q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2);
    if (i < 0) return false;
    for (int d = 0; d < 3; d++) f[d] = sign[d] * level_force(lv, d)[i][c];
    return true;
}

static bool force_at(const struct mesh *m, int l, const double x[3], const double off[3],
                     const bool reflect[6], double f[3])
{
    int64_t first[3];
    double w[3], vol[8];
    for (int d = 0; d < 3; d++) {
        double u = mesh_cells(m, l, x[d] + off[d]) - 0.5;
        first[d] = (int64_t)floor(u);
        w[d] = u - floor(u);
        f[d] = 0;
    }
    volumes(w, vol);
    for (int c = 0; c < 8; c++) {
        int64_t q[3] = {first[0] + (c & 1), first[1] + (c >> 1 & 1), first[2] + (c >> 2)};
        double g[3];
        if (!force_of_cell(m, l, q, reflect, g)) return false;
        for (int d = 0; d < 3; d++) f[d] += vol[c] * g[d];
    }
    return true;
}

void sink_cloud_force(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                      const bool reflect[6], struct sum force[3])
{
    struct window w;
    window_open(&w, c, m, l, x);
    for (int k = 0; k < c->n; k++) {
        struct point p = point_find(&w, l, x, c->at[k]);
        double f[3], at[3];
        for (int d = 0; d < 3; d++) at[d] = x[d] + c->at[k][d];
        if (p.oct < 0 || p.oct >= w.lv->nown || p.finer || !sink_inside(m, at)) continue;
        if (!force_at(m, l, x, c->at[k], reflect, f) &&
            !(l > 1 && force_at(m, l - 1, x, c->at[k], reflect, f)))
            continue;
        for (int d = 0; d < 3; d++) sum_add(&force[d], f[d]);
    }
    window_close(&w);
}
