/* comm/p2p: one message to each peer. Where only the senders know of a message, the receivers probe
 * until a nonblocking barrier is complete, which each rank enters when its own messages have
 * arrived (NBX: Hoefler, Siebert & Lumsdaine 2010, figure 5). In runs of at most empty_messages
 * ranks every rank instead sends every other rank a message, empty if need be, which is faster. */
#include <sched.h>
#include <string.h>

#include "base/mem.h"
#include "comm/transport.h"

enum { TAG = 17 }; /* a single tag suffices: messages between two ranks stay in order */

struct comm_round {
    int n;
    MPI_Request req[];
};

static size_t pieces(size_t bytes)
{
    return (bytes + comm_piece_max - 1) / comm_piece_max;
}

struct comm_round *comm_post_as(const struct comm *c, int tag, int npeer, const int *peer,
                                void *const *sbuf, const size_t *sbytes, void *const *rbuf,
                                const size_t *rbytes)
{
    size_t total = 0;
    for (int i = 0; i < npeer; i++) total += pieces(sbytes[i]) + pieces(rbytes[i]);
    struct comm_round *r = mem_new(sizeof *r + total * sizeof(MPI_Request), "exchange");
    r->n = 0;
    if (total) comm_count_round();
    for (int i = 0; i < npeer; i++)
        for (size_t at = 0; at < rbytes[i]; at += comm_piece_max)
            MPI_Irecv((char *)rbuf[i] + at, comm_piece(rbytes[i] - at), MPI_BYTE, peer[i], tag,
                      MPI_COMM_WORLD, &r->req[r->n++]);
    for (int i = 0; i < npeer; i++)
        for (size_t at = 0; at < sbytes[i]; at += comm_piece_max)
            MPI_Isend((char *)sbuf[i] + at, comm_piece(sbytes[i] - at), MPI_BYTE, peer[i], tag,
                      MPI_COMM_WORLD, &r->req[r->n++]);
    return r;
}

struct comm_round *comm_post(const struct comm *c, int npeer, const int *peer, void *const *sbuf,
                             const size_t *sbytes, void *const *rbuf, const size_t *rbytes)
{
    return comm_post_as(c, TAG, npeer, peer, sbuf, sbytes, rbuf, rbytes);
}

bool comm_round_done(struct comm_round *r)
{
    int done = 1;
    if (r->n > 0) MPI_Testall(r->n, r->req, &done, MPI_STATUSES_IGNORE);
    return done;
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

/* Header of a message that is sent in pieces. */
struct frame {
    uint64_t bytes; /* total size of header and data; 0: empty message */
};

struct posting {
    int n;
    MPI_Request *req;
    char *block;
};

/* Posts all messages. told: synchronous sends, which complete when received. */
static struct posting post_messages(int64_t n, const struct parcel *out, int tag, bool told)
{
    struct posting p = {0};
    size_t total = 0, count = 0;
    for (int64_t i = 0; i < n; i++) {
        size_t bytes = sizeof(struct frame) + out[i].bytes;
        total += bytes;
        count += pieces(bytes);
    }
    p.req = mem_new(sizeof *p.req * count + 1, "exchange");
    char *at = p.block = mem_new(total + 1, "exchange");
    for (int64_t i = 0; i < n; i++) {
        size_t bytes = sizeof(struct frame) + out[i].bytes;
        struct frame head = {bytes};
        memcpy(at, &head, sizeof head);
        memcpy(at + sizeof head, out[i].data, out[i].bytes);
        /* the first piece confirms the whole message */
        (told ? MPI_Issend : MPI_Isend)(at, comm_piece(bytes), MPI_BYTE, out[i].rank, tag,
                                        MPI_COMM_WORLD, &p.req[p.n++]);
        for (size_t k = comm_piece_max; k < bytes; k += comm_piece_max)
            MPI_Isend(at + k, comm_piece(bytes - k), MPI_BYTE, out[i].rank, tag, MPI_COMM_WORLD,
                      &p.req[p.n++]);
        at += bytes;
    }
    return p;
}

static void free_letters(struct posting *p)
{
    FREE(p->req);
    FREE(p->block);
}

static void take_letter(struct parcels *in, MPI_Message *message, const MPI_Status *status)
{
    struct frame head;
    char *frame = parcels_receive(in, message, status);
    memcpy(&head, frame, sizeof head);
    if (head.bytes)
        parcels_add(in, status->MPI_SOURCE, head.bytes - sizeof head, frame + sizeof head);
}

static void deliver_among_few(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                              struct parcels *in)
{
    static const struct frame NOTHING = {0};
    struct posting p = post_messages(n, out, tag, false);
    MPI_Request *nothing = mem_new(sizeof(MPI_Request) * (size_t)c->size, "exchange");
    int count = 0;
    for (int r = 0, k = 0; r < c->size; r++) {
        if (k < n && out[k].rank == r)
            k++;
        else if (r != c->rank)
            MPI_Isend(&NOTHING, sizeof NOTHING, MPI_BYTE, r, tag, MPI_COMM_WORLD,
                      &nothing[count++]);
    }
    for (int r = 0; r < c->size; r++) {
        MPI_Message message;
        MPI_Status status;
        if (r == c->rank) continue;
        MPI_Mprobe(r, tag, MPI_COMM_WORLD, &message, &status);
        take_letter(in, &message, &status);
    }
    MPI_Waitall(p.n, p.req, MPI_STATUSES_IGNORE);
    MPI_Waitall(count, nothing, MPI_STATUSES_IGNORE);
    mem_free(nothing);
    free_letters(&p);
}

static void deliver_nbx(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                        struct parcels *in)
{
    struct posting p = post_messages(n, out, tag, true);
    MPI_Request barrier = MPI_REQUEST_NULL;
    int entered = 0, done = 0;
    while (!done) {
        MPI_Message message;
        MPI_Status status;
        int found;
        MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &message, &status);
        if (found) {
            take_letter(in, &message, &status);
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
    free_letters(&p);
    parcels_sort(in);
}

void p2p_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                 struct parcels *in)
{
    comm_count_round();
    (c->size <= c->empty_messages ? deliver_among_few : deliver_nbx)(c, tag, n, out, in);
}
