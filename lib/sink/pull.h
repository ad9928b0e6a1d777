/* sink/pull: sinks that pull by themselves: all cells of the box and each other, with Plummer's
 * softening (RAMSES, mass_sink_direct_force).
 *
 * That law is one of every such sink with every cell: so here alone all ranks know these sinks,
 * and their accelerations are summed over all ranks. Its cost is their number times that of the
 * cells. */
#pragma once
#include "sink/copies.h"

struct sink_pull {
    int64_t id, home, number; /* rank and place there */
    double x[3], m, near;
};
struct sink_pulls {
    int64_t n;
    struct sink_pull *at; /* by id; FREE */
};
struct sink_softening {
    double G, length;
};

/* The direct ones of all ranks. (collective) */
void sink_pulls_gather(const struct sink_context *p, const struct sinks *s, struct sink_pulls *out);
/* Adds their acceleration to the force of level l in own octs, and in ghosts if these are wanted;
 * force[l] of own sinks becomes that by the leaf cells of the level. Returns the highest mean
 * density of a sink within the distance of the nearest cell, on this rank. (collective) */
double sink_pull_cells(const struct sink_context *p, const struct sink_pulls *all,
                       const struct sink_softening *soft, int l, bool ghosts, struct sinks *s);
/* The acceleration of a direct sink by the others. Local. */
void sink_pull_sink(const struct mesh *m, const struct sink_pulls *all,
                    const struct sink_softening *soft, const struct sink *s, double f[3]);
