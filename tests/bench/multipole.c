/* Time and error of gravity by the tree for smoothed particles: multipole N THETA [LEAF] [OUT]: a
 * sphere of density ∝ 1/r with N particles in random places, kernel M4. Prints processor seconds of
 * the slowest rank, particles a second, and the sum of forces relative to the sum of their sizes.
 * With OUT, on one rank: also the root mean square and largest error against direct sums (θ = 0),
 * relative to the root mean square of the acceleration; and writes x, h, and the accelerations of
 * the tree and of direct sums to OUT, ten columns of N doubles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "multipole/multipole.h"

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *column(int64_t n)
{
    return mem_zero(sizeof(double) * (size_t)n + 1, "benchmark");
}

/* Every size-th particle of a sphere with M(r) = r², ρ = 1/(2πr). */
static void fill(struct smooth *s, int64_t total, const struct smooth_par *p, const struct comm *c)
{
    int64_t n = (total - c->rank + c->size - 1) / c->size;
    *s = (struct smooth){.n = n, .room = n, .h = column(n), .omega = column(n)};
    s->id = mem_new(sizeof *s->id * (size_t)n + 1, "benchmark");
    for (int k = 0; k < 3; k++) s->x[k] = column(n);
    for (int64_t i = 0; i < n; i++) {
        s->id[i] = i * c->size + c->rank;
        struct rng g = rng_make(1, (uint64_t)s->id[i], 0);
        double r = sqrt(rng_uniform(&g)), z = 2 * rng_uniform(&g) - 1;
        double angle = 6.283185307179586 * rng_uniform(&g);
        s->x[0][i] = r * sqrt(1 - z * z) * cos(angle);
        s->x[1][i] = r * sqrt(1 - z * z) * sin(angle);
        s->x[2][i] = r * z;
        double soft = r + 0.25 / cbrt((double)total); /* finite density in the middle */
        s->h[i] = p->eta * cbrt(p->mass * 6.283185307179586 * soft);
        s->omega[i] = 1;
    }
}

static void print_error(int64_t n, double *const a[3], double *const b[3])
{
    double sum = 0, error = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        double d2 = 0;
        for (int k = 0; k < 3; k++) {
            sum += b[k][i] * b[k][i];
            d2 += (a[k][i] - b[k][i]) * (a[k][i] - b[k][i]);
        }
        error += d2;
        most = fmax(most, d2);
    }
    printf(", error rms %.2e most %.2e", sqrt(error / sum), sqrt(most / sum * (double)n));
}

static int write_out(const char *path, const struct smooth *s, double *const a[3],
                     double *const b[3])
{
    const double *all[] = {s->x[0], s->x[1], s->x[2], s->h, a[0], a[1], a[2], b[0], b[1], b[2]};
    size_t n = (size_t)s->n, done = 0;
    FILE *f = fopen(path, "wb");
    if (!f) return 1;
    for (int k = 0; k < 10; k++) done += fwrite(all[k], sizeof(double), n, f);
    return fclose(f) != 0 || done != 10 * n;
}

static double net_force(const struct comm *c, int64_t n, double *const a[3])
{
    double sum[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) sum[k] += a[k][i];
        sum[3] += sqrt(a[0][i] * a[0][i] + a[1][i] * a[1][i] + a[2][i] * a[2][i]);
    }
    comm_add_f64(c, sum, 4);
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / sum[3];
}

int main(int argc, char **argv)
{
    struct comm c;
    comm_init(&argc, &argv, &c);
    if (argc < 3) {
        fprintf(stderr, "usage: multipole N THETA [LEAF] [OUT]\n");
        return 2;
    }
    int64_t n = strtoll(argv[1], NULL, 10);
    struct smooth_par p = {.kernel = SMOOTH_M4, .eta = 1.2, .mass = 1 / (double)n};
    struct multipole_par t = {.g = 1, .theta = strtod(argv[2], NULL), .leaf = 16};
    t.quadrupole = true;
    if (argc > 3) t.leaf = (int)strtol(argv[3], NULL, 10);
    struct smooth s;
    fill(&s, n, &p, &c);
    double *a[3] = {column(s.n), column(s.n), column(s.n)};
    double *b[3] = {column(s.n), column(s.n), column(s.n)}, *phi = column(s.n);
    comm_barrier(&c);
    double start = processor();
    enum err err = multipole_gravity(&t, &p, &c, &s, a, phi);
    double seconds = processor() - start, net = net_force(&c, s.n, a);
    comm_max_f64(&c, &seconds, 1);
    if (c.rank == 0)
        printf("n %ld theta %g leaf %d ranks %d: %.3f s, %.3g particles/s a rank, net force %.1e",
               (long)n, t.theta, t.leaf, c.size, seconds, (double)n / c.size / seconds, net);
    if (err == OK && argc > 4 && c.size == 1) {
        t.theta = 0;
        err = multipole_gravity(&t, &p, &c, &s, b, phi);
        print_error(n, a, b);
        if (write_out(argv[4], &s, a, b)) fprintf(stderr, "multipole: %s: cannot write\n", argv[4]);
    }
    if (c.rank == 0) printf("\n");
    comm_fini();
    return err != OK;
}
