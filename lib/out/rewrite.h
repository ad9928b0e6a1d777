/* out/rewrite: a checkpoint whose octs and particles have been spilled (out/spill) by lib/reshape,
 * as its writers see it.
 *
 * A target is what is sorted and written at a time: the octs and particles of a target rank, with
 * copies of the octs that it needs from others, or a range of the global order. Each has a list of
 * octs per level and one list of particles. */
#pragma once
#include "ckpt/asis.h"
#include "ckpt/source.h"
#include "out/out.h"
#include "out/spill.h"

enum { ROW_OCT, ROW_PART }; /* kinds of rows that are spilled */
/* sections of an oct; those of a particle are columns */
enum { OCT_TREE, OCT_GAS, OCT_GRAV };
enum { BASE = 8 }; /* bytes of a value */

struct rewrite {
    struct source *s;
    const struct comm *c;
    struct ckpt_head head;
    struct ckpt_out o; /* what all files have in common; its comm: as which the texts are written */
    int ntarget, nlevel;
    struct spill spill;
    int64_t *own;         /* [ntarget][nlevel] octs without copies, over all ranks once shared */
    int64_t memory, room; /* of a rank, bytes · of it, what a target may need besides buffers */
    struct mesh box;      /* no octs: where positions are measured */
    /* If files are not by rank, for values of another code: the bits that the last bits of each
     * variable need. */
    struct asis asis;
    uint64_t last[LEVEL_MAX + 2][CKPT_FIELDS];
};

static inline int oct_list(const struct rewrite *w, int target, int level)
{
    return target * w->nlevel + level - 1;
}

static inline int part_list(const struct rewrite *w, int target)
{
    return w->ntarget * w->nlevel + target;
}

struct oct_tree {
    okey key;
    unsigned char split, flag, own; /* masks by cell · not a copy */
};

/* An oct in memory: where its values are. */
struct oct_ref {
    uint32_t chunk, row;
};

struct oct_item {
    okey key;
    struct oct_ref ref;
    unsigned char split, flag, own;
};

/* Octs of a list, own ones first, then in Morton order; an oct that occurs twice is an error.
 * (owner: caller, FREE) */
MUST_USE enum err rewrite_load(const struct rewrite *w, int target, int level,
                               struct oct_item **out, int64_t *n);

/* A section of n octs, oct by oct: [n][values][8]. */
MUST_USE enum err rewrite_fetch(const struct rewrite *w, int section, const struct oct_ref *ref,
                                int n, double (*row)[8]);

/* Bytes of buffers: of the reader and the batches, later of the writer of a target's files; they do
 * not depend on the size of the checkpoint. */
static inline int64_t rewrite_buffers(const struct rewrite *w)
{
    return ((int64_t)12 << 20) + w->s->nvalue * ((int64_t)5 << 19) +
           (int64_t)w->ntarget * w->nlevel * 32;
}
