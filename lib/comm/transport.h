/* comm/transport: the interface of a transport. Private to comm.
 *
 * A transport carries parcels, runs of bytes, between ranks. Errors inside MPI abort the run. Each
 * exchange has a number, equal on all ranks, from which its tag follows. */
#pragma once
#include <mpi.h>
#include <stdbool.h>

#include "comm/comm.h"

/* Maximum bytes of one MPI message, 2^30; a multiple of 64; longer data are sent in pieces. */
extern size_t comm_piece_max;

/* Maximum bytes of a parcel that the transport `nodes` copies, 2^14. Tests set another value, equal
 * on all ranks. A rank waits at most comm_nodes_patience seconds for room in its window, then it
 * ends the run. */
extern size_t comm_nodes_whole;
extern double comm_nodes_patience;

static inline int comm_piece(size_t bytes)
{
    return (int)(bytes < comm_piece_max ? bytes : comm_piece_max);
}

struct parcel {
    int rank; /* destination or source rank */
    size_t bytes;
    char *data;
};

/* Received parcels; their data lie in the blocks. */
struct parcels {
    int64_t n, room;
    struct parcel *at;
    int nblock, block_room;
    char **block;
};
void parcels_add(struct parcels *p, int rank, size_t bytes, char *data);
/* Allocates a block of this size, freed together with p. */
char *parcels_block(struct parcels *p, size_t bytes);
/* Receives a probed message completely into a block: its first eight bytes are its length, and
 * further pieces follow from the same rank with the same tag. */
char *parcels_receive(struct parcels *p, MPI_Message *message, const MPI_Status *status);
/* Sorts by rank, stable within a rank. */
void parcels_sort(struct parcels *p);
void parcels_free(struct parcels *p);

/* An exchange between fixed peers in progress. The caller owns tables and buffers. */
struct comm_swap {
    const struct comm *c;
    const struct transport *by;
    enum comm_use use;
    int tag, npeer;
    const int *peer;
    void *const *sbuf, *const *rbuf;
    const size_t *sbytes, *rbytes;
    void *state;    /* private state of the transport */
    double seconds; /* wall time spent inside so far */
};

/* Tag for messages besides the transport's own. */
int comm_rest_tag(const struct comm_swap *s);
/* comm_post (comm.h) with a given tag. */
struct comm_round *comm_post_as(const struct comm *c, int tag, int npeer, const int *peer,
                                void *const *sbuf, const size_t *sbytes, void *const *rbuf,
                                const size_t *rbytes);
/* Whether all messages have been sent and received; comm_wait is due in any case. */
bool comm_round_done(struct comm_round *r);

struct transport {
    const char *name;
    bool tried;
    void (*begin)(struct comm_swap *s);
    void (*end)(struct comm_swap *s);
    /* Sends n parcels (ascending ranks, none to itself) and receives into *in, initially empty, the
     * parcels of other ranks, in rank order. */
    void (*deliver)(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                    struct parcels *in);
};

#define TRANSPORT(name, tried)                                                                     \
    void name##_begin(struct comm_swap *s);                                                        \
    void name##_end(struct comm_swap *s);                                                          \
    void name##_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,        \
                        struct parcels *in);
#include "comm/transports.def"
#undef TRANSPORT

enum {
#define TRANSPORT(name, tried) TRANSPORT_##name,
#include "comm/transports.def"
#undef TRANSPORT
    TRANSPORTS
};
extern const struct transport comm_transport[TRANSPORTS];

void comm_count_round(void);

/* Reduces n items of `bytes` bytes over all ranks with the operator join. (collective) */
void comm_reduce_by(void *x, int n, size_t bytes, MPI_User_function *join);
