/* pk/window: B-splines and what they do to a spectrum (private to lib/pk). Lengths in cells, x = 0 at the centre of the spline. */
#pragma once
#include <stdbool.h>

enum { WINDOW_REACH = 4 };

/* Weights of a point at t ≥ 0 on the cells first.. (centres at i + ½), order of them. Returns first (may be −1 or −2). */
int window_point(int order, double t, double w[WINDOW_REACH]);
/* Integral of the spline from −∞ to s: 0 → 1. */
double window_step(int order, double s);
/* sinc^order(π i/n), i = 0..n−1 (i > n/2: i − n). out[n] */
void window_fourier(int order, int n, double *out);
/* Σ_m W²(i + m n) and Σ_m (−1)^m W²(i + m n): the images of shot noise along one dimension. */
void window_images(int order, int n, double *all, double *alternating);
/* The signal's power with its aliases, over W² times the power itself, averaged over directions, for a spectrum ∝ k^slope,
 * at k = kappa Nyquist; interlaced: only the images with an even sum are left. */
double window_aliases(int order, bool interlace, double slope, double kappa);
