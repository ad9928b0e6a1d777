/* pk/window: B-splines and their effect on a spectrum (private to lib/pk). Lengths in cells, x = 0
 * at the centre of the spline. */
#pragma once
#include <math.h>
enum { WINDOW_REACH = 4 };

/* Weights of a point at t ≥ 0 on the cells first.. (centres at i + ½), order of them. Returns first
 * (may be −1 or −2). */
static inline int window_point(int order, double t, double w[WINDOW_REACH])
{
    if (order % 2 == 1) { /* around the cell that holds t */
        double cell = floor(t), d = t - cell - 0.5;
        if (order == 1) {
            w[0] = 1;
            return (int)cell;
        }
        w[0] = 0.5 * (0.5 - d) * (0.5 - d);
        w[1] = 0.75 - d * d;
        w[2] = 0.5 * (0.5 + d) * (0.5 + d);
        return (int)cell - 1;
    }
    const double SIXTH = 1.0 / 6;
    /* between the centres of left and left + 1 */
    double left = floor(t - 0.5), d = t - 0.5 - left, e = 1 - d;
    if (order == 2) {
        w[0] = e;
        w[1] = d;
        return (int)left;
    }
    w[0] = SIXTH * e * e * e;
    w[1] = SIXTH * (4 - 6 * d * d + 3 * d * d * d);
    w[2] = SIXTH * (4 - 6 * e * e + 3 * e * e * e);
    w[3] = SIXTH * d * d * d;
    return (int)left - 1;
}

/* Integral of the spline from −∞ to s: 0 → 1. */
double window_step(int order, double s);
/* sinc^order(π i/n), i = 0..n−1 (i > n/2: i − n). out[n] */
void window_fourier(int order, int n, double *out);
/* Σ_m W²(i + m n) and Σ_m (−1)^m W²(i + m n): the images of shot noise along one dimension. */
void window_images(int order, int n, double *all, double *alternating);
/* The signal's power with its aliases, over W² times the power itself, averaged over directions,
 * for a spectrum ∝ k^slope, at k = kappa Nyquist, 0 < kappa. */
double window_aliases(int order, double slope, double kappa);
