/* fft: laws of the transform on any number of ranks, with the lines of FFTW and with built-in ones,
 * which agree to round-off. Catches, among others: a block exchanged with the wrong part of an
 * axis, and lines whose results depend on their address.
 *
 * test: mpi=1,2,3,5,8 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "fft/fft.h"

static struct comm comm;
static bool fixed; /* built-in lines instead of FFTW */

static struct fft *make(const struct comm *c, int n)
{
    return fixed ? fft_new_fixed(c, n) : fft_new(c, n);
}

static double value(int n, int x, int y, int z)
{
    uint64_t i = (uint64_t)(x + n * (y + n * z)) + 1;
    return (double)(rng_mix(i) >> 11) * 0x1p-53 - 0.5;
}

static double *real_at(const struct fft *f, int y, int z)
{
    return f->r + ((size_t)z * (size_t)f->count[1] + (size_t)y) * f->pitch;
}

static double complex *wave_at(const struct fft *f, int kx, int ky)
{
    return f->k + ((size_t)kx * (size_t)f->kcount[1] + (size_t)ky) * f->kpitch;
}

static void fill(struct fft *f)
{
    for (int z = 0; z < f->count[2]; z++)
        for (int y = 0; y < f->count[1]; y++)
            for (int x = 0; x < f->n; x++)
                real_at(f, y, z)[x] = value(f->n, x, y + f->first[1], z + f->first[2]);
}

static double complex brute(int n, int kx, int ky, int kz)
{
    double complex s = 0;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                s += value(n, x, y, z) * cexp(-2 * M_PI * I * ((kx * x + ky * y + kz * z) % n) / n);
    return s;
}

static void test_brute(int n)
{
    struct fft *f = make(&comm, n);
    fft_begin(f);
    fill(f);
    fft_forward(f);
    double worst = 0;
    for (int i = 0; i < f->kcount[0]; i++)
        for (int j = 0; j < f->kcount[1]; j++)
            for (int k = 0; k < n; k += 1 + n / 5)
                worst = fmax(worst, cabs(wave_at(f, i, j)[k] -
                                         brute(n, i + f->kfirst[0], j + f->kfirst[1], k)));
    CHECK(worst < 1e-11, "n = %d: %g", n, worst);
    fft_free(&f);
}

/* Transforms in both directions have the bits of those on a single rank; backward after forward is
 * n³ times the identity. */
static void test_alone(int n)
{
    struct comm self = {.size = 1};
    struct fft *f = make(&comm, n), *g = make(&self, n);
    fft_begin(f);
    fill(f);
    fft_begin(g);
    fill(g);
    fft_forward(f);
    fft_forward(g);
    int64_t differ = 0;
    for (int i = 0; i < f->kcount[0]; i++)
        for (int j = 0; j < f->kcount[1]; j++)
            differ += memcmp(wave_at(f, i, j), wave_at(g, i + f->kfirst[0], j + f->kfirst[1]),
                             16 * (size_t)n) != 0;
    CHECK(differ == 0, "n = %d: %ld rows of waves", n, (long)differ);
    fft_backward(f);
    fft_backward(g);
    double worst = 0, cells = (double)n * n * n;
    for (int z = 0; z < f->count[2]; z++)
        for (int y = 0; y < f->count[1]; y++) {
            const double *r = real_at(f, y, z);
            differ += memcmp(r, real_at(g, y + f->first[1], z + f->first[2]), 8 * (size_t)n) != 0;
            for (int x = 0; x < n; x++)
                worst = fmax(worst,
                             fabs(r[x] / cells - value(n, x, y + f->first[1], z + f->first[2])));
        }
    CHECK(differ == 0, "n = %d: %ld rows", n, (long)differ);
    CHECK(worst < 1e-14, "n = %d: %g", n, worst);
    fft_free(&f);
    fft_free(&g);
}

/* A filter that depends on all three indices. */
static void weaken(const void *ctx, int kx, int ky, double complex *k)
{
    const int n = *(const int *)ctx;
    for (int z = 0; z < n; z++) k[z] *= 1.0 / (1 + kx + 3 * ky + 7 * z);
}

/* fft_filter has the bits of a transform forward, the filter and a transform backward. Fails if a
 * filter gets wrong indices, or planes are left out. */
static void test_filter(int n)
{
    struct comm self = {.size = 1};
    struct fft *f = make(&comm, n), *g = make(&self, n);
    fft_begin(f), fft_begin(g);
    fill(f), fill(g);
    fft_filter(f, weaken, &n);
    fft_forward(g);
    for (int i = 0; i < g->kcount[0]; i++)
        for (int j = 0; j < n; j++) weaken(&n, i, j, wave_at(g, i, j));
    fft_backward(g);
    int64_t differ = 0;
    for (int z = 0; z < f->count[2]; z++)
        for (int y = 0; y < f->count[1]; y++)
            differ += memcmp(real_at(f, y, z), real_at(g, y + f->first[1], z + f->first[2]),
                             8 * (size_t)n) != 0;
    CHECK(differ == 0, "n = %d: %ld rows", n, (long)differ);
    fft_free(&f);
    fft_free(&g);
}

/* Each row has an owner, which fft_rank returns. */
static void test_owners(int n)
{
    struct fft *f = make(&comm, n);
    int64_t rows = (int64_t)f->count[1] * f->count[2], waves = (int64_t)f->kcount[0] * f->kcount[1],
            wrong = 0;
    comm_add_i64(&comm, &rows, 1);
    comm_add_i64(&comm, &waves, 1);
    for (int z = 0; z < f->count[2]; z++)
        for (int y = 0; y < f->count[1]; y++)
            wrong += fft_rank(f, y + f->first[1], z + f->first[2]) != comm.rank;
    CHECK(rows == (int64_t)n * n, "n = %d: %ld rows", n, (long)rows);
    CHECK(waves == (int64_t)n * (n / 2 + 1), "n = %d: %ld rows of waves", n, (long)waves);
    CHECK(wrong == 0, "n = %d: %ld", n, (long)wrong);
    if (n % 2 == 0) CHECK(f->first[1] % 2 == 0 && f->first[2] % 2 == 0, "n = %d", n);
    fft_free(&f);
}

/* Compares both directions with FFTW. Waves are sums of n³ random numbers of size 1/2. */
static void test_fftw(int n)
{
    struct fft *f = fft_new_fixed(&comm, n), *g = fft_new(&comm, n);
    double worst = 0, back = 0, ulp = 0x1p-52, log_n = log2(n);
    fft_begin(f), fft_begin(g);
    fill(f), fill(g);
    fft_forward(f), fft_forward(g);
    for (int i = 0; i < f->kcount[0]; i++)
        for (int j = 0; j < f->kcount[1]; j++)
            for (int k = 0; k < n; k++)
                worst = fmax(worst, cabs(wave_at(f, i, j)[k] - wave_at(g, i, j)[k]));
    fft_backward(f), fft_backward(g);
    for (int z = 0; z < f->count[2]; z++)
        for (int y = 0; y < f->count[1]; y++)
            for (int x = 0; x < n; x++)
                back = fmax(back, fabs(real_at(f, y, z)[x] - real_at(g, y, z)[x]));
    CHECK(worst < 3 * ulp * log_n * pow(n, 1.5), "n = %d: %g", n, worst);
    CHECK(back < 3 * ulp * log_n * pow(n, 3), "n = %d: %g", n, back);
    fft_free(&f);
    fft_free(&g);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 2, 3, 4, 6, 8, 9, 15, 16};
    comm_init(&argc, &argv, &comm);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        test_owners(sizes[i]);
        test_brute(sizes[i]);
        test_alone(sizes[i]);
        test_filter(sizes[i]);
    }
    test_filter(64);
    test_alone(64);
    test_alone(90);
    fixed = true;
    for (int n = 2; n <= 64; n *= 2) {
        test_owners(n);
        if (n <= 16) test_brute(n);
        test_alone(n);
        test_filter(n);
        test_fftw(n);
    }
    int64_t bad = failed;
    comm_add_i64(&comm, &bad, 1);
    if (comm.rank == 0) printf("fft_test: %d passed, %ld failed\n", passed, (long)bad);
    comm_fini();
    return bad != 0;
}
