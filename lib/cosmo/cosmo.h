/* cosmo: expansion and units in RAMSES's super-comoving variables (Martel & Shapiro 1998).
 * Local. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "cosmo/dark.h"

struct cosmo_par {
    double omega_m, omega_l, omega_k, omega_b; /* density parameters at a = 1 */
    double h0;                                 /* Hubble constant, km/s/Mpc */
    struct cosmo_dark dark;      /* dark energy that is no constant; all 0: a constant */
    double aexp_ini, boxlen_ini; /* initial expansion factor; comoving box length, Mpc/h */
    /* true: reproduces RAMSES's truncation errors for step-by-step comparison: a(τ) linear between
     * 1001 points, up to 1e-5 of a above the curve, and growth by a quadrature accurate to a few
     * 1e-7. false: all functions accurate to rounding. */
    bool ramses;
};

struct cosmo; /* opaque table τ → a, H, t */

/* Builds the table of the expansion from before aexp_ini (above 0) to a = 10, or to the maximum of
 * a closed universe; beyond its ends the functions below return the values at the ends. An error if
 * the Ω do not add up to 1, values are out of range, or the universe bounces. */
MUST_USE enum err cosmo_new(const struct cosmo_par *p, struct cosmo **out);
void cosmo_free(struct cosmo *c);
double cosmo_tau(const struct cosmo *c, double aexp); /* conformal code time at a; 0 at a = 1 */
/* Proper time in units of 1/H0; 0 at a = 1. */
double cosmo_time(const struct cosmo *c, double aexp);
/* Expansion factor at a proper time, at most `latest`. */
double cosmo_aexp(const struct cosmo *c, double time, double latest);
/* Expansion factor and hexp = (1/a) da/dτ at conformal time tau. */
void cosmo_at(const struct cosmo *c, double tau, double *aexp, double *hexp);
/* Density of dark energy at a, over today's critical density; omega_l if it is a constant. */
double cosmo_dark_density(const struct cosmo_par *p, double a);
/* da/dτ = sqrt(a³(Ω_m + Ω_Λ a³ + Ω_k a)), Ω_Λ: cosmo_dark_density. */
double cosmo_dadtau(const struct cosmo_par *p, double a);
double cosmo_d2adtau2(const struct cosmo_par *p, double a);    /* d²a/dτ² */
double cosmo_growth_rate(const struct cosmo_par *p, double a); /* growth rate f = dlnD/dlna */
/* Growth factor D(a), normalised to D = a at early times; dark energy does not cluster. */
double cosmo_growth(const struct cosmo_par *p, double a);
/* Code velocity per code displacement in the growing mode: dD/dτ / D = f(a) hexp(a). */
double cosmo_vfact(const struct cosmo_par *p, double a);
/* Code units at a, in cgs: cm, g/cm³, s. */
void cosmo_units(const struct cosmo_par *p, double aexp, double *unit_l, double *unit_d,
                 double *unit_t);
/* Comoving distance ∫ da'/(a'² E) from a to 1, in units of c/H0, in flat space; negative beyond
 * a = 1. */
double cosmo_distance(const struct cosmo_par *p, double a);
