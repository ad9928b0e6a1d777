/* curamses/describe: attributes of an HDF5 checkpoint for people and programs that do not know the
 * layout: what the file is, and for each dataset a description, its unit, and the worth of a code
 * unit in it. Readers ignore them, and so do digests. */
#pragma once
#include "curamses/out.h"

/* Adds the attributes; the datasets must exist (hdf5_make_sets). Rank 0, from a fill. */
void hdf5_describe(struct hdf5_file *f, const struct hdf5_out *w);
