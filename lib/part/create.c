/* part/create: new particles, with ids that do not depend on ranks.
 *
 * Ids follow the order of the cells along the Morton curve. Every rank numbers a part of the curve:
 * keys are sent to that rank, sorted, counted over the preceding ranks, and their numbers are sent
 * back.
 * Each cell has one owner, so keys are all different, and their order is the same for any
 * decomposition. */
#include <stdlib.h>

#include "base/mem.h"
#include "part/part.h"

struct ticket {
    okey cell; /* position on the Morton curve, in cells of the finest level */
    int64_t number;
    int64_t at; /* index of the ticket on the requesting rank; later the id */
};

MEM_ORDER2(ticket_order, struct ticket, cell, number)

/* Rank that numbers a cell; parts of the curve ascend with the rank. */
static int share_of(okey cell, int size)
{
    return (int)(((unsigned __int128)(cell >> 3 * (LEVEL_MAX - 10)) * (unsigned)size) >> 30);
}

/* Returns the tickets sorted by position, hence by rank; *to: number for each rank. */
static struct ticket *draw_tickets(const struct level *lv, const struct comm *c, int64_t n,
                                   const struct part_birth_cell *location, struct comm_counts *to)
{
    struct ticket *t = mem_zero(sizeof *t * (size_t)n + 1, "new particles");
    for (int64_t i = 0; i < n; i++) {
        okey cell = lv->key[location[i].oct] << 3 | (okey)location[i].cell;
        BUG_ON(location[i].oct < 0 || location[i].oct >= lv->nown ||
               lv->child[location[i].oct][location[i].cell] >= 0);
        t[i].cell = cell << 3 * (LEVEL_MAX - lv->level);
        t[i].number = location[i].number;
        t[i].at = i;
    }
    mem_sort(t, (size_t)n, sizeof *t, ticket_order);
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "new particles");
    for (int64_t i = 0; i < n; i++) rank[i] = share_of(t[i].cell, c->size);
    *to = comm_counts_of(n, rank, NULL);
    mem_free(rank);
    return t;
}

/* Sets at := id for the tickets of this rank's part. The order of tickets is unchanged. */
static void number_tickets(const struct comm *c, int64_t n, struct ticket *t, int64_t next)
{
    struct ticket *sorted = mem_new(sizeof *sorted * (size_t)n + 1, "new particles");
    for (int64_t i = 0; i < n; i++) sorted[i] = t[i], sorted[i].at = i;
    mem_sort(sorted, (size_t)n, sizeof *sorted, ticket_order);
    int64_t before = comm_scan_i64(c, n);
    for (int64_t i = 0; i < n; i++) {
        BUG_ON(i > 0 && ticket_order(&sorted[i - 1], &sorted[i]) == 0);
        t[sorted[i].at].at = next + before + i;
    }
    FREE(sorted);
}

/* Finds id[i] for each location. */
static void number_places(const struct level *lv, const struct comm *c, int64_t n,
                          const struct part_birth_cell *location, int64_t next, int64_t *id)
{
    struct comm_counts to, from;
    int64_t nin, nback;
    struct ticket *mine = draw_tickets(lv, c, n, location, &to),
                  *in = comm_exchange(c, mine, &to, sizeof *in, &nin, &from);
    number_tickets(c, nin, in, next);
    /* tickets return in the order in which they were sent */
    struct ticket *back = comm_exchange(c, in, &from, sizeof *back, &nback, NULL);
    BUG_ON(nback != n);
    for (int64_t i = 0; i < n; i++) id[mine[i].at] = back[i].at;
    FREE(back);
    FREE(in);
    FREE(mine);
    comm_counts_free(&from);
    comm_counts_free(&to);
}

int64_t part_create(struct parts *p, const struct mesh *m, const struct comm *c, int l, int64_t n,
                    const struct part_birth_cell *location, int64_t next, int64_t *total)
{
    int64_t first = part_insert(p, l, n);
    for (int64_t i = 0; i < n; i++) {
        p->host[first + i] = location[i].oct;
        p->levelp[first + i] = l;
    }
    number_places(&m->lev[l], c, n, location, next, p->id + first);
    *total = n;
    comm_add_i64(c, total, 1);
    return first;
}
