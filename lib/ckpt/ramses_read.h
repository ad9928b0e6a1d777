/* ckpt/ramses_read: RAMSES snapshots, own octs and particles file by file in batches of bounded size.
 *
 * Works for any number of ranks, with or without physical boundaries, gas, gravity and particles, with particle and
 * hydro files of before and after the descriptors of 2017; three dimensions and one coarse cell inside the box only.
 * No file is trusted: every count is checked against the records, these against the file's size, and the tree against
 * itself. Errors are one sentence with file, record and byte. Nothing here is collective; ranks may share out the files. */
#pragma once
#include "ckpt/ckpt.h"

enum { RAMSES_FIELDS = 128, RAMSES_BATCH = 8192, RAMSES_PART_BATCH = 32768 };

/* Columns of a particle file, with their place in the batch; -1: the snapshot has none. */
enum ramses_column {
    COL_X,
    COL_Y,
    COL_Z,
    COL_VX,
    COL_VY,
    COL_VZ,
    COL_MASS,
    COL_ID,
    COL_LEVEL,
    COL_FAMILY,
    COL_TAG,
    COL_BIRTH,
    COL_METAL,
    COL_COUNT
};

struct ramses_field {
    char name[48];
    char type;        /* of a particle column: d f (batch: double), q i h b (batch: int64) */
    char dataset[48]; /* HDF5: its path, %d for the level; empty: computed */
};

struct hdf5_in;

struct ramses {
    struct ckpt_head head; /* tout, aout lent by this struct; provenance and namelist NULL */
    double *out_times;
    char dir[4000], ordering[129];
    int number, ncpu, nboundary; /* ncpu: files, or pieces to read an HDF5 file by */
    int nwriter;                 /* ranks that wrote it */
    struct hdf5_in *hdf5;        /* NULL: RAMSES binary */
    int64_t skip[3];             /* coarse cells below the box (physical boundaries) */
    int nhydro, ngrav, npart_field;
    struct ramses_field field[RAMSES_FIELDS]; /* hydro first, then gravity: phi, acc_x, acc_y, acc_z */
    struct ramses_field part[RAMSES_FIELDS];
    int column[COL_COUNT];
    int64_t numbtot[LEVEL_MAX + 2]; /* octs by level as the header says */
    struct ramses_tally {           /* summed over the files read so far */
        int64_t octs[LEVEL_MAX + 2], split[LEVEL_MAX + 2], particles;
    } tally;
};

struct ramses_octs {
    int level, file, n;
    const okey *key;
    const unsigned char *split;     /* bit c: cell c is refined */
    const unsigned char (*flag)[8]; /* flag1 == 1 */
    const double *const *val;       /* [8*field + cell][n], fields as in struct ramses; NULL if not asked for */
};

struct ramses_parts {
    int file;
    int64_t n;
    const void *const *col; /* by place: double or int64 */
};

typedef enum err ramses_octs_fn(const struct ramses *r, const struct ramses_octs *o, void *ctx);
typedef enum err ramses_parts_fn(const struct ramses *r, const struct ramses_parts *p, void *ctx);

/* Info, descriptors, header of file 1. A directory with data_NNNNN.h5 is read through hdf5_read.h. */
MUST_USE enum err ramses_open(const char *dir, struct ramses **out);
void ramses_close(struct ramses **r);
/* Own octs of one file (1..ncpu), levels ascending; fn's error ends the walk. The values are read if `values`. */
MUST_USE enum err ramses_read_octs(struct ramses *r, int file, bool values, ramses_octs_fn *fn, void *ctx);
MUST_USE enum err ramses_read_parts(struct ramses *r, int file, ramses_parts_fn *fn, void *ctx);
/* After all files: the levels fit together and match the header's counts. */
MUST_USE enum err ramses_check_tree(const struct ramses *r);
const double *ramses_f64(const struct ramses *r, const struct ramses_parts *p, enum ramses_column c);  /* or NULL */
const int64_t *ramses_i64(const struct ramses *r, const struct ramses_parts *p, enum ramses_column c); /* or NULL */
/* Family of particle i; in files from before families, told by birth time and sign of the id (spec §12). */
int ramses_family(const struct ramses *r, const struct ramses_parts *p, int64_t i);
