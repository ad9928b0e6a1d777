/* reshape/priv: shared by the files of reshape. */
#pragma once
#include "base/sum.h"
#include "ckpt/asis.h"
#include "ramses/out.h"
#include "reshape/reshape.h"
#include "reshape/spill.h"

enum { ROW_OCT, ROW_PART }; /* kinds of rows that are put aside */
/* sections of an oct; those of a particle are columns */
enum { OCT_TREE, OCT_GAS, OCT_GRAV };
/* particles that are worth another thread */
enum { PART_TASK = 2048 };
enum { BASE = 8 }; /* bytes of a value */

enum { MIXED = 2 }; /* levels above an oct that are asked whether one rank has everything there */

struct oct_tree {
    okey key;
    unsigned char split, flag, own; /* masks by cell · not a copy */
};

/* A batch of octs on its way, values row by row: another thread puts it away while the next is
 * read. */
struct oct_batch {
    int level, n, room;
    okey *key;
    unsigned char *split, *flag; /* masks by cell */
    double (*row[2])[8];         /* [n][values], gas and gravity */
};

/* A batch of particles: where they go; the columns that are not as wide in memory as in a source's
 * batch. [CKPT_PART_BATCH] */
struct part_batch {
    int *target;
    char *narrow[COL_MOST];
};

/* What is sorted and written at a time is a target: the octs and particles of a rank-to-be. */
struct reshaping {
    const struct reshape *opt;
    struct source *s;
    const struct reshape_plan *plan;
    const struct comm *c;
    struct comm file; /* as which the texts are written */
    struct ckpt_head head;
    struct ramses_out o;   /* what all files have in common */
    struct ckpt_rest rest; /* the source's */
    struct manifest list;
    int ntarget, nlevel;
    struct spill spill;
    int64_t *own; /* [ntarget][nlevel] octs without copies, over all ranks once shared */
    int64_t room; /* bytes for what a target needs besides buffers */
    int *near;    /* scratch: [ntarget] */
    /* the last found, by levels above, below which octs may be needed by several */
    okey mixed[MIXED];
    int mixed_level[MIXED];
    struct mesh box; /* no octs: where positions are measured */
    struct oct_batch batch[2];
    /* HDF5 of what another code stored: bits that the last bits of each variable take */
    struct asis asis;
    uint64_t last[LEVEL_MAX + 2][CKPT_FIELDS];
    struct part_batch part;
    int turn;                 /* the one to be filled next */
    struct err_first trouble; /* of putting away */
    int64_t family[RAMSES_FAMILIES], span[2];
    struct sum stars;
};

static inline int oct_list(const struct reshaping *w, int target, int level)
{
    return target * w->nlevel + level - 1;
}

static inline int part_list(const struct reshaping *w, int target)
{
    return w->ntarget * w->nlevel + target;
}

/* An oct in memory: where its values are. */
struct oct_ref {
    uint32_t chunk, row;
};

struct oct_item {
    okey key;
    struct oct_ref ref;
    unsigned char split, flag, own;
};

/* Octs of a list, own ones first, then in Morton order; an oct twice is an error. (owner: caller,
 * FREE) */
MUST_USE enum err reshape_load(const struct reshaping *w, int target, int level,
                               struct oct_item **out, int64_t *n);

/* A section of n octs, row by row: [n][values][8]. */
MUST_USE enum err reshape_fetch(const struct reshaping *w, int section, const struct oct_ref *ref,
                                int n, double (*row)[8]);

/* Memory of a rank; of it, what the buffers leave. */
static inline int64_t reshape_share(const struct reshape *opt, const struct comm *c)
{
    return (opt->memory ? opt->memory : RESHAPE_MEMORY) / c->size;
}

/* Buffers: of the reader and the batches, later of the writer of a target's files, whatever the
 * size of the checkpoint. */
static inline int64_t reshape_buffers(const struct reshaping *w)
{
    return ((int64_t)12 << 20) + w->s->nvalue * ((int64_t)5 << 19) +
           (int64_t)w->ntarget * w->nlevel * 32;
}

/* HDF5: position of an oct in Morton order, in octs of level LEVEL_MAX. */
static inline okey reshape_place(int level, okey key)
{
    return key << 3 * (LEVEL_MAX - level);
}

/* The pieces of the source that are this rank's, first..last-1: rank by rank they are in order. */
void reshape_pieces(const struct source *s, const struct comm *c, int *first, int *last);
/* The base oct that a particle is in, once its position is as the writers have it. */
okey reshape_base_oct(const struct ckpt_head *h, const double *const x[3], int64_t i);
/* all of this rank's pieces are put aside */
MUST_USE enum err reshape_scatter(struct reshaping *w);

/* What is left to do once all has been put aside. (collective, agreed) */
MUST_USE enum err reshape_ramses(struct reshaping *w);
MUST_USE enum err reshape_hdf5(struct reshaping *w);
/* HDF5: where a particle stands in the order, as a place. */
okey reshape_part_place(const struct mesh *box, const double *const x[3], int64_t i);
