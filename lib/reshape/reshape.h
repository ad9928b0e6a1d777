/* reshape/reshape: rewrites a checkpoint for any number of ranks, in either order of domains and in
 * any format, in bounded memory.
 *
 * The input is a source (ckpt/source.h; a filter in front of another source is one too) whose
 * pieces are divided among the ranks of `comm`. The bytes of the output do not depend on the number
 * of ranks and threads or on the memory. There are three passes:
 *
 *  - reshape_plan reads the tree and the particles: the weight of each part of the box gives the
 *    domains of the target ranks.
 *  - reshape_write reads everything and spills it to temporary files next to the output
 *    (out/spill): each oct with its values for its target owner and for those that need a copy,
 *    each particle for the owner of its base oct.
 *  - Then, for one target rank after another, it builds the tree in memory. The writers that
 *    `simulate` uses write the files and fetch the values from the temporary files.
 *
 * The output appears complete under its name or not at all. Bits of the state are passed on as the
 * source gives them. */
#pragma once
#include "out/writer.h"

struct reshape {
    const char *out; /* path of the directory to create, any name */
    const struct writer_kind *writer;
    enum source_mode mode; /* mode passed to source_whole */
    enum domain_kind kind; /* kind of domains, if files are by rank */
    int nrank;             /* number of ranks to write for, if files are by rank */
    int64_t
        /* memory of all ranks of comm together, bytes; 0: RESHAPE_MEMORY. Less than RESHAPE_MIN per
         * rank is an error */
        memory;
    double weight
        /* bytes of an oct, a particle, a particle of a sink's cloud, for load balance; 0: bytes
         * that simulate needs */
        [3];
    int number;  /* number of the output; 0: that of the source */
    int deflate; /* HDF5 compression: 0 none, or a level 1..9 */
    /* replace an existing `out` at the end; otherwise an existing `out` is an error */
    bool overwrite;
    const char *namelist, *provenance; /* texts, lent, or NULL */
};

static const int64_t RESHAPE_MEMORY = (int64_t)512 << 20, RESHAPE_MIN = (int64_t)64 << 20;

struct reshape_load { /* load of a target rank, without copies of other ranks' octs */
    int64_t octs, parts;
    double bytes;
};

struct reshape_plan {
    struct domain *domain;     /* domains, if files are by rank; else NULL */
    struct reshape_load *rank; /* [nrank] predicted load of each rank, if files are by rank */
    struct reshape_load total;
    int64_t clouds; /* particles of sinks' clouds, number */
    double weight[3];
    int level; /* finest level whose octs were weighed one by one */
    /* [ncut] if files are not by rank: first key, at level LEVEL_MAX, of each part that is sorted
     * as a whole */
    okey *cut;
    int ncut;
};

/* All functions are collective; errors are agreed. reshape_plan_free must be called after errors
 * too; a zeroed plan is also valid. */
MUST_USE enum err reshape_plan(const struct reshape *opt, struct source *s, const struct comm *c,
                               struct reshape_plan *p);
void reshape_plan_free(struct reshape_plan *p);
MUST_USE enum err reshape_write(const struct reshape *opt, struct source *s,
                                const struct reshape_plan *p, const struct comm *c);
/* Calls reshape_plan and reshape_write. */
MUST_USE enum err reshape_run(const struct reshape *opt, struct source *s, const struct comm *c);
