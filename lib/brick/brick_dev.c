#include "brick/brick_dev.h"

#include "base/mem.h"
#include "brick/brick_kernel.h"
#include "brick/fill.h"

struct brick_dev {
    struct brick *b;
    struct dev *dev;
    struct dev_stream *stream; /* packing, copies and unpacking */
    double *out, *in;          /* messages of all peers, one after another */
    int nfield;                /* most fields of a fill */
};

/* Cells of the halo that other ranks have, with corners. */
static int64_t halo_cells(const struct brick *b)
{
    int64_t all = 1, own = 1;
    for (int d = 0; d < 3; d++) {
        own *= b->own[d];
        all *= b->own[d] + (b->p[d] > 1 ? 2 * b->halo : 0);
    }
    return b->own[0] > 0 ? all - own : 0;
}

enum err brick_dev_new(struct brick_dev **at, struct brick *b, struct dev *d, int nfield)
{
    struct brick_dev *x = *at = mem_zero(sizeof *x, "device");
    size_t bytes = sizeof(double) * (size_t)(halo_cells(b) * nfield);
    *x = (struct brick_dev){.b = b, .dev = d, .stream = dev_stream_new(d), .nfield = nfield};
    BUG_ON(nfield > BRICK_DEV_FIELDS);
    enum err err = OK;
    if (bytes > 0) err = dev_new(d, &x->out, bytes, "bricks");
    if (bytes > 0 && err == OK) err = dev_new(d, &x->in, bytes, "bricks");
    err = err_agree(b->comm, err);
    if (err != OK) brick_dev_free(at);
    return err;
}

void brick_dev_free(struct brick_dev **at)
{
    struct brick_dev *x = *at;
    if (!x) return;
    dev_stream_free(&x->stream);
    dev_free(x->dev, x->out);
    dev_free(x->dev, x->in);
    FREE(*at);
}

static struct brick_kernel_args args_new(const struct brick_dev *x)
{
    const struct brick *b = x->b;
    struct brick_kernel_args a = {.nfield = b->plan->nfield,
                                  .start = b->start,
                                  .row = b->stride[1],
                                  .plane = b->stride[2],
                                  .halo = b->halo};
    for (int i = 0; i < a.nfield && b->own[0] > 0; i++) a.field[i] = b->plan->field[i];
    return a;
}

static void box_add(struct brick_kernel_args *a, const int at[3], const int len[3], int64_t buffer)
{
    struct brick_box *k = &a->box[a->nbox++];
    *k = (struct brick_box){.first = a->count, .buffer = buffer};
    int64_t numbers = a->nfield;
    for (int d = 0; d < 3; d++) {
        k->at[d] = at[d];
        k->len[d] = len[d];
        numbers *= len[d];
    }
    a->count += numbers;
}

static void launch(struct dev_stream *s, const struct dev_kernel *k,
                   const struct brick_kernel_args *a)
{
    if (a->count > 0) dev_launch(s, k, dev_blocks(a->count), a);
}

/* First cell of each peer in the buffer of all messages. */
static void peers_first(const struct brick_plan *q, const int64_t *cells, int64_t *first)
{
    first[0] = 0;
    for (int i = 1; i < q->npeer; i++) first[i] = first[i - 1] + cells[i - 1];
}

static void segments_launch(struct brick_dev *x, bool pack)
{
    const struct brick_plan *q = x->b->plan;
    struct brick_kernel_args a = args_new(x);
    int64_t first[BRICK_SEGMENTS];
    peers_first(q, pack ? q->sent : q->received, first);
    a.buffer = pack ? x->out : x->in;
    for (int i = 0; i < q->nseg; i++) {
        const struct segment *s = &q->seg[i];
        if (pack)
            box_add(&a, s->from, s->len, (first[s->target] + s->out) * a.nfield);
        else
            box_add(&a, s->to, s->len, (first[s->source] + s->in) * a.nfield);
    }
    launch(x->stream, pack ? &brick_pack : &brick_unpack, &a);
}

/* Box i of which the halo beyond axes that are not cut is filled: the own cells, or a segment. */
static void box_get(const struct brick *b, bool own, int i, int at[3], int len[3])
{
    for (int d = 0; d < 3; d++) {
        at[d] = own ? 0 : b->plan->seg[i].to[d];
        len[d] = own ? b->own[d] : b->plan->seg[i].len[d];
    }
}

static void wrap(struct brick_dev *x, struct dev_stream *s, bool own)
{
    const struct brick *b = x->b;
    const int boxes = own ? b->own[0] > 0 : b->plan->nseg;
    bool done[3] = {false};
    for (int axis = 0; axis < 3; axis++) {
        struct brick_kernel_args a = args_new(x);
        if (b->p[axis] > 1) continue;
        a.axis = axis;
        a.own = b->own[axis];
        for (int i = 0; i < boxes; i++) {
            int at[3], len[3];
            box_get(b, own, i, at, len);
            for (int d = 0; d < axis; d++)
                if (done[d]) at[d] -= b->halo, len[d] += 2 * b->halo;
            at[axis] = -b->halo;
            len[axis] = 2 * b->halo;
            box_add(&a, at, len, 0);
        }
        launch(s, &brick_wrap, &a);
        b->plan->counts.copied += a.count * (int64_t)sizeof(double);
        done[axis] = true;
    }
}

/* Copies all messages between the buffer and the host. */
static void messages_copy(struct brick_dev *x, bool out)
{
    struct brick_plan *q = x->b->plan;
    const int64_t *cells = out ? q->sent : q->received;
    int64_t at = 0;
    for (int i = 0; i < q->npeer; i++) {
        size_t bytes = sizeof(double) * (size_t)(cells[i] * q->nfield);
        if (out)
            dev_get(x->stream, q->pack.out[i], x->out + at, bytes);
        else
            dev_put(x->stream, x->in + at, q->pack.in[i], bytes);
        at += cells[i] * q->nfield;
    }
}

/* A device that fails has lost its data, and the ranks wait for one another. */
static void wait_for(struct dev_stream *s)
{
    enum err err = dev_wait(s);
    BUG_ON(err != OK);
}

void brick_dev_fill_begin(struct brick_dev *x, struct dev_stream *s, int nfield,
                          double *const *field)
{
    BUG_ON(nfield > x->nfield);
    if (nfield == 0) return;
    brick_plan_begin(x->b, nfield, field);
    if (brick_is_cut(x->b)) {
        dev_follow(x->stream, s);
        segments_launch(x, true);
        messages_copy(x, true);
    }
    wrap(x, s, true);
}

void brick_dev_fill_end(struct brick_dev *x, struct dev_stream *s)
{
    struct brick_plan *q = x->b->plan;
    if (q->nfield == 0) return;
    if (brick_is_cut(x->b)) {
        wait_for(x->stream);
        comm_pack_send(&q->pack);
        comm_pack_receive(&q->pack);
        messages_copy(x, false);
        wait_for(x->stream); /* another rank's memory was read */
        comm_pack_done(&q->pack);
        segments_launch(x, false); /* work in s may go on: it reads none of these cells */
        wrap(x, x->stream, false);
        dev_follow(s, x->stream);
    }
    q->nfield = 0;
}
