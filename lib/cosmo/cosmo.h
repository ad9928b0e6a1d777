/* cosmo: expansion and units in RAMSES's super-comoving variables (Martel & Shapiro 1998). Local,
 * pure. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

struct cosmo_par {
    double omega_m, omega_l, omega_k, omega_b; /* densities at a = 1 over the critical one */
    double h0;                                 /* km/s/Mpc */
    double aexp_ini, boxlen_ini;               /* a at the start; Mpc/h, comoving */
    /* With RAMSES's truncation errors, to compare with it step by step: a(τ) by straight lines
     * between 1001 points, up to 1e-5 of a above the curve, and growth by a quadrature to a few
     * 1e-7. false: all to rounding. */
    bool ramses;
};

struct cosmo; /* table τ → a, H, t */

/* Table of the expansion from before aexp_ini (above 0) to a = 10 (or the max of a closed
 * universe); beyond its ends the functions below return the values at the ends. Error if the Ω do
 * not add up to 1, values are out of range, or the universe bounces. */
MUST_USE enum err cosmo_new(const struct cosmo_par *p, struct cosmo **out);
void cosmo_free(struct cosmo *c);
double cosmo_tau(const struct cosmo *c, double aexp); /* conformal code time at a; 0 at a = 1 */
/* proper time in units of 1/H0, 0 at a = 1 */
double cosmo_time(const struct cosmo *c, double aexp);
/* The expansion factor at a proper time, at most `latest`. */
double cosmo_aexp(const struct cosmo *c, double time, double latest);
/* hexp = (1/a) da/dτ */
void cosmo_at(const struct cosmo *c, double tau, double *aexp, double *hexp);
/* sqrt(a³(Ω_m + Ω_Λ a³ + Ω_k a)) */
double cosmo_dadtau(const struct cosmo_par *p, double a);
double cosmo_growth_rate(const struct cosmo_par *p, double a); /* f = dlnD/dlna */
/* D(a), D ∝ a early */
double cosmo_growth(const struct cosmo_par *p, double a);
/* Code velocity of a displacement of one code length in the growing mode: dD/dτ / D = f(a) hexp(a).
 */
double cosmo_vfact(const struct cosmo_par *p, double a);
/* Code units at a, in cgs: cm, g/cm³, s. */
void cosmo_units(const struct cosmo_par *p, double aexp, double *unit_l, double *unit_d,
                 double *unit_t);
