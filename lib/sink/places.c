#include "sink/places.h"

#include <string.h>

#include "base/mem.h"

MEM_ORDER(order_by_id, struct sink_place, id)

struct sink_places sink_places(struct sinks *s, const struct comm *c)
{
    int64_t own = s->n + s->ngone, all = own, n = 0;
    comm_add_i64(c, &all, 1);
    struct sink_place *at = mem_zero(sizeof *at * (size_t)(all + own) + 1, "sinks");
    for (int64_t i = 0; i < s->n; i++, n++) {
        at[n].id = s->at[i].id;
        memcpy(at[n].x, s->at[i].x, sizeof at->x);
        memcpy(at[n].v, s->at[i].v, sizeof at->v);
    }
    for (int64_t i = 0; i < s->ngone; i++, n++) {
        at[n].id = s->gone[i].id;
        at[n].into = s->gone[i].into;
        memcpy(at[n].x, s->gone[i].x, sizeof at->x);
    }
    s->ngone = 0;
    if (all > 0) comm_union(c, own, all, sizeof *at, at, 0, NULL);
    mem_sort(at, (size_t)all, sizeof *at, order_by_id);
    return (struct sink_places){all, at};
}

const struct sink_place *sink_place_of(const struct sink_places *p, int64_t id)
{
    const struct sink_place *w;
    do {
        const struct sink_place key = {.id = id};
        w = mem_find(&key, p->at, (size_t)p->n, sizeof key, order_by_id);
        id = w ? w->into : 0;
    } while (id > 0);
    return w;
}
