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

MEM_ORDER2(ticket_order, struct part_ticket, cell, number)

/* Rank that numbers a cell; parts of the curve ascend with the rank. */
static int share_of(okey cell, int size)
{
    return (int)(((unsigned __int128)(cell >> 3 * (LEVEL_MAX - 10)) * (unsigned)size) >> 30);
}

/* Sets id := number for the tickets of this rank's part. The order of tickets is unchanged. */
static void number_tickets(const struct comm *c, int64_t n, struct part_ticket *t, int64_t next)
{
    struct part_ticket *sorted = mem_new(sizeof *sorted * (size_t)n + 1, "new particles");
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++) sorted[i] = t[i], sorted[i].id = i, all += t[i].count;
    mem_sort(sorted, (size_t)n, sizeof *sorted, ticket_order);
    next += comm_scan_i64(c, all);
    for (int64_t i = 0; i < n; i++) {
        BUG_ON(i > 0 && ticket_order(&sorted[i - 1], &sorted[i]) == 0);
        t[sorted[i].id].id = next;
        next += sorted[i].count;
    }
    FREE(sorted);
}

void part_number(const struct comm *c, int64_t n, struct part_ticket *t, int64_t next)
{
    struct comm_counts to, from;
    int64_t nin, nback;
    struct part_ticket *send = mem_new(sizeof *send * (size_t)n + 1, "new particles");
    for (int64_t i = 0; i < n; i++) send[i] = t[i], send[i].id = i;
    mem_sort(send, (size_t)n, sizeof *send, ticket_order);
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "new particles");
    for (int64_t i = 0; i < n; i++) rank[i] = share_of(send[i].cell, c->size);
    to = comm_counts_of(n, rank, NULL);
    mem_free(rank);
    struct part_ticket *in = comm_exchange(c, send, &to, sizeof *in, &nin, &from);
    number_tickets(c, nin, in, next);
    /* tickets return in the order in which they were sent */
    struct part_ticket *back = comm_exchange(c, in, &from, sizeof *back, &nback, NULL);
    BUG_ON(nback != n);
    for (int64_t i = 0; i < n; i++) t[send[i].id].id = back[i].id;
    FREE(back);
    FREE(in);
    FREE(send);
    comm_counts_free(&from);
    comm_counts_free(&to);
}

/* Finds id[i] for each location. */
static void number_places(const struct level *lv, const struct comm *c, int64_t n,
                          const struct part_birth_cell *location, int64_t next, int64_t *id)
{
    struct part_ticket *t = mem_zero(sizeof *t * (size_t)n + 1, "new particles");
    for (int64_t i = 0; i < n; i++) {
        const struct part_birth_cell *at = &location[i];
        BUG_ON(at->oct < 0 || at->oct >= lv->nown || lv->child[at->oct][at->cell] >= 0);
        t[i].cell = part_cell_key(lv, at->oct, at->cell);
        t[i].number = at->number;
        t[i].count = 1;
    }
    part_number(c, n, t, next);
    for (int64_t i = 0; i < n; i++) id[i] = t[i].id;
    FREE(t);
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

void part_append_dm(struct parts *p, int64_t n, int levelmin)
{
    p->n = part_append(p, n);
    for (int64_t i = p->n; i < p->n + n; i++) {
        p->levelp[i] = levelmin;
        p->family[i] = FAM_DM;
        p->tag[i] = 0;
        p->host[i] = -1;
    }
}

enum err part_next_id(const struct parts *p, const struct comm *c, const char *what, int64_t *next)
{
    int64_t max = 0;
#pragma omp parallel for schedule(static) reduction(max : max)
    for (int64_t i = 0; i < p->n; i++) max = p->id[i] > max ? p->id[i] : max;
    return part_id_after(max, c, what, next);
}

enum err part_id_after(int64_t max, const struct comm *c, const char *what, int64_t *next)
{
    static const int64_t ROOM = (int64_t)1 << 48;
    comm_max_i64(c, &max, 1);
    if (max > INT64_MAX - ROOM)
        FAIL(ERR_LIMIT,
             "%s: their ids follow the largest id of a particle, %ld, which leaves none: give "
             "smaller ids in ic_particle_ids",
             what, (long)max);
    *next = max + 1;
    return OK;
}
