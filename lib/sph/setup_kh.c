/* sph/setup_kh: the Kelvin-Helmholtz instability with a smooth layer (Robertson et al. 2010): in
 * the box 0 ≤ x, y < 1, a thin slab along z,
 *
 *     ρ = ρ0 (1 + R(y)),  v_x = −½ + R(y),  v_y = 0.1 sin 2πx,  P = 2.5,
 *     R(y) = 1/[(1 + exp(−2(y−¼)/Δ)) (1 + exp(2(y−¾)/Δ))],  Δ = 0.05.
 *
 * Particles of equal mass: a lattice whose rows move along y until the mass below each is that of
 * the profile. */
#include <math.h>

#include "sph/setup.h"

static const double WIDTH = 0.05, LOWER = 0.25, UPPER = 0.75;

static double ramp(double y)
{
    const double a = 2 / WIDTH;
    return 1 / ((1 + exp(-a * (y - LOWER))) * (1 + exp(a * (y - UPPER))));
}

/* ∫ R dy, but for a constant. With s(y) = ln(1 + exp(−a(y−y_i)))/a and e = exp(−a(y_2−y_1)),
 * R = [1/(1 + exp(a(y−y_2))) − e/(e + exp(a(y−y_2)))]/(1 − e): both terms are logistic. */
static double ramp_integral(double y)
{
    const double a = 2 / WIDTH, e = exp(-a * (UPPER - LOWER));
    return (log1p(exp(-a * (y - LOWER))) - log1p(exp(-a * (y - UPPER)))) / (a * (1 - e));
}

/* Mass below y over that of density 1. */
static double mass_below(double y)
{
    return y + ramp_integral(y) - ramp_integral(0);
}

/* y of a fraction of the mass, by Newton's method within a bracket. */
static double height(double fraction)
{
    const double target = fraction * mass_below(1);
    double lo = 0, hi = 1, y = fraction;
    for (int step = 0; step < 60; step++) {
        const double excess = mass_below(y) - target;
        if (excess > 0)
            hi = y;
        else
            lo = y;
        const double next = y - excess / (1 + ramp(y)), old = y;
        y = next > lo && next < hi ? next : (lo + hi) / 2;
        if (fabs(y - old) < 1e-15) break;
    }
    return y < 1 ? y : 0;
}

static bool kh_at(const struct setup *k, int64_t i, struct setup_point *q)
{
    setup_at(k, i, q->x);
    q->x[1] = height(q->x[1]);
    const double r = ramp(q->x[1]);
    q->rho = k->par->rho0 * (1 + r);
    q->u = setup_energy(k, 2.5, q->rho);
    q->v[0] = r - 0.5;
    q->v[1] = 0.1 * sin(2 * M_PI * q->x[0]);
    return true;
}

enum err setup_kh(struct setup *k)
{
    double step[3];
    setup_steps(k->lattice, step);
    const double dx = 1 / (double)k->par->npx, mean = mass_below(1);
    /* where the density is least, a particle has `mean` times the mean volume */
    const double thin = setup_thickness(k, mean * dx * dx * dx * step[1] * step[2]);
    const int64_t planes = 2 * (int64_t)ceil(thin / (2 * step[2] * dx));
    const double side[3] = {1, 1, (double)planes * step[2] * dx};
    setup_whole(k, (const double[]){0, 0, -side[2] / 2}, side);
    k->mass = k->par->rho0 * mean * side[2];
    k->place = kh_at;
    return OK;
}
