/* cool/grackle: Grackle's public tables (HDF5: CloudyData_*.h5; Smith et al. 2017) → tables of
 * cool/exact.h.
 *
 * A file has, per density and temperature, perhaps per redshift, the cooling and heating of
 * hydrogen and helium, their mean molecular weight, and cooling and heating by metals of solar
 * metallicity (0.01295 of the mass). The table gets their densities, redshifts and temperatures;
 * cooling and heating by the microwave background, which Grackle adds itself, is included. */
#pragma once
#include "cool/exact.h"

struct grackle;

MUST_USE enum err grackle_read(const char *path, struct grackle **out);
void grackle_free(struct grackle *g);
/* The axes of the file; M and the limits of metallicity are the caller's, as are redshifts where
 * the file has none. (lent) */
void grackle_shape(const struct grackle *g, struct exact_shape *s);
enum err grackle_fill(const struct exact_shape *s, int k, double *rate, double *mu,
                      const void *grackle);
