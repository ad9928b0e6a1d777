/* sink/pull: direct gravity of sinks on all cells of the box and on each other, with Plummer
 * softening (RAMSES, mass_sink_direct_force).
 *
 * Every direct sink interacts with every cell: all ranks know these sinks, and their accelerations
 * are summed over all ranks. The cost is the number of direct sinks times the number of cells. */
#pragma once
#include "sink/copies.h"

struct sink_pull {
    int64_t id, home, number; /* id; rank of the sink; index there */
    double x[3], m, near;
};
struct sink_pulls {
    int64_t n;
    struct sink_pull *at; /* direct sinks, ascending by id; FREE */
};
struct sink_softening {
    double G, length;
};

/* Gathers the direct sinks of all ranks. (collective) */
void sink_pulls_gather(const struct sink_context *p, const struct sinks *s, struct sink_pulls *out);
/* Adds the acceleration by direct sinks to the force of level l in own octs, and in ghosts if
 * `ghosts`; sets force[l] of own sinks to the acceleration by leaf cells of the level. Returns the
 * max over sinks of the mean density within the distance of the nearest cell, on this rank.
 * (collective) */
double sink_pull_cells(const struct sink_context *p, const struct sink_pulls *all,
                       const struct sink_softening *soft, int l, bool ghosts, struct sinks *s);
/* Adds the acceleration of a direct sink by the other direct sinks. Local. */
void sink_pull_sink(const struct mesh *m, const struct sink_pulls *all,
                    const struct sink_softening *soft, const struct sink *s, double f[3]);
