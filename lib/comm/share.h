/* comm/share: windows of memory that the ranks of a node read of each other.
 *
 * Each rank packs what others of its node are to read into blocks of its own window and tells them
 * where (comm/pack). A block is free again when its last reader says so; nobody ever waits for
 * that: a rank that finds no room sends the data itself. So a rank that has died is noticed where
 * it always was, by those who wait for its messages.
 *
 * A window is a file without a name (memfd_create) that disappears with its processes. Its pages
 * are kept until comm_share_trim, the first comm_share_keep bytes for good, and counted as
 * "exchange window" (base/mem). Each rank holds a table of the ranks of its node, none of all. */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"

/* The windows of this node. NULL: the rank is alone on its node, or the system refuses one of them
 * (all ranks of the node agree on that). Owner: comm_share_free, which is local; other ranks may
 * still read. (collective) */
struct comm_share *comm_share_new(const struct comm *c);
void comm_share_free(struct comm_share **s);
/* Returns the pages behind the last block that is still to be read and behind the first
 * comm_share_keep bytes: to get pages anew costs more than to fill them. s may be NULL. Local. */
void comm_share_trim(struct comm_share *s);
/* Does it share with this one? s may be NULL. */
bool comm_share_near(const struct comm_share *s, int rank);

/* ---- for lib/comm and its tests ---- */

/* Bytes of a window at most, 2^30, of a message in one at least, and of a window that are never
 * returned, 2^21. Tests set less; all ranks the same. */
extern size_t comm_share_max, comm_share_min, comm_share_keep;

enum { SHARE_ALIGN = 64 };

/* Where to find data in a window, in units of SHARE_ALIGN; data 0: in none. It is sent in its
 * place. */
struct share_slip {
    uint32_t block, data;
};

/* A block for this many readers; slip->block and slip->data are those of its first byte. NULL: no
 * room. */
char *share_get(struct comm_share *s, size_t bytes, int readers, struct share_slip *slip);
/* Data of another rank of the node, and that it has been read. */
const char *share_at(const struct comm_share *s, int rank, struct share_slip slip);
void share_done(const struct comm_share *s, int rank, struct share_slip slip);
