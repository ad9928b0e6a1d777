/* cone/read: reads slices of light cones: HDF5 files, and the files of RAMSES and cuRAMSES, also
 * those that these programs wrote. No number in a file is trusted. Local. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum cone_object { CONE_PARTICLES, CONE_CELLS, CONE_SINKS, CONE_GALAXIES, CONE_OBJECTS };

/* Some events of a file. */
struct cone_batch {
    int64_t n;
    enum cone_object what;
    const double *r[3]; /* position relative to the observer, boxes */
    const double *z;    /* redshift */
    double box_mpc;     /* comoving length of the box, Mpc; 0: not known */
};
typedef enum err cone_batch_fn(void *ctx, const struct cone_batch *b);

/* Reads a file, or all of a directory: of a slice, or of a run with slices. *files: those read so
 * far. A directory without slices is an error. */
MUST_USE enum err cone_read(const char *path, cone_batch_fn *fn, void *ctx, int64_t *files);
