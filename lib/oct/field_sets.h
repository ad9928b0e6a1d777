/* oct/field_sets: the sets of fields.def by their symbols alone, for rows and functions that say
 * what they read and write. For source files: the names are short. */
#pragma once
#include "oct/fields.h"

enum {
#define ROW(symbol, ...) symbol = SET_##symbol,
#define SET(symbol, words) symbol = SET_##symbol,
#include "oct/fields.def"
    ALL = SET_GHOSTED,
    MEANS = SET_RESTRICTED, /* fields that are restricted as the gas is */
};
/* The field moves with the gas. */
#define GAS ((field_set)SET_GAS | SET_MAGNETIC)
