/* phys/yields: yields of a stellar population as it ages, from a table. Local, pure.
 *
 * Values are per solar mass of stars at birth, for one age and metallicity, cumulative: numbers of
 * supernovae of types II and Ia, masses of ejecta, and of metals and chemical elements in them. */
#pragma once

#include "base/err.h"

enum { YIELD_ELEMENTS = 32 }; /* maximum number of elements of a table */

struct yields;

struct yield {
    double type2, type1; /* numbers of supernovae per solar mass of stars */
    double mass, metals; /* mass fractions of the stars at birth */
    /* mass fraction of each element; 0 beyond the table's elements */
    double element[YIELD_ELEMENTS];
};

/* Loads a table. "hopkins2018": the fits of Hopkins et al. (2018, appendix A) for the initial mass
 * function of Kroupa (2001). Otherwise a file: the numbers of metallicities, ages and elements; the
 * names of the elements; for each metallicity a line "# Z" and a row for each age: age in Gyr,
 * cumulative numbers and masses, masses of the elements. An error names file and line. */
MUST_USE enum err yields_new(const char *name, struct yields **out);
void yields_free(struct yields *y);
/* Number of elements; 0 also without a table (NULL). */
int yields_elements(const struct yields *y);
/* Name of the gas scalar and of the stars' column of element e, such as element_O. */
const char *yields_element(const struct yields *y, int e);

/* Yields at an age in Gyr of stars of metallicity Z: interpolated linearly in the logarithms of age
 * and metallicity; from 0 at birth to the first age; constant beyond the last age and the range of
 * metallicities. */
struct yield yields_at(const struct yields *y, double age, double Z);
