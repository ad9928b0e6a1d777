/* out/writer: how a format is written: from the mesh and the particles of a run, or from a
 * checkpoint that was spilled. A format is a struct writer_kind; lib/formats has the table of
 * formats. */
#pragma once
#include "out/publish.h"
#include "out/rewrite.h"

struct writer_kind {
    const char *name;
    /* One file or several per rank: the mesh must have Hilbert domains, one per rank, and the
     * target ranks of a rewrite need copies of others' octs. Otherwise all ranks write the same
     * files, in the global order of octs and particles (out/order.h), and domains do not matter. */
    bool by_rank;
    /* Hands all of <dir>/output_NNNNN to the system, and prints nothing. The state is free then;
     * the checkpoint gets its name by out_publish. Errors are agreed: all ranks return the same
     * one, and then nothing of the attempt remains, while an older output_NNNNN is unchanged.
     * d: NULL unless by_rank. (collective) */
    enum err (*write)(const char *dir, int number, const struct ckpt_head *h, const struct mesh *m,
                      const struct parts *p, const struct domain *d, const struct comm *c,
                      struct out_pending *out);
    /* Writes the files under w->o.tmp after everything has been spilled. (collective, agreed) */
    enum err (*rewrite)(struct rewrite *w);
};
