/* cosmo: expansion and units in RAMSES's super-comoving variables (spec/numerics §9; Martel & Shapiro 1998). Local, pure. */
#pragma once
#include "base/err.h"

struct cosmo_par {
    double omega_m, omega_l, omega_k, omega_b, h0;
    double aexp_ini, boxlen_ini; /* Mpc/h */
};

struct cosmo; /* table τ → a, H, t */

/* Table from a = 1 down to aexp_ini. Error if Ω's do not add up to 1 or values are absurd. */
MUST_USE enum err cosmo_new(const struct cosmo_par *p, struct cosmo **out);
void cosmo_free(struct cosmo *c);
double cosmo_tau(const struct cosmo *c, double aexp);               /* conformal code time at a; 0 at a = 1 */
double cosmo_time(const struct cosmo *c, double aexp);              /* proper time in units of 1/H0, 0 at a = 1 */
void cosmo_at(const struct cosmo *c, double tau, double *aexp, double *hexp); /* hexp = (1/a) da/dτ */
double cosmo_dadtau(const struct cosmo_par *p, double a);           /* sqrt(a³(Ω_m + Ω_Λ a³ + Ω_k a)) */
double cosmo_growth_rate(const struct cosmo_par *p, double a);      /* f = dlnD/dlna */
double cosmo_growth(const struct cosmo_par *p, double a);           /* D(a), D ∝ a early */
void cosmo_units(const struct cosmo_par *p, double aexp, double *unit_l, double *unit_d, double *unit_t); /* cgs */
/* vfact of numerics §9: code velocity = vfact(1)·(ic velocity · dx/dxini / vfact_l …): see ics. */
