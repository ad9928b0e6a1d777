/* lineage/clumps: see clumps.h. Each rank sends the most bound of its members to rank 0. To find a
 * particle, members and questions meet on a rank that follows from the id. */
#include "lineage/clumps.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* ---- the most bound members ---- */

static int order_bound(const void *a, const void *b)
{
    const struct clump_member *x = a, *y = b;
    if (x->clump != y->clump) return x->clump < y->clump ? -1 : 1;
    if (x->energy != y->energy) return x->energy < y->energy ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Sorts members by clump and energy and keeps the first nmost of each clump. Returns their number.
 */
static int64_t keep_bound(struct clump_member *m, int64_t n, int nmost)
{
    int64_t kept = 0, of = 0;
    mem_sort(m, (size_t)n, sizeof *m, order_bound);
    for (int64_t i = 0; i < n; i++) {
        of = i > 0 && m[i].clump == m[i - 1].clump ? of + 1 : 0;
        if (of < nmost) m[kept++] = m[i];
    }
    return kept;
}

/* The most bound members of all ranks, on rank 0. */
static struct clump_member *gather_bound(const struct clumps *k, const struct comm *c, int nmost,
                                         int64_t *n)
{
    size_t bytes = sizeof(struct clump_member) * (size_t)k->nmember;
    struct clump_member *mine = mem_new(bytes + 1, "lineage"), *all;
    if (bytes) memcpy(mine, k->member, bytes);
    int64_t kept = keep_bound(mine, k->nmember, nmost);
    all = comm_exchange_root(c, mine, kept, sizeof *mine, n);
    *n = keep_bound(all, *n, nmost);
    FREE(mine);
    return all;
}

/* ---- groups ---- */

MEM_ORDER(order_index, struct clump, index)
MEM_ORDER2(order_level, struct clump, level, index)

static struct clump *clump_of(struct clump *at, int64_t n, int64_t index)
{
    struct clump want = {.index = index};
    return mem_find(&want, at, (size_t)n, sizeof *at, order_index);
}

/* Masses with all sub-clumps, mass[n] of clumps by index. Sub-clumps have a lower level than their
 * parents, except that main clumps have level 0. */
static double *masses_with_children(struct clump *at, int64_t n)
{
    size_t bytes = sizeof(struct clump) * (size_t)n;
    double *mass = mem_new(sizeof *mass * (size_t)n + 1, "lineage");
    struct clump *by_level = mem_new(bytes + 1, "lineage");
    if (bytes) memcpy(by_level, at, bytes);
    mem_sort(by_level, (size_t)n, sizeof *by_level, order_level);
    for (int64_t i = 0; i < n; i++) mass[i] = at[i].bound_mass;
    for (int64_t i = 0; i < n; i++) {
        struct clump *child = clump_of(at, n, by_level[i].index),
                     *parent = clump_of(at, n, by_level[i].parent);
        if (parent && parent != child) mass[parent - at] += mass[child - at];
    }
    FREE(by_level);
    return mass;
}

/* Fills the groups from the clumps that have members; m: their most bound members. */
static void fill(struct lineage_clumps *out, int64_t n, bool exclusive, int64_t nm,
                 const struct clump_member *m)
{
    struct lineage_groups *g = &out->groups;
    double *whole = out->whole = masses_with_children(out->at, n);
    int64_t rows = 0, j = 0;
    for (int64_t i = 0; i < n; i++) rows += out->at[i].nbound > 0;
    lineage_groups_make(g, rows, nm);
    out->galaxy = mem_new(sizeof *out->galaxy * (size_t)rows + 1, "lineage");
    g->n = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct clump k = out->at[i];
        if (k.nbound == 0) continue;
        out->at[g->n] = k;
        g->id[g->n] = k.index;
        g->peak[g->n] = whole[g->n] = whole[i];
        g->mass[g->n] = exclusive ? k.bound_mass : whole[g->n];
        BUG_ON(j == nm || m[j].clump != k.index);
        memcpy(out->galaxy[g->n], m[j].x, sizeof m[j].x);
        for (; j < nm && m[j].clump == k.index; j++) g->particle[j] = m[j].id;
        g->first[++g->n] = j;
    }
}

void lineage_clumps_make(const struct clumps *k, const struct comm *c, int nmost, bool exclusive,
                         struct lineage_clumps *out)
{
    int64_t n, nm;
    struct clump_member *m = gather_bound(k, c, nmost, &nm);
    memset(out, 0, sizeof *out);
    out->at = comm_exchange_root(c, k->at, k->n, sizeof *k->at, &n);
    mem_sort(out->at, (size_t)n, sizeof *out->at, order_index);
    fill(out, n, exclusive, nm, m);
    FREE(m);
}

void lineage_clumps_free(struct lineage_clumps *k)
{
    lineage_groups_free(&k->groups);
    FREE(k->at);
    FREE(k->whole);
    FREE(k->galaxy);
}

/* ---- places ---- */

/* A member as it is sent to the rank of its id; in an answer the id is the slot of the question. */
struct known {
    int64_t id, clump; /* clump: −1 if the particle is in none */
    double energy;
};

struct question {
    int64_t id, slot; /* slot: index of the question */
};

MEM_ORDER(order_known, struct known, id)

static int rank_of_id(const struct comm *c, int64_t id)
{
    return (int)(rng_mix((uint64_t)id) % (uint64_t)c->size);
}

static struct known *send_members(const struct clumps *k, const struct comm *c, int64_t *n)
{
    struct known *out = mem_new(sizeof *out * (size_t)k->nmember + 1, "lineage");
    int *rank = mem_new(sizeof *rank * (size_t)k->nmember + 1, "lineage");
    for (int64_t i = 0; i < k->nmember; i++) {
        const struct clump_member *m = &k->member[i];
        out[i] = (struct known){m->id, m->clump, m->energy};
        rank[i] = rank_of_id(c, m->id);
    }
    struct known *in = comm_exchange_by(c, out, k->nmember, rank, sizeof *in, n, NULL);
    mem_sort(in, (size_t)*n, sizeof *in, order_known);
    FREE(rank);
    FREE(out);
    return in;
}

static struct question *send_questions(const struct comm *c, int64_t n, const int64_t *id,
                                       int64_t *nin)
{
    struct question *out = mem_new(sizeof *out * (size_t)n + 1, "lineage");
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "lineage");
    for (int64_t i = 0; i < n; i++) {
        out[i] = (struct question){id[i], i};
        rank[i] = rank_of_id(c, id[i]);
    }
    struct question *in = comm_exchange_by(c, out, n, rank, sizeof *in, nin, NULL);
    FREE(rank);
    FREE(out);
    return in;
}

MEM_ORDER_OF(order_number, int64_t)

static int64_t row_of(const struct lineage_groups *g, int64_t id)
{
    const int64_t *at = mem_find(&id, g->id, (size_t)g->n, sizeof id, order_number);
    return at ? at - g->id : -1;
}

void lineage_find(const struct clumps *k, const struct comm *c, const struct lineage_groups *groups,
                  int64_t n, const int64_t *id, struct lineage_place *at)
{
    int64_t nknown, nq, na;
    if (c->rank > 0) n = 0;
    struct known *in = send_members(k, c, &nknown);
    struct question *q = send_questions(c, n, id, &nq);
    struct known *reply = mem_new(sizeof *reply * (size_t)nq + 1, "lineage");
    for (int64_t i = 0; i < nq; i++) {
        struct known want = {.id = q[i].id};
        const struct known *found = mem_find(&want, in, (size_t)nknown, sizeof *in, order_known);
        reply[i] = (struct known){q[i].slot, found ? found->clump : -1, found ? found->energy : 0};
    }
    struct known *all = comm_exchange_root(c, reply, nq, sizeof *reply, &na);
    BUG_ON(na != n);
    for (int64_t i = 0; i < na; i++)
        at[all[i].id] = (struct lineage_place){row_of(groups, all[i].clump), all[i].energy};
    FREE(all);
    FREE(reply);
    FREE(q);
    FREE(in);
}

/* ---- positions ---- */

MEM_ORDER(order_spot, struct lineage_spot, id)

struct lineage_spot *lineage_spots(const struct lineage_past *past, const struct parts *p,
                                   const struct comm *c, int64_t *n)
{
    int64_t want = past->n, got = 0;
    comm_bcast(c, &want, sizeof want, 0);
    int64_t *id = mem_new(sizeof *id * (size_t)want + 1, "lineage");
    for (int64_t i = 0; i < want && c->rank == 0; i++) id[i] = past->at[i].galaxy;
    comm_bcast(c, id, sizeof *id * (size_t)want, 0);
    struct lineage_spot *mine = mem_new(sizeof *mine * (size_t)want + 1, "lineage");
    for (int64_t i = 0; i < p->n && got < want; i++)
        if (mem_find(&p->id[i], id, (size_t)want, sizeof *id, order_number))
            mine[got++] = (struct lineage_spot){p->id[i], {p->x[0][i], p->x[1][i], p->x[2][i]}};
    struct lineage_spot *all = comm_exchange_root(c, mine, got, sizeof *mine, n);
    mem_sort(all, (size_t)*n, sizeof *all, order_spot);
    FREE(mine);
    FREE(id);
    return all;
}
