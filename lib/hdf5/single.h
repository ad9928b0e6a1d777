/* hdf5/single: an HDF5 file of one rank without checksums, for other programs, under a temporary
 * name until it is complete (io/temp.h). Add datasets to `h5` and create it (hdf5/file.h); put
 * values anywhere. */
#pragma once
#include <stdbool.h>

#include "hdf5/file.h"
#include "io/temp.h"

struct hdf5_single {
    struct hdf5_file h5;
    struct comm alone;
    struct temp lock;
    char name[PATH_MAX]; /* temporary path */
};

/* An existing file is an error unless `force`; so is a device or a pipe. */
MUST_USE enum err hdf5_single_open(struct hdf5_single *f, const char *path, bool force);
/* err: OK, or the error for which the file is dropped; then returned. */
MUST_USE enum err hdf5_single_close(struct hdf5_single *f, enum err err);
