/* ckpt/catalog: small tables with named columns: sink particles, stellar objects. RAMSES keeps them
 * whole on each rank, and so does Ptah.
 *
 * Columns that all kinds of files have are named like those of particles: identity, mass,
 * position_x, velocity_x, birth_time, …; others keep the name that their file gives. Texts of
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
    double *real; /* [n]; NULL: a column of integers */
    int64_t *whole;
};

struct catalog {
    char from[FILES_NAME]; /* the file's name; empty: there is none */
    int64_t n;
    int ncol;
    struct catalog_column col[CATALOG_COLUMNS];
};

/* The column that a file calls `name`; the caller fills in its values. An error if there are too
 * many columns or the name is not valid. */
MUST_USE enum err catalog_add(struct catalog *t, const char *path, const char *name, bool real,
                              struct catalog_column **col);
/* NULL: has none */
const struct catalog_column *catalog_find(const struct catalog *t, const char *name);
void catalog_free(struct catalog *t);
/* Copies rows which[0..n-1] of another table. */
MUST_USE enum err catalog_select(struct catalog *t, const struct catalog *from, int64_t n,
                                 const int64_t *which);
const char *catalog_hdf5_name(const struct catalog_column *c); /* of its dataset */

/* Texts: sink_NNNNN.csv and stellar_NNNNN.csv with or without names in a comment, sink_NNNNN.info.
 */
MUST_USE enum err catalog_read_text(struct catalog *t, const char *path);
/* As csv files of RAMSES, which reads columns of fixed width: a number has eleven digits if these
 * give it exactly, else as many as fit; what is missing then is in further columns, x_ulps, in
 * units of the last place, so that all bits come back. mass: name of that column. Write errors are
 * those of f. */
void catalog_write_text(const struct catalog *t, FILE *f, const char *mass);
/* sink_NNNNN.outRRRRR, as RAMSES until 2018 and cuRAMSES write it; the files of all ranks are
 * equal. */
MUST_USE enum err catalog_read_sinks(struct catalog *t, const char *path, int ndim);
