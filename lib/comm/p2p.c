/* comm/p2p: one message to each peer. Where only the senders know of a message, the receivers
 * find out by probing until a barrier that everyone enters when its own messages have arrived is
 * complete (NBX: Hoefler, Siebert & Lumsdaine 2010, figure 5). */
#include <sched.h>
#include <string.h>

#include "base/mem.h"
#include "comm/transport.h"

enum { TAG = 17 }; /* order of calls is order of messages between two ranks */

struct comm_round {
    int n;
    MPI_Request req[];
};

static size_t pieces(size_t bytes)
{
    return (bytes + comm_piece_max - 1) / comm_piece_max;
}

struct comm_round *comm_post(const struct comm *c, int npeer, const int *peer, void *const *sbuf,
                             const size_t *sbytes, void *const *rbuf, const size_t *rbytes)
{
    size_t total = 0;
    for (int i = 0; i < npeer; i++) total += pieces(sbytes[i]) + pieces(rbytes[i]);
    struct comm_round *r = mem_new(sizeof *r + total * sizeof(MPI_Request), "exchange");
    r->n = 0;
    if (total) comm_count_round();
    for (int i = 0; i < npeer; i++)
        for (size_t at = 0; at < rbytes[i]; at += comm_piece_max)
            MPI_Irecv((char *)rbuf[i] + at, comm_piece(rbytes[i] - at), MPI_BYTE, peer[i], TAG,
                      MPI_COMM_WORLD, &r->req[r->n++]);
    for (int i = 0; i < npeer; i++)
        for (size_t at = 0; at < sbytes[i]; at += comm_piece_max)
            MPI_Isend((char *)sbuf[i] + at, comm_piece(sbytes[i] - at), MPI_BYTE, peer[i], TAG,
                      MPI_COMM_WORLD, &r->req[r->n++]);
    return r;
}

void comm_wait(struct comm_round *r)
{
    if (r->n > 0) MPI_Waitall(r->n, r->req, MPI_STATUSES_IGNORE);
    mem_free(r);
}

void p2p_begin(struct comm_swap *s)
{
    s->state = comm_post(s->c, s->npeer, s->peer, s->sbuf, s->sbytes, s->rbuf, s->rbytes);
}

void p2p_end(struct comm_swap *s)
{
    comm_wait(s->state);
}

/* ---- sizes known to senders alone ---- */

/* Each message begins with its length, and is sent in pieces. */
struct letter {
    uint64_t bytes;
};

struct posting {
    int n;
    MPI_Request *req;
    char *block;
};

static struct posting post_letters(int64_t n, const struct parcel *out, int tag)
{
    struct posting p = {0};
    size_t total = 0, count = 0;
    for (int64_t i = 0; i < n; i++) {
        size_t bytes = sizeof(struct letter) + out[i].bytes;
        total += bytes;
        count += pieces(bytes);
    }
    p.req = mem_new(sizeof *p.req * count + 1, "exchange");
    char *at = p.block = mem_new(total + 1, "exchange");
    for (int64_t i = 0; i < n; i++) {
        struct letter head = {out[i].bytes};
        size_t bytes = sizeof head + out[i].bytes;
        memcpy(at, &head, sizeof head);
        memcpy(at + sizeof head, out[i].data, out[i].bytes);
        /* the first piece tells when it was received */
        MPI_Issend(at, comm_piece(bytes), MPI_BYTE, out[i].rank, tag, MPI_COMM_WORLD,
                   &p.req[p.n++]);
        for (size_t k = comm_piece_max; k < bytes; k += comm_piece_max)
            MPI_Isend(at + k, comm_piece(bytes - k), MPI_BYTE, out[i].rank, tag, MPI_COMM_WORLD,
                      &p.req[p.n++]);
        at += bytes;
    }
    return p;
}

/* A message that was found: the rest of a long one follows from the same rank. */
static void take_letter(MPI_Message *message, const MPI_Status *status, struct parcels *in)
{
    int bytes, from = status->MPI_SOURCE;
    struct letter head;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    char *block = parcels_block(in, (size_t)bytes);
    MPI_Mrecv(block, bytes, MPI_BYTE, message, MPI_STATUS_IGNORE);
    memcpy(&head, block, sizeof head);
    size_t whole = sizeof head + head.bytes;
    if (whole > (size_t)bytes) {
        char *longer = parcels_block(in, whole);
        memcpy(longer, block, (size_t)bytes);
        block = longer;
        for (size_t at = (size_t)bytes; at < whole; at += comm_piece_max)
            MPI_Recv(block + at, comm_piece(whole - at), MPI_BYTE, from, status->MPI_TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    parcels_add(in, from, head.bytes, block + sizeof head);
}

void p2p_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                 struct parcels *in)
{
    struct posting p = post_letters(n, out, tag);
    MPI_Request barrier = MPI_REQUEST_NULL;
    int entered = 0, done = 0;
    comm_count_round();
    while (!done) {
        MPI_Message message;
        MPI_Status status;
        int found;
        MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &message, &status);
        if (found) {
            take_letter(&message, &status, in);
            continue;
        }
        if (entered) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(p.n, p.req, &entered, MPI_STATUSES_IGNORE);
            if (entered) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
        sched_yield();
    }
    mem_free(p.req);
    mem_free(p.block);
    parcels_sort(in);
}
