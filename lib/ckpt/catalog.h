/* ckpt/catalog: small tables with named columns: sink particles, stellar objects. RAMSES keeps them
 * whole on each rank, and so does Ptah.
 *
 * Columns common to all kinds of files have the names of particle columns: identity, mass,
 * position_x, velocity_x, birth_time, …; other columns keep the name in the file. Text files of
 * RAMSES have 11 digits; HDF5 and binary files have all bits. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "ckpt/files.h"

enum { CATALOG_COLUMNS = 320 };

struct catalog_column {
    char name[32];
    double *real; /* [n] values; NULL for an integer column */
    int64_t *whole;
};

struct catalog {
    char from[FILES_NAME]; /* name of the source file; empty if there is none */
    int64_t n;
    int ncol;
    struct catalog_column col[CATALOG_COLUMNS];
};

/* Adds the column that a file calls `name`; the caller fills in the values. An error if there are
 * too many columns or the name is not valid. */
MUST_USE enum err catalog_add(struct catalog *t, const char *path, const char *name, bool real,
                              struct catalog_column **col);
/* Finds a column by name; NULL if absent. */
const struct catalog_column *catalog_find(const struct catalog *t, const char *name);
void catalog_free(struct catalog *t);
/* Copies rows which[0..n-1] of another table. */
MUST_USE enum err catalog_select(struct catalog *t, const struct catalog *from, int64_t n,
                                 const int64_t *which);
const char *catalog_hdf5_name(const struct catalog_column *c); /* name of the HDF5 dataset */

/* Reads sink_NNNNN.csv or stellar_NNNNN.csv, with or without names, or sink_NNNNN.info. */
MUST_USE enum err catalog_read_text(struct catalog *t, const char *path);
/* Writes a csv file of RAMSES, which reads columns of fixed width: a number has eleven digits if
 * these are exact, else as many as fit; the residual, in units in the last place, is stored in a
 * further column x_ulps, so that all bits are preserved. mass: name of the mass column. The caller
 * checks f for write errors. */
void catalog_write_text(const struct catalog *t, FILE *f, const char *mass);
/* Reads sink_NNNNN.outRRRRR of RAMSES until 2018 and cuRAMSES; all ranks' files are equal. */
MUST_USE enum err catalog_read_sinks(struct catalog *t, const char *path, int ndim);
