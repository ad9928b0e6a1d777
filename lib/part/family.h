/* part/family: what the families of particles are (families.def). */
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

/* Kinds of matter. Gas is what is in cells; no particle is gas. Other: clouds of sinks, debris,
 * particles of families that have no meaning here. */
enum part_species {
    SPECIES_NONE = -1,
    SPECIES_DM,
    SPECIES_GAS,
    SPECIES_STAR,
    SPECIES_OTHER,
    SPECIES_COUNT
};
extern const char *const SPECIES_NAME[SPECIES_COUNT + 1]; /* the last one: all */

struct family {
    int number;
    const char *name, *header;
    enum part_species species;
};
extern const struct family FAMILY_ROW[FAMILIES];

/* The row of a family; the last one if the table lacks it. */
int family_row(int64_t family);
/* SPECIES_NONE: it has no mass. */
enum part_species family_species(int64_t family);

/* Tracers have none; their column of masses is of what they trace. */
PTAH_HD bool family_has_mass(int64_t family)
{
    return family > 0;
}
