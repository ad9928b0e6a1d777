/* halo/tracers: the most bound members of each halo, which follow it through later outputs. Each
 * rank sends the most bound of its own members to the owner of the halo, who keeps the best. */
#include <stdlib.h>

#include "base/mem.h"
#include "halo/members.h"

struct finding {
    int want;
    int64_t n, room;
    struct halo_tracer *at;
    int *rank;                /* owner of the halo of each tracer */
    struct halo_tracer *some; /* [2 * want] candidates of a part */
};

/* In order of energy; members of equal energy in order of their ids. */
static int by_energy(const void *a, const void *b)
{
    const struct halo_tracer *p = a, *q = b;
    if (p->halo != q->halo) return p->halo < q->halo ? -1 : 1;
    if (p->energy != q->energy) return p->energy < q->energy ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* Keeps the best `want` of n tracers. */
static int64_t keep_best(struct halo_tracer *at, int64_t n, int want)
{
    mem_sort(at, (size_t)n, sizeof *at, by_energy);
    return n < want ? n : want;
}

static void list_part(const struct halo_well *w, void *ctx)
{
    struct finding *f = ctx;
    const struct halo_part *p = &w->g->parts[w->part];
    double limit = INFINITY;
    int64_t n = 0;
    for (int64_t k = p->first; k < p->first + p->n; k++) {
        const int32_t i = w->g->member[k];
        const double energy = halo_energy(w, i);
        if (energy > limit) continue;
        f->some[n++] = (struct halo_tracer){p->index, energy, w->g->dark->id[i]};
        if (n < 2 * f->want) continue;
        n = keep_best(f->some, n, f->want);
        limit = f->some[n - 1].energy;
    }
    n = keep_best(f->some, n, f->want);
    if (f->n + n > f->room) {
        f->room = 2 * f->room + n;
        f->at = mem_grow(f->at, sizeof *f->at * (size_t)f->room, "halos: tracers");
        f->rank = mem_grow(f->rank, sizeof *f->rank * (size_t)f->room, "halos: tracers");
    }
    for (int64_t i = 0; i < n; i++, f->n++) {
        f->at[f->n] = f->some[i];
        f->rank[f->n] = p->owner;
    }
}

void halo_find_tracers(const struct halo_space *s, const struct halo_groups *g,
                       const struct halo *h, const double *core2, struct halo_tracers *t)
{
    struct finding f = {.want = t->want};
    int64_t ngot, n = 0;
    f.some = mem_new(2 * sizeof *f.some * (size_t)t->want, "halos: tracers");
    halo_each_well(s, g, h, core2, list_part, &f);
    struct halo_tracer *got = comm_exchange_by(s->c, f.at, f.n, f.rank, sizeof *got, &ngot, NULL);
    FREE(f.at);
    FREE(f.rank);
    FREE(f.some);
    mem_sort(got, (size_t)ngot, sizeof *got, by_energy);
    for (int64_t i = 0, of = 0; i < ngot; i++) {
        of = i && got[i].halo == got[i - 1].halo ? of + 1 : 0;
        if (of < t->want) got[n++] = got[i];
    }
    t->at = got;
    t->n = n;
}
