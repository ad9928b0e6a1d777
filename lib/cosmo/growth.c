/* cosmo/growth: dark energy that is no constant.
 *
 * Heath's integral holds for matter, curvature and a cosmological constant only. In general the
 * growing mode obeys, with x = ln a, f = dlnD/dx and E = H/H0,
 *
 *     f' = 3/2 Ω_m/(a³E²) − f² − (2 + dlnE/dx) f,    (ln D)' = f,
 *
 * which is integrated by the classical Runge-Kutta method of fourth order from a = 1e-8, where f =
 * 1 and D = a, in steps of 1/256: the error is 1e-11. The growing mode attracts, so an error of the
 * start decays as a^(−5/2). Distances are sums of Gauss-Legendre panels, each an eighth of an
 * e-fold. */
#include "cosmo/growth.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <stddef.h>

#include "base/mem.h"

/* Early dark energy and its a d/da. The density of all else at a_early is that of matter, curvature
 * and the constant. */
static double early(const struct cosmo_par *p, double a, double *slope)
{
    const struct cosmo_dark *d = &p->dark;
    double e = d->a_early, power = 3 * (1 + d->w_early), x = pow(a / e, power),
           rho = d->early * (p->omega_m / (e * e * e) + p->omega_k / (e * e) + p->omega_l) * 2 /
                 (1 + x);
    *slope = -rho * power * x / (1 + x);
    return rho;
}

static double late(const struct cosmo_par *p, double a)
{
    const struct cosmo_dark *d = &p->dark;
    if (d->w1 == 0 && d->wa == 0) return p->omega_l;
    return p->omega_l * exp(-3 * ((d->w1 + d->wa) * log(a) + d->wa * (1 - a)));
}

double cosmo_dark_density(const struct cosmo_par *p, double a)
{
    double slope;
    if (cosmo_is_lambda(&p->dark)) return p->omega_l;
    return late(p, a) + (p->dark.early > 0 ? early(p, a, &slope) : 0);
}

double cosmo_dark_slope(const struct cosmo_par *p, double a)
{
    double slope = 0;
    if (p->dark.early > 0) early(p, a, &slope);
    return slope - 3 * (p->dark.w1 + p->dark.wa * (1 - a)) * late(p, a);
}

/* f' at x. */
static double rate_slope(const struct cosmo_par *p, double x, double f)
{
    double a = exp(x), a3 = a * a * a, curve = p->omega_k * a;
    double y = p->omega_m + curve + cosmo_dark_density(p, a) * a3; /* a³E² */
    double dlny = (curve + (cosmo_dark_slope(p, a) + 3 * cosmo_dark_density(p, a)) * a3) / y;
    double dlne = 0.5 * dlny - 1.5;
    return 1.5 * p->omega_m / y - f * f - (2 + dlne) * f;
}

double growth_at(const struct cosmo_par *p, double a, double *rate)
{
    const double first = log(1e-8), last = log(a);
    int n = (int)ceil((last - first) * 256);
    double h = (last - first) / n, f = 1, lnd = first;
    for (int i = 0; i < n; i++) {
        double x = first + i * h;
        double k1 = rate_slope(p, x, f), f2 = f + 0.5 * h * k1;
        double k2 = rate_slope(p, x + 0.5 * h, f2), f3 = f + 0.5 * h * k2;
        double k3 = rate_slope(p, x + 0.5 * h, f3), f4 = f + h * k3;
        double k4 = rate_slope(p, x + h, f4);
        lnd += h / 6 * (f + 2 * f2 + 2 * f3 + f4);
        f += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    if (rate) *rate = f;
    return exp(lnd);
}

double distance_panels(const struct cosmo_par *p, double a)
{
    gsl_integration_glfixed_table *gauss = gsl_integration_glfixed_table_alloc(16);
    if (!gauss) mem_exhausted("GSL");
    const int n = (int)ceil(fabs(log(a)) * 8) + 1;
    const double h = -log(a) / n;
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (size_t j = 0; j < 16; j++) {
            double x, w;
            gsl_integration_glfixed_point(log(a) + i * h, log(a) + (i + 1) * h, j, &x, &w, gauss);
            double b = exp(x); /* da/(a²E) = a² dx/(da/dτ), as da/dτ = a³E */
            sum += w * b * b / cosmo_dadtau(p, b);
        }
    gsl_integration_glfixed_table_free(gauss);
    return sum;
}
