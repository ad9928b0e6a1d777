/* comm: the only module that uses MPI. Every function marked (collective) must be called by all
 * ranks.
 *
 * Errors inside MPI abort the run (MPI's own error handler). err_agree makes an expected error of
 * one rank that of all ranks. All sizes are counts of the stated element. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sum.h"

struct comm_tuner;
struct comm_share;

enum { COMM_EMPTY_MESSAGES = 4 }; /* unless the run says otherwise */

struct comm {
    int rank, size;
    int node_rank, node_size; /* of the ranks of this node, by comm_init */
    int node;           /* handle of their communicator, as Fortran has it; not if size is 1 */
    int empty_messages; /* ranks that write to each other in any case (exchange_letters) */
    struct comm_share *share; /* windows of the ranks of this node (comm/share.h); NULL: none */
    struct comm_tuner *tuner; /* chooses transports (comm/tuner.h); NULL: point to point */
};

/* Starts MPI if the environment shows that a launcher (mpirun, srun, …) started more than one
 * process, or if PTAH_MPI is set. PTAH_NODE_RANKS=N in the environment makes nodes of N consecutive
 * ranks, for tests. (collective) */
void comm_init(int *argc, char ***argv, struct comm *c);
void comm_fini(void); /* (collective) */
/* Divides the ranks into nodes anew, for tests that change PTAH_NODE_RANKS. (collective) */
void comm_nodes(struct comm *c);
/* Without OMP_NUM_THREADS the ranks of a node divide its processors among their threads. Returns
 * the number of threads. (collective) */
int comm_share_threads(const struct comm *c);
void comm_barrier(const struct comm *c); /* (collective) */
/* Tells tools that count or time the calls of MPI that a coarse step begins (MPI_Pcontrol). Nothing
 * else happens. */
void comm_mark(const struct comm *c);

/* Each element of x[n] becomes the minimum, maximum or sum over all ranks. (collective) */
void comm_min_f64(const struct comm *c, double *x, int n);
void comm_max_f64(const struct comm *c, double *x, int n);
/* order not fixed: for clocks and loads only */
void comm_add_f64(const struct comm *c, double *x, int n);
void comm_min_i64(const struct comm *c, int64_t *x, int n);
void comm_max_i64(const struct comm *c, int64_t *x, int n);
void comm_add_i64(const struct comm *c, int64_t *x, int n);
/* sum over the ranks before this one (collective) */
int64_t comm_scan_i64(const struct comm *c, int64_t x);
/* exact, same on all ranks: one reduction, also of n sums (collective) */
void comm_sum(const struct comm *c, struct sum *s);
void comm_sums(const struct comm *c, struct sum *s, int n);
/* p on all ranks becomes that of rank root (collective) */
void comm_bcast(const struct comm *c, void *p, size_t bytes, int root);

/* Numbers that become their minimum over the ranks in a reduction for something else, which then
 * sets n to 0. */
struct comm_minima {
    int n;
    double *x;
};
/* comm_sums that takes min along, unless NULL (collective) */
void comm_sums_min(const struct comm *c, struct sum *s, int n, struct comm_minima *min);

/* Rows of all ranks together, in any order: rows has room for `most` of them, and holds n of this
 * rank on entry (n may be greater than most). Returns how many there are; if that is at most
 * `most`, rows holds them. add[nadd] becomes the sum over the ranks. One reduction, below 2^31
 * bytes. (collective) */
int64_t comm_union(const struct comm *c, int64_t n, int64_t max, size_t row, void *rows, int nadd,
                   int64_t *add);
/* comm_union that takes min along, unless NULL (collective) */
int64_t comm_union_min(const struct comm *c, int64_t n, int64_t max, size_t row, void *rows,
                       int nadd, int64_t *add, struct comm_minima *min);

/* All ranks return the same error: that of the lowest rank that has one, with its message.
 * (collective) */
MUST_USE enum err err_agree(const struct comm *c, enum err e);

/* ---- exchanges ----
 *
 * Exchanges go by a transport: point to point, MPI_Alltoallv, or the walk along the tree of ranks
 * (transports.def). All deliver the same bytes in the same order. Which one is chosen for each use
 * (uses.def) by the tuner. */
enum comm_use {
#define USE(name, text) COMM_##name,
#include "comm/uses.def"
#undef USE
    COMM_USES
};

/* Items to or from ranks: ascending ranks, no count of 0. One block; owner: comm_counts_free. */
struct comm_counts {
    int n;
    int *rank;
    int64_t *count;
};
void comm_counts_free(struct comm_counts *k);
/* Of n items for rank[i] each, those below 0 for nobody. order[at], unless NULL, becomes the item
 * that comes at this place when items are packed by rank; items of a rank stay in order. */
struct comm_counts comm_counts_of(int64_t n, const int *rank, int64_t *order);
int64_t comm_counts_total(const struct comm_counts *k);
/* Both with a row for each rank of either, and counts of 0 where it has none. */
void comm_counts_join(const struct comm_counts *a, const struct comm_counts *b,
                      struct comm_counts *all_a, struct comm_counts *all_b);

/* Sparse exchange (collective): sends items of `bytes` bytes, packed by rank as `to` says. Nobody
 * knows before what it will receive, and no table has a row for each rank. Returns the received
 * items, in order of source rank, in a new block (owner: caller, FREE), their number in *nrecv,
 * and, if from != NULL, how many came from which rank. Items for oneself are among them. */
void *comm_exchange(const struct comm *c, const void *send, const struct comm_counts *to,
                    size_t bytes, int64_t *nrecv, struct comm_counts *from);
/* comm_exchange of n items in any order: item i is for rank[i], one below 0 for nobody. Items for a
 * rank stay in order. (collective) */
void *comm_exchange_by(const struct comm *c, const void *item, int64_t n, const int *rank,
                       size_t bytes, int64_t *nrecv, struct comm_counts *from);
/* n items of each rank to rank 0, in the order of ranks; the others receive none. (collective) */
void *comm_exchange_root(const struct comm *c, const void *item, int64_t n, size_t bytes,
                         int64_t *nrecv);
/* comm_exchange with tables of all ranks, count[size] and from[size]: for set-up and files, whose
 * memory and time may grow with the number of ranks. */
void *comm_exchange_all(const struct comm *c, const void *send, const int64_t *count, size_t bytes,
                        int64_t *nrecv, int64_t *from);

/* Exchange between fixed peers, whose sizes both ends know, by the transport of its use
 * (collective: ranks without peers too). begin: receive rbytes[i] into rbuf[i] from peer[i], send
 * sbuf[i]; then comm_swap_end. Peers ascend. Buffers and tables are lent until comm_swap_end
 * returns. Several may be under way; all ranks begin and end them in the same order. */
struct comm_swap;
struct comm_swap *comm_swap_begin(const struct comm *c, enum comm_use use, int npeer,
                                  const int *peer, void *const *sbuf, const size_t *sbytes,
                                  void *const *rbuf, const size_t *rbytes);
void comm_swap_end(struct comm_swap *s);

/* Exchange between fixed peers, always point to point, among those ranks that call it. Zero-byte
 * messages are not sent. */
struct comm_round;
struct comm_round *comm_post(const struct comm *c, int npeer, const int *peer, void *const *sbuf,
                             const size_t *sbytes, void *const *rbuf, const size_t *rbytes);
void comm_wait(struct comm_round *r);
/* Times that this process has waited for others in an exchange: what latency is paid for. */
int64_t comm_rounds(void);
