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

struct comm {
    int rank, size;
};

/* Starts MPI if the environment shows that a launcher (mpirun, srun, …) started this process, or if
 * PTAH_MPI is set. (collective) */
void comm_init(int *argc, char ***argv, struct comm *c);
void comm_fini(void); /* (collective) */
/* Without OMP_NUM_THREADS the ranks of a node divide its processors among their threads. Returns
 * the number of threads. (collective) */
int comm_share_threads(const struct comm *c);
_Noreturn void comm_abort(int status);
void comm_barrier(const struct comm *c);
/* Tells tools that count or time the calls of MPI that a coarse step begins (MPI_Pcontrol). Nothing
 * else happens. */
void comm_mark(const struct comm *c);

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
void comm_bcast(const struct comm *c, void *p, size_t bytes, int root);
/* equal sizes */
void comm_gather_bytes(const struct comm *c, const void *mine, size_t bytes, void *all, int root);

/* Every rank's bytes[rank] bytes, in order of ranks, to all; bytes is the same everywhere, its sum
 * below 2^31. (collective) */
void comm_allgather(const struct comm *c, const void *mine, void *all_bytes, const int64_t *bytes);

/* All ranks return the same error: that of the lowest rank that has one, with its message.
 * (collective) */
MUST_USE enum err err_agree(const struct comm *c, enum err e);

/* Sparse exchange (collective): sends items of `bytes` bytes; count[r] items to rank r, packed by
 * rank in rank order in `send`. Returns the received items, in order of source rank, in a new block
 * (owner: caller, FREE), their number in *nrecv, and, if from != NULL, the count from each rank in
 * from[size]. */
void *comm_exchange(const struct comm *c, const void *send, const int64_t *count, size_t bytes,
                    int64_t *nrecv, int64_t *from);

/* Point-to-point rounds between fixed peers. post: receive into rbuf[i] (rbytes[i]) from peer[i],
 * send sbuf[i]; then comm_wait. Buffers are lent until comm_wait returns. Zero-byte messages are
 * not sent. */
struct comm_round;
struct comm_round *comm_post(const struct comm *c, int npeer, const int *peer, void *const *sbuf,
                             const size_t *sbytes, void *const *rbuf, const size_t *rbytes);
void comm_wait(struct comm_round *r);
/* that this process has begun so far with any peer: what latency is paid for */
int64_t comm_rounds(void);
