/* cone/rows: see rows.h. The order over all ranks: keys that divide the rows into equal parts are
 * found bit by bit, from the numbers of rows below a trial; rows go to the rank of their part,
 * which sorts them, and then to the rank whose blocks have their places. */
#include "cone/rows.h"

#include <string.h>

#include "base/mem.h"

enum { IMAGE_BITS = 21, KEY_BITS = 64 * CONE_KEY };

static uint64_t image_key(const int32_t image[3])
{
    uint64_t k = 0;
    for (int d = 0; d < 3; d++)
        k = k << IMAGE_BITS | (uint64_t)(image[d] + (1 << (IMAGE_BITS - 1)));
    return k;
}

void cone_row_image(const struct cone_rows *r, int64_t i, int32_t image[3])
{
    uint64_t k = cone_row(r, i)[0];
    for (int d = 2; d >= 0; d--, k >>= IMAGE_BITS)
        image[d] = (int32_t)(k & ((1 << IMAGE_BITS) - 1)) - (1 << (IMAGE_BITS - 1));
}

void cone_rows_free(struct cone_rows *r)
{
    FREE(r->at);
    r->n = r->room = 0;
}

void cone_row_key(const int32_t image[3], uint64_t high, uint64_t low, uint64_t *row)
{
    row[0] = image_key(image);
    row[1] = high;
    row[2] = low;
}

static void put(uint64_t *row, int v, double x)
{
    memcpy(row + CONE_KEY + v, &x, sizeof x);
}

void cone_rows_of(const struct cone_slice *s, struct cone_rows *out)
{
    const struct parts *p = s->parts;
    *out = (struct cone_rows){.width = ROW_PARTICLE, .n = s->events->n};
    out->at = mem_zero(sizeof(uint64_t) * (CONE_KEY + ROW_PARTICLE) * (size_t)out->n + 1,
                       "light cone");
    for (int64_t i = 0; i < out->n; i++) {
        const struct cone_event *e = &s->events->at[i];
        uint64_t *row = cone_row(out, i);
        double v[3] = {p->v[0][e->at], p->v[1][e->at], p->v[2][e->at]}, u[3];
        cone_turn(s->view, v, u);
        cone_row_key(e->image, 0, (uint64_t)p->id[e->at] ^ (uint64_t)1 << 63, row);
        for (int d = 0; d < 3; d++)
            put(row, ROW_POSITION + d, e->r[d]), put(row, ROW_VELOCITY + d, u[d]);
        put(row, ROW_REDSHIFT, e->z);
        put(row, ROW_MASS, p->m[e->at]);
        row[CONE_KEY + ROW_ID] = (uint64_t)p->id[e->at];
        row[CONE_KEY + ROW_FAMILY] = (uint64_t)(int64_t)p->family[e->at];
        put(row, ROW_BIRTH, p->birth ? p->birth[e->at] : 0);
        put(row, ROW_METAL, p->metal ? p->metal[e->at] : 0);
    }
}

/* ---- order ---- */

/* By key; rows with equal keys, which sound data do not have, by their values. */
static _Thread_local int compared; /* words of a row, for row_order */

static int row_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    for (int k = 0; k < compared; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

void cone_rows_sort(struct cone_rows *r)
{
    compared = CONE_KEY + r->width;
    mem_sort(r->at, (size_t)r->n, sizeof(uint64_t) * (size_t)compared, row_order);
}

/* Rows of this rank, which are in order, with keys below k. */
static int64_t below(const struct cone_rows *r, const uint64_t k[CONE_KEY])
{
    int64_t lo = 0, hi = r->n;
    compared = CONE_KEY;
    MEM_BISECT(lo, hi, mid, row_order(cone_row(r, mid), k) < 0)
    return lo;
}

/* First own row of each part: [size + 1]. */
static int64_t *divide(const struct cone_rows *r, const struct comm *c, int64_t total)
{
    size_t parts = (size_t)c->size + 1;
    uint64_t(*key)[CONE_KEY] = mem_zero(sizeof *key * parts, "light cone");
    int64_t *n = mem_zero(sizeof *n * parts, "light cone");
    for (int bit = 0; bit < KEY_BITS; bit++) {
        uint64_t mask = (uint64_t)1 << (63 - bit % 64);
        for (int p = 1; p < c->size; p++) {
            key[p][bit / 64] |= mask;
            n[p] = below(r, key[p]);
        }
        comm_add_i64(c, n, c->size);
        for (int p = 1; p < c->size; p++)
            if (n[p] > total * p / c->size) key[p][bit / 64] &= ~mask;
    }
    for (int p = 1; p < c->size; p++) n[p] = below(r, key[p]);
    n[0] = 0, n[c->size] = r->n;
    mem_free(key);
    return n;
}

/* Sends row i to the rank to[i]. */
static void send(struct cone_rows *r, const struct comm *c, const int *to)
{
    const size_t bytes = sizeof(uint64_t) * (size_t)(CONE_KEY + r->width);
    uint64_t *got = comm_exchange_by(c, r->at, r->n, to, bytes, &r->n, NULL);
    mem_free(r->at);
    r->at = got;
}

int64_t cone_rows_deal(struct cone_rows *r, const struct comm *c, int64_t block, int64_t *first)
{
    int64_t total = r->n;
    comm_add_i64(c, &total, 1);
    cone_rows_sort(r);
    *first = 0;
    if (c->size == 1) return total;
    int *to = mem_new(sizeof *to * (size_t)r->n + 1, "light cone");
    int64_t *part = divide(r, c, total);
    for (int p = 0; p < c->size; p++)
        for (int64_t i = part[p]; i < part[p + 1]; i++) to[i] = p;
    send(r, c, to);
    cone_rows_sort(r);
    mem_free(part);
    mem_free(to);
    /* whole blocks for each rank */
    int64_t at = comm_scan_i64(c, r->n), blocks = (total + block - 1) / block;
    int64_t each = (blocks + c->size - 1) / c->size * block;
    to = mem_new(sizeof *to * (size_t)r->n + 1, "light cone");
    for (int64_t i = 0; i < r->n; i++) to[i] = (int)((at + i) / each);
    send(r, c, to);
    cone_rows_sort(r);
    mem_free(to);
    *first = each * c->rank < total ? each * c->rank : total;
    return total;
}
