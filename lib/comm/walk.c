/* comm/walk: the hierarchical walk along the tree of ranks (Kim 2026, section 3).
 *
 * On each level of the tree a rank sends one message to every sibling group, with all data for
 * ranks of this group, to the rank at its own position there. Received data and data for its own
 * group move on to the next level. So a rank sends (children - 1) messages per level, whatever the
 * number of ranks and destinations; a parcel is carried at most once per level. A message holds its
 * own table of contents, so that sizes need not be exchanged in advance. */
#include <string.h>

#include "base/mem.h"
#include "comm/transport.h"
#include "comm/tree.h"

struct seg {
    int32_t src, dst;
    uint64_t bytes;
    char *data;
};

/* Message layout: header, table of segments, then the data, padded to eight bytes. */
struct head {
    uint64_t bytes, n; /* size of the whole message; number of segments */
};
struct entry {
    int32_t src, dst;
    uint64_t bytes;
};

struct walk {
    const struct comm *c;
    int tag, level, nreq, req_room;
    struct tree tree;
    struct group at;
    int64_t n, room;
    struct seg *seg;
    struct parcels *in; /* storage of received data */
    MPI_Request *req;
    char *out[TREE_FACTOR_MAX];
};

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void seg_add(struct walk *w, struct seg s)
{
    MEM_ROOM(w->seg, w->n, w->room, 64, "exchange");
    w->seg[w->n++] = s;
}

static int slot_of(const struct walk *w, int rank)
{
    return group_slot(w->at, w->tree.factor[w->level], rank);
}

static void send_message(struct walk *w, char *message, size_t bytes, int to)
{
    for (size_t at = 0; at < bytes; at += comm_piece_max) {
        if (w->nreq == w->req_room) {
            w->req_room = 2 * w->req_room + 8;
            w->req = mem_grow(w->req, sizeof(MPI_Request) * (size_t)w->req_room, "exchange");
        }
        MPI_Isend(message + at, comm_piece(bytes - at), MPI_BYTE, to, w->tag, MPI_COMM_WORLD,
                  &w->req[w->nreq++]);
    }
}

/* Packs and sends the segments for other groups; the rest stays in w->seg. */
static void level_send(struct walk *w)
{
    int k = w->tree.factor[w->level], mine = slot_of(w, w->c->rank);
    struct group own = group_child(w->at, k, mine);
    struct head head[TREE_FACTOR_MAX] = {{0}};
    char *table[TREE_FACTOR_MAX], *data[TREE_FACTOR_MAX];
    for (int64_t i = 0; i < w->n; i++) {
        struct head *h = &head[slot_of(w, w->seg[i].dst)];
        h->n++;
        h->bytes += sizeof(struct entry) + padded(w->seg[i].bytes);
    }
    for (int j = 0; j < k; j++) {
        w->out[j] = NULL;
        if (j == mine || group_child(w->at, k, j).n == 0) continue;
        head[j].bytes += sizeof head[j];
        w->out[j] = mem_new(head[j].bytes, "exchange");
        memcpy(w->out[j], &head[j], sizeof head[j]);
        table[j] = w->out[j] + sizeof head[j];
        data[j] = table[j] + sizeof(struct entry) * head[j].n;
    }
    int64_t retained = 0;
    for (int64_t i = 0; i < w->n; i++) {
        struct seg s = w->seg[i];
        int j = slot_of(w, s.dst);
        if (j == mine) {
            w->seg[retained++] = s;
            continue;
        }
        struct entry e = {s.src, s.dst, s.bytes};
        memcpy(table[j], &e, sizeof e);
        memcpy(data[j], s.data, s.bytes);
        memset(data[j] + s.bytes, 0, padded(s.bytes) - s.bytes);
        table[j] += sizeof e;
        data[j] += padded(s.bytes);
    }
    w->n = retained;
    for (int j = 0; j < k; j++)
        if (w->out[j])
            send_message(w, w->out[j], head[j].bytes,
                         tree_partner(own, group_child(w->at, k, j), w->c->rank));
    comm_count_round();
}

static char *take_message(struct walk *w, int from)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(from, w->tag, MPI_COMM_WORLD, &message, &status);
    return parcels_receive(w->in, &message, &status);
}

static void level_receive(struct walk *w)
{
    int k = w->tree.factor[w->level], mine = slot_of(w, w->c->rank);
    struct group own = group_child(w->at, k, mine);
    for (int j = 0; j < k; j++) {
        struct group other = group_child(w->at, k, j);
        if (j == mine || other.n == 0) continue;
        struct group from = tree_sources(own, other, w->c->rank);
        for (int r = 0; r < from.n; r++) {
            char *message = take_message(w, from.first + r), *data;
            struct head head;
            struct entry e;
            memcpy(&head, message, sizeof head);
            message += sizeof head;
            data = message + sizeof e * head.n;
            for (uint64_t i = 0; i < head.n; i++, message += sizeof e) {
                memcpy(&e, message, sizeof e);
                seg_add(w, (struct seg){e.src, e.dst, e.bytes, data});
                data += padded(e.bytes);
            }
        }
    }
    MPI_Waitall(w->nreq, w->req, MPI_STATUSES_IGNORE);
    w->nreq = 0;
    for (int j = 0; j < k; j++) FREE(w->out[j]);
    w->at = own;
    w->level++;
}

static void walk_begin(struct walk *w, const struct comm *c, int tag, struct parcels *in)
{
    w->c = c;
    w->tag = tag;
    w->in = in;
    w->at = (struct group){0, c->size};
    tree_init(&w->tree, c->size);
}

/* Runs all levels, after the messages of the first were sent. *in receives this rank's data. */
static void walk_end(struct walk *w)
{
    while (w->level < w->tree.nlev) {
        level_receive(w);
        if (w->level < w->tree.nlev) level_send(w);
    }
    for (int64_t i = 0; i < w->n; i++)
        parcels_add(w->in, w->seg[i].src, w->seg[i].bytes, w->seg[i].data);
    parcels_sort(w->in);
    mem_free(w->seg);
    mem_free(w->req);
}

void ksection_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                      struct parcels *in)
{
    struct walk w = {0};
    walk_begin(&w, c, tag, in);
    for (int64_t i = 0; i < n; i++)
        seg_add(&w, (struct seg){c->rank, out[i].rank, out[i].bytes, out[i].data});
    level_send(&w);
    walk_end(&w);
}

/* ---- fixed peers ---- */

struct state {
    struct walk w;
    struct parcels in;
};

void ksection_begin(struct comm_swap *s)
{
    struct state *x = s->state = mem_zero(sizeof *x, "exchange");
    walk_begin(&x->w, s->c, s->tag, &x->in);
    for (int i = 0; i < s->npeer; i++)
        if (s->sbytes[i])
            seg_add(&x->w, (struct seg){s->c->rank, s->peer[i], s->sbytes[i], s->sbuf[i]});
    level_send(&x->w);
}

void ksection_end(struct comm_swap *s)
{
    struct state *x = s->state;
    walk_end(&x->w);
    int64_t k = 0;
    for (int i = 0; i < s->npeer; i++) {
        if (!s->rbytes[i]) continue;
        const struct parcel *p = &x->in.at[k++];
        BUG_ON(k > x->in.n || p->rank != s->peer[i] || p->bytes != s->rbytes[i]);
        memcpy(s->rbuf[i], p->data, p->bytes);
    }
    BUG_ON(k != x->in.n);
    parcels_free(&x->in);
    mem_free(x);
}
