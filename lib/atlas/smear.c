/* atlas/smear: particles smoothed over their neighbours.
 *
 * A particle becomes a cubic B-spline (M4 of Schoenberg 1946) along each axis, whose support
 * ends at the distance of its N-th neighbour. On a cubic lattice N = 32 (12 in two dimensions)
 * gives the width of one lattice spacing, at which these splines add up to the mean density
 * everywhere: the lattice of initial conditions is not seen, while halos stay as sharp as their
 * particles. Shares of pixels are differences of the integral of the spline, so that they add up
 * to the mass. Particles are drawn in the order of their ids. */
#include <math.h>

#include "atlas/atlas.h"
#include "base/mem.h"
#include "tree/tree.h"

enum { MOST = 1 << 23 }; /* particles that are smoothed by default, at most */
static const double REACH_MAX = 0.25, REACH_MIN = 1e-9; /* of a spline, in boxes */

struct smear {
    const struct map_options *o;
    bool chosen; /* the options ask for it, whatever the number of particles */
    bool off;
    int64_t n, room;
    struct map_grain *grain;
    double *reach;
};

static void add(struct smear *k, const struct map_grain *g)
{
    if (k->n == k->room) {
        k->room = 2 * k->room + 1024;
        k->grain = mem_grow(k->grain, sizeof *k->grain * (size_t)k->room, "smoothing");
    }
    k->grain[k->n++] = *g;
}

/* Whether the map has too many particles a pixel to need smoothing. */
static bool are_many(const struct smear *k, const struct map *m)
{
    const double shown = (double)k->n * fmin(k->o->width * k->o->width, 1);
    return k->n > MOST || shown > (double)ATLAS_FEW * m->n * m->rows;
}

static bool take(void *ctx, struct map *m, const struct map_grain *g)
{
    struct smear *k = ctx;
    if (k->off || (!k->chosen && m->species != SPECIES_DM)) return false;
    add(k, g);
    if (k->chosen || !are_many(k, m)) return true;
    for (int64_t i = 0; i < k->n; i++) map_lay_grain(m, &k->grain[i]);
    k->off = true;
    FREE(k->grain);
    k->n = k->room = 0;
    return true;
}

/* ---- reaches ---- */

static int in_order(const void *a, const void *b)
{
    const struct map_grain *p = a, *q = b;
    if (p->id != q->id) return p->id < q->id ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (p->x[d] != q->x[d]) return p->x[d] < q->x[d] ? -1 : 1;
    return (p->q > q->q) - (p->q < q->q);
}

static bool axis_exists(const struct map *m, int d)
{
    return (d == 0 ? m->u : d == 1 ? m->v : m->w) < m->r->head.ndim;
}

/* Finds the distance of the N-th neighbour of each particle, or that of the last one if there are
 * fewer. */
static void find_reaches(struct smear *k, const struct map *m, const struct tree *t,
                         const double *const x[3])
{
    const int usual = m->r->head.ndim < 3 ? ATLAS_NEIGHBOURS_2D : ATLAS_NEIGHBOURS,
              asked = k->o->smooth > 0 ? k->o->smooth : usual,
              n = (asked < MAP_SMOOTH_MAX ? asked : MAP_SMOOTH_MAX) + 1; /* with itself */
    const struct tree_nearest q = {.k = n, .max = INFINITY};
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < k->n; i++) {
        double far2[MAP_SMOOTH_MAX + 1];
        const int found = tree_nearest(t, (double[3]){x[0][i], x[1][i], x[2][i]}, &q, far2);
        const double far = found > 1 ? sqrt(far2[0]) : k->grain[i].size;
        k->reach[i] = fmin(fmax(far, REACH_MIN), REACH_MAX);
    }
}

static void measure(struct smear *k, const struct map *m)
{
    const size_t n = (size_t)k->n;
    double *all = mem_new(3 * sizeof *all * n, "smoothing");
    struct tree_points p = {.n = k->n};
    struct tree *t = NULL;
    k->reach = mem_new(sizeof *k->reach * n, "smoothing");
    for (int d = 0; d < 3; d++) {
        double *x = all + (size_t)d * n;
        const bool exists = axis_exists(m, d), wraps = exists && m->periodic;
        for (size_t i = 0; i < n; i++) {
            x[i] = exists ? k->grain[i].x[d] : 0;
            if (wraps) x[i] -= floor(x[i]);
            if (wraps && x[i] >= 1) x[i] = 0;
        }
        p.x[d] = x, p.period[d] = wraps ? 1 : 0;
    }
    if (tree_new(&p, TREE_RADIX, REACH_MAX, &t) == OK)
        find_reaches(k, m, t, p.x);
    else /* positions that no tree takes: cubes are what remains */
        for (size_t i = 0; i < n; i++) k->reach[i] = k->grain[i].size;
    tree_free(&t);
    FREE(all);
}

/* ---- drawing ---- */

/* Integral of the spline of width h = reach/2 up to t h from its centre. */
static double spline(double t)
{
    const double s = fabs(t), rest = 2 - s;
    const double up = s >= 2   ? 1
                      : s >= 1 ? 1 - rest * rest * rest * rest / 24
                               : 0.5 + s * (2.0 / 3 - s * s * (1.0 / 3 - s / 8));
    return t > 0 ? up : 1 - up;
}

/* A particle along an axis; along one that the checkpoint lacks it is as long as the box. */
struct along {
    double x, reach;
    bool exists;
    int image;
};
struct row {
    int first, n;
    double *share;
};

static double up_to(const struct along *a, double at)
{
    if (!a->exists) return fmin(fmax(at - a->image, 0), 1);
    return spline(2 * (at - a->x) / a->reach);
}

/* Shares of those of the n pixels from `lo` on that the particle covers. */
static void share_out(struct row *s, const struct along *a, double lo, double pixel, int n)
{
    const double from = a->exists ? a->x - a->reach : a->image,
                 to = a->exists ? a->x + a->reach : a->image + 1;
    s->first = (int)fmin(fmax(floor((from - lo) / pixel), 0), n);
    s->n = (int)fmin(fmax(ceil((to - lo) / pixel), 0), n) - s->first;
    double last = up_to(a, lo + s->first * pixel);
    for (int i = 0; i < s->n; i++) {
        const double next = up_to(a, lo + (s->first + i + 1) * pixel);
        s->share[i] = next - last;
        last = next;
    }
}

/* One image of a particle. mass: of which pixels get their shares. */
static void draw_image(struct map *m, const struct along a[3], double mass, struct row row[2])
{
    const double depth = up_to(&a[2], m->hi[2]) - up_to(&a[2], m->lo[2]);
    if (!(depth > 0)) return;
    share_out(&row[0], &a[0], m->lo[0], m->pixel, m->n);
    share_out(&row[1], &a[1], m->lo[1], m->row, m->rows);
    const double q = mass * depth / (m->pixel * m->row);
    for (int j = 0; j < row[1].n; j++) {
        double *to = m->sum + (size_t)(row[1].first + j) * (size_t)m->n + row[0].first;
        const double here = q * row[1].share[j];
        for (int i = 0; i < row[0].n; i++) to[i] += here * row[0].share[i];
    }
}

static void draw_grain(struct map *m, const struct map_grain *g, double reach, struct row row[2])
{
    double mass = g->q;
    for (int d = 0; d < 3; d++) mass *= axis_exists(m, d) ? g->size : 1;
    for (int i = m->from[0]; i <= m->to[0]; i++)
        for (int j = m->from[1]; j <= m->to[1]; j++)
            for (int k = m->from[2]; k <= m->to[2]; k++) {
                const int image[3] = {i, j, k};
                struct along a[3];
                for (int d = 0; d < 3; d++)
                    a[d] = (struct along){g->x[d] + image[d], reach, axis_exists(m, d), image[d]};
                draw_image(m, a, mass, row);
            }
}

static void end(void *ctx, struct map *m)
{
    struct smear *k = ctx;
    if (!k->n) return;
    mem_sort(k->grain, (size_t)k->n, sizeof *k->grain, in_order);
    measure(k, m);
    double *share = mem_new(sizeof *share * ((size_t)m->n + (size_t)m->rows), "smoothing");
    struct row row[2] = {{.share = share}, {.share = share + m->n}};
    for (int64_t i = 0; i < k->n; i++) draw_grain(m, &k->grain[i], k->reach[i], row);
    FREE(share);
}

enum err atlas_make(struct map *m, struct source *r, const struct map_options *o)
{
    struct smear k = {.o = o, .chosen = o->smooth > 0};
    const struct map_taker taker = {take, end, &k};
    const enum err err = map_make_by(m, r, o, o->smooth == MAP_UNSMOOTHED ? NULL : &taker);
    FREE(k.grain);
    FREE(k.reach);
    return err;
}
