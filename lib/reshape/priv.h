/* reshape/priv: shared by the files of reshape. */
#pragma once
#include "base/sum.h"
#include "out/order.h"
#include "out/spill.h"
#include "reshape/reshape.h"

/* particles that are worth another thread */
enum { PART_TASK = 2048 };

enum { MIXED = 2 }; /* levels above an oct that are asked whether one rank has everything there */

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

struct reshaping {
    struct rewrite r;
    const struct reshape *opt;
    const struct reshape_plan *plan;
    struct comm file;      /* as which the texts are written */
    struct ckpt_rest rest; /* the source's */
    struct manifest list;
    int *near; /* scratch: [ntarget] */
    /* the last found, by levels above, below which octs may be needed by several */
    okey mixed[MIXED];
    int mixed_level[MIXED];
    struct oct_batch batch[2];
    struct part_batch part;
    int turn;                 /* the one to be filled next */
    struct err_first trouble; /* of putting away */
    int64_t family[CKPT_FAMILIES], span[2];
    struct sum stars;
};

/* Memory of a rank. */
static inline int64_t reshape_share(const struct reshape *opt, const struct comm *c)
{
    return (opt->memory ? opt->memory : RESHAPE_MEMORY) / c->size;
}

/* Position of an oct in Morton order, in octs of level LEVEL_MAX. */
static inline okey reshape_place(int level, okey key)
{
    return key << 3 * (LEVEL_MAX - level);
}

/* The pieces of the source that are this rank's, first..last-1: rank by rank they are in order. */
void reshape_pieces(const struct source *s, const struct comm *c, int *first, int *last);
/* The base oct that a particle is in, once its position is as the writers have it. */
okey reshape_base_oct(const struct ckpt_head *h, const double *const x[3], int64_t i);
/* all of this rank's pieces are spilled */
MUST_USE enum err reshape_scatter(struct reshaping *w);
