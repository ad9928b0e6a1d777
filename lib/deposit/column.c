/* deposit/column: kernels seen along a line of sight. */
#include <math.h>

#include "deposit/deposit.h"

enum { FEW = 32, FOOT = FEW + 2, DEEP = 32 }; /* FEW: pixels across a kernel that is normalised */
static const double SPACING = 0.125;          /* of sample points, in smoothing lengths */

/* A particle in the plane of the map; depth relative to it. */
struct foot {
    const struct deposit_line *l;
    const struct deposit_raster *r;
    double x[2], h, pixel[2], near, far;
    bool partly; /* the region has a part of the kernel's depth */
};

/* Integral along the line of sight at the square of a distance, per area: all of it, and within
 * the region. */
static double whole(const struct foot *f, double b2)
{
    const double h2 = f->h * f->h;
    return deposit_line(f->l, b2 / h2 * f->l->scale) / h2;
}

static double inside(const struct foot *f, double b2)
{
    const struct deposit_kernel *k = f->l->kernel;
    const double step = (f->far - f->near) / DEEP, h2 = f->h * f->h;
    double q[DEEP], sum = 0;
    for (int i = 0; i < DEEP; i++) {
        const double z = f->near + (i + 0.5) * step;
        q[i] = sqrt((b2 + z * z) / h2);
    }
    k->f(DEEP, q);
    for (int i = 0; i < DEEP; i++) sum += q[i];
    return sum * k->norm * step / (h2 * f->h);
}

static void add(const struct foot *f, int i, int j, double share, const double q[2])
{
    const struct deposit_raster *r = f->r;
    const double density = share / (f->pixel[0] * f->pixel[1]);
    if (i < 0 || j < 0 || i >= r->n[0] || j >= r->n[1] || !(share > 0)) return;
    r->sum[(int64_t)j * r->n[0] + i] += q[0] * density;
    r->norm[(int64_t)j * r->n[0] + i] += q[1] * density;
}

/* Shares of pixel i, j: all of the depth, and within the region; points only where the kernel is.
 */
static void share_of(const struct foot *f, int i, int j, double share[2])
{
    const double reach = f->l->kernel->support * f->h;
    const int at[2] = {i, j};
    double lo[2], step[2];
    int n[2];
    for (int d = 0; d < 2; d++) {
        const double corner = f->r->lo[d] + at[d] * f->pixel[d];
        lo[d] = fmax(corner, f->x[d] - reach);
        const double width = fmin(corner + f->pixel[d], f->x[d] + reach) - lo[d];
        n[d] = width > 0 ? (int)ceil(width / (SPACING * f->h)) : 0;
        step[d] = width / n[d];
    }
    share[0] = share[1] = 0;
    for (int b = 0; b < n[1]; b++)
        for (int a = 0; a < n[0]; a++) {
            const double u = lo[0] + (a + 0.5) * step[0] - f->x[0],
                         v = lo[1] + (b + 0.5) * step[1] - f->x[1], far = u * u + v * v;
            if (far >= reach * reach) continue;
            const double area = step[0] * step[1], all = whole(f, far) * area;
            share[0] += all, share[1] += f->partly ? inside(f, far) * area : all;
        }
}

/* A kernel on few pixels: the shares of all of them add up to 1. */
static void draw_few(const struct foot *f, const int first[2], const int n[2], const double q[2])
{
    double share[FOOT * FOOT][2], sum = 0;
    for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++) {
            share_of(f, first[0] + i, first[1] + j, share[j * n[0] + i]);
            sum += share[j * n[0] + i][0];
        }
    for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++)
            add(f, first[0] + i, first[1] + j, share[j * n[0] + i][1] / sum, q);
}

/* Pixels first ≤ i < end of row j, by the integral at their centres. */
static void draw_row(const struct foot *f, int64_t j, int first, int end, const double q[2])
{
    double *sum = f->r->sum + j * f->r->n[0], *norm = f->r->norm + j * f->r->n[0];
    const double h2 = f->h * f->h, scale = f->l->scale / h2,
                 v = f->r->lo[1] + ((double)j + 0.5) * f->pixel[1] - f->x[1],
                 corner = f->r->lo[0] + 0.5 * f->pixel[0] - f->x[0], a = q[0] / h2, b = q[1] / h2;
#pragma omp simd
    for (int i = first; i < end; i++) {
        const double u = corner + i * f->pixel[0], y = deposit_line(f->l, (u * u + v * v) * scale);
        sum[i] += a * y, norm[i] += b * y;
    }
}

static void draw_slab(const struct foot *f, int64_t j, int first, int end, const double q[2])
{
    const double v = f->r->lo[1] + ((double)j + 0.5) * f->pixel[1] - f->x[1];
    for (int i = first; i < end; i++) {
        const double u = f->r->lo[0] + (i + 0.5) * f->pixel[0] - f->x[0];
        add(f, i, (int)j, inside(f, u * u + v * v) * (f->pixel[0] * f->pixel[1]), q);
    }
}

static void draw_many(const struct foot *f, const double first[2], const double end[2],
                      const double q[2])
{
    const int i0 = (int)fmax(first[0], 0), i1 = (int)fmin(end[0], f->r->n[0]),
              j0 = (int)fmax(first[1], 0), j1 = (int)fmin(end[1], f->r->n[1]);
    for (int j = j0; j < j1; j++) (f->partly ? draw_slab : draw_row)(f, j, i0, i1, q);
}

void deposit_draw(const struct deposit_line *l, const struct deposit_raster *r, const double x[3],
                  double h, double a, double b)
{
    struct foot f = {.l = l, .r = r, .x = {x[0], x[1]}, .h = h};
    const double reach = l->kernel->support * h, q[2] = {a, b};
    double first[2], end[2];
    bool few = true, meets = true;
    f.near = fmax(r->lo[2] - x[2], -reach), f.far = fmin(r->hi[2] - x[2], reach);
    f.partly = !r->whole && (f.near > -reach || f.far < reach);
    if (f.partly && f.near >= f.far) return;
    for (int d = 0; d < 2; d++) {
        f.pixel[d] = (r->hi[d] - r->lo[d]) / r->n[d];
        first[d] = floor((x[d] - reach - r->lo[d]) / f.pixel[d]);
        end[d] = ceil((x[d] + reach - r->lo[d]) / f.pixel[d]);
        if (end[d] <= first[d]) end[d] = first[d] + 1;
        few &= end[d] - first[d] <= FOOT;
        meets &= end[d] > 0 && first[d] < r->n[d];
    }
    if (!meets) return;
    if (few)
        draw_few(&f, (int[2]){(int)first[0], (int)first[1]},
                 (int[2]){(int)(end[0] - first[0]), (int)(end[1] - first[1])}, q);
    else
        draw_many(&f, first, end, q);
}
