/* hole_test: rates, drag and spins of black holes compared with known laws: orbits in the Kerr
 * metric, the equation of motion integrated by GSL; series; limits. Catches: a wrong branch of
 * the last stable orbit, a curve that depends on the size of its steps, a hole that turns over
 * without its axis, a disc that aligns where it should not, a merger that depends on the order of
 * the two. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "hole/rates.h"
#include "hole/spin.h"

static void near(double got, double want, double tol, const char *what)
{
    CHECK(fabs(got - want) <= tol * fabs(want), "%s: %.16g, not %.16g", what, got, want);
}

static void test_rates(void)
{
    near(hole_bondi(2, 3, 5, 4, 0), 4 * M_PI * 36 * 5 / 8, 1e-15, "Bondi");
    near(hole_bondi(2, 3, 5, 0, 4), 4 * M_PI * 36 * 5 / 8, 1e-15, "Hoyle and Lyttleton");
    near(hole_bondi(2, 3, 5, 1, 3), 4 * M_PI * 36 * 5 / 8, 1e-15, "between");
    CHECK(hole_bondi(1, 1, 1, 0, 0) == 0);
    CHECK(hole_boost(0.5, 2) == 1 && hole_boost(3, 2) == 9 && hole_boost(3, 0) == 1);
    near(1 / hole_eddington(0.1) / 3.15576e13, 45.05, 1e-3, "Salpeter time, Myr");
    CHECK(hole_kernel(1, 1, 1, 1, 1) == 0.5 && hole_kernel(1, 9, 1, 1, 1) == 2);
    CHECK(hole_kernel(1, 1e-3, 1, 1, 1) == 0.25 && hole_kernel(1, 1, 0, 0, 1) == 2);
}

static void test_drag(void)
{
    const double mach[] = {1e-8, 1e-3, 0.0199, 0.0201, 0.1, 0.5, 0.9};
    for (int i = 0; i < 7; i++) {
        double m = mach[i], sum = 0, term = m;
        for (int k = 0; k < 400; k++, term *= m * m) sum += term / (2 * k + 3);
        near(hole_drag_mach(m), sum, 1e-10, "subsonic drag");
        near(hole_drag(2, 3, 5, 0.7, 0.7 * m), 4 * M_PI * 4 * 3 * 5 * sum / (0.7 * 0.7 * 0.7 * m),
             1e-10, "its rate");
    }
    near(hole_drag_mach(2), (0.5 * log(3) + 3.2) / 4, 1e-15, "supersonic drag");
    near(hole_drag(1, 1, 1, 1, 0), 4 * M_PI / 3, 1e-15, "drag at rest");
    near(hole_drag_mach(1e4) * 1e8, log(1e4) + 3.2, 1e-8, "fast");
    CHECK(hole_drag_mach(0.95) < 1 && hole_drag_mach(1) == 1 && hole_drag_mach(1.007) > 1);
}

/* Energy and angular momentum of a circular orbit (Bardeen, Press & Teukolsky 1972). */
static void orbit(double r, double a, double *energy, double *momentum)
{
    double s = sqrt(r), norm = sqrt(1 - 3 / r + 2 * a / (r * s));
    *energy = (1 - 2 / r + a / (r * s)) / norm;
    *momentum = s * (1 - 2 * a / (r * s) + a * a / (r * r)) / norm;
}

static void test_orbits(void)
{
    near(spin_lso(0), 6, 1e-15, "last orbit, Schwarzschild");
    near(spin_lso(-1), 9, 1e-14, "last orbit, retrograde");
    for (double a = 1e-20; a < 1e-4; a *= 1.7) { /* r = 6 - 4 (2/3)^1/2 a - 7/18 a^2 */
        double slow = 6 - 4 * sqrt(2. / 3) * a - 7. / 18 * a * a;
        near(spin_lso(a), slow, 1e-12, "last orbit, slow");
        near(spin_lso(-a), 12 - slow - 7. / 9 * a * a, 1e-12, "last orbit, slow, retrograde");
    }
    CHECK(fabs(spin_lso(1) - 1) < 1e-7);
    near(spin_efficiency(SPIN_MAX), 0.32099417, 1e-7, "efficiency at the limit");
    for (double a = -0.998; a < 0.999; a += 0.0499) {
        double r = spin_lso(a), energy, momentum;
        CHECK(fabs(r * r - 6 * r + 8 * a * sqrt(r) - 3 * a * a) < 1e-12 * r * r, "a = %g", a);
        orbit(r, a, &energy, &momentum);
        near(1 - spin_efficiency(a), energy, 1e-12, "energy of the last orbit");
    }
}

static int thin(double t, const double a[], double da[], void *ctx)
{
    double energy, momentum;
    (void)t, (void)ctx;
    orbit(spin_lso(a[0]), a[0], &energy, &momentum);
    da[0] = momentum / energy - 2 * a[0];
    return GSL_SUCCESS;
}

static int arrested(double t, const double a[], double da[], void *ctx)
{
    (void)t, (void)ctx;
    da[0] = 0.97166 - 12.0026 * a[0] - 4.04337 * pow(a[0], 2) + 5.81317 * pow(a[0], 3) +
            2.50482 * pow(a[0], 4);
    return GSL_SUCCESS;
}

static double integrate(int (*f)(double, const double *, double *, void *), double a, double growth)
{
    gsl_odeiv2_system sys = {f, NULL, 1, NULL};
    gsl_odeiv2_driver *d = gsl_odeiv2_driver_alloc_y_new(&sys, gsl_odeiv2_step_rk8pd, 1e-4, 1e-13,
                                                         1e-13);
    double t = 0, y[1] = {a};
    CHECK(gsl_odeiv2_driver_apply(d, &t, log(growth), y) == GSL_SUCCESS);
    gsl_odeiv2_driver_free(d);
    return y[0];
}

static void test_curves(void)
{
    const double from[] = {-0.95, -0.5, 0, 0.3, 0.9}, growth[] = {1.0001, 1.05, 1.3};
    for (int i = 0; i < 15; i++) {
        double a = from[i / 3], x = growth[i % 3], got = spin_thin(a, x);
        double want = fmin(integrate(thin, a, x), SPIN_MAX);
        CHECK(fabs(got - want) < 1e-10, "thin disc, a %g, growth %g: %.14g, not %.14g", a, x, got,
              want);
        double two = spin_thin(spin_thin(a, sqrt(x)), sqrt(x));
        CHECK(fabs(got - two) < 1e-12, "in two steps, a %g: %.15g, %.15g", a, got, two);
        got = spin_arrested(a, x), want = integrate(arrested, a, x);
        CHECK(fabs(got - want) < 1e-10, "arrested disc, a %g: %.14g, not %.14g", a, got, want);
    }
    CHECK(spin_thin(0, sqrt(6) * (1 + 1e-12)) == SPIN_MAX && spin_thin(-0.998, 1e3) == SPIN_MAX);
    CHECK(spin_thin(SPIN_MAX, 1.01) == SPIN_MAX && spin_thin(0.4, 1) == 0.4);
    CHECK(fabs(spin_jet(1) - 1.32308522) < 1e-12 && fabs(spin_jet(0) - 0.0410507) < 1e-15);
}

/* A hole without spin takes the axis of the disc, and the spin of the closed curve; accretion in
 * many discs of one direction gives the result of a single one. */
static void test_accretion(void)
{
    struct spin s = {0};
    struct spin_flow f = {
        .mass = 1e6, .gain = 5e5, .rate = 0.3, .momentum = {0, 3, 4}, .self_gravity = true};
    spin_accrete(&s, &f);
    CHECK(fabs(s.a - spin_thin(0, 1.5)) < 1e-10, "%.14g, not %.14g", s.a, spin_thin(0, 1.5));
    CHECK(s.axis[0] == 0 && fabs(s.axis[1] - 0.6) + fabs(s.axis[2] - 0.8) < 1e-15);
    f.mass = 1.5e6, f.gain = 2e5;
    spin_accrete(&s, &f);
    double want = spin_thin(0, 1.7 / 1);
    CHECK(fabs(s.a - want) < 1e-10, "%.14g, not %.14g", s.a, want);
    struct spin none = {0.5, {0, 0, 1}};
    f = (struct spin_flow){.mass = 1, .gain = 1};
    spin_accrete(&none, &f); /* no rotation: angular momentum is unchanged */
    CHECK(none.a == 0.125);
}

/* With opposite spin, a small disc of a heavy hole counter-rotates, while a large disc of a light
 * hole flips the spin; both end with the axis of the gas. */
static void test_alignment(void)
{
    struct spin s = {0.9, {0.1, 0, sqrt(0.99)}};
    struct spin_flow f = {
        .mass = 1e9, .gain = 1e4, .rate = 0.1, .momentum = {0, 0, -1}, .self_gravity = true};
    spin_accrete(&s, &f);
    CHECK(s.a < -0.89 && s.axis[2] > 0.99, "counter-rotates: %g, %g", s.a, s.axis[2]);
    struct spin light = {0.9, {0.1, 0, sqrt(0.99)}};
    f.mass = 1e5, f.gain = 3e4;
    spin_accrete(&light, &f);
    CHECK(light.a > 0 && light.axis[2] < -0.99, "turns over: %g, %g", light.a, light.axis[2]);
    struct spin slow = {-1e-4, {0, 0, 1}}; /* spin through zero: the axis flips too */
    f = (struct spin_flow){.mass = 1e9, .gain = 3e8, .rate = 1, .momentum = {0, 0, -1}};
    spin_accrete(&slow, &f);
    CHECK(slow.a > 0.3 && slow.axis[2] < -0.99, "through zero: %g, %g", slow.a, slow.axis[2]);
}

static void test_limits(void)
{
    struct rng g = rng_make(3, 5, 7);
    for (int i = 0; i < 300; i++) {
        struct spin s = {1.996 * rng_uniform(&g) - 0.998, {0, 0, 1}};
        struct spin_flow f = {.mass = pow(10, 5 + 5 * rng_uniform(&g)),
                              .rate = pow(10, -6 * rng_uniform(&g)),
                              .self_gravity = i % 3 > 0,
                              .arrested = i % 5 == 0};
        f.gain = f.mass * pow(10, -4 * rng_uniform(&g));
        for (int d = 0; d < 3; d++) f.momentum[d] = rng_uniform(&g) - 0.5;
        spin_accrete(&s, &f);
        double norm = 0;
        for (int d = 0; d < 3; d++) norm += s.axis[d] * s.axis[d];
        CHECK(fabs(s.a) <= SPIN_MAX && fabs(norm - 1) < 1e-14, "case %d: %g", i, s.a);
    }
}

static void test_mergers(void)
{
    const double orbit[3] = {0, 0, 5};
    struct spin none = {0}, up = {0.6, {0, 0, 1}}, side = {-0.7, {0.6, 0.8, 0}};
    struct spin s = spin_merge(&none, 3, &none, 3, orbit);
    near(s.a, (2 * sqrt(3) - 3.454 / 4 + 2.353 / 16) / 4, 1e-14, "equal masses without spin");
    CHECK(fabs(s.a - 0.6864) < 2e-3 && s.axis[2] == 1, "numerical relativity: %g", s.a);
    s = spin_merge(&side, 1, &up, 1e-12, orbit);
    CHECK(fabs(s.a - 0.7) < 1e-11 && fabs(s.axis[1] - 0.8) < 1e-11, "a test particle: %g", s.a);
    struct spin a = spin_merge(&side, 2, &up, 1.5, orbit),
                b = spin_merge(&up, 1.5, &side, 2, orbit);
    CHECK(memcmp(&a, &b, sizeof a) == 0, "order: %.17g, %.17g", a.a, b.a);
    a = spin_merge(&up, 1, &side, 1, orbit), b = spin_merge(&side, 1, &up, 1, orbit);
    CHECK(fabs(a.a - b.a) < 1e-15, "order of equal masses: %.17g, %.17g", a.a, b.a);
    struct spin max = {SPIN_MAX, {0, 0, 1}};
    CHECK(spin_merge(&max, 1, &max, 1, orbit).a <= SPIN_MAX);
    s = spin_merge(&up, 1, &up, 1, (double[3]){0});
    CHECK(s.a > 0 && s.a < 0.6, "head on: %g", s.a);
}

int main(void)
{
    test_rates();
    test_drag();
    test_orbits();
    test_curves();
    test_accretion();
    test_alignment();
    test_limits();
    test_mergers();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
