/* comm/share: windows of shared memory between the ranks of a node.
 *
 * Each rank packs the data for other ranks of its node into blocks of its own window and sends them
 * the location (comm/pack). The last reader of a block releases it, and comm/pack never waits for
 * a release: a rank without room sends the data as a message. So a rank that has died is still
 * noticed by the ranks that wait for its messages. Only the transport `nodes` (comm/nodes) waits.
 *
 * A window is an unnamed file (memfd_create) that disappears with its processes. Its pages are kept
 * until comm_share_trim, the first comm_share_keep bytes permanently, and are counted as "exchange
 * window" (base/mem). Each rank holds a table of the ranks of its node only. */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"

/* Creates the windows of this node. NULL if the rank is alone on its node or the system refuses a
 * window (all ranks of the node agree). Owner: comm_share_free, which is local; other ranks may
 * still read. (collective) */
struct comm_share *comm_share_new(const struct comm *c);
void comm_share_free(struct comm_share **s);
/* Returns the pages behind the last block in use and behind the first comm_share_keep bytes, since
 * new pages cost more time than filling them. s may be NULL. Local. */
void comm_share_trim(struct comm_share *s);
/* Whether this rank shares windows with `rank`. s may be NULL. */
bool comm_share_near(const struct comm_share *s, int rank);

/* ---- for lib/comm and its tests ---- */

/* Maximum bytes of a window, 2^30; minimum bytes of a message that uses a window; bytes of a window
 * that are never returned, 2^21. Tests set smaller values, equal on all ranks. */
extern size_t comm_share_max, comm_share_min, comm_share_keep;

enum { SHARE_ALIGN = 64 };

/* Location of data in a window, in units of SHARE_ALIGN; data 0: sent as a message instead. */
struct share_slip {
    uint32_t block, data;
};

/* Allocates a block for this many readers; slip receives its location. NULL if full. */
char *share_get(struct comm_share *s, size_t bytes, int readers, struct share_slip *slip);
/* share_get of a block that is read within the exchange. share_get leaves it the last 2^24 bytes of
 * a window of at least 2^26. */
char *share_get_soon(struct comm_share *s, size_t bytes, int readers, struct share_slip *slip);
/* The number of blocks of this rank that had readers at the last share_get or share_get_soon. */
int share_used(const struct comm_share *s);
/* share_at returns the data of another rank of the node; share_done marks them as read. */
const char *share_at(const struct comm_share *s, int rank, struct share_slip slip);
void share_done(const struct comm_share *s, int rank, struct share_slip slip);

/* ---- nodes, where every rank of the run has a window and shares it ---- */

/* The number of nodes; 0 if some rank has no window, windows are small (in tests), or s is NULL.
 * Equal on all ranks. */
int share_nodes(const struct comm_share *s);
/* Ranks of this node, ascending: their number, the rank with an index, the index of a rank. */
int share_ranks(const struct comm_share *s);
int share_rank(const struct comm_share *s, int index);
int share_index(const struct comm_share *s, int rank);
/* The node of a rank, and the rank of a node that exchanges messages with another node for it. */
int share_node_of(const struct comm_share *s, int rank);
int share_gate(const struct comm_share *s, int node, int other);

/* Boards of a rank: locations of blocks that the ranks of its node may read, by turn. A rank may
 * begin a turn only if it has ended all that are SHARE_TURNS / 2 older; it ends a turn only when
 * all ranks of the node have posted it. */
enum { SHARE_OUT, SHARE_IN, SHARE_BOARDS, SHARE_TURNS = 64 };
/* The next turn; equal on all ranks that call it equally often. */
uint32_t share_turn(struct comm_share *s);
void share_post(const struct comm_share *s, int board, uint32_t turn, struct share_slip slip);
/* Whether the rank with this index has posted at this turn, and what. */
bool share_posted(const struct comm_share *s, int index, int board, uint32_t turn,
                  struct share_slip *slip);
