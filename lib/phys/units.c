#include "phys/units.h"

#include "base/cgs.h"

struct units units_of(double length, double density, double time)
{
    struct units s = {.length = length, .density = density, .time = time};
    s.velocity = s.length / s.time;
    s.mass = s.density * s.length * s.length * s.length;
    s.temperature = RAMSES_MH / CGS_KB * (s.velocity * s.velocity);
    s.hydrogen = RAMSES_HYDROGEN / RAMSES_MH * s.density;
    return s;
}

struct units units_at(const struct param_units *u, const struct cosmo_par *cosmo, double a)
{
    double length = u->units_length, density = u->units_density, time = u->units_time;
    if (cosmo) cosmo_units(cosmo, a, &length, &density, &time);
    return units_of(length, density, time);
}
