/* roofline: peak performance of this machine, for the table in docs/performance.md: arithmetic of a
 * core, and rates of a[i] = b[i] + s c[i] from each level of the memory hierarchy, on 1 to
 * OMP_NUM_THREADS cores. Prints markdown. Times are processor times of threads, so that other work
 * on the machine has little effect; the best of many short runs counts. `make roofline` builds and
 * runs this program. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef double vec __attribute__((vector_size(8 * LANES)));
enum { CHAINS = 12, ROUNDS = 200000, REPEATS = 40 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CHAINS independent recurrences x := x m + a, with or without fused multiply-add as the caller was
 * compiled. */
#define CHAINS_RUN                                                                                 \
    vec x[CHAINS], m = {0}, a = {0};                                                               \
    for (int l = 0; l < LANES; l++) m[l] = 0.999, a[l] = 0.001 * arg;                              \
    for (int k = 0; k < CHAINS; k++) x[k] = a * (double)(k + 1);                                   \
    for (int i = 0; i < ROUNDS; i++)                                                               \
        for (int k = 0; k < CHAINS; k++) x[k] = x[k] * m + a;                                      \
    vec sum = {0};                                                                                 \
    for (int k = 0; k < CHAINS; k++) sum += x[k];                                                  \
    return sum[0];

__attribute__((noinline, optimize("fp-contract=fast"))) static double chains_fma(double arg)
{
    CHAINS_RUN
}

__attribute__((noinline, optimize("fp-contract=off"))) static double chains_apart(double arg)
{
    CHAINS_RUN
}

static double flops(double (*f)(double))
{
    double best = 1e99, sink = 0;
    for (int r = 0; r < REPEATS; r++) {
        double t = now();
        sink += f(1.0 + r);
        t = now() - t;
        if (t < best) best = t;
    }
    return sink == 0.5 ? 0 : 2.0 * LANES * CHAINS * ROUNDS / best;
}

/* Divisions per second, which dominate the Riemann solver and multigrid. */
static double divisions(void)
{
    double best = 1e99, sink = 0;
    for (int r = 0; r < REPEATS; r++) {
        vec x[CHAINS], m = {0};
        for (int l = 0; l < LANES; l++) m[l] = 1.0001 + r;
        for (int k = 0; k < CHAINS; k++) x[k] = m + (double)k;
        double t = now();
        for (int i = 0; i < ROUNDS / 4; i++)
            for (int k = 0; k < CHAINS; k++) x[k] = m / x[k];
        t = now() - t;
        for (int k = 0; k < CHAINS; k++) sink += x[k][0];
        if (t < best) best = t;
    }
    return sink == 0.5 ? 0 : (double)LANES * CHAINS * (ROUNDS / 4) / best;
}

/* Bytes per second of the triad over arrays of `bytes` in total, divided among threads: two loads
 * and a store, 24 bytes. */
static double triad(size_t bytes, int threads)
{
    size_t n = bytes / 24 / 64 * 64, turns = (size_t)40000000 / n + 1;
    double best = 1e99;
#pragma omp parallel num_threads(threads)
    {
        double *a = aligned_alloc(4096, 8 * n + 4096), *b = aligned_alloc(4096, 8 * n + 4096),
               *c = aligned_alloc(4096, 8 * n + 4096);
        if (!a || !b || !c) exit(2);
        for (size_t i = 0; i < n; i++) a[i] = b[i] = c[i] = (double)i;
        for (int r = 0; r < 5; r++) {
#pragma omp barrier
            double t = now();
            for (size_t k = 0; k < turns; k++) {
                double s = 1e-9 * (double)k;
#pragma omp simd
                for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
                __asm__ volatile("" ::: "memory");
            }
#pragma omp barrier
            t = now() - t;
#pragma omp critical
            if (t < best) best = t;
        }
        free(a);
        free(b);
        free(c);
    }
    return 24.0 * (double)n * (double)turns * threads / best;
}

int main(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } sizes[] = {{"24 KiB (L1)", 24 << 10},
                 {"384 KiB (L2)", 384 << 10},
                 {"6 MiB (L3)", 6 << 20},
                 {"192 MiB", 192 << 20}};
    printf("| one core | |\n|---|---|\n");
    printf("| multiply and add, fused | %.1f Gflop/s |\n", 1e-9 * flops(chains_fma));
    printf("| multiply and add, apart | %.1f Gflop/s |\n", 1e-9 * flops(chains_apart));
    printf("| divisions | %.2f G/s |\n", 1e-9 * divisions());
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int t = 1; t <= omp_get_max_threads(); t *= 2)
            printf("| triad in %s, %d core%s | %.1f GB/s |\n", sizes[k].name, t, t > 1 ? "s" : "",
                   1e-9 * triad(sizes[k].bytes, t));
    return 0;
}
