/* ckpt/ramses_priv: shared by the files of the RAMSES reader. */
#pragma once
#include "ckpt/fortran.h"
#include "ckpt/ramses_read.h"

/* Records of an oct block (3-D): index, next, prev · xg · father · nbor · son, cpu_map, flag1. */
enum { AMR_XG = 3, AMR_SON = 13, AMR_FLAG = 29, AMR_RECORDS = 37 };

struct amr_head {
    int32_t ncpu, nlevelmax, nboundary, ngrid_current;
    int32_t *numbl; /* [level-1][list], list < ncpu: octs by owner, then by boundary */
    char ordering[129];
};

/* Reads the header of one amr file up to the first oct block; checks it against r once r is filled (first == false). */
MUST_USE enum err ramses_amr_head(struct fort_in *f, struct ramses *r, struct amr_head *a, bool first);
void ramses_amr_head_free(struct amr_head *a);
/* Headers of hydro and grav files: number of variables. */
MUST_USE enum err ramses_hydro_head(struct fort_in *f, const struct amr_head *a, int32_t *nvar, double *gamma);
MUST_USE enum err ramses_grav_head(struct fort_in *f, const struct amr_head *a, int32_t *nvar);
/* Header of a particle file: number of particles. */
MUST_USE enum err ramses_part_head(struct fort_in *f, int ncpu, int32_t *npart);
MUST_USE enum err ramses_read_info(struct ramses *r); /* ncpu, levelmin, boxlen, units of the info file */
/* Names of the nvar gas variables into r->field, from the descriptor if there is one; path: who says nvar. */
MUST_USE enum err ramses_hydro_names(struct ramses *r, const char *path, int nvar);
MUST_USE enum err ramses_path(const struct ramses *r, const char *kind, int file, char *path, size_t n);
