/* fft/box: real Fourier transforms of a periodic mesh of any nx × ny × nz points, in slabs of
 * planes of z, which become slabs of lines of ky. The bits of the result do not depend on the
 * number of ranks. fft.h is faster for cubes on many ranks. */
#pragma once
#include <complex.h>

#include "comm/comm.h"

struct fft_box {
    int64_t n[3];
    int64_t z[2], y[2]; /* own planes z[0] ≤ z < z[1]; own ky as indices y[0] ≤ y < y[1] */
    double *r;          /* [own z][ny][nx] */
    double complex *k;  /* [own ky][nx/2 + 1][nz], set by fft_box_forward */
    struct fft_box_plans *plans; /* private data */
};

struct fft_box *fft_box_new(const struct comm *c, const int64_t n[3]);
void fft_box_free(struct fft_box **f);
/* k = Σ r exp(−2πi (kx x/nx + ky y/ny + kz z/nz)); r keeps its values. (collective) */
void fft_box_forward(struct fft_box *f);
