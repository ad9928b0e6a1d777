/* cool/ism: see ism.h. Rates: fine structure lines of C+ and O, and grains, as in Wolfire et al.
 * (1995); electrons by equation C15 of Wolfire et al. (2003); metastable lines of C+ and O from
 * Hollenbach & McKee (1989); Lyman α from Spitzer (1978). Constants are RAMSES's, which has some of
 * them in single precision (suffix f): rates differ by 1e-7 from those of the written digits. */
#include "cool/ism.h"

#include <math.h>

#include "base/cgs.h"

/* gas-phase abundance per hydrogen nucleus */
static const double CARBON = 3.5e-4 * 0.4, OXYGEN = 4.5e-4;
static const double FIELD = 1 / 1.7; /* ultraviolet field in units of Habing's */
static const double HOT = 10035;     /* K; temperature above which hydrogen is ionised */

/* A line. Cooling per ion and hydrogen nucleus: energy · weight (electrons T4^slope x + atoms)
 * exp(−K/T). slope: below and above 1e4 K. */
struct line {
    double K, weight, electrons, slope[2], atoms, abundance;
};
static const struct line LINES[] = {
    {6.2e4, 1, 2.3e-8, {-0.5, -0.5}, 1e-12, 3.5e-4 * 0.4f}, /* lines of C+, then O */
    {2.3e4, 1 / 3., 5.1e-9, {0.57f, 0.17f}, 1e-12, 4.5e-4},
    {4.9e4, 1 / 3., 2.5e-9, {0.57f, 0.13f}, 1e-12, 4.5e-4},
    {2.6e4, 1, 5.2e-9, {0.57f, 0.15f}, 1e-12, 4.5e-4},
};

static double metastable(double T, double x)
{
    double sum = 0;
    for (int i = 0; i < (int)(sizeof LINES / sizeof *LINES); i++) {
        const struct line *l = &LINES[i];
        double rate = l->electrons * pow(T / 1e4, l->slope[T > 1e4]) * x + l->atoms;
        sum += l->abundance * l->K * RAMSES_KB_LINES * l->weight * rate * exp(-l->K / T);
    }
    return sum;
}

static double fine_structure(double T, double x)
{
    double T100 = T / 100;
    double carbon = 92 * RAMSES_KB_LINES * 2 *
                    (2.8e-7 * pow(T100, -0.5) * x + 8e-10 * pow(T100, 0.07)) * CARBON *
                    exp(-92 / T);
    double oxygen = 1e-26 * sqrt(T) * (24 * exp(-228 / T) + 7 * exp(-326 / T)) * OXYGEN;
    return carbon + oxygen;
}

static double rate_neutral(double n, double T)
{
    double x = 2.4e-3 * pow(T / 100, 0.25) / 0.5 / n; /* electrons per hydrogen nucleus */
    x = fmax(fmin(x, 0.1), CARBON);
    double charge = FIELD * sqrt(T) / (n * x); /* grain charging parameter */
    double lyman = 7.3e-19 * x * exp(-118400 / T);
    double grains = 4.65e-30 * pow(T, 0.94f) * pow(charge, 0.74f / pow(T, 0.068f)) * x;
    double heating = 1e-24 * FIELD *
                     (4.9e-2 / (1 + pow(charge / 1925, 0.73f)) +
                      3.7e-2 * pow(T / 1e4, 0.7f) / (1 + charge / 5e3));
    double cooling = fine_structure(T, x) + metastable(T, x) + lyman + grains;
    return n * heating - n * n * cooling;
}

/* Cooling of ionised gas (Sutherland & Dopita 1993), piecewise: log10 rate = slope log10 T +
 * shift. */
static double rate_ionised(double n, double T)
{
    static const struct {
        double to, slope, shift;
    } piece[] = {{4.25f, 12.64f, -75.56f},  {4.35f, -0.3f, -20.565f},  {4.9f, 1.745f, -29.463f},
                 {5.4f, 0, -20.9125f},      {5.9f, -1.795f, -11.219f}, {6.2f, 0, -21.8095f},
                 {6.7f, -1.261f, -13.991f}, {INFINITY, 0, -22.44f}};
    double x = log10(T);
    int i = 0;
    while (x >= piece[i].to) i++;
    return -n * n * pow(10, piece[i].slope * x + piece[i].shift);
}

static double rate(double n, double T, bool ionised)
{
    return ionised ? rate_ionised(n, T) : rate_neutral(n, T);
}

double ism_rate(double n, double T)
{
    return rate(n, T, T >= HOT);
}

/* Linearised implicit steps as in RAMSES: T changes by at most a fifth per step, and the step grows
 * while T changes by less. */
static double solve_cell(double n, double T, double gamma, double dt, int64_t *steps)
{
    enum { MAX = 20000 };
    const double heat = n * CGS_KB / (gamma - 1), growth = pow(10, 0.1), limit = 0.2;
    double time = 0, step = 0, offset = 1e-5;
    for (int k = 0; time < dt; k++) {
        bool ionised = !(T < HOT);
        double r = rate(n, T, ionised);
        double slope = (rate(n, T * (1 + offset), ionised) - r) / (T * offset);
        if (k == 0) step = slope != 0 ? fabs(0.1 * heat / slope) : 0.1 * dt;
        if (step > 0.7 * (dt - time) || k == MAX) step = (dt - time) * (1 + 1e-12);
        double change = r / (heat / step - slope), relative = fabs(change / T);
        if (relative > limit) change = copysign(limit * T, change);
        T += change;
        time += step;
        step *= growth * limit / fmax(growth * relative, limit);
        offset = relative > 0 ? relative : 1e-5;
        ++*steps;
    }
    return T;
}

void solve_ism(double mu, double gamma, double dt, struct solve_cells *c)
{
    for (int k = 0; k < c->n; k++)
        c->T2[k] = solve_cell(c->nH[k], c->T2[k] * mu, gamma, dt, &c->steps) / mu;
}
