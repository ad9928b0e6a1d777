/* sink/merge: mergers of close sinks (RAMSES).
 *
 * Two sinks merge if they are closer than two cells of the sinks' level; with merging_timescale
 * only if one of them is younger, and above mass_merger_vel_check only if they are bound. A merger
 * conserves mass, momentum, centre of mass and angular momentum. */
#pragma once
#include "sink/copies.h"

struct sink_merging {
    double dx, cloud; /* size of a cell; radius of a cloud */
    double G, t, young,
        /* young: max age of one of the sinks, 0: any age; checked: mass above which sinks must be
         * bound */
        checked;
};

/* Sinks that merge into another one get zero mass, so that sinks_settle removes them. `near` of all
 * sinks becomes the mass of sinks with overlapping clouds. *merged: number of mergers on all ranks.
 * (collective) */
MUST_USE enum err sinks_merge(const struct sink_context *p, const struct sink_merging *law,
                              struct sinks *s, int64_t *merged);
