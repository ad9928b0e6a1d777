/* phys/units: see units.h. */
#include "phys/units.h"

static const double M_H = 1.6605390e-24, K_B = 1.3806490e-16; /* RAMSES's cgs values */
static const double HYDROGEN = 0.76;                          /* share of the mass, as in RAMSES */

struct units units_of(double length, double density, double time)
{
    struct units s = {.length = length, .density = density, .time = time};
    s.velocity = s.length / s.time;
    s.mass = s.density * s.length * s.length * s.length;
    s.temperature = M_H / K_B * (s.velocity * s.velocity);
    s.hydrogen = HYDROGEN / M_H * s.density;
    return s;
}

struct units units_at(const struct param_units *u, const struct cosmo_par *cosmo, double a)
{
    double length = u->units_length, density = u->units_density, time = u->units_time;
    if (cosmo) cosmo_units(cosmo, a, &length, &density, &time);
    return units_of(length, density, time);
}
