/* hydro/steep_kern: refinement by gradients of one cell: the quantities, and the relative jumps
 * across its faces. For hosts (flag.c) and devices. Private to hydro and mhd.
 * (docs/method/step.md) */
#pragma once
#include <math.h>

#include "hydro/hydro.h"
#include "hydro/point_kern.h"

/* From density (with its floor), momenta and total energy; may be below zero. */
PTAH_HD double steep_pressure(double r, double mx, double my, double mz, double e, double gamma)
{
    double vx = mx / r, vy = my / r, vz = mz / r;
    return gas_pressure(gas_internal_state(e, r, vx, vy, vz), gamma);
}

/* Quantity v, by the number of its variable: density, a velocity component, pressure. u: variable
 * v. */
PTAH_HD double steep_quantity(int v, double r, double u, double p)
{
    return v == 0 ? r : v == GAS_ENERGY ? p : u / r;
}

/* The floor of non-thermal energy k. The criterion is of its pressure, to which it is proportional.
 */
PTAH_HD double steep_energy_floor(const struct hydro_par *p, int k)
{
    return gas_internal_of(p->floor_energy[k], p->energy.gamma[k]);
}

/* Sound speed, at least the square root of floor2. */
PTAH_HD double steep_sound(double r, double p, double gamma, double floor2)
{
    return sqrt(hydro_max(gas_sound2(r, p, gamma), floor2));
}

/* Denominator of the relative difference of two cells: the sum of both values and a floor; for
 * velocities the sum of both sound speeds, both speeds and the floor. */
PTAH_HD double steep_scale(int velocity, double xl, double cl, double xu, double cu, double floor)
{
    return velocity ? cl + cu + fabs(xu) + fabs(xl) + floor : xl + xu + floor;
}

/* Whether 2 max(|jump to the right|, |jump from the left|) > limit. */
PTAH_HD int steep_exceeds(double left, double right, double sl, double sr, double limit)
{
    return 2.0 * hydro_max(fabs(right / sr), fabs(left / sl)) > limit;
}
