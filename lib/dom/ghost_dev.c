/* dom/ghost_dev: see ghost_dev.h. */
#include "dom/ghost_dev.h"

#include <string.h>

#include "base/mem.h"
#include "dom/ghost_kernel.h"

enum { BUFFERS = 8 };

/* Of an exchange, there and here. The next one may have it at once, since what it does there comes
 * later in the stream, and here after a wait. */
struct buffer {
    void *there;
    char *here;
    size_t bytes;
    bool busy;
};

struct ghost_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct buffer buffer[BUFFERS];
    struct ghost_dev_plan level[LEVEL_MAX + 2];
    uint64_t links[LEVEL_MAX + 2]; /* with which the plans of the levels are there */
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
    dev_free(g->dev, b->there);
    FREE(b->here);
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
    if (x->list && (x->plan != &m->lev[l].plan || g->links[l] != m->lev[l].links)) {
        TRY(dev_wait(g->stream));
        ghost_dev_plan_drop(g, x);
    }
    x->plan = &m->lev[l].plan;
    g->links[l] = m->lev[l].links;
    return OK;
}

/* ---- lists and buffers there ---- */

static lidx sent(const struct xplan *p)
{
    return p->npeer ? p->sfirst[p->npeer] : 0;
}

static lidx received(const struct xplan *p)
{
    return p->npeer ? p->rfirst[p->npeer] : 0;
}

static enum err plan_put(struct ghost_dev *g, struct ghost_dev_plan *q)
{
    const struct xplan *p = q->plan;
    const size_t n = (size_t)sent(p), r = (size_t)received(p), peers = (size_t)p->npeer + 1;
    void *list;
    if (q->list || p->npeer == 0) return OK;
    TRY(dev_new(g->dev, &list, sizeof *q->list * (n + r + 2 * peers), "exchange plans"));
    q->list = list;
    dev_put(g->stream, q->list, p->send, sizeof *q->list * n);
    dev_put(g->stream, q->list + n, p->recv, sizeof *q->list * r);
    dev_put(g->stream, q->list + n + r, p->sfirst, sizeof *q->list * peers);
    dev_put(g->stream, q->list + n + r + peers, p->rfirst, sizeof *q->list * peers);
    return OK;
}

/* A free buffer, the smallest that is large enough if there is one; -1: none is free. */
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
    BUG_ON(best < 0); /* too many are on their way */
    struct buffer *b = &g->buffer[best];
    if (b->bytes < bytes) {
        TRY(dev_wait(g->stream)); /* for what used it */
        buffer_drop(g, b);
        TRY(dev_new(g->dev, &b->there, bytes, "ghost buffers"));
        b->here = mem_new(bytes, "ghost buffers");
        b->bytes = bytes;
    }
    b->busy = true;
    *at = best;
    return OK;
}

/* ---- one exchange ---- */

/* Arrays in units, without the side that is packed or unpacked. */
static struct ghost_pack_args units_of(int narr, void *const *arr, const size_t *stride)
{
    struct ghost_pack_args a = {.narr = narr, .unit = 8};
    BUG_ON(narr > GHOST_DEV_ARRAYS);
    for (int i = 0; i < narr; i++)
        if (stride[i] % 8) a.unit = 1;
    for (int i = 0; i < narr; i++) {
        a.arr[i] = arr[i];
        a.at[i + 1] = a.at[i] + (int)(stride[i] / (size_t)a.unit);
    }
    return a;
}

static struct ghost_pack_args units_of_cells(const int cell[4], double (*arr)[8])
{
    struct ghost_pack_args a = {.narr = 1, .unit = 8, .cells = 1, .at = {0, 4}, .arr = {arr}};
    memcpy(a.cell, cell, sizeof a.cell);
    return a;
}

static size_t row_bytes(const struct ghost_pack_args *a)
{
    return (size_t)(a->at[a->narr] * a->unit);
}

static void launch(struct ghost_dev_rows *x, struct ghost_pack_args *a, bool pack)
{
    struct ghost_dev *g = x->of;
    const struct xplan *p = x->plan->plan;
    const lidx *lists = x->plan->list, n = sent(p), r = received(p);
    if (p->npeer == 0) return;
    a->oct = lists + (pack ? 0 : n);
    a->first = lists + n + r + (pack ? 0 : p->npeer + 1);
    a->n = pack ? n : r;
    a->npeer = p->npeer;
    a->buffer = g->buffer[x->buffer].there;
    dev_launch(g->stream, pack ? &ghost_pack : &ghost_unpack,
               (a->n + GHOST_BLOCK_ROWS - 1) / GHOST_BLOCK_ROWS, a);
}

static enum err begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                      enum comm_use use, struct ghost_dev_plan *q, struct ghost_pack_args *a)
{
    const struct xplan *p = q->plan;
    const size_t row = row_bytes(a), out = row * (size_t)sent(p), in = row * (size_t)received(p);
    *x = (struct ghost_dev_rows){.of = NULL};
    if (!p->shared || a->narr == 0) return OK;
    enum err e = plan_put(g, q);
    if (e == OK) e = buffer_take(g, (out > in ? out : in) + 1, &x->buffer);
    if (e != OK) {
        TRY(dev_wait(g->stream)); /* the lists may be under way */
        return e;
    }
    x->of = g;
    x->plan = q;
    char *here = g->buffer[x->buffer].here;
    launch(x, a, true);
    if (out > 0) dev_get(g->stream, here, g->buffer[x->buffer].there, out);
    e = dev_wait(g->stream);
    BUG_ON(e != OK); /* the state is lost */
    ghost_rows_room(&x->rows, c, use, p, row);
    for (int i = 0; i < p->npeer; i++)
        memcpy(x->rows.pack.out[i], here + row * (size_t)p->sfirst[i],
               row * (size_t)(p->sfirst[i + 1] - p->sfirst[i]));
    comm_pack_send(&x->rows.pack);
    return OK;
}

static void end(struct ghost_dev_rows *x, struct ghost_pack_args *a)
{
    struct ghost_dev *g = x->of;
    if (!g) return;
    const struct xplan *p = x->plan->plan;
    struct buffer *b = &g->buffer[x->buffer];
    const size_t row = row_bytes(a), in = row * (size_t)received(p);
    comm_pack_receive(&x->rows.pack);
    for (int i = 0; i < p->npeer; i++)
        memcpy(b->here + row * (size_t)p->rfirst[i], x->rows.pack.in[i],
               row * (size_t)(p->rfirst[i + 1] - p->rfirst[i]));
    comm_pack_free(&x->rows.pack);
    if (in > 0) dev_put(g->stream, b->there, b->here, in);
    launch(x, a, false);
    b->busy = false;
    x->of = NULL;
}

enum err ghost_dev_rows_begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                              enum comm_use use, struct ghost_dev_plan *q, int narr,
                              void *const *arr, const size_t *stride)
{
    struct ghost_pack_args a = units_of(narr, arr, stride);
    return begin(x, g, c, use, q, &a);
}

void ghost_dev_rows_end(struct ghost_dev_rows *x, int narr, void *const *arr, const size_t *stride)
{
    struct ghost_pack_args a = units_of(narr, arr, stride);
    end(x, &a);
}

enum err ghost_dev_cells_begin(struct ghost_dev_rows *x, struct ghost_dev *g, const struct comm *c,
                               enum comm_use use, struct ghost_dev_plan *q, const int cell[4],
                               double (*arr)[8])
{
    struct ghost_pack_args a = units_of_cells(cell, arr);
    return begin(x, g, c, use, q, &a);
}

void ghost_dev_cells_end(struct ghost_dev_rows *x, const int cell[4], double (*arr)[8])
{
    struct ghost_pack_args a = units_of_cells(cell, arr);
    end(x, &a);
}
