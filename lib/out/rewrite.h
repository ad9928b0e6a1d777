/* out/rewrite: a checkpoint whose octs and particles lib/reshape has spilled (out/spill), for the
 * writers.
 *
 * A target is the unit of sorting and writing: the octs and particles of a target rank, with copies
 * of the octs that it needs from others, or a range of the global order. Each target has a list of
 * octs per level and one list of particles. */
#pragma once
#include "ckpt/asis.h"
#include "ckpt/source.h"
#include "out/out.h"
#include "out/spill.h"

enum { ROW_OCT, ROW_PART }; /* kinds of spilled rows */
/* Sections of an oct; the sections of a particle are its columns. */
enum { OCT_TREE, OCT_GAS, OCT_GRAV };
enum { BASE = 8 }; /* bytes of a value */

struct rewrite {
    struct source *s;
    const struct comm *c;
    struct ckpt_head head;
    struct ckpt_out o; /* state shared by all files; its comm writes the text files */
    int ntarget, nlevel;
    struct spill spill;
    /* [ntarget][nlevel] number of octs without copies; over all ranks after sharing */
    int64_t *own;
    int64_t memory, room; /* memory of a rank, bytes; the part of it for a target without buffers */
    struct mesh box;      /* mesh without octs, for positions */
    /* Mask of the bits in which values of another code differ from the recomputed ones, for files
     * that are not by rank. */
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
    unsigned char split, flag, own; /* split, flag: masks by cell; own: no copy */
};

/* Location of an oct's values. */
struct oct_ref {
    uint32_t chunk, row;
};

struct oct_item {
    okey key;
    struct oct_ref ref;
    unsigned char split, flag, own;
};

/* Reads the octs of a list: own octs, then copies, each in Morton order. An oct that occurs twice
 * is an error. (owner: caller, FREE) */
MUST_USE enum err rewrite_load(const struct rewrite *w, int target, int level,
                               struct oct_item **out, int64_t *n);

/* Reads a section of n octs, oct by oct: [n][values][8]. */
MUST_USE enum err rewrite_fetch(const struct rewrite *w, int section, const struct oct_ref *ref,
                                int n, double (*row)[8]);

/* Bytes of the buffers of the reader and the batches, and later of the writer of a target's files;
 * independent of the size of the checkpoint. */
static inline int64_t rewrite_buffers(const struct rewrite *w)
{
    return ((int64_t)12 << 20) + w->s->nvalue * ((int64_t)5 << 19) +
           (int64_t)w->ntarget * w->nlevel * 32;
}
