/* pk/window: B-splines and their effect on a spectrum. Lengths are in cells, x = 0 at the centre of
 * the spline. Private to pk. */
#pragma once
#include <math.h>
#include <stdint.h>

enum { WINDOW_REACH = 4 };

typedef double window4 __attribute__((vector_size(32)));
typedef int64_t window4_bits __attribute__((vector_size(32)));

/* Floor of each element. */
#define WINDOW_FLOOR(x) ((window4){floor((x)[0]), floor((x)[1]), floor((x)[2]), floor((x)[3])})

/* Weights of four points at t ≥ 0, or of one point along three axes, on the cells first .. first +
 * order - 1 (centres at i + ½), w[cell][point]; later elements are 0. first may be −1 or −2. */
static inline __attribute__((always_inline)) void window_point(int order, const window4 *point,
                                                               window4 w[WINDOW_REACH],
                                                               window4 *first)
{
    const window4 zero = {0}, t = *point;
    w[0] = w[1] = w[2] = w[3] = zero;
    if (order % 2 == 1) { /* around the cell that contains t */
        window4 cell = WINDOW_FLOOR(t), d = t - cell - 0.5;
        if (order == 1) {
            w[0] = zero + 1;
            *first = cell;
            return;
        }
        w[0] = 0.5 * (0.5 - d) * (0.5 - d);
        w[1] = 0.75 - d * d;
        w[2] = 0.5 * (0.5 + d) * (0.5 + d);
        *first = cell - 1;
        return;
    }
    const double SIXTH = 1.0 / 6;
    /* between the centres of left and left + 1 */
    window4 left = WINDOW_FLOOR(t - 0.5), d = t - 0.5 - left, e = 1 - d;
    if (order == 2) {
        w[0] = e;
        w[1] = d;
        *first = left;
        return;
    }
    w[0] = SIXTH * e * e * e;
    window4 d2 = 3 * d * d, e2 = 3 * e * e;
    w[1] = SIXTH * (4 - 2 * d2 + d2 * d);
    w[2] = SIXTH * (4 - 2 * e2 + e2 * e);
    w[3] = SIXTH * d * d * d;
    *first = left - 1;
}

/* Integral of the spline from −∞ to s, between 0 and 1. */
double window_step(int order, double s);
/* Window sinc^order(π i/n), i = 0..n−1 (i > n/2: i − n). out[n] */
void window_fourier(int order, int n, double *out);
/* Σ_m W²(i + m n) and Σ_m (−1)^m W²(i + m n): the images of shot noise along one axis. */
void window_images(int order, int n, double *all, double *alternating);
/* Ratio of the signal's power with its aliases to W² times the power, averaged over directions, for
 * a spectrum ∝ k^slope, at k = kappa Nyquist, 0 < kappa. */
double window_aliases(int order, double slope, double kappa);
