/* ramses/read: RAMSES snapshots, own octs and particles file by file in batches of bounded size.
 *
 * Works for any number of ranks, with or without physical boundaries, gas, gravity and particles,
 * in one to three dimensions and with any number of coarse cells inside the box; for files of
 * either byte order and precision, in group_NNNNN/ directories or not, with 4- or 8-byte ids and
 * counts, 8- or 16-byte keys, of before and after the changes of 2010, 2015, 2017 and 2018
 * (docs/method/ckpt.md). What it is, the files tell; r->format says it in words. No file is
 * trusted: every count is checked against the records, these against the file's size, and the tree
 * against itself. Errors are one sentence with file, record and byte. Nothing here is collective;
 * ranks may share out the files. */
#pragma once
#include <limits.h>

#include "ckpt/batch.h"
#include "ckpt/catalog.h"
#include "ckpt/ckpt.h"

struct hdf5_in;
struct manifest;

struct ramses {
    const struct ckpt_pick *pick; /* lent; NULL: all are wanted */
    /* octs are handed on before the checksums of their files are compared */
    bool late;
    /* tout, aout lent by this struct; provenance and namelist NULL */
    struct ckpt_head head;
    double *out_times;
    char dir[4000], ordering[129];
    int number, ncpu, nboundary; /* ncpu: files, or pieces to read an HDF5 file by */
    int nwriter;                 /* ranks that wrote it */
    struct hdf5_in *hdf5;        /* NULL: RAMSES binary */
    struct manifest *list;       /* checksums; NULL: it has none */
    /* what the files are, in words: "RAMSES binary, big-endian, …" */
    char format[256];
    /* files in each group_NNNNN/; 0: no such directories */
    int group;
    int ndomain; /* of the table in the info file; 0: none */
    /* big-endian · reals of 4 bytes · counts of 8 · keys of 16 */
    bool swap, narrow, wide_counts, wide_keys;
    /* of before 2017 · before 2010 · families are told by us */
    bool old_hydro, no_mass_sph, made_family;
    /* the namelist says of what type the boundaries are */
    bool boundary_told;
    /* coarse cells below the box (physical boundaries) and in it */
    int64_t skip[3], coarse[3];
    struct catalog sinks, stellar;
    struct stars_formed formed;
    int cooling[2]; /* points in density and temperature of the cooling table, 0: none */
    int nhydro, ngrav, npart_field;
    /* hydro first, then gravity: phi, acc_x, acc_y, acc_z */
    struct ckpt_field field[CKPT_FIELDS];
    struct ckpt_field part[CKPT_FIELDS];
    int column[COL_COUNT];          /* place in the batch; -1: the snapshot has none */
    int64_t numbtot[LEVEL_MAX + 2]; /* octs by level as the header says */
    struct ckpt_tally tally;
};

struct ramses_octs {
    int level, file, n;
    const okey *key;
    const unsigned char *split;     /* bit c: cell c < 2^ndim is refined */
    const unsigned char (*flag)[8]; /* flag1 == 1 */
    /* [8*field + cell][n], fields as in struct ramses; NULL if not asked for */
    const double *const *val;
};

struct ramses_parts {
    int file;
    int64_t n;
    const void *const *col; /* by place: double or int64 */
};

typedef enum err ramses_octs_fn(const struct ramses *r, const struct ramses_octs *o, void *ctx);
typedef enum err ramses_parts_fn(const struct ramses *r, const struct ramses_parts *p, void *ctx);

/* Info, descriptors, header of file 1. A directory with data_NNNNN.h5 is read through
 * curamses/read.h. */
MUST_USE enum err ramses_open(const char *dir, struct ramses **out);
void ramses_close(struct ramses **r);
/* "namelist": namelist.txt, or what the HDF5 file keeps; *text NULL if there is none. Caller frees
 * with mem_free. */
MUST_USE enum err ramses_read_text(const struct ramses *r, const char *name, char **text,
                                   size_t *bytes);
/* Own octs of one file (1..ncpu), levels ascending; fn's error ends the walk. The values are read
 * if `values`. */
MUST_USE enum err ramses_read_octs(struct ramses *r, int file, bool values, ramses_octs_fn *fn,
                                   void *ctx);
MUST_USE enum err ramses_read_parts(struct ramses *r, int file, ramses_parts_fn *fn, void *ctx);
/* After all files: the levels fit together and match the header's counts. */
MUST_USE enum err ramses_check_tree(const struct ramses *r);
/* Path of a file (1..ncpu) of a kind, such as "part"; an HDF5 checkpoint has only one. */
void ramses_file(const struct ramses *r, const char *kind, int file, char path[PATH_MAX]);
/* or NULL */
const double *ramses_f64(const struct ramses *r, const struct ramses_parts *p, enum part_col c);
/* or NULL */
const int64_t *ramses_i64(const struct ramses *r, const struct ramses_parts *p, enum part_col c);
/* Cells of an oct · side of a cell of level l in units of length. */
int ramses_cells(const struct ramses *r);
double ramses_dx(const struct ramses *r, int level);
/* Family of particle i; in files from before families, told by birth time, mass and sign of the
 * id. */
int ramses_family(const struct ramses *r, const struct ramses_parts *p, int64_t i);
