/* fft/fixed: transforms of lines of n = 2^k real or complex numbers by a fixed sequence of passes
 * (fft_kern.h), so that hosts and devices obtain equal bits. Unnormalised, as in fft.h. Local. */
#pragma once
#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fft/fft_kern.h"

struct fft_fixed {
    int n;
    struct fft_passes whole, half; /* passes of n and of n/2 complex numbers */
    double *root;                  /* [2 n] roots exp(-2πi m/n): cos, sin */
};

bool fft_fixed_can(int n); /* whether n is a power of two greater than 1 */
struct fft_fixed *fft_fixed_new(int n);
void fft_fixed_free(struct fft_fixed **f);
/* Transforms `lines` lines in place, `pitch` complex numbers apart: n real numbers ↔ n/2 + 1
 * complex ones, or n complex ones. */
void fft_fixed_real(const struct fft_fixed *f, bool back, double complex *a, size_t pitch,
                    int64_t lines);
void fft_fixed_complex(const struct fft_fixed *f, bool back, double complex *a, size_t pitch,
                       int64_t lines);
