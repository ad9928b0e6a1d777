/* sink/places: where sinks are, and what has become of those that have been removed. Tracers and
 * stellar objects, which belong to sinks by their ids, follow them at the end of a coarse step. */
#pragma once
#include "comm/comm.h"
#include "sink/sink.h"

struct sink_place {
    int64_t id, into;  /* into: 0: the sink is here, or has left the box; else it has merged */
    double x[3], v[3]; /* v: 0 of a sink that has been removed */
};
struct sink_places {
    int64_t n;
    struct sink_place *at; /* ascending by id; FREE */
};

/* The sinks of all ranks, and those removed since the last call, which are forgotten. Sinks are
 * settled; `recalls` is set. (collective) */
struct sink_places sink_places(struct sinks *s, const struct comm *c);
/* The place of a sink, or of the one that it has merged into; NULL: unknown. */
const struct sink_place *sink_place_of(const struct sink_places *p, int64_t id);
