#include "dom/ghost_dev.h"

#include <string.h>

#include "base/mem.h"
#include "dom/ghost_kernel.h"

enum { BUFFERS = 8 };

/* Buffer of an exchange, on device and host. The next exchange may reuse it at once: its device
 * work comes later in the stream, and its host work after a wait. */
struct buffer {
    void *device;
    char *host;
    size_t bytes;
    bool busy;
};

struct ghost_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct buffer buffer[BUFFERS];
    struct ghost_dev_plan level[LEVEL_MAX + 2];
    uint64_t octs[LEVEL_MAX + 2]; /* levels whose plans are on the device (struct level) */
};

enum err ghost_dev_new(struct ghost_dev **g, struct dev *d, struct dev_stream *s)
{
    struct ghost_dev *x = *g = mem_zero(sizeof *x, "device");
    x->dev = d;
    x->stream = s;
    return OK;
}

static void buffer_drop(struct ghost_dev *g, struct buffer *b)
{
    dev_free(g->dev, b->device);
    FREE(b->host);
    *b = (struct buffer){.busy = false};
}

void ghost_dev_plan_drop(struct ghost_dev *g, struct ghost_dev_plan *q)
{
    dev_free(g->dev, q->list);
    q->list = NULL;
}

void ghost_dev_free(struct ghost_dev **g)
{
    struct ghost_dev *x = *g;
    if (!x) return;
    for (int i = 0; i < BUFFERS; i++) buffer_drop(x, &x->buffer[i]);
    for (int l = 0; l < LEVEL_MAX + 2; l++) ghost_dev_plan_drop(x, &x->level[l]);
    FREE(*g);
}

enum err ghost_dev_level(struct ghost_dev *g, const struct mesh *m, int l,
                         struct ghost_dev_plan **q)
{
    struct ghost_dev_plan *x = *q = &g->level[l];
    if (x->list && (x->plan != &m->lev[l].plan || g->octs[l] != m->lev[l].octs)) {
        TRY(dev_wait(g->stream));
        ghost_dev_plan_drop(g, x);
    }
    x->plan = &m->lev[l].plan;
    g->octs[l] = m->lev[l].octs;
    return OK;
}

/* ---- lists and buffers on the device ---- */

static lidx sent(const struct xplan *p)
{
    return p->npeer ? p->sfirst[p->npeer] : 0;
}

static lidx received(const struct xplan *p)
{
    return p->npeer ? p->rfirst[p->npeer] : 0;
}

enum err ghost_dev_plan_need(struct ghost_dev *g, struct ghost_dev_plan *q)
{
    const struct xplan *p = q->plan;
    const size_t n = (size_t)sent(p), r = (size_t)received(p), peers = (size_t)p->npeer + 1;
    if (q->list || p->npeer == 0) return OK;
    TRY(dev_new(g->dev, &q->list, sizeof *q->list * (n + r + 2 * peers), "exchange plans"));
    dev_put(g->stream, q->list, p->send, sizeof *q->list * n);
    dev_put(g->stream, q->list + n, p->recv, sizeof *q->list * r);
    dev_put(g->stream, q->list + n + r, p->sfirst, sizeof *q->list * peers);
    dev_put(g->stream, q->list + n + r + peers, p->rfirst, sizeof *q->list * peers);
    return OK;
}

/* Index of a free buffer, the smallest that is large enough if there is one; -1 if none is free. */
static int buffer_free(const struct ghost_dev *g, size_t bytes)
{
    int best = -1;
    for (int i = 0; i < BUFFERS; i++) {
        const struct buffer *b = &g->buffer[i], *now = &g->buffer[best < 0 ? 0 : best];
        if (b->busy) continue;
        bool fits = b->bytes >= bytes,
             better = fits ? now->bytes < bytes || b->bytes < now->bytes : b->bytes < now->bytes;
        if (best < 0 || better) best = i;
    }
    return best;
}

static enum err buffer_take(struct ghost_dev *g, size_t bytes, int *at)
{
    int best = buffer_free(g, bytes);
    BUG_ON(best < 0); /* fails if too many exchanges are in progress */
    struct buffer *b = &g->buffer[best];
    if (b->bytes < bytes) {
        TRY(dev_wait(g->stream)); /* waits for earlier users of the buffer */
        buffer_drop(g, b);
        TRY(dev_new(g->dev, &b->device, bytes, "ghost buffers"));
        b->host = mem_new(bytes, "ghost buffers");
        b->bytes = bytes;
    }
    b->busy = true;
    *at = best;
    return OK;
}

/* ---- one exchange ---- */

/* Arrays of an exchange. */
struct payload {
    struct ghost_pack_args a;              /* device arrays, in units */
    const struct ghost_dev_arrays *arrays; /* all arrays; NULL: device arrays only */
};

static size_t row_bytes(const struct ghost_pack_args *a)
{
    return (size_t)(a->at[a->narr] * a->unit);
}

static struct payload payload_of(const struct ghost_dev_arrays *x)
{
    struct payload c = {.a = {.unit = 8, .row = x->row}, .arrays = x};
    struct ghost_pack_args *a = &c.a;
    BUG_ON(x->n > GHOST_DEV_ARRAYS);
    for (int i = 0; i < x->n; i++)
        if (!x->here[i] && x->stride[i] % 8) a->unit = 1;
    for (int i = 0; i < x->n; i++) {
        if (x->here[i]) continue;
        a->arr[a->narr] = x->arr[i];
        a->at[a->narr + 1] = a->at[a->narr] + (int)(x->stride[i] / (size_t)a->unit);
        a->narr++;
    }
    return c;
}

static struct payload payload_of_cells(const int cell[4], double (*arr)[8])
{
    struct payload c = {.a = {.narr = 1, .unit = 8, .cells = 1, .at = {0, 4}, .arr = {arr}}};
    memcpy(c.a.cell, cell, sizeof c.a.cell);
    return c;
}

/* Bytes of a row in a message. */
static size_t message_row(const struct payload *k)
{
    size_t row = 0;
    for (int i = 0; k->arrays && i < k->arrays->n; i++) row += k->arrays->stride[i];
    return k->arrays ? row : row_bytes(&k->a);
}

/* Packs a message for rows of a plan: host arrays directly, device arrays from the buffer. */
static void message_pack(const struct payload *k, char *to, const char *buffer, lidx n,
                         const lidx *row)
{
    const struct ghost_dev_arrays *x = k->arrays;
    for (int i = 0; x && i < x->n; i++) {
        size_t bytes = x->stride[i] * (size_t)n;
        if (x->here[i])
            ghost_rows_get(to, x->arr[i], x->stride[i], n, row);
        else {
            memcpy(to, buffer, bytes);
            buffer += bytes;
        }
        to += bytes;
    }
    if (!x) memcpy(to, buffer, row_bytes(&k->a) * (size_t)n);
}

static void message_unpack(const struct payload *k, const char *from, char *buffer, lidx n,
                           const lidx *row)
{
    const struct ghost_dev_arrays *x = k->arrays;
    for (int i = 0; x && i < x->n; i++) {
        size_t bytes = x->stride[i] * (size_t)n;
        if (x->here[i])
            ghost_rows_put(x->arr[i], from, x->stride[i], n, row);
        else {
            memcpy(buffer, from, bytes);
            buffer += bytes;
        }
        from += bytes;
    }
    if (!x) memcpy(buffer, from, row_bytes(&k->a) * (size_t)n);
}

/* Launches a kernel over own octs that are ghosts elsewhere, or over ghosts. */
static void launch(struct ghost_dev_rows *x, struct ghost_pack_args *a, bool own,
                   const struct dev_kernel *kernel)
{
    struct ghost_dev *g = x->of;
    const struct xplan *p = x->plan->plan;
    const lidx *lists = x->plan->list, n = sent(p), r = received(p);
    if (p->npeer == 0 || a->narr == 0) return;
    a->oct = lists + (own ? 0 : n);
    a->first = lists + n + r + (own ? 0 : p->npeer + 1);
    a->n = own ? n : r;
    a->npeer = p->npeer;
    a->buffer = g->buffer[x->buffer].device;
    dev_launch(g->stream, kernel, (a->n + GHOST_BLOCK_ROWS - 1) / GHOST_BLOCK_ROWS, a);
}

static enum err begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                      enum comm_use use, struct ghost_dev_plan *q, bool back, struct payload *k)
{
    const struct xplan *p = q->plan;
    const lidx *first = back ? p->rfirst : p->sfirst, *rows = back ? p->recv : p->send;
    const size_t row = row_bytes(&k->a), out = row * (size_t)(back ? received(p) : sent(p)),
                 in = row * (size_t)(back ? sent(p) : received(p));
    *x = (struct ghost_dev_rows){.back = back};
    if (!p->shared || message_row(k) == 0) return OK;
    enum err e = ghost_dev_plan_need(g, q);
    if (e == OK) e = buffer_take(g, (out > in ? out : in) + 1, &x->buffer);
    if (e != OK) {
        TRY(dev_wait(g->stream)); /* waits for the lists, which may be in transit */
        return e;
    }
    x->of = g;
    x->plan = q;
    char *here = g->buffer[x->buffer].host;
    launch(x, &k->a, !back, &ghost_pack);
    if (out > 0) dev_get(g->stream, here, g->buffer[x->buffer].device, out);
    e = dev_wait(g->stream);
    BUG_ON(e != OK); /* unrecoverable: device data are lost */
    ghost_rows_room(&x->rows, c, use, p, back, message_row(k));
    for (int i = 0; i < p->npeer; i++)
        message_pack(k, x->rows.pack.out[i], here + row * (size_t)first[i], first[i + 1] - first[i],
                     rows ? rows + first[i] : NULL);
    comm_pack_send(&x->rows.pack);
    return OK;
}

static void end(struct ghost_dev_rows *x, struct payload *k)
{
    struct ghost_dev *g = x->of;
    if (!g) return;
    const struct xplan *p = x->plan->plan;
    const lidx *first = x->back ? p->sfirst : p->rfirst, *rows = x->back ? p->send : p->recv;
    struct buffer *b = &g->buffer[x->buffer];
    const size_t row = row_bytes(&k->a), in = row * (size_t)(x->back ? sent(p) : received(p));
    comm_pack_receive(&x->rows.pack);
    for (int i = 0; i < p->npeer; i++)
        message_unpack(k, x->rows.pack.in[i], b->host + row * (size_t)first[i],
                       first[i + 1] - first[i], rows ? rows + first[i] : NULL);
    comm_pack_free(&x->rows.pack);
    if (in > 0) dev_put(g->stream, b->device, b->host, in);
    launch(x, &k->a, x->back, x->back ? &ghost_add : &ghost_unpack);
    b->busy = false;
    x->of = NULL;
}

static struct ghost_dev_arrays arrays_of(int narr, void *const *arr, const size_t *stride)
{
    struct ghost_dev_arrays x = {.n = narr};
    BUG_ON(narr > GHOST_DEV_ARRAYS);
    for (int i = 0; i < narr; i++) {
        x.arr[i] = arr[i];
        x.stride[i] = stride[i];
    }
    return x;
}

enum err ghost_dev_mixed_begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                               enum comm_use use, struct ghost_dev_plan *q,
                               const struct ghost_dev_arrays *arrays)
{
    struct payload k = payload_of(arrays);
    return begin(x, g, c, use, q, false, &k);
}

void ghost_dev_mixed_end(struct ghost_dev_rows *x, const struct ghost_dev_arrays *arrays)
{
    struct payload k = payload_of(arrays);
    end(x, &k);
}

enum err ghost_dev_rows_begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                              enum comm_use use, struct ghost_dev_plan *q, int narr,
                              void *const *arr, const size_t *stride)
{
    struct ghost_dev_arrays all = arrays_of(narr, arr, stride);
    return ghost_dev_mixed_begin(x, g, c, use, q, &all);
}

void ghost_dev_rows_end(struct ghost_dev_rows *x, int narr, void *const *arr, const size_t *stride)
{
    struct ghost_dev_arrays all = arrays_of(narr, arr, stride);
    ghost_dev_mixed_end(x, &all);
}

enum err ghost_dev_cells_begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                               enum comm_use use, struct ghost_dev_plan *q, const int cell[4],
                               double (*arr)[8])
{
    struct payload k = payload_of_cells(cell, arr);
    return begin(x, g, c, use, q, false, &k);
}

void ghost_dev_cells_end(struct ghost_dev_rows *x, const int cell[4], double (*arr)[8])
{
    struct payload k = payload_of_cells(cell, arr);
    end(x, &k);
}

enum err ghost_dev_add_i64(struct ghost_dev *g, const struct comm *c, struct ghost_dev_plan *q,
                           int narr, int64_t (*const *arr)[8])
{
    struct ghost_dev_rows rows;
    struct payload k = {.a = {.narr = narr, .unit = sizeof(int64_t)}};
    for (int i = 0; i < narr; i++) {
        k.a.arr[i] = arr[i];
        k.a.at[i + 1] = 8 * (i + 1);
    }
    TRY(begin(&rows, g, c, COMM_REVERSE_INT, q, true, &k));
    end(&rows, &k);
    return OK;
}
