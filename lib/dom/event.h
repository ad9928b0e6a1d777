/* dom/event: events at a point that reach cells of other ranks: a supernova, a jet, the cloud of a
 * sink.
 *
 * An event has a position, a radius, an id, and a payload. It is sent to every rank that owns an
 * oct within its ball; across periodic boundaries an image with a position shifted by whole boxes
 * is sent, so that receivers need no wrapping. All ranks then apply their events in the order of
 * ids, to their own cells only, which dom/bins finds. So the result does not depend on the order of
 * ranks. Sums over the cells of an event must be exact (base/sum, comm_sum). */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

struct event {
    int64_t id; /* unique id: id of a particle, key of a cell */
    /* position and radius, code units; a routed event may lie outside of the box */
    double x[3], radius;
};

struct events {
    int64_t n;
    struct event *at; /* events sorted by id, then by position */
    size_t bytes;     /* payload size, bytes */
    char *payload;    /* [n][bytes] payloads */
};

/* Routes the n events of this rank, with `bytes` bytes of payload each. Positions must be in the
 * box, a diameter must not exceed the box, and ids must be unique. Reaches every owner of an oct of
 * level levelmin or finer within the ball, and few other ranks. All ranks return an error together.
 * The caller frees *out. (collective) */
MUST_USE enum err event_route(const struct comm *c, const struct domain *d, const struct mesh *m,
                              int64_t n, const struct event *e, size_t bytes, const void *payload,
                              struct events *out);
/* event_route for rows that begin with their event: a row is the payload and goes only to the owner
 * of the event's position, whatever its radius. (collective) */
MUST_USE enum err event_route_home(const struct comm *c, const struct domain *d,
                                   const struct mesh *m, int64_t n, size_t bytes, const void *rows,
                                   struct events *out);
void events_free(struct events *e);

/* The origin of an event: rank, and index among the events of that rank. */
struct event_home {
    int64_t rank, number;
};
typedef __int128 event_whole;
/* Sums integers over all copies of an event, independent of order. here[n][words]: copies on this
 * rank, with origins home[n]; sum[][words]: totals by event of this rank, to which the numbers of
 * all copies are added. back: copies the totals to here[] on all ranks. (collective) */
void event_sums(const struct comm *c, int64_t n, const struct event_home *home, int words,
                event_whole *here, event_whole *sum, bool back);
