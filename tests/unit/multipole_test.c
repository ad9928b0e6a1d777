/* Gravity by the tree against direct sums whose softening is integrated from the kernel, on any
 * number of ranks. Catches: a coefficient of the softening or of the quadrupole, a cell accepted
 * too near, a sign of ζ (the gradient of the energy), bits that depend on the order of rows, on
 * ranks or on threads, a particle that acts on itself. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "comm/comm.h"
#include "multipole/multipole.h"

static struct comm comm;
static const struct comm alone = {.size = 1};

/* ---- the kernel and its integrals, by quadrature ---- */

static const double PI = 3.14159265358979323846;

static double radius_of(enum smooth_kernel k)
{
    return k == SMOOTH_M6 ? 3 : 2;
}

static double power_plus(double x, int n)
{
    double p = 1;
    for (int k = 0; k < n; k++) p *= fmax(x, 0);
    return p;
}

/* f of W = f(r/h)/h³ */
static double kernel(enum smooth_kernel k, double q)
{
    if (k == SMOOTH_M4) return (power_plus(2 - q, 3) - 4 * power_plus(1 - q, 3)) / (4 * PI);
    return (power_plus(3 - q, 5) - 6 * power_plus(2 - q, 5) + 15 * power_plus(1 - q, 5)) /
           (120 * PI);
}

static double kernel_slope(enum smooth_kernel k, double q)
{
    if (k == SMOOTH_M4) return -3 * (power_plus(2 - q, 2) - 4 * power_plus(1 - q, 2)) / (4 * PI);
    return -5 * (power_plus(3 - q, 4) - 6 * power_plus(2 - q, 4) + 15 * power_plus(1 - q, 4)) /
           (120 * PI);
}

/* 4π ∫_a^b f s^n ds: exact but for rounding by Gauss's rule of five points between knots, where f
 * is a polynomial of degree 5. */
static double integral(enum smooth_kernel k, double a, double b, int n)
{
    static const double X[5] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                0.9061798459386640};
    static const double W[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                0.4786286704993665, 0.2369268850561891};
    double sum = 0;
    for (int piece = 0; piece < 3; piece++) {
        double lo = fmax(a, piece), hi = fmin(b, piece + 1);
        if (lo >= hi) continue;
        for (int i = 0; i < 5; i++) {
            double s = 0.5 * (lo + hi) + 0.5 * (hi - lo) * X[i];
            sum += 0.5 * (hi - lo) * W[i] * kernel(k, s) * power_plus(s, n);
        }
    }
    return 4 * PI * sum;
}

static double potential(enum smooth_kernel k, double r, double h)
{
    double q = r / h;
    if (q >= radius_of(k)) return -1 / r;
    double inner = r > 0 ? integral(k, 0, q, 2) / r : 0;
    return -inner - integral(k, q, radius_of(k), 1) / h;
}

/* φ'/r */
static double pull_of(enum smooth_kernel k, double r, double h)
{
    if (r >= radius_of(k) * h) return 1 / (r * r * r);
    return r > 0 ? integral(k, 0, r / h, 2) / (r * r * r) : 0;
}

/* ∂φ/∂h = −(φ + r φ')/h */
static double potential_slope(enum smooth_kernel k, double r, double h)
{
    return -(potential(k, r, h) + r * r * pull_of(k, r, h)) / h;
}

/* ---- sets of particles ---- */

enum shape { PLUMMER, UNIFORM, COINCIDENT, ESCAPER, SHAPES };
static const char *const SHAPE[SHAPES] = {"Plummer", "uniform", "coincident", "escaper"};

static void make(struct smooth *s, int64_t room)
{
    memset(s, 0, sizeof *s);
    s->n = s->room = room;
    double **column[] = {&s->x[0], &s->x[1], &s->x[2], &s->h, &s->omega};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        *column[k] = mem_zero(sizeof(double) * (size_t)room + 1, "test");
    s->id = mem_zero(sizeof *s->id * (size_t)room + 1, "test");
}

static void drop(struct smooth *s)
{
    double **column[] = {&s->x[0], &s->x[1], &s->x[2], &s->h, &s->omega};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++) FREE(*column[k]);
    FREE(s->id);
}

/* The radius of a share u of the mass of a sphere of mass 1, and the density there. */
static double place(enum shape shape, double u, double *rho)
{
    if (shape == UNIFORM) {
        *rho = 3 / (4 * PI);
        return cbrt(u);
    }
    double r = 1 / sqrt(pow(0.99 * u + 1e-12, -2 / 3.0) - 1);
    *rho = 3 / (4 * PI) * pow(1 + r * r, -2.5);
    return r;
}

static struct smooth_par par_of(enum smooth_kernel k, int64_t n)
{
    return (struct smooth_par){
        .kernel = k, .eta = k == SMOOTH_M6 ? 1.0 : 1.2, .mass = 1 / (double)n};
}

static void fill(struct smooth *s, enum shape shape, const struct smooth_par *p)
{
    for (int64_t i = 0; i < s->n; i++) {
        struct rng r = rng_make(44, (uint64_t)i, (uint32_t)shape);
        double rho, radius = place(shape == ESCAPER ? PLUMMER : shape, rng_uniform(&r), &rho);
        double z = 2 * rng_uniform(&r) - 1, angle = 2 * PI * rng_uniform(&r);
        s->x[0][i] = radius * sqrt(1 - z * z) * cos(angle);
        s->x[1][i] = radius * sqrt(1 - z * z) * sin(angle);
        s->x[2][i] = radius * z;
        s->h[i] = p->eta * cbrt(p->mass / rho);
        s->omega[i] = 0.8 + 0.4 * rng_uniform(&r);
        s->id[i] = 1000 + i;
        if (shape == COINCIDENT && i % 3 != 0)
            for (int k = 0; k < 3; k++) s->x[k][i] = 0.25 * (k + 1);
        if (shape == ESCAPER && i == 7) s->x[0][i] = 3e8;
    }
}

/* Rows i of the set for which mix(i) mod ranks is this rank's, in mixed order. */
static void share(const struct smooth *all, struct smooth *mine, uint64_t seed, int rank, int size)
{
    int64_t n = 0, count = all->n;
    make(mine, count);
    for (int64_t j = 0; j < count; j++) {
        int64_t i = (int64_t)(((uint64_t)j * 7919 + seed) % (uint64_t)count);
        double side = all->x[0][i] + 0.1 * all->x[1][i];
        int to = size > 1 && i % 5 != 0 ? (side > 0.1 ? size - 1 : i % size) : (int)(i % size);
        if (to != rank) continue;
        for (int k = 0; k < 3; k++) mine->x[k][n] = all->x[k][i];
        mine->h[n] = all->h[i];
        mine->omega[n] = all->omega[i];
        mine->id[n++] = all->id[i];
    }
    mine->n = n;
}

struct result {
    double *a[3], *phi;
};

static struct result result_new(int64_t n)
{
    struct result r;
    for (int k = 0; k < 3; k++) r.a[k] = mem_zero(sizeof(double) * (size_t)n + 1, "test");
    r.phi = mem_zero(sizeof(double) * (size_t)n + 1, "test");
    return r;
}

static void result_free(struct result *r)
{
    for (int k = 0; k < 3; k++) FREE(r->a[k]);
    FREE(r->phi);
}

/* ---- direct sums ---- */

static double zeta_of(const struct smooth *s, const struct smooth_par *p, int64_t i)
{
    double sum = 0, h = s->h[i];
    for (int64_t j = 0; j < s->n; j++) {
        double r = hypot(hypot(s->x[0][i] - s->x[0][j], s->x[1][i] - s->x[1][j]),
                         s->x[2][i] - s->x[2][j]);
        if (r < radius_of(p->kernel) * h) sum += p->mass * potential_slope(p->kernel, r, h);
    }
    return -h / (3 * p->mass * pow(p->eta / h, 3)) * sum / s->omega[i];
}

static double kernel_pull(enum smooth_kernel k, double r, double h)
{
    return r > 0 && r < radius_of(k) * h ? kernel_slope(k, r / h) / (h * h * h * h * r) : 0;
}

static void direct(const struct smooth *s, const struct smooth_par *p, double g, struct result *to)
{
    double *zeta = mem_new(sizeof *zeta * (size_t)s->n + 1, "test");
    for (int64_t i = 0; i < s->n; i++) zeta[i] = zeta_of(s, p, i);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->n; j++) {
            double d[3], far2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = s->x[k][i] - s->x[k][j];
                far2 += d[k] * d[k];
            }
            double r = sqrt(far2), ha = s->h[i], hb = s->h[j];
            double f = 0.5 * (pull_of(p->kernel, r, ha) + pull_of(p->kernel, r, hb)) +
                       0.5 * (zeta[i] * kernel_pull(p->kernel, r, ha) +
                              zeta[j] * kernel_pull(p->kernel, r, hb));
            for (int k = 0; k < 3; k++) to->a[k][i] -= g * p->mass * f * d[k];
            to->phi[i] += g * p->mass * 0.5 *
                          (potential(p->kernel, r, ha) + potential(p->kernel, r, hb));
        }
    FREE(zeta);
}

/* Root mean square and largest error of accelerations, relative to their root mean square; and of
 * potentials. */
struct error {
    double rms, most, phi, momentum;
};

static struct error compare(int64_t n, const struct result *a, const struct result *b)
{
    double sum2 = 0, error2 = 0, most2 = 0, phi2 = 0, phi_error2 = 0, net[3] = {0, 0, 0}, size = 0;
    for (int64_t i = 0; i < n; i++) {
        double d2 = 0, a2 = 0;
        for (int k = 0; k < 3; k++) {
            double d = a->a[k][i] - b->a[k][i];
            d2 += d * d;
            a2 += b->a[k][i] * b->a[k][i];
            net[k] += a->a[k][i];
        }
        sum2 += a2;
        size += sqrt(a2);
        error2 += d2;
        most2 = fmax(most2, d2);
        phi2 += b->phi[i] * b->phi[i];
        phi_error2 += pow(a->phi[i] - b->phi[i], 2);
    }
    double mean2 = fmax(sum2 / (double)n, 1e-300);
    return (struct error){sqrt(error2 / (double)n / mean2), sqrt(most2 / mean2),
                          sqrt(phi_error2 / fmax(phi2, 1e-300)),
                          sqrt(net[0] * net[0] + net[1] * net[1] + net[2] * net[2]) /
                              fmax(size, 1e-300)};
}

/* ---- the laws ---- */

static struct multipole_par tree_of(double theta)
{
    return (struct multipole_par){.g = 1.5, .theta = theta, .leaf = 16, .quadrupole = true};
}

static void test_direct(enum shape shape, enum smooth_kernel k, int64_t n)
{
    struct smooth s;
    struct smooth_par p = par_of(k, n);
    struct multipole_par t = tree_of(0);
    make(&s, n);
    fill(&s, shape, &p);
    struct result a = result_new(n), b = result_new(n);
    CHECK(multipole_gravity(&t, &p, &alone, &s, a.a, a.phi) == OK, "%s", err_message());
    direct(&s, &p, t.g, &b);
    struct error e = compare(n, &a, &b);
    CHECK(e.most < 1e-13 && e.phi < 1e-13, "%s kernel %d n %ld: %g %g", SHAPE[shape], (int)k,
          (long)n, e.most, e.phi);
    t.theta = 0.5;
    result_free(&a);
    a = result_new(n);
    CHECK(multipole_gravity(&t, &p, &alone, &s, a.a, a.phi) == OK, "%s", err_message());
    e = compare(n, &a, &b);
    CHECK(e.rms < 4e-4 && e.most < 3e-3 && e.phi < 5e-5, "%s kernel %d n %ld: %g %g %g",
          SHAPE[shape], (int)k, (long)n, e.rms, e.most, e.phi);
    if (getenv("VERBOSE"))
        printf("%s %d %ld: rms %.2g most %.2g phi %.2g momentum %.2g\n", SHAPE[shape], (int)k,
               (long)n, e.rms, e.most, e.phi, e.momentum);
    CHECK(e.momentum < 2e-4, "%g", e.momentum);
    result_free(&a);
    result_free(&b);
    drop(&s);
}

/* Equal bits on all ranks, in any order of rows, with one thread and two. */
static void test_bits(enum shape shape, enum smooth_kernel k, int64_t n, double theta)
{
    struct smooth s, mine;
    struct smooth_par p = par_of(k, n);
    struct multipole_par t = tree_of(theta);
    make(&s, n);
    fill(&s, shape, &p);
    struct result a = result_new(n), b = result_new(n);
    omp_set_num_threads(1);
    CHECK(multipole_gravity(&t, &p, &alone, &s, a.a, a.phi) == OK, "%s", err_message());
    omp_set_num_threads(2);
    share(&s, &mine, 3, comm.rank, comm.size);
    CHECK(multipole_gravity(&t, &p, &comm, &mine, b.a, b.phi) == OK, "%s", err_message());
    int64_t differ = 0;
    for (int64_t i = 0; i < mine.n; i++) {
        int64_t j = mine.id[i] - 1000;
        for (int d = 0; d < 3; d++) differ += a.a[d][j] != b.a[d][i];
        differ += a.phi[j] != b.phi[i];
    }
    CHECK(differ == 0, "%s n %ld theta %g: %ld numbers differ", SHAPE[shape], (long)n, theta,
          (long)differ);
    result_free(&a);
    result_free(&b);
    drop(&s);
    drop(&mine);
}

/* h from m (η/h)³ = Σ m W, by bisection, and Ω. */
static void solve_h(struct smooth *s, const struct smooth_par *p)
{
    for (int64_t i = 0; i < s->n; i++) {
        double lo = 1e-2, hi = 1e2, slope = 0;
        for (int step = 0; step < 80; step++) {
            double h = 0.5 * (lo + hi), rho = 0;
            slope = 0;
            for (int64_t j = 0; j < s->n; j++) {
                double q = hypot(hypot(s->x[0][i] - s->x[0][j], s->x[1][i] - s->x[1][j]),
                                 s->x[2][i] - s->x[2][j]) /
                           h;
                rho += kernel(p->kernel, q);
                slope -= 3 * kernel(p->kernel, q) + q * kernel_slope(p->kernel, q);
            }
            s->h[i] = h;
            s->omega[i] = 1 + slope / (3 * pow(p->eta, 3));
            *(pow(p->eta, 3) > rho ? &lo : &hi) = h;
        }
    }
}

static double energy(struct smooth *s, const struct smooth_par *p, const struct multipole_par *t)
{
    struct result r = result_new(s->n);
    double sum = 0;
    solve_h(s, p);
    CHECK(multipole_gravity(t, p, &alone, s, r.a, r.phi) == OK, "%s", err_message());
    for (int64_t i = 0; i < s->n; i++) sum += 0.5 * p->mass * r.phi[i];
    result_free(&r);
    return sum;
}

/* m a is minus the gradient of the potential energy, with h as the density has it. */
static void test_gradient(enum smooth_kernel k)
{
    enum { N = 30 };
    const double step = 1e-4;
    struct smooth s;
    struct smooth_par p = par_of(k, N);
    struct multipole_par t = tree_of(0);
    make(&s, N);
    fill(&s, UNIFORM, &p);
    solve_h(&s, &p);
    struct result r = result_new(N);
    CHECK(multipole_gravity(&t, &p, &alone, &s, r.a, NULL) == OK, "%s", err_message());
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) {
            double x = s.x[d][i], e[2];
            for (int side = 0; side < 2; side++) {
                s.x[d][i] = x + (side ? step : -step);
                e[side] = energy(&s, &p, &t);
            }
            s.x[d][i] = x;
            double force = -(e[1] - e[0]) / (2 * step) / p.mass;
            CHECK(fabs(force - r.a[d][i]) < 1e-6, "kernel %d: %g %g", (int)k, force, r.a[d][i]);
        }
    result_free(&r);
    drop(&s);
}

/* A flat swarm of particles of this size, and the error of the acceleration of a particle far from
 * it. */
static double error_of_far(double size)
{
    enum { N = 201 };
    struct smooth s;
    struct smooth_par p = par_of(SMOOTH_M4, N);
    struct multipole_par t = tree_of(0.5);
    make(&s, N);
    fill(&s, UNIFORM, &p);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) s.x[k][i] *= k == 1 ? 0.1 * size : size;
    for (int i = 0; i < N; i++) s.h[i] *= size;
    s.x[0][N - 1] = 0.8;
    s.x[1][N - 1] = 0.5;
    s.x[2][N - 1] = -0.3;
    struct result a = result_new(N), b = result_new(N);
    CHECK(multipole_gravity(&t, &p, &alone, &s, a.a, a.phi) == OK, "%s", err_message());
    t.theta = 0;
    CHECK(multipole_gravity(&t, &p, &alone, &s, b.a, b.phi) == OK, "%s", err_message());
    double error = 0;
    for (int k = 0; k < 3; k++) error = hypot(error, a.a[k][N - 1] - b.a[k][N - 1]);
    CHECK(fabs(a.phi[N - 1] / b.phi[N - 1] - 1) < size * size * size, "%g", size);
    result_free(&a);
    result_free(&b);
    drop(&s);
    return error;
}

/* Cells lack the octupole: errors fall as the third power of their size. */
static void test_order(void)
{
    double large = error_of_far(0.04), small = error_of_far(0.01);
    CHECK(large > 0 && small < large / 50, "%g %g", large, small);
    if (getenv("VERBOSE")) printf("far: %g %g\n", large, small);
}

static void test_few(void)
{
    for (int64_t n = 0; n < 4; n++) {
        test_bits(PLUMMER, SMOOTH_M4, n, 0.5);
        if (n > 0 && comm.size == 1) test_direct(PLUMMER, SMOOTH_M6, n);
    }
}

static void test_refused(void)
{
    struct smooth s;
    struct smooth_par p = par_of(SMOOTH_M4, 8);
    struct multipole_par t = tree_of(0.5);
    make(&s, 8);
    fill(&s, PLUMMER, &p);
    struct result r = result_new(8);
    if (comm.rank == comm.size - 1) s.x[1][5] = NAN;
    CHECK_FAILS(multipole_gravity(&t, &p, &comm, &s, r.a, r.phi), "particle 1005");
    result_free(&r);
    drop(&s);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    if (comm.size == 1) {
        for (int k = 0; k < SMOOTH_KERNELS; k++) {
            test_direct(PLUMMER, (enum smooth_kernel)k, 1200);
            test_gradient((enum smooth_kernel)k);
        }
        test_direct(UNIFORM, SMOOTH_M4, 1000);
        test_direct(COINCIDENT, SMOOTH_M6, 300);
        test_direct(ESCAPER, SMOOTH_M4, 600);
        test_order();
    }
    test_few();
    for (int shape = 0; shape < SHAPES; shape++) {
        test_bits((enum shape)shape, SMOOTH_M4, 2000, 0.5);
        test_bits((enum shape)shape, SMOOTH_M6, 1000, 0.8);
    }
    test_bits(UNIFORM, SMOOTH_M4, 300, 0);
    test_refused();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
