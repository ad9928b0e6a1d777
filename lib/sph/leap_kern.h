/* sph/leap_kern: the leapfrog of a particle (Price et al. 2018, section 2.3.3) and the step that it
 * allows, on the host and on devices. Private header of the module. */
#pragma once
#include <float.h>

#include "smooth/eos_kern.h"

/* Half a kick and a drift. */
PTAH_HD void leap_drift(double half, double dt, double a, double *v, double *x)
{
    *v += half * a;
    *x += dt * *v;
}

/* α of the switch after a step. */
PTAH_HD double leap_alpha(const struct smooth_par *p, double dt, double alpha, double loc,
                          double divv, double h, double u, const double x[3])
{
    double pressure, c;
    smooth_eos_at(p, smooth_density_of(p, h), u, x, &pressure, &c);
    return smooth_alpha_next(p, alpha, loc, divv, c, h, dt);
}

/* The factors of Courant conditions: of signals, and of accelerations. */
struct leap_limits {
    double cfl, cfl_force;
};

/* The longest step that a particle allows; DBL_MAX: any. */
PTAH_HD double leap_limit(const struct smooth_par *p, const struct leap_limits *q, double h,
                          double u, double vsig, const double a[3], const double x[3])
{
    double pressure, c;
    smooth_eos_at(p, smooth_density_of(p, h), u, x, &pressure, &c);
    const bool follows = p->alpha_switch == SMOOTH_CD10 || p->alpha_switch == SMOOTH_MM97;
    const double alpha = follows ? p->alpha_min : p->alpha_max;
    const double speed = fmax(vsig, c) * fmax(alpha, 1);
    const double a2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    const double courant = speed > 0 ? q->cfl * h / speed : DBL_MAX;
    const double force = a2 > 0 ? q->cfl_force * sqrt(h / sqrt(a2)) : DBL_MAX;
    return fmin(courant, force);
}
