/* ramses/priv: what the files of the RAMSES reader share. Private to ramses. */
#pragma once
#include "ckpt/info.h"
#include "ckpt/manifest.h"
#include "io/fortran.h"

/* The state of a source of this kind. Files are numbered from 1, as in their names. */
struct ramses {
    struct source *s;
    int ndomain; /* of the table in the info file; 0: none */
    /* big-endian · counts of 8 bytes · keys of 16 */
    bool swap, wide_counts, wide_keys;
    /* older than 2017 · older than 2010 · the reader assigns families */
    bool old_hydro, no_mass_sph, made_family;
    int64_t skip[3]; /* coarse cells below the box (physical boundaries) */
};

enum { AMR_RECORDS = 37 }; /* of an oct block in 3-D, the most there are */

/* Indices of the records: index, next, prev · xg · father · nbor · son, cpu_map, flag1 of each
 * cell. */
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

/* Reads the header of one amr file up to the first oct block, and compares it with r once r is
 * filled (first == false). */
MUST_USE enum err ramses_amr_head(struct fort_in *f, struct ramses *r, struct amr_head *a,
                                  bool first);
/* After it, in file 1: sets r->skip, s->coarse and s->head.boundary from the octs of level 1, which
 * are in every file. */
MUST_USE enum err ramses_find_box(struct fort_in *f, struct ramses *r, const struct amr_head *a);
void ramses_amr_head_free(struct amr_head *a);
/* Headers of hydro and grav files: number of variables. */
MUST_USE enum err ramses_hydro_head(struct fort_in *f, int ndim, const struct amr_head *a,
                                    int32_t *nvar, double *gamma);
MUST_USE enum err ramses_grav_head(struct fort_in *f, const struct amr_head *a, int32_t *nvar);
/* Header of a particle file: number of particles; stars formed, unless NULL. */
MUST_USE enum err ramses_part_head(struct fort_in *f, const struct ramses *r, int64_t *npart,
                                   struct stars_formed *formed);
/* Finds the columns of the particle files, from the descriptor or by counting. */
MUST_USE enum err ramses_read_columns(struct ramses *r);
bool ramses_has_file(const struct ramses *r, enum files_kind k);
/* Passes the tree of a file to fn, with all fields if `values`; an error of fn ends the walk. */
MUST_USE enum err ramses_read_octs(struct ramses *r, int file, bool values, source_octs_fn *fn,
                                   void *ctx);
MUST_USE enum err ramses_read_parts(struct ramses *r, int file, source_parts_fn *fn, void *ctx);
/* Verifies a file that is listed (s->list). */
MUST_USE enum err ramses_verify_sum(const struct ramses *r, enum files_kind k, int file,
                                    struct fort_in *f);
MUST_USE enum err ramses_verify(const struct ramses *r, enum files_kind k, int file);
/* ramses_verify, unless another rank verifies this file (source.sharers). k: AMR, HYDRO, GRAV or
 * PART. */
MUST_USE enum err ramses_verify_share(const struct ramses *r, enum files_kind k, int file);
MUST_USE enum err ramses_path(const struct ramses *r, enum files_kind k, int file,
                              char path[PATH_MAX]);

/* Of the kind: open (info.c), state and octs (source.c), what the audit asks for (audit.c). */
MUST_USE enum err ramses_open(struct source *s);
MUST_USE enum err ramses_file(const struct source *s, enum files_kind k, int piece,
                              char path[PATH_MAX]);
MUST_USE enum err ramses_check_files(struct source *s, source_damage_fn *fn, void *ctx);
MUST_USE enum err ramses_check_piece(struct source *s, int piece, source_damage_fn *fn, void *ctx);
MUST_USE enum err ramses_domains(struct source *s, struct source_domains *d);
MUST_USE enum err ramses_ranks(struct source *s, struct source_rank *row);
