/* halo/each_member: the ids of members, which are with those who have the members, pass through
 * rank 0 in bounded numbers: of several small halos at a time, or a range of ids of a large one. */

#include "base/mem.h"
#include "halo/halo_priv.h"

/* Request to all ranks: the ids of a halo above `after`, at most about `max` from each rank. */
struct question {
    int64_t halo, index, after, max;
    int owner;
};

/* Reply: an id; with `more` set, the largest id sent by a rank that has further ids of the halo. */
struct reply {
    int64_t halo, id, more;
};

enum { HALOS = 4096 }; /* halos per request */

MEM_ORDER2(compare_ids, struct halo_ids, owner, index)

MEM_ORDER2(compare_replies, struct reply, halo, id)

struct replies {
    int64_t n, room;
    struct reply *at;
};

static void add_reply(struct replies *r, struct reply x)
{
    MEM_ROOM(r->at, r->n, r->room, 1024, "halos: ids");
    r->at[r->n++] = x;
}

/* Replies with ids. All copies of a duplicate id are sent together, so that none is skipped by
 * `after`. */
static void reply_ids(const struct halo_list *l, const struct question *q, struct replies *out)
{
    struct halo_ids key = {.owner = q->owner, .index = q->index};
    const struct halo_ids *p = mem_find(&key, l->ids, (size_t)l->nids, sizeof *l->ids, compare_ids);
    if (!p) return;
    const int64_t *id = l->member + p->first;
    int64_t low = 0, high = p->n, sent = 0;
    MEM_BISECT(low, high, middle, id[middle] <= q->after)
    for (; low < p->n && (sent < q->max || id[low] == id[low - 1]); low++, sent++)
        add_reply(out, (struct reply){q->halo, id[low], 0});
    if (low < p->n) add_reply(out, (struct reply){q->halo, id[low - 1], 1});
}

/* Position: all ids of halos before `first` are done, and ids of halo `first` up to `after`. */
struct cursor {
    int64_t first, after;
};

static int64_t plan(const struct halo_list *l, const struct cursor *at, int64_t max,
                    struct question *q)
{
    int64_t n = 0, ids = 0;
    for (int64_t i = at->first; i < l->n && n < HALOS && (n == 0 || ids < max); i++) {
        const struct halo *h = &l->at[i];
        if (n && ids + h->number > max) break;
        q[n] = (struct question){i, h->index, n ? INT64_MIN : at->after, max, h->owner};
        n++;
        ids += h->number;
    }
    return n;
}

static enum err pass_on(struct cursor *at, int64_t asked, struct replies *r, halo_member *fn,
                        void *ctx)
{
    int64_t upto = INT64_MAX, ids = 0;
    mem_sort(r->at, (size_t)r->n, sizeof *r->at, compare_replies);
    for (int64_t i = 0; i < r->n; i++)
        if (r->at[i].more && r->at[i].id < upto) upto = r->at[i].id;
    int64_t *id = mem_new(sizeof *id * (size_t)r->n + 1, "halos: ids");
    enum err err = OK;
    for (int64_t i = 0, end; i < r->n && err == OK; i = end) {
        ids = 0;
        for (end = i; end < r->n && r->at[end].halo == r->at[i].halo; end++)
            if (!r->at[end].more && r->at[end].id <= upto) id[ids++] = r->at[end].id;
        if (ids) err = fn(r->at[i].halo, ids, id, ctx);
    }
    FREE(id);
    at->first += upto < INT64_MAX ? 0 : asked;
    at->after = upto < INT64_MAX ? upto : INT64_MIN;
    return err;
}

enum err halo_each_member(const struct comm *c, const struct halo_list *l, int64_t max,
                          halo_member *fn, void *ctx)
{
    struct cursor at = {0, INT64_MIN};
    struct question *q = mem_new(sizeof *q * HALOS, "halos: ids");
    enum err err = OK;
    for (;;) {
        struct replies own = {0}, all = {0};
        int64_t n = c->rank == 0 && err == OK ? plan(l, &at, max, q) : 0;
        comm_bcast(c, &n, sizeof n, 0);
        if (n == 0) break;
        comm_bcast(c, q, sizeof *q * (size_t)n, 0);
        for (int64_t i = 0; i < n; i++) reply_ids(l, &q[i], &own);
        all.at = comm_exchange_root(c, own.at, own.n, sizeof *own.at, &all.n);
        FREE(own.at);
        if (c->rank == 0) err = pass_on(&at, n, &all, fn, ctx);
        FREE(all.at);
    }
    FREE(q);
    return err_agree(c, err);
}
