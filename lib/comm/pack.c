#include "comm/pack.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "comm/share.h"
#include "comm/transport.h"

struct message {
    bool near; /* true for a message through a shared window */
    size_t bytes;
    struct share_slip slip; /* slip of a near message; .data 0: data sent separately */
    char *data;             /* buffer to pack into, or received data */
};

static struct message message_of(const struct comm *c, size_t bytes, int peer)
{
    bool near = bytes >= comm_share_min && comm_share_near(c->share, peer);
    return (struct message){.near = near, .bytes = bytes};
}

/* State of an exchange, in one block of memory with the arrays below and the carried data. */
struct pack_state {
    const struct comm *c;
    enum comm_use use;
    int n;
    const int *peer;
    char *carried; /* carried data: in this block, or if they grew in `grown` */
    size_t room;   /* bytes of carried data that fit there */
    char *grown;
    struct message *message; /* [2 n] messages, outgoing, then incoming */
    void **buf;              /* [2 n] buffers carried by the transport */
    size_t *len;             /* [2 n] lengths, bytes */
    struct comm_swap *swap;
    struct comm_round *rest; /* near data that did not fit into the window */
    char *rest_block;        /* separate block for `rest` */
};

static size_t aligned(size_t bytes)
{
    return (bytes + SHARE_ALIGN - 1) / SHARE_ALIGN * SHARE_ALIGN;
}

/* Assigns buffers to the messages: in the window, or from `at` on. */
static void messages_put(struct pack_state *x, char *window, struct share_slip slip, char *at)
{
    for (int i = 0; i < 2 * x->n; i++) {
        struct message *m = &x->message[i];
        if (m->near && i >= x->n) continue;
        if (m->near && window) {
            m->slip = slip;
            m->data = window;
            slip.data += (uint32_t)(aligned(m->bytes) / SHARE_ALIGN);
            window += aligned(m->bytes);
        } else {
            m->data = at;
            at += aligned(m->bytes);
        }
    }
}

static char *cut(char **at, size_t bytes)
{
    char *here = *at;
    *at += aligned(bytes);
    return here;
}

/* Bytes in the window and beside it, and readers of the window. */
struct demand {
    size_t shared, carried;
    int readers;
};

static struct demand demand_of(const struct comm *c, int npeer, const int *peer,
                               const size_t *sbytes, const size_t *rbytes)
{
    struct demand d = {0};
    for (int i = 0; i < npeer; i++) {
        const struct message out = message_of(c, sbytes[i], peer[i]),
                             in = message_of(c, rbytes[i], peer[i]);
        if (out.near) d.shared += aligned(out.bytes), d.readers++;
        if (!out.near) d.carried += aligned(out.bytes);
        if (!in.near) d.carried += aligned(in.bytes);
    }
    return d;
}

static void messages_new(struct comm_pack *k, const size_t *sbytes, const size_t *rbytes,
                         char *window, struct share_slip slip)
{
    struct pack_state *x = k->state;
    for (int i = 0; i < x->n; i++) {
        x->message[i] = message_of(x->c, sbytes[i], x->peer[i]);
        x->message[x->n + i] = message_of(x->c, rbytes[i], x->peer[i]);
    }
    messages_put(x, window, slip, x->carried);
    for (int i = 0; i < x->n; i++) k->out[i] = x->message[i].data;
}

void comm_pack_new(struct comm_pack *k, const struct comm *c, enum comm_use use, int npeer,
                   const int *peer, const size_t *sbytes, const size_t *rbytes)
{
    enum { SLOT = sizeof(struct message) + 2 * sizeof(void *) + sizeof(size_t) };
    size_t two = 2 * (size_t)npeer;
    struct share_slip slip = {0};
    struct demand d = demand_of(c, npeer, peer, sbytes, rbytes);
    char *window = d.readers ? share_get(c->share, d.shared, d.readers, &slip) : NULL;
    size_t head = sizeof(struct pack_state) + SLOT * two + 5 * SHARE_ALIGN,
           room = d.carried + (window ? 0 : d.shared);
    char *at = mem_new(head + room, "ghost buffers");
    struct pack_state *x = k->state = (struct pack_state *)cut(&at, sizeof *x);
    *x = (struct pack_state){.c = c, .use = use, .n = npeer, .peer = peer, .room = room};
    x->message = (struct message *)cut(&at, sizeof *x->message * two);
    x->buf = (void **)cut(&at, sizeof *x->buf * two);
    x->len = (size_t *)cut(&at, sizeof *x->len * two);
    k->out = (char **)cut(&at, sizeof *k->out * two);
    k->in = (const char **)(k->out + npeer);
    k->npeer = npeer;
    x->carried = at;
    messages_new(k, sbytes, rbytes, window, slip);
}

void comm_pack_again(struct comm_pack *k, const size_t *sbytes, const size_t *rbytes)
{
    struct pack_state *x = k->state;
    struct share_slip slip = {0};
    struct demand d = demand_of(x->c, x->n, x->peer, sbytes, rbytes);
    char *window = d.readers ? share_get(x->c->share, d.shared, d.readers, &slip) : NULL;
    size_t need = d.carried + (window ? 0 : d.shared);
    if (need > x->room) {
        mem_free(x->grown);
        x->carried = x->grown = mem_new(need, "ghost buffers");
        x->room = need;
    }
    messages_new(k, sbytes, rbytes, window, slip);
}

/* Sends or receives near messages that did not fit into a window. */
static struct comm_round *rest_post(struct pack_state *x, int tag, bool out)
{
    size_t n = (size_t)x->n, none = 0;
    const struct message *m = x->message + (out ? 0 : n);
    for (size_t i = 0; i < n; i++) none += m[i].near && !m[i].slip.data;
    if (none == 0) return NULL;
    size_t *len = mem_zero(2 * sizeof *len * n + 1, "exchange");
    void **buf = mem_zero(sizeof *buf * n + 1, "exchange");
    for (size_t i = 0; i < n; i++) {
        if (!m[i].near || m[i].slip.data) continue;
        buf[i] = m[i].data;
        len[i] = m[i].bytes;
    }
    const size_t *sent = out ? len : len + n, *come = out ? len + n : len;
    struct comm_round *r = comm_post_as(x->c, tag, x->n, x->peer, buf, sent, buf, come);
    mem_free(buf);
    mem_free(len);
    return r;
}

void comm_pack_send(struct comm_pack *k)
{
    struct pack_state *x = k->state;
    for (int i = 0; i < 2 * x->n; i++) {
        struct message *m = &x->message[i];
        x->buf[i] = m->near ? (void *)&m->slip : m->data;
        x->len[i] = m->near ? sizeof m->slip : m->bytes;
    }
    atomic_thread_fence(memory_order_release);
    x->swap = comm_swap_begin(x->c, x->use, x->n, x->peer, x->buf, x->len, x->buf + x->n,
                              x->len + x->n);
    if (x->swap) x->rest = rest_post(x, comm_rest_tag(x->swap), true);
}

/* Allocates buffers for near data that are sent separately. */
static void rest_put(struct pack_state *x)
{
    size_t total = 0;
    struct message *m = x->message + x->n;
    for (int i = 0; i < x->n; i++)
        if (m[i].near && !m[i].slip.data) total += aligned(m[i].bytes);
    if (total == 0) return;
    char *at = x->rest_block = mem_new(total, "ghost buffers");
    for (int i = 0; i < x->n; i++) {
        if (!m[i].near || m[i].slip.data) continue;
        m[i].data = at;
        at += aligned(m[i].bytes);
    }
}

void comm_pack_receive(struct comm_pack *k)
{
    struct pack_state *x = k->state;
    struct message *m = x->message + x->n;
    if (x->swap) {
        int tag = comm_rest_tag(x->swap);
        comm_swap_end(x->swap);
        rest_put(x);
        struct comm_round *more = rest_post(x, tag, false);
        if (more) comm_wait(more);
        if (x->rest) comm_wait(x->rest);
    }
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < x->n; i++)
        k->in[i] = m[i].near && m[i].slip.data ? share_at(x->c->share, x->peer[i], m[i].slip)
                                               : m[i].data;
}

void comm_pack_done(struct comm_pack *k)
{
    struct pack_state *x = k->state;
    struct message *m = x->message + x->n;
    for (int i = 0; i < x->n; i++) {
        if (!m[i].near || !m[i].slip.data) continue;
        share_done(x->c->share, x->peer[i], m[i].slip);
        m[i].slip.data = 0;
    }
    FREE(x->rest_block);
}

void comm_pack_free(struct comm_pack *k)
{
    comm_pack_done(k);
    mem_free(k->state->grown);
    FREE(k->state);
}
