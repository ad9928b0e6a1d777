/* ramses/priv: structs and functions shared by the files of the RAMSES reader. Private to ramses.
 */
#pragma once
#include "ckpt/info.h"
#include "ckpt/manifest.h"
#include "io/fortran.h"

/* State of a RAMSES source. Files are numbered from 1, as in their names. */
struct ramses {
    struct source *s;
    int ndomain; /* number of domains in the table of the info file; 0: no table */
    /* big-endian; counts of 8 bytes; keys of 16 bytes */
    bool swap, wide_counts, wide_keys;
    /* files from before 2017; files from before 2010; families assigned by the reader */
    bool old_hydro, no_mass_sph, made_family;
    bool conserved;  /* the hydro files have conserved variables */
    int64_t skip[3]; /* number of coarse cells below the box (physical boundaries) */
};

enum { AMR_RECORDS = 37 }; /* maximum records of an oct block (3-D) */

/* Indices of the records of an oct block: index, next, prev; xg; father; nbor; son, cpu_map, flag1
 * of each cell. */
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
    int32_t *numbl; /* [level-1][list] number of octs; list < ncpu: by owner, then by boundary */
    char ordering[129];
};

/* Reads the header of an amr file up to the first oct block, and compares it with r unless first is
 * true. */
MUST_USE enum err ramses_amr_head(struct fort_in *f, struct ramses *r, struct amr_head *a,
                                  bool first);
/* Sets r->skip, s->coarse and s->head.boundary from the octs of level 1, which are in every file;
 * called after ramses_amr_head of file 1. */
MUST_USE enum err ramses_find_box(struct fort_in *f, struct ramses *r, const struct amr_head *a);
void ramses_amr_head_free(struct amr_head *a);
/* ramses_hydro_head and ramses_grav_head read the header: number of variables. */
MUST_USE enum err ramses_hydro_head(struct fort_in *f, int ndim, const struct amr_head *a,
                                    int32_t *nvar, double *gamma);
MUST_USE enum err ramses_grav_head(struct fort_in *f, const struct amr_head *a, int32_t *nvar);
/* Reads the header of a particle file: number of particles; stars formed, unless NULL. */
MUST_USE enum err ramses_part_head(struct fort_in *f, const struct ramses *r, int64_t *npart,
                                   struct stars_formed *formed);
/* Finds the columns of the particle files, from the descriptor or by counting records. */
MUST_USE enum err ramses_read_columns(struct ramses *r);
bool ramses_has_file(const struct ramses *r, enum files_kind k);
/* Passes the tree of a file to fn, with all fields if `values`; an error of fn ends the walk. */
MUST_USE enum err ramses_read_octs(struct ramses *r, int file, bool values, source_octs_fn *fn,
                                   void *ctx);
MUST_USE enum err ramses_read_parts(struct ramses *r, int file, source_parts_fn *fn, void *ctx);
/* Compares the checksum of a file that was read with the list (s->list). */
MUST_USE enum err ramses_verify_sum(const struct ramses *r, enum files_kind k, int file,
                                    struct fort_in *f);
MUST_USE enum err ramses_verify(const struct ramses *r, enum files_kind k, int file);
/* Verifies a file by ramses_verify, unless another rank does (source.sharers). k: AMR, HYDRO, GRAV
 * or PART. */
MUST_USE enum err ramses_verify_share(const struct ramses *r, enum files_kind k, int file);
MUST_USE enum err ramses_path(const struct ramses *r, enum files_kind k, int file,
                              char path[PATH_MAX]);

/* Reads the number of groups of photons and the header of the radiation, s->head.radiation, and
 * names the fractions of ions (radiation.c). */
MUST_USE enum err ramses_read_radiation(struct ramses *r, const struct amr_head *a);

/* Densities of photons from c times them and the differences of the last bits, if there are any. */
void photons_from_file(int n, double c, const signed char *last, double *row);

/* Functions of the source: open (info.c), state and octs (source.c), audit (audit.c). */
MUST_USE enum err ramses_open(struct source *s);
MUST_USE enum err ramses_file(const struct source *s, enum files_kind k, int piece,
                              char path[PATH_MAX]);
MUST_USE enum err ramses_check_files(struct source *s, source_damage_fn *fn, void *ctx);
MUST_USE enum err ramses_check_piece(struct source *s, int piece, source_damage_fn *fn, void *ctx);
MUST_USE enum err ramses_domains(struct source *s, struct source_domains *d);
MUST_USE enum err ramses_ranks(struct source *s, struct source_rank *row);
