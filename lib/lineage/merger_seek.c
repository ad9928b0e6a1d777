/* lineage/merger_seek: the groups of given particles. Rank 0 sends the ids in ascending order, some
 * at a time; each rank walks along its members, which are sorted too, and returns those it has. */
#include <string.h>

#include "base/mem.h"
#include "lineage/merger_priv.h"

enum { BATCH = 1 << 18 }; /* ids at a time */

struct sought {
    int64_t id, at;
};
MEM_ORDER2(by_id, struct sought, id, at)

struct hit {
    int64_t at, group;
};
MEM_ORDER2(by_place, struct hit, at, group)

static int by_member(const void *a, const void *b)
{
    const struct merger_member *p = a, *q = b;
    if (p->id != q->id) return p->id < q->id ? -1 : 1;
    return (p->group > q->group) - (p->group < q->group);
}

/* First member from `from` on whose id is at least `id`, by steps that double. */
static int64_t advance(const struct merger_groups *g, int64_t from, int64_t id)
{
    int64_t step = 1, low = from, high;
    while (low + step < g->nmember && g->member[low + step].id < id) low += step, step *= 2;
    high = low + step < g->nmember ? low + step : g->nmember;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->member[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds those of n ascending ids that this rank has. Returns their number. */
static int64_t find_own(const struct merger_groups *g, int64_t *at, int64_t n, const int64_t *id,
                        struct hit *hit)
{
    int64_t hits = 0;
    for (int64_t i = 0; i < n; i++) {
        *at = advance(g, *at, id[i]);
        if (*at < g->nmember && g->member[*at].id == id[i])
            hit[hits++] = (struct hit){i, g->member[*at].group};
    }
    return hits;
}

MEM_ORDER_OF(by_number, int64_t)

static int64_t row_of(const struct lineage_groups *g, int64_t number)
{
    const int64_t *at = mem_find(&number, g->id, (size_t)g->n, sizeof *g->id, by_number);
    BUG_ON(!at);
    return at - g->id;
}

/* Takes the hits of all ranks; of members with equal ids the one of the first group. Returns the
 * number of the others. */
static int64_t take_hits(struct hit *hit, int64_t n, const struct sought *of,
                         const struct lineage_groups *g, int64_t *row)
{
    int64_t doubles = 0;
    mem_sort(hit, (size_t)n, sizeof *hit, by_place);
    for (int64_t i = 0; i < n; i++) {
        if (i && hit[i].at == hit[i - 1].at)
            doubles++;
        else
            row[of[hit[i].at].at] = row_of(g, hit[i].group);
    }
    return doubles;
}

int64_t merger_seek(const struct comm *c, struct merger_groups *g, int64_t n, const int64_t *id,
                    int64_t *row)
{
    int64_t at = 0, doubles = 0, several = 0, nhit;
    struct sought *all = mem_new(sizeof *all * (size_t)n + 1, "trees: ids");
    int64_t *some = mem_new(sizeof *some * BATCH, "trees: ids");
    struct hit *own = mem_new(sizeof *own * BATCH, "trees: ids");
    mem_sort(g->member, (size_t)g->nmember, sizeof *g->member, by_member);
    for (int64_t i = 1; i < g->nmember; i++) doubles += g->member[i].id == g->member[i - 1].id;
    for (int64_t i = 0; i < n; i++) all[i] = (struct sought){id[i], i}, row[i] = -1;
    mem_sort(all, (size_t)n, sizeof *all, by_id);
    comm_bcast(c, &n, sizeof n, 0);
    for (int64_t first = 0; first < n; first += BATCH) {
        const int64_t m = n - first < BATCH ? n - first : BATCH;
        for (int64_t i = 0; i < m && c->rank == 0; i++) some[i] = all[first + i].id;
        comm_bcast(c, some, sizeof *some * (size_t)m, 0);
        const int64_t found = find_own(g, &at, m, some, own);
        struct hit *hit = comm_exchange_root(c, own, found, sizeof *hit, &nhit);
        several += take_hits(hit, nhit, c->rank == 0 ? all + first : all, &g->links, row);
        FREE(hit);
    }
    FREE(own);
    FREE(some);
    FREE(all);
    comm_add_i64(c, &doubles, 1);
    return doubles + several;
}
