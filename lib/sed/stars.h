/* sed/stars: photons of star particles, added to the densities of photons of the cells they are in.
 *
 * A star of metallicity Z emits what the table has between its ages at the begin and at the end of
 * the sub-step, times its mass at birth and the escape fraction, into its leaf cell. The sums in a
 * cell are in the order of the ids of stars: no bit depends on ranks, threads or the order of
 * particles. A star that has left the octs of its level within the step emits into the nearest cell
 * of the oct it was in. */
#pragma once
#include "phys/term.h"
#include "sed/sed.h"

/* Where photons go: own cells of a level. */
struct sed_light {
    int n;                          /* groups */
    double (*N[SED_GROUPS])[8];     /* densities of photons, code units; lent */
    double unit_np;                 /* photons per cm³ of a density of 1 in code units */
    struct sum emitted[SED_GROUPS]; /* += density × mesh_volume that was added to leaf cells */
};

/* Photons that a leaf cell got in a sub-step, as densities in code units. */
struct sed_shine {
    lidx oct;
    int cell;
    double N[SED_GROUPS];
};
struct sed_shines {
    int64_t n;
    struct sed_shine *at; /* by oct and cell (owner: FREE) */
};

struct sed_stars {
    const struct sed *sed;
    double escape;          /* rt_esc_frac */
    double egy[SED_GROUPS]; /* energies of the groups (eV), for a table by energy */
};

/* Emission of the stars of level r->level alone between the code times t0 and t1. shines: where not
 * NULL, receives what each cell got. r needs par, mesh, parts, cosmo, history, units and aexp.
 * Local. */
void sed_stars_emit(const struct term_run *r, const struct sed_stars *s, double t0, double t1,
                    struct sed_light *light, struct sed_shines *shines);

/* Mean properties of the photons that all stars emit at the time t, weighted by their rates; those
 * of sed_first without stars. Exact sums over all ranks. props of groups that stars do not feed
 * stay as they are. *stars: number of stars on all ranks. (collective) */
void sed_stars_mean(const struct term_run *r, const struct sed_stars *s, double t,
                    struct sed_props props[SED_GROUPS], int64_t *stars);

/* ---- regions of ionised gas that the mesh does not resolve (sed/regions.c) ---- */

/* How their heat is given: as thermal energy, or as the non-thermal energy `energy`. */
struct sed_regions {
    bool thermal;
    int energy;      /* variable of the gas, where not thermal */
    double gamma;    /* its adiabatic index */
    int x_hi, x_hii; /* variables of the fractions HI (with H2) and HII; -1: none */
    bool ionises[SED_GROUPS];
};
/* Heats leaf cells of the level r->level that got photons of stars in the time dt (code units):
 * where the Strömgren radius is below half a cell, and the radius at which the region stagnates
 * (Bisbas et al. 2015) is not, T/μ becomes 18 000 K above the floor. Local. */
void sed_regions_heat(const struct term_run *r, const struct sed_regions *h, double unit_np,
                      double dt, const struct sed_shines *shines);
