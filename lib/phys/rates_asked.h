/* phys/rates_asked: from parameters and the cosmology to the rates that cool the gas. */
#pragma once
#include "cool/cool.h"
#include "cosmo/cosmo.h"
#include "param/param.h"

/* c: NULL without cosmology. Paths are lent by par. */
struct cool_par rates_asked(const struct params *par, const struct cosmo_par *c);
