/* ramses/out: structs and functions shared by the files of the RAMSES writer. Private to ramses. */
#pragma once
#include <limits.h>

#include "io/fortran.h"
#include "out/out.h"
#include "ramses/boundary_octs.h"

/* longest file first */
enum ramses_file { RAMSES_GAS, RAMSES_AMR, RAMSES_GRAV, RAMSES_RT, RAMSES_PART, RAMSES_FILES };
enum { RAMSES_FILE_BYTES = 13 << 20 }; /* bytes of buffers for a file that is rewritten */

struct ramses_block;
struct exact_out;

/* Kinds of files for which values of octs are fetched: of the gas, of gravity, of radiation. */
enum ramses_lines_of { LINES_GAS, LINES_GRAVITY, LINES_RADIATION, LINES_KINDS };

/* Values of a range of octs: value v of the i-th oct is fld[v][line[i]]. */
struct ramses_lines {
    double (*fld[CKPT_FIELDS])[8];
    const lidx *line;
};

/* Source of values other than mesh and particles. Results are lent until the next call for the same
 * file. Several files may request values at the same time. */
struct ramses_values {
    void *ctx;
    /* n <= CKPT_BATCH octs of a block: fields of the gas files, gas as conserved variables, or else
     * those of the gravity files and then photons. */
    enum err (*octs)(void *ctx, const struct ramses_block *b, enum ramses_lines_of of,
                     int64_t first, int n, struct ramses_lines *out);
    /* Gets a column of particles first..first+*n-1, or of fewer: then reduces *n. Type as in
     * memory. */
    enum err (*parts)(void *ctx, int column, int64_t first, int64_t *n, const void **out);
};

/* Octs of a rank are numbered 1..ngrid by level, then owner, then Morton order: first[l-1][r] is
 * the number of the first oct of level l owned by rank r; order[l] lists their local indices,
 * number[l] is the inverse. */
struct ramses_out {
    struct ckpt_out o;                   /* its comm: rank and size of the file */
    const struct ramses_values *values;  /* source of values; NULL: mesh and particles */
    int32_t ngrid;                       /* number of octs of this rank, with ghosts */
    int32_t *first, *count;              /* [nlevel][ranks] first number and count of octs */
    struct boundary_octs *boundary_octs; /* octs beyond the boundary; NULL: the box is periodic */
    lidx *order[LEVEL_MAX + 2];          /* [noct] local indices in order */
    int32_t *number[LEVEL_MAX + 2];      /* [noct] number of each local index */
};

/* Number of cells of an oct. */
static inline int ramses_out_cells(const struct ramses_out *w)
{
    return 1 << w->o.h->ndim;
}

/* Octs of one list: level l, owner r; values of `rank` from the number of ranks on are regions
 * beyond the boundary, whose references are in `oct`. */
struct ramses_block {
    const struct ramses_out *w;
    int level, rank;
    int32_t first; /* number of the first oct */
    int32_t n;
    const lidx *oct;
};

/* Computes order, number, first, count, boundary_octs, ngrid, ngridmax. */
MUST_USE enum err ramses_out_number(struct ramses_out *w);
void ramses_out_forget(struct ramses_out *w); /* frees the numbering */

struct ramses_block ramses_block_of(const struct ramses_out *w, int level, int rank);
/* Rule of the i-th oct beyond the boundary; NULL: the oct is in the box. *end, if not NULL: end of
 * the octs with this rule. */
const struct boundary_rule *ramses_block_rule(const struct ramses_block *b, int32_t i,
                                              int32_t *end);
MUST_USE enum err ramses_lines_of(const struct ramses_block *b, enum ramses_lines_of of,
                                  int64_t first, int n, struct ramses_lines *out);
/* Creates a file of this rank. Files of a mesh are written by a second thread while they are
 * computed. */
static inline void ramses_out_create(struct fort_out *f, const struct ramses_out *w,
                                     const char *path)
{
    fort_create(f, path, manifest_told, w->o.list);
    f->beside = !w->values;
    f->sync = w->o.sync;
}
/* header of blocks in hydro and grav files */
void ramses_block_header(struct fort_out *f, int level, int32_t n);
/* Header of the files of the gas and of radiation, which have n values per cell. */
void ramses_gas_head(struct fort_out *f, const struct ramses_out *w, int n);

/* Writers of one file of this rank to o.tmp. */
MUST_USE enum err ramses_write_amr(const struct ramses_out *w, const char *path);
/* Writes the hydro file, and the exact file of x. */
MUST_USE enum err ramses_write_hydro(const struct ramses_out *w, const char *path,
                                     struct exact_out *x);
MUST_USE enum err ramses_write_grav(const struct ramses_out *w, const char *path);
/* The radiation of a run, to two files. */
MUST_USE enum err ramses_write_radiation(const struct ramses_out *w, const char *path,
                                         const char *exact);
/* The files of a kind, HYDRO, GRAV or RT, of fields as another code stored them. */
MUST_USE enum err ramses_write_stored(const struct ramses_out *w, const char *path,
                                      enum files_kind kind);
MUST_USE enum err ramses_write_part(const struct ramses_out *w, const char *path);
/* Writes all files with the exact file; up to `threads` at a time, each with its own buffers of
 * RAMSES_FILE_BYTES. */
MUST_USE enum err ramses_write_files(const struct ramses_out *w, int threads);
