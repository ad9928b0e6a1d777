/* grav/green: see green_kern.h; discrete Green function: Hockney & Eastwood 1988, §6-3. */
#include <math.h>

#include "base/mem.h"
#include "fft/fft.h"
#include "grav/fourier.h"

/* The part of the inverse operator's denominator that one dimension gives: 2 (cos κ − 1) n², or −κ²
 * n². */
static double *denominator(int n, enum green kind)
{
    double *d = mem_new(sizeof *d * (size_t)n, "fft");
    for (int i = 0; i < n; i++) {
        double kappa = 2 * M_PI / n * fft_wave(n, i), s = 2 * sin(0.5 * kappa);
        d[i] = -(kind == GREEN_SPECTRAL ? kappa * kappa : s * s) * n * n;
    }
    return d;
}

/* Factor by which a wave is damped in a dimension when clouds are deposited in cells and the force
 * on them is interpolated with the same weights: sinc²(κ/2) each time (Hockney & Eastwood 1988,
 * §5-6). */
static double *windows(int n)
{
    double *w = mem_new(sizeof *w * (size_t)n, "fft");
    for (int i = 0; i < n; i++) {
        double half = M_PI / n * fft_wave(n, i), sinc = half == 0 ? 1 : sin(half) / half;
        w[i] = sinc * sinc * sinc * sinc;
    }
    return w;
}

/* How far a wave's losses are made up for, by the square of the integer wave vector: wholly if it
 * is long, not at all near the limit of the mesh, where that would make the force of a particle
 * depend on its place in a cell, and the lattice from which particles start unstable. */
static double *taper(int n)
{
    const double end = 0.7; /* radians a cell: by linear theory (tests/phys/lattice.py) */
    int max = 3 * (n / 2) * (n / 2);
    double *t = mem_new(sizeof *t * ((size_t)max + 1), "fft"), unit = 2 * M_PI / n / end;
#pragma omp parallel for schedule(static)
    for (int i = 0; i <= max; i++) t[i] = exp(-(unit * unit * i) * (unit * unit * i));
    return t;
}

/* 1 + response by the square of the integer wave vector; NULL without a response. */
static double *source_factor(int n, const struct fourier_green *g)
{
    if (!g->response) return NULL;
    int max = 3 * (n / 2) * (n / 2);
    double *factor = mem_new(sizeof *factor * ((size_t)max + 1), "fft");
    factor[0] = 1; /* never used: the mean has no force */
#pragma omp parallel for schedule(static)
    for (int i = 1; i <= max; i++) factor[i] = 1 + g->response(g->ctx, sqrt(i));
    return factor;
}

struct green_tables green_tables(int n, const struct fourier_green *g)
{
    bool particles = g->kind == GREEN_PARTICLES;
    return (struct green_tables){.denominator = denominator(n, g->kind),
                                 .exact = particles ? denominator(n, GREEN_SPECTRAL) : NULL,
                                 .window = particles ? windows(n) : NULL,
                                 .part = particles ? taper(n) : NULL,
                                 .factor = source_factor(n, g)};
}

void green_tables_free(struct green_tables *t)
{
    FREE(t->factor);
    FREE(t->part);
    FREE(t->window);
    FREE(t->exact);
    FREE(t->denominator);
}
