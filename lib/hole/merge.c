/* hole/merge: see merge.h. Neighbours within the linking length are found through copies and a
 * tree. Few holes have any: these are sent to all ranks, which merge them identically. */
#include "hole/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hole/spin.h"
#include "tree/tree.h"

/* Mass and velocity of a black hole, for the test whether it merges with another. */
struct other {
    double m, v[3];
};

static struct other other_of(const struct sink *a)
{
    return (struct other){.m = a->m, .v = {a->v[0], a->v[1], a->v[2]}};
}

static bool friends(const struct hole_merging *law, const struct other *a, const struct other *b,
                    double r2)
{
    double reduced = a->m * (b->m / (a->m + b->m)), w2 = 0;
    if (!(r2 <= law->link * law->link)) return false;
    for (int d = 0; d < 3; d++) w2 += (a->v[d] - b->v[d]) * (a->v[d] - b->v[d]);
    return !law->bound || 0.5 * reduced * w2 * sqrt(r2) < law->G * a->m * b->m;
}

/* ---- neighbours ---- */

struct search {
    const struct hole_merging *law;
    const struct sink_copies *c;
    int64_t id;
    struct other self;
    bool found;
};

static void meet(int32_t i, double far2, void *ctx)
{
    struct search *q = ctx;
    struct other b;
    if (q->c->here.at[i].id == q->id) return;
    memcpy(&b, sink_row(q->c, i), sizeof b);
    q->found |= friends(q->law, &q->self, &b, far2);
}

static enum err look_around(const struct hole_merging *law, const struct sinks *s,
                            const struct sink_copies *c, bool *has)
{
    struct tree *t = NULL;
    struct tree_points p = {.n = c->here.n};
    double *x = mem_new(sizeof *x * 3 * (size_t)p.n + 1, "black holes");
    for (int d = 0; d < 3; d++) {
        p.x[d] = x + p.n * d;
        for (int64_t i = 0; i < p.n; i++) x[p.n * d + i] = c->here.at[i].x[d];
    }
    enum err err = tree_new(&p, TREE_AUTO, law->link, &t);
    for (int64_t i = 0; i < s->n && err == OK; i++) {
        struct search q = {law, c, s->at[i].id, other_of(&s->at[i]), false};
        tree_ball(t, s->at[i].x, law->link, meet, &q);
        has[i] = q.found;
    }
    tree_free(&t);
    FREE(x);
    return err;
}

static enum err find_friends(const struct sink_context *p, const struct hole_merging *law,
                             const struct sinks *s, bool *has)
{
    struct sink_copies c;
    struct other *row = mem_new(sizeof *row * (size_t)s->n + 1, "black holes");
    for (int64_t i = 0; i < s->n; i++) row[i] = other_of(&s->at[i]);
    enum err err = sink_call(p, s, NULL, law->link, sizeof *row, row, &c);
    if (err == OK) err = err_agree(p->comm, look_around(law, s, &c, has));
    sink_copies_free(&c);
    FREE(row);
    return err;
}

/* ---- groups ---- */

/* Merges b into a. */
static void join(const struct sink_context *p, const struct hole_merging *law, struct sink *a,
                 struct sink *b)
{
    double m = a->m + b->m, r[3], w[3], orbit[3];
    sink_between(p->mesh, a->x, b->x, r);
    for (int d = 0; d < 3; d++) w[d] = b->v[d] - a->v[d];
    for (int d = 0; d < 3; d++)
        orbit[d] = r[(d + 1) % 3] * w[(d + 2) % 3] - r[(d + 2) % 3] * w[(d + 1) % 3];
    struct spin one = {a->spinmag, {a->spin[0], a->spin[1], a->spin[2]}};
    struct spin two = {b->spinmag, {b->spin[0], b->spin[1], b->spin[2]}};
    if (law->spin) one = spin_merge(&one, a->m, &two, b->m, orbit);
    a->spinmag = one.a;
    for (int d = 0; d < 3; d++) {
        a->spin[d] = one.axis[d];
        a->x[d] += b->m / m * r[d];
        a->v[d] = (a->m * a->v[d] + b->m * b->v[d]) / m;
        a->jgas[d] += b->jgas[d];
        a->thrust[d] += b->thrust[d];
    }
    sink_wrap(p->mesh, a->x);
    a->dMsmbh += b->dMsmbh;
    a->dMBH_coarse += b->dMBH_coarse;
    a->dMEd_coarse += b->dMEd_coarse;
    a->Esave += b->Esave;
    a->radiated += b->radiated;
    a->heat += b->heat;
    a->jets += b->jets;
    a->m = m;
    b->m = 0;
    b->into = a->id;
}

/* A hole of a group, `at` being its index in the order of ids. Holes are merged by group, the
 * heaviest first. */
struct member {
    int32_t group, at;
    double m;
};

static int by_group(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->group != y->group) return x->group - y->group;
    if (x->m != y->m) return x->m < y->m ? 1 : -1;
    return x->at - y->at;
}

static int32_t root(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

static void group(const struct hole_merging *law, const struct sink_context *p,
                  const struct sink *at, const struct tree_lists *near, struct member *who,
                  int32_t *up, int32_t n)
{
    for (int32_t i = 0; i < n; i++) up[i] = i;
    for (int32_t i = 0; i < n; i++)
        for (int64_t j = near->first[i]; j < near->first[i + 1]; j++) {
            struct other a = other_of(&at[i]), b = other_of(&at[near->at[j]]);
            double r[3], r2 = 0;
            sink_between(p->mesh, at[i].x, at[near->at[j]].x, r);
            for (int d = 0; d < 3; d++) r2 += r[d] * r[d];
            int32_t x = root(up, i), y = root(up, near->at[j]);
            if (friends(law, &a, &b, r2)) up[x > y ? x : y] = x > y ? y : x;
        }
    for (int32_t i = 0; i < n; i++) who[i] = (struct member){root(up, i), i, at[i].m};
    mem_sort(who, (size_t)n, sizeof *who, by_group);
}

/* Merges the holes with neighbours, of all ranks, in the order of their ids. */
static enum err join_all(const struct sink_context *p, const struct hole_merging *law,
                         struct sink *at, int64_t n, int64_t *merged)
{
    struct tree *t = NULL;
    struct tree_lists near = {0};
    struct tree_points q = {.n = n};
    double *x = mem_new(sizeof *x * 3 * (size_t)n + 1, "black holes");
    struct member *who = mem_new(sizeof *who * (size_t)n + 1, "black holes");
    int32_t *up = mem_new(sizeof *up * (size_t)n + 1, "black holes");
    for (int d = 0; d < 3; d++) {
        q.x[d] = x + n * d;
        bool open = p->mesh->bounded[2 * d] || p->mesh->bounded[2 * d + 1];
        q.period[d] = open ? 0 : p->mesh->boxlen;
        for (int64_t i = 0; i < n; i++) x[n * d + i] = at[i].x[d];
    }
    double reach = law->link * (1 + 1e-9); /* margin for rounding; the test itself is exact */
    enum err err = tree_new(&q, TREE_AUTO, reach, &t);
    if (err == OK) err = tree_neighbours(t, reach, &near);
    if (err == OK) group(law, p, at, &near, who, up, (int32_t)n);
    for (int64_t i = 0, first = 0; i < n && err == OK; i++) {
        if (who[i].group != who[first].group) first = i;
        if (i == first) continue;
        join(p, law, &at[who[first].at], &at[who[i].at]);
        ++*merged;
    }
    tree_lists_free(&near);
    tree_free(&t);
    FREE(up);
    FREE(who);
    FREE(x);
    return err;
}

enum err hole_merge(const struct sink_context *p, const struct hole_merging *law, struct sinks *s,
                    int64_t *merged)
{
    int64_t all = 0;
    *merged = 0;
    if (s->total < 2) return OK;
    bool *has = mem_zero((size_t)s->n + 1, "black holes");
    enum err err = find_friends(p, law, s, has);
    struct sink *at = err == OK ? sinks_share(s, has, p->comm, &all) : NULL;
    if (at) {
        err = join_all(p, law, at, all, merged);
        if (err == OK) sinks_return(s, has, at, all);
        FREE(at);
    }
    FREE(has);
    return err;
}
