/* grav/green_kern: the Green function of a mode from tables, for hosts and devices. */
#pragma once
#include "base/device.h"

/* Tables by index 0 … n−1 of one dimension (denominators of the Green function and of −1/k²,
 * damping by the CIC window), and by the square of the integer wave vector (compensated fraction of
 * the damping, factor of the source); NULL: not needed. */
struct green_tables {
    double *denominator, *exact, *window, *part, *factor;
};

/* Scale for a source fourpi ρ and an unnormalised backward transform, which multiplies by n³. */
PTAH_HD double green_scale(int n, double fourpi)
{
    return fourpi / ((double)n * n * n);
}

PTAH_HD int green_wave(int n, int i)
{
    return i > n / 2 ? i - n : i;
}

/* Factor of mode (kx, ky, kz), given as indices. */
PTAH_HD double green_at(const struct green_tables *t, int n, int kx, int ky, int kz, double scale)
{
    const double *d = t->denominator, *e = t->exact, *w = t->window;
    double total = d[kx] + d[ky] + d[kz], green = total == 0 ? 0 : scale / total;
    int wx = green_wave(n, kx), wy = green_wave(n, ky), wz = green_wave(n, kz),
        k2 = wx * wx + wy * wy + wz * wz;
    if (t->factor) green *= t->factor[k2];
    if (t->part && total != 0) {
        double cached = w[kx] * w[ky] * w[kz] * (e[kx] + e[ky] + e[kz]) / total;
        green *= 1 + (1 / cached - 1) * t->part[k2];
    }
    return green;
}
