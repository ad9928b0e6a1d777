/* sed/background: the ultraviolet background: homogeneous rates, or photons that enter the box in
 * thin gas and propagate.
 *
 * A file has spectra by redshift, in the layout of RAMSES: Fortran records of the number of
 * redshifts, redshifts, the number of wavelengths, wavelengths (Å), and photons/cm²/s/Å/sr by
 * wavelength and redshift. Without a file homogeneous rates are those of lib/cool (cool/uv.h). */
#pragma once
#include "cool/uv.h"
#include "sed/stars.h"

struct sed_background;
struct sed_background_par {
    const char *path; /* empty: the environment variable RAMSES_UV_FILE, or no file */
    double z_reion;   /* the background begins here, if it is above the last but one redshift */
    struct sed_bands bands; /* of the groups that propagate; n = 0: none */
    /* Background of a run without a file; lent. NULL, or groups that propagate: a file is needed.
     */
    const struct uv *model;
};
/* All ranks return the same error. (collective) */
MUST_USE enum err sed_background_new(const struct comm *c, const struct sed_background_par *par,
                                     struct sed_background **out);
void sed_background_free(struct sed_background **b);

/* Rates of photoionisation (1/s) and heating (erg/s) per ion at a redshift. Local. */
void sed_background_rates(const struct sed_background *b, double z, double ion[SED_IONS],
                          double heat[SED_IONS]);
/* Flux (photons/cm²/s) and properties of each propagating group at a redshift; false above the
 * redshift at which the background begins. Local. */
bool sed_background_groups(const struct sed_background *b, double z, double flux[SED_GROUPS],
                           struct sed_props props[SED_GROUPS]);
/* Raises the densities of photons of own cells of level l to at least density[g] exp(-n_H/n_max),
 * code units: hydrogen is the conversion of gas density to n_H, n_max in 1/cm³. light: the groups
 * that propagate. Local. */
void sed_background_fill(const struct mesh *m, int l, double hydrogen, double n_max,
                         const double density[SED_GROUPS], struct sed_light *light);
