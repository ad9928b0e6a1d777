/* stencil: nanoseconds of processor time a cell of a substep of fd, all equations at order 6 on one
 * thread, beside plain loops over the same equations: one loop nest for each derivative, and one
 * for the right-hand side. Both are timed in turns; medians. With an argument: cells along an axis
 * (64). Prints markdown. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fd_world.h"

enum { H = 3, TURNS = 9 };

static int n;
static size_t origin, row, plane; /* the first cell; numbers from a row, and a plane, to the next */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define CELLS                                                                                      \
    for (int z = 0; z < n; z++)                                                                    \
        for (int y = 0; y < n; y++)                                                                \
            for (int x = 0; x < n; x++)
#define AT (origin + (size_t)x + (size_t)y * row + (size_t)z * plane)

static void first(double *restrict d, const double *restrict f, size_t s, double h)
{
    const double a = 0.75 / h, b = -0.15 / h, c = 1 / (60 * h);
    CELLS
    {
        const size_t i = AT;
        d[i] = a * (f[i + s] - f[i - s]) + b * (f[i + 2 * s] - f[i - 2 * s]) +
               c * (f[i + 3 * s] - f[i - 3 * s]);
    }
}

static void second(double *restrict d, const double *restrict f, size_t s, double h)
{
    const double o = -49 / (18 * h * h), a = 1.5 / (h * h), b = -0.15 / (h * h),
                 c = 1 / (90 * h * h);
    CELLS
    {
        const size_t i = AT;
        d[i] = o * f[i] + a * (f[i + s] + f[i - s]) + b * (f[i + 2 * s] + f[i - 2 * s]) +
               c * (f[i + 3 * s] + f[i - 3 * s]);
    }
}

static void mixed(double *restrict d, const double *restrict f, size_t s, size_t t, double h)
{
    const double a = 0.375 / (h * h), b = -0.0375 / (h * h), c = 1 / (360 * h * h);
    CELLS
    {
        const size_t i = AT;
        d[i] = a * (f[i + s + t] - f[i + s - t] + f[i - s - t] - f[i - s + t]) +
               b * (f[i + 2 * s + 2 * t] - f[i + 2 * s - 2 * t] + f[i - 2 * s - 2 * t] -
                    f[i - 2 * s + 2 * t]) +
               c * (f[i + 3 * s + 3 * t] - f[i + 3 * s - 3 * t] + f[i - 3 * s - 3 * t] -
                    f[i - 3 * s + 3 * t]);
    }
}

/* Derivatives of a field: along x, y, z; twice along these; yz, xz, xy. */
struct derivatives {
    double *d[3], *dd[3], *mix[3];
};

static void derive(const struct derivatives *q, const double *f, double h)
{
    const size_t step[3] = {1, row, plane};
    for (int a = 0; a < 3; a++) {
        if (q->d[a]) first(q->d[a], f, step[a], h);
        if (q->dd[a]) second(q->dd[a], f, step[a], h);
        if (q->mix[a]) mixed(q->mix[a], f, step[(a + 1) % 3], step[(a + 2) % 3], h);
    }
}

/* The sum over the equations at one cell, as in the head of fd/fd.h. */
static void rates(const struct fd_par *p, double *const *f, const struct derivatives *q, size_t i,
                  double rate[8])
{
    const double *u[3] = {f[FD_UX], f[FD_UY], f[FD_UZ]};
    const struct derivatives *l = &q[FD_LNRHO], *s = &q[FD_S], *v = &q[FD_UX], *a = &q[FD_AX];
    double b[3], j[3], strain[3][3], div = 0, ss = 0, j2 = 0, gg = 0, gs = 0, lap = 0;
    for (int k = 0; k < 3; k++) {
        const int m = (k + 1) % 3, o = (k + 2) % 3;
        b[k] = a[o].d[m][i] - a[m].d[o][i] + p->bext[k];
        j[k] = (a[m].mix[o][i] + a[o].mix[m][i] - a[k].dd[m][i] - a[k].dd[o][i]) / p->mu0;
        div += v[k].d[k][i];
        j2 += j[k] * j[k];
    }
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++) {
            strain[k][m] = 0.5 * (v[k].d[m][i] + v[m].d[k][i]) - (k == m ? div / 3 : 0);
            ss += strain[k][m] * strain[k][m];
        }
    const double rho = exp(f[FD_LNRHO][i]),
                 cs2 = p->cs0 * p->cs0 *
                       exp(p->gamma * f[FD_S][i] / p->cp +
                           (p->gamma - 1) * (f[FD_LNRHO][i] - log(p->rho0))),
                 T = cs2 / ((p->gamma - 1) * p->cp);
    rate[FD_LNRHO] = -div, rate[FD_S] = 0;
    for (int k = 0; k < 3; k++) {
        const int m = (k + 1) % 3, o = (k + 2) % 3;
        const double gd = v[k].dd[k][i] + v[m].mix[o][i] + v[o].mix[m][i];
        double t = -cs2 * (s->d[k][i] / p->cp + l->d[k][i]) + (j[m] * b[o] - j[o] * b[m]) / rho;
        t += p->nu * (v[k].dd[0][i] + v[k].dd[1][i] + v[k].dd[2][i] + gd / 3) + p->zeta * gd;
        for (int e = 0; e < 3; e++)
            t += 2 * p->nu * strain[k][e] * l->d[e][i] - u[e][i] * v[k].d[e][i];
        rate[FD_UX + k] = t;
        rate[FD_AX + k] = u[m][i] * b[o] - u[o][i] * b[m] +
                          p->eta * (a[k].dd[0][i] + a[k].dd[1][i] + a[k].dd[2][i]);
        rate[FD_LNRHO] -= u[k][i] * l->d[k][i];
        rate[FD_S] -= u[k][i] * s->d[k][i];
        const double g = p->gamma * s->d[k][i] / p->cp + (p->gamma - 1) * l->d[k][i];
        gg += g * g, gs += g * l->d[k][i];
        lap += p->gamma * s->dd[k][i] / p->cp + (p->gamma - 1) * l->dd[k][i];
    }
    rate[FD_S] +=
        (p->heat / rho + p->eta * p->mu0 * j2 / rho + 2 * p->nu * ss + p->zeta * div * div) / T +
        p->chi * p->cp * (lap + gg + gs) + p->k / rho * (lap + gg);
}

static void plain(const struct fd_world *w, const struct derivatives *q, double dt)
{
    for (int f = 0; f < FD_FIELDS; f++) derive(&q[f], w->a.now[f], w->par.dx[0]);
    CELLS
    {
        const size_t i = AT;
        double rate[8];
        rates(&w->par, w->a.now, q, i, rate);
        for (int f = 0; f < FD_FIELDS; f++) {
            w->a.change[f][i] = -5 / 9.0 * w->a.change[f][i] + dt * rate[f];
            w->a.next[f][i] = w->a.now[f][i] + 15 / 16.0 * w->a.change[f][i];
        }
    }
}

static int order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The layout of lib/brick: each row begins a cache line. */
static void world_init(struct fd_world *w, const struct fd_par *p)
{
    struct brick *b = &w->brick;
    *w = (struct fd_world){.par = *p, .brick = {.halo = H, .p = {1, 1, 1}}};
    const int64_t wide = (n + 2 * H + 7) / 8 * 8, many = n + 2 * H;
    for (int d = 0; d < 3; d++) b->n[d] = b->own[d] = n;
    b->stride[0] = 1;
    b->stride[1] = wide % 512 ? wide : wide + 8;
    b->stride[2] = b->stride[1] * many % 512 ? b->stride[1] * many : b->stride[1] * many + 8;
    b->start = (H * (1 + b->stride[1] + b->stride[2]) + 7) / 8 * 8;
    b->size = (size_t)(brick_cell(b, n + H, n + H - 1, n + H - 1) + 7) / 8 * 8;
    fd_arrays_new(p, b, &w->a);
}

int main(int argc, char **argv)
{
    static const struct fd_par p = {.order = 6,
                                    .flow = true,
                                    .entropy = true,
                                    .magnetic = true,
                                    .lorentz = true,
                                    .nu = 5e-3,
                                    .eta = 4e-3,
                                    .zeta = 1e-3,
                                    .chi = 3e-3,
                                    .k = 1e-3,
                                    .gamma = 5 / 3.0,
                                    .cp = 1,
                                    .cs0 = 1,
                                    .rho0 = 1,
                                    .mu0 = 1,
                                    .dx = {0.1, 0.1, 0.1}};
    static const char used[8][9] = {"111111000", "111111011", "111111101", "111111110",
                                    "111111000", "011111011", "101111101", "110111110"};
    struct derivatives q[FD_FIELDS];
    struct fd_world w;
    double time[2][TURNS], off = 0;
    n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 64;
    omp_set_num_threads(1);
    world_init(&w, &p);
    origin = (size_t)w.brick.start;
    row = (size_t)w.brick.stride[1], plane = (size_t)w.brick.stride[2];
    for (int f = 0; f < FD_FIELDS; f++) {
        for (int k = 0; k < 9; k++) {
            double **d = k < 3 ? &q[f].d[k] : k < 6 ? &q[f].dd[k - 3] : &q[f].mix[k - 6];
            *d = used[f][k] == '1' ? fd_world_array(&w.brick) : NULL;
        }
        for (size_t i = 0; i < w.brick.size; i++) {
            w.a.now[f][i] = (double)(i * 7919 * (size_t)(f + 3) % 10007) / 10007;
            w.a.change[f][i] = 0;
        }
    }
    for (int t = 0; t < TURNS; t++) {
        double begin = now();
        plain(&w, q, t ? 1e-4 : 0.5e-4);
        time[0][t] = now() - begin;
        for (int f = 0; f < FD_FIELDS && t == 0; f++)
            for (size_t i = 0; i < w.brick.size; i++) {
                q[f].dd[0][i] = w.a.next[f][i]; /* to compare */
                w.a.change[f][i] = 0;
            }
        begin = now();
        fd_substep(&p, &w.brick, (const int[3]){0}, w.brick.own, &w.a, 1, t ? 1e-4 : 0.5e-4);
        time[1][t] = now() - begin;
        for (int f = 0; f < FD_FIELDS && t == 0; f++)
            CELLS off = fmax(off, fabs(w.a.next[f][AT] - q[f].dd[0][AT]));
    }
    const double cells = (double)n * n * n;
    for (int k = 0; k < 2; k++) qsort(time[k], TURNS, sizeof(double), order);
    printf("| substep of %d³ cells, order 6, ns a cell | median | best |\n|---|---|---|\n", n);
    for (int k = 0; k < 2; k++)
        printf("| %s | %.1f | %.1f |\n", k ? "fd" : "plain loops", 1e9 * time[k][TURNS / 2] / cells,
               1e9 * time[k][0] / cells);
    printf("\nlargest difference of a field: %.1e\n", off);
    for (int f = 0; f < FD_FIELDS; f++)
        for (int a = 0; a < 3; a++)
            mem_free(q[f].d[a]), mem_free(q[f].dd[a]), mem_free(q[f].mix[a]);
    fd_world_fini(&w);
    return off < 1e-13 ? 0 : 1;
}
