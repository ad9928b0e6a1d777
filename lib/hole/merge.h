/* hole/merge: mergers of black holes (Horizon-AGN).
 *
 * Friends of friends: holes nearer than the linking length, and with `bound` only pairs whose
 * kinetic energy of relative motion is below their gravitational energy, G m1 m2/r. A group becomes
 * one hole, with the total mass, total momentum and centre of mass, the id of the heaviest, and the
 * spin of successive mergers, the heaviest first. */
#pragma once
#include "sink/copies.h"

struct hole_merging {
    double link, G; /* linking length, gravitational constant; code units */
    bool bound, spin;
};
/* Merges holes. A hole that has merged into another has zero mass until sinks_settle removes it;
 * sinks_settle must also be called before, after holes have moved. *merged: number of removed holes
 * of all ranks. (collective) */
MUST_USE enum err hole_merge(const struct sink_context *p, const struct hole_merging *law,
                             struct sinks *s, int64_t *merged);
