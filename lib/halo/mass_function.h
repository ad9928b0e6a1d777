/* halo/mass_function: number of halos by mass, as a table. */
#pragma once
#include "halo/table.h"

/* The mass function: halos by m200m, in bins of equal width of the logarithm. */
struct mass_bin {
    double lo, hi; /* solar masses/h */
    int64_t n;
    double dn, low, high; /* number per (Mpc/h)³ and ln m; 68 % Poisson limits (Gehrels 1986) */
    double fit;           /* Tinker et al. 2008 at the middle of the bin; NAN: without cosmology */
};
enum { MASS_CURVE = 65 };
struct mass_function {
    int n;
    double curve[MASS_CURVE]; /* the fit, at equal steps of ln m over the range of the bins */
    double complete;          /* mass of 50 particles */
    double sigma8, ns, redshift;
    struct mass_bin *bin; /* bins of the mass function (FREE) */
    const char *title;    /* title of the plot (lent); NULL: none */
};

struct mass_function mass_function_of(const struct halo_table *t, double omega_b, double sigma8,
                                      double ns);
double mass_of_curve(const struct mass_function *f, int k); /* mass of curve[k]; n > 0 */
void mass_function_tsv(FILE *out, const struct mass_function *f, const char *path);
