/* cosmo: Friedmann's equation for matter, curvature and dark energy, radiation neglected.
 *
 * In super-comoving time (dτ = H0 dt/a²; Martel & Shapiro 1998) da/dτ = f(a) = sqrt(a³ (Ω_m + Ω_Λ
 * a³ + Ω_k a)), so with x = ln a the two clocks are integrals τ = ∫ a/f(a) dx,    H0 t = ∫ a³/f(a)
 * dx,    both 0 at a = 1. They are tabulated at x = k/1024 by Gauss-Legendre quadrature between
 * neighbours and interpolated by cubic Hermite polynomials (the slopes are the integrands): with h
 * = 1/1024 the interpolation error h⁴/384 τ'''' is below 1e-15 of τ. a(τ) inverts this polynomial
 * by Newton's iteration, hence cosmo_at inverts cosmo_tau to rounding. Growth: D = 5/2 Ω_m E(a) ∫
 * da/(aE)³, E = H/H0 (Heath 1977; Peebles 1980 §10), with a cosmological constant; otherwise by
 * cosmo/growth. */
#include "cosmo/cosmo.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "cosmo/growth.h"

enum { PER_E = 1024 };  /* table points per e-fold of a */
enum { CHORDS = 1000 }; /* intervals of RAMSES's table */
static const double A_LAST = 10.0;
/* Δa/a of RAMSES's integration, which determines the positions of its points */
static const double CHORD_STEP = 1e-6;

struct cosmo {
    struct cosmo_par par;
    int first, n;     /* first point and number of points; point i is at x = (first + i)/PER_E */
    double *tau, *t;  /* [n] clocks τ and H0 t, ascending */
    double *chord[3]; /* a, τ, hexp at RAMSES's points, falling from a = 1; NULL without chords */
};

static enum err check(const struct cosmo_par *p);
static void tabulate(struct cosmo *c);
static void chords_new(struct cosmo *c);
static void chord_at(const struct cosmo *c, double tau, double *aexp, double *hexp);
static double chord_tau(const struct cosmo *c, double aexp);
static double clock_at(const struct cosmo *c, const double *value, double power, double aexp);
static double curve_aexp(const struct cosmo *c, double tau);
static double expansion2(const struct cosmo_par *p, double a);

enum err cosmo_new(const struct cosmo_par *p, struct cosmo **out)
{
    *out = NULL;
    TRY(check(p));
    struct cosmo *c = mem_zero(sizeof *c, "expansion");
    c->par = *p;
    c->first = (int)floor(PER_E * log(0.9 * p->aexp_ini));
    int last = 0; /* a closed universe recollapses before A_LAST */
    while (last < PER_E * log(A_LAST) &&
           expansion2(p, exp((last + 2.0) / PER_E)) > 1e-3 * p->omega_m)
        last++;
    c->n = last + 2 - c->first;
    c->tau = mem_new(sizeof *c->tau * (size_t)c->n, "expansion");
    c->t = mem_new(sizeof *c->t * (size_t)c->n, "expansion");
    tabulate(c);
    if (p->ramses && p->aexp_ini < 1) chords_new(c);
    *out = c;
    return OK;
}

void cosmo_free(struct cosmo *c)
{
    if (!c) return;
    FREE(c->tau);
    FREE(c->t);
    for (int i = 0; i < 3; i++) FREE(c->chord[i]);
    mem_free(c);
}

double cosmo_tau(const struct cosmo *c, double aexp)
{
    return c->chord[0] ? chord_tau(c, aexp) : clock_at(c, c->tau, 1, aexp);
}

double cosmo_time(const struct cosmo *c, double aexp)
{
    return clock_at(c, c->t, 3, aexp);
}

double cosmo_aexp(const struct cosmo *c, double time, double latest)
{
    double low = 0, high = latest;
    for (int i = 0; i < 64; i++) {
        double a = 0.5 * (low + high);
        *(cosmo_time(c, a) < time ? &low : &high) = a;
    }
    return high;
}

void cosmo_at(const struct cosmo *c, double tau, double *aexp, double *hexp)
{
    if (c->chord[0]) {
        chord_at(c, tau, aexp, hexp);
        return;
    }
    *aexp = curve_aexp(c, tau);
    *hexp = cosmo_dadtau(&c->par, *aexp) / *aexp;
}

double cosmo_dadtau(const struct cosmo_par *p, double a)
{
    return sqrt(a * a * a * (p->omega_m + cosmo_dark_density(p, a) * a * a * a + p->omega_k * a));
}

double cosmo_d2adtau2(const struct cosmo_par *p, double a)
{
    double y = 3 * p->omega_m + 6 * cosmo_dark_density(p, a) * a * a * a + 4 * p->omega_k * a;
    if (!cosmo_is_lambda(&p->dark)) y += cosmo_dark_slope(p, a) * a * a * a;
    return 0.5 * a * a * y;
}

void cosmo_units(const struct cosmo_par *p, double aexp, double *unit_l, double *unit_d,
                 double *unit_t)
{
    double h = p->h0 / 100;
    *unit_l = aexp * p->boxlen_ini * CGS_MPC / h;
    *unit_d = p->omega_m * RAMSES_RHO_CRIT * h * h / (aexp * aexp * aexp);
    *unit_t = aexp * aexp / (p->h0 * CGS_KM / CGS_MPC);
}

/* (aE)² = (da/dt)²/H0² */
static double expansion2(const struct cosmo_par *p, double a)
{
    return p->omega_m / a + cosmo_dark_density(p, a) * a * a + p->omega_k;
}

static gsl_integration_glfixed_table *gauss_new(size_t n)
{
    gsl_set_error_handler_off(); /* the default handler aborts */
    gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(n);
    if (!gauss) mem_exhausted("GSL");
    return gauss;
}

/* Growth integral as in RAMSES: Romberg's method with five extrapolations, from 1e-6, to a relative
 * change of 1e-6 between refinements. The error is a few 1e-7. */
static double growth_romberg(const struct cosmo_par *p, double a)
{
    const double from = 1e-6, tolerance = 1e-6;
    double h = 0.5 * (a - from), row[6] = {0}, best, error = 1;
    best = row[0] = h * (pow(expansion2(p, from), -1.5) + pow(expansion2(p, a), -1.5));
    for (int64_t i = 1, n = 1; i <= 16 && (i <= 5 || fabs(error) >= tolerance); i++, n *= 2) {
        double sum = 0, power = 1;
        int order = i < 5 ? (int)i : 5;
        for (int64_t k = 1; k <= n; k++)
            sum += pow(expansion2(p, from + (double)(2 * k - 1) * h), -1.5);
        sum = 0.5 * row[0] + h * sum;
        h /= 2;
        for (int j = 0; j < order; j++) {
            power *= 4;
            double better = sum + (sum - row[j]) / (power - 1);
            row[j] = sum;
            sum = better;
        }
        error = fabs(sum) > tolerance ? 1 - best / sum : best;
        best = row[order] = sum;
    }
    return best;
}

/* ∫_0^a da'/(a'E)³. With a' = u² the integrand 2 u⁴ / (Ω_m + Ω_Λ a'³ + Ω_k a')^(3/2) is smooth. */
static double growth_integral(const struct cosmo_par *p, double a)
{
    if (p->ramses) return growth_romberg(p, a);
    gsl_integration_glfixed_table *gauss = gauss_new(64);
    double sum = 0;
    for (size_t i = 0; i < 64; i++) {
        double u, w;
        gsl_integration_glfixed_point(0, sqrt(a), i, &u, &w, gauss);
        double b = u * u, s = p->omega_m + p->omega_l * b * b * b + p->omega_k * b;
        sum += w * 2 * b * b / (s * sqrt(s));
    }
    gsl_integration_glfixed_table_free(gauss);
    return sum;
}

double cosmo_growth(const struct cosmo_par *p, double a)
{
    if (!cosmo_is_lambda(&p->dark)) return growth_at(p, a, NULL);
    return 2.5 * p->omega_m * sqrt(expansion2(p, a)) / a * growth_integral(p, a);
}

double cosmo_growth_rate(const struct cosmo_par *p, double a)
{
    if (!cosmo_is_lambda(&p->dark)) {
        double rate;
        growth_at(p, a, &rate);
        return rate;
    }
    double y = expansion2(p, a);
    return (p->omega_l * a * a - 0.5 * p->omega_m / a) / y - 1 +
           a / (y * sqrt(y) * growth_integral(p, a));
}

double cosmo_vfact(const struct cosmo_par *p, double a)
{
    return a * cosmo_growth_rate(p, a) * sqrt(expansion2(p, a));
}

/* ∫_0^z dz'/E as in RAMSES: Romberg's method with four extrapolations of trapezoids, from 16
 * intervals on, to a relative change of 1e-6 by the last extrapolation. */
static double distance_romberg(const struct cosmo_par *p, double z)
{
    enum { EXTRAPOLATIONS = 4, HALVINGS = 20 };
    double h = z, row[EXTRAPOLATIONS + 1], best = 0, change = 0;
    row[0] = 0.5 * h * (1 + 1 / sqrt(p->omega_m * (1 + z) * (1 + z) * (1 + z) + p->omega_l));
    for (int64_t j = 1, n = 1; j < HALVINGS; j++, n *= 2) {
        double sum = 0, power = 1;
        for (int64_t k = 0; k < n; k++) {
            double x = 1 + ((double)k + 0.5) * h;
            sum += 1 / sqrt(p->omega_m * x * x * x + p->omega_l);
        }
        best = 0.5 * (row[0] + h * sum), h /= 2;
        int order = j < EXTRAPOLATIONS ? (int)j : EXTRAPOLATIONS;
        for (int m = 0; m < order; m++) {
            power *= 4, change = (best - row[m]) / (power - 1);
            row[m] = best;
            best += change;
        }
        row[order] = best;
        if (j >= EXTRAPOLATIONS && fabs(change) <= 1e-6 * fabs(best)) break;
    }
    return best;
}

/* With a = u² the integrand 2 / sqrt(Ω_m + Ω_Λ a³ + Ω_k a) is smooth. */
double cosmo_distance(const struct cosmo_par *p, double a)
{
    if (!cosmo_is_lambda(&p->dark)) return distance_panels(p, a);
    if (p->ramses) return copysign(distance_romberg(p, fabs(1 / a - 1)), 1 - a);
    gsl_integration_glfixed_table *gauss = gauss_new(64);
    double sum = 0;
    for (size_t i = 0; i < 64; i++) {
        double u, w;
        gsl_integration_glfixed_point(sqrt(a), 1, i, &u, &w, gauss);
        double b = u * u;
        sum += 2 * w / sqrt(p->omega_m + p->omega_l * b * b * b + p->omega_k * b);
    }
    gsl_integration_glfixed_table_free(gauss);
    return sum;
}

/* Dark energy must vanish at early times, where the growing mode begins as without it. */
static enum err check_dark(const struct cosmo_par *p)
{
    const struct cosmo_dark *d = &p->dark;
    if (!(fabs(d->w1) <= 10 && fabs(d->wa) <= 10 && d->w1 - 1 + d->wa < -0.05))
        FAIL(ERR_PARAM,
             "cpl_params: w0 = %g and wa = %g must be between -10 and 10, and w0 + wa below -0.05, "
             "so that matter dominates at early times",
             d->w1 - 1, d->wa);
    if (d->early != 0 && !(d->early > 0 && d->early < 0.5 && d->a_early > 0 && d->a_early < 0.5 &&
                           d->w_early > 0.05 && d->w_early <= 10))
        FAIL(
            ERR_PARAM,
            "ede_params: omega_ede = %g must be between 0 and 0.5, z_ede = %g above 1, and w_ede = "
            "%g between 0.05 and 10",
            d->early, 1 / d->a_early - 1, d->w_early);
    return OK;
}

static enum err check(const struct cosmo_par *p)
{
    if (!(p->omega_m > 0 && p->omega_m < 100))
        FAIL(ERR_PARAM, "cosmology: omega_m = %g must be above 0 and below 100", p->omega_m);
    if (!(fabs(p->omega_m + p->omega_l + p->omega_k - 1) < 1e-6))
        FAIL(ERR_PARAM, "cosmology: omega_m + omega_l + omega_k = %.9g + %.9g + %.9g must be 1",
             p->omega_m, p->omega_l, p->omega_k);
    TRY(check_dark(p));
    if (!(p->omega_b >= 0 && p->omega_b <= p->omega_m))
        FAIL(ERR_PARAM, "cosmology: omega_b = %g must be between 0 and omega_m = %g", p->omega_b,
             p->omega_m);
    if (!(p->h0 >= 1 && p->h0 <= 1000))
        FAIL(ERR_PARAM, "cosmology: h0 = %g km/s/Mpc must be between 1 and 1000", p->h0);
    if (!(p->aexp_ini >= 1e-6 && p->aexp_ini <= 1))
        FAIL(ERR_PARAM, "cosmology: initial expansion factor %g must be between 1e-6 and 1",
             p->aexp_ini);
    if (!(p->boxlen_ini > 0 && p->boxlen_ini < 1e9))
        FAIL(ERR_PARAM, "cosmology: boxlen_ini = %g Mpc/h must be above 0 and below 1e9",
             p->boxlen_ini);
    for (double a = 1.01; a > 0.5 * p->aexp_ini; a *= 0.999)
        if (!(expansion2(p, a) > 1e-3 * p->omega_m))
            FAIL(ERR_PARAM,
                 "cosmology: with omega_m = %g and omega_l = %g the universe does not pass a = %g: "
                 "correct the density parameters",
                 p->omega_m, p->omega_l, a);
    return OK;
}

/* Slope of a clock in x: a^power / f(a), power 1 for τ and 3 for t. */
static double clock_slope(const struct cosmo_par *p, double power, double x)
{
    double a = exp(x), s = a / cosmo_dadtau(p, a);
    return power == 3 ? s * a * a : s;
}

static void tabulate(struct cosmo *c)
{
    gsl_integration_glfixed_table *gauss = gauss_new(8);
    int zero = -c->first;
    c->tau[zero] = c->t[zero] = 0;
    for (int i = 0; i < c->n; i++) {
        /* Integrate from a = 1 outwards, up and then down, so that sums grow from small to
         * large. */
        int to = i < c->n - zero ? zero + i : c->n - 1 - i, from = to > zero ? to - 1 : to + 1;
        if (to == zero) continue;
        double lo = (double)(c->first + from) / PER_E, hi = (double)(c->first + to) / PER_E,
               tau = 0, t = 0;
        for (size_t j = 0; j < 8; j++) {
            double x, w;
            gsl_integration_glfixed_point(lo, hi, j, &x, &w, gauss);
            tau += w * clock_slope(&c->par, 1, x);
            t += w * clock_slope(&c->par, 3, x);
        }
        c->tau[to] = c->tau[from] + tau;
        c->t[to] = c->t[from] + t;
    }
    gsl_integration_glfixed_table_free(gauss);
}

/* Cubic Hermite polynomial on interval i at s in [0,1]; *slope, if not NULL, receives its
 * derivative with respect to s. */
static double hermite(const struct cosmo *c, const double *value, double power, int i, double s,
                      double *slope)
{
    const double h = 1.0 / PER_E;
    double d0 = h * clock_slope(&c->par, power, (c->first + i) * h);
    double d1 = h * clock_slope(&c->par, power, (c->first + i + 1) * h);
    double rise = value[i + 1] - value[i], b = 3 * rise - 2 * d0 - d1, e = d0 + d1 - 2 * rise;
    if (slope) *slope = d0 + s * (2 * b + s * 3 * e);
    return value[i] + s * (d0 + s * (b + s * e));
}

static double clock_at(const struct cosmo *c, const double *value, double power, double aexp)
{
    double u = PER_E * log(aexp) - c->first;
    u = fmin(fmax(u, 0), c->n - 1);
    int i = (int)fmin(floor(u), c->n - 2);
    return hermite(c, value, power, i, u - i, NULL);
}

static double curve_aexp(const struct cosmo *c, double tau)
{
    int lo = 0, hi = c->n - 1;
    tau = fmin(fmax(tau, c->tau[0]), c->tau[hi]);
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (c->tau[mid] <= tau)
            lo = mid;
        else
            hi = mid;
    }
    double s = (tau - c->tau[lo]) / (c->tau[hi] - c->tau[lo]);
    for (int i = 0; i < 4; i++) {
        double slope, value = hermite(c, c->tau, 1, lo, s, &slope);
        s += (tau - value) / slope;
    }
    return exp((c->first + lo + s) / PER_E);
}

/* One backward step of RAMSES's integration, midpoint rule: Δa/a is about CHORD_STEP. */
static double chord_step(double a, double (*slope)(const struct cosmo_par *, double),
                         const struct cosmo_par *p, double *clock)
{
    double rate = slope(p, a), step = CHORD_STEP * a / rate;
    *clock -= step;
    return a - slope(p, a - rate * step / 2) * step;
}

static double dadt(const struct cosmo_par *p, double a)
{
    return sqrt(1 / a * (p->omega_m + cosmo_dark_density(p, a) * a * a * a + p->omega_k * a));
}

static void chord_set(struct cosmo *c, int k, double a, double tau)
{
    c->chord[0][k] = a;
    c->chord[1][k] = tau;
    c->chord[2][k] = cosmo_dadtau(&c->par, a) / a;
}

/* RAMSES integrates both clocks from a = 1 down until both are below aexp_ini and keeps every
 * (steps/1000)th point of tau, and the last. skip = 0: only counts the steps. */
static int64_t chords_walk(struct cosmo *c, int64_t skip)
{
    const struct cosmo_par *p = &c->par;
    double a = 1, tau = 0, at = 1, t = 0;
    int64_t n = 0;
    for (; a >= p->aexp_ini || at >= p->aexp_ini; n++) {
        if (skip && n % skip == 0 && n / skip < CHORDS) chord_set(c, (int)(n / skip), a, tau);
        a = chord_step(a, cosmo_dadtau, p, &tau);
        at = chord_step(at, dadt, p, &t);
    }
    for (int64_t k = skip ? (n - 1) / skip + 1 : CHORDS + 1; k <= CHORDS; k++)
        chord_set(c, (int)k, a, tau);
    if (skip) chord_set(c, CHORDS, a, tau);
    return n;
}

static void chords_new(struct cosmo *c)
{
    for (int i = 0; i < 3; i++) c->chord[i] = mem_new(sizeof(double) * (CHORDS + 1), "expansion");
    int64_t skip = chords_walk(c, 0) / CHORDS;
    chords_walk(c, skip > 0 ? skip : 1);
}

/* First k >= 1 such that key[k] <= x, at most CHORDS (key is descending). */
static int chord_find(const double *key, double x)
{
    int lo = 0, hi = CHORDS;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (key[mid] > x)
            lo = mid;
        else
            hi = mid;
    }
    return hi;
}

static double chord_tau(const struct cosmo *c, double aexp)
{
    const double *a = c->chord[0], *tau = c->chord[1];
    int k = chord_find(a, aexp);
    double w = (aexp - a[k - 1]) / (a[k] - a[k - 1]);
    return tau[k] * w + tau[k - 1] * (1 - w);
}

static void chord_at(const struct cosmo *c, double tau, double *aexp, double *hexp)
{
    int k = chord_find(c->chord[1], tau);
    double w = (tau - c->chord[1][k - 1]) / (c->chord[1][k] - c->chord[1][k - 1]);
    *aexp = c->chord[0][k] * w + c->chord[0][k - 1] * (1 - w);
    *hexp = c->chord[2][k] * w + c->chord[2][k - 1] * (1 - w);
}
