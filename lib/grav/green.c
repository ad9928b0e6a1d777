/* grav/green: see green_kern.h; discrete Green function: Hockney & Eastwood 1988, §6-3. */
#include <math.h>

#include "base/mem.h"
#include "fft/fft.h"
#include "grav/fourier.h"

/* Part of one dimension in the denominator of the Green function: 2 (cos κ − 1) n², or −κ² n². */
static double *denominator(int n, enum green kind)
{
    double *d = mem_new(sizeof *d * (size_t)n, "fft");
    for (int i = 0; i < n; i++) {
        double kappa = 2 * M_PI / n * fft_wave(n, i), s = 2 * sin(0.5 * kappa);
        d[i] = -(kind == GREEN_SPECTRAL ? kappa * kappa : s * s) * n * n;
    }
    return d;
}

/* Damping of a wave in one dimension by CIC deposit and force interpolation: sinc²(κ/2) each
 * (Hockney & Eastwood 1988, §5-6). */
static double *windows(int n)
{
    double *w = mem_new(sizeof *w * (size_t)n, "fft");
    for (int i = 0; i < n; i++) {
        double half = M_PI / n * fft_wave(n, i), sinc = half == 0 ? 1 : sin(half) / half;
        w[i] = sinc * sinc * sinc * sinc;
    }
    return w;
}

/* Fraction of the damping that is compensated, by the square of the integer wave vector: 1 for long
 * waves, 0 near the Nyquist wave number, where compensation would make the force depend on the
 * position within a cell and the initial particle lattice unstable. */
static double *taper(int n)
{
    /* end of the taper in radians a cell, from linear theory (tests/phys/lattice.py) */
    const double end = 0.7;
    int max = 3 * (n / 2) * (n / 2);
    double *t = mem_new(sizeof *t * ((size_t)max + 1), "fft"), unit = 2 * M_PI / n / end;
#pragma omp parallel for schedule(static)
    for (int i = 0; i <= max; i++) t[i] = exp(-(unit * unit * i) * (unit * unit * i));
    return t;
}

/* Factor 1 + response by the square of the integer wave vector; NULL without a response. */
static double *source_factor(int n, const struct fourier_green *g)
{
    if (!g->response) return NULL;
    int max = 3 * (n / 2) * (n / 2);
    double *factor = mem_new(sizeof *factor * ((size_t)max + 1), "fft");
    factor[0] = 1; /* unused, since the mean exerts no force */
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
