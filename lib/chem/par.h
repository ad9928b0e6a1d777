/* chem/par: parameters of thermochemistry (chem/chem.h), for C, C++ and CUDA. */
#pragma once
#include <stdbool.h>

enum { CHEM_GROUPS = 8 };

/* Absorbers of photons, and their products: H2 → HI → HII, HeI → HeII → HeIII. The fraction of the
 * product of absorber j has the number j, which is RAMSES's order: fractions of HI and HII are per
 * hydrogen nucleus, of HeII and HeIII per helium nucleus. */
enum chem_absorber { CHEM_H2, CHEM_HI, CHEM_HEI, CHEM_HEII, CHEM_ABSORBERS };
enum chem_fraction { CHEM_XHI, CHEM_XHII, CHEM_XHEII, CHEM_XHEIII, CHEM_FRACTIONS };

/* Why a sub-step is refused: the change of N, F, T2, of N and T2 beside dust, and of fractions. */
enum chem_reason {
    CHEM_BY_N,
    CHEM_BY_F,
    CHEM_BY_T2,
    CHEM_BY_INFRARED,
    CHEM_BY_DUST,
    CHEM_BY_HYDROGEN,
    CHEM_BY_HELIUM,
    CHEM_BY_ELECTRONS,
    CHEM_REASONS
};

enum chem_rule { CHEM_EXACT, CHEM_RAMSES };

/* A group of photons. Cross sections are averages over photons (csn) and over energy (cse). */
struct chem_group {
    double csn[CHEM_ABSORBERS], cse[CHEM_ABSORBERS]; /* cm² */
    double egy, l0, l1;         /* mean energy and bounds, eV; l1 = 0: no upper bound */
    double kappa_abs, kappa_sc; /* opacities of dust at solar metallicity, cm²/g */
};

struct chem_tables; /* rates as functions of temperature; depend on nothing */

/* Numbers that chem_derive computes from the others, per absorber and group in cm³/s, erg cm³/s. */
struct chem_law {
    double c, inv_c;                             /* reduced speed of light, cm/s; 1/c */
    double absorb[CHEM_GROUPS][CHEM_ABSORBERS];  /* c σ, with the self-shielding of H2 */
    double ionise[CHEM_GROUPS][CHEM_ABSORBERS];  /* c σ */
    double heat[CHEM_GROUPS][CHEM_ABSORBERS];    /* heating per photon and absorber */
    double pump[CHEM_GROUPS];                    /* c σ of H2 in Lyman–Werner groups, else 0 */
    double erg[CHEM_GROUPS], ratio[CHEM_GROUPS]; /* photon energy; in units of infrared ones */
    double push[CHEM_GROUPS];                    /* momentum of a photon, e/c, boosted */
    double he_per_h, rho_per_h, heat_unit;       /* n_He/n_H; ρ/n_H; X/(1.5 k_B) */
    double compton, T_cmb;                       /* factor of Compton cooling; its temperature */
    double metal_measure;                        /* suppression of metal lines, times n_H */
    double inv_N, inv_T, inv_x, T_small; /* 1 / largest relative changes; unit of those of T2, K */
    int recombine_to[CHEM_ABSORBERS];    /* group of recombination photons; -1: none */
    bool case_b, emits;                  /* emits: photons are made */
};

struct chem_par {
    enum chem_rule rule;
    int groups;
    struct chem_group group[CHEM_GROUPS];
    /* 1 + the group of photons from the recombination to absorber j; 0: they are lost */
    int spec2group[CHEM_ABSORBERS];
    bool h2, helium;
    double X, Y;       /* mass fractions of hydrogen and helium */
    double gm1;        /* adiabatic index less 1, of the heat capacity beside dust */
    double c_fraction; /* reduced speed of light, in units of that of light */
    double aexp;       /* expansion factor; 1 without cosmology */
    double cmb_aexp;   /* that of the microwave background */
    bool advect;       /* radiation exists: photons are absorbed, heat and push */
    bool on_the_spot;  /* recombinations to the ground state have no effect (case B) */
    bool cooling;      /* the temperature changes */
    double T_const;    /* K; > 0: temperature of all rates and of the result */
    bool mu_h2;        /* mean molecular weight tends to 2.33 in cold gas */
    bool self_shield;  /* the background of uv_ion is damped in dense gas */
    double uv_ion[CHEM_ABSORBERS], uv_heat[CHEM_ABSORBERS]; /* 1/s, erg/s per absorber */
    bool cosmic_rays;
    bool infrared, kappa_T, T_rad; /* group 0 is infrared; κ ∝ T_rad²; T := T_rad */
    bool iso_press;                /* pressure of N c instead of F, except of infrared */
    double press_boost;
    int peh_group;                    /* 1 + the group of photo-electric heating; 0: none */
    const struct chem_tables *tables; /* (lent) */
    struct chem_law law;
};
