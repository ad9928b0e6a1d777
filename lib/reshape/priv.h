/* reshape/priv: declarations shared by the files of this module. Private to reshape. */
#pragma once
#include "base/sum.h"
#include "out/order.h"
#include "out/spill.h"
#include "reshape/reshape.h"

/* minimum number of particles for which a further thread pays off */
enum { PART_TASK = 2048 };

enum { MIXED = 2 }; /* levels above an oct at which one rank may own all octs around it */

/* A batch of octs, values by oct: one thread spills a batch while another reads the next one. */
struct oct_batch {
    int level, n, room;
    okey *key;
    unsigned char *split, *flag; /* masks by cell */
    double (*row[2])[8];         /* [n][values], gas and gravity */
};

/* A batch of particles: target ranks, and columns whose type in memory is narrower than in the
 * batch of a source. [CKPT_PART_BATCH] */
struct part_batch {
    int *target;
    char *narrow[COL_MAX];
};

struct reshaping {
    struct rewrite r;
    const struct reshape *opt;
    const struct reshape_plan *plan;
    struct comm file;      /* ranks in whose name the texts are written */
    struct ckpt_rest rest; /* the rest of the source */
    struct manifest list;
    int *near; /* scratch: [ntarget] */
    /* by level above an oct: the last ancestor found whose octs several ranks may need */
    okey mixed[MIXED];
    int mixed_level[MIXED];
    struct oct_batch batch[2];
    struct part_batch part;
    int turn;                 /* index of the batch to be filled next */
    struct err_first trouble; /* first error of the spilling thread */
    int64_t family[FAMILIES], span[2];
    struct sum stars;
};

/* Memory of a rank, bytes. */
static inline int64_t reshape_share(const struct reshape *opt, const struct comm *c)
{
    return (opt->memory ? opt->memory : RESHAPE_MEMORY) / c->size;
}

/* Position of an oct in Morton order, in octs of level LEVEL_MAX. */
static inline okey reshape_position(int level, okey key)
{
    return key << 3 * (LEVEL_MAX - level);
}

/* The pieces of the source that this rank reads: first..last-1, ascending with the rank. */
void reshape_pieces(const struct source *s, const struct comm *c, int *first, int *last);
/* Base oct that contains a particle, after its position has been wrapped as writers wrap it. */
okey reshape_base_oct(const struct ckpt_head *h, const double *const x[3], int64_t i);
/* Reads all pieces of this rank and spills their octs and particles. */
MUST_USE enum err reshape_scatter(struct reshaping *w);
