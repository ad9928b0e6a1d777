/* phys/floor: temperature floor of dense gas: the polytrope, the Jeans floor and the barotropic
 * equations of state of RAMSES (docs/method/cooling.md). T2 = T/mu in K. */
#pragma once
#include "cooldev/cell_kern.h"
#include "cosmo/cosmo.h"
#include "param/param.h"
#include "phys/units.h"

/* Whether the energy of the gas equals the floor (isothermal, barotropic_eos). */
bool floor_rules(const struct params *p);
/* Temperature floor; u: units at aexp; cosmo: NULL without cosmology. */
struct temperature_floor floor_at(const struct params *p, const struct cosmo_par *cosmo,
                                  const struct units *u, double aexp);
/* T2 in K at density nH in H/cm³. */
double floor_T2(const struct temperature_floor *f, double nH);
/* Density in H/cm³ above which stars form: n_star, or with cosmology del_star times the mean
 * density of the gas if that is higher. The polytrope has t2_star there. */
double floor_dense(const struct params *p, const struct cosmo_par *cosmo, const struct units *u,
                   double aexp);
