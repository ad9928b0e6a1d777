/* ramses/out: shared by the files of the RAMSES writer. */
#pragma once
#include <limits.h>

#include "ckpt/manifest.h"
#include "ckpt/source.h"
#include "io/fortran.h"
#include "ramses/beyond.h"

enum { RAMSES_FAMILIES = 12 }; /* -5..5, undefined */

/* the longest first */
enum ramses_file { RAMSES_GAS, RAMSES_AMR, RAMSES_GRAV, RAMSES_PART, RAMSES_FILES };
enum { RAMSES_FILE_BYTES = 13 << 20 };

struct ramses_block;
struct exact_out;

/* Value v of the i-th oct of a range is fld[v][line[i]]. */
struct ramses_lines {
    double (*const *fld)[8];
    const lidx *line;
};

/* Where values come from if not from mesh and particles; what they give is lent until the next call
 * for the same file. Files may ask at the same time. */
struct ramses_values {
    void *ctx;
    /* n <= CKPT_BATCH octs of a block: conserved variables, or else potential and acceleration.
     */
    enum err (*octs)(void *ctx, const struct ramses_block *b, bool grav, int64_t first, int n,
                     struct ramses_lines *out);
    /* Particles first..first+*n-1, or fewer: then *n is less. A column as it is in memory. */
    enum err (*parts)(void *ctx, int column, int64_t first, int64_t *n, const void **out);
};

/* A rank's octs are numbered 1..ngrid by level, then owner, then Morton order: first[l-1][r].. are
 * those of level l owned by rank r; order[l] lists their local indices, number[l] is the inverse.
 */
struct ramses_out {
    const struct ckpt_head *h;
    const struct mesh *m;
    const struct parts *p;
    const struct domain *d;
    const struct comm *c;               /* its rank and size: those of the file */
    const struct ramses_values *values; /* NULL: mesh and particles themselves */
    const struct part_columns *columns; /* of the particles; NULL: there are none */
    /* The values are as another code stored them, fields of its source, gas, then gravity (lent);
     * NULL: they are the state of a run. */
    const struct ckpt_field *stored;
    int nhydro, ngrav;
    int64_t npart;
    int output, nlevel; /* output's number · levels in the file, levelmax */
    char tmp[4000], final[4000];
    int lock;                       /* on tmp, as long as it is this process's; else -1 */
    struct manifest *list;          /* files written */
    int32_t ngrid;                  /* octs of this rank, with ghosts */
    int64_t ngridmax;               /* array size that the file claims, equal on all ranks */
    int32_t *first, *count;         /* [nlevel][ranks] */
    struct beyond *beyond;          /* octs beyond the boundary; NULL: the box is periodic */
    lidx *order[LEVEL_MAX + 2];     /* [noct] */
    int32_t *number[LEVEL_MAX + 2]; /* [noct] */
    /* own octs over the ranks */
    int64_t total[LEVEL_MAX + 2], least[LEVEL_MAX + 2], most[LEVEL_MAX + 2];
    /* particles over the ranks */
    int64_t family[RAMSES_FAMILIES];
    double star_mass;
    bool wide_ids;
};

/* Cells of an oct. */
static inline int ramses_out_cells(const struct ramses_out *o)
{
    return 1 << o->h->ndim;
}

/* Octs of one list: level l, owner r; from the number of ranks on, region r beyond the boundary:
 * then oct has their references. */
struct ramses_block {
    const struct ramses_out *o;
    int level, rank;
    int32_t first; /* number of its first oct */
    int32_t n;
    const lidx *oct;
};

/* Directory o->tmp, on rank 0; the HDF5 writer's too. */
/* It is empty and nobody else's; what a killed run had left is removed. An error if o->final may
 * not be replaced. */
MUST_USE enum err ramses_out_begin(struct ramses_out *o);
MUST_USE enum err ramses_out_finish(struct ramses_out *o); /* becomes o->final */
/* Removes it, if begin had got it; keeps the message of the error that led here. */
void ramses_out_drop(struct ramses_out *o, enum err why);
/* total .. wide_ids, from mesh and particles (collective) */
void ramses_out_count(struct ramses_out *o);

/* order, number, first, count, beyond, ngrid, ngridmax */
MUST_USE enum err ramses_out_number(struct ramses_out *o);
void ramses_out_forget(struct ramses_out *o); /* frees them */

struct ramses_block ramses_block_of(const struct ramses_out *o, int level, int rank);
/* What the i-th oct beyond the boundary holds, NULL: it is in the box. *end, if not NULL: up to
 * where the rule is the same. */
const struct boundary_rule *ramses_block_rule(const struct ramses_block *b, int32_t i,
                                              int32_t *end);
MUST_USE enum err ramses_lines_of(const struct ramses_block *b, bool grav, int64_t first, int n,
                                  struct ramses_lines *out);
/* The span of ids: the greatest id, the greatest −id − 1, from 0 on · ids need 8 bytes. */
static inline void ramses_out_span(int64_t span[2], int64_t id)
{
    if (id > span[0]) span[0] = id;
    if (~id > span[1]) span[1] = ~id;
}
static inline bool ramses_out_is_wide(const int64_t span[2])
{
    return span[0] > INT32_MAX || span[1] >= INT32_MAX;
}
/* What the heads of particle files say: the source's numbers, or those of the stars there are. */
struct stars_formed ramses_out_formed(const struct ramses_out *o);
/* Column c of particles is in RAMSES files · its type there. */
bool ramses_out_has(const struct ramses_out *o, int c);
char ramses_out_type(const struct ramses_out *o, int c);
void ramses_block_header(struct fort_out *f, int level, int32_t n); /* of hydro and grav files */

/* Each writes one file of this rank (text: rank 0's files) under o->tmp. */
MUST_USE enum err ramses_write_amr(const struct ramses_out *o, const char *path);
/* and x */
MUST_USE enum err ramses_write_hydro(const struct ramses_out *o, const char *path,
                                     struct exact_out *x);
MUST_USE enum err ramses_write_grav(const struct ramses_out *o, const char *path);
MUST_USE enum err ramses_write_part(const struct ramses_out *o, const char *path);
/* All of them, and exact_; as many at a time as `threads` says, each with its buffers,
 * RAMSES_FILE_BYTES. */
MUST_USE enum err ramses_write_files(const struct ramses_out *o, int threads);
MUST_USE enum err ramses_write_texts(const struct ramses_out *o);
