/* ring: the smallest transport. In step d each rank sends to the rank d after it and receives from
 * the rank d before it, one message at a time. An example of a new transport: three functions and a
 * row of comm/transports.def. tests/property/adding.py puts it into a copy of lib/comm. */
#include "comm/transport.h"

/* Exchanges pieces with two ranks until both directions are complete. */
static void pass(const void *out, size_t to_send, int to, void *in, size_t to_take, int from,
                 int tag)
{
    for (size_t at = 0; at < to_send || at < to_take; at += comm_piece_max) {
        size_t s = at < to_send ? to_send - at : 0, r = at < to_take ? to_take - at : 0;
        MPI_Sendrecv(s ? (const char *)out + at : NULL, comm_piece(s), MPI_BYTE,
                     s ? to : MPI_PROC_NULL, tag, r ? (char *)in + at : NULL, comm_piece(r),
                     MPI_BYTE, r ? from : MPI_PROC_NULL, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static int slot_of(const struct comm_swap *s, int rank)
{
    for (int i = 0; i < s->npeer; i++)
        if (s->peer[i] == rank) return i;
    return -1;
}

/* Performs the whole exchange, since all ranks begin exchanges in the same order. */
void ring_begin(struct comm_swap *s)
{
    int size = s->c->size;
    for (int d = 1; d < size; d++) {
        int to = (s->c->rank + d) % size, from = (s->c->rank + size - d) % size;
        int i = slot_of(s, to), k = slot_of(s, from);
        pass(i < 0 ? NULL : s->sbuf[i], i < 0 ? 0 : s->sbytes[i], to, k < 0 ? NULL : s->rbuf[k],
             k < 0 ? 0 : s->rbytes[k], from, s->tag);
        comm_count_round();
    }
}

void ring_end(struct comm_swap *s)
{
}

/* Sends the length of each parcel, then the parcel. */
void ring_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                  struct parcels *in)
{
    for (int d = 1; d < c->size; d++) {
        int to = (c->rank + d) % c->size, from = (c->rank + c->size - d) % c->size;
        const struct parcel *p = NULL;
        for (int64_t i = 0; i < n; i++)
            if (out[i].rank == to) p = &out[i];
        size_t bytes = p ? p->bytes : 0, come = 0;
        pass(&bytes, sizeof bytes, to, &come, sizeof come, from, tag);
        char *block = come ? parcels_block(in, come) : NULL;
        pass(p ? p->data : NULL, bytes, to, block, come, from, tag);
        if (come) parcels_add(in, from, come, block);
        comm_count_round();
    }
    parcels_sort(in);
}
