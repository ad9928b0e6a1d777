/* phys/floor: the temperature that dense gas has whatever cools it: the polytrope, the Jeans floor
 * and the barotropic equations of state of RAMSES (docs/method/cooling.md). T2 = T/mu in K. */
#pragma once
#include "cooldev/cell_kern.h"
#include "cosmo/cosmo.h"
#include "param/param.h"
#include "phys/units.h"

/* Is the energy of the gas that of the floor alone (isothermal, barotropic_eos)? */
bool floor_rules(const struct params *p);
/* u: units at aexp; cosmo: NULL without. */
struct temperature_floor floor_at(const struct params *p, const struct cosmo_par *cosmo,
                                  const struct units *u, double aexp);
/* T2 in K of gas of density nH in H/cm³. */
double floor_T2(const struct temperature_floor *f, double nH);
/* Of dense gas, H/cm³: n_star, or with cosmology del_star times the mean density of the gas if that
 * is more. Stars form above it; the polytrope has t2_star there. */
double floor_dense(const struct params *p, const struct cosmo_par *cosmo, const struct units *u,
                   double aexp);
