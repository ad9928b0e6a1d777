/* halo/mass_function: the mass function of a catalogue and the fit of Tinker et al. (2008, ApJ
 * 688, 709) for spheres of 200 times the mean density, with the linear spectrum of Eisenstein & Hu
 * (1998, ApJ 496, 605, without oscillations). */
#include "halo/mass_function.h"

#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "base/text.h"
#include "cosmo/cosmo.h"

enum { PER_DECADE = 4, STEPS = 2000, COMPLETE = 50 };

/* ---- the fit ---- */

struct linear {
    double omega_m, omega_b, h, ns, norm;
};

/* Shape of the linear spectrum, k in h/Mpc (Eisenstein & Hu 1998, eqs 26, 28-31). */
static double spectrum(const struct linear *l, double k)
{
    const double theta = 2.7255 / 2.7;
    double m = l->omega_m * l->h * l->h, b = l->omega_b * l->h * l->h, f = l->omega_b / l->omega_m;
    double s = 44.5 * log(9.83 / m) / sqrt(1 + 10 * pow(b, 0.75));
    double alpha = 1 - 0.328 * log(431 * m) * f + 0.38 * log(22.3 * m) * f * f;
    double gamma = l->omega_m * l->h * (alpha + (1 - alpha) / (1 + pow(0.43 * k * l->h * s, 4)));
    double q = k * theta * theta / gamma, l0 = log(2 * M_E + 1.8 * q),
           c0 = 14.2 + 731 / (1 + 62.5 * q), t = l0 / (l0 + c0 * q * q);
    return pow(k, l->ns) * t * t;
}

/* Variance of the density in spheres of radius r, Mpc/h. */
static double variance(const struct linear *l, double r)
{
    const double from = log(1e-4), to = log(1e3 / r + 10), step = (to - from) / STEPS;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double k = exp(from + (i + 0.5) * step), x = k * r;
        double w = x < 0.01 ? 1 : 3 * (sin(x) - x * cos(x)) / (x * x * x);
        sum += k * k * k * spectrum(l, k) * w * w * step;
    }
    return l->norm * sum;
}

/* f(σ) for 200 times the mean density (Tinker et al. 2008, eqs 3, 5-8, table 2). */
static double tinker(double sigma, double z)
{
    double alpha = pow(10, -pow(0.75 / log10(200 / 75.0), 1.2)), z1 = 1 + fmin(z, 3);
    double a = 1.47 * pow(z1, -0.06), b = 2.57 * pow(z1, -alpha), norm = 0.186 * pow(z1, -0.14);
    return norm * (pow(sigma / b, -a) + 1) * exp(-1.19 / (sigma * sigma));
}

/* dn/dln m in 1/(Mpc/h)³, m in Msun/h. */
static double fit_at(const struct linear *l, double growth, double z, double m)
{
    const double mean = RHO_CRIT_MSUN_MPC * l->omega_m, step = 0.01;
    double r = cbrt(3 * m / (4 * M_PI * mean));
    double sigma = growth * sqrt(variance(l, r));
    double slope = log(variance(l, r * exp(-step / 3)) / variance(l, r * exp(step / 3))) / 4 / step;
    return tinker(sigma, z) * mean / m * slope;
}

double mass_of_curve(const struct mass_function *f, int k)
{
    double lo = f->bin[0].lo, hi = f->bin[f->n - 1].hi;
    return lo * pow(hi / lo, (double)k / (MASS_CURVE - 1));
}

static void fit_bins(struct mass_function *f, const struct halo_box *b, double omega_b)
{
    struct cosmo_par p = {
        .omega_m = b->omega_m, .omega_l = b->omega_l, .omega_k = b->omega_k, .dark = b->dark};
    struct linear l = {b->omega_m, omega_b, b->h0 / 100, f->ns, 1};
    double growth = cosmo_growth(&p, b->aexp) / cosmo_growth(&p, 1);
    l.norm = f->sigma8 * f->sigma8 / variance(&l, 8);
    for (int i = 0; i < f->n; i++)
        f->bin[i].fit = fit_at(&l, growth, f->redshift, sqrt(f->bin[i].lo * f->bin[i].hi));
    for (int k = 0; k < MASS_CURVE; k++)
        f->curve[k] = fit_at(&l, growth, f->redshift, mass_of_curve(f, k));
}

/* ---- the halos ---- */

struct mass_function mass_function_of(const struct halo_table *t, double omega_b, double sigma8,
                                      double ns)
{
    const struct halo_box *b = t->box;
    const struct halo_list *l = t->list;
    double unit = halo_solar(b) * (b->cosmo ? b->h0 / 100 : 1);
    double side = b->cosmo ? b->boxlen_ini : b->boxlen, width = M_LN10 / PER_DECADE;
    struct mass_function f = {.complete = COMPLETE * l->lightest * unit,
                              .sigma8 = sigma8,
                              .ns = ns,
                              .redshift = b->cosmo ? 1 / b->aexp - 1 : 0};
    double min = INFINITY, max = 0;
    for (int64_t i = 0; i < l->n; i++) {
        double m = l->at[i].m[HALO_200M] * unit;
        if (m > 0) min = fmin(min, m), max = fmax(max, m);
    }
    if (!(max > 0)) return f;
    double first = floor(log10(min) * PER_DECADE);
    f.n = (int)(floor(log10(max) * PER_DECADE) - first) + 1;
    f.bin = mem_zero(sizeof *f.bin * (size_t)f.n, "mass function");
    for (int64_t i = 0; i < l->n; i++) {
        double m = l->at[i].m[HALO_200M] * unit;
        if (m > 0) f.bin[(int)(floor(log10(m) * PER_DECADE) - first)].n++;
    }
    for (int i = 0; i < f.n; i++) {
        struct mass_bin *q = &f.bin[i];
        double n = (double)q->n, each = 1 / (side * side * side * width);
        q->lo = pow(10, (first + i) / PER_DECADE), q->hi = pow(10, (first + i + 1) / PER_DECADE);
        q->dn = n * each;
        q->high = (n + 1 + sqrt(n + 0.75)) * each;
        q->low = n > 0 ? n * pow(1 - 1 / (9 * n) - 1 / (3 * sqrt(n)), 3) * each : 0;
        q->fit = NAN;
    }
    if (b->cosmo) fit_bins(&f, b, omega_b);
    return f;
}

void mass_function_tsv(FILE *out, const struct mass_function *f, const char *path)
{
    fprintf(out,
            "# ptah mass function 1\n# source\t%s\n# redshift\t%.9g\n# fit\tTinker et al. 2008, "
            "200m, sigma8 %g, ns %g\n# complete\t%.6g\tMsun/h\n"
            "#from [Msun/h]\tto [Msun/h]\thalos\tdn/dlnm [(h/Mpc)^3]\tlow\thigh\tfit\n",
            path, f->redshift, f->sigma8, f->ns, f->complete);
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        put_number(out, 6, b->lo);
        fputc('\t', out);
        put_number(out, 6, b->hi);
        fprintf(out, "\t%ld", (long)b->n);
        const double x[] = {b->dn, b->low, b->high, b->fit};
        for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
            fputc('\t', out);
            put_number(out, 6, x[k]);
        }
        fputc('\n', out);
    }
}
