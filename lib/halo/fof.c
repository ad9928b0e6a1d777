/* halo/fof: friends of friends over ranks.
 *
 * Each rank gets copies of the bodies of other ranks that are within the linking length of its
 * domain, and finds the groups of its own bodies and the copies. The part of a group on one rank is
 * a fragment, labelled with its rank and its number on that rank. Owners of bodies send labels to
 * the ranks that hold copies, and each fragment takes the smaller label, until none changes. A link
 * between two ranks has a copy of each end on the other, so labels pass in both directions. The
 * number of rounds is the number of ranks that the widest group spans. The rank of the smallest
 * label then owns the halo and receives the number of its members. Members stay on their ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "halo/halo_priv.h"

struct fragment {
    int64_t label; /* smallest label found: rank << 32 | fragment */
    int64_t n;     /* number of own bodies */
    int64_t all, index;
};

struct fof {
    const struct halo_space *s;
    struct halo_set *dark;
    struct tree *tree;
    double link;
    int64_t nown, ncopy;
    struct comm_counts to; /* number of copies sent to each rank */
    int32_t *sent, *got;   /* indices of the bodies sent, of the copies received */
    int32_t *group;        /* smallest index of each body's group; later its fragment or -1 */
    int64_t nfragments;
    struct fragment *fragment;
};

struct index {
    double x[3];
};

/* ---- copies ---- */

struct near {
    struct rank_list ranks, scratch;
    int64_t n, room; /* number of copies sent, capacity of `to` */
    int *to;
    int64_t nfrom;
    int *from; /* [nfrom] sending rank of each copy received */
};

/* Sends own bodies first..end-1 to the ranks near them, and appends the copies received. */
static void send_some(struct fof *f, int64_t first, int64_t end, struct near *q)
{
    struct halo_set *d = f->dark;
    struct comm_counts from;
    const int64_t before = q->n;
    int64_t ngot;
    for (int64_t i = first; i < end; i++) {
        const double x[3] = {d->x[0][i], d->x[1][i], d->x[2][i]};
        halo_ranks_near(f->s, x, f->link, &q->ranks, &q->scratch);
        for (int k = 0; k < q->ranks.n; k++, q->n++) {
            if (q->n == q->room) {
                q->room = q->n + q->n / 4 + 1024;
                q->to = mem_grow(q->to, sizeof *q->to * (size_t)q->room, "halos: copies");
                f->sent = mem_grow(f->sent, sizeof *f->sent * (size_t)q->room, "halos: copies");
            }
            q->to[q->n] = q->ranks.rank[k];
            f->sent[q->n] = (int32_t)i;
        }
    }
    struct index *send = mem_new(sizeof *send * (size_t)(q->n - before) + 1, "halos: copies");
    for (int64_t k = before; k < q->n; k++)
        for (int a = 0; a < 3; a++) send[k - before].x[a] = d->x[a][f->sent[k]];
    struct index *got = comm_exchange_by(f->s->c, send, q->n - before, q->to + before, sizeof *send,
                                         &ngot, &from);
    FREE(send);
    q->from = mem_grow(q->from, sizeof *q->from * (size_t)(f->ncopy + ngot) + 1, "halos: copies");
    for (int r = 0; r < from.n; r++)
        for (int64_t k = 0; k < from.count[r]; k++) q->from[q->nfrom++] = from.rank[r];
    comm_counts_free(&from);
    if (ngot) halo_set_room(d, d->n + ngot);
    for (int64_t k = 0; k < ngot; k++, d->n++) {
        for (int a = 0; a < 3; a++) d->x[a][d->n] = got[k].x[a], d->v[a][d->n] = 0;
        d->m[d->n] = -1;
        d->id[d->n] = f->ncopy++;
    }
    FREE(got);
}

/* Sends all copies, in batches, so that few bodies are in memory more than twice. Both sides number
 * copies by rank, and within a rank in the order in which they were sent. sent and got become
 * indices of bodies, before the tree sorts them. */
static void send_copies(struct fof *f)
{
    struct near q = {.n = 0};
    f->nown = f->dark->n;
    const int64_t turns = f->s->domain ? halo_turns(f->s->c, f->nown) : 0;
    for (int64_t k = 0; k < turns; k++)
        send_some(f, f->nown * k / turns, f->nown * (k + 1) / turns, &q);
    int64_t *order = mem_new(sizeof *order * (size_t)q.n + 1, "halos: copies");
    f->to = comm_counts_of(q.n, q.to, order);
    FREE(q.to);
    int32_t *sent = mem_new(sizeof *sent * (size_t)q.n + 1, "halos: copies");
    for (int64_t k = 0; k < q.n; k++) sent[k] = f->sent[order[k]];
    FREE(f->sent);
    FREE(order);
    f->sent = sent;
    order = mem_new(sizeof *order * (size_t)f->ncopy + 1, "halos: copies");
    struct comm_counts from = comm_counts_of(f->ncopy, q.from, order);
    comm_counts_free(&from);
    FREE(q.from);
    f->got = mem_new(sizeof *f->got * (size_t)f->ncopy + 1, "halos: copies");
    for (int64_t k = 0; k < f->ncopy; k++) f->got[k] = (int32_t)(f->nown + order[k]);
    FREE(order);
    FREE(q.ranks.rank);
    FREE(q.scratch.rank);
}

/* Updates the indices of bodies sent and of copies after the tree has sorted them. */
static void find_copies(struct fof *f, const int32_t *order)
{
    const int64_t n = comm_counts_total(&f->to);
    if (n + f->ncopy == 0) return;
    int32_t *now = mem_new(sizeof *now * (size_t)f->dark->n + 1, "halos: copies");
    for (int64_t i = 0; i < f->dark->n; i++) now[order[i]] = (int32_t)i;
    for (int64_t k = 0; k < n; k++) f->sent[k] = now[f->sent[k]];
    for (int64_t k = 0; k < f->ncopy; k++) f->got[k] = now[f->got[k]];
    FREE(now);
}

/* ---- groups of this rank ---- */

static bool is_all(const struct halo_space *s, double link)
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) far2 += s->periodic[k] ? 0.25 : INFINITY;
    return link * link > far2 * (1 + 1e-9); /* no two positions are further apart */
}

static enum err find_local(struct fof *f, bool all)
{
    int32_t *order;
    TRY(halo_set_plant(f->s, f->dark, &order, &f->tree));
    find_copies(f, order);
    FREE(order);
    f->group = mem_new(sizeof *f->group * (size_t)f->dark->n + 1, "halos: groups");
    if (all)
        memset(f->group, 0, sizeof *f->group * (size_t)f->dark->n);
    else
        tree_groups(f->tree, f->link, f->group);
    return OK;
}

/* Makes fragments of groups that have at least min members on this rank, or any member on another.
 */
static void make_fragments(struct fof *f, int64_t min, bool all)
{
    const int64_t n = f->dark->n, nsent = comm_counts_total(&f->to);
    int32_t *count = mem_zero(sizeof *count * (size_t)n + 1, "halos: counts");
    unsigned char *wide = mem_zero((size_t)n / 8 + 1, "halos: counts");
    for (int64_t i = 0; i < n; i++) count[f->group[i]] += f->dark->m[i] >= 0;
    for (int64_t k = 0; k < nsent + f->ncopy; k++) {
        int32_t g = f->group[k < nsent ? f->sent[k] : f->got[k - nsent]];
        wide[g / 8] |= (unsigned char)(1 << g % 8);
    }
    for (int64_t i = 0; i < n; i++)
        f->nfragments += f->group[i] == i && (count[i] >= min || all || wide[i / 8] >> i % 8 & 1);
    f->fragment = mem_zero(sizeof *f->fragment * (size_t)f->nfragments + 1, "halos: fragments");
    f->nfragments = 0;
    for (int64_t i = 0; i < n; i++) {
        if (f->group[i] != i) continue;
        bool retained = count[i] >= min || all || wide[i / 8] >> i % 8 & 1;
        if (retained)
            f->fragment[f->nfragments] = (struct fragment){
                .label = count[i] ? (int64_t)f->s->c->rank << 32 | f->nfragments : INT64_MAX,
                .n = count[i]};
        count[i] = retained ? (int32_t)f->nfragments++ : -1;
    }
    for (int64_t i = 0; i < n; i++) f->group[i] = count[f->group[i]];
    FREE(wide);
    FREE(count);
}

/* ---- groups of all ranks ---- */

/* Gives fragments the labels of their copies' owners. Returns whether a label changed. */
static int64_t lower_labels(struct fof *f)
{
    int64_t n = comm_counts_total(&f->to), ngot, changed = 0;
    int64_t *send = mem_new(sizeof *send * (size_t)n + 1, "halos: labels");
    for (int64_t k = 0; k < n; k++) send[k] = f->fragment[f->group[f->sent[k]]].label;
    int64_t *got = comm_exchange(f->s->c, send, &f->to, sizeof *send, &ngot, NULL);
    for (int64_t k = 0; k < ngot; k++) {
        int64_t *label = &f->fragment[f->group[f->got[k]]].label;
        changed |= got[k] < *label;
        if (got[k] < *label) *label = got[k];
    }
    FREE(got);
    FREE(send);
    return changed;
}

static void join_ranks(struct fof *f, bool all)
{
    int64_t changed = !all, min = f->nfragments ? f->fragment[0].label : INT64_MAX;
    while (changed) {
        changed = lower_labels(f);
        comm_max_i64(f->s->c, &changed, 1);
    }
    if (!all) return;
    comm_min_i64(f->s->c, &min, 1);
    if (f->nfragments) f->fragment[0].label = min;
}

struct count {
    int64_t fragment, n;
};

static void add_counts(void *ctx, int64_t n, const void *item, void *answer)
{
    struct fof *f = ctx;
    const struct count *q = item;
    for (int64_t i = 0; i < n; i++) f->fragment[q[i].fragment].all += q[i].n;
}

static void answer_counts(void *ctx, int64_t n, const void *item, void *answer)
{
    const struct fof *f = ctx;
    const struct count *q = item;
    struct count *a = answer;
    for (int64_t i = 0; i < n; i++) {
        const struct fragment *g = &f->fragment[q[i].fragment];
        a[i] = (struct count){g->index, g->all};
    }
}

/* Counts members over all ranks: owners receive the counts, number their halos, and reply with
 * both. Returns the number of halos of this rank. */
static int64_t count_members(struct fof *f, int64_t min)
{
    int64_t n = f->nfragments, halos = 0, *first = NULL;
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "halos: counts");
    struct count *q = mem_new(sizeof *q * (size_t)n + 1, "halos: counts");
    for (int64_t i = 0; i < n; i++) {
        rank[i] = f->fragment[i].n ? (int)(f->fragment[i].label >> 32) : -1;
        q[i] = (struct count){f->fragment[i].label & UINT32_MAX, f->fragment[i].n};
    }
    first = comm_exchange_by(f->s->c, q, n, rank, sizeof *q, &halos, NULL);
    add_counts(f, halos, first, NULL);
    FREE(first);
    halos = 0;
    for (int64_t i = 0; i < n; i++) {
        bool own = f->fragment[i].all >= min && f->fragment[i].all > 0;
        f->fragment[i].index = own ? halos++ : -1;
    }
    for (int64_t i = 0; i < n; i++) /* a fragment with copies only is no halo */
        if (rank[i] < 0) rank[i] = f->s->c->rank, q[i].fragment = i;
    struct halo_question ask = {sizeof *q, sizeof *q, answer_counts, f};
    struct count *a = halo_ask(f->s->c, &ask, n, q, rank);
    for (int64_t i = 0; i < n; i++) {
        f->fragment[i].all = a[i].n;
        f->fragment[i].index = a[i].fragment;
    }
    FREE(a);
    FREE(q);
    FREE(rank);
    return halos;
}

/* ---- result ---- */

struct numbered {
    struct halo_part part;
    int32_t fragment;
};

MEM_ORDER2(compare_parts, struct halo_part, owner, index)

/* Lists the parts of halos in order; fragment[i].index becomes the part of a fragment, or -1. */
static void make_parts(struct fof *f, struct halo_groups *g)
{
    struct numbered *q = mem_new(sizeof *q * (size_t)f->nfragments + 1, "halos: parts");
    for (int64_t i = 0; i < f->nfragments; i++) {
        struct fragment *a = &f->fragment[i];
        if (a->index >= 0 && a->n > 0)
            q[g->nparts++] = (struct numbered){{(int)(a->label >> 32), a->index, a->all, 0, a->n},
                                               (int32_t)i};
        a->index = -1;
    }
    mem_sort(q, (size_t)g->nparts, sizeof *q, compare_parts);
    g->parts = mem_new(sizeof *g->parts * (size_t)g->nparts + 1, "halos: parts");
    /* two fragments of a rank that other ranks have joined are one part */
    int64_t n = 0;
    for (int64_t i = 0; i < g->nparts; i++) {
        if (n && compare_parts(&g->parts[n - 1], &q[i].part) == 0)
            g->parts[n - 1].n += q[i].part.n;
        else
            g->parts[n++] = q[i].part;
        f->fragment[q[i].fragment].index = n - 1;
    }
    g->nparts = n;
    FREE(q);
}

static void list_members(struct halo_groups *g)
{
    int64_t n = 0;
    for (int64_t k = 0; k < g->nparts; k++) {
        g->parts[k].first = n;
        n += g->parts[k].n;
    }
    g->member = mem_new(sizeof *g->member * (size_t)n + 1, "halos: members");
    for (int64_t i = 0; i < g->dark->n; i++) {
        if (g->part[i] < 0 || g->dark->m[i] < 0) continue;
        struct halo_part *p = &g->parts[g->part[i]];
        g->member[p->first++] = (int32_t)i;
    }
    for (int64_t k = 0; k < g->nparts; k++) g->parts[k].first -= g->parts[k].n;
}

enum err halo_groups(const struct halo_space *s, double link, int64_t min, struct halo_set *dark,
                     struct halo_groups *out)
{
    struct fof f = {.s = s, .dark = dark, .link = link};
    const bool all = is_all(s, link);
    *out = (struct halo_groups){.dark = dark};
    if (!all)
        send_copies(&f);
    else
        f.to = comm_counts_of(0, NULL, NULL);
    enum err err = err_agree(s->c, find_local(&f, all));
    out->tree = f.tree;
    if (err == OK) {
        make_fragments(&f, min, all);
        join_ranks(&f, all);
        out->n = count_members(&f, min);
        make_parts(&f, out);
        for (int64_t i = 0; i < dark->n; i++)
            if (f.group[i] >= 0) f.group[i] = (int32_t)f.fragment[f.group[i]].index;
        out->part = f.group;
        f.group = NULL;
        list_members(out);
    }
    FREE(f.group);
    FREE(f.fragment);
    FREE(f.sent);
    FREE(f.got);
    comm_counts_free(&f.to);
    return err;
}

void halo_groups_free(struct halo_groups *g)
{
    tree_free(&g->tree);
    FREE(g->part);
    FREE(g->parts);
    FREE(g->member);
    g->nparts = g->n = 0;
}
