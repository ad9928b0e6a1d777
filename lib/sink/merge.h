/* sink/merge: sinks that come near each other become one (RAMSES).
 *
 * Two sinks merge if they are nearer than two cells of the sinks' level; with merging_timescale
 * only if one of them is younger, and above mass_merger_vel_check only if they are bound. A merger
 * keeps mass, momentum, centre of mass and angular momentum. */
#pragma once
#include "sink/copies.h"

struct sink_merging {
    double dx, cloud; /* of a cell; radius of a cloud */
    double G, t, young,
        checked; /* young: 0: any age; checked: mass from which they must be bound */
};

/* Sinks that have merged into another keep no mass: sinks_settle removes them. near of all becomes
 * the mass of the sinks whose clouds overlap with theirs. *merged: how many, of all ranks.
 * (collective) */
MUST_USE enum err sinks_merge(const struct sink_context *p, const struct sink_merging *law,
                              struct sinks *s, int64_t *merged);
