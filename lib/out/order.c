#include "out/order.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "part/part.h"

static const int64_t ID_MASK = ((int64_t)1 << 56) - 1; /* bits of an id in a key */

static int64_t rows_below(const struct order *o, order_key k, int64_t lo, int64_t hi)
{
    MEM_BISECT(lo, hi, mid, o->fn(o->ctx, mid) < k)
    return lo;
}

/* Divides rows with the key k of a cut between the windows, in the order of ranks. */
static void cut_equal_keys(struct order *o, int64_t w, order_key k)
{
    int64_t min = rows_below(o, k - 1, 0, o->n), max = rows_below(o, k, 0, o->n), before = min;
    comm_add_i64(o->c, &before, 1);
    int64_t take = w * o->window - before - comm_scan_i64(o->c, max - min);
    o->cut[w] = min + (take < 0 ? 0 : take < max - min ? take : max - min);
}

/* Finds for each cut the smallest key k such that at least w*window rows are below it, bit by bit
 * from the top. */
static void find_cuts(struct order *o, int bits)
{
    int64_t n = o->nwindow - 1;
    /* largest keys with too few rows below */
    order_key *k = mem_zero(sizeof *k * (size_t)(n + 1), "order");
    int64_t *below = mem_new(sizeof *below * (size_t)(n + 1), "order");
    for (int b = bits - 1; b >= 0; b--) {
        for (int64_t w = 1; w <= n; w++)
            below[w] = rows_below(o, k[w] | (order_key)1 << b, 0, o->n);
        comm_add_i64(o->c, below + 1, (int)n);
        for (int64_t w = 1; w <= n; w++)
            if (below[w] < w * o->window) k[w] |= (order_key)1 << b;
    }
    for (int64_t w = 1; w <= n; w++) o->cut[w] = below[w] = rows_below(o, k[w] + 1, 0, o->n);
    comm_add_i64(o->c, below + 1, (int)n);
    for (int64_t w = 1; w <= n; w++)
        if (below[w] != w * o->window) cut_equal_keys(o, w, k[w] + 1);
    FREE(below);
    FREE(k);
}

void order_init(struct order *o, const struct comm *c, int64_t n, order_key_fn *fn, const void *ctx,
                int bits, int64_t window)
{
    *o = (struct order){.c = c, .fn = fn, .ctx = ctx, .n = n, .total = n, .window = window};
    comm_add_i64(c, &o->total, 1);
    o->nwindow = (o->total + window - 1) / window;
    o->nround = (o->nwindow + c->size - 1) / c->size;
    if (o->nwindow < 1) o->nwindow = 1;
    o->cut = mem_zero(sizeof *o->cut * (size_t)(o->nwindow + 1), "order");
    o->count = mem_new(sizeof *o->count * (size_t)c->size, "order");
    o->from = mem_new(sizeof *o->from * (size_t)c->size, "order");
    int64_t max = o->total < window ? o->total : window;
    o->slot = mem_new(sizeof *o->slot * (size_t)max + 1, "order");
    o->slot_more = mem_new(sizeof *o->slot * (size_t)max + 1, "order");
    o->key_more = mem_new(sizeof *o->key * (size_t)max + 1, "order");
    o->cut[o->nwindow] = n;
    if (o->nwindow == 1) return;
    if (c->size > 1)
        find_cuts(o, bits);
    else
        for (int64_t w = 1; w < o->nwindow; w++) o->cut[w] = w * window;
}

static void drop_ahead(struct order *o)
{
    for (int i = 0; i < o->nahead; i++) FREE(o->ahead[i]);
    FREE(o->ahead);
    o->nahead = o->next = 0;
}

void order_fini(struct order *o)
{
    FREE(o->cut);
    FREE(o->count);
    FREE(o->from);
    FREE(o->slot);
    FREE(o->slot_more);
    FREE(o->key);
    FREE(o->key_more);
    FREE(o->got);
    FREE(o->slab);
    drop_ahead(o);
}

/* Merges two sorted runs of (key, slot), [a, b) and [b, end), into `key`, `slot` from `a` on. */
static void merge_two(const order_key *k, const int64_t *p, int64_t a, int64_t b, int64_t end,
                      order_key *key, int64_t *slot)
{
    int64_t i = a, j = b;
    for (int64_t at = a; at < end; at++) {
        int64_t take = j >= end || (i < b && k[i] <= k[j]) ? i++ : j++;
        key[at] = k[take];
        slot[at] = p[take];
    }
}

/* Merges adjacent runs until one is left. run[r]..run[r+1]-1, r < n. */
static void merge_runs(struct order *o, int64_t *run, int n)
{
    while (n > 1) {
        int made = 0;
        for (int r = 0; r < n; r += 2) {
            int64_t a = run[r], b = r + 1 < n ? run[r + 1] : run[n],
                    end = r + 2 < n ? run[r + 2] : run[n];
            merge_two(o->key, o->slot, a, b, end, o->key_more, o->slot_more);
            run[made++] = a;
        }
        run[made] = run[n];
        n = made;
        order_key *k = o->key;
        o->key = o->key_more, o->key_more = k;
        int64_t *p = o->slot;
        o->slot = o->slot_more, o->slot_more = p;
    }
}

/* Merges the runs received; then slot[at] is the index of the received row that belongs at `at`. */
static void merge_received(struct order *o)
{
    int64_t *run = mem_new(sizeof *run * (size_t)(o->c->size + 1), "order");
    int n = 0;
    int64_t at = 0;
    for (int r = 0; r < o->c->size; r++) {
        if (o->from[r]) run[n++] = at;
        at += o->from[r];
    }
    run[n] = at;
    for (int64_t i = 0; i < at; i++) o->slot[i] = i;
    o->in_order = n <= 1;
    if (n > 1) {
        order_key *copy = mem_new(sizeof *copy * (size_t)o->window, "order");
        memcpy(copy, o->key, sizeof *copy * (size_t)at);
        FREE(o->key);
        o->key = copy;
        merge_runs(o, run, n);
    }
    FREE(run);
}

void order_round(struct order *o, int64_t round)
{
    int size = o->c->size;
    int64_t w = round * size, last = o->nwindow;
    o->send = o->cut[w < last ? w : last];
    o->nsend = 0;
    for (int r = 0; r < size; r++) {
        int64_t a = w + r < last ? w + r : last, b = w + r + 1 < last ? w + r + 1 : last;
        o->count[r] = o->cut[b] - o->cut[a];
        o->nsend += o->count[r];
    }
    order_key *mine = mem_new(sizeof *mine * (size_t)o->nsend + 1, "order");
    for (int64_t i = 0; i < o->nsend; i++) mine[i] = o->fn(o->ctx, o->send + i);
    FREE(o->key);
    o->key = comm_exchange_all(o->c, mine, o->count, sizeof *mine, &o->nrow, o->from);
    FREE(mine);
    o->first = (w + o->c->rank) * o->window;
    BUG_ON(o->nrow > o->window);
    merge_received(o);
}

void order_ahead(struct order *o, int n, const struct order_column *column)
{
    int size = o->c->size, k = 0;
    size_t max = (size_t)n * (size_t)size;
    drop_ahead(o);
    if (size == 1) return;
    o->ahead = mem_zero(sizeof *o->ahead * (size_t)n + 1, "order");
    o->nahead = n;
    int *peer = mem_new(sizeof *peer * max, "order");
    void **to = mem_new(2 * sizeof *to * max, "order"), **from = to + max;
    size_t *out = mem_new(2 * sizeof *out * max, "order"), *in = out + max;
    for (int i = 0; i < n; i++) {
        size_t bytes = column[i].bytes;
        char *s = (char *)(uintptr_t)column[i].rows,
             *r = o->ahead[i] = mem_new((size_t)o->nrow * bytes + 1, "order");
        for (int rank = 0; rank < size; rank++) {
            size_t sent = (size_t)o->count[rank] * bytes, got = (size_t)o->from[rank] * bytes;
            if (rank == o->c->rank)
                memcpy(r, s, sent);
            else if (sent || got)
                peer[k] = rank, to[k] = s, from[k] = r, out[k] = sent, in[k] = got, k++;
            s += sent, r += got;
        }
    }
    comm_wait(comm_post(o->c, k, peer, to, out, from, in));
    FREE(out);
    FREE(to);
    FREE(peer);
}

static void put_in_place(const struct order *o, size_t bytes)
{
    const char *from = o->got;
    char *to = o->slab;
    if (bytes == 64) /* cells of an oct */
        for (int64_t i = 0; i < o->nrow; i++) memcpy(to + i * 64, from + o->slot[i] * 64, 64);
    else
        for (int64_t i = 0; i < o->nrow; i++)
            memcpy(to + (size_t)i * bytes, from + (size_t)o->slot[i] * bytes, bytes);
}

const void *order_move(struct order *o, const void *rows, size_t bytes)
{
    int64_t n = o->nrow;
    if (o->c->size == 1) return rows;
    FREE(o->got);
    if (o->next < o->nahead) {
        o->got = o->ahead[o->next];
        o->ahead[o->next++] = NULL;
    } else {
        o->got = comm_exchange_all(o->c, rows, o->count, bytes, &n, NULL);
    }
    if (o->in_order) return o->got;
    FREE(o->slab);
    o->slab = mem_new((size_t)n * bytes + 1, "order");
    put_in_place(o, bytes);
    return o->slab;
}

/* ---- particles ---- */

/* Low bits of an id for the order. Large ids are hashed, since a code may number parts of the box
 * in their upper bits: truncated ids would be equal, and their order would depend on the ranks. */
static uint64_t id_bits(int64_t id)
{
    bool fits = id >= -(ID_MASK >> 1) - 1 && id <= ID_MASK >> 1;
    return fits ? (uint64_t)id : rng_mix((uint64_t)id);
}

void order_rank(const struct mesh *m, const double x[3], int8_t family, int64_t id, int64_t i,
                struct order_ranked *r)
{
    const double last = (double)((1 << ORDER_LEVEL) - 1);
    uint64_t cell[3];
    for (int d = 0; d < 3; d++) {
        double y = mesh_cells(m, ORDER_LEVEL, mesh_wrapped(m, d, x[d]));
        cell[d] = (uint64_t)(y > 0 ? y < last ? y : last : 0);
    }
    r->key = okey_spread21(cell[0]) | okey_spread21(cell[1]) << 1 | okey_spread21(cell[2]) << 2;
    r->more = (uint64_t)(uint8_t)family << 56 | (id_bits(id) & (uint64_t)ID_MASK);
    r->i = i;
}

static bool is_less(const struct order_ranked *a, const struct order_ranked *b)
{
    return a->key < b->key || (a->key == b->key && a->more < b->more);
}

/* Radix sort by key, 11 bits per pass, then insertion sort of the few rows with equal keys. Returns
 * the array that holds the result. */
struct order_ranked *order_sort(struct order_ranked *r, struct order_ranked *other, int64_t n)
{
    enum { BITS = 11, BINS = 1 << BITS };
    for (int shift = 0; shift < 3 * ORDER_LEVEL; shift += BITS) {
        int64_t start[BINS + 1] = {0};
        for (int64_t i = 0; i < n; i++) start[(r[i].key >> shift & (BINS - 1)) + 1]++;
        for (int b = 0; b < BINS; b++) start[b + 1] += start[b];
        for (int64_t i = 0; i < n; i++) other[start[r[i].key >> shift & (BINS - 1)]++] = r[i];
        struct order_ranked *swap = r;
        r = other, other = swap;
    }
    for (int64_t i = 1; i < n; i++) {
        struct order_ranked x = r[i];
        int64_t j = i;
        for (; j > 0 && is_less(&x, &r[j - 1]); j--) r[j] = r[j - 1];
        r[j] = x;
    }
    return r;
}

okey order_cell(const struct mesh *box, const double *const x[3], int64_t i)
{
    struct order_ranked r;
    order_rank(box, (double[3]){x[0][i], x[1][i], x[2][i]}, 0, 0, 0, &r);
    return (okey)(r.key >> 3) << 3 * (LEVEL_MAX - ORDER_LEVEL);
}
