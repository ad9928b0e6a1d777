/* out: shared by the writers of all formats: what is written, the directory that appears complete
 * or not at all, counts over all ranks, texts and tables. */
#pragma once
#include <limits.h>

#include "ckpt/batch.h"
#include "ckpt/ckpt.h"
#include "ckpt/manifest.h"
#include "io/sync_async.h"
#include "oct/fields.h"

struct ckpt_out {
    const struct ckpt_head *h;
    const struct mesh *m;
    const struct parts *p;
    const struct domain *d;
    const struct comm *c;
    const struct part_columns *columns; /* of the particles; NULL: there are none */
    /* The values are as another code stored them, in the order of its fields, gas, then gravity
     * (lent); NULL: they are the state of a run. */
    const struct ckpt_field *stored;
    int nhydro, ngrav;
    field_set fields; /* rows of fields.def that are written beside the variables of the gas */
    int64_t npart;
    int output, nlevel; /* output's number · levels in the file, levelmax */
    char tmp[4000], final[4000];
    int lock;                /* on tmp, as long as it is this process's; else -1 */
    struct manifest *list;   /* files written */
    struct sync_async *sync; /* who syncs and closes them; NULL: each is synced at once */
    int64_t ngridmax;        /* array size that the files claim, equal on all ranks */
    /* own octs over the ranks */
    int64_t total[LEVEL_MAX + 2], min[LEVEL_MAX + 2], max[LEVEL_MAX + 2];
    /* particles over the ranks */
    int64_t family[FAMILIES]; /* by row */
    double star_mass;
    bool wide_ids;
};

/* Sets o->final to <dir>/output_NNNNN, from h and m. */
MUST_USE enum err out_name(struct ckpt_out *o, const char *dir, int number);
void out_name_tmp(struct ckpt_out *o); /* sets o->tmp from o->final */
/* Directory o->tmp, on rank 0; the same for all formats. */
/* Creates it, empty and locked; what a killed run left is removed. An error if o->final may not be
 * replaced. */
MUST_USE enum err out_begin(struct ckpt_out *o);
MUST_USE enum err out_finish(struct ckpt_out *o); /* becomes o->final */
/* Removes o->tmp, if begin had created it, lets go of o->lock; keeps the message of the error. */
void out_drop(const char *tmp, int *lock, enum err why);
/* total .. wide_ids, from mesh and particles (collective) */
void out_count(struct ckpt_out *o);

/* The span of ids: the max id, the max of −id − 1, from 0 on. Do ids need 8 bytes? */
static inline void out_span(int64_t span[2], int64_t id)
{
    if (id > span[0]) span[0] = id;
    if (~id > span[1]) span[1] = ~id;
}
static inline bool out_is_wide(const int64_t span[2])
{
    return span[0] > INT32_MAX || span[1] >= INT32_MAX;
}
/* The counts in the headers of particle files: those of the source, or of the stars that there are.
 */
struct stars_formed out_formed(const struct ckpt_out *o);
/* Numbers of fields in the files of the gas and of gravity. */
static inline int out_hydro(const struct ckpt_out *o)
{
    return o->h->hydro ? o->h->nvar + fields_count(o->fields, FILE_HYDRO) : 0;
}
static inline int out_gravity(const struct ckpt_out *o)
{
    return !o->h->gravity ? 0 : o->stored ? o->ngrav : fields_count(o->fields, FILE_GRAVITY);
}
/* Is column c of particles in RAMSES files, and with which type? */
bool out_has(const struct ckpt_out *o, int c);
char out_type(const struct ckpt_out *o, int c);
/* Writes info_NNNNN.txt and the other texts under o->tmp: on rank 0. */
MUST_USE enum err out_texts(const struct ckpt_out *o);
/* Writes this rank's files of the head under o->tmp. Local. */
MUST_USE enum err out_files(const struct ckpt_out *o);
