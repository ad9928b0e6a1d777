#include "part/family.h"

const char *const SPECIES_NAME[SPECIES_COUNT + 1] = {"dm", "gas", "star", "other", "all"};

const struct family FAMILY_ROW[FAMILIES] = {
#define FAMILY(symbol, number, name, header, species, gadget)                                      \
    {number, name, header, SPECIES_##species},
#include "part/families.def"
};

int family_row(int64_t family)
{
    int64_t i = family - FAMILY_ROW[0].number;
    return i >= 0 && i < FAMILIES - 1 ? (int)i : FAMILIES - 1;
}

enum part_species family_species(int64_t family)
{
    return family_has_mass(family) ? FAMILY_ROW[family_row(family)].species : SPECIES_NONE;
}
