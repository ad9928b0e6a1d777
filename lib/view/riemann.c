/* view/riemann: see riemann.h. Equations of Toro (2009), chapter 4; gas that expands into a vacuum
 * moves freely there, so that the velocity is x/t between the fronts. */
#include "view/riemann.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "oct/gas_kern.h"

static double sound(const struct riemann_state *a, double gamma)
{
    return a->density > 0 ? sqrt(gas_sound2(a->density, a->pressure, gamma)) : 0;
}

/* Mass flux through a shock from state a to the pressure p. */
static double mass_flux(const struct riemann_state *a, double p, double gamma)
{
    return sqrt(0.5 * a->density * ((gamma + 1) * p + gas_gm1(gamma) * a->pressure));
}

/* Ratio of the sound speeds behind and before a rarefaction from state a to the pressure p. */
static double cooling(const struct riemann_state *a, double p, double gamma)
{
    return a->pressure > 0 ? pow(p / a->pressure, gas_gm1(gamma) / (2 * gamma)) : 1;
}

/* Change of the velocity across the wave from state a to the pressure p (4.6, 4.7). */
static double change(const struct riemann_state *a, double p, double gamma)
{
    double q = cooling(a, p, gamma);
    if (p > a->pressure) return (p - a->pressure) / mass_flux(a, p, gamma);
    return 2 * sound(a, gamma) / gas_gm1(gamma) * (q - 1);
}

/* By how much the gas between the waves would expand at the pressure p (4.5). */
static double excess(const struct riemann_problem *r, double p)
{
    const struct riemann_state *a = r->side;
    return change(&a[0], p, r->gamma) + change(&a[1], p, r->gamma) + a[1].velocity - a[0].velocity;
}

void riemann_solve(struct riemann_problem *r)
{
    const struct riemann_state *a = r->side;
    double lo = 0, hi = fmax(fmax(a[0].pressure, a[1].pressure), DBL_MIN), p = 0;
    r->pressure = 0;
    for (int k = 0; k < 2; k++) { /* fronts of an expansion into vacuum */
        double front = 2 * sound(&a[k], r->gamma) / gas_gm1(r->gamma);
        r->velocity[k] = a[k].density > 0 ? a[k].velocity + (k ? -front : front)
                                          : (k ? INFINITY : -INFINITY);
    }
    if (r->velocity[0] <= r->velocity[1]) return;
    while (excess(r, hi) < 0) hi *= 2;
    while ((p = lo + 0.5 * (hi - lo)) > lo && p < hi) {
        if (excess(r, p) < 0)
            lo = p;
        else
            hi = p;
    }
    r->pressure = p;
    r->velocity[0] = r->velocity[1] = 0.5 * (a[0].velocity - change(&a[0], p, r->gamma) +
                                             a[1].velocity + change(&a[1], p, r->gamma));
}

/* State at the speed s = x/t on the left of the contact: a behind or before its wave, beyond which
 * the pressure is p and the velocity u. */
static struct riemann_state left_at(const struct riemann_state *a, double p, double u, double s,
                                    double gamma)
{
    double c = sound(a, gamma), g = gas_gm1(gamma) / (gamma + 1);
    if (p > a->pressure) {
        double ahead = p + g * a->pressure, behind = g * p + a->pressure;
        if (s < a->velocity - mass_flux(a, p, gamma) / a->density) return *a;
        return (struct riemann_state){a->density * ahead / behind, u, p};
    }
    double q = cooling(a, p, gamma);
    if (a->density == 0 || s <= a->velocity - c) return *a;
    if (s < u - q * c) /* inside the fan (4.56) */
        q = fmax(2 / (gamma + 1) + g * (a->velocity - s) / c, 0), u = s + q * c;
    return (struct riemann_state){a->density * pow(q, 2 / gas_gm1(gamma)), u,
                                  a->pressure * pow(q, 2 * gamma / gas_gm1(gamma))};
}

struct riemann_state riemann_at(const struct riemann_problem *r, double x, double t)
{
    double s = t > 0 ? x / t : x < 0 ? -INFINITY : INFINITY;
    if (s > r->velocity[0] && s < r->velocity[1]) return (struct riemann_state){0, s, 0};
    if (s < r->velocity[1]) return left_at(&r->side[0], r->pressure, r->velocity[0], s, r->gamma);
    struct riemann_state b = r->side[1]; /* the right side is the mirror image of the left one */
    b.velocity = -b.velocity;
    b = left_at(&b, r->pressure, -r->velocity[1], -s, r->gamma);
    b.velocity = -b.velocity;
    return b;
}
