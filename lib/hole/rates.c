#include "hole/rates.h"

#include <math.h>

#include "base/cgs.h"

static const double COULOMB = 3.2;
/* Mach numbers between which the drag is constant */
static const double SUBSONIC = 0.95, SUPERSONIC = 1.007;
static const double SERIES = 0.02; /* Mach number below which the terms of the logarithm cancel */

double hole_bondi(double G, double mass, double rho, double cs2, double v2)
{
    double s2 = cs2 + v2, reach = G * mass;
    return s2 > 0 ? 4 * M_PI * (reach * reach) * rho / (s2 * sqrt(s2)) : 0;
}

double hole_boost(double excess, double power)
{
    return excess > 1 && power > 0 ? pow(excess, power) : 1;
}

double hole_eddington(double efficiency)
{
    return 4 * M_PI * CGS_G * CGS_MP / (efficiency * CGS_THOMSON * CGS_C);
}

double hole_kernel(double G, double mass, double cs2, double v2, double dx)
{
    double s2 = cs2 + v2, max = 2 * dx;
    if (!(G * mass < max * s2)) return max;
    return fmax(G * mass / s2, 0.25 * dx);
}

double hole_drag_mach(double mach)
{
    double m2 = mach * mach;
    if (mach < SERIES) return mach * (1.0 / 3 + m2 * (1.0 / 5 + m2 / 7));
    if (mach <= SUBSONIC) return (0.5 * log((1 + mach) / (1 - mach)) - mach) / m2;
    if (mach < SUPERSONIC) return 1;
    return (0.5 * log(m2 - 1) + COULOMB) / m2;
}

double hole_drag(double G, double mass, double rho, double cs, double speed)
{
    double scale = 4 * M_PI * (G * G) * mass * rho / (cs * cs);
    double mach = speed / cs;
    if (mach < SERIES) return scale / cs * (1.0 / 3 + mach * mach * (1.0 / 5 + mach * mach / 7));
    return scale * hole_drag_mach(mach) / speed;
}
