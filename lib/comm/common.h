/* comm/common: data that all ranks read and none changes, in one copy for each node.
 *
 * The copy is a block of the window of the node's first rank (comm/share). A rank without a window,
 * or of a node whose window is full, has a copy of its own. */
#pragma once
#include <stdbool.h>

#include "comm/share.h"

struct comm_common {
    const void *at; /* the data; NULL: none */
    /* The following are private. */
    struct comm_share *share; /* NULL: the data are this rank's own (lent) */
    int owner;                /* rank that has the block */
    struct share_slip slip;
};

/* data: `bytes` bytes on rank 0, not read on the others. (collective) */
struct comm_common comm_common_new(const struct comm *c, const void *data, size_t bytes);
/* Local, before comm_share_free; other ranks may still read. */
void comm_common_free(struct comm_common *k);
