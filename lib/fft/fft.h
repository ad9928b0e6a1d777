/* fft: real Fourier transforms of a periodic cube of n³ points, distributed over all ranks.
 *
 * One-dimensional transforms of FFTW, one plan per direction for all lines of a length, or of
 * fixed.h, with Ptah's own transposes between them: the bits of the result do not depend on the
 * number of ranks or threads. The cube is divided into pencils: in real space a rank has complete
 * rows along x, in Fourier space complete rows along kz. With up to n/4 ranks pencils are slabs.
 *
 * Transforms are unnormalised: forward is Σ f(x) exp(−2πi k·x/n) for kx = 0..n/2, backward after
 * forward gives n³ f. */
#pragma once
#include <complex.h>

#include "comm/comm.h"

enum { FFT_SIZE_MAX = 32768 };

struct fft_lines;

struct fft {
    int n;
    /* Real space: block first ≤ (x,y,z) < first + count; first[0] = 0, count[0] = n. */
    int first[3], count[3];
    /* Row stride in doubles: r[(z*count[1] + y)*pitch + x], y and z relative to the block. */
    size_t pitch;
    double *r;
    /* Fourier space: block of kx, ky, all kz: k[(kx*kcount[1] + ky)*kpitch + kz]. k is in r's
     * memory. */
    int kfirst[3], kcount[3];
    size_t kpitch; /* row stride along kz in complex numbers */
    double complex *k;
    struct fft_lines *lines; /* private data */
};

/* For even n, blocks begin at even points, so that an oct lies in one block. (collective) */
struct fft *fft_new(const struct comm *c, int n);
/* fft_new with the line transforms of fixed.h: n = 2^k, k > 0. (collective) */
struct fft *fft_new_fixed(const struct comm *c, int n);
void fft_free(struct fft **f);
/* r and k are allocated by fft_begin and freed by fft_end, about 16 bytes a point. Local. */
void fft_begin(struct fft *f);
void fft_end(struct fft *f);
void fft_forward(struct fft *f);  /* transforms r to k (collective) */
void fft_backward(struct fft *f); /* transforms k to r (collective) */
/* Changes a row of modes along kz, k[0..n-1], at indices kx, ky. Threads call it side by side. */
typedef void fft_filter_row(const void *ctx, int kx, int ky, double complex *k);
/* Transforms r forward, filters all modes, and transforms back to r, with the bits of the functions
 * above; k is not set. (collective) */
void fft_filter(struct fft *f, fft_filter_row *filter, const void *ctx);
/* The rank whose real-space block holds the row along x at (y, z). Local. */
int fft_rank(const struct fft *f, int y, int z);

/* Wave number of index i = 0..n-1, in −n/2..n/2. */
static inline int fft_wave(int n, int i)
{
    return i > n / 2 ? i - n : i;
}
