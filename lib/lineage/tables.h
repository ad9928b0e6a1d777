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
/* Rows of galaxies (text: FREE) of clumps and of past progenitors, whose galaxies are orphans; the
 * n spots are their positions. now: NULL for only the line of names. */
char *lineage_galaxies_text(const struct lineage_clumps *now, const struct lineage_past *past,
                            int64_t n, const struct lineage_spot *spot,
                            const struct lineage_galaxy_par *p, size_t *bytes);
