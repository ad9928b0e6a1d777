/* part/migrate_dev: sends particles on a device to other ranks, and few to the host and back.
 *
 * Kernels find the particles that leave and pack them; only these packets are copied to the host,
 * which finds their ranks and sends them. Arrivals are copied to the device and fill the slots of
 * the particles that left. */
#include <string.h>

#include "base/mem.h"
#include "part/dev_priv.h"

MEM_ORDER_OF(index_order, int64_t)

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

/* ---- few particles to and from the host ---- */

static size_t few_bytes(const struct part_table *t, int64_t n)
{
    int64_t words = 0;
    for (int c = 0; c < t->n; c++) words += part_words(t->size[c], n);
    return 8 * (size_t)words;
}

/* Sends the indices, and prepares the columns of these particles; *bytes: of these. */
static enum err few_begin(struct part_dev *x, const struct parts *p, int64_t n, const int64_t *at,
                          struct parts_few_args *a, size_t *bytes)
{
    *a = (struct parts_few_args){.table = part_dev_table(x, p), .n = n};
    *bytes = few_bytes(&a->table, n);
    const size_t list = sizeof *a->at * (size_t)n, all = *bytes + list;
    if (!x->few.p || x->few.bytes < all)
        TRY(dev_room_need(x->stream, &x->few, all + all / 4, "few particles"));
    int32_t *index = mem_new(list + 1, "few particles"),
            *there = (int32_t *)(void *)((char *)x->few.p + *bytes);
    for (int64_t i = 0; i < n; i++) index[i] = (int32_t)at[i];
    dev_put(x->stream, there, index, list);
    dev_drop_host(x->stream, index);
    a->at = there;
    a->tmp = x->few.p;
    return OK;
}

/* Copies the columns of particles between struct parts and what a kernel has packed. */
static void few_copy(const struct parts *p, int64_t n, const int64_t *at, char *packed, bool home)
{
    for (int c = 0; c <= p->columns.n; c++) {
        const bool host = c == p->columns.n; /* the last one, as in part_dev_table */
        if (!host && !p->columns.has[c]) continue;
        const int size = host ? (int)sizeof *p->host
                              : part_type_size(part_column(&p->columns, c)->type);
        char *col = host ? (char *)p->host : (char *)p->col[c];
        for (int64_t i = 0; i < n; i++) {
            char *here = col + size * at[i], *there = packed + size * i;
            memcpy(home ? here : there, home ? there : here, (size_t)size);
        }
        packed += 8 * part_words(size, n);
    }
}

enum err part_dev_few_home(struct part_dev *x, struct parts *p, int64_t n, const int64_t *at)
{
    size_t bytes;
    struct parts_few_args a;
    if (n == 0 || !x || (x->location & LOCATION_HOST)) return OK;
    part_reserve(p, p->n); /* the device may have received more */
    if (few_begin(x, p, n, at, &a, &bytes) != OK) return part_dev_need(x, p, LOCATION_HOST);
    char *packed = mem_new(bytes, "few particles");
    dev_launch(x->stream, &parts_take, dev_blocks(n), &a);
    dev_get(x->stream, packed, a.tmp, bytes);
    enum err err = dev_wait(x->stream);
    few_copy(p, n, at, packed, true);
    FREE(packed);
    return err;
}

enum err part_dev_few_send(struct part_dev *x, const struct parts *p, int64_t n, const int64_t *at)
{
    size_t bytes;
    struct parts_few_args a;
    if (n == 0 || !x || !(x->location & LOCATION_DEVICE)) return OK;
    TRY(few_begin(x, p, n, at, &a, &bytes));
    char *packed = mem_zero(bytes, "few particles");
    few_copy(p, n, at, packed, false);
    dev_put(x->stream, a.tmp, packed, bytes);
    dev_drop_host(x->stream, packed);
    dev_launch(x->stream, &parts_give, dev_blocks(n), &a);
    return OK;
}

/* Moves of part_insert, by particle: from, and behind the m of them to. */
static int64_t insert_moves(const struct parts *p, int l, int64_t n, int64_t *from, int64_t *to)
{
    int64_t end = p->n, m = 0;
    for (int k = LEVEL_MAX + 2; k > l; k--) {
        const int64_t begin = p->first[k], few = end - begin < n ? end - begin : n;
        for (int64_t i = 0; i < few; i++, m++) from[m] = begin + i, to[m] = end + n - few + i;
        end = begin;
    }
    return m;
}

static enum err insert_there(struct part_dev *x, struct parts *p, int l, int64_t n)
{
    size_t bytes;
    struct parts_few_args a;
    const size_t most = (size_t)n * (LEVEL_MAX + 2);
    int64_t *from = mem_new(sizeof *from * 2 * most, "few particles"), *to = from + most;
    const int64_t m = insert_moves(p, l, n, from, to);
    enum err err = columns_grow(x, p, p->n + n);
    if (err == OK && m > 0) err = few_begin(x, p, m, from, &a, &bytes);
    if (err == OK && m > 0) {
        int32_t *index = mem_new(sizeof *index * (size_t)m, "few particles");
        for (int64_t i = 0; i < m; i++) index[i] = (int32_t)to[i];
        dev_launch(x->stream, &parts_take, dev_blocks(m), &a);
        dev_put(x->stream, (void *)(size_t)a.at, index, sizeof *index * (size_t)m);
        dev_drop_host(x->stream, index);
        dev_launch(x->stream, &parts_give, dev_blocks(m), &a);
    }
    FREE(from);
    return err;
}

enum err part_dev_insert(struct part_dev *x, struct parts *p, int l, int64_t n)
{
    if (n == 0 || !x || !(x->location & LOCATION_DEVICE)) return OK;
    if (insert_there(x, p, l, n) == OK) return OK;
    TRY(part_dev_need(x, p, LOCATION_HOST));
    part_dev_wrote(x);
    return OK;
}

enum err part_dev_born(struct part_dev *x, const struct parts *p, int l, int family, int other,
                       const double birth[2], int64_t *n, int64_t **at)
{
    enum { SHORT = 15 };
    struct parts_born_args a = {.begin = p->first[l],
                                .end = p->first[l + 1],
                                .family = x->col[COL_FAMILY],
                                .tag = x->col[COL_TAG],
                                .birth = x->col[COL_BIRTH],
                                .of = family,
                                .other = other,
                                .first = birth[0],
                                .last = birth[1]};
    const int64_t most = a.end - a.begin;
    int32_t first[1 + SHORT] = {0};
    *n = 0;
    *at = NULL;
    if (most == 0) return OK;
    /* the scratch memory of sorts has eight bytes a particle */
    a.count = (int32_t *)(void *)x->tmp;
    a.list = a.count + 1;
    dev_fill(x->stream, a.count, 0, sizeof *a.count);
    dev_launch(x->stream, &parts_born, dev_blocks(most), &a);
    dev_get(x->stream, first, a.count, sizeof *first * (size_t)(1 + (most < SHORT ? most : SHORT)));
    TRY(dev_wait(x->stream));
    *n = first[0];
    if (*n == 0) return OK;
    int32_t *list = mem_new(sizeof *list * (size_t)*n, "few particles");
    dev_get(x->stream, list, a.list, sizeof *list * (size_t)*n);
    enum err err = dev_wait(x->stream);
    *at = mem_new(sizeof **at * (size_t)*n, "few particles");
    for (int64_t i = 0; i < *n; i++) (*at)[i] = list[i];
    mem_sort(*at, (size_t)*n, sizeof **at, index_order);
    FREE(list);
    return err;
}

enum err part_dev_max_id(struct part_dev *x, const struct parts *p, int64_t *max)
{
    int64_t top[PART_SUMMERS], blocks = dev_blocks(p->n);
    *max = 0;
    if (blocks > PART_SUMMERS / 8) blocks = PART_SUMMERS / 8;
    if (blocks == 0) return OK;
    dev_launch(x->stream, &parts_ids, blocks,
               &(struct parts_ids_args){x->col[COL_ID], p->n, (int64_t *)(void *)x->tmp});
    dev_get(x->stream, top, x->tmp, sizeof *top * (size_t)blocks);
    TRY(dev_wait(x->stream));
    for (int64_t i = 0; i < blocks; i++) *max = top[i] > *max ? top[i] : *max;
    return OK;
}
