/* cool/exact: exact integration (Townsend 2009; Zhu, Smith & Li 2017) of a table of net rates.
 *
 * File, little-endian, gzip or not. One redshift: int32 L, M, N (densities, metallicities,
 * temperatures); 7 doubles z, log10 n_H min, max, log10 Z/Z_sun min, max, log10 T min, max; N
 * doubles log10 T; L×M×N doubles net rate in erg/cm³/s, T fastest, cooling negative; L×M×N doubles
 * mu. Several redshifts: int32 nz, L, M, N; nz doubles z, ascending; the 6 limits and an unused
 * double; N doubles log10 T; per z the rates, then mu. Densities and metallicities are
 * equidistant. */
#pragma once
#include <stdbool.h>

#include "cool/solve.h"

struct exact_table;

/* Reads a table. An error if the file is truncated, has an invalid shape or values that are not
 * finite. */
MUST_USE enum err exact_read(const char *path, struct exact_table **out);
void exact_free(struct exact_table *t);
/* Sets the redshift of the rates: a power of 1+z between redshifts, a straight line where a rate
 * changes sign, constant beyond the ends. */
void exact_set(struct exact_table *t, double z);
/* Advances cells over dt seconds. */
void solve_exact(const struct exact_table *t, double dt, struct solve_cells *c);
/* The integrated net cooling per n_H², for tests. */
double exact_rate(const struct exact_table *t, double nH, double Z, double T2);

/* Axes of a table to be written; a single redshift selects the short form. */
struct exact_shape {
    int L, M, N, nz;
    const double *z;        /* [nz] redshifts, ascending */
    const double *T;        /* [N] log10 T; NULL: equidistant */
    double low[3], high[3]; /* limits of log10 n_H, Z/Z_sun, T */
};
double exact_point(const struct exact_shape *s, int axis, int i); /* log10 of axis point i */
/* Fills the net rates [L][M][N] in erg/cm³/s, cooling negative, and mu, at redshift index k. */
typedef enum err exact_fill(const struct exact_shape *s, int k, double *rate, double *mu,
                            const void *ctx);
/* Writes a table, compressed if the path ends in .gz. The file gets its name when complete. */
MUST_USE enum err exact_write(const char *path, const struct exact_shape *s, exact_fill *fill,
                              const void *ctx);
/* The original model: gas in equilibrium with an ultraviolet background. */
struct exact_model {
    const struct uv *uv;
    bool cosmo;
};
enum err exact_fill_model(const struct exact_shape *s, int k, double *rate, double *mu,
                          const void *model);
