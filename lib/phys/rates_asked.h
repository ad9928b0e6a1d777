/* phys/rates_asked: parameters of the cooling rates, from the parameters of the run and the
 * cosmology. */
#pragma once
#include "cool/cool.h"
#include "cosmo/cosmo.h"
#include "param/param.h"

/* Parameters of the rates; c: NULL without cosmology. Paths are lent by par. */
struct cool_par rates_asked(const struct params *par, const struct cosmo_par *c);
