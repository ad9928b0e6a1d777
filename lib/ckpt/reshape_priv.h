/* ckpt/reshape_priv: shared by the files of reshape. */
#pragma once
#include "base/sum.h"
#include "ckpt/ramses_out.h"
#include "ckpt/reshape.h"
#include "ckpt/spill.h"

enum { ROW_OCT, ROW_PART };                               /* kinds of rows that are put aside */
enum { OCT_TREE, OCT_GAS, OCT_GRAV };                     /* sections of an oct; those of a particle are columns */
enum { PART_MOST = COL_COUNT + RAMSES_FIELDS, BASE = 8 }; /* columns of a particle at most · bytes a value */

struct oct_tree {
    okey key;
    unsigned char split, flag, own; /* masks by cell · not a copy */
};

/* What is sorted and written at a time is a target: the octs and particles of a rank-to-be. */
struct reshaping {
    const struct reshape *opt;
    struct source *s;
    const struct reshape_plan *plan;
    const struct comm *c;
    struct comm file; /* as which the texts are written */
    struct ckpt_head head;
    struct ramses_out o; /* what all files have in common */
    struct manifest list;
    int ntarget, nlevel, npart_column; /* with the source's further ones */
    struct spill spill;
    int64_t *own; /* [ntarget][nlevel] octs without copies, over all ranks once shared */
    int64_t room; /* bytes for what a target needs besides buffers */
    int *near;    /* scratch: [ntarget] */
    okey mixed;   /* the last oct found whose children may be needed by several */
    int mixed_level;
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

/* Octs of a list, own ones first, then in Morton order; an oct twice is an error. (owner: caller, FREE) */
MUST_USE enum err reshape_load(const struct reshaping *w, int target, int level, struct oct_item **out, int64_t *n);

/* A section of n octs, row by row: [n][values][8]. */
MUST_USE enum err reshape_fetch(const struct reshaping *w, int section, const struct oct_ref *ref, int n,
                                double (*row)[8]);

/* Memory of a rank; of it, what the buffers leave. */
static inline int64_t reshape_share(const struct reshape *opt, const struct comm *c)
{
    return (opt->memory ? opt->memory : RESHAPE_MEMORY) / c->size;
}

/* HDF5: position of an oct in Morton order, in octs of level LEVEL_MAX. */
static inline okey reshape_place(int level, okey key)
{
    return key << 3 * (LEVEL_MAX - level);
}

/* What is left to do once all has been put aside. (collective, agreed) */
MUST_USE enum err reshape_ramses(struct reshaping *w);
MUST_USE enum err reshape_hdf5(struct reshaping *w);
/* Which target has an octs of this place. */
int reshape_target(const struct reshape_plan *p, okey place);
/* HDF5: where a particle stands in the order, as a place. */
okey reshape_part_place(const struct ckpt_head *h, const double x[3]);
