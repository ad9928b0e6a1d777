/* lineage/tables: RAMSES's tables of a merger tree, mergertree_NNNNN.txtRRRRR and
 * galaxies_NNNNN.txtRRRRR. Local. */
#pragma once
#include <stddef.h>

#include "lineage/clumps.h"

/* Rows of links (text: FREE): each clump with its main progenitor, then each merged progenitor with
 * the negative number of the clump that it has merged into. min_mass: mass of a particle. earlier,
 * past: before lineage_carry; NULL: only the line of names. */
char *lineage_links_text(const struct lineage_clumps *now, const struct lineage_groups *earlier,
                         const struct lineage_past *past, const struct lineage_links *k,
                         double min_mass, size_t *bytes);

/* Values that determine the mass of stars in a clump. */
struct lineage_galaxy_par {
    double aexp, solar; /* expansion factor; a code mass in solar masses */
    int output;         /* number of the output, for the random scatter */
};
/* Mass of the stars of a galaxy in a halo of this mass, in solar masses (Behroozi, Wechsler &
 * Conroy 2013), with log-normal scatter by the id of its particle and the output. */
double lineage_stellar_mass(const struct lineage_galaxy_par *p, double mass, int64_t id);

/* Kinds of galaxies: of a main clump, of a sub-clump, of a clump that has merged. The numbers
 * are those of RAMSES's light cones. */
enum lineage_kind { LINEAGE_MAIN = 1, LINEAGE_SATELLITE, LINEAGE_ORPHAN };
struct lineage_galaxy {
    enum lineage_kind kind;
    int64_t clump, particle; /* number of its clump, 0: none or not known; id of its particle */
    double mass, stars;      /* of the halo, code units; of the stars, solar masses */
    double x[3];
};
/* Galaxies of clumps and of past progenitors; the n spots are positions of the latter, and one
 * without a spot is left out. The result (owner: caller, FREE) has *count rows. */
struct lineage_galaxy *lineage_galaxies(const struct lineage_clumps *now,
                                        const struct lineage_past *past, int64_t n,
                                        const struct lineage_spot *spot,
                                        const struct lineage_galaxy_par *p, int64_t *count);
/* Finds the clumps in which orphans are; n and g are of rank 0. (collective) */
void lineage_place_orphans(const struct clumps *k, const struct comm *c,
                           const struct lineage_groups *groups, int64_t n,
                           struct lineage_galaxy *g);
/* Rows of galaxies (text: FREE). */
char *lineage_galaxies_text(int64_t n, const struct lineage_galaxy *g, size_t *bytes);
