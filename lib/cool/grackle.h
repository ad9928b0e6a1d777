/* cool/grackle: conversion of Grackle's public tables (HDF5: CloudyData_*.h5; Smith et al. 2017) to
 * tables of cool/exact.h.
 *
 * A file has, by density and temperature and optionally redshift, cooling and heating of hydrogen
 * and helium, their mean molecular weight, and cooling and heating by metals at solar metallicity
 * (mass fraction 0.01295). The converted table has the densities, redshifts and temperatures of the
 * file; Compton cooling and heating by the microwave background, separate in Grackle, is
 * included. */
#pragma once
#include "cool/exact.h"

struct grackle;

MUST_USE enum err grackle_read(const char *path, struct grackle **out);
void grackle_free(struct grackle *g);
/* Sets the axes from the file; the caller sets M and the limits of metallicity, and the redshifts
 * if the file has none. (lent) */
void grackle_shape(const struct grackle *g, struct exact_shape *s);
enum err grackle_fill(const struct exact_shape *s, int k, double *rate, double *mu,
                      const void *grackle);
