/* fft/fixed: transforms of lines of n = 2^k real or complex numbers by passes that do not depend on
 * the machine (fft_kern.h), so that a device has the same bits. Unnormalised, as fft.h says. Local.
 */
#pragma once
#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fft/fft_kern.h"

struct fft_fixed {
    int n;
    struct fft_passes whole, half; /* of n complex numbers, and of n/2 */
    double *root;                  /* [2 n] exp(-2πi m/n): cos, sin */
};

bool fft_fixed_can(int n); /* n is a power of two, and not 1 */
struct fft_fixed *fft_fixed_new(int n);
void fft_fixed_free(struct fft_fixed **f);
/* `lines` lines in place, `pitch` complex numbers apart: n real numbers ↔ n/2 + 1 complex ones, or
 * n complex ones. */
void fft_fixed_real(const struct fft_fixed *f, bool back, double complex *a, size_t pitch,
                    int64_t lines);
void fft_fixed_complex(const struct fft_fixed *f, bool back, double complex *a, size_t pitch,
                       int64_t lines);
