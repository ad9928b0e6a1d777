/* A brick of a mesh and its fields without other ranks, for tests of initial fields and forces; and
 * exact derivatives of waves that the whole mesh resolves. */
#pragma once
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stencil/stencil.h"

enum { WORLD_HALO = 2 };

/* Brick `at` of p parts. */
static void world_brick(struct stencil *t, const struct params *par, const struct comm *c,
                        const int p[3], const int at[3])
{
    const struct param_stencil *q = &par->stencil;
    *t = (struct stencil){.par = par, .comm = c};
    const int64_t n[3] = {q->nx, q->ny, q->nz};
    const double length[3] = {q->lx, q->ly, q->lz};
    struct brick *b = &t->brick;
    b->halo = WORLD_HALO;
    int64_t stride = 1;
    for (int d = 0; d < 3; d++) {
        t->n[d] = b->n[d] = n[d];
        t->length[d] = length[d];
        t->eq.dx[d] = length[d] / (double)n[d];
        b->p[d] = p[d], b->at[d] = at[d];
        b->first[d] = n[d] * at[d] / p[d];
        b->own[d] = (int)(n[d] * (at[d] + 1) / p[d] - b->first[d]);
        b->stride[d] = stride;
        b->start += WORLD_HALO * stride;
        stride *= b->own[d] + 2 * WORLD_HALO;
    }
    b->size = (size_t)stride;
    t->eq.flow = q->hydro, t->eq.magnetic = q->magnetic, t->eq.entropy = q->entropy;
    t->eq.nu = q->nu, t->eq.eta = q->eta, t->eq.cs0 = q->cs0;
    t->eq.rho0 = q->rho0, t->eq.mu0 = q->mu0;
    for (int d = 0; d < 3; d++) t->eq.bext[d] = q->bext[d];
    for (int f = 0; f < FD_FIELDS; f++) {
        if (f == FD_S && !q->entropy) continue;
        if (f >= FD_AX && !q->magnetic) continue;
        t->a.now[f] = mem_zero(sizeof(double) * b->size, "world");
    }
}

static void world_whole(struct stencil *t, const struct params *par, const struct comm *c)
{
    world_brick(t, par, c, (const int[]){1, 1, 1}, (const int[]){0, 0, 0});
}

static void world_free(struct stencil *t)
{
    for (int f = 0; f < FD_FIELDS; f++) FREE(t->a.now[f]);
}

static inline double world_at(const struct stencil *t, int field, const int x[3])
{
    return t->a.now[field][stencil_at(&t->brick, x[0], x[1], x[2])];
}

/* Derivative along axis d of a field of the whole mesh: that of the trigonometric polynomial
 * through all cells of the line. n is even. */
static double world_derivative(const struct stencil *t, int field, int d, const int x[3])
{
    const int n = (int)t->n[d];
    if (n == 1) return 0;
    double sum = 0;
    for (int m = 1; m < n; m++) {
        int y[3] = {x[0], x[1], x[2]};
        y[d] = (x[d] + n - m) % n;
        sum += 0.5 * (m % 2 ? -1 : 1) / tan(M_PI * m / n) * world_at(t, field, y);
    }
    return sum * 2 * M_PI / t->length[d];
}

/* Curl of three fields from `field` on at a cell. */
static void world_curl(const struct stencil *t, int field, const int x[3], double curl[3])
{
    for (int d = 0; d < 3; d++) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        curl[d] = world_derivative(t, field + f, e, x) - world_derivative(t, field + e, f, x);
    }
}

static double world_divergence(const struct stencil *t, int field, const int x[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += world_derivative(t, field + d, d, x);
    return sum;
}

/* Mean square of a field; its mean, if not NULL. */
static inline double world_square(const struct stencil *t, int field, double *mean)
{
    double sum = 0, square = 0;
    const int *n = t->brick.own;
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int x[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        double v = world_at(t, field, x);
        sum += v, square += v * v;
    }
    double cells = (double)n[0] * n[1] * n[2];
    if (mean) *mean = sum / cells;
    return square / cells;
}

/* Largest |divergence|, |curl − k·field| and |field| over some cells of the whole mesh. */
struct world_law {
    double divergence, beltrami, field;
};
static struct world_law world_law(const struct stencil *t, int field, double k)
{
    struct world_law l = {0};
    const int n[3] = {(int)t->n[0], (int)t->n[1], (int)t->n[2]};
    for (int i = 0; i < n[0] * n[1] * n[2]; i += 7) {
        const int x[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        double curl[3];
        world_curl(t, field, x, curl);
        l.divergence = fmax(l.divergence, fabs(world_divergence(t, field, x)));
        for (int d = 0; d < 3; d++) {
            double v = world_at(t, field + d, x);
            l.beltrami = fmax(l.beltrami, fabs(curl[d] - k * v));
            l.field = fmax(l.field, fabs(v));
        }
    }
    return l;
}

/* Number of cells in which three fields of the bricks of p parts, set by fn, are not those of the
 * whole mesh to the last bit. */
typedef void world_set(struct stencil *t);
static int world_differs(const struct params *par, const struct comm *c, const int p[3], int field,
                         world_set *fn)
{
    struct stencil all, part;
    int bad = 0;
    world_whole(&all, par, c);
    fn(&all);
    for (int i = 0; i < p[0] * p[1] * p[2]; i++) {
        const int at[3] = {i % p[0], i / p[0] % p[1], i / (p[0] * p[1])};
        world_brick(&part, par, c, p, at);
        fn(&part);
        const struct brick *b = &part.brick;
        for (int j = 0; j < 3 * b->own[0] * b->own[1] * b->own[2]; j++) {
            const int cell = j / 3, f = field + j % 3,
                      x[3] = {cell % b->own[0], cell / b->own[0] % b->own[1],
                              cell / (b->own[0] * b->own[1])},
                      y[3] = {x[0] + (int)b->first[0], x[1] + (int)b->first[1],
                              x[2] + (int)b->first[2]};
            double u = world_at(&part, f, x), v = world_at(&all, f, y);
            bad += memcmp(&u, &v, sizeof u) != 0;
        }
        world_free(&part);
    }
    world_free(&all);
    return bad;
}
