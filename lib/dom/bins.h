/* dom/bins: cells within the balls of events, by spatial hash bins (Kim 2026, section 6).
 *
 * Space is divided into bins as wide as the largest radius. An event is entered into the bins that
 * its ball intersects, at most 27; a cell looks up its own bin only. So the cost grows as cells +
 * events, not as their product. Events delivered by event_route need no wrapping: their images
 * across periodic boundaries are separate events with shifted positions. */
#pragma once
#include "dom/event.h"

struct bins;
/* Builds the bins of n events (lent); events are numbered by their index in e. */
struct bins *bins_new(const struct mesh *m, int64_t n, const struct event *e);
void bins_free(struct bins *b);

/* A cell within a ball. */
struct bins_hit {
    int thread, level;
    lidx oct;
    int cell;
    int64_t event;
    double r[3]; /* vector from the event to the cell centre */
};
typedef void bins_visit(const struct bins_hit *h, void *ctx);
/* Visits this rank's own leaf cells whose centre is nearer to an event than its radius. Threads
 * divide the cells: one thread makes all visits of a cell, in order of event numbers. Local. */
void bins_each(const struct bins *b, const struct mesh *m, bins_visit *visit, void *ctx);
int bins_threads(void); /* of bins_each, at most */
