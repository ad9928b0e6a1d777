/* comm/nodes: at most one message from a node to another, whatever their ranks.
 *
 * Each rank copies its small parcels into a block of its window (comm/share), in front of them a
 * table of them and of the parcels that it expects from other nodes, and posts the location. For
 * each pair of nodes a rank of either is the gate, a different one for successive nodes. When all
 * ranks of its node have posted, a gate sends what they have for the other node in one message,
 * receives what they expect from it, copies that into a block of its own window, and posts the
 * location. Both ends know all sizes, so a message has no table of contents. Parcels for ranks of
 * the same node are read where they are: an exchange within a node has no message. Parcels above
 * comm_nodes_whole bytes go point to point, since copies would cost more than messages.
 *
 * Each exchange goes through stages, and no stage waits: only nodes_end does, and there a rank
 * serves all exchanges that it has begun and lets MPI work on, also where it waits for memory. A
 * rank leaves nodes_end only when it has done for this exchange all that others need. So ranks that
 * wait in the earliest call of all never wait for those that are ahead of them. MPI has no buffer
 * in a window, whose pages come and go (comm_share_trim). Without windows on every rank of the run,
 * and for parcels whose sizes only senders know, it is p2p. */
#include <sched.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "comm/share.h"
#include "comm/transport.h"

enum { ALIGN = 8 };

size_t comm_nodes_whole = 16384;
double comm_nodes_patience = 600;

/* A parcel; `at` is the offset of its data in the block whose table lists it. */
struct item {
    int32_t node, src, dst; /* node: the other node, not that of the table */
    uint32_t bytes;
    uint64_t at;
};

/* The beginning of a block. */
struct table {
    int64_t nout, nin;  /* parcels in the block, and parcels that are expected from other nodes */
    struct item item[]; /* [nout + nin] */
};

/* Stages of an exchange: this rank has begun it; has posted its block; has begun the messages of
 * which it is the gate; has received them; and has posted them. */
enum stage { BEGUN, POSTED, GATE_BEGUN, RECEIVED, GATE_POSTED };

struct state {
    struct comm_swap *s;
    uint32_t turn;
    enum stage stage;
    struct comm_round *whole; /* parcels that go point to point */
    int is_sent, is_whole;    /* whether sends of this gate, and those parcels, are complete */
    struct share_slip posted, came;
    const struct table **of; /* [ranks of the node] tables, once all are posted */
    int nrecv, nsend;        /* messages of this gate */
    MPI_Request *req;        /* [nrecv + nsend] */
    int64_t nin;
    struct item *in; /* [nin] what this gate receives */
    size_t in_bytes;
    char *received, *sent; /* messages of this gate */
    double full;           /* when this rank began to wait for room in nodes_end; 0: it does not */
    struct state *next;
};

static struct state *first; /* exchanges in progress, in the order of their begin */

static size_t padded(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static bool small(size_t bytes)
{
    return bytes > 0 && bytes <= comm_nodes_whole;
}

static int item_order(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    return (x->dst > y->dst) - (x->dst < y->dst);
}

/* ---- begin ---- */

static void post_whole(struct state *x)
{
    const struct comm_swap *s = x->s;
    const size_t n = (size_t)s->npeer;
    size_t *len = mem_new(2 * sizeof *len * n + 1, "exchange");
    for (size_t i = 0; i < n; i++) {
        len[i] = small(s->sbytes[i]) ? 0 : s->sbytes[i];
        len[n + i] = small(s->rbytes[i]) ? 0 : s->rbytes[i];
    }
    x->whole = comm_post_as(s->c, s->tag, s->npeer, s->peer, s->sbuf, len, s->rbuf, len + n);
    mem_free(len);
}

/* Copies the small parcels into the window, and posts the block; false: there is no room yet. */
static bool post_block(struct state *x)
{
    const struct comm_swap *s = x->s;
    struct comm_share *w = s->c->share;
    int64_t nout = 0, nin = 0;
    size_t bytes = 0;
    for (int i = 0; i < s->npeer; i++) {
        if (small(s->sbytes[i])) nout++, bytes += padded(s->sbytes[i]);
        nin += small(s->rbytes[i]) && !comm_share_near(w, s->peer[i]);
    }
    uint64_t at = sizeof(struct table) + sizeof(struct item) * (size_t)(nout + nin);
    struct table *t = (struct table *)(void *)share_get_soon(w, at + bytes, share_ranks(w),
                                                             &x->posted);
    if (!t) return false;
    *t = (struct table){nout, nin};
    for (int i = 0, k = 0; i < s->npeer; i++) {
        if (!small(s->sbytes[i])) continue;
        t->item[k++] = (struct item){share_node_of(w, s->peer[i]), s->c->rank, s->peer[i],
                                     (uint32_t)s->sbytes[i], at};
        memcpy((char *)t + at, s->sbuf[i], s->sbytes[i]);
        at += padded(s->sbytes[i]);
    }
    for (int i = 0, k = (int)nout; i < s->npeer; i++)
        if (small(s->rbytes[i]) && !comm_share_near(w, s->peer[i]))
            t->item[k++] = (struct item){share_node_of(w, s->peer[i]), s->peer[i], s->c->rank,
                                         (uint32_t)s->rbytes[i], 0};
    share_post(w, SHARE_OUT, x->turn, x->posted);
    return true;
}

static void serve(void);

void nodes_begin(struct comm_swap *s)
{
    if (share_nodes(s->c->share) == 0) {
        p2p_begin(s);
        return;
    }
    struct state *x = s->state = mem_zero(sizeof *x, "exchange"), **end = &first;
    x->s = s;
    x->turn = share_turn(s->c->share);
    BUG_ON(first && x->turn - first->turn >= SHARE_TURNS / 2);
    post_whole(x);
    if (s->npeer > 0) comm_count_round();
    while (*end) end = &(*end)->next;
    *end = x;
    serve();
}

/* ---- gates ---- */

/* The tables of all ranks of the node; false: some are not posted yet. */
static bool tables_found(struct state *x)
{
    const struct comm_share *w = x->s->c->share;
    struct share_slip slip;
    for (int i = 0; i < share_ranks(w); i++)
        if (!share_posted(w, i, SHARE_OUT, x->turn, &slip)) return false;
    x->of = mem_new(sizeof *x->of * (size_t)share_ranks(w), "exchange");
    for (int i = 0; i < share_ranks(w); i++) {
        BUG_ON(!share_posted(w, i, SHARE_OUT, x->turn, &slip));
        x->of[i] = (const struct table *)(const void *)share_at(w, share_rank(w, i), slip);
    }
    return true;
}

/* Parcels between this node and those for which this rank is the gate, in the order of item_order:
 * those that leave, `at` being an address, or those that are expected. */
static struct item *gate_items(const struct state *x, bool leave, int64_t *n)
{
    const struct comm_share *w = x->s->c->share;
    const int mine = share_node_of(w, x->s->c->rank);
    struct item *list = NULL;
    int64_t room = 0;
    bool gate = false;
    *n = 0;
    for (int k = 0; k < share_nodes(w); k++)
        gate |= k != mine && share_gate(w, mine, k) == x->s->c->rank;
    for (int i = 0; i < share_ranks(w) && gate; i++) {
        const struct table *t = x->of[i];
        const struct item *p = t->item + (leave ? 0 : t->nout),
                          *end = p + (leave ? t->nout : t->nin);
        for (; p < end; p++) {
            if (p->node == mine || share_gate(w, mine, p->node) != x->s->c->rank) continue;
            MEM_ROOM(list, *n, room, 16, "exchange");
            list[*n] = *p;
            list[(*n)++].at = leave ? (uint64_t)(uintptr_t)((const char *)t + p->at) : 0;
        }
    }
    if (*n) mem_sort(list, (size_t)*n, sizeof *list, item_order);
    return list;
}

/* The end of the items of one node from item i on, and their bytes. */
static int64_t node_end(const struct item *p, int64_t n, int64_t i, size_t *bytes)
{
    const int32_t node = p[i].node;
    *bytes = 0;
    for (; i < n && p[i].node == node; i++) *bytes += padded(p[i].bytes);
    return i;
}

static int nodes_in(const struct item *p, int64_t n)
{
    int nodes = 0;
    for (int64_t i = 0; i < n; i++) nodes += i == 0 || p[i].node != p[i - 1].node;
    return nodes;
}

/* The number of ranks of the node for which this rank receives, itself included. */
static int readers_of(const struct state *x)
{
    const struct comm_share *w = x->s->c->share;
    bool *reads = mem_zero(sizeof *reads * (size_t)share_ranks(w), "exchange");
    int readers = 0;
    reads[share_index(w, x->s->c->rank)] = true;
    for (int64_t i = 0; i < x->nin; i++) reads[share_index(w, x->in[i].dst)] = true;
    for (int i = 0; i < share_ranks(w); i++) readers += reads[i];
    mem_free(reads);
    return readers;
}

static void receive_begin(struct state *x)
{
    const struct comm_share *w = x->s->c->share;
    const int mine = share_node_of(w, x->s->c->rank);
    size_t bytes;
    for (int64_t i = 0; i < x->nin; i++) {
        x->in[i].at = x->in_bytes;
        x->in_bytes += padded(x->in[i].bytes);
    }
    x->received = mem_new(x->in_bytes + 1, "exchange");
    for (int64_t i = 0, next; i < x->nin; i = next) {
        next = node_end(x->in, x->nin, i, &bytes);
        MPI_Irecv(x->received + x->in[i].at, (int)bytes, MPI_BYTE,
                  share_gate(w, x->in[i].node, mine), x->s->tag, MPI_COMM_WORLD,
                  &x->req[x->nrecv++]);
    }
}

static void send_begin(struct state *x, const struct item *out, int64_t nout)
{
    const struct comm_share *w = x->s->c->share;
    const int mine = share_node_of(w, x->s->c->rank);
    size_t total = 0, bytes;
    for (int64_t i = 0; i < nout; i++) total += padded(out[i].bytes);
    char *at = x->sent = mem_zero(total + 1, "exchange");
    for (int64_t i = 0, next; i < nout; i = next) {
        char *message = at;
        next = node_end(out, nout, i, &bytes);
        for (int64_t k = i; k < next; at += padded(out[k++].bytes))
            memcpy(at, (const char *)(uintptr_t)out[k].at, out[k].bytes);
        MPI_Isend(message, (int)bytes, MPI_BYTE, share_gate(w, out[i].node, mine), x->s->tag,
                  MPI_COMM_WORLD, &x->req[x->nrecv + x->nsend++]);
    }
}

/* Begins the messages of this rank as a gate; false: some rank of the node has not posted yet. */
static bool gate_begin(struct state *x)
{
    int64_t nout;
    if (!tables_found(x)) return false;
    struct item *out = gate_items(x, true, &nout);
    x->in = gate_items(x, false, &x->nin);
    const size_t most = (size_t)(nodes_in(out, nout) + nodes_in(x->in, x->nin));
    x->req = mem_new(sizeof(MPI_Request) * most + 1, "exchange");
    if (x->nin > 0) receive_begin(x);
    if (nout > 0) send_begin(x, out, nout);
    mem_free(out);
    return true;
}

/* Posts what this gate has received; false: there is no room yet. */
static bool gate_post(struct state *x)
{
    struct comm_share *w = x->s->c->share;
    const size_t head = sizeof(struct table) + sizeof *x->in * (size_t)x->nin;
    if (x->nin == 0) return true;
    char *p = share_get_soon(w, head + x->in_bytes, readers_of(x), &x->came);
    if (!p) return false;
    struct table *t = (struct table *)(void *)p;
    *t = (struct table){0, x->nin};
    for (int64_t i = 0; i < x->nin; i++) x->in[i].at += head;
    memcpy(t->item, x->in, sizeof *x->in * (size_t)x->nin);
    memcpy(p + head, x->received, x->in_bytes);
    share_post(w, SHARE_IN, x->turn, x->came);
    FREE(x->received);
    FREE(x->in);
    return true;
}

static bool is_done(int n, MPI_Request *req)
{
    int done;
    MPI_Testall(n, req, &done, MPI_STATUSES_IGNORE);
    return done;
}

/* Does what this rank can do for an exchange now. */
static void advance(struct state *x)
{
    if (x->stage == POSTED && gate_begin(x)) x->stage = GATE_BEGUN;
    if (x->stage == GATE_BEGUN && is_done(x->nrecv, x->req)) x->stage = RECEIVED;
    if (x->stage == RECEIVED && gate_post(x)) x->stage = GATE_POSTED;
    if (x->stage >= GATE_BEGUN && !x->is_sent) x->is_sent = is_done(x->nsend, x->req + x->nrecv);
    if (!x->is_whole) x->is_whole = comm_round_done(x->whole);
}

/* Serves the exchanges in progress, and MPI. Blocks are posted in the order of the exchanges, so
 * that a later one takes no room from an earlier one. */
static void serve(void)
{
    bool room = true;
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    for (struct state *x = first; x; x = x->next) {
        if (x->stage == BEGUN && room && post_block(x)) x->stage = POSTED;
        room = x->stage != BEGUN;
        advance(x);
    }
}

/* ---- end ---- */

/* Copies parcel i, which a rank of this node has in its window. */
static void take_near(const struct state *x, int i)
{
    const struct comm_swap *s = x->s;
    const struct comm_share *w = s->c->share;
    const struct table *t = x->of[share_index(w, s->peer[i])];
    const struct item *p = t->item;
    while (p < t->item + t->nout && p->dst != s->c->rank) p++;
    BUG_ON(p == t->item + t->nout || p->bytes != s->rbytes[i]);
    memcpy(s->rbuf[i], (const char *)t + p->at, p->bytes);
}

/* Copies parcel i, which came from another node by a gate, if that has posted it; slip: of the
 * block of each gate, by rank of the node, once it is known. */
static bool take_far(const struct state *x, int i, struct share_slip *slip)
{
    const struct comm_swap *s = x->s;
    const struct comm_share *w = s->c->share;
    const int node = share_node_of(w, s->peer[i]),
              gate = share_gate(w, share_node_of(w, s->c->rank), node), k = share_index(w, gate);
    if (!slip[k].data && !share_posted(w, k, SHARE_IN, x->turn, &slip[k])) return false;
    const struct table *t = (const struct table *)(const void *)share_at(w, gate, slip[k]);
    const struct item key = {node, s->peer[i], s->c->rank, 0, 0};
    const struct item *p = mem_find(&key, t->item, (size_t)t->nin, sizeof key, item_order);
    BUG_ON(!p || p->bytes != s->rbytes[i]);
    memcpy(s->rbuf[i], (const char *)t + p->at, p->bytes);
    return true;
}

/* Marks all blocks that this rank has read. */
static void release(const struct state *x, const struct share_slip *gates)
{
    const struct comm_share *w = x->s->c->share;
    struct share_slip slip;
    for (int i = 0; i < share_ranks(w); i++) {
        const int rank = share_rank(w, i);
        BUG_ON(!share_posted(w, i, SHARE_OUT, x->turn, &slip));
        share_done(w, rank, slip); /* its own too, which it reads as a gate */
        if (rank != x->s->c->rank && gates[i].data) share_done(w, rank, gates[i]);
        if (rank == x->s->c->rank && x->nrecv > 0) share_done(w, rank, x->came);
    }
}

/* Ends the run if this rank waits for room in its window that nobody can make: all blocks in use
 * are of exchanges that it has not ended. Others may be of use to a rank that is late, for which it
 * waits comm_nodes_patience seconds. */
static void check_room(struct state *x)
{
    int own = 0;
    if (x->stage != BEGUN && x->stage != RECEIVED) {
        x->full = 0;
        return;
    }
    if (!x->full) x->full = timer_wall();
    for (const struct state *y = first; y; y = y->next)
        own += (y->stage >= POSTED) + (y->stage == GATE_POSTED && y->nrecv > 0);
    if (share_used(x->s->c->share) <= own || timer_wall() - x->full > comm_nodes_patience)
        mem_exhausted("the memory that ranks of a node share (exchange_method=nodes)");
}

/* Serves while something is missing. */
static void wait_more(struct state *x)
{
    check_room(x);
    sched_yield();
    serve();
}

void nodes_end(struct comm_swap *s)
{
    if (share_nodes(s->c->share) == 0) {
        p2p_end(s);
        return;
    }
    struct state *x = s->state, **at = &first;
    const struct comm_share *w = s->c->share;
    struct share_slip *gates = mem_zero(sizeof *gates * (size_t)share_ranks(w), "exchange");
    serve();
    while (x->stage < GATE_POSTED) wait_more(x);
    for (int i = 0; i < s->npeer; i++) {
        if (!small(s->rbytes[i])) continue;
        if (comm_share_near(w, s->peer[i]))
            take_near(x, i);
        else
            while (!take_far(x, i, gates)) wait_more(x);
    }
    release(x, gates);
    while (!x->is_sent || !x->is_whole) wait_more(x);
    comm_wait(x->whole);
    while (*at != x) at = &(*at)->next;
    *at = x->next;
    mem_free(gates);
    mem_free(x->sent);
    mem_free(x->req);
    mem_free(x->of);
    mem_free(x);
}

void nodes_deliver(const struct comm *c, int tag, int64_t n, const struct parcel *out,
                   struct parcels *in)
{
    p2p_deliver(c, tag, n, out, in);
}
