/* stencil_init_test: initial fields of the stencil solver. Flows and potentials have no divergence
 * in boxes with unequal sides, those of Beltrami are their own curls; random fields have the
 * moments of their distributions, and keys of their own; bricks have the bits of the whole mesh.
 * Catches: an axis or a sign exchanged, phases of the brick instead of the mesh, one stream for two
 * components, a wave number that the box does not have, a wave that no mesh holds. */
#include <omp.h>

#include "check.h"
#include "stencil/init.h"
#include "stencil_world.h"

static struct comm comm = {.size = 1, .node_size = 1, .threads = 1};
static struct params par;

static void defaults(int n, double lx, double ly, double lz)
{
    struct param_stencil *p = &par.stencil;
    param_init(&par);
    p->nx = p->ny = p->nz = n;
    p->lx = lx, p->ly = ly, p->lz = lz;
    p->amp_u = 0.7, p->amp_a = 0.3;
}

static void set(param_string to, const char *name)
{
    snprintf(to, sizeof(param_string), "%s", name);
}

static void initial(struct stencil *t)
{
    CHECK(stencil_initial(t) == OK, "%s", err_message());
}

static void make(struct stencil *t)
{
    world_whole(t, &par, &comm);
    initial(t);
}

/* A field of three components in a box has no divergence; with k, it is its curl over k. */
static void check_law(const char *u, const char *a, double k, bool cube)
{
    struct stencil t;
    defaults(12, 2.0, cube ? 2.0 : 3.0, cube ? 2.0 : 5.0);
    par.stencil.kx_init = 2;
    par.stencil.bext[0] = 0.5;
    if (u) set(par.stencil.init_u, u);
    if (a) set(par.stencil.init_a, a);
    make(&t);
    struct world_law l = world_law(&t, u ? FD_UX : FD_AX, k);
    double scale = l.field * 2 * M_PI * 2 / 2.0;
    CHECK(l.field > 0.01, "%s %s: %g", u ? u : "", a ? a : "", l.field);
    CHECK(l.divergence < 1e-12 * scale, "%s %s: divergence %g of %g", u ? u : "", a ? a : "",
          l.divergence, scale);
    if (k != 0)
        CHECK(l.beltrami < 1e-12 * scale, "%s %s: curl is off by %g of %g", u ? u : "", a ? a : "",
              l.beltrami, scale);
    world_free(&t);
}

static void test_flows(void)
{
    const double k = 2 * M_PI * 2 / 2.0, kz = 2 * M_PI * 2 / 5.0;
    check_law("roberts", NULL, 0, false);
    check_law("taylor-green", NULL, 0, false);
    check_law("abc", NULL, 0, false);
    check_law("orszag-tang", NULL, 0, false);
    check_law("alfven", NULL, 0, false);
    check_law(NULL, "alfven", 0, false);
    check_law("beltrami", NULL, kz, false);
    check_law(NULL, "beltrami", kz, false);
    check_law("abc", NULL, k, true);
    check_law(NULL, "abc", k, true);
    check_law("roberts", NULL, k * M_SQRT2, true);
    check_law(NULL, "roberts", k * M_SQRT2, true);
    check_law(NULL, "taylor-green", 0, false);
}

/* Values at a cell against the formulas, with a wave number of 1 on [0, 2π)³. */
static void test_values(void)
{
    struct stencil t;
    defaults(16, 2 * M_PI, 2 * M_PI, 2 * M_PI);
    par.stencil.amp_u = par.stencil.amp_a = 1;
    set(par.stencil.init_u, "roberts");
    set(par.stencil.init_a, "orszag-tang");
    make(&t);
    const int c[3] = {3, 5, 7};
    double x = c[0] * M_PI / 8, y = c[1] * M_PI / 8, z = c[2] * M_PI / 8;
    CHECK(fabs(world_at(&t, FD_UX, c) + cos(x) * sin(y)) < 1e-14);
    CHECK(fabs(world_at(&t, FD_UY, c) - sin(x) * cos(y)) < 1e-14);
    CHECK(fabs(world_at(&t, FD_UZ, c) - sqrt(2) * cos(x) * cos(y)) < 1e-14);
    CHECK(fabs(world_at(&t, FD_AZ, c) - cos(y) - 0.5 * cos(2 * x)) < 1e-14);
    world_free(&t);
    set(par.stencil.init_u, "taylor-green");
    set(par.stencil.init_lnrho, "sound");
    par.stencil.rho0 = 3, par.stencil.amp_lnrho = 0.25;
    make(&t);
    CHECK(fabs(world_at(&t, FD_UX, c) - sin(x) * cos(y) * cos(z)) < 1e-14);
    CHECK(fabs(world_at(&t, FD_UY, c) + cos(x) * sin(y) * cos(z)) < 1e-14);
    CHECK(world_at(&t, FD_UZ, c) == 0);
    CHECK(fabs(world_at(&t, FD_LNRHO, c) - log(3) - 0.25 * cos(x)) < 1e-14);
    world_free(&t);
}

/* The equation of motion and the induction equation of a wave exp(st) give the same s. */
static void test_alfven(double bx, double nu, double eta)
{
    struct stencil t;
    defaults(32, 2 * M_PI, 2 * M_PI, 2 * M_PI);
    struct param_stencil *p = &par.stencil;
    p->ny = p->nz = 1;
    p->amp_u = p->amp_a = 1;
    p->kx_init = 3, p->rho0 = 2, p->mu0 = 0.5, p->nu = nu, p->eta = eta, p->bext[0] = bx;
    set(p->init_u, "alfven");
    set(p->init_a, "alfven");
    make(&t);
    /* u_y and A_z are real parts of u e^{ikx} and a e^{ikx}: amplitudes from cells with kx = 0 and
     * kx = −π/2. */
    double k = 3, u = 0, ar = 0, ai = 0;
    for (int i = 0; i < 32; i++) {
        const int c[3] = {i, 0, 0};
        double phase = k * i * M_PI / 16;
        u += world_at(&t, FD_UY, c) * cos(phase) / 16;
        ar += world_at(&t, FD_AZ, c) * cos(phase) / 16;
        ai -= world_at(&t, FD_AZ, c) * sin(phase) / 16;
    }
    /* s u = −νk²u + ikB b/(μ0ρ0), b = −ik a; s a = B u − ηk² a, since (u×B)_z = −u_y B_x + … */
    double sr = -nu * k * k + k * k * bx / (0.5 * 2) * ar / u, si = k * k * bx / (0.5 * 2) * ai / u;
    double left[2] = {sr * ar - si * ai, sr * ai + si * ar};
    double right[2] = {-bx * u - eta * k * k * ar, -eta * k * k * ai};
    CHECK(fabs(u - 1) < 1e-14);
    CHECK(fabs(left[0] - right[0]) < 1e-12 && fabs(left[1] - right[1]) < 1e-12,
          "%g + %gi is not %g + %gi", left[0], left[1], right[0], right[1]);
    world_free(&t);
}

static void test_random(void)
{
    enum { N = 24 };
    struct stencil t;
    defaults(N, 1, 1, 1);
    struct param_stencil *p = &par.stencil;
    p->entropy = true;
    p->amp_s = 2, p->amp_lnrho = 1, p->amp_u = 0.5;
    set(p->init_u, "random");
    set(p->init_a, "random");
    set(p->init_s, "gaussian");
    set(p->init_lnrho, "gaussian");
    make(&t);
    double mean, square = world_square(&t, FD_UX, &mean), cross = 0, low = 0, high = 0;
    const double sigma = 1 / sqrt(N * N * N); /* of a mean of unit variance */
    CHECK(fabs(mean) < 4 * 0.289 * sigma && fabs(square * 12 - 1) < 0.03, "%g, %g", mean, square);
    square = world_square(&t, FD_S, &mean);
    CHECK(fabs(mean) < 4 * 2 * sigma && fabs(square / 4 - 1) < 0.05, "%g, %g", mean, square);
    square = world_square(&t, FD_LNRHO, &mean);
    CHECK(fabs(square - 1) < 0.05);
    for (int i = 0; i < N * N * N; i++) {
        const int x[3] = {i % N, i / N % N, i / (N * N)};
        double u = world_at(&t, FD_UX, x);
        cross += u * (world_at(&t, FD_UY, x) + world_at(&t, FD_AX, x));
        low = fmin(low, u), high = fmax(high, u);
    }
    CHECK(low >= -0.5 && low < -0.499 && high < 0.5 && high > 0.499, "%g to %g", low, high);
    CHECK(fabs(cross) / (N * N * N) < 5 * 0.12 * sigma, "components are alike: %g", cross);
    const int x[3] = {1, 2, 3};
    double u = world_at(&t, FD_UX, x);
    world_free(&t);
    p->seed = 2;
    make(&t);
    CHECK(u != world_at(&t, FD_UX, x), "the seed has no effect");
    world_free(&t);
}

static void test_bits(void)
{
    static const char *const name[] = {"random",  "gaussian",     "sound",
                                       "alfven",  "beltrami",     "abc",
                                       "roberts", "taylor-green", "orszag-tang"};
    defaults(12, 2, 3, 5);
    par.stencil.ny = 10, par.stencil.nz = 14;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        set(par.stencil.init_u, name[i]);
        CHECK(world_differs(&par, &comm, (const int[]){2, 3, 2}, FD_UX, initial) == 0, "%s",
              name[i]);
    }
}

static void test_errors(void)
{
    struct stencil t;
    defaults(8, 1, 1, 1);
    set(par.stencil.init_a, "alfven");
    world_whole(&t, &par, &comm);
    CHECK_FAILS(stencil_initial(&t), "init_a='alfven' needs a field along x: set bext(1)");
    set(par.stencil.init_a, "orszag-tang");
    par.stencil.kx_init = 3;
    CHECK_FAILS(stencil_initial(&t), "init_a='orszag-tang' with kx_init=3 has 6 waves along x, of "
                                     "which nx=8 cells hold 4 at most");
    world_free(&t);
    par.stencil.nx = 1;
    par.stencil.kx_init = 2;
    world_whole(&t, &par, &comm);
    CHECK(stencil_initial(&t) == OK, "an axis of one cell has no waves: %s", err_message());
    world_free(&t);
}

int main(void)
{
    test_flows();
    test_values();
    test_alfven(1, 0, 0);
    test_alfven(1, 0.02, 0.01);
    test_alfven(-0.5, 0.01, 0.03);
    test_alfven(0.1, 0.5, 0.1); /* no oscillation */
    test_random();
    test_bits();
    omp_set_num_threads(2);
    test_bits();
    test_errors();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
