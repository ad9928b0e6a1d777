/* part/family: properties of the families of particles (families.def). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"

enum part_family {
#define FAMILY(symbol, number, ...) FAM_##symbol = number,
#include "part/families.def"
};

enum {
    FAMILIES = 0
#define FAMILY(...) +1
#include "part/families.def"
};

/* Kinds of matter. Gas is in cells only, no particle is gas. Other: sink clouds, debris, particles
 * of families unknown to Ptah. */
enum part_species {
    SPECIES_NONE = -1,
    SPECIES_DM,
    SPECIES_GAS,
    SPECIES_STAR,
    SPECIES_OTHER,
    SPECIES_COUNT
};
extern const char *const SPECIES_NAME[SPECIES_COUNT + 1]; /* last name: all species */

struct family {
    int number;
    const char *name, *header;
    enum part_species species;
};
extern const struct family FAMILY_ROW[FAMILIES];

/* Row of a family; the last one if the table lacks it. */
int family_row(int64_t family);
/* Species of a family; SPECIES_NONE: without mass. */
enum part_species family_species(int64_t family);

/* Whether a family has mass. Tracers have none; their column of masses has the mass of the traced
 * matter. */
PTAH_HD bool family_has_mass(int64_t family)
{
    return family > 0;
}

/* Whether forces move a family: matter, and tracers of stars, each of which follows its star. */
PTAH_HD bool family_moves(int64_t family)
{
    return family > 0 || family == FAM_STAR_TRACER;
}

/* Whether forces move a family in a run that freezes some: bit n of `frozen` is family n, from 1
 * to 30. */
PTAH_HD bool family_goes(int64_t family, unsigned frozen)
{
    return family_moves(family) && !(family > 0 && family < 31 && (frozen >> (unsigned)family & 1));
}
