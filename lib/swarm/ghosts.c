/* swarm/ghosts: makes the plan of the ghosts. A rank knows the box of the particles of each other
 * rank (64 bytes each), and details of its peers alone, those within reach by these boxes. Three
 * exchanges: the boxes of all ranks, boxes of shells between peers (shell.c), numbers of ghosts. */
#include "base/mem.h"
#include "swarm/shell.h"

struct place {
    struct near_box box;
    int64_t rank;
};
MEM_ORDER(place_order, struct place, rank)

struct search {
    struct shells own;
    int npeer;
    struct shell *shell;    /* [npeer], ascending ranks */
    struct near_box *boxes; /* received */
};

static enum err check_reach(const struct shells *w)
{
    for (int64_t i = 0; i < w->s->n; i++)
        if (!(w->reach[i] >= 0 && w->reach[i] < HUGE_VAL))
            FAIL(ERR_LIMIT,
                 "particle in row %lld of rank %d: its neighbours may be within %g, "
                 "which is no distance",
                 (long long)i, w->s->comm->rank, w->reach[i]);
    return OK;
}

/* Shares the boxes of ranks, and makes those within reach the peers. (collective, agreed) */
static enum err peers_find(struct search *q, const struct near_box *mine)
{
    const struct swarm *s = q->own.s;
    const struct comm *c = s->comm;
    struct place *all = mem_zero(sizeof *all * (size_t)c->size, "swarm ghosts");
    all[0] = (struct place){*mine, c->rank};
    int64_t n = comm_union(c, s->n > 0, c->size, sizeof *all, all, 0, NULL);
    bool bad = false;
    mem_sort(all, (size_t)n, sizeof *all, place_order);
    q->shell = mem_zero(sizeof *q->shell * (size_t)n + 1, "swarm ghosts");
    for (int64_t k = 0; k < n; k++) {
        bad |= isnan(all[k].box.reach);
        if (s->n == 0 || all[k].rank == c->rank || bad) continue;
        if (swarm_near(mine, &all[k].box, s->frame.period))
            q->shell[q->npeer++] = (struct shell){.rank = (int)all[k].rank, .peer = all[k].box};
    }
    FREE(all);
    return bad ? err_agree(c, check_reach(&q->own)) : OK;
}

static void shells_make(struct search *q)
{
    for (int k = 0; k < q->npeer; k++) shell_find(&q->own, &q->shell[k]);
#pragma omp parallel for schedule(dynamic, 1) if (q->npeer > 1 && q->own.s->n > SWARM_FEW)
    for (int k = 0; k < q->npeer; k++) shell_divide(&q->own, &q->shell[k]);
}

/* Gives each peer the boxes of the shell towards it. (collective) */
static void boxes_swap(struct search *q)
{
    int64_t total = 0, got, *count;
    int n = 0, *rank;
    for (int k = 0; k < q->npeer; k++) total += q->shell[k].nbox;
    struct near_box *out = mem_new(sizeof *out * (size_t)total + 1, "swarm ghosts");
    count = mem_new(sizeof *count * (size_t)q->npeer + 1, "swarm ghosts");
    rank = mem_new(sizeof *rank * (size_t)q->npeer + 1, "swarm ghosts");
    total = 0;
    for (int k = 0; k < q->npeer; k++) {
        const struct shell *p = &q->shell[k];
        if (p->nbox == 0) continue;
        for (int64_t b = 0; b < p->nbox; b++) out[total++] = p->box[b];
        rank[n] = p->rank;
        count[n++] = p->nbox;
    }
    struct comm_counts to = {.n = n, .rank = rank, .count = count}, from;
    q->boxes = comm_exchange(q->own.s->comm, out, &to, sizeof *out, &got, &from);
    got = 0;
    for (int i = 0, k = 0; i < from.n; got += from.count[i++]) {
        while (k < q->npeer && q->shell[k].rank < from.rank[i]) k++;
        BUG_ON(k == q->npeer || q->shell[k].rank != from.rank[i]);
        q->shell[k].theirs = q->boxes + got;
        q->shell[k].ntheirs = from.count[i];
    }
    comm_counts_free(&from);
    FREE(rank);
    FREE(count);
    FREE(out);
}

static void shells_select(struct search *q)
{
#pragma omp parallel for schedule(dynamic, 1) if (q->npeer > 1 && q->own.s->n > SWARM_FEW)
    for (int k = 0; k < q->npeer; k++) shell_select(&q->own, &q->shell[k]);
}

/* Numbers of particles that come from the peers. (collective) */
static int64_t *arrivals(const struct search *q)
{
    size_t n = (size_t)q->npeer;
    int *rank = mem_new(sizeof *rank * n + 1, "swarm ghosts");
    size_t *bytes = mem_new(sizeof *bytes * n + 1, "swarm ghosts");
    int64_t *in = mem_zero(sizeof *in * n + 1, "swarm ghosts");
    void **from = mem_new(sizeof *from * n + 1, "swarm ghosts"),
         **to = mem_new(sizeof *to * n + 1, "swarm ghosts");
    for (int k = 0; k < q->npeer; k++) {
        rank[k] = q->shell[k].rank;
        bytes[k] = sizeof *in;
        from[k] = &q->shell[k].n;
        to[k] = &in[k];
    }
    comm_swap_end(
        comm_swap_begin(q->own.s->comm, COMM_PAIR_INT, q->npeer, rank, from, bytes, to, bytes));
    FREE(rank);
    FREE(bytes);
    FREE(from);
    FREE(to);
    return in;
}

/* Peers that neither need nor have a particle are dropped at both ends. */
static void plan_make(struct swarm_plan *p, const struct search *q)
{
    int64_t *in = arrivals(q), rows = 0;
    size_t n = (size_t)q->npeer;
    p->peer = mem_new(sizeof *p->peer * n + 1, "swarm ghosts");
    p->out = mem_zero(sizeof *p->out * (n + 1), "swarm ghosts");
    p->in = mem_zero(sizeof *p->in * (n + 1), "swarm ghosts");
    p->sbytes = mem_new(sizeof *p->sbytes * n + 1, "swarm ghosts");
    p->rbytes = mem_new(sizeof *p->rbytes * n + 1, "swarm ghosts");
    for (int k = 0; k < q->npeer; k++) rows += q->shell[k].n;
    p->row = mem_new(sizeof *p->row * (size_t)rows + 1, "swarm ghosts");
    for (int k = 0; k < q->npeer; k++) {
        const struct shell *from = &q->shell[k];
        if (from->n == 0 && in[k] == 0) continue;
        int at = p->npeer++;
        p->peer[at] = from->rank;
        p->out[at + 1] = p->out[at] + from->n;
        p->in[at + 1] = p->in[at] + in[k];
        for (int64_t i = 0; i < from->n; i++) p->row[p->out[at] + i] = from->row[i];
    }
    FREE(in);
}

enum err swarm_ghosts(struct swarm *s, const double *reach, int nwhich, const int *which)
{
    struct search q = {0};
    s->ghosts = 0;
    swarm_plan_clear(s->plan);
    if (s->comm->size == 1) return OK;
    struct near_box mine = shells_begin(&q.own, s, reach);
    enum err err = peers_find(&q, &mine);
    if (err == OK) {
        shells_make(&q);
        boxes_swap(&q);
        shells_select(&q);
        plan_make(s->plan, &q);
        s->ghosts = s->plan->in[s->plan->npeer];
        if (s->ghosts > 0) s->reserve(s->owner, s->n + s->ghosts);
        swarm_fill(s, nwhich, which);
    }
    for (int k = 0; k < q.npeer; k++) shell_free(&q.shell[k]);
    FREE(q.shell);
    FREE(q.boxes);
    shells_end(&q.own);
    return err;
}
