/* halo/members: properties of the members of a halo, which stay on their ranks: exact sums over
 * each rank's members, whose digits do not depend on the distribution, and the centre
 * (halo/centre). */
#include "halo/members.h"
#include "base/mem.h"

#include <stdlib.h>

struct sums {
    int64_t index, id;
    struct sum m, v[3];
};

static struct sums sums_of(const struct halo_groups *g, const struct halo_part *p)
{
    const struct halo_set *d = g->dark;
    struct sums s = {.index = p->index, .id = INT64_MAX};
    for (int64_t k = p->first; k < p->first + p->n; k++) {
        const int32_t i = g->member[k];
        if (d->id[i] < s.id) s.id = d->id[i];
        sum_add(&s.m, d->m[i]);
        for (int a = 0; a < 3; a++) sum_add(&s.v[a], d->m[i] * d->v[a][i]);
    }
    return s;
}

static void join_sums(struct sums *a, const struct sums *b)
{
    if (b->id < a->id) a->id = b->id;
    sum_join(&a->m, &b->m);
    for (int k = 0; k < 3; k++) sum_join(&a->v[k], &b->v[k]);
}

static void take_sums(struct halo *h, const struct sums *s)
{
    h->id = s->id;
    h->mass = sum_get(&s->m);
    for (int k = 0; k < 3; k++) h->v[k] = sum_get(&s->v[k]) / h->mass;
}

MEM_ORDER(by_location, struct sums, index)

/* Adds up the sums of halos that have members on several ranks. */
static void join_shared(const struct halo_space *s, const struct halo_groups *g, struct halo *h)
{
    int64_t n = 0, ngot;
    int *rank = mem_new(sizeof *rank * (size_t)g->nparts + 1, "halos: sums");
    for (int64_t k = 0; k < g->nparts; k++) n += halo_is_shared(&g->parts[k]);
    struct sums *send = mem_new(sizeof *send * (size_t)n + 1, "halos: sums");
    n = 0;
    for (int64_t k = 0; k < g->nparts; k++) {
        if (!halo_is_shared(&g->parts[k])) continue;
        rank[n] = g->parts[k].owner;
        send[n++] = sums_of(g, &g->parts[k]);
    }
    struct sums *got = comm_exchange_by(s->c, send, n, rank, sizeof *got, &ngot, NULL);
    FREE(send);
    FREE(rank);
    mem_sort(got, (size_t)ngot, sizeof *got, by_location);
    for (int64_t i = 0, end; i < ngot; i = end) {
        for (end = i + 1; end < ngot && got[end].index == got[i].index; end++)
            join_sums(&got[i], &got[end]);
        take_sums(&h[got[i].index], &got[i]);
    }
    FREE(got);
}

void halo_measure_members(const struct halo_space *s, enum halo_centre centre,
                          const struct halo_groups *g, struct halo *h, struct halo_tracers *t)
{
    for (int64_t k = 0; k < g->n; k++) h[k] = (struct halo){.owner = s->c->rank, .index = k};
    for (int64_t k = 0; k < g->nparts; k++)
        if (g->parts[k].owner == s->c->rank) h[g->parts[k].index].number = g->parts[k].all;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t k = 0; k < g->nparts; k++) {
        if (halo_is_shared(&g->parts[k])) continue;
        struct sums q = sums_of(g, &g->parts[k]);
        take_sums(&h[q.index], &q);
    }
    join_shared(s, g, h);
    halo_find_centres(s, g, h, centre, t);
}
