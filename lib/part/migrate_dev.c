/* part/migrate_dev: sends particles on a device to other ranks.
 *
 * Kernels find the particles that leave and pack them; only these packets are copied to the host,
 * which finds their ranks and sends them. Arrivals are copied to the device and fill the slots of
 * the particles that left. */
#include "base/mem.h"
#include "part/dev_priv.h"

static enum err room(struct part_dev *x, size_t bytes)
{
    if (bytes <= x->packet_bytes) return OK;
    TRY(dev_wait(x->stream));
    part_dev_drop(x, &x->packets);
    x->packet_bytes = 0;
    TRY(part_dev_make(x, &x->packets, bytes + bytes / 4, "particle exchange"));
    x->packet_bytes = bytes + bytes / 4;
    return OK;
}

static struct part_packets packets_of(const struct part_dev *x, const struct parts *p)
{
    struct packet_column col[COL_MAX];
    struct part_packets t = {.packet = x->packets, .bytes = (int)part_packet_size(p)};
    t.n = part_packet_columns(p, col);
    for (int c = 0; c < t.n; c++) {
        t.col[c] = x->col[col[c].column];
        t.size[c] = (int8_t)part_type_size(part_column(&p->columns, col[c].column)->type);
        t.at[c] = (int16_t)col[c].at;
    }
    return t;
}

/* Slots of the particles that leave; between launches they are in x->tmp. */
static int32_t *slots_of(const struct part_dev *x)
{
    return (int32_t *)(void *)x->tmp;
}

/* Copies the `away` particles to `out` as packets. */
static enum err leave(struct part_dev *x, const struct parts *p, const struct mesh *m, int l,
                      int64_t begin, int64_t away, void *out)
{
    const int64_t n = p->n - begin;
    int32_t *mark = (int32_t *)(void *)x->key;
    if (away == 0) return OK;
    TRY(room(x, part_packet_size(p) * (size_t)away));
    dev_launch(x->stream, &parts_away, dev_blocks(n),
               &(struct parts_away_args){x->host + begin, n, m->lev[l].nown, mark});
    dev_scan(x->stream, x->order, mark, n);
    dev_launch(x->stream, &parts_pack, dev_blocks(n),
               &(struct parts_pack_args){x->mirror->mesh_dev, part_dev_view(x), l, begin, n, mark,
                                         x->order, slots_of(x), packets_of(x, p)});
    dev_get(x->stream, out, x->packets, part_packet_size(p) * (size_t)away);
    return dev_wait(x->stream);
}

/* ---- arrivals ---- */

static enum err array_grow(struct part_dev *x, void *pointer, size_t bytes, size_t more,
                           const char *name)
{
    void **p = pointer, *now = NULL;
    TRY(part_dev_make(x, &now, more, name));
    dev_copy(x->stream, now, *p, bytes);
    TRY(dev_wait(x->stream));
    part_dev_drop(x, pointer);
    *p = now;
    return OK;
}

/* Makes room for n particles. After an error the capacity is as before. */
static enum err columns_grow(struct part_dev *x, const struct parts *p, int64_t n)
{
    const size_t old = (size_t)x->cap, cap = (size_t)(n + n / 32 + 1);
    if (n <= x->cap) return OK;
    if (n >= INT32_MAX)
        FAIL(ERR_LIMIT, "%lld particles on a device: the limit is 2^31", (long long)n);
    for (int c = 0; c < p->columns.n; c++) {
        size_t size = (size_t)part_type_size(part_column(&p->columns, c)->type);
        if (p->columns.has[c]) TRY(array_grow(x, &x->col[c], size * old, size * cap, "particles"));
    }
    TRY(array_grow(x, &x->host, sizeof *x->host * old, sizeof *x->host * cap, "particles"));
    TRY(array_grow(x, &x->key, 0, sizeof *x->key * (cap + 1), "particle sort"));
    TRY(array_grow(x, &x->tmp, sizeof *x->tmp * old, sizeof *x->tmp * (cap + 1), "particle sort"));
    TRY(array_grow(x, &x->order, 0, sizeof *x->order * (cap + 1), "particle sort"));
    x->cap = (int64_t)cap;
    return OK;
}

static enum err arrive_dev(struct part_dev *x, struct parts *p, int l, int64_t away, int64_t n,
                           const void *in)
{
    int32_t count[COUNT_SIZE];
    const int64_t gaps = away > n ? away - n : 0;
    dev_put(x->stream, x->packets, in, part_packet_size(p) * (size_t)n);
    dev_fill(x->stream, x->count, 0, sizeof count);
    dev_launch(x->stream, &parts_unpack, dev_blocks(n),
               &(struct parts_unpack_args){x->mirror->mesh_dev, l, n, away, p->n, slots_of(x),
                                           x->host, x->count, packets_of(x, p)});
    dev_launch(x->stream, &parts_close, dev_blocks(gaps),
               &(struct parts_close_args){part_dev_table(x, p), slots_of(x) + n, gaps, p->n});
    dev_get(x->stream, count, x->count, sizeof count);
    TRY(dev_wait(x->stream));
    BUG_ON(count[COUNT_AWAY]); /* a packet for another rank */
    p->n += n - away;
    x->location = LOCATION_DEVICE;
    return OK;
}

/* Adds n arrivals to the columns in host memory. */
static enum err arrive_here(struct part_dev *x, struct parts *p, const struct level *lv,
                            int64_t away, int64_t n, void *in)
{
    int32_t *location = mem_new(sizeof *location * (size_t)away + 1, "particle exchange");
    int64_t *at = mem_new(sizeof *at * (size_t)away + 1, "particle exchange");
    dev_get(x->stream, location, slots_of(x), sizeof *location * (size_t)away);
    TRY(part_dev_need(x, p, LOCATION_HOST));
    TRY(dev_wait(x->stream));
    for (int64_t j = 0; j < away; j++) at[j] = location[j];
    part_packets_put(p, lv, away, at, n, in);
    part_dev_wrote(x);
    FREE(at);
    FREE(location);
    return OK;
}

void part_dev_migrate(struct part_dev *x, struct parts *p, const struct mesh *m,
                      const struct comm *c, const struct domain *d, int l, int64_t begin,
                      int64_t away)
{
    const size_t size = part_packet_size(p);
    int64_t n = 0;
    if (c->size == 1 && away == 0) return;
    void *out = mem_new(size * (size_t)away + 1, "particle exchange");
    if (leave(x, p, m, l, begin, away, out) != OK) {
        FREE(out);
        BUG_ON(part_dev_need(x, p, LOCATION_HOST) != OK); /* the state is lost */
        part_migrate(p, m, c, d, l, begin);
        part_dev_wrote(x);
        return;
    }
    void *in = part_packets_exchange(p, c, d, l, away, out, &n);
    bool fits = room(x, size * (size_t)n) == OK && columns_grow(x, p, p->n + n - away) == OK;
    if (away > 0 || n > 0)
        BUG_ON((fits ? arrive_dev(x, p, l, away, n, in)
                     : arrive_here(x, p, &m->lev[l], away, n, in)) != OK); /* the state is lost */
    FREE(in);
    FREE(out);
}
