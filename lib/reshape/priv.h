/* reshape/priv: what the files of this module share. Private to reshape. */
#pragma once
#include "base/sum.h"
#include "out/order.h"
#include "out/spill.h"
#include "reshape/reshape.h"

/* particles that are worth another thread */
enum { PART_TASK = 2048 };

enum { MIXED = 2 }; /* levels above an oct at which one rank may have everything around it */

/* A batch of octs, values by oct: one thread spills it while another reads the next batch. */
struct oct_batch {
    int level, n, room;
    okey *key;
    unsigned char *split, *flag; /* masks by cell */
    double (*row[2])[8];         /* [n][values], gas and gravity */
};

/* A batch of particles: their target ranks, and the columns that are narrower in memory than in the
 * batch of a source. [CKPT_PART_BATCH] */
struct part_batch {
    int *target;
    char *narrow[COL_MAX];
};

struct reshaping {
    struct rewrite r;
    const struct reshape *opt;
    const struct reshape_plan *plan;
    struct comm file;      /* the ranks in whose name the texts are written */
    struct ckpt_rest rest; /* the rest of the source */
    struct manifest list;
    int *near; /* scratch: [ntarget] */
    /* by level above an oct: the last ancestor found whose octs several ranks may need */
    okey mixed[MIXED];
    int mixed_level[MIXED];
    struct oct_batch batch[2];
    struct part_batch part;
    int turn;                 /* the one to be filled next */
    struct err_first trouble; /* of the spilling thread */
    int64_t family[FAMILIES], span[2];
    struct sum stars;
};

/* Memory of a rank. */
static inline int64_t reshape_share(const struct reshape *opt, const struct comm *c)
{
    return (opt->memory ? opt->memory : RESHAPE_MEMORY) / c->size;
}

/* Position of an oct in Morton order, in octs of level LEVEL_MAX. */
static inline okey reshape_position(int level, okey key)
{
    return key << 3 * (LEVEL_MAX - level);
}

/* The pieces of the source that this rank reads, first..last-1, ascending with the rank. */
void reshape_pieces(const struct source *s, const struct comm *c, int *first, int *last);
/* The base oct that contains a particle, after its position has been wrapped as writers do it. */
okey reshape_base_oct(const struct ckpt_head *h, const double *const x[3], int64_t i);
/* all of this rank's pieces are spilled */
MUST_USE enum err reshape_scatter(struct reshaping *w);
