/* comm: the only module that uses MPI. Every function marked (collective) must be called by all
 * ranks.
 *
 * Errors inside MPI abort the run (MPI's own error handler). err_agree spreads an expected error of
 * one rank to all ranks. All sizes are counts of the stated element. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sum.h"

struct comm_tuner;
struct comm_share;

enum { COMM_EMPTY_MESSAGES = 4 }; /* default of a run */

struct comm {
    int rank, size;
    int node_rank, node_size; /* rank and size within this node, set by comm_init */
    int node;                 /* Fortran handle of the node's communicator; unset if size is 1 */
    int threads;              /* of each process, set by comm_share_threads */
    int empty_messages;       /* maximum ranks of runs with empty messages (comm/p2p) */
    struct comm_share *share; /* shared windows of this node (comm/share.h); NULL: none */
    struct comm_tuner *tuner; /* choice of transports (comm/tuner.h); NULL: point to point */
};

/* Starts MPI if the environment shows that a launcher (mpirun, srun, …) started more than one
 * process, or if PTAH_MPI is set. PTAH_NODE_RANKS=N in the environment makes nodes of N consecutive
 * ranks, for tests. (collective) */
void comm_init(int *argc, char ***argv, struct comm *c);
void comm_fini(void); /* (collective) */
/* Divides the ranks into nodes anew, for tests that change PTAH_NODE_RANKS. (collective) */
void comm_nodes(struct comm *c);
/* Divides the processors of a node among the threads of its ranks, unless OMP_NUM_THREADS is set.
 * Returns the number of threads. (collective) */
int comm_share_threads(struct comm *c);
/* Lets this process use one thread for each so many octs of its mesh, at most c->threads: threads
 * wait for one another in each loop, long if other programs use the processors. With
 * OMP_NUM_THREADS, all threads are used whatever the mesh. */
void comm_use_threads(const struct comm *c, int64_t octs);
void comm_barrier(const struct comm *c); /* (collective) */
/* Marks the start of a coarse step for tools that profile MPI calls (MPI_Pcontrol). */
void comm_mark(const struct comm *c);

/* Each element of x[n] becomes the minimum, maximum or sum over all ranks. (collective) */
void comm_min_f64(const struct comm *c, double *x, int n);
void comm_max_f64(const struct comm *c, double *x, int n);
/* Sum over all ranks in unspecified order: for clocks and loads only. */
void comm_add_f64(const struct comm *c, double *x, int n);
void comm_min_i64(const struct comm *c, int64_t *x, int n);
void comm_max_i64(const struct comm *c, int64_t *x, int n);
void comm_add_i64(const struct comm *c, int64_t *x, int n);
void comm_or_u64(const struct comm *c, uint64_t *x, int n); /* bitwise */
/* Exclusive prefix sum over the ranks below this one. (collective) */
int64_t comm_scan_i64(const struct comm *c, int64_t x);
/* Exact sums, equal on all ranks, of one or n accumulators in one reduction. (collective) */
void comm_sum(const struct comm *c, struct sum *s);
void comm_sums(const struct comm *c, struct sum *s, int n);
/* Copies p from rank root to all ranks. (collective) */
void comm_bcast(const struct comm *c, void *p, size_t bytes, int root);

/* Numbers whose minima over the ranks are computed within a reduction for another purpose; that
 * reduction sets n to 0. */
struct comm_minima {
    int n;
    double *x;
};
/* comm_sums that also reduces min, unless NULL. (collective) */
void comm_sums_min(const struct comm *c, struct sum *s, int n, struct comm_minima *min);

/* Gathers rows of all ranks on all ranks, in any order: rows has room for `max` rows and holds n
 * rows of this rank on entry (n may exceed max). Returns the total number; rows holds all of them
 * only if the total is at most `max`. add[nadd] becomes the sum over the ranks. One reduction,
 * below 2^31 bytes. (collective) */
int64_t comm_union(const struct comm *c, int64_t n, int64_t max, size_t row, void *rows, int nadd,
                   int64_t *add);
/* comm_union that also reduces min, unless NULL. (collective) */
int64_t comm_union_min(const struct comm *c, int64_t n, int64_t max, size_t row, void *rows,
                       int nadd, int64_t *add, struct comm_minima *min);

/* All ranks return the error of the lowest rank that has one, with its message. (collective) */
MUST_USE enum err err_agree(const struct comm *c, enum err e);

/* ---- exchanges ----
 *
 * Exchanges go by a transport: point to point, MPI_Alltoallv, or the walk along the tree of ranks
 * (transports.def). All deliver equal bytes in equal order. The tuner chooses a transport for each
 * use (uses.def). */
enum comm_use {
#define USE(name, text) COMM_##name,
#include "comm/uses.def"
#undef USE
    COMM_USES
};

/* Numbers of items per rank: ascending ranks, no zero counts. One block; free with
 * comm_counts_free. */
struct comm_counts {
    int n;
    int *rank;
    int64_t *count;
};
void comm_counts_free(struct comm_counts *k);
/* Counts n items by destination rank[i]; items with rank[i] < 0 are dropped. order, unless NULL,
 * receives the permutation that packs the items by rank, stable within a rank. */
struct comm_counts comm_counts_of(int64_t n, const int *rank, int64_t *order);
int64_t comm_counts_total(const struct comm_counts *k);
/* Extends both lists to the union of their ranks, with counts of 0 where a rank is missing. */
void comm_counts_join(const struct comm_counts *a, const struct comm_counts *b,
                      struct comm_counts *all_a, struct comm_counts *all_b);

/* Sparse exchange (collective): sends items of `bytes` bytes, packed by rank in the order of `to`.
 * Receivers need not know their counts in advance, and no table has a row for each rank. Returns
 * the received items, in order of source rank, in a new block (owner: caller, FREE), their number
 * in *nrecv, and, if from != NULL, the counts per source rank. Items to itself are included. */
void *comm_exchange(const struct comm *c, const void *send, const struct comm_counts *to,
                    size_t bytes, int64_t *nrecv, struct comm_counts *from);
/* comm_exchange of n items in any order: item i goes to rank[i], or is dropped if rank[i] < 0.
 * Items for a rank stay in order. (collective) */
void *comm_exchange_by(const struct comm *c, const void *item, int64_t n, const int *rank,
                       size_t bytes, int64_t *nrecv, struct comm_counts *from);
/* Gathers n items of each rank on rank 0, in rank order. (collective) */
void *comm_exchange_root(const struct comm *c, const void *item, int64_t n, size_t bytes,
                         int64_t *nrecv);
/* comm_exchange with tables over all ranks, count[size] and from[size], for set-up and files, whose
 * memory and time may grow with the number of ranks. */
void *comm_exchange_all(const struct comm *c, const void *send, const int64_t *count, size_t bytes,
                        int64_t *nrecv, int64_t *from);

/* Exchange between fixed peers with sizes known on both ends, through the transport of its use
 * (collective: ranks without peers too). comm_swap_begin receives rbytes[i] into rbuf[i] from
 * peer[i] and sends sbuf[i]; comm_swap_end completes the exchange. Peers ascend. Buffers and tables
 * are lent until comm_swap_end returns. Several exchanges may be in progress; all ranks begin and
 * end them in one order. */
struct comm_swap;
struct comm_swap *comm_swap_begin(const struct comm *c, enum comm_use use, int npeer,
                                  const int *peer, void *const *sbuf, const size_t *sbytes,
                                  void *const *rbuf, const size_t *rbytes);
void comm_swap_end(struct comm_swap *s);

/* Exchange between fixed peers, always point to point. Zero-byte messages are not sent. */
struct comm_round;
struct comm_round *comm_post(const struct comm *c, int npeer, const int *peer, void *const *sbuf,
                             const size_t *sbytes, void *const *rbuf, const size_t *rbytes);
void comm_wait(struct comm_round *r);
/* Number of waits for other ranks in exchanges so far, a measure of latency. */
int64_t comm_rounds(void);
