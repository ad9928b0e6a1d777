/* out/writer: interface of a format's writer: from the mesh and the particles of a run, or from a
 * spilled checkpoint. A format is a struct writer_kind; lib/formats has the table of formats. */
#pragma once
#include "out/publish.h"
#include "out/rewrite.h"

struct writer_kind {
    const char *name;
    /* true: one or more files per rank; the mesh must have Hilbert domains, one per rank, and the
     * target ranks of a rewrite need copies of other ranks' octs. false: all ranks write the same
     * files, in the global order of octs and particles (out/order.h), independent of domains. */
    bool by_rank;
    /* Hands all files of <dir>/output_NNNNN to the operating system, and prints nothing. Afterwards
     * the state may change; out_publish gives the checkpoint its name. Errors are agreed: all ranks
     * return the same one, nothing of the attempt remains, and an older output_NNNNN is unchanged.
     * d: NULL unless by_rank. (collective) */
    enum err (*write)(const char *dir, int number, const struct ckpt_head *h, const struct mesh *m,
                      const struct parts *p, const struct domain *d, const struct comm *c,
                      struct out_pending *out);
    /* Writes the files to w->o.tmp after everything has been spilled. (collective, agreed) */
    enum err (*rewrite)(struct rewrite *w);
};
