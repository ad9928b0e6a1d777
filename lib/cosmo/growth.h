/* cosmo/growth: linear growth and distances of universes with any dark energy. Private to cosmo. */
#pragma once
#include "cosmo/cosmo.h"

/* a dΩ_Λ(a)/da of cosmo_dark_density. */
double cosmo_dark_slope(const struct cosmo_par *p, double a);
/* Growth factor, D = a at early times; *rate, unless NULL: dlnD/dlna. */
double growth_at(const struct cosmo_par *p, double a, double *rate);
/* ∫ da/(a² E) from a to 1. */
double distance_panels(const struct cosmo_par *p, double a);
