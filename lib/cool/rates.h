/* cool/rates: ionisation equilibrium of hydrogen and helium, and the rates of its gas
 * (docs/method/cooling.md). Pure functions, cgs: T in K, densities in 1/cm³, rates in erg cm³/s
 * per n_H². T2 means T/mu. */
#pragma once
#include "base/cgs.h"

enum ion { ION_HI, ION_HEI, ION_HEII, ION_COUNT };

static const double COOL_HELIUM = 0.24 / 0.76 / 4.0; /* helium nuclei per hydrogen nucleus */
static const double COOL_SOLAR = 0.02;               /* solar metallicity */

/* Rates of the atoms themselves: Cen (1992) with the factors of Theuns et al. (1998), as RAMSES has
 * them; Abel et al. (1997) with the recombination cooling of Hui & Gnedin (1997), as Grackle. */
enum atomic_rates { ATOMS_THEUNS, ATOMS_ABEL };

/* Photoionisation and photoheating rates of each neutral or singly ionised atom (1/s, erg/s), and
 * the choice of rates of the atoms themselves. */
struct uv_rates {
    double ion[ION_COUNT], heat[ION_COUNT];
    enum atomic_rates atoms;
};

/* Coefficients that depend on the temperature alone. */
struct rate_coef {
    double recombine[ION_COUNT]; /* cm³/s, of the next ion */
    double ionise[ION_COUNT];    /* cm³/s, by collisions */
    /* erg cm³/s: × n_e × density of the ion itself · of the next one */
    double cool_own[ION_COUNT], cool_next[ION_COUNT];
    double cool_metastable; /* erg cm^6/s: × n_e² × density of HeII */
};

/* Per hydrogen nucleus. */
struct species {
    double e, hi, hii, hei, heii, heiii;
};

struct gas_rates {
    double cool, heat;            /* per n_H² */
    double compton, compton_heat; /* per n_H */
    double mu;
    struct species is;
};

/* Recombination and ionisation only, or everything. */
void rates_chemistry(enum atomic_rates atoms, double T, struct rate_coef *c);
void rates_at(enum atomic_rates atoms, double T, struct rate_coef *c);

/* Equilibrium at density nH; returns mu. guess: n_e/n_H to begin with, above 0. */
double species_at(const struct rate_coef *c, double nH, const struct uv_rates *uv, double guess,
                  struct species *s);

/* Rates of gas of T2, density nH, at expansion factor a (1 without cosmology). */
struct gas_rates gas_rates_at(double T2, double nH, const struct uv_rates *uv, double a);

/* Rates of gas of temperature T, density nH, at expansion factor a. */
struct gas_rates gas_rates_of(double T, double nH, const struct uv_rates *uv, double a);

/* gas_rates_at for many densities at one T2, n ≤ VEC (vec/vec.h) at a time side by side:
 * coefficients are kept. */
struct rate_path;
struct rate_path *rate_path_new(enum atomic_rates atoms, double T2);
void rate_path_free(struct rate_path *p);
void gas_rates_on(const struct rate_path *p, const double nH[], int n, const struct uv_rates *uv,
                  double a, struct gas_rates g[]);

/* Cooling by metals at solar metallicity per n_H², and d log/d log T as RAMSES has it, where u
 * measures the ionising radiation per hydrogen nucleus. */
double metal_rate(double T, double u, double *slope);
