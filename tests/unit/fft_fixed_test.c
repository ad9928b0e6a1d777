/* fft/fixed: lines of the built-in transform compared with direct sums in long double, for all
 * powers of two up to 256, within 2 + 1.5 log2 n units in the last place: random lines, impulses,
 * single waves, the shortest wave, numbers of very different size, denormals. Round trip, Parseval.
 * The result of a line does not depend on the other lines, to the last bit. Catches, among others:
 * a root of the wrong angle, a pass that reads numbers of another line, an imaginary part of wave 0
 * that is not ignored.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "fft/fixed.h"

enum { MAX = 256, LINES = 11, PITCH = MAX + 3 };
static const double ULP = 0x1p-52;

enum kind { RANDOM, IMPULSE, WAVE, NYQUIST, WILD, DENORMAL, KINDS };

static long double complex root[MAX]; /* exp(-2πi m/n) */
static double complex a[LINES * PITCH], b[LINES * PITCH], was[LINES * PITCH];

static double number(struct rng *r, enum kind kind, int n, int line, int i)
{
    double x = rng_uniform(r) - 0.5;
    switch (kind) {
    case IMPULSE:
        return i == (7 * line) % n ? 1 : 0;
    case WAVE:
        return cos(2 * M_PI * ((line * i) % n) / n);
    case NYQUIST:
        return i % 2 ? -1 : 1;
    case WILD:
        return x * pow(10, 200 * rng_uniform(r) - 100);
    case DENORMAL:
        return x * 0x1p-1060;
    case RANDOM:
    case KINDS:
        break;
    }
    return x;
}

/* Fills complex lines (real: lines of n real numbers). */
static void fill(enum kind kind, int n, bool real)
{
    struct rng r = rng_make(7, (uint64_t)kind, (uint64_t)n);
    for (int l = 0; l < LINES; l++) {
        double *x = (double *)(a + l * PITCH);
        for (int i = 0; i < (real ? n : 2 * n); i++)
            x[i] = number(&r, kind, n, l, real ? i : i / 2);
    }
    memcpy(was, a, sizeof a);
}

/* Σ of the line's numbers times exp(∓2πi jk/n); size: scale of its round-off error, the norm of the
 * line and the sum itself, with a bound for denormals. */
static void sum_of(const double complex *line, int n, bool real, bool back, int k, double out[2],
                   double *size)
{
    long double re = 0, im = 0, total = 0;
    for (int j = 0; j < n; j++) {
        long double complex x = real ? ((const double *)line)[j] : line[j];
        long double complex w = root[j * k % n], y = x * (back ? conjl(w) : w);
        re += creall(y), im += cimagl(y);
        total += creall(x) * creall(x) + cimagl(x) * cimagl(x);
    }
    out[0] = (double)re, out[1] = (double)im;
    *size = (double)(sqrtl(total) + hypotl(re, im)) + n * 0x1p-1023;
}

/* Largest difference from the direct sum, in units in the last place of `size`. */
static double error_of(int n, bool real, bool back)
{
    double worst = 0;
    for (int l = 0; l < LINES; l++)
        for (int k = 0; k < (real ? n / 2 + 1 : n); k++) {
            double x[2], size;
            sum_of(was + l * PITCH, n, real, back, k, x, &size);
            const double complex y = a[l * PITCH + k];
            worst = fmax(worst, fmax(fabs(creal(y) - x[0]), fabs(cimag(y) - x[1])) / size);
        }
    return worst / ULP;
}

static void test_sums(const struct fft_fixed *f, enum kind kind)
{
    double max = 2 + 1.5 * log2(f->n);
    for (int back = 0; back < 2; back++) {
        fill(kind, f->n, false);
        fft_fixed_complex(f, back, a, PITCH, LINES);
        double e = error_of(f->n, false, back);
        CHECK(e <= max, "n = %d, kind %d, back %d: %.2f ulp", f->n, (int)kind, back, e);
    }
    fill(kind, f->n, true);
    fft_fixed_real(f, false, a, PITCH, LINES);
    double e = error_of(f->n, true, false);
    CHECK(e <= max, "n = %d, kind %d, real: %.2f ulp", f->n, (int)kind, e);
}

/* Round trip gives n times the input; Parseval: Σ |X|² = n Σ x². */
static void test_trip(const struct fft_fixed *f, enum kind kind)
{
    int n = f->n;
    fill(kind, n, true);
    fft_fixed_real(f, false, a, PITCH, LINES);
    for (int l = 0; l < LINES; l++) {
        const double *x = (const double *)(was + l * PITCH);
        double in = 0, out = 0;
        for (int i = 0; i < n; i++) in += x[i] * x[i];
        for (int k = 0; k <= n / 2; k++) {
            double complex y = a[l * PITCH + k];
            out += (k == 0 || k == n / 2 ? 1 : 2) * (creal(y) * creal(y) + cimag(y) * cimag(y));
        }
        CHECK(fabs(out - n * in) <= 1e-14 * log2(2 * n) * n * in, "n = %d, kind %d", n, (int)kind);
        a[l * PITCH] += I;         /* ignored by the transform */
        a[l * PITCH + n / 2] += I; /* ignored too */
    }
    fft_fixed_real(f, true, a, PITCH, LINES);
    for (int l = 0; l < LINES; l++) {
        const double *x = (const double *)(was + l * PITCH), *y = (const double *)(a + l * PITCH);
        double worst = 0, max = 0x1p-1074 / ULP;
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, fabs(y[i] / n - x[i]));
            max = fmax(max, fabs(x[i]));
        }
        CHECK(worst <= (1 + log2(n)) * ULP * max * sqrt(n), "n = %d, kind %d: %g of %g", n,
              (int)kind, worst, max);
    }
}

/* A line alone, or at another position among others. */
static void test_place(const struct fft_fixed *f)
{
    int n = f->n, waves = n / 2 + 1;
    for (int mode = 0; mode < 4; mode++) {
        void (*call)(const struct fft_fixed *, bool, double complex *, size_t,
                     int64_t) = mode & 2 ? fft_fixed_real : fft_fixed_complex;
        int differ = 0;
        fill(RANDOM, n, false);
        call(f, mode & 1, a, PITCH, LINES);
        for (int l = 0; l < LINES; l++) {
            size_t at = (size_t)(LINES - 1 - l) * PITCH;
            memcpy(b + at, was + l * PITCH, sizeof *b * PITCH);
            call(f, mode & 1, b + at, PITCH, 1);
            differ += memcmp(b + at, a + l * PITCH,
                             sizeof *a * (size_t)(mode == 3 ? n / 2
                                                  : mode    ? waves
                                                            : n)) != 0;
        }
        CHECK(differ == 0, "n = %d, mode %d: %d lines", n, mode, differ);
    }
}

int main(void)
{
    for (int n = -2; n < 40; n++)
        CHECK(fft_fixed_can(n) == (n == 2 || n == 4 || n == 8 || n == 16 || n == 32), "%d", n);
    for (int n = 2; n <= MAX; n *= 2) {
        struct fft_fixed *f = fft_fixed_new(n);
        for (int m = 0; m < n; m++) root[m] = cosl(2 * M_PIl * m / n) - I * sinl(2 * M_PIl * m / n);
        for (int kind = 0; kind < KINDS; kind++) {
            test_sums(f, kind);
            if (kind != DENORMAL) test_trip(f, kind);
        }
        test_place(f);
        fft_fixed_free(&f);
    }
    printf("fft_fixed_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
