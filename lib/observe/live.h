/* observe/live: the running mesh as a source, with the interface of ckpt/source.h.
 *
 * Each rank is a piece: its own octs in Morton order, level by level, and its particles, with
 * bitwise the values of a checkpoint at the same time. (Gas of split cells on levels coarser than
 * levelmin has the values of the mesh; before an output the run sets it to the mean of the
 * children.) A rank can read its own piece only, for readers that divide the pieces among the ranks
 * (audit/digest, view/feed). For readers that read all pieces in one process (view/map,
 * view/profile) live_on_root sends the pieces of the other ranks to rank 0, batch by batch. */
#pragma once
#include "ckpt/source.h"

/* State of a run; lent until source_close. */
struct live {
    const struct ckpt_head *head;
    const struct mesh *mesh;
    const struct parts *parts;
    const struct comm *comm;
    const char *name; /* name for messages: "output_00003" */
    int number;       /* number of the output */
};

/* From now on batches of a state have its first n values only, as this rank reads its own piece: 1
 * is the density of the gas. */
void live_some(struct source *s, int n);
/* Opens the running mesh as a source. (collective, agreed) */
MUST_USE enum err source_live(const struct live *l, struct source **out);
/* Calls fn on rank 0 with s, which can then read all pieces. (collective, agreed) */
MUST_USE enum err live_on_root(struct source *s, enum err (*fn)(struct source *s, void *ctx),
                               void *ctx);
