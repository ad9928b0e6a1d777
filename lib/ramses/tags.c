/* ramses/tags: see tags.h. Particles have moved to the ranks that write them since the clumps were
 * found. Tags and particles meet on a rank that follows from the id. */
#include "ramses/tags.h"

#include "base/mem.h"
#include "base/rng.h"

/* A tag; a question, whose clump is the index of the particle; an answer, whose id is that. */
struct tag {
    int64_t id, clump;
};

MEM_ORDER(order_id, struct tag, id)

static int rank_of(const struct comm *c, int64_t id)
{
    return (int)(rng_mix((uint64_t)id) % (uint64_t)c->size);
}

/* Sends n rows to the ranks of their ids. clump: NULL for their indices. */
static struct tag *send(const struct comm *c, int64_t n, const int64_t *id, const int64_t *clump,
                        int64_t *nin, struct comm_counts *from)
{
    struct tag *out = mem_new(sizeof *out * (size_t)n + 1, "clump tags");
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "clump tags");
    for (int64_t i = 0; i < n; i++) {
        out[i] = (struct tag){id[i], clump ? clump[i] : i};
        rank[i] = rank_of(c, id[i]);
    }
    struct tag *in = comm_exchange_by(c, out, n, rank, sizeof *in, nin, from);
    FREE(rank);
    FREE(out);
    return in;
}

int32_t *ramses_tags(const struct ckpt_out *o)
{
    const struct ckpt_tags *t = o->h->tags;
    const struct parts *p = o->p;
    struct comm_counts from;
    int64_t nknown, nq, n;
    struct tag *known = send(o->c, t->n, t->id, t->clump, &nknown, NULL),
               *q = send(o->c, p->n, p->id, NULL, &nq, &from);
    mem_sort(known, (size_t)nknown, sizeof *known, order_id);
    for (int64_t i = 0; i < nq; i++) {
        const struct tag *found = mem_find(&q[i], known, (size_t)nknown, sizeof *known, order_id);
        q[i] = (struct tag){q[i].clump, found ? found->clump : 0};
    }
    struct tag *answer = comm_exchange(o->c, q, &from, sizeof *answer, &n, NULL);
    BUG_ON(n != p->n);
    int32_t *tag = mem_new(sizeof *tag * (size_t)n + 1, "clump tags");
    for (int64_t i = 0; i < n; i++) tag[answer[i].id] = (int32_t)answer[i].clump;
    FREE(answer);
    FREE(q);
    FREE(known);
    comm_counts_free(&from);
    return tag;
}
