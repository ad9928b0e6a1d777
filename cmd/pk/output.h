/* pk/output: tables and plots as files. A file appears complete or not at all; an existing file is
 * an error, unless forced. Rank 0 only. */
#pragma once
#include <limits.h>

#include "base/err.h"
#include "view/spectra.h"

/* Writes dir/pk_NNNNN.tsv or .json; dir is created if necessary. path receives the name. */
MUST_USE enum err output_table(const char *dir, int number, bool json, bool force,
                               const struct pk_table *t, char path[PATH_MAX]);
/* Writes the table as HDF5 (hdf5/table_h5.h): the rows of all spectra, whose names are the
 * attribute `spectra`, with the number of the spectrum, from 0, in the column of that name. */
MUST_USE enum err output_h5(const char *path, bool force, const struct pk_table *t);
/* Draws a plot, and writes its numbers; either path may be NULL. */
MUST_USE enum err output_plot(const struct spectra *p, const char *path, const char *data);
