/* brick/fill: the exchange of halos. A message has segment after segment, field after field, row
 * after row. The halo beyond an axis that is not cut, beside a box of known cells, is copied from
 * that box, axis by axis, so that later axes copy the halo of earlier ones with it: beyond x and y
 * plane by plane, while the plane is in a cache. */
#include "brick/fill.h"

#include <string.h>

#include "base/mem.h"

enum { FEW = 1 << 12 }; /* numbers that one thread copies faster than several */

/* ---- segments ---- */

bool brick_is_cut(const struct brick *b)
{
    return b->p[0] > 1 || b->p[1] > 1 || b->p[2] > 1;
}

/* Direction number k of 27, each component −1, 0 or 1; false: no segment has it. */
static bool direction(const struct brick *b, int k, int d[3])
{
    int parts = 0;
    d[0] = k % 3 - 1, d[1] = k / 3 % 3 - 1, d[2] = k / 9 - 1;
    for (int a = 0; a < 3; a++) {
        if (d[a] != 0 && b->p[a] == 1) return false;
        parts += d[a] != 0;
    }
    return parts > 0 && (parts < 3 || b->plan->corners);
}

static int neighbour(const struct brick *b, const int d[3], int sign)
{
    int at[3];
    for (int a = 0; a < 3; a++) at[a] = b->at[a] + sign * d[a];
    return brick_rank(b, at);
}

static struct segment segment_of(const struct brick *b, const int d[3])
{
    struct segment s = {.cells = 1};
    for (int a = 0; a < 3; a++) {
        s.len[a] = d[a] ? b->halo : b->own[a];
        s.to[a] = d[a] < 0 ? -b->halo : d[a] > 0 ? b->own[a] : 0;
        s.from[a] = d[a] < 0 ? b->own[a] - b->halo : 0;
        s.cells *= s.len[a];
    }
    s.source = neighbour(b, d, 1);
    s.target = neighbour(b, d, -1);
    return s;
}

MEM_ORDER_OF(int_order, int)

static int peer_index(const struct brick_plan *q, int rank)
{
    const int *p = mem_find(&rank, q->peer, (size_t)q->npeer, sizeof *p, int_order);
    BUG_ON(!p);
    return (int)(p - q->peer);
}

/* Sources and targets are the same ranks: the opposite of each direction has a segment too. */
static void peers(struct brick_plan *q)
{
    int n = 0;
    for (int i = 0; i < q->nseg; i++) q->peer[i] = q->seg[i].source;
    mem_sort(q->peer, (size_t)q->nseg, sizeof *q->peer, int_order);
    for (int i = 0; i < q->nseg; i++)
        if (i == 0 || q->peer[i] != q->peer[i - 1]) q->peer[n++] = q->peer[i];
    q->npeer = n;
}

void brick_plan_new(struct brick *b)
{
    struct brick_plan *q = b->plan;
    int d[3];
    q->nseg = 0;
    for (int k = 0; k < 27 && b->own[0] > 0; k++)
        if (direction(b, k, d)) q->seg[q->nseg++] = segment_of(b, d);
    peers(q);
    memset(q->sent, 0, sizeof q->sent);
    memset(q->received, 0, sizeof q->received);
    for (int i = 0; i < q->nseg; i++) {
        struct segment *s = &q->seg[i];
        s->source = peer_index(q, s->source);
        s->target = peer_index(q, s->target);
        s->in = q->received[s->source];
        s->out = q->sent[s->target];
        q->received[s->source] += s->cells;
        q->sent[s->target] += s->cells;
    }
}

void brick_plan_free(struct brick *b)
{
    struct brick_plan *q = b->plan;
    BUG_ON(q->nfield);
    if (q->packed) comm_pack_free(&q->pack);
    q->packed = false;
    FREE(q->field);
    q->room = 0;
}

void brick_corners(struct brick *b, bool corners)
{
    if (b->plan->corners == corners) return;
    brick_plan_free(b);
    b->plan->corners = corners;
    brick_plan_new(b);
}

void brick_beside(struct brick *b, bool valid)
{
    b->plan->beside = valid;
}

/* ---- packing ---- */

/* Rows of halos beyond x are too short for a call. */
static void row_copy(double *to, const double *from, int n)
{
    if (n > BRICK_HALO_MAX) {
        memcpy(to, from, sizeof *to * (size_t)n);
        return;
    }
    for (int i = 0; i < n; i++) to[i] = from[i];
}

static void plane_pack(const struct brick *b, const struct segment *s, double *to,
                       const double *field, int z)
{
    const double *from = field + brick_cell(b, s->from[0], s->from[1], s->from[2] + z);
    for (int y = 0; y < s->len[1]; y++)
        row_copy(to + (int64_t)y * s->len[0], from + y * b->stride[1], s->len[0]);
}

static void plane_unpack(const struct brick *b, const struct segment *s, const double *from,
                         double *field, int z)
{
    double *to = field + brick_cell(b, s->to[0], s->to[1], s->to[2] + z);
    for (int y = 0; y < s->len[1]; y++)
        row_copy(to + y * b->stride[1], from + (int64_t)y * s->len[0], s->len[0]);
}

static int64_t segment_cells(const struct brick_plan *q)
{
    int64_t n = 0;
    for (int i = 0; i < q->nseg; i++) n += q->seg[i].cells;
    return n;
}

/* Copies all segments from the fields to the messages. Threads take planes. */
static void segments_pack(struct brick *b)
{
    struct brick_plan *q = b->plan;
#pragma omp parallel if (segment_cells(q) * q->nfield > FEW)
    for (int i = 0; i < q->nseg; i++) {
        const struct segment *s = &q->seg[i];
        const int64_t plane = (int64_t)s->len[0] * s->len[1];
        double *out = (double *)q->pack.out[s->target] + q->nfield * s->out;
#pragma omp for schedule(static) nowait
        for (int k = 0; k < q->nfield * s->len[2]; k++)
            plane_pack(b, s, out + k * plane, q->field[k / s->len[2]], k % s->len[2]);
    }
}

/* ---- axes that are not cut ---- */

/* The own cell that a halo has, `layer` cells outwards from the first one below cell 0, or, from
 * layer `halo` on, from the last own cell. */
struct layer {
    int64_t to, from;
};

static struct layer layer_of(const struct brick *b, int axis, int i)
{
    int64_t n = b->own[axis], x = i < b->halo ? i - b->halo : n + i - b->halo;
    return (struct layer){x, (x % n + n) % n};
}

/* Fills the halo of a field beyond x, y or z, in plane number k of the box. */
static void halo_copy(const struct brick *b, double *field, int axis, const int lo[3],
                      const int hi[3], int k)
{
    struct layer l[2 * BRICK_HALO_MAX];
    const int layers = 2 * b->halo, x = lo[0], width = hi[0] - lo[0];
    for (int i = 0; i < layers; i++) l[i] = layer_of(b, axis, i);
    for (int y = lo[1]; axis == 0 && y < hi[1]; y++) {
        double *row = field + brick_cell(b, 0, y, k);
        for (int i = 0; i < layers; i++) row[l[i].to] = row[l[i].from];
    }
    for (int i = 0; axis == 1 && i < layers; i++)
        row_copy(field + brick_cell(b, x, l[i].to, k), field + brick_cell(b, x, l[i].from, k),
                 width);
    for (int i = 0; axis == 2 && i < layers; i++)
        row_copy(field + brick_cell(b, x, k, l[i].to), field + brick_cell(b, x, k, l[i].from),
                 width);
}

/* Fills the halo of a field beyond x and y, as far as they are not cut, beside plane z of a box. */
static void plane_wrap(const struct brick *b, double *field, const int first[3], const int len[3],
                       int z)
{
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) lo[a] = first[a], hi[a] = first[a] + len[a];
    for (int a = 0; a < 2; a++) {
        if (b->p[a] > 1) continue;
        halo_copy(b, field, a, lo, hi, z);
        lo[a] -= b->halo, hi[a] += b->halo;
    }
}

/* Fills the halo of all fields beyond z beside a box whose planes are complete, with the halos of x
 * and y. */
static void planes_wrap(const struct brick *b, const int first[3], const int len[3], bool many)
{
    const struct brick_plan *q = b->plan;
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        const int more = b->p[a] > 1 ? 0 : b->halo;
        lo[a] = first[a] - more, hi[a] = first[a] + len[a] + more;
    }
    const int rows = hi[1] - lo[1];
#pragma omp parallel for schedule(static) if (many)
    for (int k = 0; k < q->nfield * rows; k++)
        halo_copy(b, q->field[k / rows], 2, lo, hi, lo[1] + k % rows);
}

/* Cells of the halo beside a box that are copied within the brick. */
static int64_t wrapped_cells(const struct brick *b, const int len[3])
{
    int64_t cells = 1, all = 1;
    for (int a = 0; a < 3; a++) {
        cells *= len[a];
        all *= len[a] + (b->p[a] > 1 ? 0 : 2 * b->halo);
    }
    return all - cells;
}

/* Completes a box of cells that along axes that are not cut is the whole mesh: takes it from a
 * message, unless s is NULL, and fills the halo beyond these axes. Threads take planes, which stay
 * in their caches meanwhile. */
static void box_complete(struct brick *b, const int first[3], const int len[3],
                         const struct segment *s)
{
    struct brick_plan *q = b->plan;
    const int64_t plane = (int64_t)len[0] * len[1], more = wrapped_cells(b, len);
    const double *in = s ? (const double *)q->pack.in[s->source] + q->nfield * s->in : NULL;
    const bool many = (more + (s ? s->cells : 0)) * q->nfield > FEW;
#pragma omp parallel for schedule(static) if (many)
    for (int k = 0; k < q->nfield * len[2]; k++) {
        double *field = q->field[k / len[2]];
        if (s) plane_unpack(b, s, in + k * plane, field, k % len[2]);
        plane_wrap(b, field, first, len, first[2] + k % len[2]);
    }
    if (b->p[2] == 1) planes_wrap(b, first, len, many);
    q->counts.copied += more * q->nfield * (int64_t)sizeof(double);
}

/* ---- a fill ---- */

static void messages_new(struct brick *b)
{
    struct brick_plan *q = b->plan;
    size_t *sent = q->bytes, *received = q->bytes + q->npeer;
    for (int i = 0; i < q->npeer; i++) {
        sent[i] = sizeof(double) * (size_t)(q->sent[i] * q->nfield);
        received[i] = sizeof(double) * (size_t)(q->received[i] * q->nfield);
        q->counts.bytes += (int64_t)sent[i];
    }
    q->counts.messages += q->npeer;
    if (q->packed)
        comm_pack_again(&q->pack, sent, received);
    else
        comm_pack_new(&q->pack, b->comm, COMM_BRICK, q->npeer, q->peer, sent, received);
    q->packed = true;
}

void brick_plan_begin(struct brick *b, int nfield, double *const *field)
{
    struct brick_plan *q = b->plan;
    BUG_ON(q->nfield);
    if (nfield > q->room) {
        q->field = mem_grow(q->field, sizeof *q->field * (size_t)nfield, "bricks");
        q->room = nfield;
    }
    for (int i = 0; i < nfield && b->own[0] > 0; i++) q->field[i] = field[i];
    q->nfield = nfield;
    q->counts.fills++;
    if (brick_is_cut(b)) messages_new(b);
}

void brick_fill_begin(struct brick *b, int nfield, double *const *field)
{
    if (nfield == 0) return;
    brick_plan_begin(b, nfield, field);
    if (brick_is_cut(b)) {
        segments_pack(b);
        comm_pack_send(&b->plan->pack);
    }
    if (b->own[0] > 0 && !b->plan->beside) box_complete(b, (int[3]){0, 0, 0}, b->own, NULL);
}

void brick_fill_end(struct brick *b)
{
    struct brick_plan *q = b->plan;
    if (q->nfield == 0) return;
    if (brick_is_cut(b)) {
        comm_pack_receive(&q->pack);
        for (int i = 0; i < q->nseg; i++) box_complete(b, q->seg[i].to, q->seg[i].len, &q->seg[i]);
        comm_pack_done(&q->pack);
    }
    q->nfield = 0;
}

void brick_fill(struct brick *b, int nfield, double *const *field)
{
    brick_fill_begin(b, nfield, field);
    brick_fill_end(b);
}
