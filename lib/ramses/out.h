/* ramses/out: what the files of the RAMSES writer share. Private to ramses. */
#pragma once
#include <limits.h>

#include "io/fortran.h"
#include "out/out.h"
#include "ramses/boundary_octs.h"

/* the longest first */
enum ramses_file { RAMSES_GAS, RAMSES_AMR, RAMSES_GRAV, RAMSES_PART, RAMSES_FILES };
enum { RAMSES_FILE_BYTES = 13 << 20 }; /* of a file that is rewritten */

struct ramses_block;
struct exact_out;

/* Value v of the i-th oct of a range is fld[v][line[i]]. */
struct ramses_lines {
    double (*fld[CKPT_FIELDS])[8];
    const lidx *line;
};

/* Where values come from if not from mesh and particles. What the functions return is lent until
 * the next call for the same file. Several files may request values at the same time. */
struct ramses_values {
    void *ctx;
    /* n <= CKPT_BATCH octs of a block: fields of the gas files, gas as conserved variables, or else
     * those of the gravity files. */
    enum err (*octs)(void *ctx, const struct ramses_block *b, bool grav, int64_t first, int n,
                     struct ramses_lines *out);
    /* Particles first..first+*n-1, or fewer: then *n becomes less. A column as it is in memory. */
    enum err (*parts)(void *ctx, int column, int64_t first, int64_t *n, const void **out);
};

/* A rank's octs are numbered 1..ngrid by level, then owner, then Morton order: first[l-1][r].. are
 * those of level l owned by rank r; order[l] lists their local indices, number[l] is the inverse.
 */
struct ramses_out {
    struct ckpt_out o;                   /* its comm: rank and size are those of the file */
    const struct ramses_values *values;  /* NULL: mesh and particles themselves */
    int32_t ngrid;                       /* octs of this rank, with ghosts */
    int32_t *first, *count;              /* [nlevel][ranks] */
    struct boundary_octs *boundary_octs; /* octs beyond the boundary; NULL: the box is periodic */
    lidx *order[LEVEL_MAX + 2];          /* [noct] */
    int32_t *number[LEVEL_MAX + 2];      /* [noct] */
};

/* Cells of an oct. */
static inline int ramses_out_cells(const struct ramses_out *w)
{
    return 1 << w->o.h->ndim;
}

/* Octs of one list: level l, owner r; from the number of ranks on, region r beyond the boundary:
 * then oct contains their references. */
struct ramses_block {
    const struct ramses_out *w;
    int level, rank;
    int32_t first; /* number of its first oct */
    int32_t n;
    const lidx *oct;
};

/* order, number, first, count, beyond, ngrid, ngridmax */
MUST_USE enum err ramses_out_number(struct ramses_out *w);
void ramses_out_forget(struct ramses_out *w); /* frees them */

struct ramses_block ramses_block_of(const struct ramses_out *w, int level, int rank);
/* The rule of the i-th oct beyond the boundary, NULL: it is in the box. *end, if not NULL: where
 * the same rule ends. */
const struct boundary_rule *ramses_block_rule(const struct ramses_block *b, int32_t i,
                                              int32_t *end);
MUST_USE enum err ramses_lines_of(const struct ramses_block *b, bool grav, int64_t first, int n,
                                  struct ramses_lines *out);
/* A file of this rank. Those of a mesh are written while they are computed. */
static inline void ramses_out_create(struct fort_out *f, const struct ramses_out *w,
                                     const char *path)
{
    fort_create(f, path, manifest_told, w->o.list);
    f->beside = !w->values;
    f->sync = w->o.sync;
}
void ramses_block_header(struct fort_out *f, int level, int32_t n); /* of hydro and grav files */

/* Each of these writes one file of this rank under o.tmp. */
MUST_USE enum err ramses_write_amr(const struct ramses_out *w, const char *path);
/* and x */
MUST_USE enum err ramses_write_hydro(const struct ramses_out *w, const char *path,
                                     struct exact_out *x);
MUST_USE enum err ramses_write_grav(const struct ramses_out *w, const char *path);
MUST_USE enum err ramses_write_part(const struct ramses_out *w, const char *path);
/* Writes all of them, and exact_; up to `threads` at a time, each with its own buffers,
 * RAMSES_FILE_BYTES. */
MUST_USE enum err ramses_write_files(const struct ramses_out *w, int threads);
