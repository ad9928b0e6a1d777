/* smooth/eos_kern: density, pressure and speed of sound of a particle, what pairs need of it, and
 * its heating, on the host and on devices with the same bits. */
#pragma once
#include "oct/gas_kern.h"
#include "smooth/pair_kern.h"
#include "smooth/point_kern.h"

PTAH_HD double smooth_density_of(const struct smooth_par *p, double h)
{
    const double e = p->eta / h;
    return p->mass * (e * e * e);
}

/* c_0 (|x − centre|/r_0)^(−q), with the logarithm and the power of vec/vec.h: the mathematical
 * library of a device has other bits. */
PTAH_HD double smooth_local_speed(const struct smooth_par *p, const double x[3])
{
    const double d[3] = {x[0] - p->centre[0], x[1] - p->centre[1], x[2] - p->centre[2]};
    double far2 = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (p->r0 * p->r0);
    if (!(far2 > 1e-300)) far2 = 1e-300; /* a number whose logarithm exists */
    return p->c0 * vec_first(vec_exp2(vec_of(-0.5 * p->q) * vec_log2(vec_of(far2))));
}

PTAH_HD void smooth_eos_at(const struct smooth_par *p, double rho, double u, const double x[3],
                           double *pressure, double *speed)
{
    if (p->eos == SMOOTH_ADIABATIC) {
        *pressure = gas_pressure(rho * u, p->gamma);
        const double c2 = gas_sound2(rho, *pressure, p->gamma);
        *speed = sqrt(c2 > 0 ? c2 : 0);
        return;
    }
    *speed = p->eos == SMOOTH_ISOTHERMAL ? p->c0 : smooth_local_speed(p, x);
    *pressure = rho * (*speed * *speed);
}

PTAH_HD struct smooth_self smooth_self_of(const struct smooth_par *p, double h, double omega,
                                          double u, const double x[3])
{
    const double rho = smooth_density_of(p, h), h2 = h * h;
    const double per_h4 = kern_norm(p->kernel) / (h2 * h2), dense = omega * rho;
    struct smooth_self a;
    smooth_eos_at(p, rho, u, x, &a.pressure, &a.c);
    a.vx = a.vy = a.vz = 0; /* the caller sets these, and α */
    a.alpha_c = a.c;
    a.per_h = 1 / h;
    a.weight = per_h4 / (dense * rho);
    a.half_rho = 0.5 * rho;
    a.h = h;
    a.conduct = 0.5 * (per_h4 / dense);
    a.u = u;
    return a;
}

/* α after a step dt with the signal speed of sound in the particle (smooth_alpha_after). */
PTAH_HD double smooth_alpha_next(const struct smooth_par *p, double alpha, double loc, double divv,
                                 double speed, double h, double dt)
{
    const double rate = p->sigma * speed / h; /* 1/τ */
    return smooth_alpha_after(p, alpha, loc, divv, rate * dt, dt);
}

/* du/dt from the sums over pairs (pair_kern.h). */
PTAH_HD double smooth_heating(const struct smooth_par *p, double weight, double pressure,
                              double work, double viscous, double conducted)
{
    const double m = p->mass;
    if (p->eos != SMOOTH_ADIABATIC) return 0;
    double du = m * conducted;
    if (p->pdv_heating) du += m * weight * pressure * work;
    if (p->shock_heating) du += m * weight * viscous;
    return du;
}
