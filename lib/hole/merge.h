/* hole/merge: black holes that come near each other become one (Horizon-AGN).
 *
 * Friends of friends: holes nearer than the link, and with `bound` only those whose energy of
 * relative motion is below that of their gravity, G m1 m2/r. A group becomes one hole, with its
 * mass, momentum and centre of mass, the id of the heaviest, and the spin of mergers one after the
 * other, the heaviest first. */
#pragma once
#include "sink/copies.h"

struct hole_merging {
    double link, G; /* code units */
    bool bound, spin;
};
/* Holes that have merged into another keep no mass: sinks_settle removes them, and has been called
 * since they moved. *merged: how many, of all ranks. (collective) */
MUST_USE enum err hole_merge(const struct sink_context *p, const struct hole_merging *law,
                             struct sinks *s, int64_t *merged);
