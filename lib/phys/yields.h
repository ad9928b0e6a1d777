/* phys/yields: what a population of stars gives back as it ages, from a table. Local, pure.
 *
 * Per solar mass of stars at birth, of one age and metallicity, cumulative: numbers of supernovae
 * of types II and Ia, mass of the ejecta, of metals and of chemical elements among them. */
#pragma once

#include "base/err.h"

enum { YIELD_ELEMENTS = 32 }; /* the most that a table has */

struct yields;

struct yield {
    double type2, type1;            /* supernovae per solar mass of stars */
    double mass, metals;            /* fractions of the mass of the stars at birth */
    double element[YIELD_ELEMENTS]; /* fraction of each element; 0 beyond the table's elements */
};

/* "hopkins2018": the fits of Hopkins et al. (2018, appendix A) for the initial mass function of
 * Kroupa (2001). Else a file: the numbers of metallicities, ages and elements; the names of the
 * elements; for each metallicity a line "# Z" and a row for each age: age in Gyr, cumulative
 * numbers and masses as above, masses of the elements. An error names file and line. */
MUST_USE enum err yields_new(const char *name, struct yields **out);
void yields_free(struct yields *y);
/* The number of elements; 0 also without a table (NULL). */
int yields_elements(const struct yields *y);
/* The name of the scalar of the gas and of the column of stars that follow element e, such as
 * element_O. */
const char *yields_element(const struct yields *y, int e);

/* At an age in Gyr, of stars with the fraction Z of metals: linear between the ages and
 * metallicities of the table in their logarithms; from 0 at birth to the first age; beyond the
 * last, and outside of the metallicities, as at the end. */
struct yield yields_at(const struct yields *y, double age, double Z);
