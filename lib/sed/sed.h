/* sed: spectra of stellar populations: photons that stars emit, by group of photons. Method:
 * docs/method/sources.md.
 *
 * A library of spectra (luminosity per wavelength and solar mass by age and metallicity) becomes a
 * table of each group of photons: the rate of emission, its time integral, and the means of photon
 * energy and cross sections. Rank 0 reads the library; the ranks of a node have one copy of the
 * table (comm/common.h), which sed_free leaves before comm_share_free. Units: years and
 * Å in libraries, seconds and eV here, cm² for cross sections, photons per solar mass.
 *
 * stars.h emits the photons of star particles, lamps.h those of sinks, background.h has the
 * ultraviolet background. */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"

enum { SED_GROUPS = 8 };
/* Species that absorb: their order is that of all arrays of cross sections and rates. */
enum sed_ion { SED_H2, SED_HI, SED_HEI, SED_HEII, SED_IONS };
/* Lowest photon energy that each absorbs, eV. */
extern const double SED_THRESHOLD[SED_IONS];

/* Mean properties of the photons of a group: energy (eV), cross sections (cm²) by number of photons
 * and by energy. */
struct sed_props {
    double egy, csn[SED_IONS], cse[SED_IONS];
};

/* Groups of photons: lower and upper bounds in eV; an upper bound of 0 is infinity. A group with
 * l0 ≥ l1 > 0 gets no photons. */
struct sed_bands {
    int n;
    double l0[SED_GROUPS], l1[SED_GROUPS];
};
static inline bool sed_band_fed(const struct sed_bands *b, int g)
{
    return !(b->l1[g] > 0 && b->l0[g] >= b->l1[g]);
}

/* Cross section of a species at a photon energy in eV, cm²: Hui & Gnedin (1997), after Verner et
 * al. (1996); of H2 photodissociation at 11.2 to 13.6 eV (Sternberg et al. 2014), and ionisation
 * (Abel et al. 1997). 0 below the threshold. */
double sed_cross_section(enum sed_ion ion, double eV);

/* ---- the table of a library ---- */

struct sed;
struct sed_par {
    /* Directory of the library: metallicity_bins.dat, age_bins.dat and all_seds.dat (RAMSES), files
     * spectra*.zNNN.dat (BPASS), or *.ised_ASCII (Bruzual & Charlot 2003). Empty: the environment
     * variable RAMSES_SED_DIR names it. */
    const char *dir;
    /* Whether the energy of a group is conserved, rather than the number of its photons: emission
     * is in eV per solar mass, to be divided by the energy of the group. */
    bool by_energy;
    struct sed_bands bands;
};
/* Reads a library. All ranks return the same error. (collective) */
MUST_USE enum err sed_new(const struct comm *c, const struct sed_par *par, struct sed **out);
void sed_free(struct sed **s);
const struct sed_bands *sed_bands(const struct sed *s);
bool sed_by_energy(const struct sed *s);

/* Photons (by_energy: eV) per solar mass of initial stars of metallicity Z (mass fraction) that
 * each group gets between the ages `from` and `to`, s; ages below 0 count as 0. Local. */
void sed_emission(const struct sed *s, double from, double to, double Z, double out[SED_GROUPS]);
/* Rate of emission at an age, per second and solar mass, and the properties of these photons. */
void sed_at(const struct sed *s, double age, double Z, double rate[SED_GROUPS],
            struct sed_props props[SED_GROUPS]);
/* Properties of the photons of stars of no age and the lowest metallicity. */
void sed_first(const struct sed *s, struct sed_props props[SED_GROUPS]);

/* ---- a spectrum ---- */

/* Properties of groups of photons with a spectrum y of energy per wavelength at n wavelengths in Å,
 * ascending: trapezoids between the bounds, where the spectrum is interpolated. rate[g]: photons
 * per second, for y in erg/s/Å (by_energy: eV per second). Groups outside of the spectrum get
 * zeros. */
void sed_integrate(const struct sed_bands *b, bool by_energy, int n, const double *wavelength,
                   const double *y, double rate[SED_GROUPS], struct sed_props props[SED_GROUPS]);
