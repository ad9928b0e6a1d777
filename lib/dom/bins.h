/* dom/bins: which cells lie in which balls: spatial hash bins (Kim 2026, section 6).
 *
 * Space is divided into bins as wide as the largest radius. An event is entered into the at most 27
 * bins that its ball meets; a cell looks at its own bin alone. So the cost grows as cells + events,
 * not as their product. Events that event_route delivered need no wrapping: their images across
 * periodic boundaries are events with another place. */
#pragma once
#include "dom/event.h"

struct bins;
/* Of n events (lent): their numbers are places in e. */
struct bins *bins_new(const struct mesh *m, int64_t n, const struct event *e);
void bins_free(struct bins *b);

/* A cell in a ball. */
struct bins_hit {
    int thread, level;
    lidx oct;
    int cell;
    int64_t event;
    double r[3]; /* centre of the cell - place of the event */
};
typedef void bins_visit(const struct bins_hit *h, void *ctx);
/* This rank's own leaf cells whose centre is nearer to an event than its radius. Threads share the
 * cells: one cell is always visited by one thread, its events in the order of their numbers. Local.
 */
void bins_each(const struct bins *b, const struct mesh *m, bins_visit *visit, void *ctx);
int bins_threads(void); /* of bins_each, at most */
