/* observe/live: the running mesh as a source, behind the contract of ckpt/source.h.
 *
 * Each rank is a piece: its own octs in Morton order, level by level, and its particles, with the
 * values that a checkpoint of the same moment has, bit by bit. (Gas of split cells above levelmin
 * is what the mesh has; before an output the run sets it to the mean of the children.) A rank can
 * read its own piece only, as readers do that divide the pieces among the ranks (audit/digest,
 * view/feed). For those that read all pieces in one process (view/map, view/profile) live_on_root
 * hands the pieces of the other ranks to rank 0, batch by batch. */
#pragma once
#include "ckpt/source.h"

/* All of it lent until source_close. */
struct live {
    const struct ckpt_head *head;
    const struct mesh *mesh;
    const struct parts *parts;
    const struct comm *comm;
    const char *name; /* for messages: "output_00003" */
    int number;       /* of the output */
};

/* (collective, agreed) */
MUST_USE enum err source_live(const struct live *l, struct source **out);
/* Rank 0 calls fn with s, all of whose pieces it can read then. (collective, agreed) */
MUST_USE enum err live_on_root(struct source *s, enum err (*fn)(struct source *s, void *ctx),
                               void *ctx);
