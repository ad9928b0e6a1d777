/* ramses/priv: shared by the files of the RAMSES reader. */
#pragma once
#include "ckpt/manifest.h"
#include "ramses/fortran.h"
#include "ramses/read.h"

enum { AMR_RECORDS = 37 }; /* of an oct block in 3-D, the most there are */

/* Where they are: index, next, prev · xg · father · nbor · son, cpu_map, flag1 of each cell. */
struct amr_shape {
    int ncell, xg, son, flag, records;
};

static inline struct amr_shape amr_shape(int ndim)
{
    int n = 1 << ndim, son = 3 + ndim + 1 + 2 * ndim;
    return (struct amr_shape){
        .ncell = n, .xg = 3, .son = son, .flag = son + 2 * n, .records = son + 3 * n};
}

struct amr_head {
    int32_t ncpu, nlevelmax, nboundary, ngrid_current;
    int32_t *numbl; /* [level-1][list], list < ncpu: octs by owner, then by boundary */
    char ordering[129];
};

/* Reads the header of one amr file up to the first oct block; checks it against r once r is filled
 * (first == false). */
MUST_USE enum err ramses_amr_head(struct fort_in *f, struct ramses *r, struct amr_head *a,
                                  bool first);
/* After it, in file 1: r->skip, r->coarse and r->head.boundary from the octs of level 1, which
 * every file has. */
MUST_USE enum err ramses_find_box(struct fort_in *f, struct ramses *r, const struct amr_head *a);
void ramses_amr_head_free(struct amr_head *a);
/* Headers of hydro and grav files: number of variables. */
MUST_USE enum err ramses_hydro_head(struct fort_in *f, int ndim, const struct amr_head *a,
                                    int32_t *nvar, double *gamma);
MUST_USE enum err ramses_grav_head(struct fort_in *f, const struct amr_head *a, int32_t *nvar);
/* Header of a particle file: number of particles; stars formed, unless NULL. */
MUST_USE enum err ramses_part_head(struct fort_in *f, const struct ramses *r, int64_t *npart,
                                   struct stars_formed *formed);
/* As strtod, but takes Fortran's exponents of three digits, which have no letter: 0.1-120. */
double ramses_real(const char *s, char **end);
/* ncpu, levelmin, boxlen, units of the info file */
MUST_USE enum err ramses_read_info(struct ramses *r);
/* Names of the nvar gas variables into r->field, from the descriptor if there is one; path: who
 * says nvar. */
MUST_USE enum err ramses_hydro_names(struct ramses *r, const char *path, int nvar);
/* Path of a text or of another file that rank 1 wrote. */
MUST_USE enum err ramses_text_path(const struct ramses *r, const char *name, char *path, size_t n);
/* Columns of the particle files, from the descriptor or by counting. */
MUST_USE enum err ramses_read_columns(struct ramses *r);
MUST_USE enum err ramses_add_field(const char *path, struct ckpt_field *list, int *n,
                                   const char *name, char type);
/* *n = 0 if there is no such file; old: of before 2017. */
MUST_USE enum err ramses_read_descriptor(const struct ramses *r, const char *kind,
                                         struct ckpt_field *list, int *n, bool *old);
bool ramses_has_file(const struct ramses *r, const char *kind);
/* Sink particles, stellar objects, cooling table: those that are there. */
MUST_USE enum err ramses_read_extras(struct ramses *r);
bool ramses_is_position(const struct ramses *r, int field); /* a particle column */
/* the positions are read */
bool ramses_picks_parts(const struct ramses *r, const struct ramses_parts *p);
/* Verifies files that are listed (r->list): one of a rank · all texts that matter to reading. */
MUST_USE enum err ramses_verify_sum(const struct ramses *r, const char *kind, int file,
                                    struct fort_in *f);
MUST_USE enum err ramses_verify(const struct ramses *r, const char *kind, int file);
MUST_USE enum err ramses_verify_texts(struct ramses *r); /* loads r->list */
MUST_USE enum err ramses_path(const struct ramses *r, const char *kind, int file, char *path,
                              size_t n);
