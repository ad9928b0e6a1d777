/* cool/rates: ionisation equilibrium of hydrogen and helium, and cooling and heating rates of the
 * gas (docs/method/cooling.md). Pure functions, cgs: T in K, densities in 1/cm³, rates in erg cm³/s
 * per n_H². T2 means T/mu. */
#pragma once
#include "base/cgs.h"

enum ion { ION_HI, ION_HEI, ION_HEII, ION_COUNT };

static const double COOL_HELIUM = 0.24 / 0.76 / 4.0; /* helium nuclei per hydrogen nucleus */
static const double COOL_SOLAR = 0.02;               /* solar metallicity, mass fraction */

/* Atomic rates. ATOMS_THEUNS: Cen (1992) with the factors of Theuns et al. (1998), as in RAMSES.
 * ATOMS_ABEL: Abel et al. (1997) with the recombination cooling of Hui & Gnedin (1997), as in
 * Grackle. */
enum atomic_rates { ATOMS_THEUNS, ATOMS_ABEL };

/* Photoionisation and photoheating rates of each neutral or singly ionised atom (1/s, erg/s), and
 * the choice of atomic rates. */
struct uv_rates {
    double ion[ION_COUNT], heat[ION_COUNT];
    enum atomic_rates atoms;
};

/* Coefficients that depend on temperature alone. */
struct rate_coef {
    double recombine[ION_COUNT]; /* recombination coefficient of the next ion, cm³/s */
    double ionise[ION_COUNT];    /* collisional ionisation coefficient, cm³/s */
    /* Cooling coefficients, erg cm³/s, times n_e and the density of this ion · of the next ion. */
    double cool_own[ION_COUNT], cool_next[ION_COUNT];
    double cool_metastable; /* metastable lines, erg cm^6/s, times n_e² and density of HeII */
};

/* Numbers of electrons and ions per hydrogen nucleus. */
struct species {
    double e, hi, hii, hei, heii, heiii;
};

struct gas_rates {
    double cool, heat;            /* cooling and heating rates per n_H² */
    double compton, compton_heat; /* Compton rates per n_H */
    double mu;
    struct species is;
};

/* rates_chemistry: recombination and ionisation coefficients only; rates_at: all coefficients. */
void rates_chemistry(enum atomic_rates atoms, double T, struct rate_coef *c);
void rates_at(enum atomic_rates atoms, double T, struct rate_coef *c);

/* Ionisation equilibrium at density nH; returns mu. guess: initial n_e/n_H, above 0. */
double species_at(const struct rate_coef *c, double nH, const struct uv_rates *uv, double guess,
                  struct species *s);

/* Rates of gas with temperature T2 and density nH at expansion factor a (1 without cosmology). */
struct gas_rates gas_rates_at(double T2, double nH, const struct uv_rates *uv, double a);

/* Rates of gas with temperature T and density nH at expansion factor a. */
struct gas_rates gas_rates_of(double T, double nH, const struct uv_rates *uv, double a);

/* gas_rates_at for n ≤ VEC densities at one T2 (vec/vec.h); p caches coefficients, which depend on
 * temperatures alone. */
struct rate_path;
struct rate_path *rate_path_new(enum atomic_rates atoms, double T2);
void rate_path_free(struct rate_path *p);
void gas_rates_on(struct rate_path *p, const double nH[], int n, const struct uv_rates *uv,
                  double a, struct gas_rates g[]);

/* Cooling by metals at solar metallicity per n_H², and its slope d log/d log T as in RAMSES. u:
 * ionising radiation per hydrogen nucleus. */
double metal_rate(double T, double u, double *slope);
