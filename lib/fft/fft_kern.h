/* fft/fft_kern: point functions of a Fourier transform of a line of 2^k numbers: butterflies of
 * two, four and eight complex numbers, and the steps between n real numbers and n/2 complex ones.
 * Hosts and devices share this code and so obtain equal bits.
 *
 * Stockham's self-sorting form (Van Loan 1992, Computational Frameworks for the Fast Fourier
 * Transform, §1.7). A pass of radix r over `size` numbers reads numbers size/r apart, multiplies
 * them by roots of unity, transforms r numbers and writes them to another array in the order of the
 * next pass, without bit reversal. A backward transform is a forward one with real and imaginary
 * parts exchanged before and after.
 *
 * Hosts transform FFT_LANES lines together, in one vector or several, device threads (FFT_ONE) a
 * single number: no operation crosses lanes. Roots exp(-2πi m/n), 0 ≤ m < n, are pairs in one table
 * of the host; n is the length of the real line, also for its n/2 packed numbers. */
#pragma once
#include <stdbool.h>

#include "base/device.h"

enum { FFT_PASSES = 16 };
/* Unrolls a loop of at most eight iterations, whose arrays must be registers. */
#ifdef __CUDACC__
#define FFT_UNROLL _Pragma("unroll")
#else
#define FFT_UNROLL _Pragma("GCC unroll 8")
#endif

#ifdef FFT_ONE
typedef double fft_vec;
#else
#pragma GCC diagnostic ignored "-Wpsabi" /* all functions are inlined */
#ifdef __AVX512F__
enum { FFT_LANES = 8 };
#else
enum { FFT_LANES = 4 };
#endif
typedef double fft_vec __attribute__((vector_size(8 * FFT_LANES)));
#endif

/* The passes of a transform of `size` complex numbers. */
struct fft_passes {
    int size, count;
    int radix[FFT_PASSES]; /* radices 2, 4 or 8 */
};

/* ---- butterflies: v := Σ v[j] exp(-2πi jk/r) ---- */

PTAH_HD void fft_kern_2(fft_vec *xr, fft_vec *xi, fft_vec *yr, fft_vec *yi)
{
    fft_vec r = *xr - *yr, i = *xi - *yi;
    *xr = *xr + *yr;
    *xi = *xi + *yi;
    *yr = r;
    *yi = i;
}

/* Transforms v[0], v[s], v[2 s], v[3 s]. */
PTAH_HD void fft_kern_4(fft_vec *re, fft_vec *im, int s)
{
    fft_kern_2(&re[0], &im[0], &re[2 * s], &im[2 * s]);
    fft_kern_2(&re[s], &im[s], &re[3 * s], &im[3 * s]);
    fft_vec r1 = re[2 * s] + im[3 * s], i1 = im[2 * s] - re[3 * s];
    fft_vec r3 = re[2 * s] - im[3 * s], i3 = im[2 * s] + re[3 * s];
    fft_vec r2 = re[0] - re[s], i2 = im[0] - im[s];
    re[0] = re[0] + re[s];
    im[0] = im[0] + im[s];
    re[s] = r1, im[s] = i1;
    re[2 * s] = r2, im[2 * s] = i2;
    re[3 * s] = r3, im[3 * s] = i3;
}

PTAH_HD void fft_kern_8(fft_vec re[8], fft_vec im[8])
{
    const double h = 0.70710678118654752440;
    fft_kern_4(re, im, 2);         /* elements 0 2 4 6 */
    fft_kern_4(re + 1, im + 1, 2); /* elements 1 3 5 7, times exp(-2πi k/8): */
    fft_vec r = (re[3] + im[3]) * h, i = (im[3] - re[3]) * h;
    re[3] = r, im[3] = i;
    r = im[5], i = -re[5];
    re[5] = r, im[5] = i;
    r = (im[7] - re[7]) * h, i = -(re[7] + im[7]) * h;
    re[7] = r, im[7] = i;
    for (int k = 0; k < 8; k += 2) fft_kern_2(&re[k], &im[k], &re[k + 1], &im[k + 1]);
}

/* ---- passes ---- */

/* Butterfly j of size/radix in the pass after radices whose product is `done`: from elements (from
 * + i stride) to elements of the other array. step: n/(done·radix), stride of roots. */
PTAH_HD void fft_kern_pass(int radix, int j, int size, int done, int step, const double *root,
                           int stride, const fft_vec *from_re, const fft_vec *from_im,
                           fft_vec *to_re, fft_vec *to_im)
{
    fft_vec re[8], im[8];
    int m = size / radix, k = j & (done - 1), to = (j - k) * radix + k;
    FFT_UNROLL
    for (int r = 0; r < radix; r++) {
        int at = (j + r * m) * stride;
        re[r] = from_re[at];
        im[r] = from_im[at];
        if (r == 0 || done == 1) continue;
        double c = root[2 * (r * k * step)], s = root[2 * (r * k * step) + 1];
        fft_vec x = re[r] * c - im[r] * s;
        im[r] = re[r] * s + im[r] * c;
        re[r] = x;
    }
    if (radix == 2) fft_kern_2(&re[0], &im[0], &re[1], &im[1]);
    if (radix == 4) fft_kern_4(re, im, 1);
    if (radix == 8) fft_kern_8(re, im);
    FFT_UNROLL
    for (int r = 0; r < radix; r++) {
        /* position of element r after fft_kern_8 */
        int v = radix == 8 ? (r & 3) * 2 + (r >> 2) : r, at = (to + r * done) * stride;
        to_re[at] = re[v];
        to_im[at] = im[v];
    }
}

/* ---- real lines: n real numbers as n/2 complex ones (x[2j], x[2j+1]) ---- */

/* Mode k, 0 ≤ k ≤ n/2, from elements k and n/2 − k (mod n/2) of the complex transform Z; root (c,
 * s). */
PTAH_HD void fft_kern_to_half(fft_vec ar, fft_vec ai, fft_vec br, fft_vec bi, double c, double s,
                              fft_vec *xr, fft_vec *xi)
{
    fft_vec er = (ar + br) * 0.5, ei = (ai - bi) * 0.5, dr = (ar - br) * 0.5, di = (ai + bi) * 0.5;
    *xr = er + (dr * s + di * c);
    *xi = ei - (dr * c - di * s);
}

/* Element k < n/2 of the input of a backward transform, from modes k and n/2 − k. The imaginary
 * parts of modes 0 and n/2 of a real line count as zero, whatever is stored. */
PTAH_HD void fft_kern_from_half(bool first, fft_vec ar, fft_vec ai, fft_vec br, fft_vec bi,
                                double c, double s, fft_vec *zr, fft_vec *zi)
{
    if (first) {
        *zr = ar + br;
        *zi = ar - br;
        return;
    }
    fft_vec er = ar + br, ei = ai - bi, dr = ar - br, di = ai + bi;
    *zr = er - (di * c - dr * s);
    *zi = ei + (dr * c + di * s);
}
