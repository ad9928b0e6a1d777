/* comm/alltoallv: MPI_Alltoallv over all ranks, for comparison, and for small numbers of ranks
 * whose network implements it in hardware. Its tables have a row for each rank, and MPI sends at
 * least one message or flag per rank.
 *
 * MPI's counts and displacements are int: the first `share` bytes of each pair use MPI_Alltoallv,
 * the rest goes point to point. Buffers within 2^31 bytes of each other, as ghost buffers are, are
 * used in place; others are copied into one block. */
#include <string.h>

#include "base/mem.h"
#include "comm/transport.h"

struct tables {
    int *count[2], *at[2];    /* [size] counts and displacements; index 0 sends, 1 receives */
    char *base[2], *block[2]; /* origin of `at`; block to copy through, or NULL */
};

static size_t share(const struct comm *c)
{
    size_t max = (size_t)INT32_MAX / (size_t)c->size;
    return max < comm_piece_max ? max : comm_piece_max;
}

/* Allocates a packed block for the buffers. */
static void block_set(struct tables *t, int side, const struct comm *c)
{
    size_t total = 0;
    for (int r = 0; r < c->size; r++) {
        t->at[side][r] = (int)total;
        total += (size_t)t->count[side][r];
    }
    t->base[side] = t->block[side] = mem_new(total + 1, "exchange");
}

/* Fills the tables for these peers and buffers. */
static void tables_set(struct tables *t, int side, const struct comm *c, int npeer, const int *peer,
                       void *const *buf, const size_t *bytes)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    t->count[side] = mem_zero(sizeof(int) * 2 * (size_t)c->size, "exchange");
    t->at[side] = t->count[side] + c->size;
    for (int i = 0; i < npeer; i++) {
        if (bytes[i] == 0) continue;
        t->count[side][peer[i]] = (int)(bytes[i] < share(c) ? bytes[i] : share(c));
        if ((uintptr_t)buf[i] < low) low = (uintptr_t)buf[i], t->base[side] = buf[i];
        if ((uintptr_t)buf[i] > high) high = (uintptr_t)buf[i];
    }
    if (high > low && high - low >= 2 * comm_piece_max) { /* 2^31 by default; smaller in tests */
        block_set(t, side, c);
        return;
    }
    for (int i = 0; i < npeer; i++)
        if (bytes[i] > 0) t->at[side][peer[i]] = (int)((uintptr_t)buf[i] - low);
}

static void tables_free(struct tables *t)
{
    for (int side = 0; side < 2; side++) {
        FREE(t->count[side]);
        FREE(t->block[side]);
    }
}

struct state {
    struct tables t;
    MPI_Request req;
    struct comm_round *rest;
    void **buf; /* [2 npeer] remainder of each pair */
    size_t *len;
};

/* Sets the buffers and lengths of the remainders; returns whether there are any. */
static bool rest_set(struct state *x, const struct comm_swap *s)
{
    size_t total = 0;
    x->buf = mem_new(sizeof *x->buf * 2 * (size_t)s->npeer + 1, "exchange");
    x->len = mem_new(sizeof *x->len * 2 * (size_t)s->npeer + 1, "exchange");
    for (int i = 0; i < 2 * s->npeer; i++) {
        bool out = i < s->npeer;
        int k = out ? i : i - s->npeer;
        size_t bytes = out ? s->sbytes[k] : s->rbytes[k], mine = share(s->c);
        x->buf[i] = (char *)(out ? s->sbuf[k] : s->rbuf[k]) + (bytes > mine ? mine : 0);
        x->len[i] = bytes > mine ? bytes - mine : 0;
        total += x->len[i];
    }
    return total > 0;
}

void alltoallv_begin(struct comm_swap *s)
{
    struct state *x = s->state = mem_zero(sizeof *x, "exchange");
    struct tables *t = &x->t;
    tables_set(t, 0, s->c, s->npeer, s->peer, s->sbuf, s->sbytes);
    tables_set(t, 1, s->c, s->npeer, s->peer, s->rbuf, s->rbytes);
    for (int i = 0; i < s->npeer && t->block[0]; i++)
        memcpy(t->block[0] + t->at[0][s->peer[i]], s->sbuf[i], (size_t)t->count[0][s->peer[i]]);
    MPI_Ialltoallv(t->base[0], t->count[0], t->at[0], MPI_BYTE, t->base[1], t->count[1], t->at[1],
                   MPI_BYTE, MPI_COMM_WORLD, &x->req);
    if (rest_set(x, s))
        x->rest = comm_post(s->c, s->npeer, s->peer, x->buf, x->len, x->buf + s->npeer,
                            x->len + s->npeer);
    comm_count_round();
}

void alltoallv_end(struct comm_swap *s)
{
    struct state *x = s->state;
    const struct tables *t = &x->t;
    MPI_Wait(&x->req, MPI_STATUS_IGNORE);
    if (x->rest) comm_wait(x->rest);
    for (int i = 0; i < s->npeer && t->block[1]; i++)
        memcpy(s->rbuf[i], t->block[1] + t->at[1][s->peer[i]], (size_t)t->count[1][s->peer[i]]);
    tables_free(&x->t);
    mem_free(x->buf);
    mem_free(x->len);
    mem_free(x);
}

/* Exchanges counts first, then data as between fixed peers. */
void alltoallv_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                       struct parcels *in)
{
    size_t size = (size_t)c->size, *count = mem_zero(2 * sizeof *count * size, "exchange"),
           *come = count + size;
    for (int64_t i = 0; i < n; i++) count[out[i].rank] = out[i].bytes;
    MPI_Alltoall(count, sizeof *count, MPI_BYTE, come, sizeof *come, MPI_BYTE, MPI_COMM_WORLD);
    comm_count_round();
    int *peer = mem_new(sizeof *peer * size, "exchange"), npeer = 0;
    size_t *len = mem_new(2 * sizeof *len * size, "exchange");
    void **buf = mem_zero(2 * sizeof *buf * size, "exchange");
    int64_t next = 0;
    for (int r = 0; r < c->size; r++) {
        if (!count[r] && !come[r]) continue;
        peer[npeer] = r;
        len[npeer] = count[r], len[size + (size_t)npeer] = come[r];
        while (next < n && out[next].rank < r) next++;
        if (count[r]) buf[npeer] = out[next].data;
        if (come[r]) {
            char *block = buf[size + (size_t)npeer] = parcels_block(in, come[r]);
            parcels_add(in, r, come[r], block);
        }
        npeer++;
    }
    struct comm_swap s = {.c = c,
                          .tag = tag,
                          .npeer = npeer,
                          .peer = peer,
                          .sbuf = buf,
                          .rbuf = buf + size,
                          .sbytes = len,
                          .rbytes = len + size};
    alltoallv_begin(&s);
    alltoallv_end(&s);
    mem_free(buf);
    mem_free(len);
    mem_free(peer);
    mem_free(count);
}
