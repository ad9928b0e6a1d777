/* comm/transport: what a transport implements. Private to comm.
 *
 * A transport carries parcels, runs of bytes, between ranks. Errors inside MPI abort the run. Each
 * exchange has a number, the same on all ranks, which makes its tag. */
#pragma once
#include <mpi.h>
#include <stdbool.h>

#include "comm/comm.h"

/* Bytes of one message, 2^30; what is longer goes in several. Tests set less, a multiple of 64. */
extern size_t comm_piece_max;

static inline int comm_piece(size_t bytes)
{
    return (int)(bytes < comm_piece_max ? bytes : comm_piece_max);
}

struct parcel {
    int rank; /* for whom, or from whom */
    size_t bytes;
    char *data;
};

/* Parcels that arrived. They point into the blocks. */
struct parcels {
    int64_t n, room;
    struct parcel *at;
    int nblock, block_room;
    char **block;
};
void parcels_add(struct parcels *p, int rank, size_t bytes, char *data);
/* A block of this size, freed with p. */
char *parcels_block(struct parcels *p, size_t bytes);
/* A block with the whole of a message that was probed: its first eight bytes are its length, and
 * what is beyond one piece follows from the same rank under the same tag. */
char *parcels_receive(struct parcels *p, MPI_Message *message, const MPI_Status *status);
/* By rank; those of one rank stay in order. */
void parcels_sort(struct parcels *p);
void parcels_free(struct parcels *p);

/* An exchange between fixed peers, under way. Tables and buffers are the caller's. */
struct comm_swap {
    const struct comm *c;
    const struct transport *by;
    enum comm_use use;
    int tag, npeer;
    const int *peer;
    void *const *sbuf, *const *rbuf;
    const size_t *sbytes, *rbytes;
    void *state;    /* the transport's own */
    double seconds; /* spent inside so far */
};

/* For messages besides those of the transport. */
int comm_rest_tag(const struct comm_swap *s);
/* comm_post (comm.h) with this tag. */
struct comm_round *comm_post_as(const struct comm *c, int tag, int npeer, const int *peer,
                                void *const *sbuf, const size_t *sbytes, void *const *rbuf,
                                const size_t *rbytes);

struct transport {
    const char *name;
    bool tried;
    void (*begin)(struct comm_swap *s);
    void (*end)(struct comm_swap *s);
    /* n parcels, ascending ranks, none for oneself → those that others sent here, in order of
     * their ranks; *in is empty before */
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

/* x[0..n-1], items of `bytes` bytes, := what `join` makes of those of all ranks. (collective) */
void comm_reduce_by(void *x, int n, size_t bytes, MPI_User_function *join);
