/* dom/event: what happens at a place and reaches cells of other ranks: a supernova, a jet, the
 * cloud of a sink.
 *
 * Whoever has an event gives it a place, a radius, an id, and a payload. It is sent to every rank
 * that owns an oct which its ball meets, across periodic borders as an image with its place shifted
 * by whole boxes, so that no receiver wraps anything. All ranks then apply what they have in the
 * order of ids, to their own cells alone, which dom/bins finds. So the result has no order of ranks
 * in it. What an event takes from its cells, as a sum, is to be summed exactly (base/sum,
 * comm_sum). */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

struct event {
    int64_t id;          /* one of its own: id of a particle, key of a cell */
    double x[3], radius; /* code units; what has been routed may lie outside of the box */
};

struct events {
    int64_t n;
    struct event *at; /* by id, then by place */
    size_t bytes;     /* of a payload */
    char *payload;    /* [n][bytes] */
};

/* Routes the n events of this rank, with `bytes` bytes of payload each. Places must be in the box,
 * a diameter must not exceed the box; no id twice. Reaches every owner of an oct of level levelmin
 * or finer that the ball meets, and few others. On error all ranks return it. *out is the caller's
 * to free. (collective) */
MUST_USE enum err event_route(const struct comm *c, const struct domain *d, const struct mesh *m,
                              int64_t n, const struct event *e, size_t bytes, const void *payload,
                              struct events *out);
/* event_route for rows that begin with their event: a row is the payload, and goes to the owner of
 * the event's place alone, whatever its radius. (collective) */
MUST_USE enum err event_route_home(const struct comm *c, const struct domain *d,
                                   const struct mesh *m, int64_t n, size_t bytes, const void *rows,
                                   struct events *out);
void events_free(struct events *e);

/* The rank that an event comes from, and its place among the events of that rank. */
struct event_home {
    int64_t rank, number;
};
typedef __int128 event_whole;
/* Sums of whole numbers over all copies of an event, in no order. here[n][words]: of the copies on
 * this rank, whose events are home[n]; sum[][words]: of the events of this rank, to which those of
 * their copies are added. back: here becomes what sum is, wherever that is. (collective) */
void event_sums(const struct comm *c, int64_t n, const struct event_home *home, int words,
                event_whole *here, event_whole *sum, bool back);
