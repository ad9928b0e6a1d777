/* hdf5/table_h5: a table as an HDF5 file, which h5py, h5ls and spreadsheets of columns open: one
 * dataset per column, with the attributes `units` and `description`, and numbers and texts about
 * the whole table as attributes of the file. Programs use it for spectra, profiles, catalogues and
 * the numbers behind pictures. (one rank) */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Row i of a column is real[i*step] or whole[i*step]; missing values are NAN. All are lent. */
struct table_h5_column {
    const char *name;        /* the dataset: letters, digits and signs, but no '/' */
    const char *unit;        /* NULL or "": a pure number */
    const char *description; /* a phrase; NULL: none */
    const double *real;
    const int64_t *whole; /* if real is NULL */
    size_t step;          /* 0 counts as 1 */
};

/* An attribute of the file: a text, or n numbers. */
struct table_h5_note {
    const char *name, *text;
    int n;
    const double *real;   /* [n], if text is NULL */
    const int64_t *whole; /* [n], if real is NULL too */
};

struct table_h5 {
    const char *kind; /* such as "profile": the attribute `ptah` is "profile 1" */
    int64_t n;
    int columns, notes;
    const struct table_h5_column *column;
    const struct table_h5_note *note;
};

/* Whether a path ends in .h5 or .hdf5: tables under such names are written by table_h5_write. */
bool table_h5_named(const char *path);
/* Writes the file, which appears complete or not at all; an existing one is an error unless
 * `force`. */
MUST_USE enum err table_h5_write(const char *path, const struct table_h5 *t, bool force);
