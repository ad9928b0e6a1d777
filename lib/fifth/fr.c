/* fifth/fr: f(R) gravity of Hu & Sawicki 2007 with a background of a cosmological constant.
 *
 * With s = |f_R| = |f_R0| (R̄_0/R)^(n+1) and r = R/(3 H0²) the quasi-static equation (Oyaizu 2008)
 * is ∇²s = a² B² (Ω_m a⁻³ δ + r̄ − r(s)) in a box of length 1, B = H0 L/c, r̄ = Ω_m a⁻³ + 4 Ω_Λ.
 * The fifth force has the potential ψ = a² (s − s̄)/(2 B²), which is a constant away from a² s/(2
 * B²), the ψ of this file: ∇²ψ = Ω_m a δ/2 + (a⁴ r̄/2) (1 − (ψ/ψ̄)^(−1/(n+1))). */
#include <math.h>

#include "fifth/model.h"

enum err fr_set(struct fifth *f, const struct params *p)
{
    const struct param_fr *q = &p->fr;
    if (!(q->fr0 < 0 && q->fr0 > -0.1))
        FAIL(ERR_PARAM, "fr_params/fr0=%g must be below 0 and above -0.1", q->fr0);
    if (q->fr_n < 1 || q->fr_n > 10)
        FAIL(ERR_PARAM, "fr_params/fr_n=%d must be from 1 to 10", q->fr_n);
    f->numbers.amplitude = -q->fr0, f->numbers.index = q->fr_n;
    f->eps = q->fr_eps, f->most = q->n_iter_fr;
    return OK;
}

void fr_law(const struct fifth_numbers *n, double a, struct fifth_law *law)
{
    double now = n->omega_m + 4 * n->omega_l, then = n->omega_m / (a * a * a) + 4 * n->omega_l,
           s = n->amplitude * pow(now / then, n->index + 1);
    law->coupling = 1. / 3;
    law->rate = 0.5 * a * a * a * a * then;
    law->mean = 0.5 * a * a * s / (n->box * n->box);
    law->power = 1 / (n->index + 1);
}

void fr_react(const struct fifth_law *law, const double psi[8], double h[8], double slope[8])
{
    const double mean = law->mean, rate = law->rate, power = law->power;
    double r[8]; /* the curvature over that of the background */
    if (power == 0.5)
        for (int k = 0; k < 8; k++) r[k] = 1 / sqrt(psi[k] / mean);
    else
        for (int k = 0; k < 8; k++) r[k] = pow(psi[k] / mean, -power);
    for (int k = 0; k < 8; k++) h[k] = rate * (1 - r[k]);
    for (int k = 0; k < 8; k++) slope[k] = rate * power * r[k] / psi[k];
}
