/* out: shared by the writers of all formats: the state to write, the directory that gets its name
 * when it is complete, counts over all ranks, text files and tables. */
#pragma once
#include <limits.h>
#include <stdio.h>

#include "ckpt/batch.h"
#include "ckpt/ckpt.h"
#include "ckpt/manifest.h"
#include "io/sync_async.h"
#include "oct/fields.h"

struct ckpt_out {
    const struct ckpt_head *h;
    const struct mesh *m; /* NULL: a checkpoint without an octree (lib/grid) */
    const struct parts *p;
    const struct domain *d;
    const struct comm *c;
    const struct part_columns *columns; /* columns of the particles; NULL: no particles */
    /* Fields as another code stored them, in its order: gas, gravity, radiation (lent); NULL: the
     * values are the state of a run. */
    const struct ckpt_field *stored;
    int nhydro, ngrav, nphoton;
    field_set fields; /* rows of fields.def that are written besides the variables of the gas */
    int64_t npart;
    int output, nlevel; /* number of the output; levels in the file: levelmax */
    char tmp[4000], final[4000];
    int lock; /* descriptor that holds the lock on tmp; -1: not locked by this process */
    struct manifest *list;   /* list of files written */
    struct sync_async *sync; /* list of files to sync and close later; NULL: at once */
    int64_t ngridmax;        /* array size in the headers, equal on all ranks */
    /* number of own octs by level: sum, minimum and maximum over ranks */
    int64_t total[LEVEL_MAX + 2], min[LEVEL_MAX + 2], max[LEVEL_MAX + 2];
    /* number of particles over all ranks */
    int64_t family[FAMILIES]; /* number by row of the table of families */
    double star_mass;
    bool wide_ids;
};

/* Sets o->final to <dir>/output_NNNNN, from h and m. */
MUST_USE enum err out_name(struct ckpt_out *o, const char *dir, int number);
void out_name_tmp(struct ckpt_out *o); /* sets o->tmp from o->final */
/* Creates directory o->tmp on rank 0 in all formats, empty and locked; leftovers of a killed run
 * are removed. Error if o->final must not be replaced. */
MUST_USE enum err out_begin(struct ckpt_out *o);
MUST_USE enum err out_finish(struct ckpt_out *o); /* renames o->tmp to o->final */
/* Removes o->tmp, if out_begin created it, releases o->lock, and keeps the message of the error. */
void out_drop(const char *tmp, int *lock, enum err why);
/* Computes total .. wide_ids from mesh and particles. (collective) */
void out_count(struct ckpt_out *o);

/* Extends the range of ids: span[0] is the maximum id, span[1] the maximum of −id − 1, both from 0
 * on. out_is_wide: whether ids need 8 bytes. */
static inline void out_span(int64_t span[2], int64_t id)
{
    if (id > span[0]) span[0] = id;
    if (~id > span[1]) span[1] = ~id;
}
static inline bool out_is_wide(const int64_t span[2])
{
    return span[0] > INT32_MAX || span[1] >= INT32_MAX;
}
/* Counts for the headers of particle files: counts of the source, or of the existing stars if
 * larger. */
struct stars_formed out_formed(const struct ckpt_out *o);
/* Numbers of values of the gas files and of gravity, as the writer has them: of a state in memory,
 * or as another code stored them. */
static inline int out_hydro(const struct ckpt_out *o)
{
    const int ndim = o->stored ? o->h->ndim : 3;
    return o->h->hydro ? o->h->nvar + fields_count(o->fields, FILE_HYDRO, ndim) : 0;
}
static inline int out_gravity(const struct ckpt_out *o)
{
    return !o->h->gravity ? 0 : o->stored ? o->ngrav : fields_count(o->fields, FILE_GRAVITY, 3);
}
/* Of the radiation, which come behind these. */
static inline int out_photons(const struct ckpt_out *o)
{
    return o->stored ? o->nphoton : PHOTON_VALUES * o->h->radiation.groups;
}
/* Whether value v of these is in the files, which have vectors of ndim components; and how many
 * are. */
static inline bool out_in_file(const struct ckpt_out *o, int v)
{
    const int nvar = o->h->hydro ? o->h->nvar : 0;
    return o->stored || field_in_file(o->fields, field_stored(o->fields, nvar, v, 3), o->h->ndim);
}
static inline int out_hydro_file(const struct ckpt_out *o)
{
    int n = 0;
    for (int v = 0; v < out_hydro(o); v++) n += out_in_file(o, v);
    return n;
}
static inline int out_gravity_file(const struct ckpt_out *o)
{
    int n = 0;
    for (int v = 0; v < out_gravity(o); v++) n += out_in_file(o, out_hydro(o) + v);
    return n;
}
static inline int out_photons_file(const struct ckpt_out *o)
{
    return o->stored ? o->nphoton : photons_count(out_photons(o), o->h->ndim);
}
/* Is column c of particles in RAMSES files, and with which type? */
bool out_has(const struct ckpt_out *o, int c);
char out_type(const struct ckpt_out *o, int c);
/* Prints the text of info_NNNNN.txt; d NULL: as of a single rank. */
void out_info(FILE *t, const struct ckpt_out *o);
/* Writes info_NNNNN.txt and the other text files to o->tmp. Called by rank 0. */
MUST_USE enum err out_texts(const struct ckpt_out *o);
/* The namelist and the history alone. */
MUST_USE enum err out_run_texts(const struct ckpt_out *o);
void out_real(FILE *t, double x); /* in Fortran's format E23.15 */
/* Texts of the radiation (radiation.c). */
void out_radiation_info(FILE *t, const struct ckpt_out *o);
void out_radiation_names(FILE *t, const struct ckpt_out *o);
/* Writes the additional files of the header (h->file) of this rank to o->tmp. Local. */
MUST_USE enum err out_files(const struct ckpt_out *o);
