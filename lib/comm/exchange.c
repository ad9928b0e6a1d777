/* comm/exchange: code common to all transports: counts by rank, packing, order (comm.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "comm/transport.h"
#include "comm/tuner.h"

const struct transport comm_transport[TRANSPORTS] = {
#define TRANSPORT(name, tried) {#name, tried, name##_begin, name##_end, name##_deliver},
#include "comm/transports.def"
#undef TRANSPORT
};

/* Tags of collective exchanges; simultaneous exchanges have different tags. */
enum { FIRST = 1000, TAGS = 8192 };

static int next_tag(void)
{
    static int last;
    last = (last + 1) % TAGS;
    return FIRST + last;
}

/* ---- counts ---- */

static struct comm_counts counts_new(int n)
{
    struct comm_counts k = {.n = n};
    k.count = mem_zero((sizeof *k.count + sizeof *k.rank) * (size_t)n + 1, "exchange");
    k.rank = (int *)(k.count + n);
    return k;
}

void comm_counts_free(struct comm_counts *k)
{
    FREE(k->count);
    k->rank = NULL;
    k->n = 0;
}

int64_t comm_counts_total(const struct comm_counts *k)
{
    int64_t n = 0;
    for (int i = 0; i < k->n; i++) n += k->count[i];
    return n;
}

void comm_counts_join(const struct comm_counts *a, const struct comm_counts *b,
                      struct comm_counts *all_a, struct comm_counts *all_b)
{
    *all_a = counts_new(a->n + b->n);
    *all_b = counts_new(a->n + b->n);
    int n = 0;
    for (int i = 0, j = 0; i < a->n || j < b->n; n++) {
        int rank = i < a->n ? a->rank[i] : INT32_MAX;
        if (j < b->n && b->rank[j] < rank) rank = b->rank[j];
        all_a->rank[n] = all_b->rank[n] = rank;
        if (i < a->n && a->rank[i] == rank) all_a->count[n] = a->count[i++];
        if (j < b->n && b->rank[j] == rank) all_b->count[n] = b->count[j++];
    }
    all_a->n = all_b->n = n;
}

MEM_ORDER_OF(int_order, int)

/* Index of a rank in the ascending list; *last caches the previous result. */
static int find_rank(const struct comm_counts *k, int rank, int *last)
{
    int lo = 0, hi = k->n - 1;
    if (k->rank[*last] == rank) return *last;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (k->rank[mid] < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return *last = lo;
}

/* Zero counts for the ranks that occur, ascending; ranks are collected where rank[i] changes. */
static struct comm_counts counts_empty(int64_t n, const int *rank)
{
    int64_t changes = 0;
    for (int64_t i = 0; i < n; i++) changes += rank[i] >= 0 && (i == 0 || rank[i] != rank[i - 1]);
    int *found = mem_new(sizeof *found * (size_t)changes + 1, "exchange");
    changes = 0;
    for (int64_t i = 0; i < n; i++)
        if (rank[i] >= 0 && (i == 0 || rank[i] != rank[i - 1])) found[changes++] = rank[i];
    mem_sort(found, (size_t)changes, sizeof *found, int_order);
    int ranks = 0;
    for (int64_t i = 0; i < changes; i++)
        if (i == 0 || found[i] != found[i - 1]) found[ranks++] = found[i];
    struct comm_counts k = counts_new(ranks);
    memcpy(k.rank, found, sizeof *found * (size_t)ranks);
    mem_free(found);
    return k;
}

struct comm_counts comm_counts_of(int64_t n, const int *rank, int64_t *order)
{
    struct comm_counts k = counts_empty(n, rank);
    int last = 0;
    for (int64_t i = 0; i < n; i++)
        if (rank[i] >= 0) k.count[find_rank(&k, rank[i], &last)]++;
    if (!order) return k;
    int64_t *at = mem_new(sizeof *at * (size_t)k.n + 1, "exchange"), sum = 0;
    for (int r = 0; r < k.n; sum += k.count[r], r++) at[r] = sum;
    last = 0;
    for (int64_t i = 0; i < n; i++)
        if (rank[i] >= 0) order[at[find_rank(&k, rank[i], &last)]++] = i;
    mem_free(at);
    return k;
}

/* ---- sizes known to senders alone ---- */

/* Parcels for the other ranks; *own receives the parcel of this rank for itself. */
static struct parcel *parcels_out(const struct comm *c, const char *send,
                                  const struct comm_counts *to, size_t bytes, int64_t *n,
                                  struct parcel *own)
{
    struct parcel *out = mem_new(sizeof *out * (size_t)to->n + 1, "exchange");
    *n = 0;
    *own = (struct parcel){.rank = c->rank};
    for (int i = 0; i < to->n; i++) {
        struct parcel p = {to->rank[i], bytes * (size_t)to->count[i], (char *)(uintptr_t)send};
        if (p.rank == c->rank)
            *own = p;
        else
            out[(*n)++] = p;
        send += p.bytes;
    }
    return out;
}

static void deliver(const struct comm *c, int64_t n, const struct parcel *out, struct parcels *in)
{
    if (c->size == 1) return;
    double began = timer_wall();
    const struct transport *t = &comm_transport[tuner_choice(c->tuner, COMM_OBJECTS)];
    t->deliver(c, next_tag(), n, out, in);
    tuner_spent(c, COMM_OBJECTS, timer_wall() - began);
}

static void take(char **to, const struct parcel *p)
{
    memcpy(*to, p->data, p->bytes);
    *to += p->bytes;
}

void *comm_exchange(const struct comm *c, const void *send, const struct comm_counts *to,
                    size_t bytes, int64_t *nrecv, struct comm_counts *from)
{
    struct parcel own, *out;
    struct parcels in = {0};
    int64_t n;
    out = parcels_out(c, send, to, bytes, &n, &own);
    deliver(c, n, out, &in);
    size_t total = own.bytes;
    for (int64_t i = 0; i < in.n; i++) total += in.at[i].bytes;
    *nrecv = bytes ? (int64_t)(total / bytes) : 0;
    char *recv = mem_new(total + 1, "exchange"), *at = recv;
    bool mine = own.bytes > 0;
    if (from) *from = counts_new((int)in.n + mine);
    for (int64_t i = 0, k = 0; i < in.n + mine; i++) {
        bool here = mine && i == k && (k == in.n || in.at[k].rank > c->rank);
        const struct parcel *p = here ? &own : &in.at[k];
        k += !here;
        if (from) from->rank[i] = p->rank, from->count[i] = (int64_t)(p->bytes / bytes);
        take(&at, p);
    }
    mem_free(out);
    parcels_free(&in);
    return recv;
}

void *comm_exchange_by(const struct comm *c, const void *item, int64_t n, const int *rank,
                       size_t bytes, int64_t *nrecv, struct comm_counts *from)
{
    int64_t *order = mem_new(sizeof *order * (size_t)n + 1, "exchange");
    struct comm_counts to = comm_counts_of(n, rank, order);
    int64_t total = comm_counts_total(&to);
    char *out = mem_new(bytes * (size_t)total + 1, "exchange");
    for (int64_t i = 0; i < total; i++)
        memcpy(out + bytes * (size_t)i, (const char *)item + bytes * (size_t)order[i], bytes);
    mem_free(order);
    void *in = comm_exchange(c, out, &to, bytes, nrecv, from);
    mem_free(out);
    comm_counts_free(&to);
    return in;
}

void *comm_exchange_root(const struct comm *c, const void *item, int64_t n, size_t bytes,
                         int64_t *nrecv)
{
    int root = 0;
    struct comm_counts to = {.n = n > 0, .rank = &root, .count = &n};
    return comm_exchange(c, item, &to, bytes, nrecv, NULL);
}

void *comm_exchange_all(const struct comm *c, const void *send, const int64_t *count, size_t bytes,
                        int64_t *nrecv, int64_t *from)
{
    int n = 0;
    for (int r = 0; r < c->size; r++) n += count[r] > 0;
    struct comm_counts to = counts_new(n), came;
    n = 0;
    for (int r = 0; r < c->size; r++)
        if (count[r] > 0) to.rank[n] = r, to.count[n++] = count[r];
    void *recv = comm_exchange(c, send, &to, bytes, nrecv, &came);
    if (from) {
        memset(from, 0, sizeof *from * (size_t)c->size);
        for (int i = 0; i < came.n; i++) from[came.rank[i]] = came.count[i];
    }
    comm_counts_free(&came);
    comm_counts_free(&to);
    return recv;
}

/* ---- fixed peers ---- */

struct comm_swap *comm_swap_begin(const struct comm *c, enum comm_use use, int npeer,
                                  const int *peer, void *const *sbuf, const size_t *sbytes,
                                  void *const *rbuf, const size_t *rbytes)
{
    if (c->size == 1) return NULL;
    struct comm_swap *s = mem_new(sizeof *s, "exchange");
    *s = (struct comm_swap){.c = c,
                            .use = use,
                            .tag = next_tag(),
                            .npeer = npeer,
                            .peer = peer,
                            .sbuf = sbuf,
                            .rbuf = rbuf,
                            .sbytes = sbytes,
                            .rbytes = rbytes};
    double began = timer_wall();
    s->by = &comm_transport[tuner_choice(c->tuner, use)];
    s->by->begin(s);
    s->seconds = timer_wall() - began;
    return s;
}

int comm_rest_tag(const struct comm_swap *s)
{
    return s->tag + TAGS;
}

void comm_swap_end(struct comm_swap *s)
{
    if (!s) return;
    double began = timer_wall();
    s->by->end(s);
    tuner_spent(s->c, s->use, s->seconds + timer_wall() - began);
    mem_free(s);
}
